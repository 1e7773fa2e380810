/*
 * frame.h - lines out of a stream of bytes: how MCP sends its messages over stdio.
 *
 *     init -> { read, next ... until it says no } ... -> done
 *
 * A line ends with "\n" (a "\r" before it is taken off).  One that is longer than the limit is
 * reported once and skipped up to its end, so that whatever follows is understood again; it is
 * never held in memory.
 */
#ifndef SB_MCP_WIRE_FRAME_H
#define SB_MCP_WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sb_frame {
	char *data;
	size_t start, length, capacity; /* data[start .. length) is not handed out yet */
	size_t searched;                /* no newline before this */
	size_t limit;                   /* of one line */
	bool skipping;                  /* inside a line that is too long */
};

enum sb_frame_state { SB_FRAME_NONE, SB_FRAME_LINE, SB_FRAME_LONG };

void sb_frame_init(struct sb_frame *frame, size_t limit_bytes);
void sb_frame_done(struct sb_frame *frame);

/* Add bytes; false: out of memory. */
bool sb_frame_add(struct sb_frame *frame, const char *bytes, size_t length);

/* Read once from fd.  >0: bytes; 0: its end; negative errno. */
ssize_t sb_frame_read(struct sb_frame *frame, int fd);

/* The next whole line (valid until the next add or read), or that one was too long. */
enum sb_frame_state sb_frame_next(struct sb_frame *frame, const char **out_line,
				  size_t *out_length);

#endif
