/*
 * preview.h - a staged commit as people see it.
 */
#ifndef SB_REPO_PREVIEW_H
#define SB_REPO_PREVIEW_H

#include "repo/git.h"

#define SB_PREVIEW_MAX ((size_t)512 * 1024) /* of a diff; of a longer one the beginning */

/* Who made it, the message, and its difference to the commit before; escaped, but for ends of lines and tabs. */
int sb_repo_preview(const struct sb_git *git, const char *commit, struct sb_buf *out,
		    struct sb_error *err);

/* How many files it changes. */
int sb_repo_count(const struct sb_git *git, const char *commit, size_t *out, struct sb_error *err);

#endif
