/*
 * Words become fields: braces, "~", variables, splitting, patterns; what runs inside runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell/shell.h"

/* A field under way.  Text is kept as a pattern, with a backslash before what is none. */
struct builder {
	struct sb_shell *shell;
	const struct sb_word *word;
	struct sb_field *first, **tail;
	char *text;
	size_t length, capacity;
	bool one;      /* no splitting */
	bool patterns; /* wildcards count */
	bool any;      /* there is a field, even if it is empty */
	bool wild, bracket, not_known, leads, many;
};

static void put(struct builder *b, char c)
{
	if (b->length + 1 >= b->capacity) {
		size_t capacity = b->capacity ? b->capacity * 2 : 64;
		char *text = sb_arena_alloc(b->shell->arena, capacity);

		if (!text) {
			b->not_known = true;
			return;
		}
		memcpy(text, b->text ? b->text : "", b->length);
		b->text = text;
		b->capacity = capacity;
	}
	b->text[b->length++] = c;
}

static void put_char(struct builder *b, char c, bool quoted)
{
	bool special = c == '*' || c == '?' || c == '[' || c == '\\';

	if (special && (quoted || !b->patterns || c == '\\')) {
		put(b, '\\');
	} else if (!quoted && b->patterns) {
		b->wild |= c == '*' || c == '?' || (c == ']' && b->bracket);
		b->bracket |= c == '[';
	}
	put(b, c);
	b->any = true;
}

static void put_text(struct builder *b, const char *text, size_t length, bool quoted)
{
	b->any |= quoted;
	for (size_t i = 0; i < length; i++)
		put_char(b, text[i], quoted);
}

static void put_unknown(struct builder *b, bool many)
{
	b->leads |= !b->length;
	b->not_known = b->any = true;
	b->many |= many && !b->one;
}

static void unescape(char *text)
{
	char *out = text;

	for (const char *at = text; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		*out++ = *at;
	}
	*out = '\0';
}

static void finish_field(struct builder *b)
{
	struct sb_field *field;

	if (b->any) {
		put(b, '\0');
		field = sb_arena_alloc(b->shell->arena, sizeof *field);
		if (field) {
			field->known = b->not_known ? SB_NOT_KNOWN
				       : b->wild    ? SB_PATTERN_KNOWN
						    : SB_KNOWN;
			if (b->not_known)
				field->text = b->word ? sb_arena_copy(b->shell->arena,
								      b->word->text,
								      b->word->length)
						      : "?";
			else if (b->text)
				field->text = b->text;
			if (field->known == SB_KNOWN && b->text)
				unescape(b->text);
			field->leads = b->leads;
			field->many = b->many;
			field->word = b->word;
		}
		if (field && field->text) {
			*b->tail = field;
			b->tail = &field->next;
		}
	}
	b->text = NULL;
	b->length = b->capacity = 0;
	b->any = b->wild = b->bracket = b->not_known = b->leads = b->many = false;
}

/* --- values -------------------------------------------------------------------------------------- */

/* A value's bytes, split where nothing quotes them. */
static void put_split(struct builder *b, const char *text)
{
	if (b->shell->state.separators) { /* somebody set IFS */
		put_unknown(b, true);
		return;
	}
	for (const char *at = text; *at; at++) {
		if (!strchr(" \t\n", *at)) {
			put_char(b, *at, false);
		} else if (b->any) {
			finish_field(b);
		}
	}
}

static void put_value(struct builder *b, enum sb_knowledge known, const char *text, bool quoted)
{
	if (known == SB_NOT_KNOWN) {
		put_unknown(b, !quoted);
	} else if (known == SB_PATTERN_KNOWN) {
		for (const char *at = text; *at; at++)
			put(b, *at);
		b->wild = b->any = true;
	} else if (quoted || (b->one && !b->patterns)) {
		put_text(b, text, strlen(text), true);
	} else if (b->one && strchr(text, '\\')) {
		put_unknown(b, false); /* of a pattern it quotes what is behind it */
	} else if (b->one) {
		put_text(b, text, strlen(text), false);
	} else {
		put_split(b, text);
	}
}

