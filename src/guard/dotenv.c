/*
 * .env: which lines are the same to everybody who reads it.
 *
 * SECURITY: a new line lands unasked only if it is blank, a comment, or one assignment of plain
 * characters, and holds none of $ ` \ anywhere: so nothing in it can be expanded, whatever a reader
 * takes for quotes or comments.
 *
 * Danger: there are dozens of readers, and what one takes for text another one runs.
 * Price: ${NAME}, escapes and several words without quotes ask, harmless as most of them are.
 * Held by: tests/cli/dotenv_readers.py
 */
#include <stdbool.h>
#include <string.h>

#include "base/escape.h"
#include "guard/dotenv.h"
#include "guard/dotenv_names.h"

#define NOTE '\n' /* for a quote: a comment, which ends with the line */
#define MAX_NAME 64

struct text {
	const char *at, *end;
};

static bool is_one_of(const char *set, struct text text)
{
	return text.at < text.end && *text.at && strchr(set, *text.at);
}

static bool skip(struct text *text, const char *set)
{
	const char *begin = text->at;

	while (is_one_of(set, *text))
		text->at++;
	return text->at > begin;
}

static bool is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static size_t name_length(struct text text)
{
	const char *begin = text.at;

	if (text.at < text.end && *text.at >= '0' && *text.at <= '9')
		return 0;
	while (text.at < text.end && is_name_character(*text.at))
		text.at++;
	return (size_t)(text.at - begin);
}

/* How long is the character that stands for itself, whoever reads it?  0: it does not. */
static size_t plain_length(struct text text, char quote)
{
	if (is_name_character(*text.at) || is_one_of("./:@%+,=-?*", text))
		return 1;
	if (!quote || *text.at == quote || is_one_of("$`\\", text))
		return 0;
	return sb_utf8_plain(text.at, (size_t)(text.end - text.at));
}

/* "[optional]," matches one letter, and no "=" behind it; a bracket that is open matches itself. */
static bool bracket_is_plain(struct text word)
{
	struct text rest = {memchr(word.at, ']', (size_t)(word.end - word.at)), word.end};

	if (!rest.at)
		return true;
	rest.at++;
	return !memchr(word.at + 1, '[', (size_t)(word.end - word.at - 1)) &&
	       (rest.at == rest.end || is_one_of(",.:;)/}", rest)) &&
	       !memchr(rest.at, ']', (size_t)(rest.end - rest.at));
}

/*
 * SECURITY: "export $(cat .env | xargs)" takes every word of a comment and of a quoted value for a
 * name or an assignment, without quotes, and for a pattern of file names: of "PATH=bin", say.
 * Held by: tests/cli/dotenv_readers.py
 */
static bool word_is_plain(struct text word)
{
	char name[MAX_NAME];
	size_t length = 0;

	skip(&word, "'\"");
	while (word.at < word.end && is_name_character(*word.at)) {
		if (length == sizeof name)
			return false;
		name[length++] = *word.at++;
		skip(&word, "'\"");
	}
	if (!length && is_one_of("[", word))
		return bracket_is_plain(word);
	if (is_one_of("*[", word) || (is_one_of("?", word) && word.at + 1 < word.end))
		return false;
	skip(&word, "+'\""); /* "PATH+=:bin" */
	/* "what?" matches no more than "what=" */
	return !is_one_of("=?", word) || !sb_dotenv_steers(name, length);
}

/* All but the first. */
static bool words_are_plain(struct text text)
{
	while ((text.at = memchr(text.at, ' ', (size_t)(text.end - text.at)))) {
		const char *word = text.at + 1;
		const char *next = memchr(word, ' ', (size_t)(text.end - word));

		text.at = word;
		if (!word_is_plain((struct text){word, next ? next : text.end}))
			return false;
	}
	return true;
}

/* A comment that is not plain ends with its line, too, but for a backslash that takes in the next one. */
static enum sb_dotenv note_kind(struct text text)
{
	struct text rest = text;
	size_t step = 1;

	while (rest.at < rest.end && (step = plain_length(rest, NOTE)))
		rest.at += step;
	if (rest.at == rest.end && words_are_plain(text))
		return SB_DOTENV_PLAIN;
	return memchr(text.at, '\r', (size_t)(text.end - text.at)) || text.end[-1] == '\\'
		       ? SB_DOTENV_ODD
		       : SB_DOTENV_STAYS;
}

/* "$NAME", "${NAME}", "${NAME:-plain}": how long.  0: something else, or more than steering allows. */
static size_t reference_length(struct text text, bool steering)
{
	const char *begin = text.at++;
	bool brace = is_one_of("{", text);
	size_t name;

	text.at += brace;
	name = name_length(text);
	if (!name || (steering && !sb_dotenv_steers(text.at, name)))
		return 0;
	text.at += name;
	if (!brace)
		return (size_t)(text.at - begin);
	if (text.end - text.at > 2 && text.at[0] == ':' && text.at[1] == '-')
		while (text.at < text.end && plain_length(text, '\0'))
			text.at++;
	return is_one_of("}", text) ? (size_t)(text.at + 1 - begin) : 0;
}

/* "$(word word)": the same. */
static size_t command_length(struct text text)
{
	const char *begin = text.at;

	for (text.at += 2; text.at < text.end && (*text.at == ' ' || plain_length(text, '\0'));)
		text.at++;
	return is_one_of(")", text) ? (size_t)(text.at + 1 - begin) : 0;
}

static bool begins(struct text text, const char *with)
{
	size_t length = strlen(with);

	return (size_t)(text.end - text.at) >= length && memcmp(text.at, with, length) == 0;
}

/* What stands between "=" and a comment, and what is known of it. */
struct value {
	struct text text; /* what is left of it */
	char quote;
	bool steering, exported;
	bool stays, refers, holds; /* as in dotenv.h */
};

