/*
 * errands.h - what the dialer was told to do and has not answered yet.  Whoever ends the dialer ends none of it:
 * another one is told again, once.
 */
#ifndef SB_SUPERVISE_ERRANDS_H
#define SB_SUPERVISE_ERRANDS_H

#include "network/network.h"

struct sb_approver;

struct sb_errands {
	struct sb_approver *approver;
	int dialer;                           /* its channel; -1: there is none yet */
	struct sb_errand *first;              /* that it was told */
	struct sb_errand *later, **later_end; /* that its channel has had no room for, in order */
	size_t count;
	/* It is not done, and never will be. */
	void (*failed)(void *context, const struct sb_gate_message *message);
	void *context;
};

/* SB_GATE_DIAL or SB_GATE_LOOK: a dialer is started for the first one. */
void sb_errands_send(struct sb_errands *errands, const struct sb_gate_message *message);

/* 0: an answer to one of them, with what sb_gate_receive() gives.  Anything else is no answer. */
int sb_errands_hear(struct sb_errands *errands, struct sb_gate_message *out, int out_fds[2]);

/* The dialer ends; who waits waits no more. */
void sb_errands_done(struct sb_errands *errands);

#endif
