/* test_buf.c - a buffer holds its limit, remembers failing, and is always a string. */
#include "unit.h"

#include <string.h>

#include "base/buf.h"

static void begins_as_an_empty_string(void **state)
{
	struct sb_buf buf;

	(void)state;
	sb_buf_init(&buf, 10);
	assert_string_equal(buf.data, "");
	assert_int_equal(buf.length, 0);
	assert_false(sb_buf_failed(&buf));
	sb_buf_done(&buf);
}

static void appends_bytes_text_and_formats(void **state)
{
	SB_AUTO_BUF struct sb_buf buf;

	(void)state;
	sb_buf_init(&buf, 100);
	sb_buf_append(&buf, "a\0b", 3);
	sb_buf_puts(&buf, "-text-");
	sb_buf_putc(&buf, '!');
	sb_buf_printf(&buf, "%s=%d", "n", 42);
	sb_buf_append(&buf, NULL, 0);
	assert_int_equal(buf.length, 14);
	assert_memory_equal(buf.data, "a\0b-text-!n=42", 15);
}

static void grows_to_the_limit_and_no_further(void **state)
{
	(void)state;
	for (size_t limit = 0; limit < 600; limit += 51) {
		SB_AUTO_BUF struct sb_buf buf;

		sb_buf_init(&buf, limit);
		for (size_t i = 0; i < limit; i++)
			sb_buf_putc(&buf, 'x');
		assert_false(sb_buf_failed(&buf));
		assert_int_equal(buf.length, limit);
		sb_buf_putc(&buf, 'y');
		assert_true(sb_buf_failed(&buf));
		assert_int_equal(buf.length, limit);
		assert_null(strchr(buf.data, 'y'));
	}
}

static void a_failure_sticks(void **state)
{
	SB_AUTO_BUF struct sb_buf buf;

	(void)state;
	sb_buf_init(&buf, 4);
	sb_buf_puts(&buf, "ab");
	sb_buf_puts(&buf, "too long");
	sb_buf_putc(&buf, 'c'); /* would fit, but must not: the text has a hole */
	sb_buf_printf(&buf, "%d", 1);
	assert_true(sb_buf_failed(&buf));
	assert_string_equal(buf.data, "ab");
	assert_null(sb_buf_take(&buf));
}

/* A length from outside may be any number: it must neither wrap around nor loop. */
static void absurd_lengths_fail_at_once(void **state)
{
	static volatile size_t absurd[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2 + 2};

	(void)state;
	for (size_t i = 0; i < COUNT(absurd); i++) {
		SB_AUTO_BUF struct sb_buf buf;

		sb_buf_init(&buf, SIZE_MAX);
		sb_buf_putc(&buf, 'x');
		sb_buf_append(&buf, "y", absurd[i]);
		assert_true(sb_buf_failed(&buf));
		assert_string_equal(buf.data, "x");
	}
}

static void formats_that_end_where_the_memory_ends(void **state)
{
	(void)state;
	for (int length = 250; length < 260; length++) {
		SB_AUTO_BUF struct sb_buf buf;

		sb_buf_init(&buf, 1000);
		sb_buf_printf(&buf, "%*s", length, "");
		sb_buf_printf(&buf, "%s", "z");
		assert_int_equal(buf.length, length + 1);
		assert_int_equal(strlen(buf.data), length + 1);
	}
}

static void gives_its_text_away(void **state)
{
	struct sb_buf buf;
	char *taken;

	(void)state;
	sb_buf_init(&buf, 10);
	taken = sb_buf_take(&buf);
	assert_string_equal(taken, ""); /* an empty one too, and free() takes it */
	free(taken);
	sb_buf_puts(&buf, "text");
	taken = sb_buf_take(&buf);
	assert_string_equal(taken, "text");
	free(taken);
	assert_string_equal(buf.data, "");
	sb_buf_puts(&buf, "again");
	assert_string_equal(buf.data, "again");
	sb_buf_done(&buf);
	sb_buf_done(&buf);
	assert_string_equal(buf.data, "");
}

static void done_takes_null_and_half_built(void **state)
{
	struct sb_buf zero = {0};

	(void)state;
	sb_buf_done(NULL);
	sb_buf_done(&zero);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(begins_as_an_empty_string),
	cmocka_unit_test(appends_bytes_text_and_formats),
	cmocka_unit_test(grows_to_the_limit_and_no_further),
	cmocka_unit_test(a_failure_sticks),
	cmocka_unit_test(absurd_lengths_fail_at_once),
	cmocka_unit_test(formats_that_end_where_the_memory_ends),
	cmocka_unit_test(gives_its_text_away),
	cmocka_unit_test(done_takes_null_and_half_built),
};

UNIT_MAIN("buf")
