/*
 * naive_wildcard.h - wildcards matched by trying everything, to compare the real matcher with.
 *
 * Written from what the patterns mean, character by character, with no thought of speed:
 * keep both texts short.  Sets are left to sb_wildcard_set_parse(), which has tests of its own.
 */
#ifndef TESTS_NAIVE_WILDCARD_H
#define TESTS_NAIVE_WILDCARD_H

#include <stdbool.h>
#include <string.h>

#include "tree/wildcard_set.h"

struct naive {
	const char *begin, *end; /* of the pattern */
	const char *text_end;
	bool git;
	long budget; /* steps left; below 0 the answer means nothing */
};

static inline bool naive_match(struct naive *in, const char *p, const char *t);

static inline size_t naive_bytes(const struct naive *in, const char *t, uint32_t *out)
{
	size_t bytes = 1;

	*out = in->git ? (unsigned char)*t
		       : sb_wildcard_character(t, (size_t)(in->text_end - t), &bytes);
	return bytes;
}

/* Any number of characters, then the pattern from p on. */
static inline bool naive_run(struct naive *in, const char *p, const char *t, bool slashes)
{
	for (;;) {
		uint32_t c;

		if (naive_match(in, p, t))
			return true;
		if (t == in->text_end || (*t == '/' && !slashes) || in->budget < 0)
			return false;
		t += naive_bytes(in, t, &c);
	}
}

static inline bool naive_stars(struct naive *in, const char *p, const char *t)
{
	const char *after = p;
	bool begins = p == in->begin || p[-1] == '/', several;

	while (after < in->end && *after == '*')
		after++;
	several = begins && (in->git ? after - p > 1 : after - p == 2);
	if (several && after == in->end)
		return true;
	if (several && *after == '/')
		return naive_match(in, after + 1, t) || naive_run(in, after, t, true);
	if (several && in->git && in->end - after > 1 && after[0] == '\\' && after[1] == '/')
		return naive_run(in, after, t, true);
	return naive_run(in, after, t, false);
}

static inline bool naive_match(struct naive *in, const char *p, const char *t)
{
	uint32_t c = 0;
	size_t bytes;

	if (--in->budget < 0)
		return false;
	if (p == in->end)
		return t == in->text_end;
	if (*p == '*')
		return naive_stars(in, p, t);
	if (t == in->text_end)
		return false;
	bytes = naive_bytes(in, t, &c);
	if (*p == '?')
		return *t != '/' && naive_match(in, p + 1, t + bytes);
	if (*p == '[') {
		struct sb_wildcard_set set = {0};
		bool nomem, has;
		const char *close = sb_wildcard_set_parse(&set, p + 1, in->end, in->git, &nomem);

		has = close && *t != '/' && sb_wildcard_set_has(&set, c);
		sb_wildcard_set_done(&set);
		if (close)
			return has && naive_match(in, close + 1, t + bytes);
		if (in->git)
			return false;
	}
	if (*p == '\\' && p + 1 < in->end)
		p++;
	else if (*p == '\\' && in->git)
		return false;
	return *p == *t && naive_match(in, p + 1, t + 1);
}

/* *out_sure: there was time enough to know. */
static inline bool naive_wildcard(const char *pattern, size_t length, const char *text,
				  size_t text_length, bool git, bool *out_sure)
{
	struct naive in = {pattern, pattern + length, text + text_length, git, 100000};
	bool matches = naive_match(&in, pattern, text);

	*out_sure = in.budget >= 0;
	return matches;
}

#endif
