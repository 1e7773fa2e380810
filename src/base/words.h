/*
 * words.h - the words of a text, and its lines.
 *
 * A list of names is one text, with blanks between them: "push pull fetch".  No pointers: a table of
 * them has to be relocated at every start of the program.
 */
#ifndef SB_BASE_WORDS_H
#define SB_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The first of *words, which then begins behind it; NULL: there is none. */
const char *sb_words_next(const char **words, size_t *out_length);

/* Is name one of them? */
bool sb_words_have(const char *words, const char *name, size_t length);

/* The same without regard to case. */
bool sb_words_have_like(const char *words, const char *name, size_t length);

/* How long is the first of them that text begins with?  0: it begins with none. */
size_t sb_words_begin(const char *words, const char *text);

/* ASCII's, whatever the locale. */
static inline bool sb_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool sb_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool sb_text_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static inline bool sb_text_ends(const char *text, const char *with)
{
	size_t length = strlen(text), width = strlen(with);

	return length >= width && strcmp(text + length - width, with) == 0;
}

/* How long the first name in path is.  By hand: names are short, and a launch looks at some thousand. */
static inline size_t sb_first_name_length(const char *path)
{
	size_t length = 0;

	while (path[length] && path[length] != '/')
		length++;
	return length;
}

/* The names of a directory itself and of the one around it. */
static inline bool sb_is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* NULL is like NULL alone. */
static inline bool sb_text_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static inline bool sb_is_word(const char *words, const char *name)
{
	return sb_words_have(words, name, strlen(name));
}

/* struct sb_text_lines line = sb_text_lines(...); while (sb_next_line(&line)) ... line.text, line.length */
struct sb_text_lines {
	const char *text; /* of the line at hand, without its newline */
	size_t length;
	const char *at, *end; /* what is left */
};

/* bytes: NULL is none. */
struct sb_text_lines sb_text_lines(const char *bytes, size_t length);
bool sb_next_line(struct sb_text_lines *lines);

#endif