/* What is not plain, but ends in its line for sure: how long.  0: who knows. */
static size_t odd_length(struct value *value)
{
	struct text text = value->text, next = {text.at + 1, text.end};

	value->stays = true;
	if (value->quote == '\'' || (value->quote && begins(text, "\\$"))) {
		value->holds = true;
		return is_one_of("$`", text) ? 1 : 2 * (size_t)begins(text, "\\$");
	}
	if (begins(text, "$("))
		return command_length(text);
	if (*text.at == '$') {
		value->refers = true;
		/* some shells split what "export" is given */
		return value->exported && !value->quote ? 0
							: reference_length(text, value->steering);
	}
	if (value->quote) /* but what ends with \\ some readers end later */
		return *text.at == '\\' && is_one_of("nrt", next) ? 2 : 0;
	if (*text.at == '&') { /* ?a=b&c=d: a shell runs an assignment */
		next.at += name_length(next);
		return next.at > text.at + 1 && is_one_of("=", next);
	}
	if (*text.at == ' ') /* a shell runs the second word; zsh knows "if" there, but not "If" */
		return next.at < next.end && *next.at >= 'A' && *next.at <= 'Z';
	if (is_one_of("#!^[]{}~", text))
		return 1;
	return *text.at & 0x80 ? sb_utf8_plain(text.at, (size_t)(text.end - text.at)) : 0;
}

/*
 * Unquoted: zsh looks for the program in "=program", shells for files that match what they export,
 * and node 22 for the value in the next line if blanks follow the "=".
 */
static bool is_left_alone(struct text text, const char *end, bool exported)
{
	if (text.at == text.end)
		return text.end == end && !exported;
	for (char before = ':'; text.at < text.end; before = *text.at++)
		if ((before == ':' && *text.at == '=') || (exported && is_one_of("?*", text)))
			return false;
	return true;
}

static bool is_note_next(struct text text)
{
	return skip(&text, " \t") && (text.at == text.end || *text.at == '#');
}

/* value->text moves behind it. */
static enum sb_dotenv take_value(struct value *value)
{
	struct text *text = &value->text, all;

	value->quote = '\0';
	if (is_one_of("'\"", *text))
		value->quote = *text->at++;
	all = *text;
	while (text->at < text->end &&
	       (value->quote ? *text->at != value->quote : !is_note_next(*text))) {
		size_t step = plain_length(*text, value->quote);

		if (!step && !(step = odd_length(value)))
			return SB_DOTENV_ODD;
		text->at += step;
	}
	all.end = text->at;
	if (value->quote && text->at == text->end)
		return SB_DOTENV_ODD;
	text->at += value->quote != '\0';
	if (value->refers || value->holds)
		return !value->holds   ? SB_DOTENV_REFERS
		       : value->refers ? SB_DOTENV_ODD
				       : SB_DOTENV_HOLDS;
	if (value->stays || value->steering)
		return SB_DOTENV_STAYS;
	return (value->quote ? words_are_plain(all)
			     : is_left_alone(all, text->end, value->exported))
		       ? SB_DOTENV_PLAIN
		       : SB_DOTENV_STAYS;
}

/*
 * Does some entry of a list of directories lead out of the one that it is meant for?  Editors have
 * people write PYTHONPATH=src, and those hold what the command may write in any case.
 */
static bool leaves(struct text text)
{
	skip(&text, "'\"");
	for (char before = ':'; text.at < text.end; before = *text.at++) {
		if (before == ':' && is_one_of("/~", text))
			return true;
		if ((before == ':' || before == '/') && begins(text, ".."))
			return true;
	}
	return false;
}

/* BROWSER=none: what a template of many web projects says, so that no browser opens; UID=1000. */
static bool is_steered(struct text name, struct text text)
{
	size_t length = (size_t)(name.end - name.at);

	if (sb_dotenv_is_number(name.at, length))
		return !skip(&text, "0123456789") || (text.at < text.end && !is_note_next(text));
	if (length == 7 && begins(name, "BROWSER") && begins(text, "none")) {
		text.at += 4;
		return text.at < text.end && !is_note_next(text);
	}
	return sb_dotenv_steers(name.at, length);
}

enum sb_dotenv sb_dotenv_line(const char *line, size_t length)
{
	struct text text = {line, line + length}, name;
	struct value value = {0};
	enum sb_dotenv kind, note;

	skip(&text, " \t");
	if (text.at == text.end) /* node 20 makes blanks a part of the next name */
		return length ? SB_DOTENV_STAYS : SB_DOTENV_PLAIN;
	if (*text.at == '#')
		return note_kind(text);
	value.exported = begins(text, "export ") || begins(text, "export\t");
	text.at += value.exported ? strlen("export") : 0;
	skip(&text, " \t");
	name = (struct text){text.at, text.at + name_length(text)};
	text.at = name.end;
	if (name.at == name.end || !is_one_of("=", text))
		return SB_DOTENV_ODD;
	text.at++;
	value.text = text;
	value.steering = is_steered(name, text);
	kind = take_value(&value);
	text.end = value.text.at;
	if (value.text.at < value.text.end && !is_note_next(value.text))
		return SB_DOTENV_ODD;
	skip(&value.text, " \t");
	note = value.text.at < value.text.end ? note_kind(value.text) : SB_DOTENV_PLAIN;
	if (note > kind)
		return note;
	if (kind == SB_DOTENV_PLAIN &&
	    (sb_dotenv_leads(name.at, (size_t)(name.end - name.at)) ||
	     (sb_dotenv_is_search_path(name.at, (size_t)(name.end - name.at)) && leaves(text))))
		return SB_DOTENV_TOLD;
	return kind;
}
