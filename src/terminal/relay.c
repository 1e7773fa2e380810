#include "terminal/relay.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

size_t sb_relay_room(const struct sb_relay *relay)
{
	return sizeof relay->bytes - (relay->end - relay->start);
}

/* Room for length bytes at the end of the array; bytes are moved only when they must be. */
static void make_room(struct sb_relay *relay, size_t length)
{
	if (relay->start == relay->end) {
		relay->start = relay->ready = relay->end = 0;
	} else if (sizeof relay->bytes - relay->end < length && relay->start > 0) {
		memmove(relay->bytes, relay->bytes + relay->start, relay->end - relay->start);
		relay->ready -= relay->start;
		relay->end -= relay->start;
		relay->start = 0;
	}
}

ssize_t sb_relay_fill(struct sb_relay *relay, int fd, size_t limit_bytes)
{
	size_t room;
	ssize_t got;

	make_room(relay, 1);
	room = sizeof relay->bytes - relay->end;
	if (room == 0)
		return -ENOBUFS;
	if (room > limit_bytes)
		room = limit_bytes;
	do {
		got = read(fd, relay->bytes + relay->end, room);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	relay->end += (size_t)got;
	return got;
}

size_t sb_relay_add(struct sb_relay *relay, const char *bytes, size_t length)
{
	size_t room;

	make_room(relay, length);
	room = sizeof relay->bytes - relay->end;
	if (length > room)
		length = room;
	memcpy(relay->bytes + relay->end, bytes, length);
	relay->end += length;
	return length;
}

int sb_relay_drain(struct sb_relay *relay, int fd)
{
	while (sb_relay_pending(relay)) {
		ssize_t put = write(fd, relay->bytes + relay->start, relay->ready - relay->start);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno == EAGAIN ? 0 : -errno;
		relay->start += (size_t)put;
	}
	return 0;
}
