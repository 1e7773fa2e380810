#include "zones/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

struct reader {
	const char *file;
	const char *at, *end;
	const char *line_start;
	unsigned line;
	unsigned depth;
	size_t nodes;
	size_t limit; /* no word is longer than the text */
	struct sb_error *err;
};

int sb_yaml_fail(struct sb_error *err, const char *file, unsigned line, unsigned column,
		 const char *format, ...)
{
	char message[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	return sb_fail(err, SB_E_INVALID, 0, "%s:%u:%u: %s", file, line, column, message);
}

const char *sb_yaml_kind_name(enum sb_yaml_kind kind)
{
	static const char *const names[] = {"nothing", "a word", "a list", "a map"};

	return names[kind];
}

void sb_yaml_done(struct sb_yaml *node)
{
	for (size_t i = 0; i < node->count; i++)
		sb_yaml_done(&node->items[i]);
	free(node->items);
	free(node->text);
	free(node->key);
	*node = (struct sb_yaml){0};
}

const struct sb_yaml *sb_yaml_get(const struct sb_yaml *map, const char *key)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->items[i].key && strcmp(map->items[i].key, key) == 0)
			return &map->items[i];
	return NULL;
}

/* --- characters ------------------------------------------------------------------------------- */

static unsigned column_of(const struct reader *reader)
{
	return (unsigned)(reader->at - reader->line_start) + 1;
}

#define FAIL_HERE(reader, ...)                                                                     \
	sb_yaml_fail((reader)->err, (reader)->file, (reader)->line, column_of(reader), __VA_ARGS__)

/* The byte so far ahead; 0 at the end of the text, which has none in it. */
static char peek(const struct reader *reader, size_t ahead)
{
	return (size_t)(reader->end - reader->at) > ahead ? reader->at[ahead] : '\0';
}

static bool is_end_of_line(char c)
{
	return c == '\0' || c == '\n';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || is_end_of_line(c);
}

static void skip_spaces(struct reader *reader)
{
	while (peek(reader, 0) == ' ' || peek(reader, 0) == '\t')
		reader->at++;
}

static void next_line(struct reader *reader)
{
	while (!is_end_of_line(peek(reader, 0)))
		reader->at++;
	if (reader->at < reader->end) {
		reader->at++;
		reader->line++;
	}
	reader->line_start = reader->at;
}

/* Behind a value, on its line: nothing but a comment. */
static int end_line(struct reader *reader)
{
	const char *before = reader->at;

	skip_spaces(reader);
	if (peek(reader, 0) == '#' && reader->at > before)
		next_line(reader);
	else if (is_end_of_line(peek(reader, 0)))
		next_line(reader);
	else
		return FAIL_HERE(reader, "expected the end of the line");
	return SB_OK;
}

/* Of an indentation: tabs have no width that all readers agree on. */
static void skip_indent(struct reader *reader)
{
	while (peek(reader, 0) == ' ')
		reader->at++;
}

/* To the next line with something on it, and there behind its spaces.  False: there is none. */
static bool find_content(struct reader *reader)
{
	while (reader->at < reader->end) {
		skip_indent(reader);
		if (peek(reader, 0) != '#' && !is_end_of_line(peek(reader, 0)))
			return true;
		next_line(reader);
	}
	return false;
}

/* Of what find_content() found. */
static unsigned indent_of(const struct reader *reader)
{
	return column_of(reader) - 1;
}

/* --- words ------------------------------------------------------------------------------------ */

static int put_escape(struct reader *reader, struct sb_buf *out)
{
	static const char names[] = "0abtnvfre \"/\\";
	static const char values[] = "\0\a\b\t\n\v\f\r\033 \"/\\";
	const char *found = peek(reader, 0) ? strchr(names, peek(reader, 0)) : NULL;

	if (!found || found == names) /* a NUL would end the word */
		return FAIL_HERE(reader,
				 "expected one of \\a \\b \\t \\n \\v \\f \\r \\e \\\" \\/ \\\\ in "
				 "quotes");
	sb_buf_putc(out, values[found - names]);
	reader->at++;
	return SB_OK;
}

