/*
 * grep_pattern.h - a pattern of grep, compiled; and what one thread needs to match it.
 */
#ifndef SB_SEARCH_GREP_PATTERN_H
#define SB_SEARCH_GREP_PATTERN_H

#include "search/grep_shape.h"
#include "search/search.h"

struct sb_matcher; /* of one thread */

/* NULL: out of memory.  grep must outlive it. */
struct sb_matcher *sb_matcher_new(const struct sb_grep *grep);
void sb_matcher_free(struct sb_matcher *matcher);

/* How a text is to be read; ASCII is both, and fastest as bytes. */
enum sb_text { SB_TEXT_ASCII, SB_TEXT_UTF8, SB_TEXT_BYTES };
enum sb_text sb_text_kind(const char *text, size_t length);

enum sb_matched { SB_MATCH_NO, SB_MATCH_YES, SB_MATCH_COSTLY };

struct sb_match {
	size_t start, end;
};

/* The first match in text from the place from on. */
enum sb_matched sb_matcher_try(struct sb_matcher *matcher, enum sb_text kind, const char *text,
			       size_t length, size_t from, struct sb_match *out);

/* Can a whole block be tried at once (grep_shape.h)?  Then this finds where to look closer. */
bool sb_matcher_can_scan(const struct sb_matcher *matcher);
enum sb_matched sb_matcher_scan(struct sb_matcher *matcher, enum sb_text kind, const char *text,
				size_t length, size_t *out_start);

const struct sb_literal *sb_grep_literal(const struct sb_grep *grep); /* or NULL */
bool sb_grep_is_pure(const struct sb_grep *grep); /* the literal is the whole pattern */
bool sb_grep_is_multiline(const struct sb_grep *grep);

#endif
