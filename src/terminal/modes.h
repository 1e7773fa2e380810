/*
 * modes.h - what the command has made of the terminal, as far as a question changes it.
 *
 *     init -> { csi, escape, string }... -> { enter, leave } ...
 *
 * A terminal cannot be asked for its state in a way that works everywhere, so what goes there is
 * written down: sieve.h hands over every sequence that it lets through.  Only what a question
 * must switch off, and set again afterwards, is followed: whether the alternate screen shows,
 * mouse and focus reports, bracketed paste, wrapping, margins and the like.  Cursor, colours and
 * character sets are saved by the terminal itself.
 *
 * A question does not rely on it: sb_modes_enter() sets all that a question needs, whatever was
 * followed.  A command that misleads this reader spoils its own screen only.
 *
 * Plain storage, owned by the caller; nothing is allocated.
 */
#ifndef SB_TERMINAL_MODES_H
#define SB_TERMINAL_MODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sb_buf;
struct sb_csi;

struct sb_modes {
	/* what is on; see the table in modes.c */
	uint32_t on;
	uint32_t saved;       /* by CSI ? ... s */
	bool alternate;       /* the alternate screen shows */
	unsigned top, bottom; /* scrolling region; 0: the whole screen */
	unsigned left, right; /* the same sideways */
	unsigned other_keys;  /* xterm's modifyOtherKeys */
	bool line_start;      /* a line feed was the last that moved the cursor */
	bool unfollowed;      /* nobody has looked at what was written */
	bool pictures;        /* kitty's may stand above the letters */
	bool link;            /* what is written belongs to a link */
	char sets[2];         /* of letters: the last byte of ESC ( and ESC ) */
	bool shifted;         /* the second is in use */
	char attributes[96];  /* every SGR since the last reset, to be sent again */
	unsigned char attributes_length;
	bool attributes_lost; /* they were too many */
};

void sb_modes_init(struct sb_modes *modes);
void sb_modes_unfollowed(struct sb_modes *modes); /* only for sb_modes_seen() */

/* A sequence goes to the terminal: CSI; ESC, with or without an intermediate byte; a string, of
 * which text is the beginning. */
void sb_modes_csi(struct sb_modes *modes, const struct sb_csi *csi);
void sb_modes_escape(struct sb_modes *modes, char intermediate, char final);
void sb_modes_string(struct sb_modes *modes, char kind, const char *text, size_t length);

/* The window has a new size: terminals drop their margins. */
void sb_modes_resized(struct sb_modes *modes);

/*
 * Append what makes the terminal fit for a question, on the alternate screen; and what undoes
 * that.  The terminal itself keeps the main screen meanwhile.  If the command was on the
 * alternate one, that is blank afterwards and must be drawn again.
 */
void sb_modes_enter(const struct sb_modes *modes, struct sb_buf *out);
void sb_modes_leave(const struct sb_modes *modes, struct sb_buf *out);

/*
 * Append what makes lines of ours seen on the main screen, the first one from column 1 on; and what
 * undoes that, but for the alternate screen, a link and pictures, which are gone.
 */
void sb_modes_seen(struct sb_modes *modes, unsigned columns, struct sb_buf *out);
void sb_modes_unseen(const struct sb_modes *modes, struct sb_buf *out);

#endif
