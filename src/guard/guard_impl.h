/*
 * guard_impl.h - the table made ready for matching, shared by the files of this room.
 */
#ifndef SB_GUARD_GUARD_IMPL_H
#define SB_GUARD_GUARD_IMPL_H

#include <stdint.h>

#include "guard/fold.h"
#include "guard/git_ways.h"
#include "guard/guard.h"
#include "guard/repository.h"
#include "guard/system.h"
#include "sys/directory.h"

enum sb_component_kind {
	SB_COMPONENT_NAME,
	SB_COMPONENT_ANY,     /* "*" */
	SB_COMPONENT_SUFFIX,  /* "*.x", "a*.x", "<option>" */
	SB_COMPONENT_GIT,     /* "<git>", always the first */
	SB_COMPONENT_BENEATH, /* "**", always the last */
};

struct sb_component {
	enum sb_component_kind kind;
	struct sb_folded text; /* of NAME, and of SUFFIX what stands behind the star */
	const char *prefix;    /* of SUFFIX what stands before it, in small letters; may be "" */
	unsigned char prefix_length;
	bool option; /* "<option>": option_name.h, and nothing of the above */
};

#define SB_MAX_NAMES 4                       /* of a pattern */
#define SB_MAX_COMPONENTS (SB_MAX_NAMES + 1) /* with a "**" behind them */

/* Which name of a pattern its key is the hash of: the rest is looked at where that agrees. */
enum sb_keyed {
	SB_KEYED_NOT,  /* the last one is no name */
	SB_KEYED_LAST, /* the last */
	SB_KEYED_TREE, /* the first, and the pattern ends in "**" */
};

struct sb_pattern_row {
	const struct sb_guard_row *row;
	unsigned char count;
	unsigned char keyed; /* enum sb_keyed */
	uint32_t key;
	const struct sb_component *at; /* in the table's pool */
};

/* What a name may be; most names are nothing of it, and are done with after one lookup. */
enum sb_roles {
	SB_ROLE_LAST = 1,       /* the last component of a pattern */
	SB_ROLE_HOLDER = 2,     /* stands before "*" or "*.x" in the last place */
	SB_ROLE_TREE = 4,       /* the first component of a pattern that ends in "**" */
	SB_ROLE_PART = 8,       /* a component before the last */
	SB_ROLE_STRUCTURE = 16, /* makes a directory a git directory */
	SB_ROLE_HOOK = 32,      /* git runs hooks of this name, wherever core.hooksPath says */
	SB_ROLE_GIT_FILE = 64,  /* a file of git's state: git_files.c */
};

struct sb_slot {
	const struct sb_folded *name; /* NULL: free */
	unsigned roles;
};

#define SB_MAX_ENDINGS 32 /* each is compared with every name */
#define SB_SLOTS 4096     /* a power of two, several times the number of names */

/* A place that this run's git config names. */
enum sb_extra_kind {
	SB_EXTRA_CONFIG, /* an included file */
	SB_EXTRA_HOOKS,  /* a directory of hooks */
	SB_EXTRA_HOOK,   /* a file that a link among the hooks leads to, or a link on the way */
	SB_EXTRA_ROW,    /* what a link with a guarded name leads to, and all that is in it */
	/* a relative core.hooksPath of the user's own: a directory of hooks in every repository */
	SB_EXTRA_ANYWHERE,
	/* a program by a relative way: of every repository, the user's own settings say so; */
	SB_EXTRA_AT_TOPS,
	SB_EXTRA_AT_WORKTREES, /* of a project's: also in its worktrees, where .git is a file */
};

struct sb_extra {
	char *path; /* canonical; of ANYWHERE and those below it relative, without dots */
	enum sb_extra_kind kind;
	const struct sb_guard_row *row; /* whose name led here; NULL: a git config did */
	const char *wild; /* of ROW: only names like "*.json" right in it; NULL: all beneath */
	bool among;       /* path has other things in it: a rule for it is none for such names */
};

struct sb_extras {
	struct sb_extra *all;
	size_t count;
	const struct sb_guard_options *options; /* whose roots count; NULL: everything does */
	size_t spent;                           /* on words of git settings: repository.c */
};

#define SB_LATE_MAX 256
#define SB_LATE_TEXT (64 * 1024)

/* Found while the run goes on: it only grows, count last, so that others may read meanwhile. */
struct sb_late {
	size_t count, used;
	struct sb_extra all[SB_LATE_MAX];
	char text[SB_LATE_TEXT];
};

/* Takes extra.path, which may be NULL: nothing.  What is known, or out of reach, is not added. */
int sb_extras_add(struct sb_extras *extras, struct sb_extra extra);
bool sb_extras_know(const struct sb_extras *extras, const char *path);
bool sb_extras_holds(const struct sb_extras *extras, const struct sb_extra *extra);

