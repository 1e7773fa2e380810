/*
 * Simple commands: assignments, words, redirections.
 */
#include <string.h>

#include "base/words.h"
#include "shell/reader.h"

/* --- redirections ----------------------------------------------------------------------------- */

static const struct {
	const char *text;
	enum sb_redirect_op op;
} operators[] = {
	/* the longest first */
	{"<<<", SB_REDIRECT_STRING},  {"<<-", SB_REDIRECT_DOCUMENT}, {"<<", SB_REDIRECT_DOCUMENT},
	{"<&", SB_REDIRECT_COPY_IN},  {"<>", SB_REDIRECT_BOTH},      {"<", SB_REDIRECT_READ},
	{"&>>", SB_REDIRECT_APPEND},  {"&>", SB_REDIRECT_WRITE},     {">>", SB_REDIRECT_APPEND},
	{">&", SB_REDIRECT_COPY_OUT}, {">|", SB_REDIRECT_WRITE},     {">", SB_REDIRECT_WRITE},
};

/* How many bytes stand before the operator: a number, {name}; or -1: there is none here. */
static int descriptor_length(const struct sb_reader *reader)
{
	const char *at = reader->at;
	size_t length;

	if (sb_reader_sees(reader, "&>"))
		return 0;
	if (*at == '{') {
		length = sb_name_length(at + 1, reader->end);
		if (!length || at + length + 1 >= reader->end || at[length + 1] != '}')
			return -1;
		at += length + 2;
	} else {
		while (at < reader->end && *at >= '0' && *at <= '9')
			at++;
	}
	if (at >= reader->end || (*at != '<' && *at != '>') || at - reader->at > 64)
		return -1;
	/* <(...) is a word */
	return at + 1 < reader->end && at[1] == '(' ? -1 : (int)(at - reader->at);
}

static void wait_for_document(struct sb_reader *reader, struct sb_redirect *redirect)
{
	*reader->waiting_tail = redirect;
	reader->waiting_tail = &redirect->waiting;
}

static struct sb_redirect *read_redirect(struct sb_reader *reader, int descriptor)
{
	struct sb_redirect *redirect = sb_reader_alloc(reader, sizeof *redirect);
	size_t i = 0;

	if (!redirect)
		return NULL;
	redirect->text = reader->at;
	redirect->numbered = descriptor > 0;
	reader->at += descriptor;
	while (!sb_reader_sees(reader, operators[i].text))
		i++; /* the last ones are "<" and ">" */
	redirect->op = operators[i].op;
	redirect->strips = strcmp(operators[i].text, "<<-") == 0;
	reader->at += strlen(operators[i].text);
	sb_skip_blanks(reader);
	redirect->target = sb_word_read(reader, SB_READING_WORD);
	redirect->length = (size_t)(reader->at - redirect->text);
	if (redirect->target && redirect->op == SB_REDIRECT_DOCUMENT)
		wait_for_document(reader, redirect);
	return redirect;
}

struct sb_redirect **sb_redirects_read(struct sb_reader *reader, struct sb_redirect **tail)
{
	for (;;) {
		int descriptor;

		sb_skip_blanks(reader);
		descriptor = reader->at < reader->end ? descriptor_length(reader) : -1;
		if (descriptor < 0)
			return tail;
		*tail = read_redirect(reader, descriptor);
		if (!*tail)
			return tail;
		tail = &(*tail)->next;
	}
}

/* --- assignments ------------------------------------------------------------------------------ */

#define SUBSCRIPT_MOST 4096 /* looked at twice at most */

/* The "]" that closes the "[" at open, or NULL. */
static const char *subscript_end(const struct sb_reader *reader, const char *open)
{
	size_t depth = 0;

	for (const char *at = open; at < reader->end && at < open + SUBSCRIPT_MOST; at++) {
		if (*at == '\\' || *at == '\n') {
			if (*at++ == '\n')
				return NULL;
		} else if (*at == '\'' || *at == '"') {
			const char *end = memchr(at + 1, *at, (size_t)(reader->end - at - 1));

			if (!end)
				return NULL;
			at = end;
		} else if (*at == '[') {
			depth++;
		} else if (*at == ']' && --depth == 0) {
			return at;
		}
	}
	return NULL;
}

/* The sign behind name and subscript, "=" or "+="; NULL: this is no assignment. */
static const char *assignment_sign(const struct sb_reader *reader, size_t name)
{
	const char *at = reader->at + name;

	if (at < reader->end && *at == '[') {
		at = subscript_end(reader, at);
		if (!at)
			return NULL;
		at++;
	}
	if (at < reader->end && *at == '=')
		return at;
	return at + 1 < reader->end && at[0] == '+' && at[1] == '=' ? at : NULL;
}

