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

/* "-S", "-SKEY": options that git keeps for git commit. */
bool sb_git_sign_option_is_plain(const char *text, size_t length);

/* "ours", "--find-renames=40%": an option of git's own merge strategies, with or without the dashes. */
bool sb_git_strategy_option_is_known(const char *text, size_t length);

#endif
