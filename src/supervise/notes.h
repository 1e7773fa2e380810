/*
 * notes.h - what a question says beside the paths: one list, to which everybody adds.
 *
 *     {0} -> sb_notes_of() -> ... -> sb_notes_done()
 *
 * Two calls whose notes differ are two questions, or a harmless one on the screen would be the
 * answer to another.  Nothing is ever left out: a list that is not whole is no question.
 */
#ifndef SB_SUPERVISE_NOTES_H
#define SB_SUPERVISE_NOTES_H

#include "supervise/pending.h"

struct sb_notes {
	char *all[SB_QUESTION_NOTES]; /* not escaped */
	size_t count;
	bool broken; /* no memory, or more than a question has room for */
};

/*
 * Of a call that was judged: where a link leads, what is moved and what is replaced; which other
 * rule stops it; who obeys a guarded name, and what was found there; what a yes covers besides.
 */
void sb_notes_of(const struct sb_approver *approver, const struct sb_pending *pending,
		 struct sb_notes *notes);
void sb_notes_done(struct sb_notes *notes);

#endif
