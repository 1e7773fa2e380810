/*
 * keys.h - the key that a person pressed, told apart from everything else a terminal sends.
 *
 *     begin (append the request to the output) -> feed, tick ... -> an accepted key
 *
 * Input holds what was typed before the question showed, pastes, and the terminal's replies
 * to requests that the command wrote earlier.  None of it may answer.  Two things keep it out:
 *
 * A fence.  With the question on the screen we move the cursor to three cells chosen at random
 * and ask each time where it is.  A terminal answers in order, so all that comes before those
 * three replies, in a row, was sent before the question showed.  The command may have asked
 * the same thing many times, but cannot know the cells.  A fourth request, behind a letter of two
 * bytes, tells a terminal that takes them for two letters: it would obey parts of other letters.
 *
 * A terminal that does not reply in time is mute.  Nobody knows then whether the question shows,
 * so no key allows anything; but a person who reads it can type the digit and the code that it
 * shows, and Enter.  What comes after all, late, opens the fence.
 *
 * A lone key.  It counts only when nothing else came for a while before it, nor shortly after:
 * a hand in the middle of typing, a paste and a late reply are all more than that.
 *
 * SECURITY: whoever is typing text answers nothing.
 *
 * Danger: three keys a second, "x==2.1.11", and one of the digits is alone for long enough.
 * So where a key came that is no answer, since the question was drawn or just before, digits count after a longer
 * silence; and those that allow more than once never at the very beginning.
 * Price: whoever has touched another key waits a moment; the question says that it was too fast.
 * Held by: tests/unit/test_keys.c, tests/cli/terminal_keys.py
 *
 * Plain storage; the caller tells the time in milliseconds.
 */
#ifndef SB_TERMINAL_KEYS_H
#define SB_TERMINAL_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sb_buf;

#define SB_KEYS_QUIET_MS 300   /* nothing came for so long before the key */
#define SB_KEYS_LONE_MS 60     /* and after it */
#define SB_KEYS_TYPING_MS 1500 /* before a digit, where somebody was typing */
#define SB_KEYS_WIDER_MS 1000  /* so long after the drawing 2 and 4 do not count */
#define SB_KEYS_TYPED_MS 1000  /* several keys for the command, no further apart, are text */
#define SB_KEYS_CODE 4         /* letters to type where a key is not enough */
#define SB_KEYS_ESCAPE '\033'
#define SB_KEYS_INTERRUPT '\003'
#define SB_KEYS_END '\004'

enum sb_keys_state {
	SB_KEYS_GROUND,
	SB_KEYS_AFTER_ESCAPE,
	SB_KEYS_CSI,
	SB_KEYS_SS3,
	SB_KEYS_STRING,        /* a reply: OSC, DCS, ... */
	SB_KEYS_STRING_ESCAPE, /* perhaps its end */
};

struct sb_keys {
	/* the fence */
	char expected[80];
	unsigned char failure[80]; /* where to go on after a mismatch (Knuth, Morris, Pratt) */
	size_t expected_length, matched;
	bool passed;        /* the fence is behind us */
	bool replied;       /* because the terminal answered */
	bool blind;         /* nothing was asked: time opens it */
	bool mute;          /* no answer came in time */
	int64_t give_up_ms; /* when we stop waiting for it */
	/* on a mute terminal */
	char code[SB_KEYS_CODE + 1];
	char typed[SB_KEYS_CODE + 3]; /* the digit and the code, as far as typed, or more */
	size_t typed_length;
	bool confirmed; /* the key that was returned last came with the code */
	/* keys */
	enum sb_keys_state state;
	bool pasting;
	unsigned number;   /* of CSI number ~ */
	char candidate;    /* 0: none */
	bool typing;       /* a key came that is no answer; the caller may know of one before */
	bool hurried;      /* a digit came that was not alone, and did not count */
	int64_t last_ms;   /* when something came last, or the fence was passed */
	int64_t hold_ms;   /* set after begin: for so long after the fence no key counts */
	int64_t from_ms;   /* the end of that */
	int64_t passed_ms; /* when the fence was passed */
};

/*
 * Start over: append the request to out.  rows and columns are those of the screen (at least
 * 1); wait_ms is how long the terminal may take to answer.  It leaves a letter at the beginning
 * of the last row.
 */
void sb_keys_begin(struct sb_keys *keys, struct sb_buf *out, unsigned rows, unsigned columns,
		   int64_t now_ms, int64_t wait_ms);

/* Start over without a request: the fence is passed after wait_ms. */
void sb_keys_begin_blind(struct sb_keys *keys, int64_t now_ms, int64_t wait_ms);

/* Look for the fence only: returns how many bytes belong before it. */
size_t sb_keys_pass(struct sb_keys *keys, const char *bytes, size_t length, int64_t now_ms);

/*
 * Take input.  Ctrl-C and Ctrl-D count at once when the fence is passed or the terminal is mute:
 * they are returned, as is a digit with its code (`confirmed`); 0 otherwise, and a lone key comes
 * from sb_keys_tick().
 */
char sb_keys_feed(struct sb_keys *keys, const char *bytes, size_t length, int64_t now_ms);

/* Time has passed: a key that counts, or 0. */
char sb_keys_tick(struct sb_keys *keys, int64_t now_ms);

/* When sb_keys_tick() has something to do; -1: it does not wait for anything. */
int64_t sb_keys_deadline_ms(const struct sb_keys *keys);

#endif
