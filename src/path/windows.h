/*
 * windows.h - what of grammar.h is Windows' own.  For grammar.c.
 */
#ifndef SB_PATH_WINDOWS_H
#define SB_PATH_WINDOWS_H

#include <stdint.h>

#include "path/grammar.h"

/*
 * The start of path: fills start, root and as much of text; *out_verbatim: names behind it are taken as they
 * are, and only a backslash separates.  How much of path that was, or SB_E_INVALID.
 */
long sb_windows_start(const char *path, struct sb_parsed *out, bool *out_verbatim,
		      struct sb_error *err);

/* What is odd about one name. */
unsigned sb_windows_odd(const char *name, size_t length);

/* How much of it is left without dots and blanks at the end; all of it where nothing would be. */
size_t sb_windows_trim(const char *name, size_t length);

/* The large letter of a character, one for one; the character itself where there is none. */
uint32_t sb_windows_large(uint32_t point);

/* How much of text is what begins begins with, whatever the case; 0: it begins otherwise. */
size_t sb_windows_begins(const char *text, const char *begins);

#endif
