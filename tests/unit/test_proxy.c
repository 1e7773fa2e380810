/* test_proxy.c - a proxy that variables name: for which hosts it is, what it is told, what it may answer. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "network/proxy.h"

static const char *http, *https, *all, *none; /* what the variables say */
static enum sb_socks_step step;
static size_t request_length;

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
	if (proxy && proxy->kind == SB_PROXY_UNKNOWN)
		sb_buf_printf(&request, "unspoken %s", proxy->variable);
	else if (proxy)
		sb_proxy_say(&(struct sb_proxy_talk){proxy, &peer, step}, &request);
	request_length = request.length;
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
	all = "https://c";
	assert_true(strcmp(request_for("x.org:443"), "unspoken all_proxy") == 0);
	https = "socks4://c";
	assert_true(strcmp(request_for("x.org:443"), "unspoken HTTPS_PROXY") == 0);
	https = "";
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

static bool says(const char *peer, const char *bytes, size_t length)
{
	const char *text = request_for(peer);

	return request_length == length && memcmp(text, bytes, length) == 0;
}
#define SAYS(peer, bytes) assert_true(says(peer, bytes, sizeof(bytes) - 1))

static void socks_says_name_address_and_login(void **state)
{
	static char longer[600] = "socks5://";

	(void)state;
	all = "SOCKS5://b.corp";
	step = SB_SOCKS_METHODS;
	SAYS("x.org:443", "\5\1\0");
	all = "socks5h://me:p%40%00s@b.corp:9050/";
	SAYS("x.org:443", "\5\2\0\2");
	step = SB_SOCKS_LOGIN;
	SAYS("x.org:443", "\1\2me\4p@\0s");
	step = SB_SOCKS_REQUEST;
	SAYS("x.org:443", "\5\1\0\3\5x.org\1\273");
	SAYS("93.184.216.34:80", "\5\1\0\1\135\270\330\42\0\120");
	SAYS("[2600::1]:443", "\5\1\0\4\46\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\1\273");
	/* who has no name that fits has no login */
	step = SB_SOCKS_METHODS;
	memset(longer + 9, 'x', 256);
	memcpy(longer + 265, ":p@b", 5);
	all = longer;
	SAYS("x.org:443", "\5\1\0");
	all = "socks5://:p@b";
	SAYS("x.org:443", "\5\1\0");
	all = NULL;
}

/* In memory that ends where the bytes do. */
static int hear(struct sb_proxy_talk *talk, const char *text, size_t length, size_t *out_end)
{
	uint8_t *exact = malloc(length ? length : 1);
	int code;

	memcpy(exact, text, length);
	code = sb_proxy_hear(talk, exact, length, out_end);
	free(exact);
	return code;
}

static int answer(const char *text, size_t length, size_t *out_end)
{
	const struct sb_proxy proxy = {.kind = SB_PROXY_HTTP};
	struct sb_proxy_talk talk = {.proxy = &proxy};

	return hear(&talk, text, length, out_end);
}

