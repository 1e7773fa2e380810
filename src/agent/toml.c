#include "agent/toml.h"

#include <stdint.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/words.h"

#define MAX_DEPTH 64
#define MAX_PATH 4096 /* bytes of a path; a setting's is a tenth of that */

struct reader {
	const char *text;
	size_t length, at;
	int depth;
	bool headed; /* a header was there */
	sb_toml_found found;
	void *context;
	struct sb_error *err;
};

static int wrong(const struct reader *reader, const char *what)
{
	size_t line = 1;

	for (size_t i = 0; i < reader->at && i < reader->length; i++)
		line += reader->text[i] == '\n';
	return sb_fail(reader->err, SB_E_INVALID, 0, "line %zu: %s", line, what);
}

static int peek(const struct reader *reader)
{
	return reader->at < reader->length ? (unsigned char)reader->text[reader->at] : -1;
}

static bool follows(const struct reader *reader, const char *word)
{
	size_t length = strlen(word);

	return reader->length - reader->at >= length &&
	       memcmp(reader->text + reader->at, word, length) == 0;
}

static void skip_blanks(struct reader *reader)
{
	while (peek(reader) == ' ' || peek(reader) == '\t')
		reader->at++;
}

static void skip_comment(struct reader *reader)
{
	if (peek(reader) == '#')
		while (peek(reader) >= 0 && peek(reader) != '\n')
			reader->at++;
}

/* Blanks, comments and ends of lines. */
static void skip_lines(struct reader *reader)
{
	for (;;) {
		skip_blanks(reader);
		skip_comment(reader);
		if (peek(reader) == '\n')
			reader->at++;
		else if (follows(reader, "\r\n"))
			reader->at += 2;
		else
			return;
	}
}

/* Nothing else may be in the line. */
static int end_line(struct reader *reader)
{
	skip_blanks(reader);
	skip_comment(reader);
	if (peek(reader) >= 0 && peek(reader) != '\n' && !follows(reader, "\r\n"))
		return wrong(reader, "more in a line than a setting");
	return SB_OK;
}

static int read_escape(struct reader *reader, struct sb_buf *out)
{
	static const char plain[] = "btnfr\"\\e", meant[] = "\b\t\n\f\r\"\\\x1b";
	int c = peek(reader), digits = c == 'u' ? 4 : c == 'U' ? 8 : c == 'x' ? 2 : 0;
	uint32_t point = 0;
	char bytes[4];

	reader->at++;
	if (c > 0 && strchr(plain, c)) {
		sb_buf_putc(out, meant[strchr(plain, c) - plain]);
		return SB_OK;
	}
	if (!digits)
		return wrong(reader, "no such escape in a string");
	for (; digits; digits--, reader->at++) {
		int digit = sb_hex_digit((char)peek(reader));

		if (digit < 0)
			return wrong(reader, "no such escape in a string");
		point = point * 16 + (uint32_t)digit;
	}
	if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
		return wrong(reader, "no such character");
	sb_buf_append(out, bytes, sb_utf8_put(bytes, point));
	return SB_OK;
}

/* A string of any of the four kinds; *out_lines: it may have several lines. */
static int read_string(struct reader *reader, struct sb_buf *out, bool *out_lines)
{
	char quote = (char)peek(reader);
	const char *mark = quote == '"' ? "\"\"\"" : "'''";
	bool lines = follows(reader, mark);

	reader->at += lines ? 3 : 1;
	for (;;) {
		int c = peek(reader);
		size_t step;

		if (c < 0 || (!lines && c == '\n'))
			return wrong(reader, "a string has no end");
		if (c == quote && (!lines || follows(reader, mark))) {
			reader->at += lines ? 3 : 1;
			/* up to two quotes may stand before the end */
			for (int i = 0; lines && i < 2 && peek(reader) == quote; i++)
				reader->at++;
			*out_lines = lines;
			return SB_OK;
		}
		if (c == '\\' && quote == '"') {
			size_t next = reader->at + 1;
			int status;

			while (lines && next < reader->length &&
			       strchr(" \t\r", reader->text[next]) && reader->text[next])
				next++;
			if (lines && next < reader->length && reader->text[next] == '\n') {
				reader->at = next + 1;
				continue;
			}
			reader->at++;
			status = read_escape(reader, out);
			if (status != SB_OK)
				return status;
			continue;
		}
		if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
			return wrong(reader, "a control character in a string");
		step = sb_utf8_length(reader->text + reader->at, reader->length - reader->at);
		if (!step)
			return wrong(reader, "bytes that are no UTF-8");
		sb_buf_append(out, reader->text + reader->at, step);
		reader->at += step;
	}
}

static bool is_bare(int c)
{
	return sb_is_letter((char)c) || sb_is_digit((char)c) || c == '_' || c == '-';
}

