/* test_chain.c - R1: a record that was changed, moved or removed shows. */
#include "session_log.h"

#include "base/buf.h"

static void an_untouched_log_holds(void **state)
{
	struct text text;
	struct sb_check check;
	struct stat info;

	five_records(*state, &text);
	check = verify(*state, text.session);
	assert_int_equal(check.bad_line, 0);
	assert_int_equal(check.records, 5);
	assert_true(check.exited);
	assert_false(check.torn_end);
	assert_int_equal(check.lost, 0);
	assert_int_equal(stat(text.path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(stat(in(*state, "log"), &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	free(text.bytes);
}

static void tampering_shows(void **state)
{
	static const struct {
		int lines[8];
		size_t at;
		const char *what;
	} cases[] = {
		{{2, 3, 4, 5}, 1, "record 1 is missing before record 2"},
		{{1, 3, 4, 5}, 2, "record 2 is missing before record 3"},
		{{1, 4, 5}, 2, "records 2 to 3 are missing before record 4"},
		{{1, 2, 3, 5}, 4, "record 4 is missing before record 5"},
		{{1, 3, 2, 4, 5}, 2, "record 2 is missing before record 3"},
		{{1, 2, 2, 3, 4, 5}, 3, "record 2 stands where record 3 belongs"},
		{{1, 2, 3, 4, 5, 5}, 6, "record 5 stands where record 6 belongs"},
		{{1, 2, 3, 4, 5, 1}, 6, "record 1 stands where record 6 belongs"},
		{{5}, 1, "records 1 to 4 are missing before record 5"},
	};
	struct text text;

	five_records(*state, &text);
	for (size_t i = 0; i < COUNT(cases); i++) {
		store_lines(&text, cases[i].lines);
		is_broken(*state, &text, cases[i].at, cases[i].what);
	}
	free(text.bytes);
}

/* Whatever single byte before the last newline is changed, added or taken away, it shows. */
static void every_byte_is_covered(void **state)
{
	struct text text;
	char *changed;

	five_records(*state, &text);
	changed = malloc(text.length + 2);
	for (size_t i = 0; i < text.length; i++) {
		memcpy(changed, text.bytes, text.length);
		changed[i] = changed[i] == '1' ? '2' : '1';
		store(&text, changed, text.length);
		if (i == text.length - 1) { /* the last newline: then it is a torn end */
			struct sb_check check = verify(*state, text.session);

			assert_true(check.torn_end);
			continue;
		}
		assert_int_not_equal(verify(*state, text.session).bad_line, 0);

		memcpy(changed, text.bytes, i);
		changed[i] = '\n';
		memcpy(changed + i + 1, text.bytes + i, text.length - i);
		store(&text, changed, text.length + 1);
		assert_int_not_equal(verify(*state, text.session).bad_line, 0);

		memcpy(changed, text.bytes, i);
		memcpy(changed + i, text.bytes + i + 1, text.length - i - 1);
		store(&text, changed, text.length - 1);
		assert_int_not_equal(verify(*state, text.session).bad_line, 0);
	}
	free(changed);
	free(text.bytes);
}

static void edits_are_named(void **state)
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(1 << 20);
	struct text text, other;
	char *path;

	five_records(*state, &text);
	path = strstr(text.line[2], "\"/b\"");
	path[2] = 'z';
	store(&text, text.bytes, text.length);
	is_broken(*state, &text, 3, "record 3 was changed, or what stands before it");
	path[2] = 'b';

	path = strstr(text.line[3], "\"/c\"");
	*path = 'x';
	store(&text, text.bytes, text.length);
	is_broken(*state, &text, 4, "this line is no record");
	*path = '"';

	/* a line put between; a record cut in its middle; an empty line */
	sb_buf_append(&bytes, text.bytes, (size_t)(text.line[2] - text.bytes));
	sb_buf_puts(&bytes, "hello\n");
	sb_buf_puts(&bytes, text.line[2]);
	store(&text, bytes.data, bytes.length);
	is_broken(*state, &text, 3, "this line is no record");
	sb_buf_done(&bytes);
	sb_buf_append(&bytes, text.bytes, (size_t)(text.line[2] - text.bytes) - 40);
	sb_buf_putc(&bytes, '\n');
	sb_buf_puts(&bytes, text.line[2]);
	store(&text, bytes.data, bytes.length);
	is_broken(*state, &text, 2, "this line is no record");
	sb_buf_done(&bytes);
	sb_buf_puts(&bytes, text.bytes);
	sb_buf_putc(&bytes, '\n');
	store(&text, bytes.data, bytes.length);
	is_broken(*state, &text, 6, "this line is no record");

	/* a record of another session with the right number */
	five_records(*state, &other);
	sb_buf_done(&bytes);
	sb_buf_append(&bytes, text.bytes, (size_t)(text.line[4] - text.bytes));
	sb_buf_puts(&bytes, other.line[4]);
	store(&text, bytes.data, bytes.length);
	assert_int_equal(verify(*state, text.session).bad_line, 5);
	assert_non_null(strstr(verify(*state, text.session).what, "is from another session"));
	/* and a whole file under another name */
	store(&text, other.bytes, other.length);
	assert_int_equal(verify(*state, text.session).bad_line, 1);
	free(other.bytes);
	free(text.bytes);
}

static void an_overlong_line_is_no_record(void **state)
{
	size_t length = 2 * SB_RECORD_MAX + 77;
	struct text text;
	char *bytes;

	five_records(*state, &text);
	bytes = malloc(length + 1 + text.length);
	memset(bytes, 'x', length);
	bytes[length] = '\n';
	memcpy(bytes + length + 1, text.bytes, text.length);
	store(&text, bytes, length + 1 + text.length);
	is_broken(*state, &text, 1, "this line is no record");
	free(bytes);
	free(text.bytes);
}

/* Cut anywhere: what is left of whole records holds, and the rest is a torn end. */
static void cut_ends_are_told(void **state)
{
	struct text text;

	five_records(*state, &text);
	for (size_t length = 0; length < text.length; length++) {
		struct sb_check check;
		size_t whole = 0;

		while (text.line[whole + 1] - text.bytes <= (ptrdiff_t)length)
			whole++;
		store(&text, text.bytes, length);
		check = verify(*state, text.session);
		assert_int_equal(check.bad_line, 0);
		assert_int_equal(check.records, whole);
		assert_int_equal(check.torn_end, length != (size_t)(text.line[whole] - text.bytes));
		assert_false(check.exited);
	}
	free(text.bytes);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

static const struct CMUnitTest tests[] = {
	WITH_TREE(an_untouched_log_holds),        WITH_TREE(tampering_shows),
	WITH_TREE(every_byte_is_covered),         WITH_TREE(edits_are_named),
	WITH_TREE(an_overlong_line_is_no_record), WITH_TREE(cut_ends_are_told),
};

UNIT_MAIN("chain")
