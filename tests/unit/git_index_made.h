/* git_index_made.h - an index of git's, made entry by entry, and whether it may land. */
#ifndef GIT_INDEX_MADE_H
#define GIT_INDEX_MADE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "base/hash.h"
#include "guard/git_index.h"

enum { FILE_MODE = 0100644, LINK_MODE = 0120000, MODULE_MODE = 0160000, TREE_MODE = 0040000 };

struct made {
	unsigned char *bytes;
	size_t length, room;
	unsigned version, hash;
	uint32_t count;
	char before[5000];
};

static inline void add(struct made *made, const void *bytes, size_t length)
{
	if (made->length + length > made->room) {
		made->room = 2 * (made->room + length);
		made->bytes = realloc(made->bytes, made->room);
		assert_non_null(made->bytes);
	}
	if (length)
		memcpy(made->bytes + made->length, bytes, length);
	made->length += length;
}

static inline void add_number(struct made *made, uint32_t number, int bytes)
{
	unsigned char text[4];

	for (int i = 0; i < bytes; i++)
		text[i] = (unsigned char)(number >> 8 * (bytes - 1 - i));
	add(made, text, (size_t)bytes);
}

static inline struct made start(unsigned version, unsigned hash)
{
	struct made made = {.version = version, .hash = hash};

	add(&made, "DIRC", 4);
	add_number(&made, version, 4);
	add_number(&made, 0, 4);
	return made;
}

static inline void set_count(struct made *made, uint32_t count)
{
	for (int i = 0; i < 4; i++)
		made->bytes[8 + i] = (unsigned char)(count >> (24 - 8 * i));
	made->count = count;
}

struct options {
	unsigned mode, stage;
	bool assumed, skipped, intended;
	int longer; /* than the name is, says its length */
};

static inline void entry_with(struct made *made, const char *name, struct options options)
{
	static const unsigned char zeros[40];
	unsigned char hash[32];
	size_t length = strlen(name), start_at = made->length, common = 0;
	unsigned said = (unsigned)((length < 0xfff ? (int)length : 0xfff) + options.longer);
	bool more = options.skipped || options.intended;

	memset(hash, 0xab, sizeof hash);
	add(made, zeros, 24);
	add_number(made, options.mode ? options.mode : FILE_MODE, 4);
	add(made, zeros, 12);
	add(made, hash, made->hash);
	add_number(made,
		   (options.assumed ? 0x8000u : 0) | (more ? 0x4000u : 0) | options.stage << 12 |
			   said,
		   2);
	if (more)
		add_number(made, (options.skipped ? 0x4000u : 0) | (options.intended ? 0x2000u : 0),
			   2);
	if (made->version == 4) {
		while (name[common] && name[common] == made->before[common])
			common++;
		assert_true(strlen(made->before) - common < 16000);
		if (strlen(made->before) - common >= 128) {
			unsigned rest = (unsigned)(strlen(made->before) - common) - 128;

			add_number(made, 0x80u | rest >> 7, 1);
			add_number(made, rest & 127, 1);
		} else {
			add_number(made, (uint32_t)(strlen(made->before) - common), 1);
		}
		add(made, name + common, length - common + 1);
		snprintf(made->before, sizeof made->before, "%s", name);
	} else {
		add(made, name, length);
		add(made, zeros, 8 - (made->length - start_at) % 8);
	}
	set_count(made, made->count + 1);
}

static inline void entry(struct made *made, const char *name)
{
	entry_with(made, name, (struct options){0});
}

static inline void extension(struct made *made, const char *name, const void *data, size_t length)
{
	add(made, name, 4);
	add_number(made, (uint32_t)length, 4);
	add(made, data, length);
}

static inline void end(struct made *made)
{
	unsigned char sum[32] = {0};

	if (made->hash == SB_SHA1_BYTES)
		sb_sha1(made->bytes, made->length, sum);
	add(made, sum, made->hash);
}

static char why[400];

static struct sb_index_facts facts;

static inline bool is_harmless(const struct made *made)
{
	return sb_git_index_is_harmless(
		(struct sb_guard_bytes){(const char *)made->bytes, made->length}, &facts, why,
		sizeof why);
}

static inline bool is_ambiguous(const struct made *made)
{
	return sb_git_index_is_ambiguous(
		(struct sb_guard_bytes){(const char *)made->bytes, made->length}, facts.is_long);
}

static inline void expect(struct made *made, bool harmless, const char *title)
{
	end(made);
	if (is_harmless(made) != harmless)
		fail_msg("%s: %s", title, why);
	assert_true(harmless ? !why[0] : why[0] != '\0');
	free(made->bytes);
}

static const struct {
	unsigned version, hash;
} kinds[] = {{2, 20}, {3, 20}, {4, 20}, {2, 32}, {3, 32}, {4, 32}};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

#endif
