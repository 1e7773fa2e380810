/*
 * socks.h - SOCKS 5 (RFC 1928) with a login (RFC 1929): what a proxy is told, and what it answers.
 *
 *     methods -> [login ->] request -> what follows is the host's
 *
 * The name of a host goes to the proxy, as by CONNECT, and as socks5h:// means it; for socks5:// as well.
 */
#ifndef SB_NETWORK_SOCKS_H
#define SB_NETWORK_SOCKS_H

#include "base/buf.h"
#include "policy/peer.h"

enum sb_socks_step { SB_SOCKS_METHODS, SB_SOCKS_LOGIN, SB_SOCKS_REQUEST };

/* Replies of RFC 1928 that are told apart. */
enum {
	SB_SOCKS_FAILED = 1,
	SB_SOCKS_FORBIDDEN,
	SB_SOCKS_NO_NET,
	SB_SOCKS_NO_HOST,
	SB_SOCKS_REFUSED,
	SB_SOCKS_LATE
};

/* What SB_SOCKS_LOGIN says.  Nothing: a part has more than 255 bytes, or there is no name. */
void sb_socks_login(const struct sb_buf *name, const struct sb_buf *password, struct sb_buf *out);

/* login: empty where there is none. */
void sb_socks_say(enum sb_socks_step step, const struct sb_buf *login, const struct sb_peer *peer,
		  struct sb_buf *out);

/* As sb_proxy_hear() in proxy.h, and which step is next. */
int sb_socks_hear(enum sb_socks_step *step, const struct sb_buf *login, const uint8_t *bytes,
		  size_t length, size_t *out_end);

#endif
