/*
 * Refs and history: what lands there, and makes git outside show other commits than it seems.
 *
 * A name without refs/... is looked for in refs, refs/tags, refs/heads and refs/remotes, in this order (gitrevisions(7)):
 * with a tag origin/main, "git diff origin/main" compares with that.  git warns in one line, or with
 * core.warnAmbiguousRefs=false not at all.  Nobody is asked, since a tag with a branch's name is made by people, too.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "guard/check.h"
#include "guard/read.h"
#include "path/path.h"

#define MAX_PACKED (16 * 1024 * 1024)

/* The git directory of a path in its refs, and what is behind refs/; false: it is in none. */
static bool split(const char *path, struct sb_buf *out_git, const char **out_inner)
{
	struct stat info;

	for (const char *at = strstr(path, "/refs/"); at; at = strstr(at + 1, "/refs/")) {
		SB_AUTO_BUF struct sb_buf head = SB_BUF(2 * SB_CHECK_MAX_LINE);

		sb_buf_append(&head, path, (size_t)(at - path));
		sb_buf_puts(&head, "/HEAD");
		if (sb_buf_failed(&head) || lstat(head.data, &info) != 0)
			continue;
		sb_buf_append(out_git, path, (size_t)(at - path));
		*out_inner = at + 6;
		return !sb_buf_failed(out_git);
	}
	return false;
}

/* packed: the list of packed refs, or NULL. */
static bool is_there(const char *git, const char *ref, struct sb_guard_bytes packed)
{
	SB_AUTO_FREE char *path = sb_path_join(git, ref);
	SB_AUTO_BUF struct sb_buf line = SB_BUF(2 * SB_CHECK_MAX_LINE);
	struct stat info;

	if (path && lstat(path, &info) == 0 && !S_ISDIR(info.st_mode))
		return true;
	sb_buf_printf(&line, " %s\n", ref);
	return packed.bytes && !sb_buf_failed(&line) &&
	       memmem(packed.bytes, packed.length, line.data, line.length);
}

/* refs/FIRST/NAME, that of another one which is there: told, and true. */
static bool tell_if_there(const struct sb_check *check, const char *git, const char *first,
			  const char *name, struct sb_guard_bytes packed)
{
	SB_AUTO_BUF struct sb_buf ref = SB_BUF(SB_CHECK_MAX_LINE),
				  line = SB_BUF(4 * SB_CHECK_MAX_LINE);
	const char *own = check->path + strlen(git) + 1;

	sb_buf_printf(&ref, "refs/%s%s", first, name);
	if (sb_buf_failed(&ref) || !is_there(git, ref.data, packed))
		return false;
	sb_buf_printf(&line, "%s has the short name of %s: git may take one for the other", own,
		      ref.data);
	if (!sb_buf_failed(&line))
		sb_check_say(check, "", line.data, line.length);
	return true;
}

void sb_check_ref(const struct sb_check *check)
{
	static const char *const places[] = {"", "tags/", "heads/", "remotes/"};
	SB_AUTO_BUF struct sb_buf git = SB_BUF(SB_CHECK_MAX_LINE);
	SB_AUTO_FREE char *list = NULL, *text = NULL;
	struct sb_guard_bytes packed = {0};
	const char *inner;
	size_t own = 0;

	if (!split(check->path, &git, &inner))
		return;
	for (size_t i = 1; i < sizeof places / sizeof places[0]; i++)
		if (strncmp(inner, places[i], strlen(places[i])) == 0)
			own = i;
	/* branches move all day; one that was there has its name from before */
	if (own >= 2 && check->old_bytes.bytes)
		return;
	inner += strlen(places[own]);
	list = own < 2 ? sb_path_join(git.data, "packed-refs") : NULL;
	text = list ? sb_read_text(list, MAX_PACKED, &packed.length) : NULL;
	packed.bytes = text;
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (i != own && tell_if_there(check, git.data, places[i], inner, packed))
			return;
}

void sb_check_shallow(const struct sb_check *check)
{
	static const char name[] = "/shallow";
	size_t length = strlen(check->path);

	if (length < sizeof name || strcmp(check->path + length - (sizeof name - 1), name) != 0 ||
	    check->old_bytes.bytes || sb_check_is_of_project(check) || sb_check_has_no_refs(check))
		return;
	sb_check_say(check, SB_SHALLOW_TOLD, check->path, length);
}
