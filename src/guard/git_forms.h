/*
 * git_forms.h - the forms that git's own state files have.
 *
 * Each check reads bytes alone; only that of MERGE_RR looks at the disk, for links.
 */
#ifndef SB_GUARD_GIT_FORMS_H
#define SB_GUARD_GIT_FORMS_H

#include <stdbool.h>
#include <stddef.h>

#include "guard/guard.h"

/* May the kind hold bytes that other settings never have: NUL? */
bool sb_git_form_has_nul(enum sb_guard_kind kind);

/*
 * Have the bytes, of which there are some, the form?  If not, *out_bad is the part that has not, which is
 * in them.  path is where they land, canonical.  False as well for a kind that is no form of git's.
 */
bool sb_git_form_holds(enum sb_guard_kind kind, const char *path, struct sb_guard_bytes bytes,
		       struct sb_guard_bytes *out_bad);

/* The directory that the paths of the git directory git (canonical) start from; the caller's.  NULL: unknown. */
char *sb_git_work_tree_of(const char *git);

/* "-S", "-SKEY": options that git keeps for git commit. */
bool sb_git_sign_option_is_plain(const char *text, size_t length);

/* "ours", "--find-renames=40%": an option of git's own merge strategies, with or without the dashes. */
bool sb_git_strategy_option_is_known(const char *text, size_t length);

/*
 * versions.c: files that say which version of a tool is run (.nvmrc, .tool-versions, rust-toolchain).
 */

/* Is a line of the file at path nothing but versions, names of tools and comments? */
bool sb_version_line_is_plain(const char *path, const char *line, size_t length);

/* git_packs.c: objects/pack/multi-pack-index: which packs git takes objects from, and removes. */
/* Are all packs that it names beside it?  If not, *out_bad is the name that is not, or all of it. */
bool sb_git_packs_are_beside(struct sb_guard_bytes bytes, struct sb_guard_bytes *out_bad);

/* git_alternates.c: objects/info/alternates: further places that git takes objects from. */
/* May the line stand in the file (.../objects/info/alternates, canonical)? */
bool sb_git_alternate_is_harmless(const struct sb_guard *guard, const char *file, const char *line,
				  size_t length);

/* git_todo.c: the list of steps of a rebase: git-rebase-todo. */

enum sb_git_step {
	SB_GIT_STEP_PLAIN, /* moves commits, or none */
	SB_GIT_STEP_RUNS,  /* exec */
	SB_GIT_STEP_ODD,   /* not one of git's */
};

enum sb_git_step sb_git_step_of(const char *line, size_t length);

/* Or of a cherry-pick, which knows no exec? */
bool sb_git_todo_is_of_rebase(const char *path);

#endif
