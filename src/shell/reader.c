#include "shell/reader.h"

#include <string.h>

#include "base/words.h"

void sb_reader_fail(struct sb_reader *reader, const char *problem)
{
	if (!reader->problem) {
		reader->problem = problem;
		reader->problem_at = reader->at;
	}
	reader->end = reader->at;
}

void *sb_reader_alloc(struct sb_reader *reader, size_t size)
{
	void *made = sb_arena_alloc(reader->arena, size);

	if (!made)
		sb_reader_fail(reader, "too long");
	return made;
}

bool sb_reader_enter(struct sb_reader *reader)
{
	if (reader->depth >= SB_SYNTAX_DEPTH) {
		sb_reader_fail(reader, "too deep");
		return false;
	}
	reader->depth++;
	return true;
}

bool sb_reader_sees(const struct sb_reader *reader, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(reader->end - reader->at) >= length &&
	       memcmp(reader->at, text, length) == 0;
}

bool sb_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool sb_is_meta(char c)
{
	return sb_is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' ||
	       c == ')' || c == '<' || c == '>';
}

bool sb_is_name(char c, bool first)
{
	return sb_is_letter(c) || c == '_' || (!first && sb_is_digit(c));
}

size_t sb_name_length(const char *at, const char *end)
{
	const char *start = at;

	while (at < end && sb_is_name(*at, at == start))
		at++;
	return (size_t)(at - start);
}

/* As bash does it, by brackets and quotes alone: the text is read once more afterwards. */
const char *sb_arithmetic_end(const struct sb_reader *reader, const char *start)
{
	size_t depth = 2;

	for (const char *at = start; at < reader->end; at++) {
		if (*at == '\\') {
			at++;
		} else if (*at == '\'' || *at == '"') {
			char quote = *at++;

			while (at < reader->end && *at != quote)
				at += *at == '\\' && quote == '"' ? 2 : 1;
		} else if (*at == '(') {
			depth++;
		} else if (*at == ')' && --depth == 1) {
			return at + 1 < reader->end && at[1] == ')' ? at : NULL;
		}
	}
	return NULL;
}
