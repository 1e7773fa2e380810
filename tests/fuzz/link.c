/*
 * link.c - fuzz target: the input is what a server sends to its keeper, which nothing confines; the first
 * byte says how long the pieces are in which it comes.
 *
 * However it is cut, the same messages are read; what is none ends the link.
 */
#include "fuzz.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "mcp/wire/link.h"

/* How many messages there are, and the text of all of them. */
static size_t read_all(const uint8_t *data, size_t size, size_t piece, char *out, size_t room)
{
	struct sb_link link;
	int fds[2], came[SB_LINK_FDS];
	size_t count = 0, used = 0;
	json_t *message;

	CHECK(sb_link_pair(fds));
	sb_link_init(&link, fds[1]);
	for (size_t at = 0; at < size; at += piece) {
		size_t width = size - at < piece ? size - at : piece;

		CHECK(write(fds[0], data + at, width) == (ssize_t)width);
		sb_link_handle(&link, POLLIN);
		while ((message = sb_link_next(&link, came))) {
			char *text = json_dumps(message, JSON_COMPACT | JSON_ENCODE_ANY);

			CHECK(text);
			for (size_t i = 0; i < SB_LINK_FDS; i++)
				CHECK(came[i] < 0);
			if (used + strlen(text) < room) {
				memcpy(out + used, text, strlen(text));
				used += strlen(text);
			}
			count++;
			free(text);
			json_decref(message);
		}
		if (link.broken)
			break;
	}
	out[used] = '\0';
	sb_link_done(&link);
	close(fds[0]);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char whole[65536], pieces[65536];
	size_t count;

	if (size < 2 || size > 16384)
		return 0;
	count = read_all(data + 1, size - 1, size - 1, whole, sizeof whole);
	CHECK(read_all(data + 1, size - 1, data[0] % 64 + 1u, pieces, sizeof pieces) == count);
	CHECK(strcmp(whole, pieces) == 0);
	return 0;
}
