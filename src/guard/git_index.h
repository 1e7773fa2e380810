/*
 * git_index.h - what a git index may say: gitformat-index(5), as git reads it (read-cache.c of git).
 *
 * Git checks names when it puts them into an index, not when it reads one: an entry
 * ".git/hooks/post-checkout" is written, and run, by the next "git restore .", "../x" is written
 * outside the project, and "git add -u" reads "../secret".  So a whole index is looked at before it lands, and
 * what git itself would not have written is asked about.
 *
 * One pass over bytes that may be anything, linear in their number; no memory but a name's.
 */
#ifndef SB_GUARD_GIT_INDEX_H
#define SB_GUARD_GIT_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "guard/guard.h"

struct sb_index_facts {
	bool hides;   /* see below */
	bool is_long; /* of a repository with SHA-256, else with SHA-1 */
};

/* False: why is one escaped line for the question. */
bool sb_git_index_is_harmless(struct sb_guard_bytes bytes, struct sb_index_facts *out, char *why,
			      size_t why_size);

/* Might git find names that are not harmless in it, in a repository of the other kind? */
bool sb_git_index_is_ambiguous(struct sb_guard_bytes bytes, bool is_long);

/*
 * Is there an entry whose changes git does not show (assume-unchanged, skip-worktree)?  Also true
 * of what cannot be read.  Much cheaper than the check: whether a note may be needed at all.
 */
bool sb_git_index_hides(struct sb_guard_bytes bytes);

/*
 * Of two indexes that are harmless: what git will no longer show, as one escaped line for the end of
 * the run, or "".  sparse: it is a sparse checkout, where skip-worktree is set for whole directories.
 */
void sb_git_index_note(struct sb_guard_bytes old_bytes, struct sb_guard_bytes new_bytes,
		       bool sparse, char *note, size_t size);

/*
 * index_links.c: links of a work tree that git knows, at any depth.
 *
 * Nobody can look through all of a large project when a run begins, but its index names every link that
 * came with a clone or a checkout, one after the other.  That costs some 30 ns an entry.
 */

#define SB_INDEX_LINKS_BYTES                                                                       \
	(4 * 1024 * 1024) /* some 40000 entries; a longer one is not looked at */

/*
 * Call visit with the name of each, seen from top (canonical), in their order, until it returns an error, which
 * is returned.  None where top is no checkout.  SB_OK, SB_E_NOMEM.
 */
int sb_index_links(const char *top, int (*visit)(void *context, const char *name), void *context);

#endif
