/*
 * grep_find.h - text in text, fast: the first look at every block that grep reads.
 */
#ifndef SB_SEARCH_GREP_FIND_H
#define SB_SEARCH_GREP_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SB_LITERAL_BYTES = 256 };

/* Text that every match has in it. */
struct sb_literal {
	size_t length;      /* 0: none is known */
	bool fold;          /* ASCII letters in either case; bytes are in lower case then */
	size_t rare, other; /* two places in it whose bytes are rare in most texts */
	unsigned char bytes[SB_LITERAL_BYTES];
};

/* Choose rare and other; length, fold and bytes are set. */
void sb_literal_prepare(struct sb_literal *literal);

/* Where it begins in text, or length when it is not there. */
size_t sb_literal_find(const struct sb_literal *literal, const char *text, size_t length);

uint64_t sb_count_lines(const char *text, size_t length); /* newlines in it */
bool sb_grep_is_ascii(const char *text, size_t length);
bool sb_is_utf8(const char *text, size_t length);

#endif
