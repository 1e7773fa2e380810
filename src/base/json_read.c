#include "base/json_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"

struct reader {
	const char *at, *end;
	struct sb_json_tree *tree;
	uint32_t room, ordered;
	bool comments; /* and a comma behind the last value */
	char *text;    /* where the next string goes: none is longer than it was written */
	const char *failed;
};

static bool fail(struct reader *reader, const char *what)
{
	if (!reader->failed)
		reader->failed = what;
	return false;
}

static bool no_json(struct reader *reader)
{
	return fail(reader, "not in JSON's format");
}

const char *sb_json_skip(const char *at, const char *end)
{
	while (at < end) {
		if (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') {
			at++;
		} else if (end - at >= 2 && at[0] == '/' && at[1] == '/') {
			while (at < end && *at != '\n')
				at++;
		} else if (end - at >= 2 && at[0] == '/' && at[1] == '*') {
			const char *close = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);

			if (!close)
				return at;
			at = close + 2;
		} else {
			break;
		}
	}
	return at;
}

static void skip_blanks(struct reader *reader)
{
	if (reader->comments) {
		reader->at = sb_json_skip(reader->at, reader->end);
		return;
	}
	while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t' ||
					    *reader->at == '\n' || *reader->at == '\r'))
		reader->at++;
}

static int peek(const struct reader *reader)
{
	return reader->at < reader->end ? (unsigned char)*reader->at : -1;
}

static bool take(struct reader *reader, char c)
{
	if (peek(reader) != (unsigned char)c)
		return false;
	reader->at++;
	return true;
}

/* --- strings ---------------------------------------------------------------------------------- */

/* "XXXX" behind a "\u"; moves on. */
static bool take_hex(struct reader *reader, unsigned *out)
{
	*out = 0;
	for (int i = 0; i < 4; i++, reader->at++) {
		int digit = sb_hex_digit((char)peek(reader));

		if (digit < 0)
			return no_json(reader);
		*out = *out << 4 | (unsigned)digit;
	}
	return true;
}

static bool take_unicode(struct reader *reader)
{
	unsigned value, low;

	if (!take_hex(reader, &value))
		return false;
	if (value >= 0xd800 && value < 0xdc00 && reader->end - reader->at >= 2 &&
	    reader->at[0] == '\\' && reader->at[1] == 'u') {
		const char *before = reader->at;

		reader->at += 2;
		if (!take_hex(reader, &low))
			return false;
		if (low >= 0xdc00 && low < 0xe000)
			value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
		else
			reader->at = before; /* a lone one, and something else behind it */
	}
	reader->text += sb_utf8_put(reader->text, value);
	return true;
}

static bool take_escape(struct reader *reader)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	int c = peek(reader);
	const char *name = c > 0 ? strchr(names, c) : NULL;

	if (c == 'u') {
		reader->at++;
		return take_unicode(reader);
	}
	if (!name)
		return no_json(reader);
	reader->at++;
	*reader->text++ = values[name - names];
	return true;
}

static bool take_string(struct reader *reader, const char **out, size_t *out_length)
{
	const char *start = reader->text;

	if (!take(reader, '"'))
		return no_json(reader);
	while (!take(reader, '"')) {
		size_t length;

		if (take(reader, '\\')) {
			if (!take_escape(reader))
				return false;
			continue;
		}
		length = sb_utf8_length(reader->at, (size_t)(reader->end - reader->at));
		if (!length || (unsigned char)*reader->at < 0x20)
			return no_json(reader);
		memcpy(reader->text, reader->at, length);
		reader->text += length;
		reader->at += length;
	}
	*out = start;
	*out_length = (size_t)(reader->text - start);
	return true;
}

/* --- values ----------------------------------------------------------------------------------- */

static size_t take_digits(struct reader *reader)
{
	const char *start = reader->at;

	while (peek(reader) >= '0' && peek(reader) <= '9')
		reader->at++;
	return (size_t)(reader->at - start);
}

static bool take_number(struct reader *reader)
{
	take(reader, '-');
	if (!take(reader, '0') && !take_digits(reader))
		return no_json(reader);
	if (take(reader, '.') && !take_digits(reader))
		return no_json(reader);
	if (take(reader, 'e') || take(reader, 'E')) {
		if (!take(reader, '+'))
			take(reader, '-');
		if (!take_digits(reader))
			return no_json(reader);
	}
	return true;
}

