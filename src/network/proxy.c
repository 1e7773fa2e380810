#include "network/proxy.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/escape.h"

/* SOCKS 5: RFC 1928, and its logins: RFC 1929. */
enum { VERSION = 5, LOGIN_VERSION = 1, CONNECT = 1, OPEN = 0, BY_LOGIN = 2, NO_METHOD = 0xff };
enum { IPV4 = 1, NAME = 3, IPV6 = 4 };
enum { MOST = 255, LAST_REPLY = 8 };

#define MAX_LOGIN 1024
#define MAX_URL 4096

static void decode(const char *text, size_t length, struct sb_buf *out)
{
	for (size_t i = 0; i < length; i++) {
		int high = text[i] == '%' && i + 2 < length ? sb_hex_digit(text[i + 1]) : -1;
		int low = high < 0 ? -1 : sb_hex_digit(text[i + 2]);

		sb_buf_putc(out, low < 0 ? text[i] : (char)(high << 4 | low));
		i += low < 0 ? 0 : 2;
	}
}

static void put(struct sb_buf *out, unsigned byte)
{
	sb_buf_putc(out, (char)byte);
}

static void put_counted(struct sb_buf *out, const char *bytes, size_t length)
{
	put(out, (unsigned)length);
	sb_buf_append(out, bytes, length);
}

/* What SB_SOCKS_LOGIN says.  Nothing: a part has more than 255 bytes, or there is no name. */
static void make_login(const struct sb_buf *name, const struct sb_buf *password, struct sb_buf *out)
{
	if (!name->length || name->length > MOST || password->length > MOST)
		return;
	put(out, LOGIN_VERSION);
	put_counted(out, name->data, name->length);
	put_counted(out, password->data, password->length);
}

/* "me:p%40ss" as it is told; nothing: there is no room. */
static void encode_login(enum sb_proxy_kind kind, const char *text, size_t length,
			 struct sb_buf *out)
{
	const char *colon = memchr(text, ':', length);
	size_t name_length = colon ? (size_t)(colon - text) : length;
	SB_AUTO_BUF struct sb_buf name = SB_BUF(MAX_LOGIN), password = SB_BUF(MAX_LOGIN);

	decode(text, name_length, &name);
	if (colon)
		decode(colon + 1, length - name_length - 1, &password);
	if (sb_buf_failed(&name) || sb_buf_failed(&password))
		return;
	if (kind == SB_PROXY_SOCKS) {
		make_login(&name, &password, out);
		return;
	}
	sb_buf_putc(&name, ':');
	sb_buf_append(&name, password.data, password.length);
	if (!sb_buf_failed(&name))
		sb_base64_append(out, name.data, name.length);
}

static const struct {
	const char *scheme, *port;
	enum sb_proxy_kind kind;
} kinds[] = {
	{"http://", ":80", SB_PROXY_HTTP},
	{"socks5://", ":1080", SB_PROXY_SOCKS},
	{"socks5h://", ":1080", SB_PROXY_SOCKS},
};

/* What is no URL is a proxy all the same, by which nothing goes: who set it wants no other way. */
static void read_url(const char *url, struct sb_proxy *out)
{
	const char *mark = strstr(url, "://"), *host = mark ? mark + 3 : url;
	const char *end = host + strcspn(host, "/?#");
	const char *at = memrchr(host, '@', (size_t)(end - host));
	char place[SB_PEER_TEXT_SIZE];
	const char *name = at ? at + 1 : host;
	size_t length = (size_t)(end - name), kind = 0;
	bool has_port = memchr(name, ':', length) && (*name != '[' || end[-1] != ']');

	out->kind = SB_PROXY_UNKNOWN;
	while (mark && kind < sizeof kinds / sizeof kinds[0] &&
	       strncasecmp(url, kinds[kind].scheme, strlen(kinds[kind].scheme)) != 0)
		kind++;
	if (strlen(url) > MAX_URL || length + sizeof ":1080" > sizeof place ||
	    kind == sizeof kinds / sizeof kinds[0])
		return;
	snprintf(place, sizeof place, "%.*s%s", (int)length, name,
		 has_port ? "" : kinds[kind].port);
	if (sb_peer_parse(place, &out->peer, NULL) != SB_OK)
		return;
	out->kind = kinds[kind].kind;
	if (at)
		encode_login(out->kind, host, (size_t)(at - host), &out->login);
}

