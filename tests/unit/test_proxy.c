/* test_proxy.c - a proxy that variables name: for which hosts it is, what it is told, what it may answer. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "network/proxy.h"

static const char *http, *https, *all, *none; /* what the variables say */

static const char *variable(const char *name)
{
	return strcmp(name, "http_proxy") == 0    ? http
	       : strcmp(name, "HTTPS_PROXY") == 0 ? https
	       : strcmp(name, "all_proxy") == 0   ? all
	       : strcmp(name, "NO_PROXY") == 0    ? none
						  : NULL;
}

/* "": directly; else the request's first line and login. */
static const char *request_for(const char *text)
{
	static char out[1024];
	SB_AUTO_BUF struct sb_buf request = SB_BUF(sizeof out - 1);
	struct sb_proxies proxies;
	const struct sb_proxy *proxy;
	struct sb_peer peer;
	struct sb_error err;

	assert_true(sb_peer_parse(text, &peer, &err) == SB_OK);
	sb_proxies_find(variable, &proxies);
	proxy = sb_proxy_for(&proxies, &peer);
	if (proxy && !proxy->spoken)
		sb_buf_puts(&request, "unspoken");
	else if (proxy)
		sb_proxy_request(proxy, &peer, &request);
	memcpy(out, request.data, request.length);
	out[request.length] = '\0';
	sb_proxies_done(&proxies);
	return out;
}

static void each_port_has_its_variable(void **state)
{
	(void)state;
	http = "http://a.corp:1";
	https = "B.corp";
	assert_true(strstr(request_for("x.org:80"),
			   "CONNECT x.org:80 HTTP/1.1\r\nHost: x.org:80\r\n\r\n"));
	assert_true(strstr(request_for("[2600::1]:443"), "CONNECT [2600::1]:443 "));
	assert_true(request_for("udp:x.org:443")[0] == '\0');
	assert_true(request_for("localhost:443")[0] == '\0');
	assert_true(request_for("127.0.0.2:443")[0] == '\0');
	assert_true(request_for("169.254.169.254:80")[0] == '\0');
	https = "";
	assert_true(request_for("x.org:443")[0] == '\0');
	all = "socks5://c";
	assert_true(strcmp(request_for("x.org:443"), "unspoken") == 0);
	assert_true(strstr(request_for("x.org:80"), "CONNECT"));
	all = http = https = NULL;
	assert_true(request_for("x.org:443")[0] == '\0');
}

static void a_login_is_decoded_and_cannot_end_its_line(void **state)
{
	(void)state;
	https = "http://me:p%40s%0d%0as@b.corp:3128/";
	assert_true(strstr(request_for("x.org:443"),
			   "Proxy-Authorization: Basic bWU6cEBzDQpz\r\n\r\n"));
	https = "http://me@b.corp";
	assert_true(strstr(request_for("x.org:443"), "Basic bWU6\r\n\r\n"));
	https = NULL;
}

static void no_proxy_names_what_goes_past_it(void **state)
{
	static const struct {
		const char *none, *peer;
		bool direct;
	} rows[] = {
		{"corp", "corp:443", true},
		{"corp", "a.corp:443", true},
		{".corp,", "a.b.corp:443", true},
		{"*.CORP", "a.corp:443", true},
		{"corp", "acorp:443", false},
		{"corp", "corp.org:443", false},
		{"corp:80", "corp:443", false},
		{" x  corp:443", "corp:443", true},
		{"10.0.0.0/8", "10.1.2.3:443", true},
		{"10.1.2.3", "10.1.2.3:443", true},
		{"10.0.0.0/8", "11.1.2.3:443", false},
		{"10", "x.10a:443", false},
		{"*", "x.org:443", true},
		{",,, ,", "x.org:443", false},
	};

	(void)state;
	https = "http://b.corp";
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		none = rows[i].none;
		assert_true(!*request_for(rows[i].peer) == rows[i].direct);
	}
	none = https = NULL;
}

/* In memory that ends where the bytes do. */
static int answer(const char *text, size_t length, size_t *out_end)
{
	char *exact = malloc(length ? length : 1);
	int code;

	memcpy(exact, text, length);
	code = sb_proxy_answer(exact, length, out_end);
	free(exact);
	return code;
}

static void an_answer_is_whole_or_none(void **state)
{
	static const char good[] = "HTTP/1.0 200 fine\r\nA: b\r\n\r\nSSH-2.0";
	static const char *const bad[] = {
		"HTTP/2 200\r\n\r\n", "HTTP/1.1 2x0 \r\n\r\n", "SSH-2.0", "HTTP/1.1\r\n\r\n",
		"\r\n\r\n",           "http/1.1 200\r\n\r\n"};
	static char filler[SB_PROXY_ANSWER_MAX + 1];
	size_t end = 0;

	(void)state;
	for (size_t cut = 0; cut < sizeof good - 1; cut++)
		assert_true(answer(good, cut, &end) == (cut < 27 ? 0 : 200));
	assert_true(end == 27);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_true(answer(bad[i], strlen(bad[i]), &end) < 0);
	memset(filler, 'x', sizeof filler);
	memcpy(filler, good, 20);
	assert_true(answer(filler, SB_PROXY_ANSWER_MAX - 1, &end) == 0);
	assert_true(answer(filler, SB_PROXY_ANSWER_MAX, &end) < 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(each_port_has_its_variable),
	cmocka_unit_test(a_login_is_decoded_and_cannot_end_its_line),
	cmocka_unit_test(no_proxy_names_what_goes_past_it),
	cmocka_unit_test(an_answer_is_whole_or_none),
};

UNIT_MAIN("proxy")
