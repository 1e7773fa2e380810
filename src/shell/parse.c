/*
 * Commands: lists, pipelines, and what has commands inside.
 */
#include <string.h>

#include "shell/reader.h"

static struct sb_node *read_list(struct sb_reader *reader);

/* --- reserved words ---------------------------------------------------------------------------- */

static bool sees_word(const struct sb_reader *reader, const char *word)
{
	size_t length = strlen(word);

	return sb_reader_sees(reader, word) &&
	       (reader->at + length == reader->end || sb_is_meta(reader->at[length]));
}

static bool take_word(struct sb_reader *reader, const char *word)
{
	if (!sees_word(reader, word))
		return false;
	reader->at += strlen(word);
	return true;
}

static void expect(struct sb_reader *reader, const char *word, const char *problem)
{
	sb_skip_lines(reader);
	if (!take_word(reader, word))
		sb_reader_fail(reader, problem);
}

static bool ends_list(const struct sb_reader *reader)
{
	static const char *const words[] = {"then", "do",   "done", "fi",
					    "elif", "else", "esac", "}"};

	if (reader->at >= reader->end || *reader->at == ')' || sb_reader_sees(reader, ";;") ||
	    sb_reader_sees(reader, ";&"))
		return true;
	if (!strchr("tdfe}", *reader->at))
		return false;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (sees_word(reader, words[i]))
			return true;
	return false;
}

/* --- what has commands inside ------------------------------------------------------------------ */

static struct sb_node *new_node(struct sb_reader *reader, enum sb_node_kind kind)
{
	struct sb_node *node = sb_reader_alloc(reader, sizeof *node);

	if (node)
		node->kind = (unsigned char)kind;
	reader->nodes++;
	return node;
}

/* A list that must not be empty. */
static struct sb_node *read_some(struct sb_reader *reader)
{
	struct sb_node *list = read_list(reader);

	if (!list)
		sb_reader_fail(reader, "a command is missing");
	return list;
}

static struct sb_word *word_of_span(struct sb_reader *reader, const char *start, const char *end)
{
	struct sb_word *word = sb_reader_alloc(reader, sizeof *word);

	if (!word)
		return NULL;
	word->text = start;
	word->length = (size_t)(end - start);
	word->parts = sb_parts_span(reader, start, end);
	return word;
}

/* ((...)), whose end is known. */
static void read_arithmetic(struct sb_reader *reader, struct sb_node *node, const char *closing)
{
	node->words = word_of_span(reader, reader->at + 2, closing);
	if (!reader->problem)
		reader->at = closing + 2;
}

static struct sb_node *read_bracket(struct sb_reader *reader)
{
	const char *closing = NULL;
	struct sb_node *node;

	if (sb_reader_sees(reader, "(("))
		closing = sb_arithmetic_end(reader, reader->at + 2);
	node = new_node(reader, closing ? SB_NODE_ARITHMETIC : SB_NODE_SUBSHELL);
	if (!node)
		return NULL;
	if (closing) {
		read_arithmetic(reader, node, closing);
		return node;
	}
	reader->at++;
	node->body = read_some(reader);
	if (sb_reader_sees(reader, ")"))
		reader->at++;
	else
		sb_reader_fail(reader, "a ( is not closed");
	return node;
}

static struct sb_node *read_group(struct sb_reader *reader)
{
	struct sb_node *node = new_node(reader, SB_NODE_GROUP);

	if (!node)
		return NULL;
	node->body = read_some(reader);
	expect(reader, "}", "a { is not closed");
	return node;
}

/* From behind "if"; each "elif" is one more in other, without going deeper. */
static struct sb_node *read_if(struct sb_reader *reader)
{
	struct sb_node *first = NULL, **next = &first;

	do {
		struct sb_node *node = new_node(reader, SB_NODE_IF);

		if (!node)
			return NULL;
		*next = node;
		next = &node->other;
		node->condition = read_some(reader);
		expect(reader, "then", "'then' is missing");
		node->body = read_some(reader);
	} while (!reader->problem && take_word(reader, "elif"));
	if (take_word(reader, "else"))
		*next = read_some(reader);
	expect(reader, "fi", "'fi' is missing");
	return first;
}

