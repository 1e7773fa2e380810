#include "options/environ.h"

#include <string.h>
#include <unistd.h>

#include "base/words.h"

static bool is_end(char letter)
{
	return !letter || letter == ',';
}

/* Letter by letter: a launch asks this of every variable, and few names begin as one does. */
static bool is_named(const char *names, const char *variable, size_t length)
{
	for (const char *at = names; *at; at += *at == ',') {
		size_t same = 0;

		while (!is_end(at[same]) && !(at[same] == '*' && is_end(at[same + 1])) &&
		       same < length && at[same] == variable[same])
			same++;
		if (at[same] == '*' ? is_end(at[same + 1]) : same == length && is_end(at[same]))
			return true;
		for (at += same; !is_end(*at);)
			at++;
	}
	return false;
}

/*
 * SECURITY: a proxy's address and login stay outside.
 *
 * Danger: HTTPS_PROXY=http://me:secret@proxy holds a password, and one yes to that host would be one to every host behind it.
 * The dialer speaks to it for hosts that may be reached (network/proxy.h).
 * Price: who is set up for a proxy by a file of its own asks for the proxy.
 * Held by: tests/supervise/proxy.py
 */
static bool is_proxy(const char *variable, size_t length)
{
	static const char names[] =
		"http_proxy https_proxy all_proxy no_proxy ftp_proxy socks_proxy ws_proxy "
		"wss_proxy grpc_proxy rsync_proxy npm_config_proxy npm_config_http_proxy "
		"pip_proxy npm_config_noproxy npm_config_https_proxy cargo_http_proxy "
		"yarn_http_proxy yarn_https_proxy global_agent_http_proxy "
		"global_agent_https_proxy git_http_proxy";

	return sb_words_have_like(names, variable, length);
}

bool sb_environ_removes(const struct sb_environ_names *names, const char *variable)
{
	size_t length = strcspn(variable, "=");

	if (names->no_proxy && is_proxy(variable, length))
		return true;
	if (!names->usual && !names->more)
		return false;
	/* P7; the names of these alone make nothing known that --status does not tell */
	return !is_named("SANDBASH*,TMPDIR,PWD", variable, length) &&
	       !(names->usual && is_named(SB_ENVIRON_USUAL, variable, length)) &&
	       !(names->more && is_named(names->more, variable, length));
}

void sb_environ_keep(const struct sb_environ_names *names)
{
	size_t kept = 0;

	if (!names->usual && !names->more && !names->no_proxy)
		return; /* not even touched: its pages are shared with whoever forked us */
	for (size_t i = 0; environ[i]; i++)
		if (!sb_environ_removes(names, environ[i]))
			environ[kept++] = environ[i];
	environ[kept] = NULL;
}
