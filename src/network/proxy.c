#include "network/proxy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"

#define MAX_LOGIN 1024
#define MAX_URL 4096

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* "me:p%40ss" as HTTP's Basic has it; NULL: there is none, or no room. */
static char *encode_login(const char *text, size_t length)
{
	SB_AUTO_BUF struct sb_buf plain = SB_BUF(MAX_LOGIN);
	struct sb_buf coded = SB_BUF(2 * MAX_LOGIN);

	for (size_t i = 0; i < length; i++) {
		bool escaped = text[i] == '%' && i + 2 < length && hex_digit(text[i + 1]) >= 0 &&
			       hex_digit(text[i + 2]) >= 0;

		sb_buf_putc(&plain,
			    escaped ? (char)(hex_digit(text[i + 1]) << 4 | hex_digit(text[i + 2]))
				    : text[i]);
		i += escaped ? 2 : 0;
	}
	if (!memchr(text, ':', length))
		sb_buf_putc(&plain, ':');
	sb_base64_append(&coded, plain.data, plain.length);
	if (sb_buf_failed(&plain))
		sb_buf_done(&coded);
	return sb_buf_take(&coded);
}

/* What is no URL is a proxy all the same, by which nothing goes: who set it wants no other way. */
static struct sb_proxy read_url(const char *url)
{
	struct sb_proxy proxy = {.given = true};
	const char *mark = strstr(url, "://"), *host = mark ? mark + 3 : url;
	const char *end = host + strcspn(host, "/?#");
	const char *at = memrchr(host, '@', (size_t)(end - host));
	char place[SB_PEER_TEXT_SIZE];
	const char *name = at ? at + 1 : host;
	size_t length = (size_t)(end - name);
	bool has_port = memchr(name, ':', length) && (*name != '[' || end[-1] != ']');

	if (strlen(url) > MAX_URL || length + 4 > sizeof place ||
	    (mark && strncasecmp(url, "http://", 7) != 0))
		return proxy;
	snprintf(place, sizeof place, "%.*s%s", (int)length, name, has_port ? "" : ":80");
	proxy.spoken = sb_peer_parse(place, &proxy.peer, NULL) == SB_OK;
	if (proxy.spoken && at)
		proxy.login = encode_login(host, (size_t)(at - host));
	return proxy;
}

static const char *find_variable(const char *(*variable)(const char *), const char *name)
{
	char upper[16];
	const char *value = variable(name);
	size_t i = 0;

	for (; name[i] && i + 1 < sizeof upper; i++)
		upper[i] = (char)toupper((unsigned char)name[i]);
	upper[i] = '\0';
	value = value ? value : variable(upper);
	return value && *value ? value : NULL;
}

static struct sb_proxy find_proxy(const char *(*variable)(const char *), const char *name)
{
	const char *url = find_variable(variable, name);

	url = url ? url : find_variable(variable, "all_proxy");
	return url ? read_url(url) : (struct sb_proxy){0};
}

void sb_proxies_find(const char *(*variable)(const char *name), struct sb_proxies *out)
{
	*out = (struct sb_proxies){.http = find_proxy(variable, "http_proxy"),
				   .https = find_proxy(variable, "https_proxy"),
				   .direct = find_variable(variable, "no_proxy")};
}

void sb_proxies_done(struct sb_proxies *proxies)
{
	free(proxies->http.login);
	free(proxies->https.login);
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

	if (!peer->port && !proxy->given)
		proxy = &proxies->http;
	return proxy->given && !is_direct(proxies, peer) ? proxy : NULL;
}

void sb_proxy_request(const struct sb_proxy *proxy, const struct sb_peer *peer, struct sb_buf *out)
{
	char text[SB_PEER_TEXT_SIZE];

	sb_peer_print(peer,
		      text); /* a name in its one spelling has no byte that could end the line */
	sb_buf_printf(out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", text, text);
	if (proxy->login)
		sb_buf_printf(out, "Proxy-Authorization: Basic %s\r\n", proxy->login);
	sb_buf_puts(out, "\r\n");
}

/*
 * SECURITY: a proxy's answer is a stranger's text, in front of bytes that are the command's.
 *
 * Danger: one that never ends, or that is none, would be waited for, or its rest given to the command.  All that is read
 * of it is three digits; it has so many bytes and so much time.
 * Price: none.
 * Held by: tests/unit/test_proxy.c, tests/supervise/proxy.py
 */
int sb_proxy_answer(const char *bytes, size_t length, size_t *out_end)
{
	static const char form[] = "HTTP/1.x nnn";
	const char *end = memmem(bytes, length, "\r\n\r\n", 4);

	for (size_t i = 0; i < length && form[i]; i++)
		if (form[i] == 'n' || form[i] == 'x' ? !isdigit((unsigned char)bytes[i])
						     : bytes[i] != form[i])
			return -1;
	if (!end)
		return length < SB_PROXY_ANSWER_MAX ? 0 : -1;
	if (end - bytes < (ptrdiff_t)sizeof form - 1)
		return -1;
	*out_end = (size_t)(end - bytes) + 4;
	return (bytes[9] - '0') * 100 + (bytes[10] - '0') * 10 + (bytes[11] - '0');
}