static struct sb_node *read_while(struct sb_reader *reader, bool until)
{
	struct sb_node *node = new_node(reader, SB_NODE_WHILE);

	if (!node)
		return NULL;
	node->until = until;
	node->condition = read_some(reader);
	expect(reader, "do", "'do' is missing");
	node->body = read_some(reader);
	expect(reader, "done", "'done' is missing");
	return node;
}

/* "do ... done", or in braces. */
static struct sb_node *read_loop_body(struct sb_reader *reader)
{
	struct sb_node *body;

	sb_skip_lines(reader);
	if (take_word(reader, "{")) {
		body = read_some(reader);
		expect(reader, "}", "a { is not closed");
	} else {
		expect(reader, "do", "'do' is missing");
		body = read_some(reader);
		expect(reader, "done", "'done' is missing");
	}
	return body;
}

static void take_semicolon(struct sb_reader *reader)
{
	sb_skip_blanks(reader);
	if (sb_reader_sees(reader, ";") && !sb_reader_sees(reader, ";;"))
		reader->at++;
}

static struct sb_node *read_for(struct sb_reader *reader)
{
	struct sb_node *node = new_node(reader, SB_NODE_FOR);
	struct sb_word *name, **tail;
	const char *closing;

	if (!node)
		return NULL;
	sb_skip_blanks(reader);
	if (sb_reader_sees(reader, "((")) {
		node->kind = SB_NODE_FOR_ARITHMETIC;
		closing = sb_arithmetic_end(reader, reader->at + 2);
		if (closing)
			read_arithmetic(reader, node, closing);
		else
			sb_reader_fail(reader, "a (( is not closed");
		take_semicolon(reader);
		node->body = read_loop_body(reader);
		return node;
	}
	name = sb_word_read(reader, SB_READING_WORD);
	if (!name)
		return NULL;
	node->name = name->text;
	node->name_length = (uint32_t)name->length;
	take_semicolon(reader);
	sb_skip_lines(reader);
	if (take_word(reader, "in")) {
		node->has_words = true;
		tail = &node->words;
		for (sb_skip_blanks(reader);
		     reader->at < reader->end && *reader->at != ';' && *reader->at != '\n';
		     sb_skip_blanks(reader)) {
			*tail = sb_word_read(reader, SB_READING_WORD);
			if (!*tail)
				return NULL;
			tail = &(*tail)->next;
		}
		take_semicolon(reader);
	}
	node->body = read_loop_body(reader);
	return node;
}

/* One "pattern | pattern) commands ;;" from behind its "(". */
static struct sb_node *read_item(struct sb_reader *reader)
{
	struct sb_node *item = new_node(reader, SB_NODE_ITEM);
	struct sb_word **tail;

	if (!item)
		return NULL;
	tail = &item->words;
	for (;;) {
		sb_skip_blanks(reader);
		*tail = sb_word_read(reader, SB_READING_WORD);
		if (!*tail)
			return NULL;
		tail = &(*tail)->next;
		sb_skip_blanks(reader);
		if (!sb_reader_sees(reader, "|"))
			break;
		reader->at++;
	}
	if (!sb_reader_sees(reader, ")")) {
		sb_reader_fail(reader, "a ) is missing in 'case'");
		return NULL;
	}
	reader->at++;
	item->body = read_list(reader);
	return item;
}

static struct sb_node *read_case(struct sb_reader *reader)
{
	struct sb_node *node = new_node(reader, SB_NODE_CASE), **tail;

	if (!node)
		return NULL;
	sb_skip_blanks(reader);
	node->words = sb_word_read(reader, SB_READING_WORD);
	expect(reader, "in", "'in' is missing");
	tail = &node->body;
	for (;;) {
		sb_skip_lines(reader);
		if (take_word(reader, "esac") || reader->problem)
			return node;
		if (sb_reader_sees(reader, "("))
			reader->at++;
		*tail = read_item(reader);
		if (!*tail)
			return NULL;
		tail = &(*tail)->next;
		if (sb_reader_sees(reader, ";;&")) {
			reader->at += 3;
		} else if (sb_reader_sees(reader, ";;") || sb_reader_sees(reader, ";&")) {
			reader->at += 2;
		} else {
			expect(reader, "esac", "'esac' is missing");
			return node;
		}
	}
}

