#include "search/grep_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

enum { RAW_BYTES = 64 * 1024 };

void sb_input_begin(struct sb_input *input, const struct sb_search_source *source,
		    sb_search_handle file, bool whole)
{
	struct sb_input fresh = {
		.source = source,
		.file = file,
		.whole = whole,
		.data = input->data,
		.capacity = input->capacity,
		.raw = input->raw,
	};

	*input = fresh;
}

void sb_input_done(struct sb_input *input)
{
	free(input->data);
	free(input->raw);
}

static bool grow(struct sb_input *input)
{
	size_t most = input->whole ? SB_INPUT_WHOLE : SB_INPUT_LONGEST;
	size_t capacity = input->capacity ? input->capacity * 2 : SB_INPUT_WINDOW;
	char *data;

	if (capacity > most)
		return false;
	data = realloc(input->data, capacity);
	if (!data) {
		input->error = -ENOMEM;
		return false;
	}
	input->data = data;
	input->capacity = capacity;
	return true;
}

static ssize_t read_some(struct sb_input *input, void *into, size_t length)
{
	ssize_t got =
		input->source->backend->read(input->source->context, input->file, into, length);

	if (got > 0)
		input->bytes += (uint64_t)got;
	else if (got < 0)
		input->error = (int)got;
	else
		input->at_end = true;
	return got;
}

/* ---- UTF-16 ---- */

static uint32_t unit(const struct sb_input *input, size_t at)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): read() filled raw_length bytes */
	unsigned a = input->raw[at], b = input->raw[at + 1];

	return input->encoding == SB_INPUT_UTF16LE ? a | b << 8 : a << 8 | b;
}

/* As much of raw as has room; a pair that is cut waits for its other half. */
static void decode(struct sb_input *input)
{
	size_t at = 0;

	while (at + 2 <= input->raw_length && input->capacity - input->length >= 4) {
		uint32_t c = unit(input, at);
		bool high = c >= 0xd800 && c < 0xdc00;

		if (high && at + 4 > input->raw_length && !input->at_end)
			break;
		at += 2;
		if (high && at + 2 <= input->raw_length && (unit(input, at) & 0xfc00) == 0xdc00) {
			c = 0x10000 + ((c & 0x3ff) << 10) + (unit(input, at) & 0x3ff);
			at += 2;
		} else if (c >= 0xd800 && c < 0xe000) {
			c = 0xfffd;
		}
		input->length += sb_utf8_put(input->data + input->length, c);
	}
	memmove(input->raw, input->raw + at, input->raw_length - at);
	input->raw_length -= at;
}

static bool fill_decoded(struct sb_input *input)
{
	if (!input->raw)
		input->raw = malloc(RAW_BYTES);
	if (!input->raw) {
		input->error = -ENOMEM;
		return false;
	}
	while (input->capacity - input->length >= 4) {
		ssize_t got = input->at_end ? 0
					    : read_some(input, input->raw + input->raw_length,
							RAW_BYTES - input->raw_length);

		if (got < 0)
			return false;
		input->raw_length += (size_t)got;
		decode(input);
		if (input->at_end && input->raw_length < 2)
			break;
	}
	/* Room ran out before the text did: there is more. */
	if (input->raw_length >= 2)
		input->at_end = false;
	return true;
}

/* ---- the window ---- */

static bool fill_plain(struct sb_input *input)
{
	while (!input->at_end && input->length < input->capacity) {
		ssize_t got = read_some(input, input->data + input->length,
					input->capacity - input->length);

		if (got < 0)
			return false;
		input->length += (size_t)got;
	}
	return true;
}

/* The first bytes of the file are in: do they tell an encoding? */
static bool look_at_mark(struct sb_input *input)
{
	const char *mark = input->data;

	if (input->length >= 3 && memcmp(mark, "\xef\xbb\xbf", 3) == 0) {
		sb_input_move(input, 3);
		return true;
	}
	if (input->length < 2 ||
	    (memcmp(mark, "\xff\xfe", 2) != 0 && memcmp(mark, "\xfe\xff", 2) != 0))
		return true;
	input->encoding = mark[0] == '\xff' ? SB_INPUT_UTF16LE : SB_INPUT_UTF16BE;
	return false;
}

/* The window was filled with UTF-16: it becomes raw, piece by piece, and is filled anew. */
static bool decode_first(struct sb_input *input)
{
	size_t length = input->length - 2, at = 0;
	char *first = malloc(length + 1);
	bool at_end = input->at_end;

	if (!input->raw)
		input->raw = malloc(RAW_BYTES);
	if (!first || !input->raw) {
		free(first);
		input->error = -ENOMEM;
		return false;
	}
	memcpy(first, input->data + 2, length);
	input->length = 0;
	input->at_end = false;
	while (at < length) {
		size_t some = length - at, room = RAW_BYTES - input->raw_length;

		some = some < room ? some : room;
		memcpy(input->raw + input->raw_length, first + at, some);
		input->raw_length += some;
		at += some;
		input->at_end = at_end && at == length;
		decode(input);
		/* UTF-8 can take half as much again. */
		if (input->capacity - input->length < 4 && !grow(input)) {
			free(first);
			return false;
		}
	}
	free(first);
	decode(input);
	return true;
}

static bool first_fill(struct sb_input *input)
{
	input->begun = true;
	if (!input->capacity && !grow(input))
		return false;
	if (!fill_plain(input))
		return false;
	return look_at_mark(input) || decode_first(input);
}

static bool fill_once(struct sb_input *input)
{
	if (!input->begun)
		return first_fill(input);
	return input->encoding == SB_INPUT_BYTES ? fill_plain(input) : fill_decoded(input);
}

bool sb_input_fill(struct sb_input *input)
{
	for (;;) {
		const char *newline;

		if (!fill_once(input))
			return false;
		if (input->at_end) {
			input->usable = input->length;
			return true;
		}
		newline = memrchr(input->data, '\n', input->length);
		if (newline && !input->whole) {
			input->usable = (size_t)(newline + 1 - input->data);
			return true;
		}
		if (grow(input))
			continue;
		input->too_big = input->whole;
		input->usable = input->length; /* a line without end: it ends here */
		return !input->too_big && !input->error;
	}
}

void sb_input_move(struct sb_input *input, size_t bytes)
{
	memmove(input->data, input->data + bytes, input->length - bytes);
	input->length -= bytes;
	input->usable = input->usable > bytes ? input->usable - bytes : 0;
}
