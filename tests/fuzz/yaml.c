/*
 * yaml.c - fuzz target: the input is a file of settings, as a project brings it.
 *
 * What is read is a tree within bounds, each key once; written as one line in braces and quotes it reads back as the
 * same.  What is not read is refused with a place in it.
 */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "zones/yaml.h"

static void put_word(struct sb_buf *out, const char *text)
{
	static const char names[] = "abtnvfre\"\\", values[] = "\a\b\t\n\v\f\r\033\"\\";

	sb_buf_putc(out, '"');
	for (; *text; text++) {
		const char *found = strchr(values, *text);

		if (found)
			sb_buf_putc(out, '\\');
		sb_buf_putc(out, found ? names[found - values] : *text);
	}
	sb_buf_putc(out, '"');
}

static size_t put(struct sb_buf *out, const struct sb_yaml *node, unsigned depth)
{
	size_t nodes = 1;

	CHECK(depth <= SB_YAML_MAX_DEPTH + 1 && node->line >= 1 && node->column >= 1);
	CHECK((node->kind == SB_YAML_WORD) == (node->text != NULL));
	if (node->kind == SB_YAML_WORD)
		put_word(out, node->text);
	if (node->kind == SB_YAML_NOTHING)
		sb_buf_putc(out, '~');
	if (node->kind < SB_YAML_LIST) {
		CHECK(!node->count);
		return nodes;
	}
	sb_buf_putc(out, node->kind == SB_YAML_MAP ? '{' : '[');
	for (size_t i = 0; i < node->count; i++) {
		const struct sb_yaml *item = &node->items[i];

		CHECK((node->kind == SB_YAML_MAP) == (item->key != NULL));
		if (item->key) {
			CHECK(sb_yaml_get(node, item->key) == item);
			put_word(out, item->key);
			sb_buf_puts(out, ": ");
		}
		nodes += put(out, item, depth + 1);
		sb_buf_putc(out, ',');
	}
	sb_buf_putc(out, node->kind == SB_YAML_MAP ? '}' : ']');
	return nodes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SB_AUTO_BUF struct sb_buf first = SB_BUF(1 << 24), second = SB_BUF(1 << 24);
	char *text = malloc(size + !size); /* exactly: what is read behind it is found */
	struct sb_yaml node;
	struct sb_error err;
	int status;

	CHECK(text);
	if (size)
		memcpy(text, data, size);
	status = sb_yaml_parse("f", 1, text, size, &node, &err);
	free(text);
	if (status != SB_OK) {
		CHECK(strncmp(err.message, "f:", 2) == 0);
		return 0;
	}
	sb_buf_puts(&first, "{k: ");
	CHECK(put(&first, &node, 1) <= SB_YAML_MAX_NODES + 1);
	sb_buf_putc(&first, '}');
	sb_yaml_done(&node);
	status = sb_yaml_parse("f", 1, first.data, first.length, &node, &err);
	if (status != SB_OK) { /* the braces around it are one level and one value more */
		CHECK(strstr(err.message, "expected at most"));
		return 0;
	}
	sb_buf_puts(&second, "{k: ");
	put(&second, &node.items[0], 1);
	sb_buf_putc(&second, '}');
	CHECK(second.length == first.length && memcmp(first.data, second.data, first.length) == 0);
	sb_yaml_done(&node);
	return 0;
}
