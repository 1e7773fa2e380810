/*
 * preview.h - a staged commit as people see it.
 */
#ifndef SB_REPO_PREVIEW_H
#define SB_REPO_PREVIEW_H

#include "repo/git.h"
#include "repo/repo.h"

#define SB_PREVIEW_MAX ((size_t)512 * 1024) /* of a diff; of a longer one the beginning */

/* What an act does not take, and why: into the text, the first fifty by name; and at the end how many more. */
void sb_repo_leave_out(struct sb_repo_result *result, const char *path, const char *why);
void sb_repo_left_out(struct sb_repo_result *result);

/* Its difference to the commit before, names first; escaped, but for ends of lines and tabs. */
int sb_repo_diff(const struct sb_git *git, const char *commit, struct sb_buf *out,
		 struct sb_error *err);

/* Who made it and the message, before that. */
int sb_repo_preview(const struct sb_git *git, const char *commit, struct sb_buf *out,
		    struct sb_error *err);

/* How many files it changes. */
int sb_repo_count(const struct sb_git *git, const char *commit, size_t *out, struct sb_error *err);

#endif
