/*
 * The files of a git directory, each with what may be in it, or why it may be anything.
 *
 * SECURITY: a list of good names, not of bad ones.
 *
 * Danger: git, its shell scripts, prompts and editors read some hundred files there.  Some end in a
 * prompt, which the shell expands, some name files or options.  A list of the bad ones misses
 * the next one, as it has missed the counters of a rebase and rerere's list of paths.
 * Price: a tool that keeps a file of its own there is asked about; a comparison with these
 * rows for each name in a git directory but objects.
 * Held by: tests/supervise/git_files.py, tests/supervise/git_daily.py, tests/supervise/git_upkeep.py
 *
 * "*" stands for any characters of one name, "?" for one, "#" for digits alone,
 * "**" for everything beneath, "**.x" for an ending at any depth.  The first row that matches counts.  What the ordinary table (table.c) knows comes before these.
 */
#include "guard/git_files.h"

#include <ctype.h>
#include <string.h>

#include "base/each.h"
#include "base/escape.h"
#include "base/words.h"
#include "guard/fold.h"
#include "guard/guard.h"

#define GIT "git"
#define ROW(pattern, kind, who, why)                                                               \
	{                                                                                          \
		"<git>/" pattern, who, why, SB_GUARD_##kind, 0, ""                                 \
	}
#define FREE(pattern, who, why) ROW(pattern, ANYTHING, who, why)
#define IDS(pattern, why) ROW(pattern, GIT_IDS, GIT, why)
#define STASH(pattern, why) ROW(pattern, GIT_STASH, GIT, why)
#define NUMBER(pattern, why) ROW(pattern, GIT_NUMBER, "prompts", why)
#define NAMES(pattern, who, why) ROW(pattern, GIT_NAMES, who, why)
#define ASK(pattern, who, why) ROW(pattern, SAME, who, why)

