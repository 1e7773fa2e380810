#include "agent/json_text.h"

#include <stdlib.h>
#include <string.h>

static struct sb_json_place place_of(const char *text, const struct sb_json_tree *tree,
				     const struct sb_json_node *node)
{
	static const char kinds[] = {
		[SB_JSON_NULL] = 'n',   [SB_JSON_FALSE] = 'f',  [SB_JSON_TRUE] = 't',
		[SB_JSON_NUMBER] = '0', [SB_JSON_STRING] = '"', [SB_JSON_ARRAY] = '[',
		[SB_JSON_OBJECT] = '{'};
	const struct sb_json_node *first = sb_json_first(node);
	struct sb_json_place place = {.kind = kinds[node->type],
				      .start = (size_t)(node->raw - text),
				      .first = first ? (size_t)(first - tree->nodes) : 0};

	place.end = place.start + node->raw_length;
	if (node->key_raw) {
		place.key_start = (size_t)(node->key_raw - text);
		place.key_end = place.key_start + node->key_raw_length;
	}
	return place;
}

int sb_json_text_read(const char *bytes, size_t length, enum sb_json_dialect dialect,
		      struct sb_json_text *out, struct sb_error *err)
{
	struct sb_json_text text = {.text = bytes, .length = length};
	const char *wrong = dialect == SB_JSON_COMMENTS
				    ? sb_json_read_settings(bytes, length, &text.tree)
				    : sb_json_read(bytes, length, &text.tree);

	if (wrong)
		return sb_fail(err, SB_E_INVALID, 0, "%s", wrong);
	text.values = calloc(text.tree.count, sizeof *text.values);
	if (!text.values) {
		sb_json_text_done(&text);
		return sb_no_memory(err);
	}
	for (uint32_t i = 0; i < text.tree.count; i++) {
		const struct sb_json_node *node = &text.tree.nodes[i], *child;

		/* next is set by the one around it, which comes first */
		size_t next = text.values[i].next;

		text.values[i] = place_of(bytes, &text.tree, node);
		text.values[i].next = next;
		for (child = sb_json_first(node); child;) {
			const struct sb_json_node *after = sb_json_next(&text.tree, node, child);

			text.values[child - text.tree.nodes].next =
				after ? (size_t)(after - text.tree.nodes) : 0;
			child = after;
		}
	}
	*out = text;
	return SB_OK;
}

void sb_json_text_done(struct sb_json_text *text)
{
	if (!text)
		return;
	sb_json_tree_done(&text->tree);
	free(text->values);
	*text = (struct sb_json_text){0};
}

size_t sb_json_text_member(const struct sb_json_text *text, size_t object, const char *name)
{
	const struct sb_json_node *found =
		sb_json_member(&text->tree, &text->tree.nodes[object], name, strlen(name));

	return found ? (size_t)(found - text->tree.nodes) : 0;
}

/*
 * Half of a surrogate pair ("\ud800") has no form in UTF-8: the reader writes it in three bytes, which else
 * never begin so, and node as U+FFFD.  A path with one would be another to the agent than to us.
 */
static bool has_half_pair(const char *bytes, size_t length)
{
	const unsigned char *at = (const unsigned char *)bytes, *end = at + length;

	while (at < end && (at = memchr(at, 0xed, (size_t)(end - at))))
		if (++at < end && *at >= 0xa0)
			return true;
	return false;
}

const char *sb_json_text_bytes(const struct sb_json_text *text, size_t value, size_t *out_length)
{
	const struct sb_json_node *node = &text->tree.nodes[value];

	if (node->type != SB_JSON_STRING || has_half_pair(node->text, node->length))
		return NULL;
	*out_length = node->length;
	return node->text;
}

bool sb_json_text_is(const struct sb_json_text *text, size_t value, const char *bytes)
{
	size_t length;
	const char *found = sb_json_text_bytes(text, value, &length);

	return found && length == strlen(bytes) && memcmp(found, bytes, length) == 0;
}

char *sb_json_text_string(const struct sb_json_text *text, size_t value)
{
	size_t length;
	const char *found = sb_json_text_bytes(text, value, &length);

	return found && !memchr(found, '\0', length) ? strndup(found, length) : NULL;
}

size_t sb_json_text_skip(const char *bytes, size_t length, size_t at)
{
	return (size_t)(sb_json_skip(bytes + at, bytes + length) - bytes);
}