static struct sb_word *read_value(struct sb_reader *reader)
{
	if (reader->at >= reader->end)
		return NULL;
	if (sb_is_meta(*reader->at) && !sb_reader_sees(reader, "<(") &&
	    !sb_reader_sees(reader, ">("))
		return NULL;
	return sb_word_read(reader, SB_READING_WORD);
}

static struct sb_word *read_array(struct sb_reader *reader)
{
	struct sb_word *first = NULL, **tail = &first;

	reader->at++;
	for (;;) {
		sb_skip_lines(reader);
		if (sb_reader_sees(reader, ")")) {
			reader->at++;
			return first;
		}
		*tail = sb_word_read(reader, SB_READING_WORD);
		if (!*tail) {
			sb_reader_fail(reader, "a ( is not closed");
			return NULL;
		}
		tail = &(*tail)->next;
	}
}

/* NULL: what stands here is none, or a mistake was noted. */
static struct sb_assignment *read_assignment(struct sb_reader *reader)
{
	size_t name = sb_name_length(reader->at, reader->end);
	const char *sign = name ? assignment_sign(reader, name) : NULL;
	struct sb_assignment *made;

	if (!sign)
		return NULL;
	made = sb_reader_alloc(reader, sizeof *made);
	if (!made)
		return NULL;
	made->name = reader->at;
	made->name_length = (uint32_t)name;
	made->append = *sign == '+';
	made->indexed = sign > reader->at + name;
	if (made->indexed) {
		made->index = sb_reader_alloc(reader, sizeof *made->index);
		if (!made->index)
			return NULL;
		made->index->text = reader->at + name;
		made->index->length = (size_t)(sign - made->index->text);
		made->index->parts = sb_parts_span(reader, made->index->text, sign);
	}
	if (reader->problem)
		return NULL;
	reader->at = sign + (made->append ? 2 : 1);
	made->array = sb_reader_sees(reader, "(");
	made->value = made->array ? read_array(reader) : read_value(reader);
	return reader->problem ? NULL : made;
}

/* --- commands --------------------------------------------------------------------------------- */

/* Commands whose words are assignments, too. */
static bool declares(const struct sb_word *word)
{
	return sb_words_have("declare typeset local export readonly", word->text, word->length);
}

/* "name ()": a function, if it is all that was read. */
static bool read_function_sign(struct sb_reader *reader, struct sb_node *node)
{
	const char *bracket = reader->at++;

	sb_skip_blanks(reader);
	if (!sb_reader_sees(reader, ")") || !node->words || node->words->next ||
	    node->assignments || node->redirects) {
		reader->at = bracket;
		sb_reader_fail(reader, "a ( where none can be");
		return false;
	}
	reader->at++;
	node->kind = SB_NODE_FUNCTION;
	node->name = node->words->text;
	node->name_length = (uint32_t)node->words->length;
	return true;
}

struct sb_node *sb_simple_read(struct sb_reader *reader)
{
	struct sb_node *node = sb_reader_alloc(reader, sizeof *node);
	const char *start = reader->at;
	bool declaring = false;

	if (!node)
		return NULL;
	struct sb_redirect **redirects = &node->redirects;
	struct sb_assignment **assignments = &node->assignments;
	struct sb_word **words = &node->words;

	node->text = start;
	for (;;) {
		redirects = sb_redirects_read(reader, redirects);
		if (reader->at >= reader->end)
			break;
		if (sb_is_meta(*reader->at) && !sb_reader_sees(reader, "<(") &&
		    !sb_reader_sees(reader, ">(")) {
			if (*reader->at == '(')
				read_function_sign(reader, node);
			break;
		}
		if (!node->words || declaring) {
			*assignments = read_assignment(reader);
			if (*assignments) {
				assignments = &(*assignments)->next;
				continue;
			}
		}
		*words = reader->problem ? NULL : sb_word_read(reader, SB_READING_WORD);
		if (!*words)
			break;
		declaring |= !node->words->next && declares(*words);
		words = &(*words)->next;
	}
	if (!reader->problem && !node->words && !node->assignments && !node->redirects)
		sb_reader_fail(reader, "a command is missing");
	node->length = (size_t)(reader->at - start);
	while (node->length && (sb_is_blank(start[node->length - 1])))
		node->length--;
	return reader->problem ? NULL : node;
}
