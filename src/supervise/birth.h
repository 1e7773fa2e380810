/*
 * birth.h - the processes of a supervised run, in the order they are made.
 *
 *   ASKER      who calls: outside every namespace, not confined
 *   PERFORMER  its child: in the namespaces, confined to the roots, holds the listener
 *   INIT       first process of the pid namespace: everything in it ends with it
 *   COMMAND    the performer's child in that pid namespace: no change of its own
 *
 * The order is that of KERNEL facts M: each step needs a right that a later one takes away,
 * and the command's Landlock domain must be beneath the performer's, or the performer could
 * not look at it.
 */
#ifndef SB_SUPERVISE_BIRTH_H
#define SB_SUPERVISE_BIRTH_H

#include <sys/types.h>

#include "enforce/stages.h"
#include "sandbash/policy.h"

struct sb_grounds;

struct sb_birth {
	const struct sb_policy *policy;
	const struct sb_grounds *grounds;
	struct sb_stages *stages; /* begun; its results are filled in by the performer */
	int proc;                 /* the host's /proc */
	int tty; /* the caller's terminal: the command gets one like it; -1: it keeps that one */
	bool job_control; /* the caller's terminal is the command's: hand it over */
	bool keep_background;
	const void *saved_mask; /* sigset_t: the signals blocked when we were started */
	bool child_ignored;     /* SIGCHLD was ignored then */

	/*
	 * In the performer: the run cannot be.  Says so; the process exits with the result.
	 * In the command: everything is in place.  Executes it; only returns when that fails.
	 */
	int (*failed)(void *context, const struct sb_error *err, const struct sb_weaknesses *weak);
	int (*start)(void *context, const struct sb_layers *layers,
		     const struct sb_weaknesses *weak);
	void *context;
};

/* *out_channel leads to the performer (wire.h).  SB_E_SYSTEM: nothing was started. */
int sb_birth(const struct sb_birth *birth, int *out_channel, pid_t *out_performer,
	     struct sb_error *err);

#endif