/* Where path leads; the links on the way are added.  NULL: nowhere. */
char *sb_extras_follow(struct sb_extras *extras, const char *path);

#define SB_MAX_SPECIALS 160

/*
 * The same for every guard, but for the rows that count only where what git ignores is protected.
 * Made when it is first needed: most runs start long before they touch a name.
 */
struct sb_table {
	bool ready;
	size_t count, ending_count, tree_count;
	size_t component_count;
	struct sb_pattern_row rows[SB_GUARD_MAX_ROWS];
	/* of all rows, close together: its pages are touched when a run first changes something */
	struct sb_component components[SB_GUARD_MAX_ROWS * SB_MAX_COMPONENTS];
	struct sb_folded specials[SB_MAX_SPECIALS];           /* of the roles STRUCTURE and HOOK */
	const struct sb_pattern_row *endings[SB_MAX_ENDINGS]; /* "*.suffix", "<git>/prefix*" */
	struct {
		uint32_t key; /* the row's */
		uint16_t row;
	} trees[SB_GUARD_MAX_ROWS];     /* SB_KEYED_TREE */
	uint64_t maybe[SB_FOLD_MAX][2]; /* per length: a bit per first character of some name */
	struct sb_slot slots[SB_SLOTS];
};

/* A git directory that the .git file of a project led to when the run began. */
struct sb_common {
	char *path;   /* canonical: the common one */
	bool outside; /* of all projects, and of what rules of the user's open */
	bool linked;  /* the project is a worktree of it: what is its own is another's */
};

struct sb_commons {
	struct sb_common *all;
	size_t count;
	bool lost; /* nobody knows which there are */
};

/*
 * What is found on the way to an answer is judged like everything else.  So those who look ask the whole guard,
 * which is made of them: by these, set by sb_guard_new().
 */
struct sb_guard_whole {
	void (*look)(const struct sb_guard *guard);
	enum sb_guard_verdict (*judge)(const struct sb_guard *guard, enum sb_guard_act act,
				       const struct sb_guard_place *place,
				       struct sb_guard_answer *out);
	enum sb_guard_verdict (*content)(const struct sb_guard *guard,
					 const struct sb_guard_landing *landing, char *why,
					 size_t why_size);
};

struct sb_guard {
	struct sb_guard_options options;
	struct sb_guard_whole whole;
	struct sb_extras extras;
	struct sb_late *late;   /* sb_guard_linked(); NULL: nothing yet */
	struct sb_shown *shown; /* of each project that has a git directory */
	size_t shown_count;
	struct sb_commons commons;
	struct sb_system system;
	bool looked;                  /* these are there */
	struct sb_guard_found *found; /* the same, for processes that were forked before; or NULL */
	pid_t looker;                 /* who looks */
	char *home;                   /* options.home, where that was read once; or NULL */
};

/* Before the first answer of a guard. */
static inline void sb_guard_need(const struct sb_guard *guard)
{
	if (!__atomic_load_n(&guard->looked, __ATOMIC_ACQUIRE))
		guard->whole.look(guard);
}

extern struct sb_table sb_tables[2]; /* without and with those rows */
void sb_table_make(bool protecting);

static inline const struct sb_table *sb_table_of(const struct sb_guard *guard)
{
	const struct sb_table *table = &sb_tables[guard->options.protect_ignored];

	if (!__atomic_load_n(&table->ready, __ATOMIC_ACQUIRE))
		sb_table_make(guard->options.protect_ignored);
	return table;
}

/* Is the row one of those that a name is held against, wherever it lies? */
static inline bool sb_row_counts(const struct sb_guard_row *row, bool protecting)
{
	return !(row->flags & (SB_GUARD_IN_HOME | SB_GUARD_IF_ELSEWHERE)) &&
	       (protecting || !(row->flags & SB_GUARD_IF_PROTECTING));
}

/* For an answer about something that no row is about: one about git, the first. */
static inline const struct sb_guard_row *sb_row_of_git(const struct sb_guard *guard)
{
	size_t count;

	(void)guard;
	return sb_guard_rows(&count);
}

/* One component of a pattern, made ready. */
void sb_component_make(const char *text, size_t length, struct sb_component *out);

/* The name that is the pattern's component at a position, in the letters of its row. */
void sb_pattern_spells(const struct sb_pattern_row *pattern, unsigned position,
		       char out[SB_FOLD_MAX]);

/* Has the name the ending, and the beginning, of a SUFFIX? */
bool sb_component_ends(const struct sb_component *component, const char *name, size_t length);

/* Is it one that git runs?  githooks(5) */
bool sb_is_hook_name(const char *name);

/* look.c: through descriptors, at what is there already */

/*
 * One more reason, about path, of which the part from start on is shown; why may be NULL or "".  False:
 * a rule opens that name.
 */
