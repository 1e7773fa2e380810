/*
 * Patterns of the shell against texts, for ${x%...}.
 */
#include <string.h>

#include "shell/shell.h"

#define TEXT_MOST 4096 /* trying every place of a longer one would take too long */

/* One [...] at *pattern against c; *pattern is behind it. */
static bool match_set(const char **pattern, char c)
{
	const char *at = *pattern + 1;
	bool negated = *at == '!' || *at == '^', found = false;

	at += negated;
	do {
		unsigned char low = (unsigned char)*at, high = low;

		if (*at == '\\' && at[1])
			low = high = (unsigned char)*++at;
		if (at[0] && at[1] == '-' && at[2] && at[2] != ']') {
			high = (unsigned char)at[2];
			at += 2;
		}
		found |= (unsigned char)c >= low && (unsigned char)c <= high;
	} while (*at && *++at && *at != ']');
	*pattern = *at ? at + 1 : at;
	return found != negated;
}

static bool matches(const char *pattern, const char *text)
{
	const char *star = NULL, *star_text = NULL;

	for (;;) {
		const char *next = pattern;
		bool fits;

		if (*pattern == '*') {
			star = ++pattern;
			star_text = text;
			continue;
		}
		if (!*text && !*pattern)
			return true;
		if (!*text || !*pattern) {
			fits = false;
		} else if (*pattern == '[' && strchr(pattern + 2, ']')) {
			fits = match_set(&next, *text);
		} else if (*pattern == '?') {
			next++;
			fits = true;
		} else {
			next += *pattern == '\\' && pattern[1];
			fits = *next++ == *text;
		}
		if (fits) {
			pattern = next;
			text++;
		} else if (star && *star_text) {
			pattern = star;
			text = ++star_text;
		} else {
			return false;
		}
	}
}

static bool fits(const struct sb_field *pattern, const char *text)
{
	return pattern->known == SB_KNOWN ? strcmp(pattern->text, text) == 0
					  : matches(pattern->text, text);
}

const char *sb_cut(struct sb_arena *arena, const char *text, const struct sb_field *pattern,
		   bool at_end, bool longest)
{
	size_t length = strlen(text);
	char *copy = length > TEXT_MOST ? NULL : sb_arena_copy(arena, text, length);

	if (!copy)
		return NULL;
	for (size_t i = 0; i <= length; i++) {
		size_t cut = longest ? length - i : i; /* bytes taken away */

		if (at_end) {
			if (fits(pattern, text + length - cut)) {
				copy[length - cut] = '\0';
				return copy;
			}
		} else {
			char kept = copy[cut];
			bool found;

			copy[cut] = '\0';
			found = fits(pattern, copy);
			copy[cut] = kept;
			if (found)
				return copy + cut;
		}
	}
	return text;
}
