#include "mcp/wire/dump.h"

#include <stdint.h>
#include <string.h>

#include "base/auto.h"

struct dump {
	struct sb_buf *out;
	const json_t *last; /* the longest string so far, */
	size_t at, length;  /* and where it stands in out */
};

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c != '"' && c != '\\';
}

/* The first byte from at on that has to be escaped.  Eight at a time (Hacker's Delight, 6-1). */
static size_t plain_end(const char *bytes, size_t at, size_t length)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones * 0x80;

	for (; length - at >= 8; at += 8) {
		uint64_t eight, quote, slash, low;

		memcpy(&eight, bytes + at, sizeof eight);
		quote = eight ^ ones * '"';
		slash = eight ^ ones * '\\';
		low = (eight - ones * 0x20) & ~eight;
		quote = (quote - ones) & ~quote;
		slash = (slash - ones) & ~slash;
		if ((quote | slash | low) & high)
			break;
	}
	while (at < length && is_plain((unsigned char)bytes[at]))
		at++;
	return at;
}

static void put_escaped(struct sb_buf *out, unsigned char c)
{
	static const char letters[] = "btn\0fr"; /* from \b = 8 on; 11 has none */

	if (c == '"' || c == '\\') {
		char pair[2] = {'\\', (char)c};

		sb_buf_append(out, pair, 2);
	} else if (c >= 8 && c <= 13 && letters[c - 8]) {
		char pair[2] = {'\\', letters[c - 8]};

		sb_buf_append(out, pair, 2);
	} else {
		sb_buf_printf(out, "\\u%04X", c);
	}
}

static void put_string(struct sb_buf *out, const char *bytes, size_t length)
{
	sb_buf_putc(out, '"');
	for (size_t at = 0; at < length;) {
		size_t end = plain_end(bytes, at, length);

		if (end > at)
			sb_buf_append(out, bytes + at, end - at);
		if (end < length)
			put_escaped(out, (unsigned char)bytes[end]);
		at = end + 1;
	}
	sb_buf_putc(out, '"');
}

static void dump_string(struct dump *dump, const json_t *value)
{
	struct sb_buf *out = dump->out;
	size_t at = out->length;
	SB_AUTO_FREE char *copy = NULL;

	if (value == dump->last && (copy = malloc(dump->length))) {
		/* not from the buffer itself, which may move as it grows */
		memcpy(copy, out->data + dump->at, dump->length);
		sb_buf_append(out, copy, dump->length);
		return;
	}
	put_string(out, json_string_value(value), json_string_length(value));
	if (!sb_buf_failed(out) && out->length - at > 256 && out->length - at > dump->length) {
		dump->last = value;
		dump->at = at;
		dump->length = out->length - at;
	}
}

static void dump_value(struct dump *dump, const json_t *value)
{
	struct sb_buf *out = dump->out;
	SB_AUTO_FREE char *text = NULL;
	const char *key;
	json_t *item;
	size_t i;
	bool first = true;

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		sb_buf_putc(out, '{');
		json_object_foreach((json_t *)value, key, item)
		{
			if (!first)
				sb_buf_putc(out, ',');
			first = false;
			put_string(out, key, strlen(key));
			sb_buf_putc(out, ':');
			dump_value(dump, item);
		}
		sb_buf_putc(out, '}');
		break;
	case JSON_ARRAY:
		sb_buf_putc(out, '[');
		json_array_foreach(value, i, item)
		{
			if (i)
				sb_buf_putc(out, ',');
			dump_value(dump, item);
		}
		sb_buf_putc(out, ']');
		break;
	case JSON_STRING:
		dump_string(dump, value);
		break;
	default: /* numbers and words, as jansson prints them */
		text = json_dumps(value, JSON_ENCODE_ANY);
		sb_buf_puts(out, text ? text : "null");
	}
}

void sb_dump(const json_t *value, struct sb_buf *out)
{
	struct dump dump = {.out = out};

	dump_value(&dump, value);
}
