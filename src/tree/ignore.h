/*
 * ignore.h - what git ignores: one path, one set of patterns, or directory by directory for a walk.
 */
#ifndef SB_TREE_IGNORE_H
#define SB_TREE_IGNORE_H

#include "sandbash/error.h"
#include "tree/source.h"

/*
 * Would git ignore path?  Reads .git/info/exclude and the .gitignore of each directory from
 * the root down to path, through the source, anew on each call; runs nothing, follows no link.
 * A directory with a .git of its own starts afresh, as for git.  Nothing above the root counts.  The index is not
 * read: a tracked file that matches a pattern counts as ignored (git would not say so).
 * path need not exist.  global_ignore: the user's patterns for all repositories, or NULL.  A .gitignore larger than SB_IGNORE_BYTES, or several together larger than
 * twice that, is SB_E_REFUSED: ask then.
 */
#define SB_IGNORE_BYTES (1024 * 1024)

int sb_ignore_check(const struct sb_search_source *source, const char *path, bool directory,
		    const char *global_ignore, bool *out_ignored, struct sb_error *err);

/*
 * One set of patterns, as one .gitignore: for the fuzzer, the tests and the walk.
 * Lines that mean nothing are passed over, as git does.  NULL: out of memory.
 */
struct sb_ignore_rules;
struct sb_ignore_rules *sb_ignore_rules_new(const char *text, size_t length);
void sb_ignore_rules_free(struct sb_ignore_rules *rules);

enum sb_ignore_said { SB_IGNORE_NOTHING, SB_IGNORE_YES, SB_IGNORE_NO };
/* path is relative to the directory of the file; its parents are not looked at. */
enum sb_ignore_said sb_ignore_rules_ask(const struct sb_ignore_rules *rules, const char *path,
					size_t length, bool directory);

/* ---- directory by directory ---- */

/*
 * A level is what one directory adds: its .gitignore, and at the top of a repository
 * .git/info/exclude.  It holds its parent, so that a chain of levels from a directory upward
 * is all that counts there.  Levels never change and are counted: threads share them.
 */
struct sb_ignore_level;

/* A directory that is open, and what its listing showed; when in doubt true: it is looked for. */
struct sb_ignore_place {
	sb_search_handle directory;
	const char *path; /* from the root */
	bool gitignore, git;
};

/* The level above the root: git's global patterns.  SB_E_NOMEM. */
int sb_ignore_level_top(const char *global, size_t length, struct sb_ignore_level **out);

/*
 * What counts in the directory at place.  *out is the parent itself, held once
 * more, when the directory adds nothing.  SB_E_REFUSED: a file too large; SB_E_SYSTEM: one
 * that cannot be read (*out_errno, may be NULL).  Files that the sight hides are not there.
 */
int sb_ignore_level_enter(const struct sb_search_source *source, struct sb_ignore_level *parent,
			  const struct sb_ignore_place *place, struct sb_ignore_level **out,
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