static bool take_word(struct reader *reader, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
		return no_json(reader);
	reader->at += length;
	return true;
}

/* Room for one more node; they may move. */
static bool add_node(struct reader *reader)
{
	struct sb_json_tree *tree = reader->tree;

	if (tree->count == SB_JSON_MAX_NODES)
		return fail(reader, "too long to be looked at");
	if (tree->count == reader->room) {
		uint32_t room = reader->room ? 2 * reader->room : 64;
		struct sb_json_node *more = reallocarray(tree->nodes, room, sizeof *more);

		if (!more)
			return fail(reader, "out of memory");
		tree->nodes = more;
		reader->room = room;
	}
	tree->nodes[tree->count++] = (struct sb_json_node){0};
	return true;
}

static bool take_value(struct reader *reader, unsigned depth, const struct sb_json_node *named);

static bool take_members(struct reader *reader, unsigned depth, uint32_t at, char close)
{
	skip_blanks(reader);
	if (take(reader, close))
		return true;
	for (;;) {
		struct sb_json_node named = {0};

		skip_blanks(reader);
		if (close == '}') {
			named.key_raw = reader->at;
			if (!take_string(reader, &named.key, &named.key_length))
				return false;
			named.key_raw_length = (size_t)(reader->at - named.key_raw);
			skip_blanks(reader);
			if (!take(reader, ':'))
				return no_json(reader);
		}
		if (!take_value(reader, depth - 1, &named))
			return false;
		reader->tree->nodes[at].count++;
		skip_blanks(reader);
		if (take(reader, close))
			return true;
		if (!take(reader, ','))
			return no_json(reader);
		if (reader->comments) {
			skip_blanks(reader);
			if (take(reader, close))
				return true;
		}
	}
}

static bool take_inside(struct reader *reader, unsigned depth, uint32_t at)
{
	enum sb_json_type *type = &reader->tree->nodes[at].type;

	switch (peek(reader)) {
	case '{':
		*type = SB_JSON_OBJECT;
		reader->at++;
		return take_members(reader, depth, at, '}');
	case '[':
		*type = SB_JSON_ARRAY;
		reader->at++;
		return take_members(reader, depth, at, ']');
	case '"':
		*type = SB_JSON_STRING;
		return take_string(reader, &reader->tree->nodes[at].text,
				   &reader->tree->nodes[at].length);
	case 't':
		*type = SB_JSON_TRUE;
		return take_word(reader, "true");
	case 'f':
		*type = SB_JSON_FALSE;
		return take_word(reader, "false");
	case 'n':
		*type = SB_JSON_NULL;
		return take_word(reader, "null");
	default:
		*type = SB_JSON_NUMBER;
		return take_number(reader);
	}
}

static bool take_value(struct reader *reader, unsigned depth, const struct sb_json_node *named)
{
	uint32_t at = reader->tree->count;
	struct sb_json_node *node;
	const char *start;

	if (!depth)
		return fail(reader, "nested too deeply");
	skip_blanks(reader);
	start = reader->at;
	if (!add_node(reader) || !take_inside(reader, depth, at))
		return false;
	node = &reader->tree->nodes[at];
	node->key = named->key;
	node->key_length = named->key_length;
	node->key_raw = named->key_raw;
	node->key_raw_length = named->key_raw_length;
	node->raw = start;
	node->raw_length = (size_t)(reader->at - start);
	node->end = reader->tree->count;
	return true;
}

/* --- names in order --------------------------------------------------------------------------- */