static int read_quoted(struct reader *reader, struct sb_buf *out)
{
	const char quote = *reader->at++;
	int status = SB_OK;

	while (status == SB_OK) {
		char c = peek(reader, 0);

		if (is_end_of_line(c))
			return FAIL_HERE(reader, "expected %c before the end of the line", quote);
		reader->at++;
		if (c == quote && !(quote == '\'' && peek(reader, 0) == '\''))
			return SB_OK;
		if (c == '\'' && quote == '\'')
			reader->at++; /* two of them stand for one */
		if (c == '\\' && quote == '"')
			status = put_escape(reader, out);
		else
			sb_buf_putc(out, c);
	}
	return status;
}

static bool is_flow_mark(char c)
{
	return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
}

/* May a plain word begin here?  If not, with what it begins otherwise is an error. */
static int check_plain(const struct reader *reader)
{
	char c = peek(reader, 0), next = peek(reader, 1);

	if (c == '\t')
		return FAIL_HERE(reader, "expected spaces, found a tab");
	if (c == '&' || c == '*')
		return FAIL_HERE(reader, "expected a value; anchors and aliases are not read (use "
					 "quotes if it is a word)");
	if (c == '!')
		return FAIL_HERE(reader,
				 "expected a value; tags are not read (use quotes if it is a "
				 "word)");
	if (strchr("%@`,[]{}#|>\"'", c) || (strchr("-?:", c) && is_blank(next)))
		return FAIL_HERE(reader,
				 "expected a value; a word that begins with '%c' needs quotes", c);
	return SB_OK;
}

/* To ": " or " #", or the end of the line; in brackets also to their marks. */
static int read_plain(struct reader *reader, bool flow, struct sb_buf *out)
{
	const char *start = reader->at, *last = start;
	int status = check_plain(reader);

	if (status != SB_OK)
		return status;
	for (; !is_end_of_line(peek(reader, 0)); reader->at++) {
		char c = peek(reader, 0), next = peek(reader, 1);

		if (c == '#' && reader->at > start && is_blank(reader->at[-1]))
			break;
		if (c == ':' && (is_blank(next) || (flow && is_flow_mark(next))))
			break;
		if (flow && is_flow_mark(c))
			break;
		if (!is_blank(c))
			last = reader->at + 1;
	}
	reader->at = last;
	sb_buf_append(out, start, (size_t)(last - start));
	return SB_OK;
}

static int read_text_of_word(struct reader *reader, bool flow, bool *out_quoted, char **out)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(reader->limit);
	int status;

	*out_quoted = peek(reader, 0) == '"' || peek(reader, 0) == '\'';
	status = *out_quoted ? read_quoted(reader, &text) : read_plain(reader, flow, &text);
	if (status != SB_OK)
		return status;
	sb_buf_puts(&text, ""); /* an empty word is one, too */
	*out = text.length ? sb_buf_take(&text) : strdup("");
	return *out ? SB_OK : sb_no_memory(reader->err);
}

