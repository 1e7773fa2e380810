/*
 * out.h - standard output: messages from any thread, whole and in order.
 *
 * A client that does not read makes nobody wait: what does not fit the pipe at once is queued
 * for a thread of its own.  Nothing else writes to this descriptor.  When the client is gone,
 * what is sent is dropped and sb_out_broken() says so.
 */
#ifndef SB_MCP_WIRE_OUT_H
#define SB_MCP_WIRE_OUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct sb_out;

struct sb_out *sb_out_new(int fd); /* NULL: out of memory; fd stays the caller's */

/* Takes the message over; NULL (out of memory) is fine. */
void sb_out_send(struct sb_out *out, json_t *message);

size_t sb_out_waiting(struct sb_out *out); /* bytes that the client has not taken */
bool sb_out_broken(struct sb_out *out);

/* Wait until everything is written, at most so long. */
void sb_out_flush(struct sb_out *out, int timeout_ms);

#endif
