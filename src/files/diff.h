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
bool sb_diff(const char *from, const char *to, const char *old, size_t old_length, const char *new,
	     size_t new_length, struct sb_buf *out);

#endif
