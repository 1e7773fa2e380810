/*
 * files.h - file tools: read, write, edit, search under a policy.
 *
 *     policy (sealed) + roots -> sb_files_open() -> sb_files_read() ... -> sb_files_close()
 *
 * A view is what one agent sees of a filesystem.  Each call resolves its path at the moment
 * of use, holds what it found on descriptors, decides about the kernel's own name of them
 * (sb_decide() and what follows), and acts on the same descriptors; no path is looked up
 * twice.  So nothing that changes meanwhile (a link put in the place of a directory) makes
 * a call act on something that was not decided about.
 *
 * Who is asked, in this order; the first that refuses ends the call:
 *
 *   1. the policy's rules (deny: refused; ask: a question)
 *   2. the project roots: outside of them, and beyond a mount point inside them, reading and
 *      changing are both a question
 *   3. guarded names (what a program outside would later run or obey): a question
 *   4. git-ignored files that exist and would be changed, moved or removed: a question
 *
 * Questions go to the consent callback, which may take its time; nothing is locked meanwhile,
 * and afterwards the answer counts only if the file still has the path that was shown.
 * Without a callback the answer is no.
 *
 * FIFOs, devices and sockets are never opened.  A file with several hard links may be read
 * (package managers link whole trees); writing never goes through to the other names, since
 * every write makes a new file and renames it (options->hard_links asks instead).
 *
 * Functions return 0, or a negative enum sb_files_code and fill err (may be NULL); then their
 * out_ parameters hold nothing to release.
 *
 * A view may be used by any number of threads at once.  Strings in results end with NUL, but
 * text may hold NULs of its own: use the length.  Paths are bytes, not characters.
 */
#ifndef SANDBASH_FILES_H
#define SANDBASH_FILES_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "sandbash/error.h"
#include "sandbash/policy.h"

/* --- errors (F4) ----------------------------------------------------------------------- */

enum sb_files_code { /* stable: docs/errors.md */
		     SB_FILES_OK = 0,
		     /* refused: the only ones that may be violations */
		     SB_FILES_PATH_OUTSIDE_PROJECT, /* nobody allowed it, and it is outside */
		     SB_FILES_READ_ONLY,            /* a rule lets it be read and not changed */
		     SB_FILES_BLOCKED,              /* a rule denies it */
		     SB_FILES_DENIED,               /* somebody was asked and said no */
		     SB_FILES_NEEDS_CONSENT,        /* a question is open, or nobody can be asked */
		     /* the call does not fit what is there */
		     SB_FILES_NOT_FOUND,
		     SB_FILES_EXISTS,
		     SB_FILES_NOT_A_FILE,      /* FIFO, device, socket, something of /proc */
		     SB_FILES_NOT_A_DIRECTORY, /* also: a name on the way is a file */
		     SB_FILES_IS_A_DIRECTORY,
		     SB_FILES_NOT_EMPTY,
		     SB_FILES_TOO_LARGE,
		     SB_FILES_TOO_MANY_LINKS, /* symbolic links in a circle, or over 40 */
		     SB_FILES_NAME_TOO_LONG,
		     SB_FILES_BINARY,   /* no text: ask for bytes */
		     SB_FILES_ENCODING, /* the file's encoding has no such character */
		     SB_FILES_NO_MATCH,
		     SB_FILES_AMBIGUOUS_MATCH,
		     SB_FILES_INVALID_ARGUMENT,
		     SB_FILES_INVALID_PATTERN,
		     /* the world */
		     SB_FILES_CHANGED,    /* somebody else changed it during the call */
		     SB_FILES_PERMISSION, /* the system refuses, not the policy */
		     SB_FILES_NO_SPACE,
		     SB_FILES_CANCELLED,
		     SB_FILES_TIMEOUT,
		     SB_FILES_UNSUPPORTED,
		     SB_FILES_SANDBOX_UNAVAILABLE,
		     SB_FILES_NO_MEMORY,
		     SB_FILES_SYSTEM, /* see sys_errno */
		     SB_FILES_CODE_COUNT,
};

/* "PATH_OUTSIDE_PROJECT", ... */
const char *sb_files_code_name(enum sb_files_code code);

