/*
 * remarks.h - what a question says beside the paths: one list, to which everybody adds.
 *
 *     {0} -> sb_remarks_of() -> ... -> sb_remarks_done()
 *
 * Two calls whose notes differ are two questions, or a harmless one on the screen would be the
 * answer to another.  Nothing is ever left out: a list that is not whole is no question.
 */
#ifndef SB_SUPERVISE_REMARKS_H
#define SB_SUPERVISE_REMARKS_H

#include "supervise/pending.h"

struct sb_remarks {
	char *all[SB_QUESTION_NOTES]; /* not escaped */
	size_t count;
	bool broken; /* no memory, or more than a question has room for */
};

/*
 * Of a call that was judged: where a link leads, what is moved and what is replaced; which other
 * rule stops it; who obeys a guarded name, and what was found there; what a yes covers besides.
 */
void sb_remarks_of(const struct sb_approver *approver, const struct sb_pending *pending,
		   struct sb_remarks *notes);
void sb_remarks_done(struct sb_remarks *notes);

#endif
