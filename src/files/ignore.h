/*
 * ignore.h - what git ignores, directory by directory, for walk.c.
 *
 * A level is what one directory adds: its .gitignore, and at the top of a repository
 * .git/info/exclude.  It holds its parent, so that a chain of levels from a directory upward
 * is all that counts there.  Levels never change and are counted: threads share them.
 */
#ifndef SB_FILES_IGNORE_H
#define SB_FILES_IGNORE_H

#include "files/search.h"

struct sb_ignore_level;

/* What a listing of the directory showed; when in doubt true: it is looked for. */
struct sb_ignore_names {
	bool gitignore, git;
};

/* The level above the root: git's global patterns.  SB_E_NOMEM. */
int sb_ignore_level_top(const char *global, size_t length, struct sb_ignore_level **out);

/*
 * What counts in the directory at path, open as directory.  *out is the parent itself, held once
 * more, when the directory adds nothing.  SB_E_REFUSED: a file too large; SB_E_SYSTEM: one
 * that cannot be read (*out_errno, may be NULL).  Files that the sight hides are not there.
 */
int sb_ignore_level_enter(const struct sb_search_source *source, struct sb_ignore_level *parent,
			  sb_search_handle directory, const char *path,
			  struct sb_ignore_names names, struct sb_ignore_level **out,
			  int *out_errno);

/* Levels for every directory from the root down to path, which is included. */
int sb_ignore_level_reach(const struct sb_search_source *source, struct sb_ignore_level *top,
			  const char *path, struct sb_ignore_level **out, int *out_errno);

struct sb_ignore_level *sb_ignore_level_hold(struct sb_ignore_level *level);
void sb_ignore_level_drop(struct sb_ignore_level *level); /* NULL is fine */

/* Is the name ignored, its parents aside? */
bool sb_ignore_level_says(const struct sb_ignore_level *level, const char *path, size_t length,
			  bool directory);

#endif
