/*
 * save_names.c - the table, from traces of the programs it names (strace of one save each).
 *
 * A name is: before, the file's name, after, other characters, end.  Which ones these may be is
 * part of the row: "run.desktop" and "run.service" are no temporary names of "run".
 */
#include "consent/save_names.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/words.h"

enum others { RANDOM, NUMBER, LETTER };

struct row {
	const char *before;
	const char *after;
	unsigned least, most; /* how many other characters */
	const char *end;
	enum sb_save_match match;
	const char *why;
	bool hidden; /* only of a file whose name begins with a dot */
	enum others others;
};

#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* SB_SAVE_SURE only where the form is an editor's own. */
static const struct row with_file[] = {
	{".", ".sw", 1, 1, "", SB_SAVE_SURE, "vim's swap file",
	 .others = LETTER}, /* also nano's lock */
	{"", ".sw", 1, 1, "", SB_SAVE_SURE, "vim's swap file", .hidden = true, .others = LETTER},
	/* vim makes a second one for a moment, to see whether names are cut short there */
	{".", ".sw", 1, 1, "x", SB_SAVE_SURE, "vim's swap file", .others = LETTER},
	{"", ".sw", 1, 1, "x", SB_SAVE_SURE, "vim's swap file", .hidden = true, .others = LETTER},
	{"", "~", 0, 0, "", SB_SAVE_SURE, "a backup copy"}, /* vim, emacs, nano -B, cp -b */
	{"", ".~", 1, 4, "~", SB_SAVE_NEW, "a numbered backup copy", .others = NUMBER},
	{"#", "#", 0, 0, "", SB_SAVE_SURE, "emacs's autosave file"},
	{".#", "", 0, 0, "", SB_SAVE_SURE, "emacs's lock"},
	{".~lock.", "#", 0, 0, "", SB_SAVE_SURE, "LibreOffice's lock"},
	{"~$", "", 0, 0, "", SB_SAVE_SURE, "an office program's lock"},
	{".", ".kate-swp", 0, 0, "", SB_SAVE_SURE, "kate's swap file"},
	{"", "___jb_tmp___", 0, 0, "", SB_SAVE_SURE, "a JetBrains editor's temporary file"},
	{"", "___jb_old___", 0, 0, "", SB_SAVE_SURE, "a JetBrains editor's backup copy"},
	{"", ".vsctmp", 0, 0, "", SB_SAVE_SURE, "VS Code's temporary file"},
	{"", ".lock", 0, 0, "", SB_SAVE_NEW, "a lock"}, /* git writes there and renames it */
	{"", ".tmp", 0, 0, "", SB_SAVE_NEW, "a temporary file"},
	{".", ".tmp", 0, 0, "", SB_SAVE_NEW, "a temporary file"},
	{"", ".temp", 0, 0, "", SB_SAVE_NEW, "a temporary file"},
	{"", ".part", 0, 0, "", SB_SAVE_NEW, "a download in progress"},
	{"", ".new", 0, 0, "", SB_SAVE_NEW, "a temporary file"},
	{"", ".bak", 0, 0, "", SB_SAVE_NEW, "a backup copy"},  /* sed -i.bak, perl -i.bak */
	{"", ".orig", 0, 0, "", SB_SAVE_NEW, "a backup copy"}, /* patch -b, merge tools */
	{"", ".old", 0, 0, "", SB_SAVE_NEW, "a backup copy"},
	{"", ".save", 0, 0, "", SB_SAVE_NEW, "nano's rescue copy"},
	{"", ".rej", 0, 0, "", SB_SAVE_NEW, "patch's rejected part"},
	{"", ".tmp.", 1, 12, "", SB_SAVE_NEW, "a temporary file"}, /* with a process id */
	{".", ".", 6, 12, "", SB_SAVE_NEW, "a temporary file"},    /* rsync, python */
	{"", ".", 6, 12, "", SB_SAVE_NEW, "a temporary file"},     /* mkstemp, patch, Qt, npm */
};

