/*
 * guard.h - names that a program OUTSIDE the sandbox would later run or obey.
 *
 *     sb_guard_new() -> sb_guard_judge() / sb_guard_rename() per held call
 *                       -> sb_guard_content() when bytes are about to land
 *
 * A held call was resolved into a directory that the broker holds open and a name in it.  The
 * guard says what landing something there means, by one table (rows below):
 *
 *     PLAIN   nothing that anybody outside would run: the policy alone decides
 *     CHECK   the name is guarded, but some contents are harmless.  Never hand out the inode
 *             writable: stage the bytes (memfd, or the source of a rename), then ask
 *             sb_guard_content() about them, then put exactly these bytes there as a fresh file
 *     ASK     a person has to say yes, whatever the bytes are.  Where bytes land (row->check is
 *             SB_GUARD_SAME), staging them first lets the question show them, and
 *             sb_guard_content() finds out that nothing would change
 *
 * PLAIN never widens: what the policy refuses stays refused.
 *
 * It looks only through the descriptors it is given (their entries, "..", nothing followed in
 * the last place), never scans a tree, and reads at most SB_GUARD_MAX_BYTES of a file.  What
 * cannot be looked at counts as dangerous.  An answer that hangs on what is there at the moment
 * says so (enum sb_guard_looked): others act, too, in this run and in others, and whoever acts on
 * the answer has to see that it still counts (supervise/meaning.h).
 *
 * A guard never changes after its first look, so both supervisor processes and all threads may use one.
 * It uses base, path and sys only, so that policy and config may use its table.
 */
#ifndef SB_GUARD_GUARD_H
#define SB_GUARD_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sandbash/error.h"

struct sb_buf;

/*
 * Projects' directories for caches lie in one of this name (config/tools.c).  Commands write there
 * unguarded, so nothing that is obeyed may lead there: no link, no text of git's.
 */
#define SB_GUARD_CACHES "sandbash-caches"

/* Is a directory of that name on the way that text, a path, goes? */
bool sb_guard_passes_caches(const char *text);

enum sb_guard_verdict { SB_GUARD_PLAIN, SB_GUARD_CHECK, SB_GUARD_ASK };

/* Which contents are harmless. */
enum sb_guard_kind {
	SB_GUARD_SAME,                 /* the bytes that are there already, no others */
	SB_GUARD_GIT_CONFIG,           /* only keys of the allow-list added or changed */
	SB_GUARD_GITMODULES,           /* what git itself would not refuse */
	SB_GUARD_LFSCONFIG,            /* what git-lfs takes from there; where files go is told */
	SB_GUARD_GITFILE,              /* "gitdir: PATH", PATH in a guarded root */
	SB_GUARD_GITDIR,               /* PATH/.git, in a guarded root */
	SB_GUARD_COMMONDIR,            /* "../.." in worktrees/ID */
	SB_GUARD_REBASE_TODO,          /* no line that runs a command */
	SB_GUARD_STRATEGY,             /* a merge strategy that git brings along */
	SB_GUARD_SEQUENCER,            /* config grammar, such a strategy */
	SB_GUARD_ALTERNATES,           /* object directories in guarded roots */
	SB_GUARD_TOOL_VERSIONS,        /* versions.c */
	SB_GUARD_IGNORE,               /* lines that make git ignore more, none less */
	SB_GUARD_ANYTHING,             /* state that nobody runs: lands unasked, as a file */
	SB_GUARD_GIT_REF,              /* an id, or "ref: NAME" with a name that no shell expands */
	SB_GUARD_GIT_IDS,              /* hexadecimal words */
	SB_GUARD_GIT_NUMBER,           /* digits */
	SB_GUARD_GIT_NAMES,            /* lines of words that no shell expands, no options */
	SB_GUARD_GIT_PACKED,           /* packed-refs: ids, and such names */
	SB_GUARD_GIT_QUOTED,           /* comments, and words of a shell with all others in '' */
	SB_GUARD_GIT_AUTHOR,           /* GIT_AUTHOR_NAME='...' and its like */
	SB_GUARD_GIT_OPTIONS,          /* options for git apply and git commit, of a list */
	SB_GUARD_GIT_STRATEGY_OPTIONS, /* options for a merge, of a list */
	SB_GUARD_GIT_RERERE,           /* ids and paths that stay in the work tree */
	SB_GUARD_GIT_TEXT,             /* lines without control characters */
	SB_GUARD_GIT_PACKS,            /* a list of packs, all beside it */
	SB_GUARD_INDEX,                /* entries that git itself would put into an index */
	SB_GUARD_DOTENV,               /* assignments, of variables that run nothing */
	SB_GUARD_GIT_EXCLUDE,          /* anything; new patterns that hide are told */
	SB_GUARD_AGENT_JSON,           /* what an agent remembers, none of what it runs */
	SB_GUARD_AGENT_LOOKS,          /* settings of an agent about nothing but looks */
	SB_GUARD_SERIES,               /* as GIT_NAMES, and comments: patches of quilt and mq */
	SB_GUARD_HG_JOURNAL, /* files of the store that hg puts back, none by another name */
	SB_GUARD_HG_SUBS,    /* repositories in guarded places or on other machines */
	SB_GUARD_GIT_STASH,  /* a stash with no guarded name in it */
};