static struct sb_node *read_command(struct sb_reader *reader);

/* The body of a function: a command that has commands inside. */
static void read_function_body(struct sb_reader *reader, struct sb_node *node)
{
	sb_skip_lines(reader);
	node->body = reader->problem ? NULL : read_command(reader);
	if (node->body &&
	    (node->body->kind == SB_NODE_SIMPLE || node->body->kind == SB_NODE_FUNCTION ||
	     node->body->kind == SB_NODE_COPROCESS))
		sb_reader_fail(reader, "a function has no body");
}

static struct sb_node *read_function(struct sb_reader *reader)
{
	struct sb_node *node = new_node(reader, SB_NODE_FUNCTION);
	struct sb_word *name;

	if (!node)
		return NULL;
	sb_skip_blanks(reader);
	name = sb_word_read(reader, SB_READING_WORD);
	if (!name)
		return NULL;
	node->name = name->text;
	node->name_length = (uint32_t)name->length;
	sb_skip_blanks(reader);
	if (sb_reader_sees(reader, "(") && !sb_reader_sees(reader, "((")) {
		const char *bracket = reader->at++;

		sb_skip_blanks(reader);
		if (sb_reader_sees(reader, ")"))
			reader->at++;
		else
			reader->at = bracket; /* a subshell is its body */
	}
	read_function_body(reader, node);
	return node;
}

/* coproc [NAME] command; the name only before one that has commands inside. */
static struct sb_node *read_coprocess(struct sb_reader *reader)
{
	struct sb_node *node = new_node(reader, SB_NODE_COPROCESS);
	size_t name;

	if (!node)
		return NULL;
	sb_skip_blanks(reader);
	name = sb_name_length(reader->at, reader->end);
	if (name) {
		const char *start = reader->at;

		reader->at += name;
		sb_skip_blanks(reader);
		if (sb_reader_sees(reader, "(") || sees_word(reader, "{") ||
		    sees_word(reader, "while") || sees_word(reader, "if") ||
		    sees_word(reader, "for"))
			node->name = start, node->name_length = (uint32_t)name;
		else
			reader->at = start;
	}
	node->body = read_command(reader);
	return node;
}

/* --- commands ---------------------------------------------------------------------------------- */

static struct sb_node *read_compound(struct sb_reader *reader)
{
	struct sb_node *node;

	if (*reader->at == '(')
		return read_bracket(reader);
	if (!strchr("{iwufsc[", *reader->at))
		return NULL;
	if (take_word(reader, "{"))
		return read_group(reader);
	if (take_word(reader, "if"))
		return read_if(reader);
	if (take_word(reader, "while"))
		return read_while(reader, false);
	if (take_word(reader, "until"))
		return read_while(reader, true);
	if (take_word(reader, "for"))
		return read_for(reader);
	if (take_word(reader, "select")) {
		node = read_for(reader);
		if (node)
			node->asks = true;
		return node;
	}
	if (take_word(reader, "case"))
		return read_case(reader);
	if (take_word(reader, "function"))
		return read_function(reader);
	if (take_word(reader, "coproc"))
		return read_coprocess(reader);
	if (!take_word(reader, "[["))
		return NULL;
	node = new_node(reader, SB_NODE_TEST);
	if (node)
		node->words = sb_condition_read(reader);
	return node;
}

static struct sb_node *read_command(struct sb_reader *reader)
{
	const char *start = reader->at;
	struct sb_node *node = NULL;

	if (reader->at >= reader->end) {
		sb_reader_fail(reader, "a command is missing");
		return NULL;
	}
	if (!sb_reader_enter(reader))
		return NULL;
	node = read_compound(reader);
	if (node) {
		sb_redirects_read(reader, &node->redirects);
	} else if (!reader->problem) {
		node = sb_simple_read(reader);
		reader->nodes++;
		reader->simple += node && node->kind == SB_NODE_SIMPLE;
		if (node && node->kind == SB_NODE_FUNCTION) {
			node->words = NULL;
			read_function_body(reader, node);
		}
	}
	reader->depth--;
	if (node && !node->text) {
		node->text = start;
		node->length = (size_t)(reader->at - start);
	}
	return node;
}

