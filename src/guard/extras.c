/*
 * Places that settings name, and links on the way to them.
 */
#include "guard/extras.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "path/path.h"

#define MAX_COST (128 * 1024)

void sb_extras_done(struct sb_extras *extras)
{
	for (size_t i = 0; i < extras->count; i++)
		free(extras->all[i].path);
	free(extras->all);
	*extras = (struct sb_extras){0};
}

bool sb_extras_know(const struct sb_extras *extras, const char *path)
{
	for (size_t i = 0; i < extras->count; i++)
		if (strcmp(extras->all[i].path, path) == 0)
			return true;
	return false;
}

/*
 * Could somebody change it?  What the run can change counts; and what the user could let it change, since
 * no yes for a directory is one for such a name.
 */
static bool is_within_reach(const struct sb_extras *extras, const struct sb_extra *extra)
{
	const struct sb_guard_options *options = extras->options;
	struct stat info;

	return !options || !options->in_guarded_root || extra->kind >= SB_EXTRA_ANYWHERE ||
	       options->in_guarded_root(options->context, extra->path) ||
	       lstat(extra->path, &info) != 0 || info.st_uid == geteuid();
}

bool sb_extras_holds(const struct sb_extras *extras, const struct sb_extra *extra)
{
	for (size_t i = 0; i < extras->count; i++) {
		const struct sb_extra *at = &extras->all[i];

		if (strcmp(at->path, extra->path) == 0 && at->kind == extra->kind &&
		    (at->wild == extra->wild ||
		     (at->wild && extra->wild && strcmp(at->wild, extra->wild) == 0)))
			return true;
	}
	return false;
}

int sb_extras_add(struct sb_extras *extras, struct sb_extra extra)
{
	if (!extra.path || sb_extras_holds(extras, &extra) || !is_within_reach(extras, &extra)) {
		free(extra.path);
		return SB_OK;
	}
	if (!SB_GROW(extras->all, extras->count)) {
		free(extra.path);
		return SB_E_NOMEM;
	}
	extras->all[extras->count++] = extra;
	return SB_OK;
}

int sb_extras_add_path(struct sb_extras *extras, char *path, enum sb_extra_kind kind)
{
	return sb_extras_add(extras, (struct sb_extra){.path = path, .kind = kind});
}

/* "x/..": x is no link, but whoever makes it one changes where the rest leads. */
static int add_turns(struct sb_extras *extras, const char *path)
{
	int status = SB_OK;

	for (const char *up = path; status == SB_OK && (up = strstr(up, "/..")); up += 3) {
		SB_AUTO_FREE char *before = strndup(path, (size_t)(up - path));
		char *canonical = NULL;
		int missing;

		if (!before)
			return SB_E_NOMEM;
		if ((up[3] == '/' || !up[3]) && *before &&
		    sb_path_canonical(before, &canonical, &missing, NULL) == SB_OK)
			status = sb_extras_add_path(extras, canonical, SB_EXTRA_HOOK);
	}
	return status;
}

/* The same in the text of a link, but for the ".." at its beginning: the link is in that directory. */
static int add_text_turns(struct sb_extras *extras, const char *link)
{
	char text[PATH_MAX], *rest = text;
	SB_AUTO_FREE char *base = sb_path_parent(link);
	ssize_t length = readlink(link, text, sizeof text - 1);

	if (!base)
		return SB_E_NOMEM;
	if (length <= 0)
		return SB_OK;
	text[length] = '\0';
	while (*rest == '.' && (rest[1] == '/' || (rest[1] == '.' && rest[2] == '/'))) {
		char *slash = rest[1] == '.' ? strrchr(base, '/') : NULL;

		if (slash)
			*slash = '\0';
		rest += strcspn(rest, "/");
		rest += strspn(rest, "/");
	}
	if (!strstr(rest, "/.."))
		return SB_OK;
	if (*text != '/') {
		SB_AUTO_BUF struct sb_buf whole = SB_BUF(2 * PATH_MAX);

		sb_buf_printf(&whole, "%s/%s", base, rest);
		return sb_buf_failed(&whole) ? SB_E_NOMEM : add_turns(extras, whole.data);
	}
	return add_turns(extras, text);
}

static int add_link(void *extras, const char *link, struct sb_error *err)
{
	int status = sb_extras_add_path(extras, strdup(link), SB_EXTRA_HOOK);

	(void)err;
	return status == SB_OK ? add_text_turns(extras, link) : status;
}

/*
 * SECURITY: where path leads, each link on the way, and each directory that the way leaves again by "..".
 *
 * Danger: whoever replaces one of those leads git to hooks or config that nobody guards.
 * Price: changing such a link asks.
 * Held by: tests/supervise/guard.py
 */
char *sb_extras_follow(struct sb_extras *extras, const char *path)
{
	char *canonical = NULL;
	int missing;

	if (add_turns(extras, path) != SB_OK ||
	    sb_path_links(path, add_link, extras, NULL) != SB_OK ||
	    sb_path_canonical(path, &canonical, &missing, NULL) != SB_OK)
		return NULL;
	return canonical;
}

int sb_extras_spend(struct sb_extras *extras, unsigned cost)
{
	extras->spent += cost;
	return extras->spent <= MAX_COST ? SB_OK : SB_E_REFUSED;
}

/* Only what has no "..": nobody uses that, and a repository's own is looked up. */
int sb_extras_add_anywhere(struct sb_extras *extras, const char *value, enum sb_extra_kind kind)
{
	SB_AUTO_FREE char *path = NULL;
	int status;

	if (!value || !*value || *value == '/' || *value == '~' || strstr(value, ".."))
		return SB_OK;
	status = sb_path_absolute(value, "/", NULL, &path, NULL);
	if (status == SB_E_INVALID)
		return SB_OK; /* longer than any path */
	return status == SB_OK && path[1] ? sb_extras_add_path(extras, strdup(path + 1), kind)
					  : status;
}