static int read_word(struct reader *reader, bool flow, struct sb_yaml *out)
{
	int status = read_text_of_word(reader, flow, &out->quoted, &out->text);

	if (status != SB_OK)
		return status;
	out->kind = SB_YAML_WORD;
	if (!out->quoted && (strcmp(out->text, "~") == 0 || strcmp(out->text, "null") == 0 ||
			     strcmp(out->text, "Null") == 0 || strcmp(out->text, "NULL") == 0)) {
		free(out->text);
		out->text = NULL;
		out->kind = SB_YAML_NOTHING;
	}
	return SB_OK;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* One more item, or NULL: there are too many, or there is no memory for it. */
static struct sb_yaml *add_item(struct reader *reader, struct sb_yaml *parent)
{
	struct sb_yaml *item;

	if (++reader->nodes > SB_YAML_MAX_NODES) {
		FAIL_HERE(reader, "expected at most %d values in all", SB_YAML_MAX_NODES);
		return NULL;
	}
	if ((parent->count & (parent->count - 1)) == 0) {
		size_t room = parent->count ? 2 * parent->count : 1;
		struct sb_yaml *grown = realloc(parent->items, room * sizeof *grown);

		if (!grown) {
			sb_no_memory(reader->err);
			return NULL;
		}
		parent->items = grown;
	}
	item = &parent->items[parent->count++];
	*item = (struct sb_yaml){.line = reader->line, .column = column_of(reader)};
	return item;
}

static int enter(struct reader *reader)
{
	return ++reader->depth > SB_YAML_MAX_DEPTH
		       ? FAIL_HERE(reader, "expected at most %d levels", SB_YAML_MAX_DEPTH)
		       : SB_OK;
}

/* The key of a new item, and the colon behind it. */
static int read_key(struct reader *reader, bool flow, struct sb_yaml *map, struct sb_yaml **out)
{
	const struct sb_yaml *first;
	struct sb_yaml *item;
	bool quoted;
	char *key;
	unsigned line = reader->line, column = column_of(reader);
	int status = read_text_of_word(reader, flow, &quoted, &key);

	if (status != SB_OK)
		return status;
	first = sb_yaml_get(map, key);
	item = first ? NULL : add_item(reader, map);
	if (first)
		status = sb_yaml_fail(reader->err, reader->file, line, column,
				      "expected each key once; '%s' is in line %u already", key,
				      first->key_line);
	else if (!item)
		status = SB_E_INVALID;
	if (status != SB_OK) {
		free(key);
		return status;
	}
	item->key = key;
	item->key_line = line;
	item->key_column = column;
	skip_spaces(reader);
	if (peek(reader, 0) != ':' ||
	    !(is_blank(peek(reader, 1)) || (flow && (is_flow_mark(peek(reader, 1)) || quoted))))
		return FAIL_HERE(reader,
				 "expected ': ' behind the key '%s' (a value that goes on in "
				 "the next line needs quotes, | or >)",
				 key);
	reader->at++;
	skip_spaces(reader);
	item->line = reader->line;
	item->column = column_of(reader);
	*out = item;
	return SB_OK;
}

static int read_flow(struct reader *reader, struct sb_yaml *out);

static int read_flow_value(struct reader *reader, struct sb_yaml *out)
{
	char c = peek(reader, 0);

	if (c == '[' || c == '{')
		return read_flow(reader, out);
	if (out->key && (c == ',' || c == '}'))
		return SB_OK; /* "{a: , b: }" */
	return read_word(reader, true, out);
}

/* "[a, b]" or "{a: b}", on one line. */
static int read_flow(struct reader *reader, struct sb_yaml *out)
{
	const char close = *reader->at++ == '[' ? ']' : '}';
	int status = enter(reader);

	out->kind = close == ']' ? SB_YAML_LIST : SB_YAML_MAP;
	skip_spaces(reader);
	while (status == SB_OK && peek(reader, 0) != close) {
		struct sb_yaml *item = NULL;

		if (out->kind == SB_YAML_MAP)
			status = read_key(reader, true, out, &item);
		else if (!(item = add_item(reader, out)))
			status = SB_E_INVALID;
		if (status == SB_OK)
			status = read_flow_value(reader, item);
		if (status != SB_OK)
			return status;
		skip_spaces(reader);
		if (peek(reader, 0) == ',')
			reader->at++;
		else if (peek(reader, 0) != close)
			return FAIL_HERE(reader, "expected ',' or '%c' on this line", close);
		skip_spaces(reader);
	}
	if (status == SB_OK)
		reader->at++;
	reader->depth--;
	return status;
}

/* Of "|" and ">": the lines that are indented further than the key. */
static int read_block_text(struct reader *reader, unsigned least, struct sb_yaml *out)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(reader->limit + 1);
	const bool folded = *reader->at++ == '>';
	unsigned indent = 0;
	size_t empty = 0; /* lines, not written yet */
	bool keep = false, strip = false, first = true, ended = false;
	int status;

	if (peek(reader, 0) == '-' || peek(reader, 0) == '+') {
		strip = *reader->at == '-';
		keep = !strip;
		reader->at++;
	}
	status = end_line(reader);
	while (status == SB_OK && reader->at < reader->end) {
		const char *start = reader->at;
		unsigned width = 0;

		while (peek(reader, width) == ' ' && (first || width < indent))
			width++;
		if (is_end_of_line(peek(reader, width))) {
			next_line(reader);
			empty += reader->at[-1] == '\n';
			continue;
		}
		if (width < least || (!first && width < indent))
			break;
		if (peek(reader, width) == '\t' || (folded && peek(reader, width) == ' '))
			return FAIL_HERE(reader, "expected the same indentation in all lines, "
						 "without tabs");
		indent = first ? width : indent;
		if (!first && folded && !empty)
			sb_buf_putc(&text, ' ');
		else if (!first && !folded)
			sb_buf_putc(&text, '\n');
		for (; empty; empty--)
			sb_buf_putc(&text, '\n');
		next_line(reader);
		ended = reader->at[-1] == '\n';
		sb_buf_append(&text, start + width, (size_t)(reader->at - start) - width - ended);
		first = false;
	}
	if (!first && !strip && ended)
		sb_buf_putc(&text, '\n');
	for (; keep && empty; empty--)
		sb_buf_putc(&text, '\n');
	if (status != SB_OK)
		return status;
	out->kind = SB_YAML_WORD;
	out->quoted = true;
	out->text = text.length ? sb_buf_take(&text) : strdup("");
	return out->text ? SB_OK : sb_no_memory(reader->err);
}

