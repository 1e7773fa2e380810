/*
 * ignore.c - fuzz target: the input is a path, a NUL, and the text of a .gitignore.
 *
 * Whatever the text, it can be asked, and the answer is that of its lines one by one: the last
 * line that says anything by itself decides.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "base/auto.h"
#include "search/search.h"

static enum sb_ignore_said ask(const char *text, size_t length, const char *path, bool directory)
{
	struct sb_ignore_rules *rules = sb_ignore_rules_new(text, length);
	enum sb_ignore_said said;

	CHECK(rules);
	said = sb_ignore_rules_ask(rules, path, strlen(path), directory);
	sb_ignore_rules_free(rules);
	return said;
}

static enum sb_ignore_said ask_lines(const char *text, size_t length, const char *path,
				     bool directory)
{
	enum sb_ignore_said said = SB_IGNORE_NOTHING;

	for (const char *at = text, *end = text + length; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline + 1 : end;
		enum sb_ignore_said now = ask(at, (size_t)(stop - at), path, directory);

		if (now != SB_IGNORE_NOTHING)
			said = now;
		at = stop;
	}
	return said;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SB_AUTO_FREE char *path = strndup((const char *)data, size);
	size_t length = strlen(path);
	const char *text = (const char *)data + length + 1;
	size_t text_length = length < size ? size - length - 1 : 0;

	if (length == size)
		text = "";
	/* A byte order mark counts at the beginning of a file alone: keep it out of the comparison. */
	if (memmem(text, text_length, "\xef\xbb\xbf", 3)) {
		ask(text, text_length, path, false);
		return 0;
	}
	for (int directory = 0; directory < 2; directory++)
		CHECK(ask(text, text_length, path, directory) ==
		      ask_lines(text, text_length, path, directory));
	return 0;
}
