/*
 * approve.h - what the performer may not do: decided once more, asked, and done outside.
 *
 * The asker takes no descriptor of the performer's for an effect.  It opens the directory
 * again by its canonical name, in its own view of the files and through no link, and goes on
 * only if that is the same file.
 */
#ifndef SB_SUPERVISE_APPROVE_H
#define SB_SUPERVISE_APPROVE_H

#include "supervise/wire.h"

struct sb_approver {
	const struct sb_policy *policy;
	struct sb_layers layers;
	int proc;     /* the host's /proc, O_PATH; also the current directory */
	int listener; /* -1: not there yet */
};

/* Answer a forwarded call.  The request stays the caller's. */
void sb_approve(struct sb_approver *approver, struct sb_wire_request *request);

#endif
