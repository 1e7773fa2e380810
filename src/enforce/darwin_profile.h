/*
 * darwin_profile.h - a policy as a profile for the sandbox of macOS (SBPL).
 *
 *     policy --> sb_seatbelt_make() --> text + parameters --> darwin_run.h, or --print-profile
 *
 * Pure: nothing is looked up on disk, so that it can be made, read and tested on any system.  The
 * text holds no byte of a path; paths, and patterns as regular expressions, are parameters.
 *
 * A profile is a list of rules of which the last that fits counts.  So the policy's come from the least
 * to the most specific, what denies behind what allows, and then what no rule opens again: hard rules,
 * those of the system, and guarded names.  "ask" is "deny": a profile asks nobody.
 */
#ifndef SB_ENFORCE_DARWIN_PROFILE_H
#define SB_ENFORCE_DARWIN_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "sandbash/policy.h"

struct sb_guard_row;

struct sb_seatbelt_parameter {
	char name[16];
	char *value;
};

struct sb_seatbelt {
	struct sb_buf text;
	struct sb_seatbelt_parameter *parameters;
	size_t count, capacity;
};

struct sb_seatbelt_options {
	/* sealed, and made as for a run that a guard watches (policy/builtin.h): the names are in the profile */
	const struct sb_policy *policy;
	const char *terminal; /* the run's own, or NULL */
	/* What was in temporary directories before the run: not its own.  NULL-terminated, or NULL. */
	const char *const *others;
};

/* SB_E_UNSUPPORTED: a pattern that no regular expression of a profile can say.  SB_E_NOMEM. */
int sb_seatbelt_make(const struct sb_seatbelt_options *options, struct sb_seatbelt *out,
		     struct sb_error *err);
void sb_seatbelt_done(struct sb_seatbelt *seatbelt);

/*
 * Does a profile close the names of this row?  Where a guard would look at the bytes, a profile has
 * to say yes or no to all of them: what git writes in daily work is open, what names a program is not.
 */
bool sb_seatbelt_holds(const struct sb_guard_row *row);

/* The same path as the kernel of macOS has it: /tmp, /var and /etc are links into /private. */
char *sb_seatbelt_canonical(const char *path);

#endif