enum sb_guard_flags {
	SB_GUARD_IF_EXECUTABLE = 1, /* the x bit matters: chmod asks; so does removing it */
	SB_GUARD_IF_PROTECTING = 2, /* only with protect_ignored; removing it asks */
	SB_GUARD_IN_HOME = 4, /* only of the home directory: where links there lead (links.c) */
	SB_GUARD_IF_ELSEWHERE = 8, /* no name: in the repository of a worktree (git_common.c) */
	SB_GUARD_MAY_LINK = 16,    /* state that has links in it by itself */
	SB_GUARD_MAY_LEAD = 32,    /* of the machine's: links may lead to what is there */
	SB_GUARD_INNER =
		64, /* programs among packages: a rule for the directory around is none for them */
	SB_GUARD_FILLED =
		128, /* a tool fills it: thousands of links, none kept in a project (links.c) */
	SB_GUARD_REST =
		256, /* of the machine's: the rest of a directory; what else is there counts first */
};

/*
 * A pattern has one to four components; each is a name, "*", "*.suffix" or "prefix*.suffix".
 * A "**" behind them
 * means everything beneath.  The first may be "<git>": a directory called .git, or one with
 * objects and refs in it, whatever it is called; or "<option>": option_name.h.  Patterns match at any depth, without regard
 * to case and to characters that case-folding file systems ignore.
 */
/*
 * Texts are in the row: a pointer in a table has to be relocated, and every page with one in it is
 * copied at each start of the program, 3 us each.  The compiler finds one that is too long,
 * tests/unit/test_guard_names.c one that just loses its end.
 */
struct sb_guard_row {
	char pattern[48];
	char who[40]; /* runs or obeys it */
	char why[80]; /* what it would run; for the question and for docs/guarded.md */
	enum sb_guard_kind kind;
	unsigned flags;
	/*
	 * What a static run, which can hold only what exists, holds for this row with mounts;
	 * relative to a project, or to a git directory ("<git>/...").  "": nothing.
	 */
	char held[40];
};

/* From the first row that fits: what is ANYTHING takes away from rows that follow. */
#define SB_GUARD_MAX_ROWS 1600
const struct sb_guard_row *sb_guard_rows(size_t *out_count);

/*
 * The files of a git directory: what is not among them asks, by the last row.  Patterns start at the git
 * directory; "**.x" is an ending at any depth, "#" digits.
 */
#define SB_GUARD_MAX_GIT_ROWS 192
const struct sb_guard_row *sb_guard_git_rows(size_t *out_count);

/*
 * What the whole machine obeys, where commands are root's (system.c).  A pattern is a path: it and all beneath are meant, with
 * a star at its end every name that begins so.
 */
#define SB_GUARD_MAX_SYSTEM_ROWS 96
const struct sb_guard_row *sb_guard_system_rows(size_t *out_count);

/* Is path, canonical, what such a row names, or beneath it? */
bool sb_guard_system_has(const struct sb_guard_row *row, const char *path);

/* The first of them that has path, which is the one that counts; or NULL. */
const struct sb_guard_row *sb_guard_system_first(const char *path);

/* Of these tables: a number below SB_GUARD_ALL_ROWS.  0: of none. */
#define SB_GUARD_ALL_ROWS (SB_GUARD_MAX_ROWS + SB_GUARD_MAX_GIT_ROWS + SB_GUARD_MAX_SYSTEM_ROWS)
size_t sb_guard_row_number(const struct sb_guard_row *row);