/* Which file is saved cannot be told from these. */
static const struct row without_file[] = {
	{"sed", "", 6, 6, "", SB_SAVE_NEW, "sed's temporary file"},
	{"XX", "", 6, 6, "", SB_SAVE_NEW, "perl's temporary file"},
	{"tmp", "", 6, 10, "", SB_SAVE_NEW, "a temporary file"}, /* python, emacs */
	{".tmp", "", 6, 10, "", SB_SAVE_NEW, "a temporary file"},
	{".goutputstream-", "", 6, 6, "", SB_SAVE_NEW, "a GNOME program's temporary file"},
	{"qt_temp.", "", 6, 6, "", SB_SAVE_NEW, "a Qt program's temporary file"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* vim asks whether it may create files with 4913, and while that exists adds 123. */
static bool is_vim_probe(const char *name)
{
	unsigned number = 0;

	if (strlen(name) > 5 || name[0] == '0' || strspn(name, "0123456789") != strlen(name))
		return false;
	for (; *name; name++)
		number = 10 * number + (unsigned)(*name - '0');
	return number >= 4913 && number <= 4913 + 20 * 123 && (number - 4913) % 123 == 0;
}

/* Does text, length bytes, begin with before and end with "after RANDOM end"?  What is between? */
static bool split(const struct row *row, const char *text, size_t random, const char **out_file,
		  size_t *out_length)
{
	size_t length = strlen(text), before = strlen(row->before), after = strlen(row->after),
	       end = strlen(row->end), fixed = before + after + random + end;
	const char *tail;

	if (length < fixed || strncmp(text, row->before, before) != 0)
		return false;
	tail = text + length - after - random - end;
	if (strncmp(tail, row->after, after) != 0 || strcmp(tail + after + random, row->end) != 0 ||
	    strspn(tail + after, ALNUM) < random)
		return false;
	*out_file = text + before;
	*out_length = length - fixed;
	return true;
}

/*
 * "notes.backup" is a word, "notes.k3Xz9a" is not: two of small letters, capitals, others; or a
 * number, of a process or a moment.
 */
static bool looks_random(const char *text, size_t length)
{
	unsigned kinds = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] >= 'a' && text[i] <= 'z')
			kinds |= 1;
		else if (text[i] >= 'A' && text[i] <= 'Z')
			kinds |= 2;
		else
			kinds |= 4;
	}
	return (kinds & (kinds - 1)) || strspn(text, "0123456789") >= length;
}

static bool are_others(const struct row *row, const char *text, size_t length)
{
	switch (row->others) {
	case NUMBER:
		return strspn(text, "0123456789") >= length;
	case LETTER:
		return strspn(text, "abcdefghijklmnopqrstuvwxyz") >= length;
	default:
		return length == 0 || looks_random(text, length);
	}
}

static bool row_matches(const struct row *row, const char *file, const char *name)
{
	size_t length;
	const char *part;

	if (row->hidden && file[0] != '.')
		return false;
	for (unsigned random = row->least; random <= row->most; random++)
		if (split(row, name, random, &part, &length) && length == strlen(file) &&
		    memcmp(part, file, length) == 0 &&
		    (!length || are_others(row, part + length + strlen(row->after), random)))
			return true;
	return false;
}

enum sb_save_match sb_save_match(const char *file, const char *name)
{
	enum sb_save_match match = SB_SAVE_NOT;

	for (size_t i = 0; i < COUNT(with_file); i++)
		if (with_file[i].match > match && row_matches(&with_file[i], file, name))
			match = with_file[i].match;
	if (match == SB_SAVE_NOT && sb_save_temporary(name))
		match = SB_SAVE_NEW;
	return match;
}

bool sb_save_is_fixed(const char *file, const char *name)
{
	for (size_t i = 0; i < COUNT(with_file); i++)
		if (with_file[i].most == 0 && row_matches(&with_file[i], file, name))
			return true;
	return false;
}

const char *sb_save_temporary(const char *name)
{
	if (is_vim_probe(name))
		return "vim's test whether it may create files";
	for (size_t i = 0; i < COUNT(without_file); i++)
		if (row_matches(&without_file[i], "", name))
			return without_file[i].why;
	return NULL;
}

enum { NOTHING, A_FILE, SOMETHING_ELSE };

/* Nobody saves a directory or a socket: a yes to "docs~" must not become one to "docs/". */
static int what_is(int directory, const char *name)
{
	struct stat info;

	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? NOTHING : SOMETHING_ELSE;
	return S_ISREG(info.st_mode) ? A_FILE : SOMETHING_ELSE;
}

bool sb_save_file(int directory, const char *name, char out_file[NAME_MAX + 1],
		  const char **out_why)
{
	char guess[NAME_MAX + 1] = "";
	const char *guess_why = NULL;

	for (size_t i = 0; i < COUNT(with_file); i++) {
		const struct row *row = &with_file[i];

		for (unsigned random = row->least; random <= row->most; random++) {
			char file[NAME_MAX + 1];
			const char *part;
			size_t length;
			int there;

			if (!split(row, name, random, &part, &length) || length == 0 ||
			    length > NAME_MAX)
				continue;
			if (!are_others(row, part + length + strlen(row->after), random))
				continue;
			memcpy(file, part, length);
			file[length] = '\0';
			if (sb_is_dots(file) || (row->hidden && file[0] != '.'))
				continue;
			there = what_is(directory, file);
			if (there == A_FILE) {
				memcpy(out_file, file, length + 1);
				*out_why = row->why;
				return true;
			}
			if (there == NOTHING && !guess_why && row->match == SB_SAVE_SURE) {
				memcpy(guess, file, length + 1);
				guess_why = row->why;
			}
		}
	}
	if (!guess_why)
		return false;
	memcpy(out_file, guess, strlen(guess) + 1);
	*out_why = guess_why;
	return true;
}
