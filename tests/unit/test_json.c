/* test_json.c - the writer's commas, line breaks and escapes, to the byte. */
#include "unit.h"

#include "base/json.h"

static void nothing_in_it(void **state)
{
	SB_AUTO_BUF struct sb_buf out;
	struct sb_json json;

	(void)state;
	sb_buf_init(&out, 1000);
	sb_json_init(&json, &out);
	sb_json_open(&json, '{');
	sb_json_close(&json, '}');
	assert_string_equal(out.data, "{}\n");
}

static void all_kinds_nested(void **state)
{
	SB_AUTO_BUF struct sb_buf out;
	struct sb_json json;

	(void)state;
	sb_buf_init(&out, 1000);
	sb_json_init(&json, &out);
	sb_json_open(&json, '{');
	sb_json_pair(&json, "text", "t");
	sb_json_pair(&json, "none", NULL);
	sb_json_pair_bool(&json, "yes", true);
	sb_json_pair_int(&json, "n", -7);
	sb_json_key(&json, "list");
	sb_json_open(&json, '[');
	sb_json_string(&json, "a");
	sb_json_int(&json, 2);
	sb_json_bool(&json, false);
	sb_json_open(&json, '{');
	sb_json_close(&json, '}');
	sb_json_open(&json, '[');
	sb_json_string(&json, NULL);
	sb_json_close(&json, ']');
	sb_json_close(&json, ']');
	sb_json_key(&json, "empty");
	sb_json_open(&json, '[');
	sb_json_close(&json, ']');
	sb_json_pair(&json, "last", "z");
	sb_json_close(&json, '}');
	assert_string_equal(out.data, "{\n"
				      "  \"text\": \"t\",\n"
				      "  \"none\": null,\n"
				      "  \"yes\": true,\n"
				      "  \"n\": -7,\n"
				      "  \"list\": [\n"
				      "    \"a\",\n"
				      "    2,\n"
				      "    false,\n"
				      "    {},\n"
				      "    [\n"
				      "      null\n"
				      "    ]\n"
				      "  ],\n"
				      "  \"empty\": [],\n"
				      "  \"last\": \"z\"\n"
				      "}\n");
}

static void compact_is_one_line(void **state)
{
	SB_AUTO_BUF struct sb_buf out;
	struct sb_json json;

	(void)state;
	sb_buf_init(&out, 1000);
	sb_json_init_compact(&json, &out);
	sb_json_open(&json, '{');
	sb_json_pair(&json, "a\nb", "c\nd");
	sb_json_key(&json, "list");
	sb_json_open(&json, '[');
	sb_json_int(&json, 1);
	sb_json_open(&json, '{');
	sb_json_close(&json, '}');
	sb_json_bytes(&json, "ab", 1);
	sb_json_bytes(&json, "\0\xff", 2);
	sb_json_close(&json, ']');
	sb_json_close(&json, '}');
	assert_string_equal(out.data, "{\"a\\u000ab\":\"c\\u000ad\","
				      "\"list\":[1,{},\"a\",\"\\u0000\\udcff\"]}\n");
}

static void writes(const char *text, const char *expected)
{
	SB_AUTO_BUF struct sb_buf out;
	struct sb_json json;

	sb_buf_init(&out, 1000);
	sb_json_init(&json, &out);
	sb_json_string(&json, text);
	assert_string_equal(out.data, expected);
}

static void strings_are_escaped(void **state)
{
	(void)state;
	writes("", "\"\"");
	writes("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	writes("\n\t\x01\x1b[2J\x7f", "\"\\u000a\\u0009\\u0001\\u001b[2J\\u007f\"");
	writes("na\xc3\xafve \xf0\x9f\x98\x80", "\"na\xc3\xafve \xf0\x9f\x98\x80\"");
}

/* The output may end up on a terminal, and some obey U+009B like an escape sequence's start. */
static void c1_controls_are_escaped(void **state)
{
	(void)state;
	writes("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\"\\u0080\\u009b\\u009f\xc2\xa0\"");
}

/* Python's json.loads and os.fsencode give these bytes back. */
static void bytes_that_are_no_utf8_become_lone_surrogates(void **state)
{
	(void)state;
	writes("a\xff", "\"a\\udcff\"");
	writes("\xc3", "\"\\udcc3\"");
	writes("\xed\xb2\x80", "\"\\udced\\udcb2\\udc80\"");
	writes("\xc0\xaf\xf5", "\"\\udcc0\\udcaf\\udcf5\"");
}

static void keys_are_escaped_too(void **state)
{
	SB_AUTO_BUF struct sb_buf out;
	struct sb_json json;

	(void)state;
	sb_buf_init(&out, 1000);
	sb_json_init(&json, &out);
	sb_json_open(&json, '{');
	sb_json_pair(&json, "a\"\n", "b");
	sb_json_close(&json, '}');
	assert_string_equal(out.data, "{\n  \"a\\\"\\u000a\": \"b\"\n}\n");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(nothing_in_it),
	cmocka_unit_test(all_kinds_nested),
	cmocka_unit_test(compact_is_one_line),
	cmocka_unit_test(strings_are_escaped),
	cmocka_unit_test(c1_controls_are_escaped),
	cmocka_unit_test(bytes_that_are_no_utf8_become_lone_surrogates),
	cmocka_unit_test(keys_are_escaped_too),
};

UNIT_MAIN("json")
