/*
 * link.h - what the server and its keeper tell each other: JSON objects, descriptors along.
 *
 *     sb_link_pair -> each side: { poll, sb_link_receive, sb_link_send } ... -> sb_link_done
 *
 * A stream socket; each message is its length and its number of descriptors, then the text.
 * Sending never waits: what the socket does not take is queued and goes out when poll(2) says
 * so.  Both ends are ours, but the server's end speaks for whatever a hostile client made of
 * the server: the keeper checks every message as strictly as the server checks its client's.
 */
#ifndef SB_MCP_WIRE_LINK_H
#define SB_MCP_WIRE_LINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define SB_LINK_FDS 4 /* descriptors that come with one message, at most */

struct sb_link {
	int fd;
	char *in;
	size_t in_length, in_capacity;
	int fds[2 * SB_LINK_FDS]; /* received and not handed out */
	size_t fd_count;
	struct sb_link_piece *first, **last;
	bool deaf;   /* the other side is gone; what it said before that is still to be read */
	bool broken; /* it has said its last, or talks nonsense */
};

bool sb_link_pair(int out_fds[2]);
void sb_link_init(struct sb_link *link, int fd); /* takes it over */
void sb_link_done(struct sb_link *link);

/* Say that nothing more comes, and wait until the other side has taken all of it and ended, too. */
void sb_link_finish(struct sb_link *link, int timeout_ms);

/* The descriptors are duplicated as they are sent; takes the message over. */
void sb_link_send(struct sb_link *link, json_t *message, const int *fds, size_t fd_count);

short sb_link_events(const struct sb_link *link);        /* for poll(2) */
void sb_link_handle(struct sb_link *link, short events); /* read and write what can be */

/*
 * The next message that is there whole; a new reference.  NULL: none.  Its descriptors are the
 * caller's then; those it does not have are -1.
 */
json_t *sb_link_next(struct sb_link *link, int out_fds[SB_LINK_FDS]);

#endif
