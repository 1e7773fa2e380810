/*
 * wildcard_set.h - a set of characters in brackets: [a-z], [!a-z], [[:digit:]].
 */
#ifndef SB_TREE_WILDCARD_SET_H
#define SB_TREE_WILDCARD_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sb_wildcard_range {
	uint32_t low, high;
};

struct sb_wildcard_set {
	bool negated;
	bool fold;                        /* upper and lower case of ASCII letters are one */
	uint32_t bits[8];                 /* what is below 256 */
	struct sb_wildcard_range *ranges; /* what is above */
	size_t range_count;
};

/*
 * Read the set whose "[" stands before at.  Returns where its "]" is, or NULL: there is none
 * or a [:class:] has no meaning.  Characters are bytes when git is true, else UTF-8.
 * *out_nomem tells when there was no memory (then NULL, too).
 */
const char *sb_wildcard_set_parse(struct sb_wildcard_set *set, const char *at, const char *end,
				  bool git, bool *out_nomem);
void sb_wildcard_set_done(struct sb_wildcard_set *set);
bool sb_wildcard_set_has(const struct sb_wildcard_set *set, uint32_t character);

/*
 * The character at text (length > 0) and how many bytes it takes.  A byte that begins no
 * UTF-8 sequence is a character of its own, beyond Unicode's last.
 */
uint32_t sb_wildcard_character(const char *text, size_t length, size_t *out_bytes);

#endif
