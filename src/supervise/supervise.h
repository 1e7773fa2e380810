/*
 * supervise.h - a run with a supervisor: every change held, decided, and performed outside.
 *
 *     policy + plan --> sb_supervise() --> the command's status
 *
 * The calling process becomes the asker.  It stays unconfined, owns the terminal, the answers
 * and the record, and does what a person approves, one operation at a time.
 */
#ifndef SB_SUPERVISE_SUPERVISE_H
#define SB_SUPERVISE_SUPERVISE_H

#include "enforce/stages.h"
#include "sandbash/policy.h"

struct sb_supervision {
	size_t size; /* sizeof this struct */
	const struct sb_policy *policy;
	const struct sb_plan *plan;
	const struct sb_confine_options *confine;
	bool keep_background; /* wait for what the command leaves running */

	/* birth.h */
	int (*failed)(void *context, const struct sb_error *err, const struct sb_weaknesses *weak);
	int (*start)(void *context, const struct sb_layers *layers,
		     const struct sb_weaknesses *weak);
	void *context;
};

/* Can a run be supervised here?  SB_E_UNSUPPORTED: no, and why. */
int sb_supervise_possible(struct sb_error *err);

/*
 * *out_status: how the command ended, as waitpid(2) gives it; if failed() was called, what it
 * returned.  An error means that nothing runs (any more).
 */
int sb_supervise(const struct sb_supervision *supervision, int *out_status, struct sb_error *err);

#endif