bool sb_look_found(const struct sb_guard *guard, struct sb_guard_answer *out,
		   const struct sb_guard_row *row, const char *path, size_t start, const char *why);

/* The same of what cannot be looked at: no rule is about it.  Always true. */
bool sb_look_failed(struct sb_guard_answer *out, const struct sb_guard_row *row, const char *path,
		    size_t start);

/* There is more than can be looked through.  Always true. */
bool sb_look_ended(struct sb_guard_answer *out, const struct sb_guard_row *row);

/* Is it a file, a directory, ...?  What cannot be told is taken for a link. */
mode_t sb_look_kind(int directory, const struct dirent64 *entry);

/* directory + up ("" or "../"): does it have objects and refs?  Unknown counts as yes. */
bool sb_look_is_git(int directory, const char *up);

/* Is anything called name there?  Unknown counts as yes. */
bool sb_look_exists(int directory, const char *name);

/* The same, or a link on the way there, behind which it may come about. */
bool sb_look_leads_to(int directory, const char *name);

/*
 * Does directory hold what pattern's components from first on match, other than harmless?
 * path is directory's (future) canonical name.  True: out->detail says what, and why.
 */
bool sb_look_inside(const struct sb_guard *guard, int directory, const char *path,
		    const struct sb_pattern_row *pattern, unsigned first,
		    struct sb_guard_answer *out);

/* A file that nobody has open for writing, with a NUL behind it; or NULL. */
char *sb_look_read_settled(int directory, const char *name, size_t limit, size_t *out_length);

/*
 * Is there a symbolic link anywhere beneath, or more than can be looked through?  Not in what is called
 * without there; NULL: everywhere.
 */
bool sb_look_for_links(int directory, const char *without);

/* hooks/NAME.sample, or on its way to that: git never runs it. */
bool sb_look_is_sample(const struct sb_guard_row *row, const char *name, size_t length);

/* git_look.c: what a directory brings along; true: out->detail and out->row say what asks */

/* Of a directory that will be at path, which is .git or in it: everything. */
bool sb_look_at_git_tree(const struct sb_guard *guard, int directory, const char *path,
			 struct sb_guard_answer *out);

/* Of one that will be at path, wherever that is: everything, at any depth. */
bool sb_look_at_tree(const struct sb_guard *guard, int directory, const char *path,
		     struct sb_guard_answer *out);

/*
 * Of one that becomes a git directory ("" as prefix) or one of git's in it ("rebase-merge/"): the files that
 * git knows there, branches and worktrees included.  without: as below.
 */
bool sb_look_for_git_files(const struct sb_guard *guard, int directory, const char *path,
			   const char *prefix, const char *without, struct sb_guard_answer *out);

/* Of one that will be at path, the end of which, inner, lies in a git directory of any name. */
bool sb_look_at_git_part(const struct sb_guard *guard, int directory, const char *path,
			 const char *inner, struct sb_guard_answer *out);

/*
 * Everything that git obeys in a git directory, in one that becomes it.  In it the directory called without,
 * if that is not NULL, is known to be empty.
 */
bool sb_look_for_git(const struct sb_guard *guard, int directory, const char *path,
		     const char *without, struct sb_guard_answer *out);

/* Did git obey the one at path all the time, by its name or since a project's .git file leads there? */
bool sb_look_was_obeyed(const struct sb_guard *guard, const char *path);

/* Of the git directory at path, if it is there, and of the one that it borrows from: nobody obeyed it so far. */
bool sb_look_at_led(const struct sb_guard *guard, const char *path, struct sb_guard_answer *out);

/* Git's patterns whose first name is an ordinary word mean it in git's directories only. */
bool sb_is_word_of_git(const struct sb_pattern_row *pattern);

/* git_place.c: where in git's directories a name lies */

/* ".git", as the most forgiving file system would find it */
bool sb_is_dot_git(const char *name, size_t length);

/* Of a path in some .git: what lies in its innermost git directory.  NULL: it is in none. */
const char *sb_place_inner(const char *path);

/* Is it called .git? */
bool sb_place_is_called_git(const char *path);

/* Is the directory at path a git directory, by its name alone: that, or a submodule's in one? */
bool sb_place_is_git_root(const char *path);

/* Is path (absolute, maybe not there) a git directory, in one, or right beneath one by what lies there? */
bool sb_place_is_gits(const char *path);

/* Is the directory so many levels above a name in directory (1: directory) a git directory, on the disk? */
bool sb_place_is_git_above(int directory, unsigned levels);

/*
 * Is path, a name in directory (-1: unknown), right in a git directory of .git, and no directory is known to lie
 * there by this name?
 */
bool sb_place_is_odd_directory(int directory, const char *path);

/* How many components there are. */
unsigned sb_place_depth(const char *path);

/*
 * Of a path in a git directory that has any name: what lies in it, if that is open-ended (git_files.h).  arrives:
 * a directory gets that name.  NULL: it is in none, or something with a name of its own.
 */