static int compare_keys(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t least = a_length < b_length ? a_length : b_length;
	int order = least ? memcmp(a, b, least) : 0;

	return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_members(const void *left, const void *right)
{
	const struct sb_json_node *a = *(const struct sb_json_node *const *)left;
	const struct sb_json_node *b = *(const struct sb_json_node *const *)right;

	return compare_keys(a->key, a->key_length, b->key, b->key_length);
}

/* all: room for as many as there are nodes */
static bool order_members(struct reader *reader, struct sb_json_node *object,
			  const struct sb_json_node **all)
{
	struct sb_json_tree *tree = reader->tree;
	uint32_t count = 0;

	SB_EACH_CHILD(child, tree, object)
		all[count++] = child;
	if (count)
		qsort(all, count, sizeof *all, compare_members);
	object->ordered = reader->ordered;
	for (uint32_t i = 0; i < count; i++) {
		if (i && compare_members(&all[i - 1], &all[i]) == 0)
			return fail(reader, "the same name twice");
		tree->order[reader->ordered++] = (uint32_t)(all[i] - tree->nodes);
	}
	return true;
}

static bool order_all(struct reader *reader)
{
	struct sb_json_tree *tree = reader->tree;
	SB_AUTO_FREE const struct sb_json_node **all = calloc(tree->count, sizeof *all);
	bool done;

	tree->order = calloc(tree->count, sizeof *tree->order);
	done = all && tree->order;
	if (!done)
		fail(reader, "out of memory");
	for (uint32_t i = 0; done && i < tree->count; i++)
		if (tree->nodes[i].type == SB_JSON_OBJECT)
			done = order_members(reader, &tree->nodes[i], all);
	return done;
}

/* --- the whole -------------------------------------------------------------------------------- */

static const char *read_all(const char *bytes, size_t length, bool comments,
			    struct sb_json_tree *out)
{
	struct sb_json_tree tree = {.texts = malloc(length + 1)};
	struct reader reader = {.at = bytes,
				.end = bytes + length,
				.tree = &tree,
				.text = tree.texts,
				.comments = comments};
	bool read;

	if (!tree.texts)
		return "out of memory";
	read = take_value(&reader, SB_JSON_MAX_DEPTH, &(struct sb_json_node){0});
	skip_blanks(&reader);
	if (read && reader.at != reader.end)
		read = no_json(&reader);
	if (!read || !order_all(&reader)) {
		sb_json_tree_done(&tree);
		return reader.failed;
	}
	*out = tree;
	return NULL;
}

const char *sb_json_read(const char *bytes, size_t length, struct sb_json_tree *out)
{
	return read_all(bytes, length, false, out);
}

const char *sb_json_read_settings(const char *bytes, size_t length, struct sb_json_tree *out)
{
	return read_all(bytes, length, true, out);
}

void sb_json_tree_done(struct sb_json_tree *tree)
{
	free(tree->nodes);
	free(tree->order);
	free(tree->texts);
	*tree = (struct sb_json_tree){0};
}

const struct sb_json_node *sb_json_member(const struct sb_json_tree *tree,
					  const struct sb_json_node *object, const char *key,
					  size_t length)
{
	uint32_t low = 0, high = object && object->type == SB_JSON_OBJECT ? object->count : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct sb_json_node *member =
			&tree->nodes[tree->order[object->ordered + middle]];
		int order = compare_keys(member->key, member->key_length, key, length);

		if (order == 0)
			return member;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct sb_json_node *sb_json_first(const struct sb_json_node *node)
{
	return node && node->count ? node + 1 : NULL;
}

const struct sb_json_node *sb_json_next(const struct sb_json_tree *tree,
					const struct sb_json_node *node,
					const struct sb_json_node *child)
{
	return child->end < node->end ? &tree->nodes[child->end] : NULL;
}

bool sb_json_same(const struct sb_json_tree *one, const struct sb_json_node *a,
		  const struct sb_json_tree *other, const struct sb_json_node *b)
{
	const struct sb_json_node *x, *y;

	if (a->type != b->type || a->count != b->count)
		return false;
	if (a->type == SB_JSON_STRING)
		return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
	if (a->type == SB_JSON_NUMBER)
		return a->raw_length == b->raw_length && memcmp(a->raw, b->raw, a->raw_length) == 0;
	y = sb_json_first(b);
	for (x = sb_json_first(a); x; x = sb_json_next(one, a, x)) {
		const struct sb_json_node *match = y;

		if (a->type == SB_JSON_OBJECT)
			match = sb_json_member(other, b, x->key, x->key_length);
		if (!match || !sb_json_same(one, x, other, match))
			return false;
		y = sb_json_next(other, b, y);
	}
	return true;
}
