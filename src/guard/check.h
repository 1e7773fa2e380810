/*
 * check.h - one look at the bytes that land at a guarded name.
 */
#ifndef SB_GUARD_CHECK_H
#define SB_GUARD_CHECK_H

#include "guard/guard_impl.h"
#include "guard/reasons.h"

#define SB_CHECK_MAX_LINE 4096 /* git itself knows no limit; nobody needs more */
#define SB_GIT_HASH_KEY "extensions.objectformat"

struct sb_check {
	const struct sb_guard *guard;
	const char *path; /* where the bytes land */
	struct sb_guard_bytes old_bytes, new_bytes;
	char *why; /* a note about what lands, or lines from reasons */
	size_t why_size;
	enum sb_guard_kind kind;
	struct sb_reasons *reasons; /* any: it is asked */
	bool *lingers;              /* has to be looked at again at the end of the run */
};

/* One more reason to ask.  The rest is looked at all the same: a person is told of all of it. */
void sb_check_ask(const struct sb_check *check, const char *what, const char *text, size_t length);

/* A note about what lands. */
void sb_check_say(const struct sb_check *check, const char *what, const char *text, size_t length);
size_t sb_check_note_size(const struct sb_check *check);

/* The path first, whole: by that notes are told apart (consent/notes.h). */
void sb_check_say_about_path(const struct sb_check *check, const char *text, size_t length);

/* Is this line, as it stands, one of text? */
bool sb_check_has_line(struct sb_guard_bytes text, const char *line, size_t length);

/* The one line of the file, without its newlines; NULL: there are more, or it is too long. */
char *sb_check_only_line(const struct sb_check *check);

/* ".../worktrees/ID/commondir": "../.." is the directory around worktrees. */
bool sb_check_is_in_worktrees(const char *path);

/* check_leads.c: files that lead git to a directory */

void sb_check_gitfile(const struct sb_check *check);
void sb_check_gitdir(const struct sb_check *check);
void sb_check_commondir(const struct sb_check *check);

/* value, which the file of a git directory says, is its work tree, or the .git (ending) in it. */
void sb_check_work_tree(const struct sb_check *check, const char *value, const char *ending);

/* A work tree is none of git's own directories: a checkout would write hooks. */
bool sb_leads_to_work_tree(const struct sb_check *check, const char *value);
bool sb_leads_to_submodule(const struct sb_check *check, const char *value);
bool sb_leads_to_unguarded(const struct sb_check *check, const char *url);
bool sb_leads_to_guarded(const struct sb_check *check, const char *value);

/* git-lfs copies what is pushed to such a place, and takes what is there. */
bool sb_leads_to_this_machine(const struct sb_check *check, const char *url);

/* check_config.c: git's settings, and info/exclude, whose change is told as theirs is */
void sb_check_config(const struct sb_check *check);
void sb_check_exclude(const struct sb_check *check);

/* Is it a project's own?  Of that it is told when the run ends what has become of it: sb_guard_changes(). */
bool sb_check_is_of_project(const struct sb_check *check);

/* Has the git directory that check->path is right in no branch yet, as a clone that has just begun? */
bool sb_check_has_no_refs(const struct sb_check *check);

/* check_refs.c: notes about what lands in refs, or as the place where history ends */
#define SB_SHALLOW_TOLD "git log ends early, history before is not shown: "
void sb_check_ref(const struct sb_check *check);
void sb_check_shallow(const struct sb_check *check);

/* git_autostash.c: the stash that an autostash names */
void sb_check_autostash(const struct sb_check *check);

/* Is it the name of one, and nothing else?  How many digits that has. */
bool sb_git_is_stash(struct sb_guard_bytes bytes, size_t *out_digits);

/* One that is there when the run ends. */
void sb_git_say_stash(struct sb_guard_bytes id, char *note, size_t size);

/* hg_journal.c: what hg recover and hg rollback put back */
void sb_check_hg(const struct sb_check *check);

/* hg_subs.c: a line of .hgsub */
bool sb_hg_sub_is_harmless(const struct sb_check *check, const char *line, size_t length);

/* check_index.c */
void sb_check_index(const struct sb_check *check);

#endif