static void socks_answers_step_by_step(void **state)
{
	static const struct {
		enum sb_socks_step step, next;
		bool login;
		const char *bytes;
		size_t length;
		int status;
		size_t end;
	} rows[] = {
#define ROW(step, login, bytes, status, end, next)                                                 \
	{step, next, login, bytes, sizeof(bytes) - 1, status, end}
		ROW(SB_SOCKS_METHODS, true, "", 0, 0, SB_SOCKS_METHODS),
		ROW(SB_SOCKS_METHODS, true, "\5", 0, 0, SB_SOCKS_METHODS),
		ROW(SB_SOCKS_METHODS, true, "\5\2", SB_PROXY_NEXT, 2, SB_SOCKS_LOGIN),
		ROW(SB_SOCKS_METHODS, true, "\5\0", SB_PROXY_NEXT, 2, SB_SOCKS_REQUEST),
		ROW(SB_SOCKS_METHODS, false, "\5\0x", SB_PROXY_NEXT, 2, SB_SOCKS_REQUEST),
		ROW(SB_SOCKS_METHODS, false, "\5\2", -1, 2, SB_SOCKS_METHODS),
		ROW(SB_SOCKS_METHODS, true, "\5\1", -1, 2, SB_SOCKS_METHODS),
		ROW(SB_SOCKS_METHODS, true, "\5\377", 407, 2, SB_SOCKS_METHODS),
		ROW(SB_SOCKS_METHODS, true, "\4", -1, 0, SB_SOCKS_METHODS),
		ROW(SB_SOCKS_METHODS, true, "HTTP/1.1 200", -1, 0, SB_SOCKS_METHODS),
		ROW(SB_SOCKS_LOGIN, true, "\1\0", SB_PROXY_NEXT, 2, SB_SOCKS_REQUEST),
		ROW(SB_SOCKS_LOGIN, true, "\1\1", 407, 2, SB_SOCKS_LOGIN),
		ROW(SB_SOCKS_LOGIN, true, "\5\0", -1, 0, SB_SOCKS_LOGIN),
		ROW(SB_SOCKS_REQUEST, true, "\5\0\0\1abcdef", 200, 10, SB_SOCKS_REQUEST),
		ROW(SB_SOCKS_REQUEST, true, "\5\0\0\1abcdeSSH", 200, 10, SB_SOCKS_REQUEST),
		ROW(SB_SOCKS_REQUEST, true, "\5\0\0\1abcde", 0, 10, SB_SOCKS_REQUEST),
		ROW(SB_SOCKS_REQUEST, true, "\5\0\0\3\3abcde", 200, 10, SB_SOCKS_REQUEST),
		ROW(SB_SOCKS_REQUEST, true, "\5\0\0\3", 0, 5, SB_SOCKS_REQUEST),
		ROW(SB_SOCKS_REQUEST, true, "\5\0\0\4abcdefghijklmnopqr", 200, 22,
		    SB_SOCKS_REQUEST),
		ROW(SB_SOCKS_REQUEST, true, "\5\0\0\2abcdef", -1, 0, SB_SOCKS_REQUEST),
		ROW(SB_SOCKS_REQUEST, true, "\5\2", 2, 2, SB_SOCKS_REQUEST),
		/* no number of a reply is taken for a status of HTTP */
		ROW(SB_SOCKS_REQUEST, true, "\5\310", 1, 2, SB_SOCKS_REQUEST),
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct sb_proxy proxy = {.kind = SB_PROXY_SOCKS,
					       .login = {.length = rows[i].login}};
		struct sb_proxy_talk talk = {.proxy = &proxy, .step = rows[i].step};
		size_t end = 0;

		assert_int_equal(hear(&talk, rows[i].bytes, rows[i].length, &end), rows[i].status);
		assert_int_equal(end, rows[i].end);
		assert_int_equal(talk.step, rows[i].next);
	}
}

static void a_status_is_an_error_of_connect(void **state)
{
	static const struct {
		int status, error;
		bool down;
	} rows[] = {
		{200, 0, false},
		{204, 0, false},
		{302, -EHOSTUNREACH, false},
		{403, -ECONNREFUSED, false},
		{407, -ECONNREFUSED, false},
		{502, -EHOSTUNREACH, true},
		{SB_SOCKS_FAILED, -EHOSTUNREACH, true},
		{SB_SOCKS_FORBIDDEN, -ECONNREFUSED, false},
		{SB_SOCKS_NO_NET, -ENETUNREACH, true},
		{SB_SOCKS_NO_HOST, -EHOSTUNREACH, true},
		{SB_SOCKS_REFUSED, -ECONNREFUSED, true},
		{SB_SOCKS_LATE, -EHOSTUNREACH, true},
		{7, -ECONNREFUSED, false},
		{-EPROTO, -EHOSTUNREACH, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(sb_proxy_error(rows[i].status), rows[i].error);
		assert_int_equal(sb_proxy_is_down(rows[i].status), rows[i].down);
	}
}

static void an_answer_is_whole_or_none(void **state)
{
	static const char good[] = "HTTP/1.0 200 fine\r\nA: b\r\n\r\nSSH-2.0";
	static const char *const bad[] = {"HTTP/2 200\r\n\r\n",
					  "HTTP/1.1 2x0 \r\n\r\n",
					  "SSH-2.0",
					  "HTTP/1.1\r\n\r\n",
					  "\r\n\r\n",
					  "http/1.1 200\r\n\r\n",
					  "HTTP/1.1 005\r\n\r\n"};
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
	cmocka_unit_test(socks_says_name_address_and_login),
	cmocka_unit_test(socks_answers_step_by_step),
	cmocka_unit_test(a_status_is_an_error_of_connect),
};

UNIT_MAIN("proxy")