static const struct sb_guard_row rows[] = {
	/* most of what is written: objects, branches, their history */
	ROW("objects/info/alternates", ALTERNATES, GIT,
	    "makes git take objects from another place"),
	ROW("objects/pack/multi-pack-index", GIT_PACKS, GIT, "git removes packs that it names"),
	FREE("objects/**", GIT, "data by its hash, which git fsck compares, and lists of it"),
	FREE("**.lock", GIT, "becomes what it locks by a rename, and is judged then"),
	ROW("refs/**", GIT_REF, "prompts",
	    "names of branches and tags end in prompts, which shells expand"),
	FREE("logs/**", GIT, "git reflog shows it; the ids in it are only looked up"),
	ROW("HEAD", GIT_REF, "prompts",
	    "the branch that it names ends in prompts, which shells expand"),
	ROW("packed-refs", GIT_PACKED, "prompts",
	    "names of branches and tags end in prompts, which shells expand"),
	FREE("packed-refs.new", GIT, "becomes packed-refs by a rename, and is judged then"),
	FREE("._packed-refs*", "go-git", "becomes packed-refs by a rename, and is judged then"),
	FREE("COMMIT_EDITMSG", GIT, "a message for the editor"),
	/* another file of this room looks at their contents */
	FREE("index", GIT, "the list of files for the next commit"),
	FREE("index.*", GIT, "the list of files, on its way to its name"),
	FREE("sharedindex.*", GIT, "part of the list of files"),
	FREE("sharedindex_*", GIT, "part of the list of files, on its way to its name"),
	FREE("next-index-*", GIT, "the list of files, on its way to its name"),

	/* other heads */
	IDS("ORIG_HEAD", "zsh's vcs_info takes it for a branch in the middle of a merge"),
	IDS("MERGE_HEAD", "what is being merged"),
	IDS("CHERRY_PICK_HEAD", "what is being picked"),
	IDS("REVERT_HEAD", "what is being reverted"),
	IDS("REBASE_HEAD", "what is being rebased"),
	IDS("AUTO_MERGE", "what git merge left in the work tree"),
	STASH("MERGE_AUTOSTASH", "a stash that git merge, or the next git commit, applies"),
	IDS("BISECT_HEAD", "what git bisect --no-checkout looks at"),
	IDS("BISECT_EXPECTED_REV", "what git bisect checked out"),
	IDS("shallow", "where history ends"),
	FREE("shallow_*", GIT, "becomes shallow, and is judged then"),
	FREE("FETCH_HEAD", GIT, "ids that git looks up, and text for the message of a merge"),
	ROW("NOTES_MERGE_REF", GIT_REF, GIT, "the notes that are being merged"),
	IDS("NOTES_MERGE_PARTIAL", "the notes that are being merged"),
	FREE("NOTES_MERGE_WORKTREE/*", GIT, "notes with conflicts, for the editor"),

	/* messages: shown in an editor, recorded, evaluated by nobody */
	SB_NAMED(FREE, GIT, "a message for the editor", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG",
		 "NOTES_EDITMSG", "EDIT_DESCRIPTION", "BRANCH_DESCRIPTION"),
	FREE("PULLREQ_EDITMSG", "hub", "a message for the editor"),
	FREE("GITGUI_*", "git gui", "a message for the editor"),
	FREE("ADD_EDIT.patch", GIT, "a patch that git add -e makes, and applies to the index"),
	FREE("addp-hunk-edit.diff", GIT, "a patch that git add -p makes, and applies to the index"),
	FREE("rebased-patches", GIT, "patches on their way into rebase-apply"),
	FREE("lint-staged_unstaged.patch", "lint-staged",
	     "made anew each time before it is applied"),
	FREE("description", "gitweb", "shown, and escaped for that"),
	NAMES("MERGE_MODE", GIT, "how to merge: no-ff"),
	ROW("MERGE_RR", GIT_RERERE, GIT,
	    "the next git commit reads and rewrites the files that it names"),
	FREE("rr-cache/*/preimage*", GIT, "a conflict as it was, compared by rerere"),
	FREE("rr-cache/*/postimage*", GIT, "how a conflict was resolved, for the work tree"),
	FREE("rr-cache/*/thisimage*", GIT, "a conflict as it is, compared by rerere"),

	/* bisect */
	NAMES("BISECT_START", GIT, "the branch that git bisect reset goes back to"),
	NAMES("BISECT_TERMS", GIT, "words for good and bad, which become parts of branch names"),
	ROW("BISECT_NAMES", GIT_QUOTED, GIT,
	    "paths, which versions of git bisect in shell evaluate"),
	ROW("BISECT_LOG", GIT_QUOTED, GIT,
	    "commands, which versions of git bisect in shell evaluate"),
	NAMES("BISECT_ANCESTORS_OK", GIT, "only whether it is there"),
	NAMES("BISECT_FIRST_PARENT", GIT, "only whether it is there"),
	FREE("BISECT_RUN", GIT, "what the command of git bisect run printed"),

	/* a rebase in several steps */
	NUMBER("rebase-merge/msgnum", "bash and zsh evaluate it in a prompt"),
	NUMBER("rebase-merge/end", "bash and zsh evaluate it in a prompt"),
	NAMES("rebase-merge/head-name", GIT, "prompts show it, and shells expand prompts"),
	IDS("rebase-merge/onto", "what the rebase is put on; prompts show it"),
	NAMES("rebase-merge/onto_name", GIT, "prompts show it"),
	IDS("rebase-merge/orig-head", "where the rebase began; prompts show it"),
	IDS("rebase-merge/stopped-sha", "where the rebase stopped"),
	IDS("rebase-merge/squash-onto", "what the rebase is put on"),
	IDS("rebase-merge/amend", "the commit that git rebase --continue amends"),
	STASH("rebase-merge/autostash", "a stash that git rebase applies at its end"),
	IDS("rebase-merge/rewritten-list", "what became what, for hooks that are there"),
	IDS("rebase-merge/rewritten-pending", "what became what, for hooks that are there"),
	NAMES("rebase-merge/refs-to-delete", GIT, "labels that git rebase deletes at its end"),
	NAMES("rebase-merge/update-refs", GIT, "branches that git rebase moves at its end"),
	NAMES("rebase-merge/current-fixups", GIT, "what is being squashed"),
	ROW("rebase-merge/git-rebase-todo", REBASE_TODO, GIT,
	    "git rebase --continue runs its exec lines"),
	FREE("rebase-merge/git-rebase-todo.backup", GIT,
	     "compared with the list, to find commits that are missing"),
	FREE("rebase-merge/dropped", GIT, "commits that were left out, to be named again"),
	FREE("rebase-merge/done", GIT, "steps that were taken; shown, never taken again"),
	ROW("rebase-merge/author-script", GIT_AUTHOR, GIT,
	    "assignments, which versions of git in shell evaluate"),
	FREE("rebase-merge/message*", GIT, "a message for the editor"),
	FREE("rebase-merge/patch", GIT, "shown by git rebase --show-current-patch"),
	ROW("rebase-merge/strategy", STRATEGY, GIT, "git rebase --continue runs git-merge-NAME"),
	ROW("rebase-merge/strategy_opts", GIT_STRATEGY_OPTIONS, GIT, "options for the merge"),
	ROW("rebase-merge/gpg_sign_opt", GIT_OPTIONS, GIT, "an option for git commit"),
	ROW("rebase-merge/allow_rerere_autoupdate", GIT_OPTIONS, GIT, "an option for git commit"),
	SB_NAMED(NAMES, GIT, "only whether it is there", "rebase-merge/interactive",
		 "rebase-merge/quiet", "rebase-merge/verbose"),
	ROW("rebase-merge/signoff", GIT_OPTIONS, GIT, "an option for git commit"),
	SB_NAMED(NAMES, GIT, "only whether it is there", "rebase-merge/cdate_is_adate",
		 "rebase-merge/ignore_date", "rebase-merge/force-rebase",
		 "rebase-merge/rescheduled", "rebase-merge/drop_redundant_commits",
		 "rebase-merge/keep_redundant_commits", "rebase-merge/reschedule-failed-exec",
		 "rebase-merge/no-reschedule-failed-exec"),

	/* git am, and the rebase that uses it */
	NUMBER("rebase-apply/next", "bash and zsh evaluate it in a prompt"),
	NUMBER("rebase-apply/last", "bash and zsh evaluate it in a prompt"),
	FREE("rebase-apply/#", GIT, "a patch, applied to the work tree without leaving it"),
	FREE("rebase-apply/patch", GIT, "a patch, applied to the work tree without leaving it"),
	FREE("rebase-apply/patch-merge-index", GIT, "made anew each time before it is read"),
	FREE("rebase-apply/info", GIT, "author and subject of a patch, parsed by git"),
	SB_NAMED(FREE, GIT, "a message", "rebase-apply/msg", "rebase-apply/msg-clean",
		 "rebase-apply/final-commit"),
	ROW("rebase-apply/author-script", GIT_AUTHOR, GIT,
	    "assignments, which versions of git in shell evaluate"),
	ROW("rebase-apply/apply-opt", GIT_OPTIONS, GIT, "options for git apply"),
	ROW("rebase-apply/gpg_sign_opt", GIT_OPTIONS, GIT, "an option for git commit"),
	NAMES("rebase-apply/rerere-autoupdate", GIT, "a number"),
	ROW("rebase-apply/allow_rerere_autoupdate", GIT_OPTIONS, GIT, "an option for git commit"),
	NAMES("rebase-apply/head-name", GIT, "prompts show it, and shells expand prompts"),
	NAMES("rebase-apply/onto_name", GIT, "prompts show it"),
	IDS("rebase-apply/onto", "what the rebase is put on; prompts show it"),
	IDS("rebase-apply/orig-head", "where the rebase began"),
	IDS("rebase-apply/original-commit", "the commit that a patch was made of; prompts show it"),
	IDS("rebase-apply/abort-safety", "where git am stopped"),
	STASH("rebase-apply/autostash", "a stash that git rebase applies at its end"),
	IDS("rebase-apply/rewritten", "zsh's vcs_info hands its lines to git log, as options too"),
	SB_NAMED(NAMES, GIT, "only whether it is there", "rebase-apply/applying",
		 "rebase-apply/rebasing", "rebase-apply/dirtyindex"),
	SB_NAMED(NAMES, GIT, "a letter", "rebase-apply/keep", "rebase-apply/messageid",
		 "rebase-apply/quiet", "rebase-apply/verbose", "rebase-apply/scissors",
		 "rebase-apply/sign", "rebase-apply/threeway", "rebase-apply/utf8"),
	NAMES("rebase-apply/quoted-cr", GIT, "a word"),
	NAMES("rebase-apply/no-reflog", GIT, "only whether it is there"),
	ROW("rebase-apply/strategy", STRATEGY, GIT, "git rebase --continue runs git-merge-NAME"),
	ROW("rebase-apply/strategy_opts", GIT_STRATEGY_OPTIONS, GIT, "options for the merge"),

	/* several picks or reverts */
	ROW("sequencer/todo", REBASE_TODO, GIT, "the steps of git cherry-pick --continue"),
	ROW("sequencer/opts", SEQUENCER, GIT, "git cherry-pick --continue runs git-merge-NAME"),
	IDS("sequencer/head", "where the picks began"),
	IDS("sequencer/abort-safety", "where the picks stopped"),

	/* what git is told about the repository */
	ROW("config", GIT_CONFIG, GIT, "git config can name programs to run"),
	ROW("config.worktree", GIT_CONFIG, GIT, "git config can name programs to run"),
	FREE("hooks/*.sample", GIT, "git never runs it by this name"),
	{"<git>/hooks/*", GIT, "git runs hooks", SB_GUARD_SAME, SB_GUARD_IF_EXECUTABLE, ""},
	ASK("branches/*", GIT, "remotes in an old form, which can name programs"),
	ASK("remotes/*", GIT, "remotes in an old form, which can name programs"),
	ROW("commondir", COMMONDIR, GIT, "leads git to other hooks and config"),
	ROW("gitdir", GITDIR, GIT, "names the files that git worktree moves, repairs and removes"),
	ROW("locked", GIT_TEXT, GIT, "git worktree list prints it as it is"),
	ROW("info/exclude", GIT_EXCLUDE, GIT, "patterns of names that git does not show"),
	ROW("info/attributes", GIT_EXCLUDE, GIT,
	    "patterns of files that git diff takes for binary"),
	FREE("info/sparse-checkout", GIT, "patterns of names"),
	FREE("info/refs", "git over http", "a list for others, which git makes anew"),
	FREE("info/refs_*", GIT, "becomes info/refs by a rename"),
	IDS("info/grafts", "parents of commits, in an old form"),

	/* housekeeping */
	ROW("gc.log", GIT_TEXT, GIT, "the next command prints it; older versions of git as it is"),
	FREE("gc.pid", GIT, "a number and a host, compared"),
	FREE("lost-found/**", GIT, "what git fsck found, for people"),
	FREE("info/fast-import/*", GIT, "marks of git fast-import, parsed"),
	FREE("fast_import_crash_*", GIT, "why git fast-import stopped, for people"),
	FREE("subtree-cache/**", "git subtree", "emptied before it is read"),
	FREE("lfs/objects/**", "git-lfs", "data, named by its hash"),
	SB_NAMED(FREE, "git-lfs", "data on its way to its name", "lfs/tmp/**", "lfs/incomplete/**"),
	FREE("lfs/cache/**", "git-lfs", "lists of locks, parsed"),
	FREE("lfs/logs/*", "git-lfs", "messages of git-lfs, for people"),
	IDS("opencode", "an id that opencode keeps"),
	FREE("t??????", GIT, "made and removed by git init, to see whether links can be made"),
	FREE(".probe-*", "JGit", "made and removed to see how exact times are"),
	FREE("sed??????", "sed -i", "becomes what it is a copy of, and is judged then"),
	FREE("XX??????", "perl -i", "becomes what it is a copy of, and is judged then"),
	FREE("rebase-merge/sed??????", "sed -i",
	     "becomes what it is a copy of, and is judged then"),
	FREE("rebase-merge/XX??????", "perl -i",
	     "becomes what it is a copy of, and is judged then"),
	FREE("4913", "vim", "made and removed, to see whether it can be"),
	FREE("rebase-merge/4913", "vim", "made and removed, to see whether it can be"),
	FREE("#*#", "emacs", "what an editor keeps while a message is written"),
	FREE("rebase-merge/#*#", "emacs", "what an editor keeps while a message is written"),
	FREE("**.swpx", "vim", "made and removed, to see how links are made"),
	FREE("**.sw?", "vim", "what an editor keeps while a message is written"),
	FREE("**~", "editors", "what an editor keeps while a message is written"),

	/* known, and asked about */
	ASK("fsmonitor--daemon**", GIT, "tells git which files have not changed"),
	ASK("svn/**", "git svn", "settings and caches of git svn, which perl reads"),
	ASK("git-p4*", "git p4", "settings of git p4, which python evaluates"),
	ASK("reftable/**", "prompts", "holds branches in a form that is not looked into"),
	ASK("*", "git and others", "not a file that git is known to keep there"),
};

