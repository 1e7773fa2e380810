/*
 * proxy.h - the proxy that the environment outside names: for which hosts it is, what it is told and what it answers.
 *
 *     HTTPS_PROXY=http://me:secret@proxy.corp:3128  NO_PROXY=.corp,10.0.0.0/8
 *
 * Only the dialer speaks to it (linux_tunnel.c): the name of a host goes there, and is not looked up here.  The
 * command has none of these variables (options/environ.h), and so neither the login.
 */
#ifndef SB_NETWORK_PROXY_H
#define SB_NETWORK_PROXY_H

#include "base/buf.h"
#include "policy/peer.h"

struct sb_proxy {
	bool given;
	bool spoken;         /* "http://"; by another one nothing goes, and nothing past it */
	struct sb_peer peer; /* where it is */
	char *login;         /* "dXNlcjpwYXNz"; or NULL */
};

struct sb_proxies {
	struct sb_proxy http, https;
	const char *direct; /* NO_PROXY; or NULL */
};

/* Those that variables name, in capitals or not; where both are set, not. */
void sb_proxies_find(const char *(*variable)(const char *name), struct sb_proxies *out);
void sb_proxies_done(struct sb_proxies *proxies);

/*
 * The one for a peer; NULL: it is reached directly.  HTTP_PROXY is for port 80 and HTTPS_PROXY for all others,
 * ALL_PROXY where that is not set; none is for UDP, this machine, link-local addresses, metadata, and what
 * NO_PROXY names.  Port 0: any.
 */
const struct sb_proxy *sb_proxy_for(const struct sb_proxies *proxies, const struct sb_peer *peer);

/* "CONNECT github.com:443 HTTP/1.1 ..." */
void sb_proxy_request(const struct sb_proxy *proxy, const struct sb_peer *peer, struct sb_buf *out);

#define SB_PROXY_ANSWER_MAX 8192 /* longer ones are none */

/* The status of an answer, and where it ends; 0: it goes on; negative: it is none. */
int sb_proxy_answer(const char *bytes, size_t length, size_t *out_end);

#endif