/* Why somebody is asked, or was refused. */
enum sb_files_why {
	SB_FILES_WHY_RULE,      /* a rule of the policy, named in rule */
	SB_FILES_WHY_NO_RULE,   /* no rule covers the change */
	SB_FILES_WHY_OUTSIDE,   /* outside the project roots */
	SB_FILES_WHY_MOUNT,     /* in a root by name, but on a filesystem mounted there */
	SB_FILES_WHY_HARD_LINK, /* the file has other names; options->hard_links */
	SB_FILES_WHY_GUARDED,   /* a program outside would run or obey it */
	SB_FILES_WHY_IGNORED,   /* git ignores it, so git cannot bring it back */
	SB_FILES_WHY_WORKER,    /* what the worker's file says of the directory (worker.h) */
};

/* Filled by every call that fails; all text is one line and safe to print. */
struct sb_files_error {
	enum sb_files_code code;
	bool violation;    /* the policy refused; it was handed to the audit callback */
	bool allowable;    /* of PATH_OUTSIDE_PROJECT: a rule could open path */
	int sys_errno;     /* 0 when no system call is to blame */
	char person[1024]; /* what failed, on what, why */
	char model[1024];  /* how to fix the call, or that it cannot be */
	/* Of refusals and questions (the first five codes): */
	enum sb_op op;
	enum sb_files_why why;
	char path[PATH_MAX];  /* canonical, exact bytes; "": not known */
	char given[PATH_MAX]; /* as the call had it; "": it was met on the way */
	char root[PATH_MAX];  /* the project root, the first of them; "": not known */
	char rule[512];       /* origin of the rule; "": none */
};

/* --- who calls, who is asked, who keeps the record ---------------------------------------- */

enum sb_files_call {
	SB_FILES_READ,
	SB_FILES_WRITE,
	SB_FILES_EDIT,
	SB_FILES_DELETE,
	SB_FILES_MOVE,
	SB_FILES_COPY,
	SB_FILES_MKDIR,
	SB_FILES_LIST,
	SB_FILES_TREE,
	SB_FILES_STAT,
	SB_FILES_GLOB,
	SB_FILES_GREP,
};

const char *sb_files_call_name(enum sb_files_call call); /* "read", "write", ... */

/* One call of one client; NULL is fine.  Handed on to the callbacks as it is. */
struct sb_files_caller {
	size_t size;      /* sizeof this struct */
	const char *tool; /* "edit_file", for the record; or NULL */
	void *context;    /* the caller's own */
	/* Polled by calls that take long; set it (any thread) to end them.  NULL: never. */
	const atomic_bool *cancel;
	/* Told of a change that nobody had to be asked about and a person should look at.  Or NULL. */
	void (*note)(void *note_context, const char *line);
	void *note_context;
};

/* One operation on one path; a move or copy asks once for each path that needs it. */
struct sb_files_question {
	size_t size;
	enum sb_files_call call;
	enum sb_op op;
	enum sb_files_why why;
	const char *path;           /* canonical */
	const char *root;           /* the project root it lies in; NULL: in none */
	const struct sb_rule *rule; /* or NULL */
	const char *reason;         /* a clause in words: "git runs hooks", "outside the project" */
	const char *directory; /* what a yes "for this directory" would mean; NULL: not offered */
	const char *content;   /* what would land there, where the call has it; or NULL */
	size_t content_length;
	const struct sb_files_caller *caller; /* or NULL */
	const char *found; /* what in a directory is the reason, escaped, a line each; or NULL */
	const char *other; /* of a move or copy: where it goes to, or comes from; or NULL */
	const char *old;   /* what content would replace, where that was looked at; or NULL */
	size_t old_length;
	/*
	 * It is about a directory with all that is in it: how much that is, and what nobody can promise
	 * about it, escaped, a line each; or NULL.  A yes is for seal alone: it is another text when
	 * something else is in there.
	 */
	const char *whole, *seal;
	const char *leads_to; /* where a link leads that is copied or moved there; or NULL */
	const char *shown;    /* path as the agent knows it: another for a worker (worker.h) */
	/* What was answered for a directory is no answer: it is about this one thing, whose reason is given. */
	bool by_itself;
};

enum sb_files_answer {
	SB_FILES_ANSWER_NO,
	SB_FILES_ANSWER_YES,
	/*
	 * Somebody is being asked; do not wait.  The call fails with NEEDS_CONSENT and the
	 * question's op, why, path and rule in its error; it can be repeated with the answer.
	 */
	SB_FILES_ANSWER_LATER,
	SB_FILES_ANSWER_NOBODY, /* nobody can be asked: as without a callback */
};

