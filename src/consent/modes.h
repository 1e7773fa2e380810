/*
 * modes.h - what the command has made of the terminal, as far as a question changes it.
 *
 *     init -> feed ... -> { enter, leave } ...
 *
 * A terminal cannot be asked for its state in a way that works everywhere, so we read along
 * in the command's output.  Only what a question must switch off, and set again afterwards,
 * is followed: whether the alternate screen shows, mouse and focus reports, bracketed paste,
 * wrapping, margins and the like.  Cursor, colours and character sets are saved by the
 * terminal itself.
 *
 * A command can mislead this reader, but only to spoil its own screen: sb_modes_enter() sets
 * what a question needs whatever was tracked.
 *
 * Plain storage, owned by the caller; nothing is allocated.
 */
#ifndef SB_CONSENT_MODES_H
#define SB_CONSENT_MODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sb_buf;

enum sb_modes_state {
	SB_MODES_GROUND,
	SB_MODES_UTF8,         /* inside a character: `utf8_left` bytes to come */
	SB_MODES_C2,           /* after 0xc2, which also begins the two-byte controls */
	SB_MODES_ESCAPE,       /* after ESC */
	SB_MODES_INTERMEDIATE, /* after ESC and ( ) # % space ... */
	SB_MODES_CSI,
	SB_MODES_OSC,    /* ended by BEL as well */
	SB_MODES_STRING, /* DCS, SOS, PM, APC */
};

struct sb_modes {
	/* what is on; see the table in modes.c */
	uint32_t on;
	uint32_t saved;       /* by CSI ? ... s */
	bool alternate;       /* the alternate screen shows */
	unsigned top, bottom; /* scrolling region; 0: the whole screen */
	unsigned left, right; /* the same sideways */
	unsigned other_keys;  /* xterm's modifyOtherKeys */
	bool line_start;      /* the last byte was a line feed */
	char attributes[96];  /* every SGR since the last reset, to be sent again */
	unsigned char attributes_length;
	bool attributes_lost; /* they were too many */

	/* where in a sequence we are */
	enum sb_modes_state state;
	unsigned char utf8_left;
	char intermediate; /* after ESC */
	bool string_c2;    /* the last byte of a string was 0xc2 */
	bool overflow;     /* more parameters than fit: the sequence is read and ignored */
	unsigned char length;
	char parameters[64];
};

void sb_modes_init(struct sb_modes *modes);

/*
 * Read bytes that go to the terminal.  Returns how many of them end at a safe place: outside
 * any sequence and character.  0 also means that none of these bytes does.
 */
size_t sb_modes_feed(struct sb_modes *modes, const char *bytes, size_t length);

/* The window has a new size: terminals drop their margins. */
void sb_modes_resized(struct sb_modes *modes);

/*
 * Append what makes the terminal fit for a question, on the alternate screen; and what undoes
 * that.  The terminal itself keeps the main screen meanwhile.  If the command was on the
 * alternate one, that is blank afterwards and must be drawn again.
 */
void sb_modes_enter(const struct sb_modes *modes, struct sb_buf *out);
void sb_modes_leave(const struct sb_modes *modes, struct sb_buf *out);

/* Append the attributes (bold, colours) that were in force, after a reset of ours. */
void sb_modes_attributes(const struct sb_modes *modes, struct sb_buf *out);

#endif