enum { ROWS = sizeof rows / sizeof rows[0], USUAL = 2 };

_Static_assert(ROWS <= SB_GUARD_MAX_GIT_ROWS, "every row has its number");

/* Without "<git>/". */
static const char *pattern_of(const struct sb_guard_row *row)
{
	return row->pattern + 6;
}

const struct sb_guard_row *sb_guard_git_rows(size_t *out_count)
{
	*out_count = ROWS;
	return rows;
}

size_t sb_guard_row_number(const struct sb_guard_row *row)
{
	size_t count, system_count;
	const struct sb_guard_row *others = sb_guard_rows(&count);
	const struct sb_guard_row *system = sb_guard_system_rows(&system_count);

	if (row >= others && row < others + count)
		return (size_t)(row - others);
	if (row >= system && row < system + system_count)
		return count + ROWS + (size_t)(row - system);
	return row >= rows && row < rows + ROWS ? count + (size_t)(row - rows) : 0;
}

/* Directories in which git keeps files: where one comes, the name of a submodule is over. */
static bool is_word(const char *name, size_t length)
{
	return sb_words_have("objects refs logs hooks info lfs rr-cache sequencer worktrees "
			     "modules rebase-apply branches remotes reftable rebase-merge svn "
			     "subtree-cache",
			     name, length);
}

