/*
 * The repository of a linked worktree or submodule, outside the project.
 *
 * SECURITY: a run there needs parts of it (parts.c), and takes none of them away.
 *
 * Danger: it is somebody's main checkout.  Without its config the hooks and signatures that this asked
 * for are gone, and the user's own settings count again; without refs it is no repository; and another
 * worktree's HEAD and index are nothing of this one's.
 * Price: a look at worktrees/ID/gitdir for every change in another one's, two strings compared for others.
 * Held by: tests/supervise/git_common.py
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/words.h"
#include "guard/guard_impl.h"
#include "guard/read.h"
#include "guard/repository.h"
#include "path/path.h"

/* Whoever may make names beside it may do so for a rule of the user's, or because it is in a project. */
static bool is_outside(const struct sb_guard *guard, const char *path)
{
	const struct sb_guard_options *options = &guard->options;
	SB_AUTO_FREE char *parent = sb_path_parent(path);

	return !parent || !options->in_guarded_root ||
	       !options->in_guarded_root(options->context, parent);
}

/* A .git that is a file leads elsewhere; most are none, and are done with here. */
static bool is_led(const char *project)
{
	SB_AUTO_FREE char *path = sb_path_join(project, ".git");
	struct stat info;

	return path && lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

int sb_commons_find(const char *const *projects, struct sb_guard *out)
{
	struct sb_commons *commons = &out->commons;

	for (; projects && *projects; projects++) {
		struct sb_repository repository;
		struct sb_common *more;

		if (!is_led(*projects) || !sb_repository_find(*projects, &repository))
			continue;
		more = realloc(commons->all, (commons->count + 1) * sizeof *more);
		if (more) {
			commons->all = more;
			more[commons->count].outside = is_outside(out, repository.common);
			more[commons->count].linked = repository.is_linked;
			more[commons->count++].path = sb_take_ptr(&repository.common);
		}
		sb_repository_done(&repository);
		if (!more)
			return SB_E_NOMEM;
	}
	return SB_OK;
}

void sb_commons_done(struct sb_commons *commons)
{
	for (size_t i = 0; i < commons->count; i++)
		free(commons->all[i].path);
	free(commons->all);
	*commons = (struct sb_commons){0};
}

const struct sb_guard_row *sb_row_of_common(void)
{
	size_t count;
	const struct sb_guard_row *row = sb_guard_rows(&count);

	while (!(row->flags & SB_GUARD_IF_ELSEWHERE))
		row++;
	return row;
}

bool sb_commons_has(const struct sb_commons *commons, const char *path)
{
	for (size_t i = 0; i < commons->count; i++)
		if (strcmp(commons->all[i].path, path) == 0)
			return true;
	return false;
}

/*
 * Is worktrees/ID another's?  It is if its gitdir names a place that is there and that the run does not
 * have.  Git itself clears away what names none.
 */
static bool is_anothers(const struct sb_guard *guard, const char *common, const char *id)
{
	const struct sb_guard_options *options = &guard->options;
	char name[4096];
	SB_AUTO_FREE char *text = NULL, *path = NULL, *canonical = NULL, *checkout = NULL;
	int missing = 0;

	if (snprintf(name, sizeof name, "%s/worktrees/%.*s/gitdir", common, (int)strcspn(id, "/"),
		     id) >= (int)sizeof name)
		return true;
	text = sb_read_text(name, 8192, NULL);
	if (!text)
		return errno != ENOENT && errno != ENOTDIR;
	text[strcspn(text, "\r\n")] = '\0';
	*strrchr(name, '/') = '\0';
	path = *text == '/' ? strdup(text) : sb_path_join(name, text);
	if (!path || sb_path_canonical(path, &canonical, &missing, NULL) != SB_OK)
		return true;
	if (missing == ENOENT || missing == ENOTDIR)
		return false;
	checkout = sb_path_parent(canonical);
	return !checkout || !options->in_guarded_root ||
	       !options->in_guarded_root(options->context, checkout);
}

/*
 * rest: the path behind the common directory; "": that itself.  Git tries to remove some of its directories
 * whenever they may be empty; what is kept in them keeps them.
 */
static bool takes_away(enum sb_guard_act act, const char *rest)
{
	return (act == SB_GUARD_HIDE && (!*rest || sb_is_word("logs worktrees modules", rest))) ||
	       ((act == SB_GUARD_UNLINK || act == SB_GUARD_HIDE) &&
		sb_is_word("config HEAD objects refs info packed-refs hooks", rest));
}

/*
 * Of the main work tree alone, as it has them in worktrees/ID of others: which of its files are checked out, and the
 * refs that each has for itself (gitrepository-layout(5)).  Not logs/HEAD: git gc shortens everybody's history.
 */
static bool is_of_main(const char *rest)
{
	const char *name = strncmp(rest, "refs/", 5) == 0 ? rest + 5 : "";

	return strcmp(rest, "info/sparse-checkout") == 0 ||
	       sb_words_have("bisect worktree rewritten", name, strcspn(name, "/"));
}

bool sb_commons_ask(const struct sb_guard *guard, enum sb_guard_act act, const char *path)
{
	if (guard->commons.lost)
		return true;
	for (size_t i = 0; i < guard->commons.count; i++) {
		const struct sb_common *common = &guard->commons.all[i];
		const char *rest = path + strlen(common->path), *id, *inner;

		if (!common->outside || !sb_path_within(common->path, path))
			continue;
		rest += *rest == '/';
		if (takes_away(act, rest) || sb_is_word("info/exclude info/attributes", rest) ||
		    (common->linked && is_of_main(rest)))
			return true;
		if (strncmp(rest, "worktrees/", 10) != 0)
			continue;
		id = rest + 10;
		inner = strchr(id, '/');
		if (inner && /* history, and locks */
		    (strncmp(inner, "/logs/", 6) == 0 ||
		     (strlen(inner) > 5 && strcmp(inner + strlen(inner) - 5, ".lock") == 0)))
			continue;
		if (is_anothers(guard, common->path, id))
			return true;
	}
	return false;
}
