#include "base/words.h"

#include <strings.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

const char *sb_words_next(const char **words, size_t *out_length)
{
	const char *word = *words, *end;

	while (is_blank(*word))
		word++;
	for (end = word; *end && !is_blank(*end);)
		end++;
	*out_length = (size_t)(end - word);
	*words = end;
	return end > word ? word : NULL;
}

bool sb_words_have(const char *words, const char *name, size_t length)
{
	size_t width;

	for (const char *word; (word = sb_words_next(&words, &width));)
		if (width == length && memcmp(word, name, width) == 0)
			return true;
	return false;
}

bool sb_words_have_like(const char *words, const char *name, size_t length)
{
	size_t width;

	for (const char *word; (word = sb_words_next(&words, &width));)
		if (width == length && strncasecmp(word, name, width) == 0)
			return true;
	return false;
}

size_t sb_words_begin(const char *words, const char *text)
{
	size_t width;

	for (const char *word; (word = sb_words_next(&words, &width));)
		if (strncmp(word, text, width) == 0)
			return width;
	return 0;
}

struct sb_text_lines sb_text_lines(const char *bytes, size_t length)
{
	return (struct sb_text_lines){.at = bytes, .end = bytes ? bytes + length : NULL};
}

bool sb_next_line(struct sb_text_lines *lines)
{
	const char *newline;

	if (lines->at == lines->end)
		return false;
	newline = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
	lines->text = lines->at;
	lines->length = (size_t)((newline ? newline : lines->end) - lines->at);
	lines->at = newline ? newline + 1 : lines->end;
	return true;
}