/* Called in the thread of the call; any number at once. */
typedef enum sb_files_answer (*sb_files_consent)(void *context,
						 const struct sb_files_question *question);

/* One line of the record (F7). */
struct sb_files_event {
	size_t size;
	enum sb_files_call call;
	enum sb_op op;
	enum sb_files_why why;
	enum sb_verdict verdict;    /* what the policy said: SB_ASK or SB_DENY; or SB_ALLOW */
	bool done;                  /* it was allowed: by the policy, or somebody said yes */
	const char *path;           /* canonical */
	const char *given;          /* as the call had it; NULL: it was met on the way */
	const char *root;           /* the project root that it lies in; outside, the first one */
	const struct sb_rule *rule; /* or NULL */
	const char *tool;           /* or NULL */
	const struct sb_files_caller *caller;
};

/* Every refusal, and every yes of somebody who was asked; what rules allow if options->audit_allowed. */
typedef void (*sb_files_audit)(void *context, const struct sb_files_event *event);

/* --- a view --------------------------------------------------------------------------------- */

enum sb_files_choice { SB_FILES_DEFAULT, SB_FILES_ALLOW, SB_FILES_ASK };

struct sb_files_backend; /* the real filesystem, or one in memory */

struct sb_files_options {
	size_t size;
	sb_files_consent consent; /* NULL: nobody can be asked */
	sb_files_audit audit;     /* NULL: no record */
	void *context;            /* of both */
	const char *home;         /* what "~" means at the start of a path; NULL: a name like any */
	/* files that git, by its environment, takes for the user's settings; NULL-terminated, or NULL */
	const char *const *git_settings;
	/* $XDG_CONFIG_HOME and $XDG_DATA_HOME, absolute, or NULL: links there lead to settings, too */
	const char *config_home, *data_home;
	struct sb_files_backend *backend; /* NULL: the real filesystem; else it outlives the view */
	size_t read_limit_bytes;          /* of text or bytes in one result; 0: 16 MiB */
	size_t edit_limit_bytes;          /* of a file that is edited or compared; 0: 64 MiB */
	size_t entry_limit;               /* of one list, tree or glob; 0: 100,000 */
	enum sb_files_choice hard_links;  /* default ALLOW: see above */
	enum sb_files_choice mounts;      /* default ASK: what is mounted in a root is outside */
	enum sb_files_choice ignored;     /* default ASK (P8) */
	bool audit_allowed;               /* audit is told of what rules allow, too */
	bool no_sync; /* do not wait for the disk: a power cut may then lose the new text */
	/* directories that are obeyed by what variables say ($PATH), canonical; NULL-terminated, or NULL */
	const char *const *obeyed;
	const char *
		account_home; /* the account's own, where home is another: links there count, too; or NULL */
	const char *cache_home, *state_home; /* $XDG_CACHE_HOME and $XDG_STATE_HOME, as above */
};

struct sb_files;

/*
 * roots: existing directories, absolute, at least one, NULL-terminated; their names are made
 * canonical and their descriptors are kept.  A relative path in a call is relative to the
 * first.  policy must be sealed and outlive the view, like what options points to.
 */
int sb_files_open(const struct sb_policy *policy, const char *const *roots,
		  const struct sb_files_options *options, struct sb_files **out_view,
		  struct sb_files_error *err);
void sb_files_close(struct sb_files *view); /* NULL is fine; no call may be under way */

/* Another root (P5).  Not while calls are under way in other threads. */
int sb_files_add_root(struct sb_files *view, const char *root, struct sb_files_error *err);

/* Canonical names of the roots; NULL for i beyond the last. */
const char *sb_files_root(const struct sb_files *view, size_t i);

/* An empty filesystem in memory; its root directory "/" exists, all else is made by calls. */
struct sb_files_backend *sb_files_memory_new(void); /* NULL: out of memory */
void sb_files_backend_free(struct sb_files_backend *backend);

/*
 * How much it may hold: bytes of files and links, and names; 256 MB and 2^20 to begin with.  What
 * does not fit is SB_FILES_NO_SPACE, and what is there stays.
 */
void sb_files_memory_limit(struct sb_files_backend *memory, uint64_t bytes, size_t nodes);

