#include "network/tunnel.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"

#define MAX_REQUEST 8192

/* 0, or a negative errno. */
static int await(int fd, short events, int64_t until_ms)
{
	struct pollfd wait = {fd, events, 0};
	int ready;

	do {
		int64_t left = until_ms - sb_now_ms();

		ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
	} while (ready < 0 && errno == EINTR);
	return ready > 0 ? 0 : ready < 0 ? -errno : -ETIMEDOUT;
}

static int send_all(int fd, const struct sb_buf *text, int64_t until_ms)
{
	for (size_t done = 0; done < text->length;) {
		ssize_t sent = send(fd, text->data + done, text->length - done, MSG_NOSIGNAL);
		int status = sent >= 0         ? 0
			     : errno == EAGAIN ? await(fd, POLLOUT, until_ms)
					       : -errno;

		if (status < 0 && status != -EINTR)
			return status;
		done += sent > 0 ? (size_t)sent : 0;
	}
	return 0;
}

/* What follows the answer is the host's, who may be the first to speak: it stays where it is. */
static int receive_answer(int fd, struct sb_proxy_talk *talk, int64_t until_ms)
{
	uint8_t bytes[SB_PROXY_ANSWER_MAX];
	size_t have = 0;
	int code = 0;

	while (code == 0) {
		ssize_t got = recv(fd, bytes + have, sizeof bytes - have, MSG_PEEK);
		size_t end = 0;
		int status = got > 0           ? 0
			     : got == 0        ? -ECONNRESET
			     : errno == EAGAIN ? await(fd, POLLIN, until_ms)
					       : -errno;

		if (status < 0 && status != -EINTR)
			return status;
		if (got <= 0)
			continue;
		code = sb_proxy_hear(talk, bytes, have + (size_t)got, &end);
		if (code < 0)
			return -EPROTO;
		got = recv(fd, bytes + have, code ? end - have : (size_t)got, 0);
		if (got <= 0)
			return -EPROTO;
		have += (size_t)got;
	}
	return code;
}

int sb_tunnel_make(int fd, const struct sb_proxy *proxy, const struct sb_peer *peer,
		   int64_t until_ms)
{
	struct sb_proxy_talk talk = {.proxy = proxy, .peer = peer};
	int status;

	do {
		SB_AUTO_BUF struct sb_buf request = SB_BUF(MAX_REQUEST);

		sb_proxy_say(&talk, &request);
		status = sb_buf_failed(&request) ? -ENOMEM : send_all(fd, &request, until_ms);
		if (status == 0)
			status = receive_answer(fd, &talk, until_ms);
	} while (status == SB_PROXY_NEXT);
	return status;
}
