/* test_yaml.c - settings as people write them, and where an error is. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "zones/yaml.h"

/* As one line: {key: value, ...}, [a, b], 'word', - for nothing. */
static void put(const struct sb_yaml *node, struct sb_buf *out)
{
	switch (node->kind) {
	case SB_YAML_NOTHING:
		sb_buf_putc(out, '-');
		break;
	case SB_YAML_WORD:
		sb_buf_printf(out, "'%s'", node->text);
		break;
	default:
		sb_buf_putc(out, node->kind == SB_YAML_LIST ? '[' : '{');
		for (size_t i = 0; i < node->count; i++) {
			sb_buf_puts(out, i ? ", " : "");
			if (node->kind == SB_YAML_MAP)
				sb_buf_printf(out, "%s: ", node->items[i].key);
			put(&node->items[i], out);
		}
		sb_buf_putc(out, node->kind == SB_YAML_LIST ? ']' : '}');
	}
}

static void reads(void **state)
{
	static const struct {
		const char *text, *means;
	} rows[] = {
		{"", "-"},
		{"# nothing\n\n", "-"},
		{"a: b", "{a: 'b'}"},
		{"a: b # c\n", "{a: 'b'}"},
		{"a: b#c\n", "{a: 'b#c'}"},
		{"---\na: b\n...\n", "{a: 'b'}"},
		{"a:\n  b: c\n  d: e\nf: g\n", "{a: {b: 'c', d: 'e'}, f: 'g'}"},
		{"a:\n- b\n- c\nd: e\n", "{a: ['b', 'c'], d: 'e'}"},
		{"a:\n  - b: c\n    d: e\n  - f: g\n", "{a: [{b: 'c', d: 'e'}, {f: 'g'}]}"},
		{"- - a\n  - b\n- c\n", "[['a', 'b'], 'c']"},
		{"a: [b, 'c', \"d\", {e: f, g: [h]}, ]\n",
		 "{a: ['b', 'c', 'd', {e: 'f', g: ['h']}]}"},
		{"a: {}\nb: []\n", "{a: {}, b: []}"},
		{"a: 'it''s'\nb: \"x\\ty\"\n", "{a: 'it's', b: 'x\ty'}"},
		{"a: ''\n", "{a: ''}"},
		{"a:\nb: ~\nc: null\nd: 'null'\n", "{a: -, b: -, c: -, d: 'null'}"},
		{"a: |\n  one\n   two\n\n  three\nb: c\n", "{a: 'one\n two\n\nthree\n', b: 'c'}"},
		{"a: >-\n  one\n  two\n\n  three\n", "{a: 'one two\nthree'}"},
		{"'a b': http://x:1/y\n", "{a b: 'http://x:1/y'}"},
		{"a: one two  \n", "{a: 'one two'}"},
		{"a: \xc3\xa9\n", "{a: '\xc3\xa9'}"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		SB_AUTO_BUF struct sb_buf text = SB_BUF(4096);
		struct sb_error err;
		struct sb_yaml node;

		if (sb_yaml_parse("f", 1, rows[i].text, strlen(rows[i].text), &node, &err) != SB_OK)
			fail_msg("%s: %s", rows[i].text, err.message);
		put(&node, &text);
		assert_string_equal(text.data, rows[i].means);
		sb_yaml_done(&node);
	}
}

static void refuses(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"a: b\na: c\n", "f:2:1: expected each key once; 'a' is in line 1 already"},
		{"a: {b: c, b: d}\n", "f:1:11: expected each key once; 'b' is in line 1 already"},
		{"a: &x b\n", "f:1:4: expected a value; anchors and aliases are not read"},
		{"a: *x\n", "f:1:4: expected a value; anchors and aliases are not read"},
		{"a: !!str b\n", "f:1:4: expected a value; tags are not read"},
		{"%YAML 1.2\n", "f:1:1: expected a key"},
		{"\ta: b\n", "f:1:1: expected a key"},
		{"a:\n\tb: c\n", "f:2:1: expected spaces, found a tab"},
		{"a: b\n  c: d\n", "f:2:3: expected an indentation of 0 spaces or less, found 2"},
		{"a: b\n  c\n", "f:2:3: expected an indentation of 0 spaces or less, found 2"},
		{"  a: b\nc: d\n", "f:2:1: expected the end of the file"},
		{"a: [b\n", "f:1:6: expected ',' or ']' on this line"},
		{"a: 'b\n", "f:1:6: expected ' before the end of the line"},
		{"a: \"\\q\"\n", "f:1:6: expected one of \\a"},
		{"a: b: c\n", "f:1:5: expected one value on this line"},
		{"a\n", "f:1:1: expected a key"},
		{"a: b\n---\nc: d\n", "f:2:1: expected one document; a second begins here"},
		{"a: b\r\n", "f:1:5: expected plain text, found the byte 0x0d"},
		{"a: \x01\n", "f:1:4: expected plain text, found the byte 0x01"},
		{"a: \xe2\x80\xa8x\n", "f:1:4: expected plain text"},
		{"? a\n: b\n", "f:1:1: expected a key"},
		{"[[[[[[[[[[[[[[[[[[[[\n", "f:1:1: expected a key"},
		{"a: [[[[[[[[[[[[[[[[[[[[\n", "expected at most 16 levels"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sb_error err = {0};
		struct sb_yaml node;

		assert_int_equal(
			sb_yaml_parse("f", 1, rows[i].text, strlen(rows[i].text), &node, &err),
			SB_E_INVALID);
		if (!strstr(err.message, rows[i].says))
			fail_msg("'%s': '%s', not '%s'", rows[i].text, err.message, rows[i].says);
	}
}

static void is_bounded(void **state)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(1024 * 1024);
	struct sb_error err;
	struct sb_yaml node;

	(void)state;
	for (unsigned i = 0; i <= SB_YAML_MAX_NODES; i++)
		sb_buf_puts(&text, "- x\n");
	assert_int_equal(sb_yaml_parse("f", 1, text.data, text.length, &node, &err), SB_E_INVALID);
	assert_non_null(strstr(err.message, "expected at most 10000 values in all"));
}

/* Cut anywhere, a file is read or refused, and nothing behind its end is looked at. */
static void is_cut(void **state)
{
	static const char text[] =
		"a:\n  - b: 'c'\n    d: \"e\\n\"\n  - [f, {g: h}]\ni: |-\n  j\n\nk: >\n l";

	(void)state;
	for (size_t length = 0; length < sizeof text; length++) {
		char *exact = strndup(text, length);
		struct sb_error err;
		struct sb_yaml node;

		if (sb_yaml_parse("f", 1, exact, length, &node, &err) == SB_OK)
			sb_yaml_done(&node);
		free(exact);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(reads),
	cmocka_unit_test(refuses),
	cmocka_unit_test(is_bounded),
	cmocka_unit_test(is_cut),
};

UNIT_MAIN("yaml")
