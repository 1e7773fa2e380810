/*
 * draw.h - a question as lines on a screen of any size.
 *
 * Everything foreign is escaped and cut to the columns there are.  On a small screen the less
 * important lines go first: space, then the content, the note, the rule; what is done to which
 * path and the choices stay.
 *
 * Only plain, bold and reversed letters are used.  A command can change what "red" looks like,
 * down to the colour of the background, and would hide the one line that matters.
 */
#ifndef SB_CONSENT_DRAW_H
#define SB_CONSENT_DRAW_H

#include "consent/question.h"

struct sb_buf;

struct sb_view {
	unsigned rows, columns;
	const char *word; /* or NULL */
	size_t count;     /* how many questions are open */
	const char
		*probe; /* sent when all is drawn, before the cursor goes to its place; or NULL */
};

/*
 * Append the whole screen: it is cleared first, and the cursor ends where the answer goes.  out
 * fails (sb_buf_failed) when the question cannot be shown in full truth.
 */
void sb_draw_question(struct sb_buf *out, const struct sb_question *question,
		      const struct sb_view *view);

/* How many cells a text takes; never fewer than it really does. */
size_t sb_draw_cells(const char *text, size_t length);

/*
 * Append text escaped, in at most so many cells.  When it is longer, its middle is left out:
 * "/home/anna/[...]/authorized_keys".
 */
void sb_draw_fitted(struct sb_buf *out, const char *text, size_t cells);

#endif