bool sb_git_is_known_directory(const char *inner)
{
	return is_word(inner, strcspn(inner, "/"));
}

/*
 * Of git itself, and of tools that people use every day; what lies in most of them asks all the same.  Not among
 * the words above: a submodule may be called so.
 */
bool sb_git_expects_directory(const char *name)
{
	static const char gits[] = "NOTES_MERGE_WORKTREE fsmonitor--daemon gitweb lost-found "
				   "rewritten archimport gitcvs";
	static const char tools[] =
		".gitflow ai annex bigstore branchless bzr cinnabar cursor entire-sessions fat "
		"filter-repo git-bug git-crypt gitbutler gk guilt hg jj lazygit machete magit media "
		"patches remote-gcrypt sl stgit tf tfs tig tmp top-bases xet";
	size_t length = strlen(name);

	return is_word(name, length) || sb_words_have(gits, name, length) ||
	       sb_words_have(tools, name, length);
}

/* Behind the component at text; NULL: it is the last. */
static const char *behind(const char *text)
{
	const char *slash = strchr(text, '/');

	return slash && slash[1] ? slash + 1 : NULL;
}

const char *sb_git_inner(const char *rest)
{
	for (;;) {
		const char *next, *after;

		if (strncmp(rest, "worktrees/", 10) == 0) {
			next = behind(rest + 10);
			if (!next)
				return rest;
			rest = next;
		} else if (strncmp(rest, "modules/", 8) == 0) {
			/* a submodule's name may have slashes in it; it has one part at least */
			next = behind(rest + 8);
			if (!next)
				return rest;
			while ((after = behind(next)) && !is_word(next, (size_t)(after - next) - 1))
				next = after;
			rest = next;
		} else {
			return rest;
		}
	}
}

