/*
 * read.h - a small file as text, by its path.
 */
#ifndef SB_GUARD_READ_H
#define SB_GUARD_READ_H

#include <stddef.h>

/* A regular file of at most limit bytes, with a NUL behind it; or NULL. */
char *sb_read_text(const char *path, size_t limit, size_t *out_length);

#endif
