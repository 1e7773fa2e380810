/*
 * What words are made of: quotes, expansions, substitutions.
 */
#include <string.h>

#include "base/escape.h"
#include "shell/reader.h"

struct chain {
	struct sb_part *first, **tail;
};

static struct sb_part *add(struct sb_reader *reader, struct chain *chain, enum sb_part_kind kind,
			   bool quoted)
{
	struct sb_part *part = sb_reader_alloc(reader, sizeof *part);

	if (!part)
		return NULL;
	part->kind = (unsigned char)kind;
	part->quoted = quoted;
	*chain->tail = part;
	chain->tail = &part->next;
	return part;
}

static void add_text(struct sb_reader *reader, struct chain *chain, const char *text, size_t length,
		     bool quoted)
{
	struct sb_part *part = add(reader, chain, quoted ? SB_PART_QUOTED : SB_PART_TEXT, quoted);

	if (!part)
		return;
	part->text = text;
	part->length = (uint32_t)length;
}

/* --- quotes --------------------------------------------------------------------------------- */

static void read_single(struct sb_reader *reader, struct chain *chain)
{
	const char *start = reader->at + 1;
	const char *end = memchr(start, '\'', (size_t)(reader->end - start));

	if (!end) {
		sb_reader_fail(reader, "a ' is not closed");
		return;
	}
	add_text(reader, chain, start, (size_t)(end - start), true);
	reader->at = end + 1;
}

static void read_double(struct sb_reader *reader, struct chain *chain)
{
	add_text(reader, chain, reader->at++, 0, true); /* "" is a word, too */
	if (reader->problem)
		return;
	*chain->tail = sb_parts_read(reader, SB_READING_DOUBLE, true);
	while (*chain->tail)
		chain->tail = &(*chain->tail)->next;
	if (reader->at < reader->end)
		reader->at++;
	else
		sb_reader_fail(reader, "a \" is not closed");
}

/* Up to most digits of a base at *at. */
static uint32_t number(const char **at, const char *end, unsigned base, int most)
{
	uint32_t value = 0;

	while (most-- && *at < end && (unsigned)sb_hex_digit(**at) < base)
		value = value * base + (unsigned)sb_hex_digit(*(*at)++);
	return value;
}

static size_t put_point(char *out, uint32_t point)
{
	return point < 0x110000 ? sb_utf8_put(out, point) : 0;
}

