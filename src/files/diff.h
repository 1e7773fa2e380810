/*
 * diff.h - what changed between two texts, as a unified diff.
 */
#ifndef SB_FILES_DIFF_H
#define SB_FILES_DIFF_H

#include <stdbool.h>
#include <stddef.h>

struct sb_buf;

/*
 * Append "--- from\n+++ to\n" and hunks with three lines around; nothing when equal.  Texts
 * that differ in very many places get one big hunk.  False: out of memory.
 */
bool sb_diff(const char *from, const char *to, const struct sb_buf *old, const struct sb_buf *new,
	     struct sb_buf *out);

#endif