/*
 * Make a directory in it, with all above; a view needs its roots to exist.  A symbolic link.
 * Negative errno on failure.  For whoever fills it before a view is opened.
 */
int sb_files_memory_mkdir(struct sb_files_backend *memory, const char *path);
int sb_files_memory_symlink(struct sb_files_backend *memory, const char *target, const char *path);

/*
 * The canonical name of what a call has just been about, and the same relative to its root ("." is
 * the root itself; "": it lies in none).  Follows no link in the last place unless follow.  Asks
 * nobody: for names that a call was allowed to use.
 */
int sb_files_locate(struct sb_files *view, const char *path, bool follow, char out_path[PATH_MAX],
		    char out_relative[PATH_MAX], struct sb_files_error *err);

/* --- reading ---------------------------------------------------------------------------------- */

enum sb_files_encoding {
	SB_FILES_UTF8, /* ASCII as well */
	SB_FILES_UTF8_BOM,
	SB_FILES_UTF16_LE, /* all but UTF8 and LATIN1 with a byte order mark ... */
	SB_FILES_UTF16_BE,
	SB_FILES_UTF16_LE_BARE, /* ... or, guessed, without */
	SB_FILES_UTF16_BE_BARE,
	SB_FILES_LATIN1, /* any 8-bit text: each byte is one character */
	SB_FILES_BINARY_DATA,
};

enum sb_files_eol {
	SB_FILES_EOL_NONE,
	SB_FILES_EOL_LF,
	SB_FILES_EOL_CRLF,
	SB_FILES_EOL_CR,
	SB_FILES_EOL_MIXED
};

const char *sb_files_encoding_name(enum sb_files_encoding encoding); /* "utf-8", "binary", ... */
const char *sb_files_eol_name(enum sb_files_eol eol); /* "none", "lf", "crlf", "cr", "mixed" */

/*
 * Which part.  Lines count from 1.  At most one of: lines (first_line, line_count), head,
 * tail, bytes (byte_offset, byte_count); none: the whole file.
 */
struct sb_files_read_request {
	size_t size;
	const char *path;
	bool raw;            /* the bytes as they are, whatever they mean */
	uint64_t first_line; /* 0: not by lines */
	uint64_t line_count; /* 0: to the end */
	uint64_t head;       /* lines from the start */
	uint64_t tail;       /* lines before the end */
	bool by_bytes;       /* of the file; the text is cut between characters */
	uint64_t byte_offset;
	uint64_t byte_count; /* 0: to the end */
	bool cut;            /* more than the limit: give what fits, instead of TOO_LARGE */
};

struct sb_files_text {
	char *data; /* UTF-8 without byte order mark; raw: the file's bytes.  Line ends as they are */
	size_t length;
	enum sb_files_encoding encoding; /* of the file */
	enum sb_files_eol eol;           /* of what was read */
	uint64_t file_bytes;             /* size of the whole file */
	uint64_t first_line;             /* of data; 0: not counted (raw, bytes) */
	uint64_t line_count;             /* in data */
	uint64_t total_lines; /* of the file; 0: not counted, the reading stopped early */
	bool truncated;       /* there is more behind data */
	char path[PATH_MAX];  /* canonical */
};

int sb_files_read(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_read_request *request, struct sb_files_text *out,
		  struct sb_files_error *err);
void sb_files_text_done(struct sb_files_text *text); /* zeroed is fine */

/* --- changing ---------------------------------------------------------------------------------- */

struct sb_files_write_request {
	size_t size;
	const char *path;
	const char *data; /* UTF-8 */
	size_t length;
	bool raw; /* the bytes as they are: a file that exists keeps no encoding or line ends */
	bool exclusive; /* EXISTS if there is a file */
	bool append;    /* behind what is there */
	bool parents;   /* make missing directories on the way */
	bool dry_run;   /* check, ask and compare, but change nothing */
	bool want_diff;
	bool executable; /* a new file may be run; one that exists keeps its mode */
};

struct sb_files_change {
	bool created;
	bool changed; /* false: the new text is the old one; nothing was written */
	enum sb_files_encoding encoding;
	enum sb_files_eol eol;
	size_t replacements; /* of edit */
	char *diff;          /* unified; "" when equal; NULL when not wanted or binary */
	size_t diff_length;
	uint64_t bytes; /* size of the file now */
	char path[PATH_MAX];
};

void sb_files_change_done(struct sb_files_change *change);

