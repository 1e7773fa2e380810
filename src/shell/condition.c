/*
 * [[ ... ]]: its words in their order.  What it answers nobody asks; that it could be read counts.
 */
#include <string.h>

#include "shell/reader.h"

struct words {
	struct sb_word *first, **tail;
};

static bool sees_end(const struct sb_reader *reader)
{
	return sb_reader_sees(reader, "]]") &&
	       (reader->at + 2 == reader->end || sb_is_meta(reader->at[2]));
}

static bool sees_operator(const struct sb_reader *reader)
{
	return reader->at >= reader->end || sees_end(reader) || sb_reader_sees(reader, "&&") ||
	       sb_reader_sees(reader, "||") || sb_reader_sees(reader, ")");
}

static struct sb_word *take(struct sb_reader *reader, struct words *words, enum sb_reading text)
{
	struct sb_word *word;

	sb_skip_lines(reader);
	word = sees_operator(reader) ? NULL : sb_word_read(reader, text);
	if (!word) {
		sb_reader_fail(reader, "a word is missing in [[");
		return NULL;
	}
	*words->tail = word;
	words->tail = &word->next;
	return word;
}

static bool is_unary(const struct sb_word *word)
{
	return word->length == 2 && word->text[0] == '-' &&
	       strchr("abcdefghknoprstuvwxzGLNORS", word->text[1]);
}

/* The bytes of a binary operator here, or 0. */
static size_t binary_length(const struct sb_reader *reader)
{
	static const char *const names[] = {"=~",  "==",  "!=",  "=",   "<",   ">",   "-eq", "-ne",
					    "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		size_t length = strlen(names[i]);

		if (sb_reader_sees(reader, names[i]) &&
		    (*names[i] == '<' || *names[i] == '>' || reader->at + length >= reader->end ||
		     sb_is_meta(reader->at[length])))
			return length;
	}
	return 0;
}

static void read_term(struct sb_reader *reader, struct words *words)
{
	struct sb_word *word = take(reader, words, SB_READING_WORD);
	size_t length;
	bool regex;

	if (!word)
		return;
	sb_skip_lines(reader);
	length = binary_length(reader);
	if (is_unary(word) && !length && !sees_operator(reader)) {
		take(reader, words, SB_READING_WORD);
	} else if (length) {
		regex = *reader->at == '=' && length == 2 && reader->at[1] == '~';
		reader->at += length;
		take(reader, words, regex ? SB_READING_REGEX : SB_READING_WORD);
	}
}

/* Terms, "!", brackets and what joins them; brackets are counted, since nothing else matters. */
static void read_all(struct sb_reader *reader, struct words *words)
{
	size_t depth = 0;

	for (;;) {
		sb_skip_lines(reader);
		while (sb_reader_sees(reader, "(") || sb_reader_sees(reader, "! ") ||
		       sb_reader_sees(reader, "!\t") || sb_reader_sees(reader, "!(")) {
			depth += *reader->at == '(';
			reader->at++;
			sb_skip_lines(reader);
		}
		read_term(reader, words);
		sb_skip_lines(reader);
		while (depth && sb_reader_sees(reader, ")")) {
			depth--;
			reader->at++;
			sb_skip_lines(reader);
		}
		if (reader->problem || sees_end(reader))
			break;
		if (!sb_reader_sees(reader, "&&") && !sb_reader_sees(reader, "||")) {
			sb_reader_fail(reader, "a word too many in [[");
			return;
		}
		reader->at += 2;
	}
	if (!reader->problem && depth)
		sb_reader_fail(reader, "a ( is not closed");
}

struct sb_word *sb_condition_read(struct sb_reader *reader)
{
	struct words words = {.tail = &words.first};

	read_all(reader, &words);
	if (!reader->problem)
		reader->at += 2;
	return words.first;
}