/* "$@" and its kin; what stands around it in the word joins the first and the last. */
static void put_arguments(struct builder *b, bool quoted)
{
	const struct sb_shell_state *state = &b->shell->state;

	if (!state->arguments_known || b->one) {
		put_unknown(b, true);
		return;
	}
	for (const struct sb_field *at = state->arguments; at; at = at->next) {
		if (at->many)
			put_unknown(b, true);
		put_value(b, at->known, at->text, quoted);
		if (at->next)
			finish_field(b);
	}
}

static struct sb_field *argument_of(struct builder *b, const struct sb_part *part)
{
	const struct sb_word word = {
		.parts = part->parts, .text = part->text, .length = part->length};

	return sb_word_expand(b->shell, &word, true);
}

static void put_field(struct builder *b, const struct sb_field *field, bool quoted)
{
	if (field)
		put_value(b, field->known, field->text, quoted);
}

/* Is it what match.c has no idea of: @(...), [[:space:]], letters of several bytes? */
static bool is_beyond_match(const struct sb_part *parts, const struct sb_field *pattern,
			    const char *text)
{
	for (; parts; parts = parts->next)
		if (parts->kind == SB_PART_PATTERN)
			return true;
	for (; *text; text++)
		if ((unsigned char)*text >= 128 && pattern->known == SB_PATTERN_KNOWN)
			return true;
	return strstr(pattern->text, "[:") || strstr(pattern->text, "[.") ||
	       strstr(pattern->text, "[=") || strstr(pattern->text, "@(") ||
	       strstr(pattern->text, "!(") || strstr(pattern->text, "+(") ||
	       strstr(pattern->text, "?(") || strstr(pattern->text, "*(");
}

/* ${x%pattern} */
static void put_cut(struct builder *b, const struct sb_part *part, enum sb_knowledge known,
		    const char *text)
{
	const struct sb_field *pattern = argument_of(b, part);
	bool at_end = part->op == SB_VALUE_CUT_END;
	const char *cut = text;

	if (!pattern) /* nothing is cut */
		pattern = &(const struct sb_field){.text = ""};
	if (known == SB_NOT_KNOWN || pattern->known == SB_NOT_KNOWN ||
	    is_beyond_match(part->parts, pattern, text) ||
	    (known == SB_PATTERN_KNOWN &&
	     (pattern->known != SB_KNOWN || strpbrk(pattern->text, "*?[\\"))))
		cut = NULL;
	else
		cut = sb_cut(b->shell->arena, text, pattern, at_end, part->doubled);
	/* of a pattern only what surely stands there was cut, or could be cut */
	if (cut && known == SB_PATTERN_KNOWN && strcmp(cut, text) == 0)
		cut = NULL;
	put_value(b, cut ? known : SB_NOT_KNOWN, cut, part->quoted);
}

static void put_parameter(struct builder *b, const struct sb_part *part)
{
	const char *text;
	enum sb_knowledge known = sb_variable_get(b->shell, part->text, part->length, &text);
	bool empty = known == SB_UNSET || (part->doubled && known == SB_KNOWN && !*text);

	if (part->length == 1 && strchr("@*", *part->text) && part->op == SB_VALUE_PLAIN) {
		put_arguments(b, part->quoted);
		return;
	}
	switch ((enum sb_value_op)part->op) {
	case SB_VALUE_PLAIN:
		put_value(b, known, text, part->quoted);
		break;
	case SB_VALUE_ASSIGN:
	case SB_VALUE_DEFAULT:
		if (known == SB_NOT_KNOWN) {
			argument_of(b, part);
			if (part->op == SB_VALUE_ASSIGN)
				sb_variable_set(b->shell, part->text, part->length, known, "");
			put_value(b, known, text, part->quoted);
		} else if (empty) {
			const struct sb_field *argument = argument_of(b, part);

			if (part->op == SB_VALUE_ASSIGN && argument)
				sb_variable_set(b->shell, part->text, part->length, argument->known,
						argument->text);
			put_field(b, argument, part->quoted);
		} else {
			put_value(b, known, text, part->quoted);
		}
		break;
	case SB_VALUE_ALTERNATIVE:
		if (known == SB_NOT_KNOWN) {
			argument_of(b, part);
			put_value(b, known, text, part->quoted);
		} else if (!empty) {
			put_field(b, argument_of(b, part), part->quoted);
		}
		break;
	case SB_VALUE_CUT_START:
	case SB_VALUE_CUT_END:
		put_cut(b, part, known, text);
		break;
	case SB_VALUE_REQUIRE: /* where it is empty, the shell ends */
		argument_of(b, part);
		if (empty || known == SB_NOT_KNOWN)
			b->shell->state.maybe = true;
		put_value(b, empty ? SB_NOT_KNOWN : known, text, part->quoted);
		break;
	case SB_VALUE_OTHER:
		sb_word_inside(b->shell, part->parts);
		put_unknown(b, true);
		break;
	}
}

