/*
 * darwin_run.h - a command under a profile, on macOS.
 *
 *     profile -> sb_seatbelt_enter() -> execve(), in the same process
 *     or, with somebody to ask: fork, the same in the child, which gets no terminal; wait; what the log says
 *     was refused is asked about, and after a yes the command is run once more under the wider profile (C2)
 *
 * A profile holds this process and all it will start, for good.
 */
#ifndef SB_ENFORCE_DARWIN_RUN_H
#define SB_ENFORCE_DARWIN_RUN_H

#include <time.h>

#include "enforce/darwin_profile.h"
#include "enforce/darwin_refused.h"

/* SB_E_UNSUPPORTED: this macOS does not take the profile; nothing may be run. */
int sb_seatbelt_enter(const struct sb_seatbelt *seatbelt, struct sb_error *err);

/* What the log has from that second on, line by line. */
void sb_seatbelt_log(time_t since, void (*take)(void *context, const char *line), void *context);

struct sb_darwin_run {
	char *const *argv; /* NULL-terminated */
	const struct sb_policy *policy;
	const struct sb_seatbelt *seatbelt;
	/*
	 * What was refused, count of them: the profile for another try, or NULL if there is to be none; the caller's.
	 * NULL: nobody is asked, and the command takes the place of this process.
	 */
	const struct sb_seatbelt *(*ask)(void *context, const struct sb_refused *refused,
					 size_t count);
	void *context;
};

/* Returns the command's exit status, 128 and the signal that ended it, or err: it was not run. */
int sb_darwin_run(const struct sb_darwin_run *run, int *out_status, struct sb_error *err);

#endif
