/*
 * sieve.h - of what a command writes, what the real terminal gets to see.
 *
 *     init -> { run, cut }...
 *
 * Text goes through.  A control sequence goes through only when it is whole, short enough that
 * every terminal reads it alike, and in the lists of sequences.h; whatever else a terminal may
 * know is dropped, byte for byte.  So `modes` is all that the command can have made of the
 * terminal, and what a question must undo is known.
 *
 * Long strings (pictures, the clipboard) flow through in pieces; only their beginning is looked
 * at.  No control stands inside one, and the end that each gets is one that every terminal
 * obeys.  Controls of eight bits come out as their form of seven.
 *
 * Plain storage, owned by the caller; nothing is allocated.
 */
#ifndef SB_TERMINAL_SIEVE_H
#define SB_TERMINAL_SIEVE_H

#include "terminal/modes.h"

/* A sequence that is longer is dropped; so many bytes of a string decide about it. */
#define SB_SIEVE_HOLD 256

enum sb_sieve_state {
	SB_SIEVE_TEXT,
	SB_SIEVE_CSI, /* the rest of a sequence that was too long: dropped */
	SB_SIEVE_OSC, /* inside a string that BEL ends as well */
	SB_SIEVE_STRING,
};

struct sb_sieve {
	struct sb_modes modes;
	enum sb_sieve_state state;
	bool letter;  /* the last that passed was a letter of ASCII */
	bool passing; /* the string goes to the terminal; it is not dropped */
};

void sb_sieve_init(struct sb_sieve *sieve);

/*
 * Sift bytes in place.  Returns how many are for the terminal; *out_held more follow them,
 * which begin a sequence or character and must come first in the next run, with what comes
 * after.  Never more than SB_SIEVE_HOLD + 2 are held.
 */
size_t sb_sieve_run(struct sb_sieve *sieve, char *bytes, size_t length, size_t *out_held);

/* Is the terminal inside a string? */
bool sb_sieve_inside(const struct sb_sieve *sieve);

/* The string that the terminal is inside of was ended by somebody else: its rest is dropped. */
void sb_sieve_cut(struct sb_sieve *sieve);

#endif