/* In words, which contents are harmless: "changes to keys that run nothing".  NULL: none. */
const char *sb_guard_harmless(enum sb_guard_kind kind);

struct sb_guard; /* opaque: names of one run beside the table */

/* Where variables put what is usually in the home directory: absolute, or NULL. */
struct sb_guard_homes {
	const char *config; /* $XDG_CONFIG_HOME */
	const char *data;   /* $XDG_DATA_HOME */
	const char *cache;  /* $XDG_CACHE_HOME */
	const char *state;  /* $XDG_STATE_HOME */
	/* Directories all of which is obeyed by what variables say ($PATH), canonical; NULL-terminated, or NULL. */
	const char *const *obeyed;
	/* The account's own home directory, where $HOME is another one: whoever starts without it obeys that; or NULL. */
	const char *account;
};

struct sb_guard_options {
	size_t size;
	/*
	 * Is path (absolute, without "..", maybe not there yet) in a place whose names are
	 * guarded in this run?  Writable but unguarded places ("fast") are not.
	 */
	bool (*in_guarded_root)(void *context, const char *path);
	/*
	 * Is path in a place of the run's own, which outside is another one or none?  What leads
	 * there from elsewhere leads git outside to a place that nobody has looked at.  Or NULL.
	 */
	bool (*is_private)(void *context, const char *path);
	/*
	 * Can the run change things in path while nobody guards the names there: a fast root?  A push to a
	 * repository there would run hooks that nobody has looked at.  Or NULL.
	 */
	bool (*is_unguarded)(void *context, const char *path);
	void *context;
	/*
	 * Projects, canonical, NULL-terminated: where their git config says core.hooksPath and
	 * include.path, and links that stand in the place of their hooks, are guarded as well.
	 */
	const char *const *projects;
	/*
	 * Other directories that rules of the user's open, canonical, one after the other from *next = 0 on; NULL: no
	 * more.  What settings of repositories there name is guarded as well.  Or NULL.
	 */
	const char *(*opened)(void *context, size_t *next);
	const char *home; /* whose settings count: ~/.gitconfig, links at guarded names; or NULL */
	/* Further files that git takes for the user's settings, absolute; NULL-terminated, or NULL. */
	const char *const *git_settings;
	struct sb_guard_homes homes;
	/* What git ignores is protected in this run: the files that say what that is count. */
	bool protect_ignored;
	bool view; /* paths are a worker's: what is above a project is other directories outside, */
	bool shadowed; /* and "/NAME" of one is something there, too */
	/*
	 * Look at projects and home later, in sb_guard_look(); their strings live as long as the guard.
	 * A process that was forked meanwhile and sees less of them waits at its first question for
	 * what this one finds.
	 */
	bool later;
	/*
	 * Is there a rule that is about path, a name that row guards, and allows it?  What a directory
	 * brings along is then none of the guard's business.  Or NULL.
	 */
	bool (*is_opened)(const struct sb_guard *guard, const char *path,
			  const struct sb_guard_row *row);
};

/* SB_E_NOMEM. What cannot be read in a project is no error. */
int sb_guard_new(const struct sb_guard_options *options, struct sb_guard **out,
		 struct sb_error *err);
void sb_guard_free(struct sb_guard *guard);

/* The home directory that it knows; or NULL. */
const char *sb_guard_home_of(const struct sb_guard *guard);

/* What its options brought along. */
void *sb_guard_context(const struct sb_guard *guard);

/* Look now, before anything is changed.  Does nothing the second time. */
void sb_guard_look(const struct sb_guard *guard);

/*
 * SECURITY: what a link leads to that a person let in counts like its name, from then on.
 *
 * Danger: a yes to ".envrc -> data", or to a directory with such links, and the next write to data lands unasked.
 * Price: some directories are listed after such a yes; whoever had the target open before goes on writing.
 * Held by: tests/supervise/links_in.py
 *
 * path is that link or directory, by its new name; row what it means, or NULL: what the table says.  By the process
 * that looks.
 */
void sb_guard_linked(const struct sb_guard *guard, const char *path,
		     const struct sb_guard_row *row);

