/*
 * grammar.h - what a path says by the grammar of a system, whatever system this is (F5).
 *
 * By text alone: nothing is looked up, so links, mounts and what a short name (PROGRA~1) stands for are
 * not known here.  Bytes are UTF-8 as far as they are text; no more is assumed of them.
 */
#ifndef SB_PATH_GRAMMAR_H
#define SB_PATH_GRAMMAR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"

enum sb_grammar { SB_POSIX, SB_WINDOWS };

/* Where a path starts. */
enum sb_path_start {
	SB_START_HERE,   /* a, a\b */
	SB_START_ROOT,   /* /a; C:\a; \\?\C:\a */
	SB_START_ROOTED, /* \a: at the root of the current drive */
	SB_START_DRIVE,  /* C:a: in the directory where that drive stands */
	SB_START_SHARE,  /* \\server\share\a; \\?\UNC\server\share\a */
	SB_START_DEVICE, /* \\.\X, \\?\X, \??\X that is neither a drive nor a share */
};

/* What a path has beside names. */
enum sb_path_odd {
	SB_ODD_CLIMBS = 1,     /* ".." above its root, or above where a relative path starts */
	SB_ODD_BACK = 2,       /* a backslash separates */
	SB_ODD_RESERVED = 4,   /* a device, whatever directory it is in: NUL, com1.txt */
	SB_ODD_STREAM = 8,     /* a.txt:s, a.txt::$DATA: a part of a file that no listing shows */
	SB_ODD_SHORT = 16,     /* PROGRA~1: may be another name of something */
	SB_ODD_TRIMMED = 32,   /* dots or blanks at the end of a name, which are left out */
	SB_ODD_CHARACTER = 64, /* one that no name can have: < > " | ? * and control characters */
};

struct sb_parsed {
	enum sb_path_start start;
	unsigned odd;
	size_t root; /* so much of text is no name, with its separator: "/", "C:\", "\\server\share\" */
	char text
		[PATH_MAX]; /* in one spelling: one separator, no empty, "." or ".." that can be taken away */
};

/*
 * Parse path.  A relative one keeps the ".." with which it climbs; above a root they lead nowhere.
 * SB_E_INVALID: empty, too long or (\\server) without an end.
 */
int sb_path_parse(enum sb_grammar grammar, const char *path, struct sb_parsed *out,
		  struct sb_error *err);

/* True when path is dir itself or lies beneath it.  Windows' names are compared without regard to case. */
bool sb_parsed_within(enum sb_grammar grammar, const struct sb_parsed *dir,
		      const struct sb_parsed *path);

/*
 * What path, as somebody wrote it who stands in root (absolute), leads to: SB_OK, and out is absolute and
 * in root.  Else SB_E_INVALID with the reason: outside, or not surely what it says (a device, a stream, a
 * short name, a drive whose directory nobody knows).
 */
int sb_path_inside(enum sb_grammar grammar, const char *root, const char *path,
		   struct sb_parsed *out, struct sb_error *err);

/* Is name[0..length) a device of Windows, with extension or without: NUL, com1.txt, "aux "? */
bool sb_windows_is_device(const char *name, size_t length);

#endif
