/*
 * search.h - finding files by name (glob) and by content (grep) beneath one root.
 *
 *     glob:    sb_glob_new -> sb_search_glob(source, query, found)  -> sb_glob_free
 *     grep:    sb_grep_new -> sb_search_grep(source, query, found)  -> sb_grep_free
 *     ignore:  tree/ignore.h: would git ignore this name?
 *
 * Where: a source (tree/source.h).  Every path in this header is relative to its root.
 *
 * A search uses threads of its own, which call the backend and the sight at once; results
 * come in the thread that asked, one after the other, in the order of a walk (names as bytes,
 * a directory before what is in it), the same on every run.  Memory is bounded by the limits
 * of the query and does not grow with the tree.  Symbolic links are results of a glob and are never
 * followed; FIFOs, devices and sockets are never opened.
 *
 * glob.c and walk.c need libc alone; the grep_*.c need pcre2 (libsandbash-search).
 */
#ifndef SB_SEARCH_SEARCH_H
#define SB_SEARCH_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbash/error.h"
#include "tree/ignore.h"
#include "tree/source.h"

/* ---- where to search ---- */

/* The backend of the disk; its context is a struct sb_search_disk. */
extern const struct sb_search_backend sb_search_disk_backend;

struct sb_search_disk {
	int root;       /* a directory, O_PATH will do; stays the caller's */
	bool one_mount; /* do not enter what is mounted beneath the root */
	bool one_link;  /* do not read files that have other names, which may be elsewhere */
};

/* ---- which part of it, and how long: common to glob and grep ---- */

enum sb_search_flags {
	SB_SEARCH_IGNORED = 1, /* also what git ignores */
	SB_SEARCH_GIT = 2,     /* also inside .git directories */
	SB_SEARCH_VISIBLE = 4, /* leave out names that begin with a dot */
};

struct sb_glob;

struct sb_search_scope {
	const char *start; /* directory to begin in, or one file; NULL: "" */
	unsigned flags;    /* enum sb_search_flags */
	/* Files (grep) or names (glob) that one of these matches, relative to start; none: all. */
	const struct sb_glob *const *includes;
	size_t include_count;
	/* What one of these matches, relative to start, is left out with everything beneath. */
	const struct sb_glob *const *excludes;
	size_t exclude_count;
	const char *global_ignore; /* text of git's core.excludesFile, weakest of all; or NULL */
	size_t global_ignore_length;
	unsigned timeout_ms;       /* 0: none */
	const atomic_bool *cancel; /* polled; true ends the search; NULL: never */
	unsigned threads;          /* 0: as many as processors, 2 to 8 */
	unsigned max_depth;        /* names below start; 0: SB_SEARCH_DEPTH */
};

#define SB_SEARCH_DEPTH 256 /* deeper directories are counted as skipped */

enum sb_search_why { /* why a search ended */
		     SB_SEARCH_DONE,
		     SB_SEARCH_LIMIT,   /* max_results reached, or found() said stop */
		     SB_SEARCH_TIMEOUT, /* results so far are right, and the first in order */
		     SB_SEARCH_CANCELLED,
		     SB_SEARCH_COSTLY, /* the pattern costs too much on these files */
};

struct sb_search_end {
	enum sb_search_why why;
	uint64_t results;     /* given to found(): names, or matching lines */
	uint64_t directories; /* listed */
	uint64_t files;       /* considered (glob), read (grep) */
	uint64_t bytes;       /* read by grep */
	uint64_t binary;      /* files passed over because they are no text */
	uint64_t unreadable;  /* directories and files that could not be opened or read */
	uint64_t costly;      /* lines given up on: match limit */
	uint64_t skipped;     /* too deep, too large */
};

/* ---- glob ---- */

/*
 * The language, for paths relative to where the search starts:
 *
 *     *        any run of characters in one name     ?       one character
 *     **       alone between slashes: any number of directories, also none
 *              ("a/XX" with XX = ** is all that lies beneath a, not a; elsewhere ** is *)
 *     [a-z]    one of a set; [!a-z], [^a-z] none of it; [[:alpha:]]; never a slash
 *     {a,b}    either; may nest, be empty and hold slashes; {1..9}, {01..10..3}, {a..e}
 *     \x       x itself
 *
 * Names that begin with a dot match like others.  A character is a UTF-8 sequence, or a byte
 * that is none.  A "[" or "{" that is never closed stands for itself.  A leading "./" and
 * doubled slashes fall away; a "/" at the end means directories only.  This is minimatch
 * with {dot: true}, without its extglob "+(a|b)"; SB_GLOB_MINIMATCH adds its leading "!" and "#".
 */