/*
 * Called for what in directory, canonical, somebody outside obeys for where that lies: for path, which is the directory
 * or beneath it, and all beneath path; with wild only for names like it right in path.  tops: of the projects,
 * NULL-terminated.  SB_OK, SB_E_NOMEM, or what tell returned.
 */
typedef int sb_guard_tell_obeyed(void *context, const char *path, const char *wild,
				 const struct sb_guard_row *row);
int sb_guard_obeyed_in(const struct sb_guard *guard, const char *directory, const char *const *tops,
		       sb_guard_tell_obeyed *tell, void *context);

enum sb_guard_act {
	SB_GUARD_WRITE, /* open for writing, create, truncate: bytes of a file change */
	SB_GUARD_MKDIR,
	SB_GUARD_MKNOD, /* a FIFO, a socket (bind), a device */
	SB_GUARD_SYMLINK,
	SB_GUARD_LINK_FROM, /* a second name for what is here */
	SB_GUARD_LINK_TO,   /* the new name */
	SB_GUARD_UNLINK,    /* and rmdir */
	SB_GUARD_METADATA,  /* mode, owner, times, attributes */
	SB_GUARD_HIDE,      /* a mode or an access list that may keep the owner out */
};

struct sb_guard_place {
	int directory;    /* O_PATH or better, holds name; -1: unknown, then structure is assumed */
	const char *path; /* canonical, of the name itself */
	const char *name; /* last component of path; a slash behind it is ignored */
	mode_t mode; /* of what is there (lstat); 0: nothing.  Only sb_guard_rename() needs it */
	/* For sb_guard_completed(): nothing from before is in it.  mkdir() has just made it, even if its */
	bool fresh; /* mode lets nobody look; or it is a file, which is no branch by this name. */
};

/* An act may give meaning to names that had none; whether it does, hangs on what was seen ... */
enum sb_guard_looked {
	SB_LOOKED_BESIDE = 1,  /* beside "objects" or "refs": the two make a git directory */
	SB_LOOKED_INTO = 2,    /* in a directory that gets a name of the table */
	SB_LOOKED_THROUGH = 4, /* through all of one that moves to where other rules hold */
};

#define SB_GUARD_DETAIL 320 /* a line of it */
#define SB_GUARD_LINES 4    /* so many, and then how many more there are */
#define SB_GUARD_KINDS 8    /* programs that the rest is told for */
#define SB_GUARD_NOTE 1024  /* about what lands */

struct sb_guard_answer {
	enum sb_guard_verdict verdict;
	enum sb_guard_kind kind;        /* of CHECK */
	const struct sb_guard_row *row; /* NULL: PLAIN */
	unsigned looked;                /* enum sb_guard_looked */
	/* What a link leads to, if that is why: the name or around it.  Else NULL. */
	const char *named;
	/*
	 * What was found in a directory, where it is the reason; 0: it is the name itself.  Names that
	 * is_opened() let through are not among them.
	 */
	unsigned found;
	/*
	 * What was found there, escaped, a line for each: "hooks/pre-commit", "core.pager = x"; of many
	 * what weighs most (findings.h), and the last says "and 3 more: 2 for git, 1 for direnv".
	 */
	char detail[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];
	size_t listed; /* of detail, without that last line */
	struct {
		const struct sb_guard_row *row;
		unsigned weight;
		bool says_why;
		char text[SB_GUARD_DETAIL];
	} lines[SB_GUARD_LINES]; /* the first of those that were found */
	struct {
		const char *who;
		unsigned count, weight;
	} kind_of[SB_GUARD_KINDS];
	size_t kinds;
};

/* Returns the verdict, too.  About 100 ns for an ordinary name; the first takes some 50 us. */
enum sb_guard_verdict sb_guard_judge(const struct sb_guard *guard, enum sb_guard_act act,
				     const struct sb_guard_place *place,
				     struct sb_guard_answer *out);

/*
 * A rename, of anything: out_from is about what happens at the old name (it vanishes; with
 * exchange, target lands there), out_to about the new one.  A file that lands on a guarded name
 * is CHECK, as if it were written; a directory is looked into and is PLAIN or ASK; in an exchange
 * it is ASK where it would have to be looked into.  Returns the stricter of the two.
 */