static int read_block(struct reader *reader, unsigned least, struct sb_yaml *out);
static int read_map(struct reader *reader, unsigned indent, struct sb_yaml *out);
static int read_list(struct reader *reader, unsigned indent, struct sb_yaml *out);

static bool is_item(const struct reader *reader)
{
	return peek(reader, 0) == '-' && is_blank(peek(reader, 1));
}

/* "---" and "...", where a document begins and ends */
static bool is_marker(const struct reader *reader, const char *marker)
{
	return reader->at == reader->line_start && (size_t)(reader->end - reader->at) >= 3 &&
	       memcmp(reader->at, marker, 3) == 0 && is_blank(peek(reader, 3));
}

static bool is_any_marker(const struct reader *reader)
{
	return is_marker(reader, "---") || is_marker(reader, "...");
}

/* Does "key:" stand here? */
static bool is_key(const struct reader *reader)
{
	struct reader ahead = *reader;
	SB_AUTO_BUF struct sb_buf ignored = SB_BUF(reader->limit);
	struct sb_error err;
	char c = peek(reader, 0);

	ahead.err = &err;
	if (c == '[' || c == '{' || c == '|' || c == '>')
		return false;
	if ((c == '"' || c == '\'' ? read_quoted(&ahead, &ignored)
				   : read_plain(&ahead, false, &ignored)) != SB_OK)
		return false;
	skip_spaces(&ahead);
	return peek(&ahead, 0) == ':' && is_blank(peek(&ahead, 1));
}

/* What stands behind "key:" or "- ", whose own indentation is given; all of its lines. */
static int read_value(struct reader *reader, unsigned indent, bool of_item, struct sb_yaml *out)
{
	char c = peek(reader, 0);
	unsigned next;
	int status;

	if (c == '#' || is_end_of_line(c)) {
		next_line(reader);
		if (!find_content(reader))
			return SB_OK;
		next = indent_of(reader);
		/* a list may stand right beneath its key */
		if (next > indent || (!of_item && next == indent && is_item(reader)))
			return read_block(reader, next, out);
		return SB_OK;
	}
	if (of_item && (is_item(reader) || is_key(reader)))
		return read_block(reader, column_of(reader) - 1, out);
	if (c == '|' || c == '>')
		return read_block_text(reader, indent + 1, out);
	status = c == '[' || c == '{' ? read_flow(reader, out) : read_word(reader, false, out);
	if (status == SB_OK && peek(reader, 0) == ':')
		return FAIL_HERE(reader,
				 "expected one value on this line; quote it if ': ' is part of it");
	return status == SB_OK ? end_line(reader) : status;
}

static int read_list(struct reader *reader, unsigned indent, struct sb_yaml *out)
{
	unsigned next = indent;
	int status = SB_OK;

	out->kind = SB_YAML_LIST;
	do {
		struct sb_yaml *item;

		reader->at++; /* the dash */
		skip_indent(reader);
		item = add_item(reader, out);
		if (!item)
			return SB_E_INVALID;
		status = read_value(reader, indent, true, item);
		if (status != SB_OK || !find_content(reader))
			return status;
		next = indent_of(reader);
	} while (next == indent && is_item(reader) && !is_any_marker(reader));
	return status;
}

