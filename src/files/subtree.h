/*
 * subtree.h - a directory with all that is in it: remove it, copy it.
 *
 * Each entry goes through the gate by its own path.  What the user was asked about and allowed
 * for the whole is not asked again for its parts: being outside, being ignored by git; what is
 * singled out (a rule, a guarded name) is.  Questions come before anything is removed or made.
 */
#ifndef SB_FILES_SUBTREE_H
#define SB_FILES_SUBTREE_H

#include "files/covered.h"
#include "files/view.h"

#define SB_SUBTREE_LIMIT 1000000 /* entries */

#define SB_SUBTREE_DEPTH 256 /* two descriptors each */

/* The gate for one of many. */
int sb_gate_covered(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place,
		    struct sb_covered *covered);

/* All questions about what is in place; then place is a directory that passed the gate. */
int sb_subtree_may_remove(struct sb_job *job, const struct sb_place *place,
			  struct sb_covered *covered);
int sb_subtree_remove(struct sb_job *job, const struct sb_place *place, struct sb_covered *covered);

/*
 * place is a directory that is about to move, and passed.  Rules that single out names in it
 * may not match where they go: what such a rule keeps from being read or moved is asked about
 * or refused here.
 */
int sb_subtree_may_move(struct sb_job *job, const struct sb_place *place,
			struct sb_covered *covered);

/*
 * All questions about a copy of what is in from at to, which is not there yet; job->said keeps the
 * answers.
 */
int sb_subtree_may_copy(struct sb_job *job, const struct sb_place *from, const struct sb_place *to,
			struct sb_covered *covered);

/* from is a directory that passed; to is a directory that was made. */
int sb_subtree_copy(struct sb_job *job, const struct sb_place *from, const struct sb_place *to,
		    struct sb_covered *covered);

/* One file of any size; to passed the gate by name. */
int sb_copy_file(struct sb_job *job, const struct sb_place *from, struct sb_place *to);

#endif