enum sb_guard_verdict sb_guard_rename(const struct sb_guard *guard,
				      const struct sb_guard_place *from,
				      const struct sb_guard_place *to, bool exchange,
				      struct sb_guard_answer *out_from,
				      struct sb_guard_answer *out_to);

/*
 * A directory at from gets, or has got, the name of to, where other rules hold than where it comes
 * from: would each name in it, at whatever depth, be allowed there unasked?  What else is against it
 * stands in out already.
 */
enum sb_guard_verdict sb_guard_brings(const struct sb_guard *guard,
				      const struct sb_guard_place *from,
				      const struct sb_guard_place *to, struct sb_guard_answer *out);

/* What is at place, of this mode, has got its name already: what does that mean? */
enum sb_guard_verdict sb_guard_landed(const struct sb_guard *guard,
				      const struct sb_guard_place *place,
				      struct sb_guard_answer *out);

/*
 * "objects" or "refs" is there by now.  PLAIN: still only one of the two, *out_complete is false;
 * or nothing is beside them that git would obey.
 */
enum sb_guard_verdict sb_guard_completed(const struct sb_guard *guard,
					 const struct sb_guard_place *place, bool *out_complete,
					 struct sb_guard_answer *out);

/*
 * A directory with such a name is about to get another, which counts: until then nothing is done
 * at it or beneath it.  Judged ASK, like a name of the table.
 */
#define SB_GUARD_HOLD_ENDING ".sandbash-hold"
bool sb_guard_is_held(const char *path);

/*
 * Would a directory that nobody guards take the guard away from a name that it holds by its own
 * name, or that of a directory around it?  Then the row, else NULL.  (That a repository or a
 * .vscode may be made in it any day is true of every directory, and does not count.)
 */
const struct sb_guard_row *sb_guard_row_in(const struct sb_guard *guard, const char *path);

/*
 * A submodule is to be checked out at path, canonical, unasked: which row has, by the name of that directory or of one around it
 * in its project, programs outside obey what comes there, or is about something in it?  NULL: none.  Ordinary words, as in
 * tools/bazel, do not count.
 */
const struct sb_guard_row *sb_guard_row_of_checkout(const struct sb_guard *guard, const char *path);

/* How many of the row's first names are a directory in which everybody keeps settings, .config, or that has more in it than programs, .cargo. */
unsigned sb_guard_shared_names(const struct sb_guard_row *row);

/* Is the home directory in the directory at path, or is that one of it in which rows of the table go on? */
bool sb_guard_is_holder(const struct sb_guard *guard, int directory, const char *path);

/*
 * row was the answer about path.  How much of path is the directory that holds what the row names, told
 * by names alone?  Of P/.claude/skills/a/b that is P; of P/.config/autostart/x it is P/.config, in which
 * everybody keeps settings; of tools/bazel it is tools, a word like others.  All of path: no directory on
 * the way has such a name.  A git directory is one by its name, never by what is in it: that may
 * come any day.
 */
size_t sb_guard_holder(const struct sb_guard *guard, const struct sb_guard_row *row,
		       const char *path);

#define SB_GUARD_MAX_BYTES (1024 * 1024)           /* a longer file is asked about without a look */
#define SB_GUARD_MAX_REFS_BYTES (8 * 1024 * 1024)  /* as many branches as supervise/land.h reads */
#define SB_GUARD_MAX_AGENT_BYTES (4 * 1024 * 1024) /* prompts of years are in it */
#define SB_GUARD_MAX_INDEX                                                                         \
	(256 * 1024 * 1024) /* some two million entries, some eight million objects */

/* How long bytes of this kind may be to be looked at. */
static inline size_t sb_guard_limit(enum sb_guard_kind kind)
{
	return kind == SB_GUARD_INDEX        ? SB_GUARD_MAX_INDEX
	       : kind == SB_GUARD_GIT_PACKS  ? SB_GUARD_MAX_INDEX
	       : kind == SB_GUARD_HG_JOURNAL ? SB_GUARD_MAX_INDEX
	       : kind == SB_GUARD_GIT_PACKED ? SB_GUARD_MAX_REFS_BYTES
	       : kind == SB_GUARD_AGENT_JSON ? SB_GUARD_MAX_AGENT_BYTES
					     : SB_GUARD_MAX_BYTES;
}

/* bytes NULL: there is no such file. */
struct sb_guard_bytes {
	const char *bytes;
	size_t length;
};

