/*
 * peers.h - the asker's part of the network by name: which hosts may be reached, asked once each.
 *
 *     open -> { poll, handle, tick, answer }... -> close
 *
 * The gate (network/network.h) holds connections inside and asks here.  A rule decides, or a person
 * does: everybody who wants to reach the same host, port and protocol waits for one answer, which holds
 * for the run.  What may be reached the dialer connects to, and the gate gets that connection.
 */
#ifndef SB_SUPERVISE_PEERS_H
#define SB_SUPERVISE_PEERS_H

#include <poll.h>

#include "supervise/approve.h"

#define SB_PEERS_LISTENS 16
#define SB_PEERS_FDS (2 + SB_PEERS_LISTENS)

struct sb_peers;

/* Takes the gate's channel over.  NULL: out of memory. */
struct sb_peers *sb_peers_open(struct sb_approver *approver, int gate);
void sb_peers_close(struct sb_peers *peers); /* NULL is fine */

size_t sb_peers_poll(const struct sb_peers *peers, struct pollfd *out);
void sb_peers_handle(struct sb_peers *peers, const struct pollfd *fds, size_t count);

/* Is the question one of these?  Then it is answered; SB_ANSWER_NONE: nobody is left who could. */
bool sb_peers_answer(struct sb_peers *peers, unsigned long question, enum sb_answer answer,
		     const char *by);

/* End questions whose time is up, or whose process is gone. */
void sb_peers_tick(struct sb_peers *peers);
int sb_peers_timeout_ms(const struct sb_peers *peers); /* until the next tick; -1: none */

#endif
