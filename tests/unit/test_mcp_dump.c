/* test_mcp_dump.c - our JSON text is jansson's, for every kind of value and every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/wire/dump.h"

static void check_same(json_t *value)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(1024 * 1024);
	char *wanted = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	json_t *back;

	assert_non_null(wanted);
	sb_dump(value, &out);
	assert_false(sb_buf_failed(&out));
	assert_null(strchr(out.data, '\n'));
	back = json_loads(out.data, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	assert_non_null(back);
	assert_true(json_equal(back, value));
	assert_string_equal(out.data, wanted);
	json_decref(back);
	free(wanted);
	json_decref(value);
}

static void every_kind(void **state)
{
	(void)state;
	check_same(json_null());
	check_same(json_true());
	check_same(json_integer(INT64_MIN));
	check_same(json_real(0.1));
	check_same(json_pack("{s:[], s:{}, s:[i, f, n, b, s]}", "a", "b", "c", 1, 2.5, 1, "x"));
}

/* Each character at each place of a word of eight, and beyond. */
static void every_byte(void **state)
{
	char text[40];

	(void)state;
	for (int c = 0; c < 128; c++)
		for (size_t at = 0; at < 20; at++) {
			memset(text, 'x', sizeof text);
			text[at] = (char)c;
			check_same(json_stringn(text, 20));
		}
	check_same(json_string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 \x7f"));
}

static void twice(void **state)
{
	char text[5000];
	json_t *string;

	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = "a\"\\\n\t\x01z"[i % 7];
	string = json_stringn(text, sizeof text);
	check_same(json_pack("{s:O, s:[O], s:{s:o}}", "a", string, "b", string, "c", "d", string));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind),
					   cmocka_unit_test(every_byte), cmocka_unit_test(twice)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