/* One component of a pattern, with at most one star. */
static bool is_name(const char *pattern, size_t size, const char *name, size_t length)
{
	const char *star = memchr(pattern, '*', size);
	size_t before = star ? (size_t)(star - pattern) : size,
	       after = star ? size - before - 1 : 0;

	if (size == 1 && *pattern == '#')
		return length && strspn(name, "0123456789") == length;
	if (star ? length < before + after : length != size)
		return false;
	for (size_t i = 0; i < before; i++)
		if (pattern[i] != '?' && pattern[i] != name[i])
			return false;
	return memcmp(pattern + size - after, name + length - after, after) == 0;
}

/* "**.lock": the end of the last name, at any depth.  A "?" is one character. */
static bool ends_like(const char *ending, const char *inner)
{
	size_t size = strlen(ending), length = strlen(inner);
	const char *end = length > size ? inner + length - size : NULL;

	for (size_t i = 0; end && i < size; i++)
		if (ending[i] != '?' ? ending[i] != end[i] : end[i] == '/')
			end = NULL;
	return end != NULL;
}

static bool is_meant(const char *pattern, const char *inner)
{
	if (strncmp(pattern, "**", 2) == 0)
		return ends_like(pattern + 2, inner);
	for (;;) {
		size_t size = strcspn(pattern, "/"), length = strcspn(inner, "/");

		bool rest = size >= 2 && !pattern[size] && pattern[size - 1] == '*' &&
			    pattern[size - 2] == '*';

		if (rest && size > 2) /* "prefix**" */
			return strncmp(pattern, inner, size - 2) == 0;
		if (rest)
			return *inner != '\0';
		if (!is_name(pattern, size, inner, length))
			return false;
		if (!pattern[size] || !inner[length])
			return !pattern[size] && !inner[length];
		pattern += size + 1;
		inner += length + 1;
	}
}