const char *sb_place_inner_open(const struct sb_guard_place *place, bool arrives);

bool sb_place_is_in_git(const struct sb_guard_place *place);

/*
 * "git init" tries whether links can be made, with a name like tXaB12z that nobody uses; by then there are
 * HEAD and refs.
 */
bool sb_place_is_trial(const struct sb_guard_place *place);

/* hg_journal.c: does a link at path lie beneath .hg or .sl, and is none of those that hg makes itself? */
bool sb_hg_wants_no_link(const char *path);

/* git_common.c: repositories that the projects are worktrees or submodules of */

/* Into out->commons; the options are there.  projects: NULL-terminated, or NULL.  SB_E_NOMEM. */
int sb_commons_find(const char *const *projects, struct sb_guard *out);
void sb_commons_done(struct sb_commons *commons);

/* What is said about them. */
const struct sb_guard_row *sb_row_of_common(void);

bool sb_commons_has(const struct sb_commons *commons, const char *path);

/* Would the act take something away from such a repository outside, or change what is not this checkout's? */
bool sb_commons_ask(const struct sb_guard *guard, enum sb_guard_act act, const char *path);

/* repository.c: by path, at git's own files */

/*
 * Where the repositories of directory and its parents look for hooks and further config, also by the user's own
 * core.hooksPath, which the guard knows.  SB_E_REFUSED: one of them may not be read, which whoever owns it can
 * bring about for a moment.
 */
int sb_extras_around(const struct sb_guard *guard, const char *directory, struct sb_extras *out);

/*
 * What the git directories, common and own, name for the work tree at top; home may be NULL.  Not strict: what
 * may not be read names nothing.  Else it fails as the above.
 */
int sb_extras_named(const struct sb_repository *repository, const char *top, const char *home,
		    bool strict, struct sb_extras *out);

/* Is a relative core.hooksPath among it? */
int sb_repository_has_hooks_path(const struct sb_repository *repository, const char *top,
				 bool *out);

/*
 * The one at top alone; and what the user's own settings say, unless user is NULL.  shown, unless it is NULL, is
 * filled if there is one.
 */
int sb_extras_of(const char *top, const struct sb_guard_options *user, struct sb_extras *out,
		 struct sb_shown *shown);
void sb_extras_done(struct sb_extras *extras);

/* obeyed.c: a git directory counts for a work tree */

/* Of a project, or another directory: what repositories in and around it, and worktrees and submodules of all of these, name. */
int sb_obeyed_find(const char *project, const struct sb_guard_options *options,
		   struct sb_extras *out);

/* What gets a name at the moment: path is what it will be, directory what it is now; or NULL. */
struct sb_moving {
	int directory;
	const char *path;
	bool known; /* what is in it was obeyed before, by the same settings */
};

/*
 * From now on the git directory counts for top: does something stand there that it names, and that nobody has
 * guarded?  True: out says what.
 */
bool sb_obeyed_asks(const struct sb_guard *guard, const struct sb_repository *repository,
		    const char *top, const struct sb_moving *moving, struct sb_guard_answer *out);

/* The same of what the user's own settings name in every repository. */
bool sb_obeyed_by_user(const struct sb_guard *guard, const char *top, struct sb_guard_answer *out);

/* Is path a program of such settings, in a work tree?  beneath: does the directory that gets this name have it? */
const struct sb_extra *sb_obeyed_program(const struct sb_guard *guard, const char *path);
bool sb_obeyed_beneath(const struct sb_guard *guard, int directory, const char *path,
		       struct sb_guard_answer *out);

/* Would a link at path stand on the way to such a program, or in the place of the user's own hooks? */
const struct sb_extra *sb_obeyed_link(const struct sb_guard *guard, const char *path);

/* A tree at source gets the name of path: its .git file, or the settings in its .git, may lead elsewhere there. */
bool sb_obeyed_moved(const struct sb_guard *guard, const char *source, int directory,
		     const char *path, struct sb_guard_answer *out);

/* A directory leaves its place, with a checkout in it whose settings name files there. */
bool sb_obeyed_goes_along(const struct sb_guard *guard, const char *path,
			  struct sb_guard_answer *out);

/* A git directory leaves its place: who comes next does not know what it named, or that it had hooks. */
bool sb_obeyed_leaves(const struct sb_guard *guard, const struct sb_guard_place *place,
		      struct sb_guard_answer *out);

/* links.c: at names that are guarded in directory, the home directory or a project */

/*
 * beneath: in directories beneath it as well, as far as one look goes.  others: of the home directory, what else counts
 * as ~/.config and ~/.local/share; else NULL.
 */
int sb_extras_links(const char *directory, bool beneath, const struct sb_guard_homes *others,
		    struct sb_extras *out);

#endif
