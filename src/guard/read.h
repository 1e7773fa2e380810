/*
 * read.h - a small file by its path: its text, or what it names.
 */
#ifndef SB_GUARD_READ_H
#define SB_GUARD_READ_H

#include <stdbool.h>
#include <stddef.h>

/* A regular file of at most limit bytes, with a NUL behind it; or NULL. */
char *sb_read_text(const char *path, size_t limit, size_t *out_length);

/* Where path, which may be NULL, leads, seen from directory: canonical, and the caller's.  NULL: nowhere. */
char *sb_read_from(const char *directory, const char *path);

/*
 * Where a one-line file of this directory leads, which begins like that, seen from there: canonical, and the caller's.
 * NULL: nowhere.
 */
char *sb_read_path(const char *directory, const char *file, const char *prefix);

/* The same of core.worktree in own/config, a submodule's.  strict: not if git would refuse the file. */
char *sb_read_work_tree(const char *own, bool strict);

#endif