/* The hot path: objects/XX/... */
static const struct sb_guard_row *usual_row(const char *inner)
{
	if (strncmp(inner, "objects/", 8) == 0 && isxdigit((unsigned char)inner[8]) &&
	    isxdigit((unsigned char)inner[9]) && (inner[10] == '/' || !inner[10]))
		return &rows[USUAL];
	return NULL;
}

bool sb_git_is_temporary(const char *name, size_t *length)
{
	static const size_t random = 6; /* mkstemp(3) */
	size_t end = *length - random;

	if (*length < random + 3 || name[0] != '.' || name[1] == '.' || name[end - 1] != '.')
		return false;
	for (size_t i = end; i < *length; i++)
		if (!isalnum((unsigned char)name[i]))
			return false;
	*length = end - 2; /* without both dots */
	return true;
}

static const struct sb_guard_row *find_row(const char *inner)
{
	for (size_t i = 0; i < ROWS; i++) {
		const char *pattern = pattern_of(&rows[i]);

		/* most rows differ in their first letter */
		if ((*pattern == *inner || strchr("*#?", *pattern)) && is_meant(pattern, inner))
			return &rows[i];
	}
	return &rows[ROWS - 1]; /* deeper than any pattern */
}

/*
 * SECURITY: a file on its way to a name is judged like that name.
 *
 * Danger: a door beside the list.  So what lands there is what would land at the name itself, and the rename is judged
 * once more.  Nobody reads it there: git takes no name with a leading dot for a ref or a hook, and the stars of shells
 * pass it by.
 * Price: a second search for names of this form.
 * Held by: tests/supervise/git_temporary.py
 */
static const struct sb_guard_row *row_on_its_way(const char *inner)
{
	const char *slash = strrchr(inner, '/'), *name = slash ? slash + 1 : inner;
	size_t before = (size_t)(name - inner), length = strlen(name);
	char to[512];

	if (!sb_git_is_temporary(name, &length) || before + length >= sizeof to)
		return NULL;
	memcpy(to, inner, before);
	memcpy(to + before, name + 1, length);
	to[before + length] = '\0';
	return find_row(to);
}

const struct sb_guard_row *sb_git_row_of(const char *inner)
{
	const struct sb_guard_row *row = usual_row(inner);

	if (!row)
		row = row_on_its_way(inner);
	return row && !sb_git_row_is_unknown(row) ? row : find_row(inner);
}