/*
 * Replace or make a file, at once: whoever opens it sees the old or the new one.  Mode, owner,
 * extended attributes (ACLs among them), encoding and uniform line ends of an old one are kept.
 * A symbolic link is followed and stays.
 */
int sb_files_write(struct sb_files *view, const struct sb_files_caller *caller,
		   const struct sb_files_write_request *request, struct sb_files_change *out,
		   struct sb_files_error *err);

enum sb_files_occurrence {
	SB_FILES_THE_ONLY, /* AMBIGUOUS_MATCH if there are more */
	SB_FILES_THE_FIRST,
	SB_FILES_ALL,
};

/* Replace old_text by new_text; or, with old_text NULL, put new_text before a line. */
struct sb_files_edit {
	const char *old_text; /* UTF-8, not empty; lines end as in the file, or in \n */
	size_t old_length;
	const char *new_text;
	size_t new_length;
	enum sb_files_occurrence occurrence;
	uint64_t line; /* 1: before the first; one behind the last: at the end; 0: at the end */
};

struct sb_files_edit_request {
	size_t size;
	const char *path;
	const struct sb_files_edit *edits; /* each on the result of those before; all or nothing */
	size_t edit_count;
	bool dry_run; /* only the diff */
};

int sb_files_edit(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_edit_request *request, struct sb_files_change *out,
		  struct sb_files_error *err);

/* A file, a link (itself), an empty directory; recursive: a directory with what is in it. */
int sb_files_delete(struct sb_files *view, const struct sb_files_caller *caller, const char *path,
		    bool recursive, struct sb_files_error *err);

/*
 * Give another name; across filesystems by copying.  from may be a link, which moves itself.
 * to must not exist, unless replace (then a file replaces a file); its directory must.
 */
int sb_files_move(struct sb_files *view, const struct sb_files_caller *caller, const char *from,
		  const char *to, bool replace, struct sb_files_error *err);

enum sb_files_how {
	SB_FILES_REPLACE = 1,   /* a file may be there already */
	SB_FILES_RECURSIVE = 2, /* a directory too: links as links, no FIFOs, devices, sockets */
};

/* A file; how: of enum sb_files_how, or 0. */
int sb_files_copy(struct sb_files *view, const struct sb_files_caller *caller, const char *from,
		  const char *to, unsigned how, struct sb_files_error *err);

/* parents: those that are missing too, and an existing directory is no error. */
int sb_files_mkdir(struct sb_files *view, const struct sb_files_caller *caller, const char *path,
		   bool parents, bool *out_created, struct sb_files_error *err);

/* --- looking --------------------------------------------------------------------------------- */

enum sb_files_type {
	SB_FILES_FILE,
	SB_FILES_DIRECTORY,
	SB_FILES_LINK,
	SB_FILES_OTHER, /* FIFO, device, socket */
};

const char *sb_files_type_name(enum sb_files_type type); /* "file", "directory", ... */

struct sb_files_info {
	enum sb_files_type type;
	uint64_t bytes;
	uint32_t mode; /* permission bits */
	uint32_t uid, gid;
	uint64_t links;
	struct timespec modified, accessed, changed, born; /* born may be 0: not known */
	struct sb_access access; /* what the policy says about it, roots and guards aside */
	char path[PATH_MAX];     /* canonical */
};

/* follow: what a symbolic link leads to, else the link itself. */
int sb_files_stat(struct sb_files *view, const struct sb_files_caller *caller, const char *path,
		  bool follow, struct sb_files_info *out, struct sb_files_error *err);

/* NOT_FOUND is no error here; a refusal is. */
int sb_files_exists(struct sb_files *view, const struct sb_files_caller *caller, const char *path,
		    bool *out_exists, struct sb_files_error *err);

/* One name of a list, tree or glob. */
struct sb_files_entry {
	const char *name; /* list, tree: the name; glob: relative to the start */
	enum sb_files_type type;
	uint32_t depth;           /* tree: 0 for what is in the directory itself */
	uint64_t bytes;           /* with details */
	struct timespec modified; /* with details */
	const char *target;       /* of a link, with details; or NULL */
	bool cut; /* tree: a directory whose inside is left out (limit, refused, 256 deep) */
};

struct sb_files_entries {
	struct sb_files_entry *all;
	size_t count;
	bool truncated; /* the limit was reached */
	char path[PATH_MAX];
	void *memory; /* holds the names */
};

