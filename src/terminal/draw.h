/*
 * draw.h - a question as lines on a screen of any size.
 *
 * Everything foreign is escaped.  Whatever the screen, all of a question shows, the whole path
 * and every line, or nothing of it: half a question can be answered wrongly.  Where there are
 * few rows, blank lines go, then the choices come in one line, and of the content less shows.
 *
 * Every cell of the screen is written, so that nothing of the command's stands in a question.
 *
 * Letters are plain, bold or reversed, in the colours that the person has chosen.  With colours the
 * bar has letters and ground of its own, and the keys are green and red, which are read on any ground.
 */
#ifndef SB_TERMINAL_DRAW_H
#define SB_TERMINAL_DRAW_H

#include "consent/question.h"

struct sb_buf;

struct sb_view {
	unsigned rows, columns;
	const char *word; /* or NULL */
	size_t count;     /* how many questions are open */
	/* sent when all is drawn, before the cursor goes to its place; may leave a letter at the
	 * beginning of the last row; or NULL */
	const char *probe;
	const char *code;  /* to be typed after the number, where no key is enough; or NULL */
	const char *typed; /* what has been typed of that; or NULL */
	bool hurried;      /* a key did not count, since it was not alone */
	bool again;        /* the cells are ours already: a question of this size has the screen */
	bool colour;       /* the terminal has colours */
	bool kept;         /* answers outlive the run: it has a named session */
	bool later;        /* Esc puts the question off, and does not deny */
	bool ascii;        /* the terminal may not read UTF-8: nothing else is sent */
};

/*
 * Append the whole screen; the cursor ends where the answer goes.  False: the window is too small
 * for the question, and shows one line instead that says so.  out fails (sb_buf_failed) when no
 * window is large enough.
 */
bool sb_draw_question(struct sb_buf *out, const struct sb_question *question,
		      const struct sb_view *view);

#endif