/* $(pwd) is the one that is known. */
static bool is_pwd(const struct sb_node *list)
{
	return list && !list->next && list->kind == SB_NODE_SIMPLE && list->words &&
	       !list->words->next && !list->redirects && !list->assignments &&
	       list->words->length == 3 && memcmp(list->words->text, "pwd", 3) == 0;
}

static void run_inside(struct sb_shell *shell, const struct sb_node *commands, bool waits)
{
	struct sb_shell_state before = shell->state;
	const char *name = shell->name;

	shell->state.maybe |= !waits;
	shell->state.traps = NULL;
	shell->run(shell, commands);
	sb_traps_end(shell);
	shell->state = before;
	shell->name = name;
}

static void put_commands(struct builder *b, const struct sb_part *part)
{
	const struct sb_shell_state *state = &b->shell->state;
	const char *directory = state->stayed || state->strays ? NULL : state->directory;

	run_inside(b->shell, part->commands, true);
	if (is_pwd(part->commands) && directory && !sb_function_get(b->shell, "pwd"))
		put_value(b, SB_KNOWN, directory, part->quoted);
	else
		put_unknown(b, !part->quoted);
}

/* --- parts ---------------------------------------------------------------------------------------- */

static void put_part(struct builder *b, const struct sb_part *part)
{
	switch ((enum sb_part_kind)part->kind) {
	case SB_PART_TEXT:
	case SB_PART_QUOTED:
		put_text(b, part->text, part->length, part->kind == SB_PART_QUOTED);
		break;
	case SB_PART_PARAMETER:
		put_parameter(b, part);
		break;
	case SB_PART_COMMANDS:
		put_commands(b, part);
		break;
	case SB_PART_ARITHMETIC:
		sb_expression(b->shell, &(const struct sb_word){.parts = part->parts});
		put_unknown(b, false);
		break;
	case SB_PART_PROCESS:
		run_inside(b->shell, part->commands, false);
		put_text(b, "/dev/fd/63", 10, true);
		break;
	case SB_PART_PATTERN:
		sb_word_inside(b->shell, part->parts);
		put(b, '*'); /* wider than what it is */
		b->wild = b->any = true;
		break;
	}
}

/* "~" and "~/" at the start of a text; how many bytes it was. */
static size_t put_tilde(struct builder *b, const struct sb_part *part)
{
	size_t length = 1;
	const char *home;
	enum sb_knowledge known;

	if (part->kind != SB_PART_TEXT || !part->length || part->text[0] != '~')
		return 0;
	while (length < part->length && !strchr("/:", part->text[length]))
		length++;
	if (length > 1 ||
	    (length == part->length && part->next && part->next->kind != SB_PART_TEXT)) {
		put_unknown(b, false); /* another user's, or a name that goes on */
		b->leads = false;      /* and no option */
		return length;
	}
	known = sb_variable_get(b->shell, "HOME", 4, &home);
	put_value(b, known, home, true);
	return length;
}

void sb_word_inside(struct sb_shell *shell, const struct sb_part *parts)
{
	struct builder b = {.shell = shell, .one = true};

	b.tail = &b.first;
	for (const struct sb_part *part = parts; part; part = part->next)
		if (part->kind != SB_PART_TEXT && part->kind != SB_PART_QUOTED)
			put_part(&b, part);
}

