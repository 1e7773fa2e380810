/*
 * grep_shape.h - what can be told about a pattern by reading it.
 *
 * A pattern is matched line by line.  Two facts spare most of that work:
 *
 *   literal   text that every match has in it: only lines that hold it are tried
 *   scan      a pattern that can be tried on a whole block at once: it matches at a place
 *             whenever the original, given that line alone, does.  Sets that would
 *             run over line ends are narrowed, since the line alone has none.
 *
 * Reading is careful, not clever: what is not understood gives neither.  Without the two a search takes
 * 1.1 to 2.4 times the processor time (bench/search, by row: 1.6 for a word, 1.02 with -l).
 */
#ifndef SB_SEARCH_GREP_SHAPE_H
#define SB_SEARCH_GREP_SHAPE_H

#include "search/grep_find.h"

struct sb_grep_shape {
	struct sb_literal literal;
	bool pure;  /* the pattern is nothing but its literal */
	char *scan; /* malloc'ed, or NULL */
	size_t scan_length;
};

/* false: out of memory.  fold: letters match in either case. */
bool sb_grep_shape_read(const char *pattern, size_t length, bool fold, struct sb_grep_shape *out);

#endif