/* In capitals or not; out_name: which of them it is. */
static const char *find_variable(const char *(*variable)(const char *), const char *name,
				 char out_name[SB_PROXY_VARIABLE_SIZE])
{
	const char *value = variable(name);
	size_t i = 0;

	for (; name[i] && i + 1 < SB_PROXY_VARIABLE_SIZE; i++)
		out_name[i] = value ? name[i] : (char)toupper((unsigned char)name[i]);
	out_name[i] = '\0';
	value = value ? value : variable(out_name);
	return value && *value ? value : NULL;
}

static struct sb_proxy find_proxy(const char *(*variable)(const char *), const char *name)
{
	struct sb_proxy proxy = {.login = SB_BUF(2 * MAX_LOGIN)};
	const char *url = find_variable(variable, name, proxy.variable);

	url = url ? url : find_variable(variable, "all_proxy", proxy.variable);
	if (url)
		read_url(url, &proxy);
	return proxy;
}

void sb_proxies_find(const char *(*variable)(const char *name), struct sb_proxies *out)
{
	char name[SB_PROXY_VARIABLE_SIZE];

	*out = (struct sb_proxies){.http = find_proxy(variable, "http_proxy"),
				   .https = find_proxy(variable, "https_proxy"),
				   .direct = find_variable(variable, "no_proxy", name)};
}

void sb_proxies_done(struct sb_proxies *proxies)
{
	sb_buf_done(&proxies->http.login);
	sb_buf_done(&proxies->https.login);
	*proxies = (struct sb_proxies){0};
}

/* ".corp", "*.corp" and "corp" are the name and all beneath it, as most programs have it; "10.0.0.0/8:22". */
static bool is_word_for(const char *word, size_t length, const struct sb_peer *peer)
{
	char text[SB_PEER_TEXT_SIZE];
	struct sb_peer_pattern pattern;

	if (length == 1 && *word == '*')
		return true;
	for (const char *mark = "*."; *mark; mark++)
		if (length && *word == *mark)
			word++, length--;
	if (length >= sizeof text)
		return false;
	snprintf(text, sizeof text, "%.*s", (int)length, word);
	if (sb_peer_pattern_parse(text, &pattern, NULL) != SB_OK ||
	    (pattern.port > 0 && peer->port && pattern.port != peer->port))
		return false;
	if (sb_peer_pattern_means(&pattern, peer))
		return true;
	pattern.beneath = true;
	return pattern.name[0] && sb_peer_pattern_means(&pattern, peer);
}

static bool is_direct(const struct sb_proxies *proxies, const struct sb_peer *peer)
{
	enum sb_address_class which = peer->address.family ? sb_address_class(&peer->address)
							   : SB_ADDRESS_PUBLIC;

	if (peer->protocol == SB_UDP || strcmp(peer->name, SB_HOST_LOCAL) == 0 ||
	    which == SB_ADDRESS_LOOPBACK || which == SB_ADDRESS_LINK_LOCAL ||
	    which == SB_ADDRESS_METADATA)
		return true;
	for (const char *at = proxies->direct; at && *at;) {
		size_t length = strcspn(at, ", \t");

		if (length && is_word_for(at, length, peer))
			return true;
		at += length;
		at += strspn(at, ", \t");
	}
	return false;
}

const struct sb_proxy *sb_proxy_for(const struct sb_proxies *proxies, const struct sb_peer *peer)
{
	const struct sb_proxy *proxy = peer->port == 80 ? &proxies->http : &proxies->https;

	if (!peer->port && !proxy->kind)
		proxy = &proxies->http;
	return proxy->kind && !is_direct(proxies, peer) ? proxy : NULL;
}