/* Every name in an expression with "=", "+" or "-" may be set by it. */
void sb_expression(struct sb_shell *shell, const struct sb_word *word)
{
	bool sets = false;

	sb_word_inside(shell, word->parts);
	for (const struct sb_part *part = word->parts; part; part = part->next)
		sets |= part->kind > SB_PART_QUOTED || memchr(part->text, '=', part->length) ||
			memchr(part->text, '+', part->length) ||
			memchr(part->text, '-', part->length);
	for (const struct sb_part *part = word->parts; part && sets; part = part->next) {
		for (size_t i = 0; part->kind <= SB_PART_QUOTED && i < part->length; i++) {
			size_t length = 0;

			while (i + length < part->length &&
			       (strchr("_", part->text[i + length]) ||
				(part->text[i + length] | 0x20) >= 'a' ||
				(length && part->text[i + length] >= '0' &&
				 part->text[i + length] <= '9')))
				length++;
			if (length)
				sb_variable_set(shell, part->text + i, length, SB_NOT_KNOWN, "");
			i += length;
		}
	}
}

/* --- braces --------------------------------------------------------------------------------------- */

/*
 * A word with braces is written down as bytes: QUOTE before one that means itself, PART and a number for an
 * expansion.  Braces are taken apart in that.
 */
#define QUOTE '\1'
#define PART '\2'
#define BRACES_MOST 256 /* words; more are not known */

struct braces {
	struct builder *b;
	const struct sb_part **parts;
	size_t count;   /* of words so far */
	unsigned depth; /* of braces that are being taken apart */
	bool too_many;
};

static bool has_braces(const struct sb_word *word)
{
	if (word->length > 4096 || !memchr(word->text, '{', word->length))
		return false;
	for (const struct sb_part *part = word->parts; part; part = part->next)
		if (part->kind == SB_PART_TEXT && memchr(part->text, '{', part->length))
			return true;
	return false;
}

/* How long the thing at text is: one byte, or one that is marked. */
static size_t unit(const char *text)
{
	return *text == QUOTE ? 2 : *text == PART ? 3 : 1;
}

static void put_encoded(struct braces *all, const char *text)
{
	struct builder *b = all->b;
	bool first = true;

	for (; *text; text += unit(text), first = false) {
		if (*text == QUOTE) {
			put_char(b, text[1], true);
		} else if (*text == PART) {
			put_part(b, all->parts[(unsigned char)text[1] - 1 +
					       ((unsigned char)text[2] - 1) * 255]);
		} else if (first && *text == '~') {
			const struct sb_part tilde = {.text = text,
						      .length = (uint32_t)strcspn(text, "/\1\2")};

			text += put_tilde(b, &tilde) - 1;
		} else {
			put_char(b, *text, false);
		}
	}
	if (!b->one)
		finish_field(b);
}

/* The "}" for the "{" at open, with its first comma; NULL: they are text. */
static const char *brace_end(const char *open, const char **out_comma, bool *out_range)
{
	size_t depth = 0;

	*out_comma = NULL;
	*out_range = false;
	for (const char *at = open; *at; at += unit(at)) {
		if (*at == '{') {
			depth++;
		} else if (*at == '}' && --depth == 0) {
			return *out_comma || *out_range ? at : NULL;
		} else if (*at == ',' && depth == 1 && !*out_comma) {
			*out_comma = at;
		} else if (*at == '.' && at[1] == '.' && depth == 1) {
			*out_range = true;
		}
	}
	return NULL;
}

static void expand_braces(struct braces *all, const char *text, size_t from);

static void expand_with(struct braces *all, const char *text, const char *open, const char *part,
			size_t length, const char *rest)
{
	size_t head = (size_t)(open - text), tail = strlen(rest);
	char *whole = sb_arena_alloc(all->b->shell->arena, head + length + tail + 1);

	if (!whole || all->count > BRACES_MOST) {
		all->too_many = true;
		return;
	}
	memcpy(whole, text, head);
	memcpy(whole + head, part, length);
	memcpy(whole + head + length, rest, tail);
	all->depth++;
	expand_braces(all, whole, head);
	all->depth--;
}

