#include "search/grep_find.h"

#include <string.h>

#include "base/escape.h"

/*
 * Vectors of 16 bytes as gcc and clang both have them: SSE2 and NEON are in every machine
 * that we build for, so nothing need be asked at run time.
 */
typedef unsigned char vector __attribute__((vector_size(16)));
typedef uint64_t halves __attribute__((vector_size(16)));

enum { LANES = 16, STRIDE = 64 };

static vector load(const unsigned char *at)
{
	vector value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static vector all(unsigned char byte)
{
	return (vector){byte, byte, byte, byte, byte, byte, byte, byte,
			byte, byte, byte, byte, byte, byte, byte, byte};
}

static bool any(vector value)
{
	halves both = (halves)value;

	return (both[0] | both[1]) != 0;
}

static bool is_letter(unsigned char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Bytes of program text and prose, the most common first; what is not here is rare. */
static unsigned commonness(unsigned char c)
{
	static const char order[] =
		" etaoinsrldcupmfhg_.,()-;=\"'/*>0b1y:v<w2{}[]3k4xq8j5z67&9ETSA";
	const char *at = c ? strchr(order, c) : NULL;

	return at ? (unsigned)(sizeof(order) - (size_t)(at - order)) : 0;
}

void sb_literal_prepare(struct sb_literal *literal)
{
	literal->rare = 0;
	for (size_t i = 1; i < literal->length; i++)
		if (commonness(literal->bytes[i]) < commonness(literal->bytes[literal->rare]))
			literal->rare = i;
	literal->other = literal->rare ? 0 : literal->length - 1;
	for (size_t i = 0; i < literal->length; i++)
		if (i != literal->rare && literal->bytes[i] != literal->bytes[literal->rare] &&
		    commonness(literal->bytes[i]) < commonness(literal->bytes[literal->other]))
			literal->other = i;
}

static bool is_here(const struct sb_literal *literal, const unsigned char *at)
{
	if (!literal->fold)
		return memcmp(at, literal->bytes, literal->length) == 0;
	for (size_t i = 0; i < literal->length; i++) {
		unsigned char c = at[i] >= 'A' && at[i] <= 'Z' ? at[i] | 0x20 : at[i];

		if (c != literal->bytes[i])
			return false;
	}
	return true;
}

/* The first of count places that holds the literal, or count. */
static size_t find_slowly(const struct sb_literal *literal, const unsigned char *text, size_t count)
{
	unsigned char wanted = literal->bytes[literal->rare];
	unsigned char fold = literal->fold && is_letter(wanted) ? 0x20 : 0;

	for (size_t i = 0; i < count; i++)
		if ((text[i + literal->rare] | fold) == wanted && is_here(literal, text + i))
			return i;
	return count;
}

size_t sb_literal_find(const struct sb_literal *literal, const char *text, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned char rare = literal->bytes[literal->rare], other = literal->bytes[literal->other];
	vector rares = all(rare), others = all(other);
	/* One bit apart are the cases of a letter; setting it folds them, and a few others, checked
	 * later. */
	vector rare_fold = all(literal->fold && is_letter(rare) ? 0x20 : 0);
	vector other_fold = all(literal->fold && is_letter(other) ? 0x20 : 0);
	size_t places, at = 0;

	if (length < literal->length)
		return length;
	places = length - literal->length + 1;
	for (; at + STRIDE <= places; at += STRIDE) {
		const unsigned char *one = bytes + at + literal->rare;
		const unsigned char *two = bytes + at + literal->other;
		vector hits = all(0);
		size_t found;

		for (size_t i = 0; i < STRIDE; i += LANES)
			hits |= (vector)((load(one + i) | rare_fold) == rares) &
				(vector)((load(two + i) | other_fold) == others);
		if (!any(hits))
			continue;
		found = find_slowly(literal, bytes + at, STRIDE);
		if (found < STRIDE)
			return at + found;
	}
	at += find_slowly(literal, bytes + at, places - at);
	return at < places ? at : length;
}

uint64_t sb_count_lines(const char *text, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)text;
	uint64_t lines = 0;

	while (length >= LANES) {
		size_t rounds = length / LANES < 255 ? length / LANES : 255;
		vector counts = all(0), newline = all('\n');

		for (size_t i = 0; i < rounds; i++, bytes += LANES)
			counts -= (vector)(load(bytes) == newline); /* true is -1 */
		for (size_t i = 0; i < LANES; i++)
			lines += counts[i];
		length -= rounds * LANES;
	}
	while (length-- > 0)
		lines += *bytes++ == '\n';
	return lines;
}

bool sb_grep_is_ascii(const char *text, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)text;
	vector seen = all(0);
	unsigned char last = 0;

	for (; length >= STRIDE; length -= STRIDE, bytes += STRIDE) {
		seen |= load(bytes) | load(bytes + 16) | load(bytes + 32) | load(bytes + 48);
		if (any(seen & all(0x80)))
			return false;
	}
	while (length-- > 0)
		last |= *bytes++;
	return !(last & 0x80);
}

bool sb_is_utf8(const char *text, size_t length)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + length;

	while (at < end) {
		size_t bytes = 1;

		if (end - at >= LANES && !any(load(at) & all(0x80))) {
			at += LANES;
			continue;
		}
		if (*at & 0x80)
			bytes = sb_utf8_length((const char *)at, (size_t)(end - at));
		if (!bytes)
			return false;
		at += bytes;
	}
	return true;
}
