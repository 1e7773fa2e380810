/*
 * terminal_impl.h - what the two halves of terminal.h share: terminal.c carries bytes and has
 * the loop, terminal_ask.c puts questions and notices on the screen.
 */
#ifndef SB_TERMINAL_TERMINAL_IMPL_H
#define SB_TERMINAL_TERMINAL_IMPL_H

#include <stdint.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/buf.h"
#include "consent/queue.h"
#include "terminal/keys.h"
#include "terminal/relay.h"
#include "terminal/sieve.h"
#include "terminal/terminal.h"

#define SB_SURPLUS_MS 300 /* a key that answered is still pressed, or Enter by habit */

enum sb_terminal_phase {
	RELAYING, /* bytes go both ways */
	PAUSING,  /* a question waits for the output to come to a safe place */
	SHOWING,  /* it has the screen and the keys */
};

struct sb_terminal {
	int tty;       /* a descriptor of our own, or the caller's */
	bool borrowed; /* the caller's, */
	int tty_flags; /* with these flags before */
	int master;    /* or -1 */
	int slave;     /* the command's side of it, or -1 */
	bool raw, gone, suspended, background, ended;
	bool left; /* sb_terminal_left() */
	struct termios settings;
	struct winsize size;
	bool colour, kept; /* draw.h */
	char *word;
	void (*answered)(void *context, unsigned long id, enum sb_answer answer);
	void (*typed)(void *context, const char *bytes, size_t length);
	void *context;

	enum sb_terminal_phase phase;
	struct sb_sieve sieve; /* what of the output the terminal gets */
	int64_t cut_ms;        /* when a string that the terminal is inside of may be cut off */
	int64_t retry_ms;      /* the master has nothing before */

	struct sb_buf drawing; /* what we ourselves write; goes before the command's output */
	size_t drawn;
	struct sb_queue queue;
	bool stale;      /* what is drawn is no longer quite right, */
	bool undrawable; /* or could not be drawn */
	bool small;      /* the window does not hold the question: it does not show */
	bool drawn_once; /* in this window, since it has the screen: every cell is ours */
	bool hurried;    /* what shows says that a key did not count */
	bool coded;      /* what shows asks for a code, since the terminal is mute */
	bool answering;  /* somebody is being told the answer: what comes next shows after that */
	int64_t repaint_ms;

	struct sb_keys keys;
	bool leaving;       /* input is dropped until the terminal has left the question */
	bool replies;       /* the terminal has answered once; so it reads UTF-8 */
	bool again;         /* it did not this time, and was asked again */
	int64_t touched_ms; /* the last key for the command; */
	int64_t typed_ms;   /* the last of several that are text; 0: none */
	int64_t surplus_ms; /* until when digits and Enter are still meant for a question; 0: never */

	bool narrowed; /* the pty is one column smaller */
	int64_t narrowed_ms;
	size_t redrawn; /* bytes that were drawn since */

	struct sb_relay output, input;
	struct sb_buf ahead; /* input that nobody has read */
};

/* Does something of ours, or of the command's, wait to be written to the real terminal? */
static inline bool sb_terminal_drawing(const struct sb_terminal *t)
{
	return t->drawn < t->drawing.length;
}

static inline bool sb_terminal_writing(const struct sb_terminal *t)
{
	return sb_terminal_drawing(t) || (t->phase != SHOWING && sb_relay_pending(&t->output));
}

/* --- terminal_ask.c --------------------------------------------------------------------- */

/* Give the pty its size, or one column less. */
void sb_terminal_set_size(struct sb_terminal *t, bool narrow);

/* A question waits: it shows when the output has come to a safe place. */
void sb_terminal_pause(struct sb_terminal *t);
/* Give the screen back; with a reply to wait for before input counts again, or without. */
void sb_terminal_leave(struct sb_terminal *t, bool wait);
/* Draw the question that is on the screen again, with or without a new fence. */
void sb_terminal_draw(struct sb_terminal *t, bool fence);
/* A key counts. */
void sb_terminal_key(struct sb_terminal *t, char key);
/* Nobody can answer any more. */
void sb_terminal_deny_all(struct sb_terminal *t);
/* Put the notices on the screen, now. */
void sb_terminal_show_notices(struct sb_terminal *t);

/* What the command leaves unread is for whoever has the terminal next: terminal_ahead.c. */
void sb_terminal_open_ahead(struct sb_terminal *t);
void sb_terminal_take_ahead(struct sb_terminal *t); /* the command has ended */
void sb_terminal_give_back(struct sb_terminal *t);

/* What time brings: a question shows, a lone key counts, a program has drawn its screen. */
void sb_terminal_tick(struct sb_terminal *t);
/* When sb_terminal_tick() has something to do; -1: not known. */
int64_t sb_terminal_deadline_ms(const struct sb_terminal *t);

/* --- tty.c ---------------------------------------------------------------------------------- */

/*
 * A non-blocking descriptor for the terminal that fd is.  O_NONBLOCK belongs to the open file,
 * which we share with the shell that started us, so this opens the terminal anew; the caller
 * closes it.  A negative errno: not a terminal, or no right to open it (after su, say).
 */
int sb_tty_reopen(int fd);

#endif
