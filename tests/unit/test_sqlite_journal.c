/*
 * test_sqlite_journal.c - the end of a journal of SQLite, bytes of a stranger's.
 */
#include "unit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guard/guard.h"

#define AT "/home/u/p/app.db-journal"

static bool is_told(char first, const char *name, size_t length, uint32_t said, int more)
{
	static const char magic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
	char *bytes = malloc(length + 16), *at = bytes, note[SB_GUARD_NOTE] = "";
	uint32_t sum = (uint32_t)more;
	bool told;

	assert_non_null(bytes);
	for (size_t i = 0; i < length; i++) {
		sum += (uint32_t)(int32_t)(signed char)name[i];
		*at++ = name[i];
	}
	for (int shift = 24; shift >= 0; shift -= 8) {
		at[0] = (char)(said >> shift);
		at[4] = (char)(sum >> shift);
		at++;
	}
	memcpy(at + 4, magic, 8);
	told = sb_guard_journal_left(first, (struct sb_guard_bytes){bytes, length + 16}, AT, note,
				     sizeof note);
	assert_int_equal(told, note[0] != '\0');
	free(bytes);
	return told;
}

static bool names(const char *name)
{
	return is_told(1, name, strlen(name), (uint32_t)strlen(name), 0);
}

static void what_is_deleted_is_told(void **state)
{
	(void)state;
	assert_true(names("/home/u/.bashrc"));
	assert_true(names("victim"));
	assert_true(names("/home/u/p/other"));
	assert_true(names("/home/u/p/../x-mj01234567A"));
	assert_true(names("/home/u/p2/app.db-mj0123459AB"));
	assert_true(names("/home/u/p/app.db-mj01234x9AB"));
	assert_true(names("/\xff\x1b[2J"));
	assert_false(names("/home/u/p/app.db-mj0123459AB"));
	assert_false(names("/home/u/p/other.db-mjABCDEF900"));
}

static void what_sqlite_does_not_read_is_not(void **state)
{
	char note[SB_GUARD_NOTE];

	(void)state;
	assert_false(names(""));
	assert_false(is_told(0, "/x", 2, 2, 0)); /* it is over */
	assert_false(is_told(1, "/x", 2, 2, 1)); /* another sum */
	assert_false(is_told(1, "/x", 2, 3, 0)); /* longer than the file */
	assert_false(is_told(1, "/x", 2, UINT32_MAX, 0));
	assert_false(is_told(1, "\0/x", 3, 3, 0));
	for (size_t length = 0; length < 16; length++)
		assert_false(sb_guard_journal_left(
			1, (struct sb_guard_bytes){"0123456789abcdef", length}, AT, note,
			sizeof note));
	assert_true(sb_guard_is_journal("a-journal", 9));
	assert_true(sb_guard_is_journal("a-JOURNAL", 9));
	assert_false(sb_guard_is_journal("-journal", 8));
	assert_false(sb_guard_is_journal("a-journals", 10));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(what_is_deleted_is_told),
	cmocka_unit_test(what_sqlite_does_not_read_is_not),
};

UNIT_MAIN("sqlite journal")
