#include "mcp/wire/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (64 * 1024) /* a pipe's worth */
#define KEEP (256 * 1024) /* a buffer that grew beyond this is given back when it is empty */

void sb_frame_init(struct sb_frame *frame, size_t limit_bytes)
{
	*frame = (struct sb_frame){.limit = limit_bytes};
}

void sb_frame_done(struct sb_frame *frame)
{
	free(frame->data);
	*frame = (struct sb_frame){0};
}

/* Room for more behind what is there; what was handed out goes first. */
static bool make_room(struct sb_frame *frame, size_t more)
{
	size_t capacity = frame->capacity ? frame->capacity : CHUNK;
	char *grown;

	if (frame->start) {
		memmove(frame->data, frame->data + frame->start, frame->length - frame->start);
		frame->length -= frame->start;
		frame->searched -= frame->start;
		frame->start = 0;
	}
	if (frame->length == 0 && frame->capacity > KEEP) {
		free(frame->data);
		frame->data = NULL;
		frame->capacity = 0;
		capacity = CHUNK;
	}
	while (capacity - frame->length < more)
		capacity *= 2;
	if (capacity == frame->capacity)
		return true;
	grown = realloc(frame->data, capacity);
	if (!grown)
		return false;
	frame->data = grown;
	frame->capacity = capacity;
	return true;
}

bool sb_frame_add(struct sb_frame *frame, const char *bytes, size_t length)
{
	if (!make_room(frame, length))
		return false;
	memcpy(frame->data + frame->length, bytes, length);
	frame->length += length;
	return true;
}

ssize_t sb_frame_read(struct sb_frame *frame, int fd)
{
	ssize_t got;

	if (!make_room(frame, CHUNK))
		return -ENOMEM;
	got = read(fd, frame->data + frame->length, frame->capacity - frame->length);
	if (got < 0)
		return -errno;
	frame->length += (size_t)got;
	return got;
}

/* Everything that is left belongs to a line of which we want nothing more. */
static void drop_rest(struct sb_frame *frame)
{
	frame->start = frame->searched = frame->length = 0;
}

enum sb_frame_state sb_frame_next(struct sb_frame *frame, const char **out_line, size_t *out_length)
{
	for (;;) {
		const char *from = frame->data + frame->searched, *end;
		size_t begin = frame->start, length;

		end = frame->length > frame->searched
			      ? memchr(from, '\n', frame->length - frame->searched)
			      : NULL;
		if (!end) {
			frame->searched = frame->length;
			if (frame->skipping) {
				drop_rest(frame);
			} else if (frame->length - frame->start > frame->limit) {
				frame->skipping = true;
				drop_rest(frame);
				return SB_FRAME_LONG;
			}
			return SB_FRAME_NONE;
		}
		frame->start = frame->searched = (size_t)(end - frame->data) + 1;
		if (frame->skipping) { /* its end; it was reported at its beginning */
			frame->skipping = false;
			continue;
		}
		length = (size_t)(end - frame->data) - begin;
		if (length > frame->limit)
			return SB_FRAME_LONG;
		if (length && frame->data[begin + length - 1] == '\r')
			length--;
		if (!length)
			continue; /* an empty line is no message */
		*out_line = frame->data + begin;
		*out_length = length;
		return SB_FRAME_LINE;
	}
}