/* "!" and "time" before a pipeline; true: there is nothing behind them. */
static bool read_prefix(struct sb_reader *reader, bool *negated)
{
	bool any = false;

	for (;;) {
		sb_skip_blanks(reader);
		if (take_word(reader, "!")) {
			*negated = !*negated;
		} else if (take_word(reader, "time")) {
			sb_skip_blanks(reader);
			if (take_word(reader, "-p"))
				sb_skip_blanks(reader);
			take_word(reader, "--");
		} else {
			break;
		}
		any = true;
	}
	return any && (reader->at >= reader->end || strchr("\n;)&|", *reader->at));
}

static struct sb_node **read_pipeline(struct sb_reader *reader, struct sb_node **tail,
				      enum sb_join join)
{
	bool negated = false;
	bool nothing = read_prefix(reader, &negated);

	for (;;) {
		*tail = nothing ? new_node(reader, SB_NODE_NOTHING) : read_command(reader);
		if (!*tail)
			return tail;
		(*tail)->join = (unsigned char)join;
		(*tail)->negated = negated;
		tail = &(*tail)->next;
		sb_skip_blanks(reader);
		if (!sb_reader_sees(reader, "|") || sb_reader_sees(reader, "||"))
			return tail;
		reader->at += sb_reader_sees(reader, "|&") ? 2 : 1;
		sb_skip_lines(reader);
		join = SB_JOIN_PIPE;
		nothing = false;
	}
}

static struct sb_node **read_and_or(struct sb_reader *reader, struct sb_node **tail)
{
	enum sb_join join = SB_JOIN_NEXT;

	for (;;) {
		tail = read_pipeline(reader, tail, join);
		sb_skip_blanks(reader);
		if (reader->problem)
			return tail;
		if (sb_reader_sees(reader, "&&"))
			join = SB_JOIN_AND;
		else if (sb_reader_sees(reader, "||"))
			join = SB_JOIN_OR;
		else
			return tail;
		reader->at += 2;
		sb_skip_lines(reader);
	}
}

static struct sb_node *read_list(struct sb_reader *reader)
{
	struct sb_node *first = NULL, **tail = &first;

	for (;;) {
		struct sb_node **begin = tail;

		sb_skip_lines(reader);
		if (reader->problem || ends_list(reader))
			break;
		tail = read_and_or(reader, tail);
		if (reader->problem)
			break;
		if (ends_list(reader))
			break;
		if (*reader->at == '&') {
			for (struct sb_node *node = *begin; node; node = node->next)
				node->background = true;
			reader->at++;
		} else if (*reader->at == ';') {
			reader->at++;
		} else if (*reader->at != '\n') {
			sb_reader_fail(reader, "what stands here belongs to no command");
		}
	}
	return first;
}

static size_t line_of(const char *text, const char *at, size_t length)
{
	size_t line = 1;

	for (size_t i = 0; i < length && text + i < at; i++)
		line += text[i] == '\n';
	return line;
}

void sb_syntax_read(struct sb_arena *arena, const char *text, size_t length, struct sb_syntax *out)
{
	struct sb_reader reader = {.arena = arena,
				   .text = text,
				   .at = text,
				   .end = text + length,
				   .commands = read_list};

	reader.waiting_tail = &reader.waiting;
	*out = (struct sb_syntax){0};
	if (length > UINT32_MAX || memchr(text, '\0', length)) {
		out->problem = length > UINT32_MAX ? "too long" : "a NUL is in it";
		out->line = 1;
		return;
	}
	out->commands = read_list(&reader);
	if (!reader.problem && reader.at < reader.end)
		sb_reader_fail(&reader, "what stands here ends nothing");
	out->problem = reader.problem;
	out->simple = reader.simple;
	out->nodes = reader.nodes;
	if (reader.problem)
		out->line = line_of(text, reader.problem_at, length);
}