enum sb_glob_flags {
	SB_GLOB_NOCASE = 1,    /* ASCII letters */
	SB_GLOB_NAME = 2,      /* a pattern without "/" matches the name at any depth */
	SB_GLOB_MINIMATCH = 4, /* leading "!" negates, leading "#" matches nothing */
};

/* SB_E_INVALID: longer than 4096 bytes, more than 1024 alternatives, a ".." component, absolute. */
int sb_glob_new(const char *pattern, unsigned flags, struct sb_glob **out, struct sb_error *err);
void sb_glob_free(struct sb_glob *glob);
bool sb_glob_match(const struct sb_glob *glob, const char *path, bool directory);
/* Could something beneath this directory match?  May say yes in vain. */
bool sb_glob_may_hold(const struct sb_glob *glob, const char *directory);

struct sb_glob_query {
	size_t size;                  /* sizeof(struct sb_glob_query) */
	struct sb_search_scope scope; /* scope.includes is what is looked for */
	unsigned kinds;               /* enum sb_search_kind bits; 0: FILE | LINK */
	uint64_t max_results;         /* 0: no limit */
};

/*
 * search_files{path, pattern, excludePatterns} of the reference server: kinds = ALL,
 * flags = IGNORED | GIT, includes and excludes made with SB_GLOB_MINIMATCH.
 */

/* path: valid during the call.  false: enough. */
typedef bool (*sb_glob_found)(void *to, const char *path, enum sb_search_kind kind);

/* SB_E_MISSING: start is not there or not to be seen.  *out_end (may be NULL) is always written. */
int sb_search_glob(const struct sb_search_source *source, const struct sb_glob_query *query,
		   sb_glob_found found, void *to, struct sb_search_end *out_end,
		   struct sb_error *err);

/* ---- grep ---- */

enum sb_grep_flags {
	SB_GREP_NOCASE = 1,
	SB_GREP_WORD = 2,        /* the match stands between word boundaries */
	SB_GREP_FIXED = 4,       /* the pattern is text, not an expression */
	SB_GREP_MULTILINE = 8,   /* a match may span lines; "." still stops at their ends */
	SB_GREP_SMART_CASE = 16, /* NOCASE when the pattern has no upper case letter */
};

struct sb_grep; /* a compiled pattern; any number of threads may use it */

/* PCRE2 syntax, matched within one line.  SB_E_INVALID: message says what and where. */
int sb_grep_new(const char *pattern, size_t length, unsigned flags, struct sb_grep **out,
		struct sb_error *err);
void sb_grep_free(struct sb_grep *grep);

enum sb_grep_want {
	SB_GREP_LINES,  /* matching lines with context */
	SB_GREP_COUNTS, /* per file the number of matching lines */
	SB_GREP_FILES,  /* files with a match: stops at the first */
};

struct sb_grep_query {
	size_t size; /* sizeof(struct sb_grep_query) */
	struct sb_search_scope scope;
	const struct sb_grep *grep;
	enum sb_grep_want want;
	unsigned before, after;  /* lines of context, at most SB_GREP_CONTEXT */
	uint64_t max_per_file;   /* matching lines; 0: SB_GREP_PER_FILE */
	uint64_t max_results;    /* matching lines (LINES), files (COUNTS, FILES); 0: no limit */
	size_t max_line_bytes;   /* of a line shown; 0: SB_GREP_LINE */
	uint64_t max_file_bytes; /* larger files are skipped; 0: no limit */
};

#define SB_GREP_CONTEXT 100
#define SB_GREP_PER_FILE 10000
#define SB_GREP_LINE 1000

/* One line.  Text is UTF-8 or the file's bytes, without line end; not NUL-terminated. */
struct sb_grep_line {
	uint64_t number; /* from 1 */
	const char *text;
	size_t length;
	bool match;        /* else it is context */
	bool cut_before;   /* text begins later than the line does */
	bool cut_after;    /* text ends earlier */
	uint64_t column;   /* of the first match in the line, in bytes from 1; 0 for context */
	size_t start, end; /* of the first match, in text, as far as it is shown */
};

struct sb_grep_file {
	const char *path;
	uint64_t matches;                 /* matching lines, as far as counted */
	const struct sb_grep_line *lines; /* in order; a gap in numbers is a gap in the file */
	size_t line_count;
	bool more;   /* max_per_file (or max_results) stopped it */
	bool utf16;  /* text was decoded */
	bool binary; /* a NUL came after these matches: the rest was not searched */
	bool costly; /* the pattern's match limit was reached on some lines */
};

/* file: valid during the call.  false: enough. */
typedef bool (*sb_grep_found)(void *to, const struct sb_grep_file *file);

int sb_search_grep(const struct sb_search_source *source, const struct sb_grep_query *query,
		   sb_grep_found found, void *to, struct sb_search_end *out_end,
		   struct sb_error *err);

#endif
