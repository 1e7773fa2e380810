/*
 * relay.h - bytes on their way from one terminal to another, in order and bounded.
 *
 *     fill -> release -> drain ...        zero-initialised is empty
 *
 * What has been filled in is held until it is released; only released bytes are drained.
 * Holding lets the reader keep back the beginning of an escape sequence until its end has
 * come, so that the terminal is never left inside one.  A full buffer takes nothing more:
 * the writer at the other end waits in its own system call.
 *
 * Both descriptors must be non-blocking.  Owns nothing but its storage.
 */
#ifndef SB_TERMINAL_RELAY_H
#define SB_TERMINAL_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A pty hands out at most 4 KiB at a time; several reads go into one write. */
#define SB_RELAY_BYTES (32 * 1024)

struct sb_relay {
	size_t start; /* first byte not yet written */
	size_t ready; /* end of what may be written */
	size_t end;   /* end of what was read */
	char bytes[SB_RELAY_BYTES];
};

/*
 * Read once, at most limit_bytes.  Returns how many bytes came, which are at
 * relay->bytes + relay->end - n; 0 at the end of file; or a negative errno: -EAGAIN when
 * nothing is there now, -ENOBUFS when the buffer is full.
 */
ssize_t sb_relay_fill(struct sb_relay *relay, int fd, size_t limit_bytes);

/* Add bytes that we already have; returns how many fitted. */
size_t sb_relay_add(struct sb_relay *relay, const char *bytes, size_t length);

/* Write what is released.  0: all of it, or as much as went; negative errno except -EAGAIN. */
int sb_relay_drain(struct sb_relay *relay, int fd);

size_t sb_relay_room(const struct sb_relay *relay);

/* Is something released and not yet written? */
static inline bool sb_relay_pending(const struct sb_relay *relay)
{
	return relay->start < relay->ready;
}

/* How many bytes are held. */
static inline size_t sb_relay_held(const struct sb_relay *relay)
{
	return relay->end - relay->ready;
}

/* Of what is held, only the first so many bytes stay. */
static inline void sb_relay_shrink(struct sb_relay *relay, size_t held)
{
	relay->end = relay->ready + held;
}

/* Release everything but the last kept bytes. */
static inline void sb_relay_release(struct sb_relay *relay, size_t kept)
{
	relay->ready = relay->end - kept;
}

#endif
