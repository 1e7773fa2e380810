/*
 * SECURITY: a list of packs names files of its own directory.
 *
 * Danger: git takes the names as they are (midx.c).  "git multi-pack-index expire", which git commit and git fetch run
 * by themselves where maintenance.incremental-repack.auto says so, removes each pack from which the list takes no
 * object: "../../../../other/.git/objects/pack/pack-X.idx" is the history of another repository.
 * Price: to read the first part of a file that git writes with every such upkeep.
 * Held by: tests/supervise/git_packs.py, tests/unit/test_git_packs.c
 *
 * The file: "MIDX", version, hash, chunks, layers below (one byte each), packs (four, as all numbers here, big end
 * first); for each chunk its name (four bytes) and where it begins (eight), and once more where the last one ends; the
 * chunks.  That of the names is PNAM: names with a NUL behind each.
 */
#include "guard/git_forms.h"

#include <stdint.h>
#include <string.h>

enum { HEADER = 12, ENTRY = 12, NAMES = 0x504e414d }; /* "PNAM" */

static uint64_t number_at(const char *at, unsigned size)
{
	uint64_t number = 0;

	while (size--)
		number = number << 8 | (unsigned char)*at++;
	return number;
}

/* Where the names begin; 0: that is not clear.  Of two such chunks versions of git take one or the other. */
static size_t find_names(struct sb_guard_bytes bytes)
{
	size_t chunks, found = 0;

	if (bytes.length < HEADER || memcmp(bytes.bytes, "MIDX", 4) != 0 || bytes.bytes[4] < 1 ||
	    bytes.bytes[4] > 2)
		return 0;
	chunks = (unsigned char)bytes.bytes[6];
	if (bytes.length < HEADER + (chunks + 1) * ENTRY)
		return 0;
	for (size_t i = 0; i < chunks; i++) {
		const char *entry = bytes.bytes + HEADER + i * ENTRY;
		uint64_t begin = number_at(entry + 4, 8);

		if (number_at(entry, 4) != NAMES)
			continue;
		if (found || begin < HEADER || begin >= bytes.length)
			return 0;
		found = (size_t)begin;
	}
	return found;
}

static bool is_pack(const char *name, size_t length)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_.";

	return length && *name != '.' && strspn(name, plain) == length;
}

bool sb_git_packs_are_beside(struct sb_guard_bytes bytes, struct sb_guard_bytes *out_bad)
{
	size_t at = find_names(bytes);
	uint64_t packs = at ? number_at(bytes.bytes + 8, 4) : 0;

	*out_bad = bytes;
	if (!at)
		return false;
	for (uint64_t i = 0; i < packs; i++) {
		const char *name = bytes.bytes + at, *end = memchr(name, '\0', bytes.length - at);

		if (!end)
			return false;
		if (!is_pack(name, (size_t)(end - name))) {
			*out_bad = (struct sb_guard_bytes){name, (size_t)(end - name)};
			return false;
		}
		at += (size_t)(end - name) + 1;
	}
	return true;
}
