/*
 * staged.h - where a staged commit is: a note in sandbash's own directory, one file for each ID.
 *
 * The commit itself is the repository's, at refs/sandbash/ID; the note is made after that ref and removed after
 * it.  So a ref without a note is staged work that was not finished being told about, and a note without a ref
 * is about work that was pushed or discarded.
 */
#ifndef SB_REPO_STAGED_H
#define SB_REPO_STAGED_H

#include "repo/repo.h"

struct sb_staged {
	char *repo;                    /* canonical, or a URL */
	char *branch;                  /* that it was staged for */
	char commit[SB_REPO_OID_SIZE]; /* begins with the ID */
};

int sb_staged_write(const char *state_dir, const struct sb_staged *staged, struct sb_error *err);
/* SB_E_MISSING: there is none of this ID. */
int sb_staged_read(const char *state_dir, const char *id, struct sb_staged *out,
		   struct sb_error *err);
void sb_staged_remove(const char *state_dir, const char *id);
void sb_staged_done(struct sb_staged *staged);

#endif
