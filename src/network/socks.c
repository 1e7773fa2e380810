#include "network/socks.h"

#include <string.h>
#include <sys/socket.h>

#include "network/proxy.h"

enum { VERSION = 5, LOGIN_VERSION = 1, CONNECT = 1, OPEN = 0, BY_LOGIN = 2, NO_METHOD = 0xff };
enum { IPV4 = 1, NAME = 3, IPV6 = 4 };
enum { MOST = 255, LAST_REPLY = 8 };

static void put(struct sb_buf *out, unsigned byte)
{
	sb_buf_putc(out, (char)byte);
}

static void put_counted(struct sb_buf *out, const char *bytes, size_t length)
{
	put(out, (unsigned)length);
	sb_buf_append(out, bytes, length);
}

void sb_socks_login(const struct sb_buf *name, const struct sb_buf *password, struct sb_buf *out)
{
	if (!name->length || name->length > MOST || password->length > MOST)
		return;
	put(out, LOGIN_VERSION);
	put_counted(out, name->data, name->length);
	put_counted(out, password->data, password->length);
}

void sb_socks_say(enum sb_socks_step step, const struct sb_buf *login, const struct sb_peer *peer,
		  struct sb_buf *out)
{
	bool v6 = peer->address.family == AF_INET6;

	switch (step) {
	case SB_SOCKS_METHODS:
		put(out, VERSION);
		put(out, login->length ? 2 : 1);
		put(out, OPEN);
		if (login->length)
			put(out, BY_LOGIN);
		return;
	case SB_SOCKS_LOGIN:
		sb_buf_append(out, login->data, login->length);
		return;
	case SB_SOCKS_REQUEST:
		put(out, VERSION);
		put(out, CONNECT);
		put(out, 0);
		put(out, peer->name[0] ? NAME : v6 ? IPV6 : IPV4);
		if (peer->name[0])
			put_counted(out, peer->name, strlen(peer->name));
		else
			sb_buf_append(out, peer->address.bytes, v6 ? 16 : 4);
		put(out, peer->port >> 8);
		put(out, peer->port & 0xff);
		return;
	}
}

/* Where the reply to a request ends, whose form says how long an address is; 0: it is none. */
static size_t find_end(const uint8_t *bytes, size_t length)
{
	size_t head = 4, port = 2;

	if (length <= head)
		return head + 1;
	switch (bytes[3]) {
	case IPV4:
		return head + 4 + port;
	case IPV6:
		return head + 16 + port;
	case NAME:
		return head + 1 + bytes[4] + port;
	}
	return 0;
}

/*
 * SECURITY: as for sb_proxy_hear(), a stranger's bytes in front of the command's.  The address in a reply is skipped:
 * nothing is connected to it.
 */
int sb_socks_hear(enum sb_socks_step *step, const struct sb_buf *login, const uint8_t *bytes,
		  size_t length, size_t *out_end)
{
	if (length && bytes[0] != (*step == SB_SOCKS_LOGIN ? LOGIN_VERSION : VERSION))
		return -1;
	if (length < 2)
		return 0;
	*out_end = 2;
	switch (*step) {
	case SB_SOCKS_METHODS:
		if (bytes[1] == NO_METHOD)
			return SB_PROXY_WANTS_LOGIN;
		if (bytes[1] != OPEN && (bytes[1] != BY_LOGIN || !login->length))
			return -1;
		*step = bytes[1] == BY_LOGIN ? SB_SOCKS_LOGIN : SB_SOCKS_REQUEST;
		return SB_PROXY_NEXT;
	case SB_SOCKS_LOGIN:
		if (bytes[1] != 0)
			return SB_PROXY_WANTS_LOGIN;
		*step = SB_SOCKS_REQUEST;
		return SB_PROXY_NEXT;
	case SB_SOCKS_REQUEST:
		if (bytes[1]) /* no more need come */
			return bytes[1] <= LAST_REPLY ? bytes[1] : SB_SOCKS_FAILED;
		*out_end = find_end(bytes, length);
		return !*out_end ? -1 : length < *out_end ? 0 : SB_PROXY_DONE;
	}
	return -1;
}
