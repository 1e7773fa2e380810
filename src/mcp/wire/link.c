#include "mcp/wire/link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "mcp/wire/rpc.h"
#include "sys/rights.h"

#define MESSAGE_MAX (4u * SB_RPC_LINE_MAX) /* a call with its arguments, escaped once more */

struct head {
	uint32_t length, fd_count;
};

struct sb_link_piece {
	struct sb_link_piece *next;
	size_t sent, length;
	int fds[SB_LINK_FDS];
	size_t fd_count;
	char bytes[];
};

bool sb_link_pair(int out_fds[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, out_fds) == 0;
}

void sb_link_init(struct sb_link *link, int fd)
{
	*link = (struct sb_link){.fd = fd};
	link->last = &link->first;
}

static void free_piece(struct sb_link_piece *piece)
{
	for (size_t i = 0; i < piece->fd_count; i++)
		close(piece->fds[i]);
	free(piece);
}

void sb_link_done(struct sb_link *link)
{
	while (link->first) {
		struct sb_link_piece *next = link->first->next;

		free_piece(link->first);
		link->first = next;
	}
	for (size_t i = 0; i < link->fd_count; i++)
		close(link->fds[i]);
	free(link->in);
	if (link->fd >= 0)
		close(link->fd);
	*link = (struct sb_link){.fd = -1};
}

/* --- sending ------------------------------------------------------------------------------- */

static ssize_t send_some(int fd, struct sb_link_piece *piece)
{
	struct iovec part = {piece->bytes + piece->sent, piece->length - piece->sent};

	return sb_sys_send_rights(fd, &part, 1, piece->fds, piece->sent ? 0 : piece->fd_count,
				  MSG_DONTWAIT);
}

static void flush(struct sb_link *link)
{
	while (link->first && !link->deaf) {
		struct sb_link_piece *piece = link->first;
		ssize_t put = send_some(link->fd, piece);

		if (put == -EAGAIN || put == -ETOOMANYREFS)
			return;
		if (put < 0) {
			link->deaf = true;
			return;
		}
		piece->sent += (size_t)put;
		if (piece->sent == piece->length) {
			link->first = piece->next;
			if (!link->first)
				link->last = &link->first;
			free_piece(piece);
		}
	}
}

void sb_link_send(struct sb_link *link, json_t *message, const int *fds, size_t fd_count)
{
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0;
	struct sb_link_piece *piece = text ? malloc(sizeof *piece + sizeof(struct head) + length)
					   : NULL;
	struct head head = {(uint32_t)length, (uint32_t)fd_count};

	json_decref(message);
	if (!piece || length > MESSAGE_MAX || fd_count > SB_LINK_FDS) {
		free(piece);
		free(text);
		link->broken = true; /* a message that is lost would leave its call waiting */
		return;
	}
	*piece = (struct sb_link_piece){.length = sizeof head + length, .fd_count = fd_count};
	for (size_t i = 0; i < fd_count; i++)
		piece->fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
	memcpy(piece->bytes, &head, sizeof head);
	memcpy(piece->bytes + sizeof head, text, length);
	free(text);
	*link->last = piece;
	link->last = &piece->next;
	flush(link);
}

short sb_link_events(const struct sb_link *link)
{
	return (short)(POLLIN | (link->first && !link->deaf ? POLLOUT : 0));
}

/* --- receiving ------------------------------------------------------------------------------ */

static bool receive_some(struct sb_link *link)
{
	size_t room = sizeof link->fds / sizeof link->fds[0] - link->fd_count;
	struct sb_sys_received came;
	struct iovec part;
	ssize_t got;

	if (link->in_capacity - link->in_length < 64 * 1024) {
		size_t capacity = link->in_capacity ? link->in_capacity * 2 : 128 * 1024;
		char *grown = realloc(link->in, capacity);

		if (!grown)
			return false;
		link->in = grown;
		link->in_capacity = capacity;
	}
	part = (struct iovec){link->in + link->in_length, link->in_capacity - link->in_length};
	got = sb_sys_receive_rights(link->fd, &part, 1, room < SB_LINK_FDS ? room : SB_LINK_FDS,
				    MSG_DONTWAIT, &came);
	if (got < 0)
		return got == -EAGAIN;
	memcpy(link->fds + link->fd_count, came.fds, came.fd_count * sizeof(int));
	link->fd_count += came.fd_count;
	link->in_length += (size_t)got;
	return got > 0 && !(came.flags & MSG_CTRUNC);
}

void sb_link_handle(struct sb_link *link, short events)
{
	if (events & POLLOUT)
		flush(link);
	if ((events & ~POLLOUT) && !receive_some(link))
		link->broken = true;
}

json_t *sb_link_next(struct sb_link *link, int out_fds[SB_LINK_FDS])
{
	struct head head;
	json_t *message;

	for (size_t i = 0; i < SB_LINK_FDS; i++)
		out_fds[i] = -1;
	if (link->in_length < sizeof head)
		return NULL;
	memcpy(&head, link->in, sizeof head);
	if (head.length > MESSAGE_MAX || head.fd_count > SB_LINK_FDS) {
		link->broken = true;
		return NULL;
	}
	if (link->in_length < sizeof head + head.length)
		return NULL;
	message = json_loadb(link->in + sizeof head, head.length,
			     JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	link->in_length -= sizeof head + head.length;
	memmove(link->in, link->in + sizeof head + head.length, link->in_length);
	if (!json_is_object(message) || head.fd_count > link->fd_count) {
		json_decref(message);
		link->broken = true;
		return NULL;
	}
	memcpy(out_fds, link->fds, head.fd_count * sizeof(int));
	link->fd_count -= head.fd_count;
	memmove(link->fds, link->fds + head.fd_count, link->fd_count * sizeof(int));
	return message;
}

void sb_link_finish(struct sb_link *link, int timeout_ms)
{
	int64_t until = sb_now_ms() + timeout_ms, left = timeout_ms;
	int fds[SB_LINK_FDS];
	json_t *message;

	while (!link->broken && left > 0) {
		struct pollfd wait = {link->fd, sb_link_events(link), 0};

		if (!link->first || link->deaf)
			shutdown(link->fd, SHUT_WR);
		if (poll(&wait, 1, (int)left) > 0)
			sb_link_handle(link, wait.revents);
		while ((message = sb_link_next(link, fds))) { /* too late for us */
			json_decref(message);
			for (size_t i = 0; i < SB_LINK_FDS; i++)
				sb_auto_close(&fds[i]);
		}
		left = until - sb_now_ms();
	}
}