static int read_map(struct reader *reader, unsigned indent, struct sb_yaml *out)
{
	unsigned next = indent;
	int status = SB_OK;

	out->kind = SB_YAML_MAP;
	do {
		struct sb_yaml *item;

		status = read_key(reader, false, out, &item);
		if (status == SB_OK)
			status = read_value(reader, indent, false, item);
		if (status != SB_OK || !find_content(reader))
			return status;
		next = indent_of(reader);
	} while (next == indent && !is_item(reader) && !is_any_marker(reader));
	return status;
}

/* A map, a list or a word whose first line stands at this indentation. */
static int read_block(struct reader *reader, unsigned indent, struct sb_yaml *out)
{
	int status = enter(reader);
	unsigned next;

	out->line = reader->line;
	out->column = column_of(reader);
	if (status != SB_OK)
		return status;
	if (is_item(reader))
		status = read_list(reader, indent, out);
	else if (is_key(reader))
		status = read_map(reader, indent, out);
	else
		status = read_value(reader, indent, true, out);
	reader->depth--;
	if (status != SB_OK || !find_content(reader))
		return status;
	next = indent_of(reader);
	if (next > indent)
		return FAIL_HERE(reader, "expected an indentation of %u spaces or less, found %u",
				 indent, next);
	return status;
}

/* Bytes that make readers disagree about where a line ends, or what is there. */
static int check_bytes(struct reader *reader)
{
	struct reader at = *reader;

	for (; at.at < at.end; at.at++) {
		unsigned char c = (unsigned char)*at.at;
		bool strange = (c < ' ' && c != '\n' && c != '\t') || c == 0x7f ||
			       (c == 0xc2 && (unsigned char)peek(&at, 1) == 0x85) ||
			       (c == 0xe2 && (unsigned char)peek(&at, 1) == 0x80 &&
				((unsigned char)peek(&at, 2) & 0xfe) == 0xa8) ||
			       (c == 0xef && (unsigned char)peek(&at, 1) == 0xbb);

		if (strange)
			return FAIL_HERE(&at, "expected plain text, found the byte 0x%02x%s", c,
					 c == '\r' ? " (lines end in CR LF?)" : "");
		if (c == '\n') {
			at.line++;
			at.line_start = at.at + 1;
		}
	}
	return SB_OK;
}

static int read_document(struct reader *reader, struct sb_yaml *out)
{
	int status = check_bytes(reader);

	if (status != SB_OK || !find_content(reader))
		return status;
	if (is_marker(reader, "---")) {
		reader->at += 3;
		status = end_line(reader);
		if (status != SB_OK || !find_content(reader))
			return status;
	}
	if (is_any_marker(reader) || !(is_key(reader) || is_item(reader) || peek(reader, 0) == '{'))
		return FAIL_HERE(reader, "expected a key");
	status = read_block(reader, indent_of(reader), out);
	if (status != SB_OK || !find_content(reader))
		return status;
	if (is_marker(reader, "...")) {
		reader->at += 3;
		status = end_line(reader);
		if (status != SB_OK || !find_content(reader))
			return status;
	}
	return is_marker(reader, "---")
		       ? FAIL_HERE(reader, "expected one document; a second begins here")
		       : FAIL_HERE(reader, "expected the end of the file");
}

int sb_yaml_parse(const char *file, unsigned first_line, const char *text, size_t length,
		  struct sb_yaml *out, struct sb_error *err)
{
	struct sb_error own;
	struct reader reader = {
		.file = file,
		.at = text,
		.end = text + length,
		.line_start = text,
		.line = first_line,
		.limit = length + 1,
		.err = err ? err : &own,
	};
	int status;

	*out = (struct sb_yaml){.line = first_line, .column = 1};
	status = read_document(&reader, out);
	if (status == SB_OK)
		return SB_OK;
	sb_yaml_done(out);
	return reader.err->code; /* the first that went wrong */
}
