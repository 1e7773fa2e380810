/*
 * SECURITY: a journal of SQLite that is left behind deletes the file that it names.
 *
 * Danger: who opens the database next plays its -journal back, and then deletes the super-journal that is named at its end
 * (pager.c: readSuperJournal, pager_delsuper), with the rights of whoever that is: any path.
 * Price: nobody is asked, since programs make journals all day; what is left when the run ends is told.
 * Held by: tests/supervise/sqlite_journal.py, tests/unit/test_sqlite_journal.c
 *
 * Its end, by sqlite.org/fileformat2.html and pager.c: the name, its length, the sum of its bytes (four bytes each, big end
 * first), and eight bytes that every journal begins with.  One that begins with a zero is over, and not read.
 */
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "guard/guard.h"

enum { ENDING = 16, MAX_NAME = SB_GUARD_JOURNAL_TAIL - ENDING };

bool sb_guard_is_journal(const char *name, size_t length)
{
	static const char ending[] = "-journal";

	return length > strlen(ending) &&
	       strncasecmp(name + length - strlen(ending), ending, strlen(ending)) == 0;
}

static uint32_t number_at(const char *at)
{
	const unsigned char *byte = (const unsigned char *)at;

	return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
}

/* A char has a sign on some machines: there the sum is another one. */
static bool is_sum(uint32_t sum, const char *text, size_t length)
{
	uint32_t with = 0, without = 0;

	for (size_t i = 0; i < length; i++) {
		with += (uint32_t)(int32_t)(signed char)text[i];
		without += (unsigned char)text[i];
	}
	return sum == with || sum == without;
}

/* SQLite's own: beside the database of path, and called MAIN-mj and nine digits, hexadecimal. */
static bool is_own(const char *name, size_t length, const char *path)
{
	const char *slash = memrchr(name, '/', length), *end = strrchr(path, '/');
	size_t directory = slash ? (size_t)(slash - name) : 0;

	if (!slash || !end || directory != (size_t)(end - path) ||
	    memcmp(name, path, directory) != 0 || length - directory < sizeof "/x-mj" - 1 + 9 ||
	    memcmp(name + length - 12, "-mj", 3) != 0)
		return false;
	for (size_t i = length - 9; i < length; i++)
		if (!memchr("0123456789ABCDEFabcdef", name[i], 22))
			return false;
	return true;
}

bool sb_guard_journal_left(char first, struct sb_guard_bytes tail, const char *path, char *note,
			   size_t size)
{
	static const char magic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
	SB_AUTO_BUF struct sb_buf line = SB_BUF(8 * SB_GUARD_JOURNAL_TAIL);
	const char *end = tail.bytes + tail.length - ENDING, *name;
	size_t length;

	if (!first || tail.length < ENDING || memcmp(end + 8, magic, 8) != 0)
		return false;
	length = number_at(end);
	if (!length || length > MAX_NAME || length > tail.length - ENDING)
		return false;
	name = end - length;
	if (!is_sum(number_at(end + 4), name, length))
		return false;
	length = strnlen(name, length);
	if (!length || is_own(name, length, path))
		return false;
	sb_buf_puts(&line, "is left behind; SQLite deletes '");
	sb_escape_value(&line, name, length, SB_GUARD_NOTE / 2);
	sb_buf_puts(&line, "' when the database is opened");
	sb_escape_line(note, size, line.data);
	return true;
}
