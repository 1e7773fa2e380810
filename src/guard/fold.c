#include "guard/fold.h"

#include <string.h>

#include "base/escape.h"

/* FNV-1a: a few cycles a byte, and names are short. */
#define HASH_START 2166136261u
#define HASH_STEP(hash, byte) (((hash) ^ (unsigned char)(byte)) * 16777619u)

static inline char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Unicode's default-ignorable code points, which case-folding file systems leave out. */
static int is_ignored(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0x00ad, 0x00ad},  {0x034f, 0x034f}, {0x061c, 0x061c},   {0x115f, 0x1160},
		      {0x17b4, 0x17b5},  {0x180b, 0x180f}, {0x200b, 0x200f},   {0x202a, 0x202e},
		      {0x2060, 0x206f},  {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
		      {0xffa0, 0xffa0},  {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
		      {0xe0000, 0xe0fff}};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return 1;
	return 0;
}

/* By CaseFolding.txt of Unicode, C and F, as the kernel's tables do. */
const struct sb_fold_odd sb_fold_odd[] = {{0x212a, "k"} /* the Kelvin sign */,
					  {0x017f, "s"},
					  {0x00df, "ss"},
					  {0x1e9e, "ss"},
					  {0xfb00, "ff"},
					  {0xfb01, "fi"},
					  {0xfb02, "fl"},
					  {0xfb03, "ffi"},
					  {0xfb04, "ffl"},
					  {0xfb05, "st"},
					  {0xfb06, "st"}};
const size_t sb_fold_odd_count = sizeof sb_fold_odd / sizeof sb_fold_odd[0];

static const char *ascii_of(uint32_t point)
{
	for (size_t i = 0; i < sb_fold_odd_count; i++)
		if (sb_fold_odd[i].point == point)
			return sb_fold_odd[i].text;
	return NULL;
}

/* The one character at name: how long it is, and what it folds to; "": to nothing. */
static size_t fold_one(const char *name, size_t length, char out[4])
{
	size_t step = sb_utf8_length(name, length);
	const char *text;
	uint32_t point;

	out[0] = lower(*name);
	out[1] = '\0';
	if (step < 2) /* ASCII, or no character: a byte that stands for itself */
		return 1;
	point = sb_utf8_point(name, step);
	text = ascii_of(point);
	if (text)
		memcpy(out, text, strlen(text) + 1);
	else if (is_ignored(point))
		out[0] = '\0';
	return step; /* else not ASCII, whatever it is: equals no name of the table */
}

/* Most names by far. */
static void fold_ascii(const char *name, size_t length, struct sb_folded *out)
{
	uint32_t hash = HASH_START;

	for (size_t at = 0; at < length; at++) {
		char c = lower(name[at]);

		out->text[at] = c;
		hash = HASH_STEP(hash, c);
	}
	out->text[length] = '\0';
	out->length = (unsigned char)length;
	out->hash = hash;
}

void sb_fold(const char *name, size_t length, struct sb_folded *out)
{
	uint32_t hash = HASH_START;
	size_t end = 0;

	if (length < SB_FOLD_MAX && sb_is_ascii(name, length)) {
		fold_ascii(name, length, out);
		return;
	}
	for (size_t at = 0; at < length;) {
		char folded[4];

		if ((signed char)name[at] >= 0) {
			folded[0] = lower(name[at++]);
			folded[1] = '\0';
		} else {
			at += fold_one(name + at, length - at, folded);
		}
		for (const char *c = folded; *c; c++) {
			if (end == SB_FOLD_MAX - 1) {
				out->length = SB_FOLD_MAX;
				out->hash = 0;
				return;
			}
			out->text[end++] = *c;
			hash = HASH_STEP(hash, *c);
		}
	}
	out->text[end] = '\0';
	out->length = (unsigned char)end;
	out->hash = hash;
}

/* Ignored characters may stand anywhere: try every start.  Names are short, and such ones rare. */
static int folded_tail_is(const char *name, size_t length, const char *suffix, size_t suffix_length)
{
	struct sb_folded tail;

	for (size_t start = 0; start < length; start++) {
		sb_fold(name + start, length - start, &tail);
		if (tail.length == suffix_length && memcmp(tail.text, suffix, suffix_length) == 0)
			return 1;
	}
	return 0;
}

int sb_fold_ends(const char *name, size_t length, const char *suffix, size_t suffix_length)
{
	/* most names are done with here: what ends in ASCII folds to what ends so */
	if (length && suffix_length && (signed char)name[length - 1] >= 0 &&
	    lower(name[length - 1]) != suffix[suffix_length - 1])
		return 0;
	if (!sb_is_ascii(name, length))
		return folded_tail_is(name, length, suffix, suffix_length);
	if (length < suffix_length)
		return 0;
	for (size_t i = 0; i < suffix_length; i++)
		if (lower(name[length - suffix_length + i]) != suffix[i])
			return 0;
	return 1;
}

size_t sb_fold_begins(const char *name, size_t length, const char *prefix, size_t prefix_length)
{
	size_t at = 0, done = 0;

	/* most names are done with here */
	if (!length || ((signed char)*name >= 0 && lower(*name) != *prefix))
		return 0;
	while (done < prefix_length && at < length) {
		char folded[4];

		at += fold_one(name + at, length - at, folded);
		for (const char *c = folded; *c && done < prefix_length; c++)
			if (*c != prefix[done++])
				return 0;
	}
	return done == prefix_length ? at : 0;
}

int sb_fold_is_git(const char *name, size_t length)
{
	size_t at = sb_fold_begins(name, length, ".git", 4);

	if (!at)
		at = sb_fold_begins(name, length, "git~1", 5);
	if (!at)
		return 0;
	while (at < length && name[at] != ':' && name[at] != '\\') {
		char folded[4];

		if (name[at] != '.' && name[at] != ' ') {
			size_t step = fold_one(name + at, length - at, folded);

			if (folded[0])
				return 0;
			at += step;
		} else {
			at++;
		}
	}
	return 1;
}
