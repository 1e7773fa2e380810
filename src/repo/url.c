#include "repo/place.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *start, *port;
} schemes[] = {{"https://", "443"}, {"http://", "80"}, {"git://", "9418"}, {"ssh://", "22"}};

/* "host:path", as ssh(1) is told; a path has a slash before its first colon. */
static bool is_ssh_place(const char *name)
{
	size_t length = strcspn(name, ":/");

	return length && name[length] == ':' && name[length + 1];
}

bool sb_repo_is_url(const char *name)
{
	return strstr(name, "://") || is_ssh_place(name);
}

static int misnamed(const char *url, struct sb_error *err)
{
	sb_fail(err, SB_E_INVALID, 0, "'%s' is no URL that is used here", url);
	return sb_hint(err,
		       "https, http, git and ssh are; a repository on this machine is named by its "
		       "path");
}

/*
 * SECURITY: git, curl and ssh read the same host in a URL as we do.
 *
 * Danger: "ext::sh -c ..." is a URL, "file:" and a path start git in somebody's directory, "-oProxyCommand=..." is
 * an option of ssh's.  Readers differ about backslashes, '#', '?' and percent signs before the path, and the rules about
 * hosts would be asked about another one.  A password in a URL is on record wherever the URL is.
 * Price: the schemes are few, and hosts are letters, digits, '.', '-' and addresses in brackets.
 * Held by: tests/cli/zone_git_far.py
 */
int sb_repo_peer(const char *url, struct sb_peer *out, struct sb_error *err)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	char name[SB_HOST_NAME_SIZE], text[SB_PEER_TEXT_SIZE + 16], known[128];
	const char *host = NULL, *port = "22", *at;
	size_t length;

	for (const char *c = url; *c; c++)
		if (*c <= ' ' || *c >= 0x7f)
			return misnamed(url, err);
	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
		if (strncmp(url, schemes[i].start, strlen(schemes[i].start)) == 0) {
			host = url + strlen(schemes[i].start);
			port = schemes[i].port;
		}
	if (!host && (strstr(url, "://") || strstr(url, "::") || !is_ssh_place(url)))
		return misnamed(url, err);
	length = host ? strcspn(host, "/") : strcspn(url, ":");
	host = host ? host : url;
	at = memchr(host, '@', length);
	if (at && memchr(host, ':', (size_t)(at - host)))
		return sb_fail(err, SB_E_INVALID, 0, "a URL with a password in it is not used");
	snprintf(known, sizeof known, "%s.-_", letters);
	if (at && (strspn(host, known) != (size_t)(at - host) || *host == '-'))
		return misnamed(url, err);
	length -= at ? (size_t)(at + 1 - host) : 0;
	host = at ? at + 1 : host;
	snprintf(known, sizeof known, "%s.-:[]", letters);
	if (!length || length >= sizeof name || strspn(host, known) < length || *host == '-')
		return misnamed(url, err);
	memcpy(name, host, length);
	name[length] = '\0';
	at = strrchr(name, ':');
	snprintf(text, sizeof text, at && !strchr(at, ']') ? "%s" : "%s:%s", name, port);
	return sb_peer_parse(text, out, err);
}
