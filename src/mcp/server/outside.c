/*
 * outside.c - is what a view knows of the world outside still so?
 *
 * SECURITY: what settings and links outside name by now counts for a change by a tool, as for a command.
 *
 * Danger: a server lives for days.  Meanwhile the user says include.path=../extra.cfg, or makes ~/.bash_profile a link
 * to a file of the project; who knows only what was so at the start would write these unasked.  And the server
 * itself can read neither (confine.c): a view that is made later, for a client's roots, knows nothing of them.
 * So the times of what was looked at are kept, which Landlock lets it see.  Where one has changed the keeper does
 * what a tool wants to change, which looks anew for each call.
 * Price: a look at some thirty names for each change, 40 us; with the keeper 1 ms.
 * Held by: tests/mcp/guarded.py
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/list.h"
#include "guard/guard.h"
#include "mcp/server/server.h"
#include "path/path.h"

struct stamp {
	char *path;
	struct timespec changed; /* 0: it is not there */
	ino_t inode;
};

struct sb_outside {
	struct stamp *all;
	size_t count;
	bool whole; /* nothing is missing in it */
};

static struct stamp look_at(const char *path)
{
	struct stat info = {0};

	if (stat(path, &info) != 0)
		return (struct stamp){0};
	return (struct stamp){.changed = info.st_ctim, .inode = info.st_ino};
}

static bool is_same(const struct stamp *a, const struct stamp *b)
{
	return a->inode == b->inode && a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Takes path, which may be NULL: there was no memory. */
static void add(struct sb_outside *outside, char *path)
{
	for (size_t i = 0; path && i < outside->count; i++) {
		if (strcmp(outside->all[i].path, path) == 0) {
			free(path);
			return;
		}
	}
	if (!path || !SB_GROW(outside->all, outside->count)) {
		outside->whole = false;
		free(path);
		return;
	}
	outside->all[outside->count] = look_at(path);
	outside->all[outside->count++].path = path;
}

/* Directories of the home that have guarded names: a link comes there, or goes.  One that is not there has a parent. */
static void add_holders(struct sb_outside *outside, const char *home)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	add(outside, strdup(home));
	for (size_t i = 0; i < count; i++) {
		const char *pattern = rows[i].pattern, *slash = pattern;

		while ((slash = strchr(slash, '/')) && !memchr(pattern, '*', slash - pattern)) {
			SB_AUTO_FREE char *name = strndup(pattern, slash - pattern);
			char *path = name ? sb_path_join(home, name) : NULL;

			slash++;
			if (path && access(path, F_OK) != 0)
				free(path);
			else
				add(outside, path);
		}
	}
}

struct sb_outside *sb_outside_look(const struct sb_home *home, const struct sb_files *files)
{
	static const char *const configs[] = {".git/config", ".git/config.worktree"};
	struct sb_outside *outside = calloc(1, sizeof *outside);
	const char *root;

	if (!outside)
		return NULL;
	outside->whole = true;
	if (home->home) {
		add_holders(outside, home->home);
		add(outside, sb_path_join(home->home, ".gitconfig"));
	}
	if (sb_home_of_account(home)) {
		add_holders(outside, home->account_home);
		add(outside, sb_path_join(home->account_home, ".gitconfig"));
	}
	if (home->xdg_config)
		add(outside, sb_path_join(home->xdg_config, "git/config"));
	for (size_t i = 0; home->git_settings && home->git_settings[i]; i++)
		add(outside, strdup(home->git_settings[i]));
	for (size_t i = 0; (root = sb_files_root(files, i)); i++)
		for (size_t j = 0; j < sizeof configs / sizeof *configs; j++)
			add(outside, sb_path_join(root, configs[j]));
	return outside;
}

bool sb_outside_is_same(const struct sb_outside *outside)
{
	if (!outside || !outside->whole)
		return false;
	for (size_t i = 0; i < outside->count; i++) {
		struct stamp now = look_at(outside->all[i].path);

		if (!is_same(&now, &outside->all[i]))
			return false;
	}
	return true;
}

void sb_outside_free(struct sb_outside *outside)
{
	for (size_t i = 0; outside && i < outside->count; i++)
		free(outside->all[i].path);
	if (outside)
		free(outside->all);
	free(outside);
}