void sb_files_entries_done(struct sb_files_entries *entries);

enum sb_files_sort {
	SB_FILES_BY_NAME,
	SB_FILES_BY_SIZE,
	SB_FILES_BY_TIME
}; /* largest, newest first */

struct sb_files_list_request {
	size_t size;
	const char *path;
	bool details; /* sizes, times, targets: one system call per entry */
	enum sb_files_sort sort;
	size_t limit;     /* 0: the view's */
	size_t max_depth; /* tree; 0: no limit; 1: as list */
	/*
	 * May leave entries out, of a directory with all beneath; relative: from the start.
	 * NULL: none.  tree only.
	 */
	bool (*keep)(void *context, const char *relative, enum sb_files_type type);
	void *context;
};

/* What the policy denies to read is left out. */
int sb_files_list(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_list_request *request, struct sb_files_entries *out,
		  struct sb_files_error *err);

/* Everything beneath, each directory before what is in it, by name; links are not followed. */
int sb_files_tree(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_list_request *request, struct sb_files_entries *out,
		  struct sb_files_error *err);

/* --- searching (the engine is src/search/search.h) ----------------------------------------------- */

struct sb_files_glob_request {
	size_t size;
	const char *path;            /* where to start; NULL: the first root */
	const char *pattern;         /* relative to path */
	const char *const *excludes; /* NULL-terminated or NULL */
	bool no_ignore;              /* also what .gitignore files leave out */
	bool only_files;
	bool ignore_case;
	bool details;
	enum sb_files_sort sort;
	size_t limit;
	/* search_files of the MCP reference server: pattern and excludes as it takes them */
	bool reference;
};

int sb_files_glob(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_glob_request *request, struct sb_files_entries *out,
		  struct sb_files_error *err);

struct sb_files_grep_request {
	size_t size;
	const char *path;    /* a file, or a directory with all beneath; NULL: the first root */
	const char *pattern; /* Perl-compatible */
	size_t pattern_length;
	const char *const *globs;    /* only files that one of these matches; or NULL */
	const char *const *excludes; /* or NULL */
	bool fixed;                  /* the pattern is plain text */
	bool ignore_case;
	bool word;      /* only whole words */
	bool multiline; /* a match may span lines */
	bool no_ignore;
	bool files_only;        /* names of files with a match; lines are left out */
	uint32_t before, after; /* lines of context */
	size_t limit_per_file;  /* matching lines; 0: no limit */
	size_t limit;           /* 0: 1000 */
	uint32_t timeout_ms;    /* 0: 30,000 */
};

struct sb_files_line {
	const char *text; /* UTF-8 or the file's bytes, without line end */
	size_t length;
	uint64_t number;   /* from 1 */
	bool match;        /* else it is context */
	uint64_t column;   /* of the first match in the line, in bytes from 1; 0 for context */
	size_t start, end; /* of the first match, in text, as far as it is shown */
	bool cut_before, cut_after; /* a very long line: text begins later, ends earlier */
};

struct sb_files_match {              /* of one file */
	const char *path;            /* relative to the start; "" when the start is the file */
	struct sb_files_line *lines; /* matches and their context, in order */
	size_t line_count;
	size_t matches;
};

struct sb_files_matches {
	struct sb_files_match *files; /* by path */
	size_t file_count;
	size_t matches;
	uint64_t files_searched, files_skipped; /* skipped: binary, too large, unreadable */
	bool truncated;                         /* a limit was reached */
	bool timed_out;                         /* what was found until then */
	char path[PATH_MAX];
	struct sb_files_line *lines; /* of all files */
	void *memory;
};

void sb_files_matches_done(struct sb_files_matches *matches);

int sb_files_grep(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_grep_request *request, struct sb_files_matches *out,
		  struct sb_files_error *err);

/* --- asking ahead ---------------------------------------------------------------------------------- */

/*
 * What would a call on this path meet?  Resolves and decides; asks and changes nothing.
 * out_verdict is what a call would get before anybody is asked; err (may be NULL) says why.
 * out_checked: SB_ALLOW holds for harmless contents, others are a question (git's config, say).
 */
int sb_files_check(struct sb_files *view, enum sb_op op, const char *path,
		   enum sb_verdict *out_verdict, bool *out_checked, struct sb_files_error *err);

#endif