/* Bytes that are about to be at a name. */
struct sb_guard_landing {
	enum sb_guard_kind kind;
	const char *path; /* canonical */
	struct sb_guard_bytes old_bytes, new_bytes;
};

/*
 * May the new bytes replace the old ones unasked?  PLAIN, or ASK with why, which has room
 * for SB_GUARD_LINES + 1 lines of 80 bytes at least: all reasons, escaped, as in sb_guard_answer.detail, e.g.
 * "core.pager = less | sh".  With PLAIN, why is mostly ""; else it is a note for the end of the run, one
 * line: what lands, but hides work from review, or leads it elsewhere.
 * CHECK: for the time of a run, which asks sb_guard_left() at its end; else as ASK.
 */
enum sb_guard_verdict sb_guard_content(const struct sb_guard *guard,
				       const struct sb_guard_landing *landing, char *why,
				       size_t why_size);

/*
 * The run ends, and where such bytes have landed are now_bytes; old_bytes were there before.  True: note is an
 * escaped line, to stand behind the path, about what is left of them.
 */
bool sb_guard_left(struct sb_guard_bytes old_bytes, struct sb_guard_bytes now_bytes, char *note,
		   size_t size);

/* Is it the name of a rollback journal of SQLite? */
bool sb_guard_is_journal(const char *name, size_t length);

#define SB_GUARD_JOURNAL_TAIL 4112 /* a path, and 16 bytes; SQLite itself takes 512 */

/*
 * The run ends, and such a journal is at path: its first byte, and its last ones, as many as there are up to
 * SB_GUARD_JOURNAL_TAIL.  True: note as above, about the file that SQLite deletes when the database is opened.
 */
bool sb_guard_journal_left(char first, struct sb_guard_bytes tail, const char *path, char *note,
			   size_t size);

/*
 * The run has ended: for each project's git directory, where git push and pull go, and what git shows, unless that
 * is as it was when the guard was made.  Lines are not escaped.
 */
void sb_guard_changes(const struct sb_guard *guard, void (*tell)(void *context, const char *line),
		      void *context);

/*
 * Do the old bytes matter for that?  For most kinds they do; an index is long, written by every git
 * command, and compared with the one before only where it hides something.
 */
bool sb_guard_compares(enum sb_guard_kind kind, struct sb_guard_bytes new_bytes);

/*
 * Names that are told at the end of a run when they were changed, and not asked about: instructions
 * that agents outside follow (told.c).  Two stars mean everything beneath; at any depth.
 */
struct sb_told_row {
	const char *pattern;
	const char *who; /* follows it */
};

const struct sb_told_row *sb_guard_told_row(size_t number); /* from 0 on; NULL: no more */

/* Who follows the instructions at path (absolute, without "..")?  NULL: it is no such name. */
const char *sb_guard_told(const char *path);

/* The same, and how much of path names it: of what lies in a directory of such, that directory. */
const char *sb_guard_told_part(const char *path, size_t *out_length);

/* Is nothing in this directory ever such a name?  What was installed, and git's own. */
bool sb_guard_told_never(const char *directory);

/* Would it be such a name but for the case of its letters?  Then the row: no directory, one name. */
const struct sb_told_row *sb_guard_told_folded(const char *path);

/*
 * A directory at path has got its name: which row may be about what is in it?  *from is 0 at first,
 * and moves on.  *out_rest is the pattern's rest behind that name.  NULL: no more.
 */
const struct sb_told_row *sb_guard_told_in(const char *path, size_t *from, const char **out_rest);

/*
 * What git needs outside a project that is a linked worktree or a submodule: parts of the
 * repository that its .git file names, and only if that repository points back to it.
 */
struct sb_guard_part {
	char *path;     /* canonical; may not be there (locks) */
	bool directory; /* with everything beneath */
	bool checked;   /* only for a run that asks a guard about it */
	const char *why;
};

struct sb_guard_parts {
	struct sb_guard_part *all;
	size_t count;
	char *repository; /* the common git directory; NULL: the project keeps its own data */
};

/* project is canonical.  No parts is no error.  SB_E_NOMEM. */
int sb_guard_parts_find(const char *project, struct sb_guard_parts *out, struct sb_error *err);
void sb_guard_parts_done(struct sb_guard_parts *parts);

#endif
