/*
 * git_files.h - the files that git and its friends keep in a git directory: a list of good names.
 *
 * Everything that may lie there is known, so this table is turned round: a name that it does not
 * have is asked about.  Patterns start at the git directory (.git, .git/worktrees/ID,
 * .git/modules/NAME, a bare repository) and are compared byte by byte: another spelling, which a
 * file system may take for the same, is not known.
 */
#ifndef SB_GUARD_GIT_FILES_H
#define SB_GUARD_GIT_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct sb_guard_row;

/*
 * rest begins behind "/.git/" or its like.  The part of it that lies in the innermost git directory:
 * "worktrees/a/modules/lib/x/HEAD" gives "HEAD".
 */
const char *sb_git_inner(const char *rest);

/*
 * Is it ".NAME.XXXXXX", under which rsync and others write what they then rename to NAME?  One component; *length
 * becomes that of NAME, which begins at name + 1.
 */
bool sb_git_is_temporary(const char *name, size_t *length);

/* What is known about a file there; the last row ("*", ask) where nothing is. */
const struct sb_guard_row *sb_git_row_of(const char *inner);

/* Is everything beneath this directory known to be harmless, whatever it is called? */
bool sb_git_is_free(const char *inner);

/* Does git keep files in a directory of this name?  Of the first component. */
bool sb_git_is_known_directory(const char *inner);

/*
 * SECURITY: right in a git directory, a directory that nobody is known to keep there asks.
 *
 * Danger: that it is there is the message.  PATH=.git/safe/../../bin:$PATH is a common trick: "mkdir .git/safe" says that the
 * programs of this project are trusted.
 * Price: a tool that keeps a directory of its own there is asked about, as for its files.
 * Held by: tests/supervise/git_directories.py
 */
bool sb_git_expects_directory(const char *name);

/* The row for what git does not know. */
const struct sb_guard_row *sb_git_unknown_row(void);

/*
 * The rows that are about one name and allow less than anything, one after the other, from *position 0 on;
 * then NULL.
 */
const struct sb_guard_row *sb_git_next_fixed(size_t *position);

#define SB_GIT_MAX_FIXED 128 /* of them */

bool sb_git_row_is_fixed(const struct sb_guard_row *row);

/* The name that such a row is about, seen from the git directory. */
const char *sb_git_fixed_name(const struct sb_guard_row *row);

/*
 * Does git keep names that anybody may invent, and that have a form, behind this one: refs, svn?  Or is it
 * one of these itself: git-p4.sync?  Of one component, as the most forgiving file system finds it.
 */
bool sb_git_is_open_ended(const char *name, size_t length);

/* Can that be?  Two letters tell for most names there are; no name is empty. */
static inline bool sb_git_may_be_open_ended(const char *name)
{
	char second;

	switch (name[0] | 0x20) {
	case 'r':
		second = 'e';
		break;
	case 's':
		second = 'v';
		break;
	case 'g':
		second = 'i';
		break;
	case 'f':
		second = 's';
		break;
	default:
		return (signed char)name[0] < 0;
	}
	return (name[1] | 0x20) == second || (signed char)name[1] < 0;
}

/* Is it the row for what git does not know? */
bool sb_git_row_is_unknown(const struct sb_guard_row *row);

#define SB_ODD_REF "a name that shells may take for a command"

/* A branch whose name is a command to some prompt: inner, which row is about. */
bool sb_git_ref_is_odd(const struct sb_guard_row *row, const char *inner);

/* A name of a branch or tag that git allows, and that no shell takes for more than a word. */
bool sb_git_ref_is_plain(const char *name, size_t length);

#endif
