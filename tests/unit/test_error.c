/* test_error.c - an error says what failed, in one safe line, and nothing left over. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "sandbash/error.h"

static void fills_every_field(void **state)
{
	struct sb_error err;

	(void)state;
	memset(&err, 'x', sizeof err);
	assert_int_equal(sb_fail(&err, SB_E_MISSING, ENOENT, "cannot open '%s'", "/x"),
			 SB_E_MISSING);
	assert_int_equal(err.code, SB_E_MISSING);
	assert_int_equal(err.sys_errno, ENOENT);
	assert_string_equal(err.message, "cannot open '/x'");
	assert_string_equal(err.hint, "");
}

static void a_hint_is_added_and_a_new_failure_drops_it(void **state)
{
	struct sb_error err;

	(void)state;
	sb_fail(&err, SB_E_CONFLICT, 0, "two rules");
	assert_int_equal(sb_hint(&err, "remove %d", 1), SB_E_CONFLICT);
	assert_string_equal(err.message, "two rules");
	assert_string_equal(err.hint, "remove 1");
	sb_fail(&err, SB_E_INVALID, 0, "another");
	assert_string_equal(err.hint, "");
	assert_int_equal(err.sys_errno, 0);
}

static void only_the_code_without_a_place_for_words(void **state)
{
	(void)state;
	assert_int_equal(sb_fail(NULL, SB_E_BROKEN, 0, "%s", "x"), SB_E_BROKEN);
	assert_true(sb_hint(NULL, "%s", "x") < 0);
}

static void names_in_it_cannot_steer_a_terminal(void **state)
{
	struct sb_error err;

	(void)state;
	sb_fail(&err, SB_E_INVALID, 0, "cannot use '%s'", "a\nb\x1b[2J\xff\xe2\x80\xae");
	assert_string_equal(err.message, "cannot use 'a\\nb\\e[2J\\xff\\u{202e}'");
	sb_hint(&err, "try '%s'", "\r");
	assert_string_equal(err.hint, "try '\\r'");
}

/* The reader of a file adds its name to what a line's parser said. */
static void a_message_can_be_wrapped_in_itself(void **state)
{
	struct sb_error err;

	(void)state;
	sb_fail(&err, SB_E_INVALID, 0, "unknown '%s'", "\x1b");
	sb_fail(&err, SB_E_INVALID, 0, "'%s' line %d: %s", "/c", 5, err.message);
	assert_string_equal(err.message, "'/c' line 5: unknown '\\e'");
}

static void what_does_not_fit_is_cut_visibly(void **state)
{
	(void)state;
	for (size_t length = 900; length < 6000; length++) {
		struct sb_error err;
		char name[6001];

		memset(name, 'n', length);
		memcpy(name + length - 2, "\xc3\xa9", 3);
		sb_fail(&err, SB_E_INVALID, 0, "%s", name);
		assert_true(strlen(err.message) < sizeof err.message);
		if (length < sizeof err.message)
			assert_string_equal(err.message, name);
		else
			assert_string_equal(err.message + strlen(err.message) - 3, "...");
		assert_null(strchr(err.message, '\\')); /* no half character */
		sb_hint(&err, "%s", name);
		assert_string_equal(err.hint + strlen(err.hint) - 3, "...");
	}
}

static void every_code_has_its_own_name(void **state)
{
	(void)state;
	assert_string_equal(sb_code_name(SB_OK), "OK");
	assert_string_equal(sb_code_name(SB_E_UNSUPPORTED), "UNSUPPORTED");
	assert_string_equal(sb_code_name((enum sb_code) - 99), "UNKNOWN");
	for (int a = SB_E_BROKEN; a <= SB_OK; a++) {
		assert_string_not_equal(sb_code_name((enum sb_code)a), "UNKNOWN");
		for (int b = SB_E_BROKEN; b < a; b++)
			assert_string_not_equal(sb_code_name((enum sb_code)a),
						sb_code_name((enum sb_code)b));
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(fills_every_field),
	cmocka_unit_test(a_hint_is_added_and_a_new_failure_drops_it),
	cmocka_unit_test(only_the_code_without_a_place_for_words),
	cmocka_unit_test(names_in_it_cannot_steer_a_terminal),
	cmocka_unit_test(a_message_can_be_wrapped_in_itself),
	cmocka_unit_test(what_does_not_fit_is_cut_visibly),
	cmocka_unit_test(every_code_has_its_own_name),
};

UNIT_MAIN("error")