bool sb_git_is_free(const char *inner)
{
	for (size_t i = 0; i < ROWS; i++) {
		const char *pattern = pattern_of(&rows[i]);
		size_t length = strlen(pattern);

		if (rows[i].kind != SB_GUARD_ANYTHING || length < 4 ||
		    strcmp(pattern + length - 3, "/**") != 0 ||
		    strncmp(inner, pattern, length - 3) != 0)
			continue;
		if (inner[length - 3] == '/' || !inner[length - 3])
			return strncmp(inner, "objects", 7) != 0 || usual_row(inner);
	}
	return false;
}

bool sb_git_row_is_fixed(const struct sb_guard_row *row)
{
	return row->kind != SB_GUARD_ANYTHING && row->kind != SB_GUARD_SAME &&
	       !strpbrk(pattern_of(row), "*#?");
}

const struct sb_guard_row *sb_git_next_fixed(size_t *position)
{
	while (*position < ROWS) {
		const struct sb_guard_row *row = &rows[(*position)++];

		if (sb_git_row_is_fixed(row))
			return row;
	}
	return NULL;
}

/* Hooks and their like are found by the other table (table.c). */
bool sb_git_is_open_ended(const char *name, size_t length)
{
#define WORD(text, whole)                                                                          \
	{                                                                                          \
		text, sizeof text - 1, whole                                                       \
	}
	static const struct {
		const char *text;
		size_t length;
		bool whole;
	} words[] = {WORD("refs", true), WORD("reftable", true), WORD("svn", true),
		     WORD("git-p4", false), WORD("fsmonitor--daemon", false)};
	struct sb_folded folded;

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (length < words[i].length ||
		    !sb_fold_begins(name, length, words[i].text, words[i].length))
			continue;
		if (words[i].whole)
			sb_fold(name, length, &folded);
		if (!words[i].whole || folded.length == words[i].length)
			return true;
	}
	return false;
}

const struct sb_guard_row *sb_git_unknown_row(void)
{
	return &rows[ROWS - 1];
}

bool sb_git_row_is_unknown(const struct sb_guard_row *row)
{
	return row == &rows[ROWS - 1];
}

const char *sb_git_fixed_name(const struct sb_guard_row *row)
{
	return pattern_of(row);
}

/* git-check-ref-format(1) for one part of a name; then what a shell takes for more than letters. */
static bool is_plain_part(const char *part, size_t length)
{
	static const char forbidden[] = " ~^:?*[\\", expanded[] = "$`;|&<>'\"()";

	if (length == 0 || part[0] == '.' || part[0] == '-' || part[length - 1] == '.' ||
	    (length >= 5 && memcmp(part + length - 5, ".lock", 5) == 0) ||
	    !sb_utf8_all_visible(part, length)) /* a terminal outside shows it */
		return false;
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)part[i];

		if (strchr(forbidden, c) || strchr(expanded, c))
			return false;
		if (i && ((c == '.' && part[i - 1] == '.') || (c == '{' && part[i - 1] == '@')))
			return false;
	}
	return true;
}

bool sb_git_ref_is_plain(const char *name, size_t length)
{
	for (;;) {
		const char *slash = memchr(name, '/', length);
		size_t part = slash ? (size_t)(slash - name) : length;

		if (!is_plain_part(name, part))
			return false;
		if (!slash)
			return true;
		name += part + 1;
		length -= part + 1;
	}
}

bool sb_git_ref_is_odd(const struct sb_guard_row *row, const char *inner)
{
	const char *name;
	size_t length;

	if (row->kind != SB_GUARD_GIT_REF || strncmp(inner, "refs/", 5) != 0 ||
	    sb_git_ref_is_plain(inner, strlen(inner)))
		return false;
	name = strrchr(inner, '/');
	length = strlen(++name);
	return !sb_git_is_temporary(name, &length) || !is_plain_part(name + 1, length) ||
	       !sb_git_ref_is_plain(inner, (size_t)(name - inner) - 1);
}
