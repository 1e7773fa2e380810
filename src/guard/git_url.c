#include "guard/git_url.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/words.h"
#include "guard/guard_impl.h"
#include "path/path.h"

/* In place, as git does for everything with a scheme (url.c). */
static void decode(char *text)
{
	char *to = text;

	for (; *text; text++) {
		int high = *text == '%' ? sb_hex_digit(text[1]) : -1,
		    low = high < 0 ? -1 : sb_hex_digit(text[2]);

		if (low < 0 || (high == 0 && low == 0)) {
			*to++ = *text;
			continue;
		}
		*to++ = (char)(high * 16 + low);
		text += 2;
	}
	*to = '\0';
}

/*
 * connect.c: ssh gets HOST and PATH as words of its command line.  Git refuses those that begin with a "-" since
 * 2017; not everything that reads its config does.
 */
static bool is_option_for_ssh(const char *url, bool has_scheme)
{
	SB_AUTO_FREE char *text = strdup(url);
	char *host = text, *end, *at;

	if (!text)
		return true;
	if (has_scheme) {
		decode(text);
		host = strstr(text, "://");
		if (!host)
			return true;
		host += 3;
	} else if (strcspn(text, ":") > strcspn(text, "/") || !strchr(text, ':')) {
		return false; /* a path */
	}
	end = host + strcspn(host, has_scheme ? "/" : ":");
	if (!has_scheme && end[0] && end[1] == '-')
		return true;
	*end = '\0';
	at = strrchr(host, '@');
	return host[0] == '-' || host[strspn(host, "[")] == '-' ||
	       (at && at[1 + strspn(at + 1, "[")] == '-');
}

/*
 * transport.c and transport-helper.c: "NAME::..." and "NAME://..." with a NAME that git does not know start
 * git-remote-NAME, which may be anything on the PATH; git brings ext:: and fd:: along, which run what they say.
 * A remote's name, which stands in the place of a URL at times, ends in prompts.
 */
bool sb_git_url_is_plain(const char *url)
{
	const char *end = strstr(url, "://");

	if (url[0] == '-' || strstr(url, "::") || strpbrk(url, "$`"))
		return false;
	/* behind a slash or a colon it is part of a path */
	if (!end || (size_t)(end - url) != strcspn(url, "/:"))
		return !is_option_for_ssh(url, false);
	return sb_words_have_like("https http ssh git file git+ssh ssh+git", url,
				  (size_t)(end - url)) &&
	       !is_option_for_ssh(url, true);
}

/* Where a relative path starts: the work tree, or the bare repository. */
static char *base_of(const char *config)
{
	char *git = sb_path_parent(config), *top;
	const char *name = git ? strrchr(git, '/') : NULL;

	if (!name || !sb_is_dot_git(name + 1, strlen(name + 1)))
		return git;
	top = sb_path_parent(git);
	free(git);
	return top;
}

char *sb_git_url_path(const char *url, const char *config, bool *out_failed)
{
	SB_AUTO_FREE char *text = strdup(url), *base = NULL, *joined = NULL;
	const char *path = text;
	char *canonical = NULL;
	int missing;

	*out_failed = !text || strlen(url) >= PATH_MAX;
	if (*out_failed)
		return NULL;
	if (strncasecmp(text, "file://", 7) == 0) {
		decode(text);
		path = strchr(text + 7, '/'); /* behind a host, which git does not look at */
	} else if (strchr(text, ':') && strcspn(text, ":") < strcspn(text, "/")) {
		return NULL; /* host:path, scheme://host */
	}
	if (!path || !*path)
		return NULL;
	if (*path != '/') {
		base = base_of(config);
		path = joined = base ? sb_path_join(base, path) : NULL;
	}
	*out_failed = !path || sb_path_canonical(path, &canonical, &missing, NULL) != SB_OK;
	return *out_failed ? NULL : canonical;
}