/* {1..9}, {a..e}; false: it is text. */
static bool expand_range(struct braces *all, const char *text, const char *open, const char *end)
{
	long first, last, by = 1;
	char *behind, part[32];
	bool letters = (open[1] | 0x20) >= 'a';

	if (letters) {
		if (end - open != 5)
			return false;
		first = (unsigned char)open[1];
		last = (unsigned char)open[4];
		behind = (char *)end;
	} else {
		first = strtol(open + 1, &behind, 10);
		if (behind == open + 1 || strncmp(behind, "..", 2) != 0)
			return false;
		last = strtol(behind + 2, &behind, 10);
		if (strncmp(behind, "..", 2) == 0)
			by = strtol(behind + 2, &behind, 10);
		/* what has leading zeros is written with them: rare, and then not known */
		if (behind == end && (open[1] == '0' || by < 1)) {
			all->too_many = true;
			return true;
		}
	}
	if (behind != end || labs(first) > 1000000 || labs(last) > 1000000)
		return false;
	for (long i = first; first <= last ? i <= last : i >= last; i += first <= last ? by : -by) {
		int length = letters ? snprintf(part, sizeof part, "%c", (int)i)
				     : snprintf(part, sizeof part, "%ld", i);

		expand_with(all, text, open, part, (size_t)length, end + 1);
		if (all->too_many)
			break;
	}
	return true;
}

static void expand_list(struct braces *all, const char *text, const char *open, const char *end)
{
	const char *start = open + 1;
	size_t level = 0;

	for (const char *at = start; at <= end && !all->too_many; at += unit(at)) {
		if (at == end || (*at == ',' && !level)) {
			expand_with(all, text, open, start, (size_t)(at - start), end + 1);
			start = at + 1;
		} else if (*at == '{') {
			level++;
		} else if (*at == '}') {
			level--;
		}
	}
}

/* From from on; before it no brace is left. */
static void expand_braces(struct braces *all, const char *text, size_t from)
{
	const char *comma, *end;
	bool range;

	if (all->depth > 32) {
		all->too_many = true;
		return;
	}
	for (const char *at = text + from; *at; at += unit(at)) {
		if (*at != '{' || (at > text && at[-1] == '$'))
			continue;
		end = brace_end(at, &comma, &range);
		if (!end)
			continue;
		if (comma) {
			expand_list(all, text, at, end);
			return;
		}
		if (expand_range(all, text, at, end))
			return;
	}
	if (++all->count <= BRACES_MOST)
		put_encoded(all, text);
	else
		all->too_many = true;
}

static void put_braces(struct builder *b, const struct sb_word *word)
{
	char *text = sb_arena_alloc(b->shell->arena, word->length * 4 + 4), *out = text;
	const struct sb_part **parts =
		sb_arena_alloc(b->shell->arena, (word->length + 1) * sizeof *parts);
	struct braces all = {.b = b, .parts = parts};
	size_t count = 0;

	if (!text || !parts) {
		put_unknown(b, true);
		return;
	}
	for (const struct sb_part *part = word->parts; part; part = part->next) {
		bool plain = part->kind == SB_PART_TEXT || part->kind == SB_PART_QUOTED;

		for (size_t i = 0; plain && i < part->length; i++) {
			if (part->kind == SB_PART_QUOTED || part->text[i] == QUOTE ||
			    part->text[i] == PART)
				*out++ = QUOTE;
			*out++ = part->text[i];
		}
		if (plain)
			continue;
		parts[count] = part;
		*out++ = PART;
		*out++ = (char)(count % 255 + 1);
		*out++ = (char)(count / 255 + 1);
		count++;
	}
	expand_braces(&all, text, 0);
	if (all.too_many)
		put_unknown(b, true);
}

/* --- words ---------------------------------------------------------------------------------------- */

static void expand_word(struct builder *b, const struct sb_word *word)
{
	const struct sb_part *part = word->parts;
	size_t cut;

	b->word = word;
	if (!b->one && has_braces(word)) {
		put_braces(b, word);
		finish_field(b);
		return;
	}
	cut = part ? put_tilde(b, part) : 0;
	if (cut) {
		put_text(b, part->text + cut, part->length - cut, false);
		part = part->next;
	}
	for (; part; part = part->next)
		put_part(b, part);
	finish_field(b);
}

struct sb_field *sb_words_expand(struct sb_shell *shell, const struct sb_word *words)
{
	struct builder b = {.shell = shell, .patterns = true};

	b.tail = &b.first;
	for (const struct sb_word *word = words; word; word = word->next)
		expand_word(&b, word);
	return b.first;
}

struct sb_field *sb_word_expand(struct sb_shell *shell, const struct sb_word *word, bool patterns)
{
	struct builder b = {.shell = shell, .one = true, .patterns = patterns, .any = true};

	b.tail = &b.first;
	expand_word(&b, word);
	return b.first;
}