static void say_connect(const struct sb_proxy *proxy, const struct sb_peer *peer,
			struct sb_buf *out)
{
	char text[SB_PEER_TEXT_SIZE];

	/* a name in its one spelling has no byte that could end the line */
	sb_peer_print(peer, text);
	sb_buf_printf(out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", text, text);
	if (proxy->login.length)
		sb_buf_printf(out, "Proxy-Authorization: Basic %s\r\n", proxy->login.data);
	sb_buf_puts(out, "\r\n");
}

static void say_socks(const struct sb_proxy_talk *talk, struct sb_buf *out)
{
	const struct sb_buf *login = &talk->proxy->login;
	const struct sb_peer *peer = talk->peer;
	bool v6 = peer->address.family == AF_INET6;

	switch (talk->step) {
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

/* The address in a reply is skipped: nothing is connected to it. */
static int hear_socks(struct sb_proxy_talk *talk, const uint8_t *bytes, size_t length,
		      size_t *out_end)
{
	enum sb_socks_step *step = &talk->step;

	if (length && bytes[0] != (*step == SB_SOCKS_LOGIN ? LOGIN_VERSION : VERSION))
		return -1;
	if (length < 2)
		return 0;
	*out_end = 2;
	switch (*step) {
	case SB_SOCKS_METHODS:
		if (bytes[1] == NO_METHOD)
			return SB_PROXY_WANTS_LOGIN;
		if (bytes[1] != OPEN && (bytes[1] != BY_LOGIN || !talk->proxy->login.length))
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

void sb_proxy_say(const struct sb_proxy_talk *talk, struct sb_buf *out)
{
	if (talk->proxy->kind == SB_PROXY_SOCKS)
		say_socks(talk, out);
	else
		say_connect(talk->proxy, talk->peer, out);
}

static int hear_status(const char *bytes, size_t length, size_t *out_end)
{
	static const char form[] = "HTTP/1.x nnn";
	const char *end = memmem(bytes, length, "\r\n\r\n", 4);

	for (size_t i = 0; i < length && form[i]; i++)
		if (form[i] == 'n' || form[i] == 'x' ? !isdigit((unsigned char)bytes[i])
						     : bytes[i] != form[i])
			return -1;
	if (!end)
		return length < SB_PROXY_ANSWER_MAX ? 0 : -1;
	if (end - bytes < (ptrdiff_t)sizeof form - 1 || bytes[9] == '0')
		return -1;
	*out_end = (size_t)(end - bytes) + 4;
	return (bytes[9] - '0') * 100 + (bytes[10] - '0') * 10 + (bytes[11] - '0');
}

/*
 * SECURITY: a proxy's answer is a stranger's text, in front of bytes that are the command's.
 *
 * Danger: one that never ends, or that is none, would be waited for, or its rest given to the command.  All that is read
 * of it is a number; it has so many bytes and so much time.
 * Price: none.
 * Held by: tests/unit/test_proxy.c, tests/fuzz/proxy.c, tests/supervise/proxy.py
 */
int sb_proxy_hear(struct sb_proxy_talk *talk, const uint8_t *bytes, size_t length, size_t *out_end)
{
	return talk->proxy->kind == SB_PROXY_SOCKS
		       ? hear_socks(talk, bytes, length, out_end)
		       : hear_status((const char *)bytes, length, out_end);
}

int sb_proxy_error(int status)
{
	if (status >= 200 && status < 300)
		return 0;
	if (status == SB_SOCKS_NO_NET)
		return -ENETUNREACH;
	return (status >= 400 && status < 500) || status == SB_SOCKS_REFUSED ||
			       (status > 0 && status < 100 && !sb_proxy_is_down(status))
		       ? -ECONNREFUSED
		       : -EHOSTUNREACH;
}

bool sb_proxy_is_down(int status)
{
	return status >= 500 ||
	       (status > 0 && status <= SB_SOCKS_LATE && status != SB_SOCKS_FORBIDDEN);
}