/* What stands behind a backslash in $'...'; no meaning is longer than how it is written. */
static char *put_escape(char *out, const char **at, const char *end)
{
	static const char names[] = "abeEfnrtv\\'\"?";
	static const char values[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
	char c = *(*at)++;
	const char *name = c ? strchr(names, c) : NULL;

	if (name)
		*out++ = values[name - names];
	else if (c >= '0' && c <= '7')
		--*at, *out++ = (char)number(at, end, 8, 3);
	else if (c == 'x' && *at < end && sb_hex_digit(**at) >= 0)
		*out++ = (char)number(at, end, 16, 2);
	else if ((c == 'u' || c == 'U') && *at < end && sb_hex_digit(**at) >= 0)
		out += put_point(out, number(at, end, 16, c == 'u' ? 4 : 8));
	else if (c == 'c' && *at < end)
		*out++ = (char)(*(*at)++ & 0x1f);
	else
		*out++ = '\\', *out++ = c;
	return out;
}

static void read_dollar_single(struct sb_reader *reader, struct chain *chain)
{
	const char *start = reader->at + 2, *end = start;
	char *text, *out;

	while (end < reader->end && *end != '\'')
		end += *end == '\\' ? 2 : 1;
	if (end >= reader->end) {
		sb_reader_fail(reader, "a $' is not closed");
		return;
	}
	text = out = sb_reader_alloc(reader, (size_t)(end - start) + 1);
	if (!text)
		return;
	for (const char *at = start; at < end;) {
		if (*at == '\\')
			at++, out = put_escape(out, &at, end);
		else
			*out++ = *at++;
	}
	add_text(reader, chain, text, strnlen(text, (size_t)(out - text)), true);
	reader->at = end + 1;
}

/* --- commands inside ----------------------------------------------------------------------- */

/* Commands up to ")", from behind the bracket; the documents of what is around wait meanwhile. */
static struct sb_node *read_commands(struct sb_reader *reader)
{
	struct sb_redirect *waiting = reader->waiting, **tail = reader->waiting_tail;
	struct sb_node *commands;

	reader->waiting = NULL;
	reader->waiting_tail = &reader->waiting;
	commands = reader->commands(reader);
	if (!sb_reader_sees(reader, ")"))
		sb_reader_fail(reader, "a ( is not closed");
	else
		reader->at++;
	if (waiting) { /* in their order */
		*tail = reader->waiting;
		if (!reader->waiting)
			reader->waiting_tail = tail;
		reader->waiting = waiting;
	}
	return commands;
}

/* In `...` a backslash before \ ` and $ goes away, and before " where quotes are around. */
static void read_backquotes(struct sb_reader *reader, struct chain *chain, bool quoted)
{
	const char *start = reader->at + 1, *at = start, *end = reader->end;
	struct sb_redirect *waiting = reader->waiting, **tail = reader->waiting_tail;
	struct sb_part *part = add(reader, chain, SB_PART_COMMANDS, quoted);
	char *text, *out;

	while (at < end && *at != '`')
		at += *at == '\\' ? 2 : 1;
	if (at >= end || !part) {
		sb_reader_fail(reader, "a ` is not closed");
		return;
	}
	text = out = sb_reader_alloc(reader, (size_t)(at - start) + 1);
	if (!text)
		return;
	for (const char *from = start; from < at; from++) {
		if (*from == '\\' && (strchr("\\`$", from[1]) || (quoted && from[1] == '"')))
			from++;
		*out++ = *from;
	}
	reader->at = text;
	reader->end = out;
	reader->waiting = NULL;
	reader->waiting_tail = &reader->waiting;
	part->commands = reader->commands(reader);
	if (reader->at < reader->end)
		sb_reader_fail(reader, "the commands in `` end too soon");
	reader->waiting = waiting;
	reader->waiting_tail = waiting ? tail : &reader->waiting;
	reader->at = at + 1;
	reader->end = end;
	if (reader->problem) {
		reader->problem_at = start;
		reader->end = reader->at;
	}
}

static void read_substitution(struct sb_reader *reader, struct chain *chain, bool quoted)
{
	const char *closing = NULL;

	if (sb_reader_sees(reader, "$(("))
		closing = sb_arithmetic_end(reader, reader->at + 3);
	if (closing) {
		struct sb_part *part = add(reader, chain, SB_PART_ARITHMETIC, quoted);

		if (part)
			part->parts = sb_parts_span(reader, reader->at + 3, closing);
		if (!reader->problem)
			reader->at = closing + 2;
	} else {
		struct sb_part *part = add(reader, chain, SB_PART_COMMANDS, quoted);

		reader->at += 2;
		if (part)
			part->commands = read_commands(reader);
	}
}

static void read_process(struct sb_reader *reader, struct chain *chain)
{
	struct sb_part *part = add(reader, chain, SB_PART_PROCESS, true);

	reader->at += 2;
	if (part)
		part->commands = read_commands(reader);
}

/* --- parameters ---------------------------------------------------------------------------- */

static bool is_special(char c)
{
	return c && strchr("@*#?-$!", c);
}

/* Name or number or sign at the reader. */
static size_t parameter_length(const struct sb_reader *reader)
{
	const char *at = reader->at;
	size_t length = sb_name_length(at, reader->end);

	if (length || at >= reader->end)
		return length;
	while (at + length < reader->end && at[length] >= '0' && at[length] <= '9')
		length++;
	return length ? length : is_special(*at);
}

static void read_operator(struct sb_reader *reader, struct sb_part *part)
{
	static const char signs[] = "-=?+#%";
	static const unsigned char ops[] = {SB_VALUE_DEFAULT,   SB_VALUE_ASSIGN,
					    SB_VALUE_REQUIRE,   SB_VALUE_ALTERNATIVE,
					    SB_VALUE_CUT_START, SB_VALUE_CUT_END};
	bool colon = sb_reader_sees(reader, ":");
	const char *at = reader->at + colon;
	const char *sign = at < reader->end && *at ? strchr(signs, *at) : NULL;

	if (sb_reader_sees(reader, "}"))
		return;
	if (!sign || (colon && sign >= signs + 4)) {
		part->op = SB_VALUE_OTHER;
		return;
	}
	part->doubled = colon;
	part->op = ops[sign - signs];
	reader->at = at + 1;
	if (sign >= signs + 4 && reader->at < reader->end && *reader->at == *sign) {
		part->doubled = true;
		reader->at++;
	}
}

static void read_braced(struct sb_reader *reader, struct chain *chain, bool quoted)
{
	struct sb_part *part = add(reader, chain, SB_PART_PARAMETER, quoted);
	struct sb_part **tail;
	bool other = false;
	enum sb_reading mode;

	if (!part)
		return;
	reader->at += 2;
	if ((sb_reader_sees(reader, "!") || sb_reader_sees(reader, "#")) &&
	    reader->at + 1 < reader->end &&
	    (sb_is_name(reader->at[1], false) || strchr("@*?", reader->at[1]))) {
		other = true;
		reader->at++;
	}
	part->text = reader->at;
	part->length = (uint32_t)parameter_length(reader);
	reader->at += part->length;
	tail = &part->parts;
	if (sb_reader_sees(reader, "[")) {
		other = true;
		reader->at++;
		*tail = sb_parts_read(reader, SB_READING_SUBSCRIPT, true);
		while (*tail)
			tail = &(*tail)->next;
		if (sb_reader_sees(reader, "]"))
			reader->at++;
	}
	read_operator(reader, part);
	mode = quoted && part->op >= SB_VALUE_DEFAULT && part->op <= SB_VALUE_ALTERNATIVE
		       ? SB_READING_BRACE_DOUBLE
		       : SB_READING_BRACE;
	if (other || !part->length)
		part->op = SB_VALUE_OTHER;
	/* quotes around all of it do not make a pattern text */
	*tail = sb_parts_read(reader, mode, mode == SB_READING_BRACE_DOUBLE);
	if (sb_reader_sees(reader, "}"))
		reader->at++;
	else
		sb_reader_fail(reader, "a ${ is not closed");
}

static void read_old_arithmetic(struct sb_reader *reader, struct chain *chain, bool quoted)
{
	struct sb_part *part = add(reader, chain, SB_PART_ARITHMETIC, quoted);

	reader->at += 2;
	if (part)
		part->parts = sb_parts_read(reader, SB_READING_SUBSCRIPT, true);
	if (sb_reader_sees(reader, "]"))
		reader->at++;
	else
		sb_reader_fail(reader, "a $[ is not closed");
}

static void read_dollar(struct sb_reader *reader, struct chain *chain, enum sb_reading mode,
			bool quoted)
{
	bool quotes = mode != SB_READING_DOUBLE && mode != SB_READING_SPAN &&
		      mode != SB_READING_BRACE_DOUBLE;
	char next = reader->at + 1 < reader->end ? reader->at[1] : '\0';
	struct sb_part *part;
	size_t length;

	if (next == '(') {
		read_substitution(reader, chain, quoted);
	} else if (next == '{') {
		read_braced(reader, chain, quoted);
	} else if (next == '[') {
		read_old_arithmetic(reader, chain, quoted);
	} else if (next == '\'' && quotes) {
		read_dollar_single(reader, chain);
	} else if (next == '"' && quotes) {
		reader->at++;
		read_double(reader, chain);
	} else {
		reader->at++;
		length = parameter_length(reader);
		if (length > 1 && !sb_is_name(*reader->at, true))
			length = 1; /* $10 is $1 and 0 */
		part = length ? add(reader, chain, SB_PART_PARAMETER, quoted) : NULL;
		if (part) {
			part->text = reader->at;
			part->length = (uint32_t)length;
			reader->at += length;
		} else {
			add_text(reader, chain, reader->at - 1, 1, true);
		}
	}
}

/* --- all of it ------------------------------------------------------------------------------ */

static bool ends(enum sb_reading mode, char c)
{
	switch (mode) {
	case SB_READING_WORD:
		return sb_is_meta(c);
	case SB_READING_DOUBLE:
		return c == '"';
	case SB_READING_BRACE:
	case SB_READING_BRACE_DOUBLE:
		return c == '}';
	case SB_READING_REGEX:
		return sb_is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '<' ||
		       c == '>' || c == ')';
	case SB_READING_SUBSCRIPT:
		return c == ']';
	case SB_READING_PATTERN:
		return c == ')';
	case SB_READING_SPAN:
		break;
	}
	return false;
}

/* Does a backslash quote only what would mean something else? */
static bool keeps_backslash(enum sb_reading mode, char next)
{
	if (mode == SB_READING_BRACE_DOUBLE)
		return !strchr("$`\"\\\n}", next);
	if (mode == SB_READING_DOUBLE)
		return !strchr("$`\"\\\n", next);
	return mode == SB_READING_SPAN && !strchr("$`\\\n", next);
}

static void read_backslash(struct sb_reader *reader, struct chain *chain, enum sb_reading mode)
{
	char next;

	if (reader->at + 1 >= reader->end) {
		add_text(reader, chain, reader->at++, 1, true);
		return;
	}
	next = reader->at[1];
	if (!next || keeps_backslash(mode, next))
		add_text(reader, chain, reader->at, 2, true);
	else if (next != '\n')
		add_text(reader, chain, reader->at + 1, 1, true);
	reader->at += 2;
}

/* @(...) from its sign on, and a bracket alone where brackets mean themselves. */
static void read_pattern(struct sb_reader *reader, struct chain *chain, size_t sign,
			 enum sb_reading inside)
{
	struct sb_part *part = add(reader, chain, SB_PART_PATTERN, false);

	if (!part)
		return;
	part->text = reader->at;
	part->length = (uint32_t)sign;
	reader->at += sign + 1;
	part->parts = sb_parts_read(reader, inside, false);
	if (reader->at < reader->end)
		reader->at++;
	else
		sb_reader_fail(reader, "a ( in a pattern is not closed");
}

static bool opens_pattern(const struct sb_reader *reader, enum sb_reading mode)
{
	return (mode == SB_READING_WORD || mode == SB_READING_PATTERN ||
		mode == SB_READING_BRACE) &&
	       reader->at + 1 < reader->end && reader->at[1] == '(' && strchr("?*+@!", *reader->at);
}

/* One thing that is no plain text; false: it ends here, or is text. */
static bool read_special(struct sb_reader *reader, struct chain *chain, enum sb_reading mode,
			 bool quoted)
{
	char c = *reader->at, next = reader->at + 1 < reader->end ? reader->at[1] : '\0';

	if (c == '$')
		read_dollar(reader, chain, mode, quoted);
	else if (c == '`')
		read_backquotes(reader, chain, quoted);
	else if (c == '\\')
		read_backslash(reader, chain, mode);
	else if (c == '\'' && mode != SB_READING_DOUBLE && mode != SB_READING_SPAN &&
		 mode != SB_READING_BRACE_DOUBLE)
		read_single(reader, chain);
	else if (c == '"' && mode != SB_READING_DOUBLE && mode != SB_READING_SPAN)
		read_double(reader, chain);
	else if ((c == '<' || c == '>') && next == '(' && mode == SB_READING_WORD)
		read_process(reader, chain);
	else if (opens_pattern(reader, mode))
		read_pattern(reader, chain, 1, SB_READING_PATTERN);
	else if (c == '(' && (mode == SB_READING_REGEX || mode == SB_READING_PATTERN))
		read_pattern(reader, chain, 0, SB_READING_PATTERN);
	else if (c == '[' && mode == SB_READING_SUBSCRIPT)
		read_pattern(reader, chain, 0, SB_READING_SUBSCRIPT);
	else
		return false;
	return true;
}

/* Text in any mode, where it does not end it. */
static bool is_plain(char c)
{
	static const bool special[256] = {
		['$'] = true, ['`'] = true, ['\\'] = true, ['\''] = true, ['"'] = true,
		['<'] = true, ['>'] = true, ['('] = true,  [')'] = true,  ['?'] = true,
		['*'] = true, ['+'] = true, ['@'] = true,  ['!'] = true,  ['['] = true,
	};

	return !special[(unsigned char)c];
}

struct sb_part *sb_parts_read(struct sb_reader *reader, enum sb_reading mode, bool quoted)
{
	struct chain chain = {.tail = &chain.first};

	if (!sb_reader_enter(reader))
		return NULL;
	while (reader->at < reader->end) {
		const char *start = reader->at;

		/* "<(" is a word: looked at before what ends one */
		if (!is_plain(*start) && read_special(reader, &chain, mode, quoted))
			continue;
		if (ends(mode, *start))
			break;
		do
			reader->at++;
		while (reader->at < reader->end && is_plain(*reader->at) &&
		       !ends(mode, *reader->at));
		add_text(reader, &chain, start, (size_t)(reader->at - start), quoted);
	}
	reader->depth--;
	return chain.first;
}

struct sb_part *sb_parts_span(struct sb_reader *reader, const char *start, const char *end)
{
	const char *at = reader->at, *whole = reader->end;
	struct sb_part *parts;

	reader->at = start;
	reader->end = end;
	parts = sb_parts_read(reader, SB_READING_SPAN, true);
	reader->at = at;
	reader->end = reader->problem ? at : whole;
	return parts;
}

struct sb_word *sb_word_read(struct sb_reader *reader, enum sb_reading mode)
{
	struct sb_word *word = sb_reader_alloc(reader, sizeof *word);
	const char *start = reader->at;

	if (!word)
		return NULL;
	word->parts = sb_parts_read(reader, mode, false);
	word->text = start;
	word->length = (size_t)(reader->at - start);
	if (!reader->problem && reader->at == start)
		sb_reader_fail(reader, "a word is missing");
	return reader->problem ? NULL : word;
}
