/*
 * grep_result.h - the lines found in one file, collected.
 */
#ifndef SB_SEARCH_GREP_RESULT_H
#define SB_SEARCH_GREP_RESULT_H

#include "base/buf.h"
#include "search/search.h"

enum { SB_RESULT_BYTES = 16 * 1024 * 1024 }; /* of text, per file; then "more" is said */

struct sb_grep_result {
	struct sb_grep_file file; /* lines are valid after finish */
	struct sb_grep_line *lines;
	size_t *offsets; /* of their text */
	struct sb_buf text;
};

struct sb_grep_result *sb_grep_result_new(void); /* NULL: out of memory */
void sb_grep_result_free(struct sb_grep_result *result);

/*
 * Add the line, as it is in the file: number, text, length, and whether and from where to where it
 * matches.  What is longer than limit is cut so that the beginning of the match is shown.  false: no
 * room.
 */
bool sb_grep_result_add(struct sb_grep_result *result, struct sb_grep_line line, size_t limit);

/* Let the lines point at their text.  Returns about how many bytes all takes. */
size_t sb_grep_result_finish(struct sb_grep_result *result);

/* Keep this many matches, and the context around them. */
void sb_grep_result_trim(struct sb_grep_result *result, uint64_t matches, unsigned after);

#endif
