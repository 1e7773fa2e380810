/*
 * git_index.c - fuzz target: the input is a git index, or a half of it is and the rest the one before.
 *
 * Whatever it holds, it is read or refused, by itself and compared with another.  In what is let
 * pass there is no name with .git, "..", nothing or a slash at its beginning in it: looked for here,
 * by a plainer reader than the one that is tested, which knows versions 2 and 3 only.
 */
#include <string.h>

#include "base/escape.h"
#include "fuzz.h"
#include "guard/git_index.h"

static uint32_t number(const uint8_t *at, int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

static void check_name(const char *name, size_t length)
{
	size_t start = 0;

	for (size_t at = 0; at <= length; at++) {
		if (at < length && name[at] != '/')
			continue;
		/* of a directory of a sparse index, the last is empty */
		CHECK(at > start || (at == length && at > 0));
		CHECK(!(at - start == 2 && memcmp(name + start, "..", 2) == 0));
		CHECK(!(at - start == 1 && name[start] == '.'));
		CHECK(!(at - start == 4 && strncasecmp(name + start, ".git", 4) == 0));
		start = at + 1;
	}
}

/* With hashes of this length: is there an end of all entries before the hash?  look: at names, too. */
static bool read_names(const uint8_t *data, size_t size, size_t hash, bool look)
{
	uint32_t count = number(data + 8, 4);
	size_t at = 12;

	for (; count; count--) {
		size_t fixed = 40 + hash + 2, length;

		if (at + fixed + 2 + hash > size)
			return false;
		length = number(data + at + fixed - 2, 2);
		fixed += length & 0x4000 ? 2 : 0;
		length &= 0xfff;
		if (length == 0xfff || at + (fixed + length + 8) / 8 * 8 + hash > size)
			return false;
		if (look && length)
			check_name((const char *)data + at + fixed, length);
		at += (fixed + length + 8) / 8 * 8;
	}
	return true;
}

static bool is_harmless(struct sb_guard_bytes bytes)
{
	char why[300], short_why[16];
	struct sb_index_facts facts = {0}, again = {0};
	bool harmless = sb_git_index_is_harmless(bytes, &facts, why, sizeof why);

	CHECK(harmless == !why[0]);
	if (harmless)
		sb_git_index_is_ambiguous(bytes, facts.is_long);
	CHECK(harmless == sb_git_index_is_harmless(bytes, &again, short_why, sizeof short_why));
	CHECK(!harmless || !facts.hides || sb_git_index_hides(bytes));
	for (size_t length = strlen(why), at = 0, step; at < length; at += step) {
		step = sb_utf8_visible(why + at, length - at);
		CHECK(step || length - at < 4); /* it may be cut within a character */
		if (!step)
			break;
	}
	return harmless;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sb_guard_bytes all = {(const char *)data, size};
	struct sb_guard_bytes first = {(const char *)data, size / 2};
	struct sb_guard_bytes second = {(const char *)data + size / 2, size - size / 2};
	char note[300];

	if (!data)
		return 0;
	sb_git_index_hides(all);
	if (is_harmless(all)) {
		bool is_short, is_long;

		is_short = number(data + 4, 4) != 4 && read_names(data, size, 20, false);
		is_long = number(data + 4, 4) != 4 && read_names(data, size, 32, false);
		if (is_short != is_long) /* else nobody knows */
			read_names(data, size, is_short ? 20 : 32, true);
		sb_git_index_note(all, all, false, note, sizeof note);
		CHECK(!note[0]);
		sb_git_index_note((struct sb_guard_bytes){0}, all, true, note, sizeof note);
	}
	is_harmless(first);
	is_harmless(second);
	sb_git_index_note(first, second, false, note, sizeof note);
	sb_git_index_note(second, first, false, note, sizeof note);
	sb_git_index_note(first, all, false, note, sizeof note);
	return 0;
}
