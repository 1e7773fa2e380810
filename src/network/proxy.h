/*
 * proxy.h - the proxy that the environment outside names: for which hosts it is, what it is told and what it answers.
 *
 *     HTTPS_PROXY=http://me:secret@proxy.corp:3128  NO_PROXY=.corp,10.0.0.0/8
 *     ALL_PROXY=socks5h://localhost:1080
 *
 * Only the dialer speaks to it: the name of a host goes there, and is not looked up here.  The
 * command has none of these variables (options/environ.h), and so neither the login.
 */
#ifndef SB_NETWORK_PROXY_H
#define SB_NETWORK_PROXY_H

#include "base/buf.h"
#include "policy/peer.h"

enum sb_proxy_kind {
	SB_PROXY_NONE,
	SB_PROXY_UNKNOWN, /* nothing goes by it, and nothing past it */
	SB_PROXY_HTTP,
	SB_PROXY_SOCKS,
};

#define SB_PROXY_VARIABLE_SIZE 16

struct sb_proxy {
	enum sb_proxy_kind kind;
	char variable[SB_PROXY_VARIABLE_SIZE]; /* that names it: "HTTPS_PROXY" */
	struct sb_peer peer;                   /* where it is */
	struct sb_buf login;                   /* "dXNlcjpwYXNz", or what SOCKS says; or nothing */
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

/* methods -> [login ->] request -> what follows is the host's.  Its name goes to the proxy, for socks5:// as well. */
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

/* What is said to it, and heard; zero but for the first two at the start. */
struct sb_proxy_talk {
	const struct sb_proxy *proxy;
	const struct sb_peer *peer;
	enum sb_socks_step step;
};

/* "CONNECT github.com:443 HTTP/1.1 ...", or a message of SOCKS. */
void sb_proxy_say(const struct sb_proxy_talk *talk, struct sb_buf *out);

#define SB_PROXY_ANSWER_MAX 8192 /* longer ones are none */

enum { SB_PROXY_DONE = 200, SB_PROXY_WANTS_LOGIN = 407, SB_PROXY_NEXT = 1000 };

/*
 * The status of an answer, and where it ends; 0: it goes on; SB_PROXY_NEXT: there is more to say; negative: it is
 * none.  Of SOCKS a failure is the number of its reply, which is below 10, or SB_PROXY_WANTS_LOGIN.
 */
int sb_proxy_hear(struct sb_proxy_talk *talk, const uint8_t *bytes, size_t length, size_t *out_end);

/* What a status means: 0 for a host that is reached, or a negative errno as connect() has it. */
int sb_proxy_error(int status);
/* Does it say that the host is down?  Then nobody has refused anything. */
bool sb_proxy_is_down(int status);

#endif
