#include "guard/git_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/words.h"

struct reader {
	const char *at, *end;
	bool eof;
	struct sb_buf key, value;
	struct sb_git_config *out;
};

/* git's own character classes: ASCII, and no vertical tab or form feed among the spaces */
static bool is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_key_char(int c)
{
	return sb_is_letter((char)c) || sb_is_digit((char)c) || c == '-';
}

static char lower(int c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
}

/* The end reads as a newline, once and for ever; CR LF as LF. */
static int next(struct reader *reader)
{
	if (reader->at == reader->end) {
		reader->eof = true;
		return '\n';
	}
	if (*reader->at == '\r' && reader->at + 1 < reader->end && reader->at[1] == '\n')
		reader->at++;
	return (unsigned char)*reader->at++;
}

/* [section "subsection"], after the space that ended the section's name */
static bool read_subsection(struct reader *reader, int c)
{
	do {
		if (c == '\n')
			return false;
		c = next(reader);
	} while (is_space(c));
	if (c != '"')
		return false;
	sb_buf_putc(&reader->key, '.');
	for (;;) {
		c = next(reader);
		if (c == '\n')
			return false;
		if (c == '"')
			break;
		if (c == '\\') {
			c = next(reader);
			if (c == '\n')
				return false;
		}
		sb_buf_putc(&reader->key, (char)c);
	}
	return next(reader) == ']';
}

static bool read_section(struct reader *reader)
{
	for (;;) {
		int c = next(reader);

		if (reader->eof)
			return false;
		if (c == ']')
			return true;
		if (is_space(c))
			return read_subsection(reader, c);
		if (!is_key_char(c) && c != '.')
			return false;
		sb_buf_putc(&reader->key, lower(c));
	}
}

static bool read_escape(struct reader *reader)
{
	int c = next(reader);

	switch (c) {
	case '\n':
		return true; /* the line goes on */
	case 't':
		c = '\t';
		break;
	case 'b':
		c = '\b';
		break;
	case 'n':
		c = '\n';
		break;
	case '\\':
	case '"':
		break;
	default:
		return false;
	}
	sb_buf_putc(&reader->value, (char)c);
	return true;
}

static bool read_value(struct reader *reader)
{
	bool quoted = false, comment = false;
	size_t spaces = 0;

	for (;;) {
		int c = next(reader);

		if (c == '\n')
			return !quoted;
		if (comment)
			continue;
		if (is_space(c) && !quoted) {
			if (reader->value.length)
				spaces++;
			continue;
		}
		if (!quoted && (c == ';' || c == '#')) {
			comment = true;
			continue;
		}
		for (; spaces; spaces--)
			sb_buf_putc(&reader->value, ' ');
		if (c == '\\') {
			if (!read_escape(reader))
				return false;
		} else if (c == '"') {
			quoted = !quoted;
		} else {
			sb_buf_putc(&reader->value, (char)c);
		}
	}
}

static bool add_entry(struct reader *reader, bool has_value)
{
	struct sb_git_config *out = reader->out;
	struct sb_git_entry *entry;

	if (!SB_GROW(out->entries, out->count)) {
		out->no_memory = true;
		return false;
	}
	entry = &out->entries[out->count];
	entry->key = strdup(reader->key.data);
	entry->value = has_value ? strdup(reader->value.data) : NULL;
	out->count++;
	if (!entry->key || (has_value && !entry->value) || sb_buf_failed(&reader->key) ||
	    sb_buf_failed(&reader->value)) {
		out->no_memory = true;
		return false;
	}
	return true;
}

static void set_length(struct sb_buf *buf, size_t length)
{
	if (buf->length > length) {
		buf->length = length;
		buf->data[length] = '\0';
	}
}

/* "name = value", after the first letter of name */
static bool read_variable(struct reader *reader)
{
	bool has_value;
	int c;

	for (;;) {
		c = next(reader);
		if (reader->eof || !is_key_char(c))
			break;
		sb_buf_putc(&reader->key, lower(c));
	}
	while (c == ' ' || c == '\t')
		c = next(reader);
	has_value = c != '\n';
	set_length(&reader->value, 0);
	if (has_value && (c != '=' || !read_value(reader)))
		return false;
	return add_entry(reader, has_value);
}

static bool read_all(struct reader *reader)
{
	size_t base = 0;
	bool comment = false;

	/* A byte order mark at the very start is skipped; a part of one is an error. */
	if (reader->at < reader->end && (unsigned char)*reader->at == 0xef) {
		if (reader->end - reader->at < 3 || memcmp(reader->at, "\xef\xbb\xbf", 3) != 0)
			return false;
		reader->at += 3;
	}
	for (;;) {
		int c = next(reader);

		if (c == '\n') {
			if (reader->eof)
				return true;
			comment = false;
		} else if (comment || is_space(c)) {
			continue;
		} else if (c == '#' || c == ';') {
			comment = true;
		} else if (c == '[') {
			set_length(&reader->key, 0);
			if (!read_section(reader) || !reader->key.length)
				return false;
			sb_buf_putc(&reader->key, '.');
			base = reader->key.length;
		} else if (sb_is_letter((char)c)) {
			set_length(&reader->key, base);
			sb_buf_putc(&reader->key, lower(c));
			if (!read_variable(reader))
				return false;
		} else {
			return false;
		}
	}
}

void sb_git_config_parse(const char *bytes, size_t length, struct sb_git_config *out)
{
	/* No text in the file is longer than the file. */
	struct reader reader = {.at = bytes,
				.end = bytes + length,
				.key = SB_BUF(length + 16),
				.value = SB_BUF(length + 16),
				.out = out};

	*out = (struct sb_git_config){0};
	out->failed = !read_all(&reader);
	sb_buf_done(&reader.key);
	sb_buf_done(&reader.value);
}

void sb_git_config_done(struct sb_git_config *config)
{
	for (size_t i = 0; i < config->count; i++) {
		free(config->entries[i].key);
		free(config->entries[i].value);
	}
	free(config->entries);
	*config = (struct sb_git_config){0};
}

const char *sb_git_entry_value(const struct sb_git_entry *entry)
{
	return entry->value ? entry->value : "";
}

const char *sb_git_entry_meaning(const struct sb_git_entry *entry)
{
	return entry->value ? entry->value : "true";
}

int sb_git_entry_order(const void *left, const void *right)
{
	const struct sb_git_entry *a = *(const struct sb_git_entry *const *)left;
	const struct sb_git_entry *b = *(const struct sb_git_entry *const *)right;
	int order = strcmp(a->key, b->key);

	return order ? order : (a > b) - (a < b);
}

const char *sb_git_config_get(const struct sb_git_config *config, const char *key)
{
	for (size_t i = config->count; i > 0; i--)
		if (strcmp(config->entries[i - 1].key, key) == 0)
			return config->entries[i - 1].value;
	return NULL;
}

bool sb_git_key_is(const char *key, const char *section, const char *names)
{
	size_t length = strlen(section);
	const char *last = strrchr(key, '.');

	return strncmp(key, section, length) == 0 && key[length] == '.' && last &&
	       sb_is_word(names, last + 1);
}
