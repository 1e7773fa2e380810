/*
 * wildcard.h - one pattern of wildcards, compiled, and the paths it matches.
 *
 * Two dialects share the matcher.  GIT is what .gitignore means, to the letter: bytes, a
 * pattern with an unclosed "[" matches nothing, ** counts where git counts it.  GLOB is the
 * language of search.h: characters, an unclosed "[" is itself.  Neither knows braces:
 * glob.c takes them apart first.
 *
 * Matching never goes back further than to the last ** and the last * after it, so a
 * pattern of n bytes and a path of m take at most n * m * m steps, and need no memory.
 */
#ifndef SB_TREE_WILDCARD_H
#define SB_TREE_WILDCARD_H

#include <stdbool.h>
#include <stddef.h>

enum sb_wildcard_flags {
	SB_WILDCARD_GIT = 1,    /* else GLOB */
	SB_WILDCARD_NOCASE = 2, /* ASCII letters */
};

struct sb_wildcard;

/* NULL: out of memory. */
struct sb_wildcard *sb_wildcard_new(const char *pattern, size_t length, unsigned flags);
void sb_wildcard_free(struct sb_wildcard *wildcard);

bool sb_wildcard_match(const struct sb_wildcard *wildcard, const char *path, size_t length);

/* Could a longer path that begins with this match?  prefix ends in "/" or is "". */
bool sb_wildcard_begins(const struct sb_wildcard *wildcard, const char *prefix, size_t length);

#endif