/* a."b".c, behind what is in path already. */
static int read_key(struct reader *reader, struct sb_buf *path)
{
	for (;;) {
		SB_AUTO_BUF struct sb_buf name = SB_BUF(MAX_PATH);
		int c = peek(reader);
		bool lines = false;
		int status = SB_OK;

		if (c == '"' || c == '\'')
			status = read_string(reader, &name, &lines);
		else if (!is_bare(c))
			return wrong(reader, "the name of a setting is missing");
		while (c != '"' && c != '\'' && is_bare(peek(reader)))
			sb_buf_putc(&name, reader->text[reader->at++]);
		if (status != SB_OK)
			return status;
		if (lines || sb_buf_failed(&name) || strlen(name.data) != name.length ||
		    strchr(name.data, SB_TOML_DOT[0]))
			return wrong(reader, "the name of a setting is no name");
		if (path->length)
			sb_buf_puts(path, SB_TOML_DOT);
		sb_buf_append(path, name.data, name.length);
		skip_blanks(reader);
		if (peek(reader) != '.')
			return sb_buf_failed(path) ? wrong(reader, "too long a name") : SB_OK;
		reader->at++;
		skip_blanks(reader);
	}
}

static int read_pair(struct reader *reader, const struct sb_buf *table, bool top);

/* [1, 2] and {a = 1}; path is that of the key. */
static int read_inside(struct reader *reader, const struct sb_buf *path);

static int read_value(struct reader *reader, const struct sb_buf *path, struct sb_buf *text,
		      struct sb_toml_item *item)
{
	int c = peek(reader), status;
	bool lines = false;
	size_t from = reader->at;

	if (c == '"' || c == '\'') {
		status = read_string(reader, text, &lines);
		if (status == SB_OK && !lines && strlen(text->data) == text->length)
			item->string = text->data;
		return status;
	}
	if (c == '[' || c == '{') {
		if (++reader->depth > MAX_DEPTH)
			return wrong(reader, "too many brackets in each other");
		status = read_inside(reader, path);
		reader->depth--;
		return status;
	}
	/* true, 12, 1e3, 1979-05-27 07:32:00 */
	while (is_bare(peek(reader)) || peek(reader) == '+' || peek(reader) == '.' ||
	       peek(reader) == ':' ||
	       (peek(reader) == ' ' && reader->at - from == 10 && reader->text[from + 4] == '-'))
		reader->at++;
	if (reader->at == from)
		return wrong(reader, "a value is missing");
	sb_buf_append(text, reader->text + from, reader->at - from);
	item->word = text->data;
	return SB_OK;
}

static int read_inside(struct reader *reader, const struct sb_buf *path)
{
	bool table = peek(reader) == '{';
	char close = table ? '}' : ']';

	reader->at++;
	for (;;) {
		int status;

		skip_lines(reader); /* in tables only newer TOML has line breaks: no harm in them */
		if (peek(reader) == close)
			break;
		if (table) {
			status = read_pair(reader, path, false);
		} else {
			SB_AUTO_BUF struct sb_buf text = SB_BUF(1 << 24);
			struct sb_toml_item item = {
				.path = path->data, .element = true, .start = reader->at};

			status = read_value(reader, path, &text, &item);
			item.end = reader->at;
			if (status == SB_OK)
				status = reader->found(reader->context, &item, reader->err);
		}
		if (status != SB_OK)
			return status;
		skip_lines(reader);
		if (peek(reader) == ',')
			reader->at++;
		else if (peek(reader) != close)
			return wrong(reader, table ? "'}' is missing" : "']' is missing");
	}
	reader->at++;
	return SB_OK;
}

static int read_pair(struct reader *reader, const struct sb_buf *table, bool top)
{
	SB_AUTO_BUF struct sb_buf path = SB_BUF(MAX_PATH);
	SB_AUTO_BUF struct sb_buf text = SB_BUF(1 << 24);
	struct sb_toml_item item = {.start = reader->at, .top = top};
	int status;

	sb_buf_append(&path, table->data, table->length);
	status = read_key(reader, &path);
	if (status != SB_OK)
		return status;
	if (peek(reader) != '=')
		return wrong(reader, "'=' is missing");
	reader->at++;
	skip_blanks(reader);
	status = read_value(reader, &path, &text, &item);
	if (status != SB_OK)
		return status;
	if (sb_buf_failed(&text))
		return wrong(reader, "too long a value");
	item.path = path.data;
	item.end = reader->at;
	return reader->found(reader->context, &item, reader->err);
}

static int read_header(struct reader *reader, struct sb_buf *table)
{
	struct sb_toml_item item = {
		.header = true, .listed = follows(reader, "[["), .start = reader->at};
	int status;

	reader->at += item.listed ? 2 : 1;
	reader->headed = true;
	table->length = 0;
	if (table->capacity)
		table->data[0] = '\0';
	skip_blanks(reader);
	status = read_key(reader, table);
	if (status != SB_OK)
		return status;
	if (!follows(reader, item.listed ? "]]" : "]"))
		return wrong(reader, "']' is missing");
	reader->at += item.listed ? 2 : 1;
	item.path = table->data;
	item.end = reader->at;
	return reader->found(reader->context, &item, reader->err);
}

int sb_toml_read(const char *text, size_t length, sb_toml_found found, void *context,
		 struct sb_error *err)
{
	struct reader reader = {
		.text = text, .length = length, .found = found, .context = context, .err = err};
	SB_AUTO_BUF struct sb_buf table = SB_BUF(MAX_PATH);

	for (;;) {
		int status;

		skip_lines(&reader);
		if (peek(&reader) < 0)
			return SB_OK;
		status = peek(&reader) == '[' ? read_header(&reader, &table)
					      : read_pair(&reader, &table, !reader.headed);
		if (status == SB_OK)
			status = end_line(&reader);
		if (status != SB_OK)
			return status;
	}
}
