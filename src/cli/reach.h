/*
 * reach.h - the connection from a person's terminal to a run (attach_wire.h).
 *
 * Who may connect is decided over there (consent/peer.h); here is looked at who answers.
 */
#ifndef SB_CLI_REACH_H
#define SB_CLI_REACH_H

#include "consent/attach_wire.h"
#include "consent/running.h"

/* *out_fd never waits.  SB_E_REFUSED: another process listens in place of the run. */
int sb_reach(const struct sb_running *running, int *out_fd, struct sb_error *err);

int sb_reach_tell(int run, const struct sb_attach_message *message); /* 0 or a negative errno */

/*
 * 1: a message, which points into memory that the next call changes; 0: nothing now; -1: the end,
 * or nonsense.
 */
int sb_reach_hear(int run, struct sb_attach_message *out);

#endif
