/*
 * terminal.h - the user's terminal, shared between a command on a pty and our questions.
 *
 *     open -> { poll, handle, ask, withdraw, suspend, background, resume }... -> close
 *
 * The command has a pty of its own.  We carry bytes between the real terminal and the
 * pty's master side; while a question is open the command's output waits and nothing the
 * person types reaches it.  The command can neither read an answer nor draw over a question.
 *
 * On the main screen the question takes the alternate one, and what stood there comes back as it
 * was.  Over a full-screen program it is drawn on that program's screen, which is then told that
 * its window has changed and draws itself again.
 *
 * Without a command (a terminal that only attaches to a run elsewhere) there is nothing to
 * carry, and what is typed between questions is dropped; or the caller shows something of its own
 * there, and hears what is typed to it.
 *
 * Owns neither descriptor.  Changes the real terminal's settings and restores them; never
 * blocks on either side.  The caller has the event loop:
 *
 *     n = sb_terminal_poll(t, fds);
 *     poll(fds, n, sb_terminal_timeout_ms(t));
 *     sb_terminal_handle(t, fds, n);
 */
#ifndef SB_TERMINAL_TERMINAL_H
#define SB_TERMINAL_TERMINAL_H

#include <poll.h>

#include "consent/question.h"

struct sb_terminal;

struct sb_terminal_options {
	size_t size;      /* sizeof this struct */
	int tty;          /* the real terminal, open for reading and writing */
	int master;       /* of the command's pty; -1: there is none, only questions */
	bool colour;      /* the terminal has colours */
	bool kept;        /* answers are kept for other runs */
	const char *word; /* known to the user and us only, shown with every question; or NULL */
	/* Called from sb_terminal_handle(), once per question that is not withdrawn.  It may ask,
	 * withdraw and notice, but not close. */
	void (*answered)(void *context, unsigned long id, enum sb_answer answer);
	/*
	 * Without a command: what was typed while no question showed.  The same rules; or NULL.  With
	 * it a question can be put off: Esc and Ctrl-C answer SB_ANSWER_NONE.
	 */
	void (*typed)(void *context, const char *bytes, size_t length);
	void *context;
};

#define SB_TERMINAL_FDS 2

/*
 * A pty for the command, with the settings and the size of tty.  Both sides are close-on-exec;
 * the slave belongs to the user alone.  The command's side is for its stdin, stdout, stderr and
 * controlling terminal: setsid, TIOCSCTTY.
 */
int sb_terminal_pty(int tty, int *out_master, int *out_slave, struct sb_error *err);

/* tty becomes raw, the pty gets its size.  SB_E_INVALID: it is no terminal. */
int sb_terminal_open(const struct sb_terminal_options *options, struct sb_terminal **out,
		     struct sb_error *err);
/* Restores the real terminal.  Questions still open are dropped.  NULL is fine. */
void sb_terminal_close(struct sb_terminal *terminal);

/* Which descriptors to wait for; returns how many were filled in (at most SB_TERMINAL_FDS). */
size_t sb_terminal_poll(const struct sb_terminal *terminal, struct pollfd *out);
int sb_terminal_timeout_ms(const struct sb_terminal *terminal); /* -1: none */
void sb_terminal_handle(struct sb_terminal *terminal, const struct pollfd *fds, size_t count);

/*
 * The real terminal has hung up.  Every question is answered with deny; the caller closes the
 * master, which hangs up the command.
 */
bool sb_terminal_gone(const struct sb_terminal *terminal);

/*
 * Without a command: a screen of the caller's own, as if a command had written it.  bytes are
 * changed.  False: not now, a question has the screen or something waits to be written; try again
 * after sb_terminal_handle().
 */
bool sb_terminal_show(struct sb_terminal *terminal, char *bytes, size_t length);

/* What the command has made of the terminal. */
const struct sb_modes *sb_terminal_modes(const struct sb_terminal *terminal);

/* How large the window is, and does it read UTF-8?  Not known before its first question. */
void sb_terminal_window(const struct sb_terminal *terminal, unsigned *out_rows,
			unsigned *out_columns, bool *out_utf8);

/* Without a command, and with no question open, Ctrl-C or Ctrl-D was pressed. */
bool sb_terminal_left(const struct sb_terminal *terminal);

/*
 * Ask, or queue behind those already asked; everything in question is copied.  Answered later,
 * from sb_terminal_handle().  SB_E_REFUSED: a thousand are waiting.
 */
int sb_terminal_ask(struct sb_terminal *terminal, const struct sb_question *question,
		    struct sb_error *err);
/* Who asked is gone, time is up, or somebody answered elsewhere: take the question away. */
void sb_terminal_withdraw(struct sb_terminal *terminal, unsigned long id);

/* One line for the person, shown when no question or full-screen program is in the way. */
void sb_terminal_notice(struct sb_terminal *terminal, const char *text);

void sb_terminal_resized(struct sb_terminal *terminal); /* after SIGWINCH */
void sb_terminal_suspend(struct sb_terminal *terminal); /* before we stop: settings restored */
void sb_terminal_resume(struct sb_terminal *terminal);  /* after SIGCONT, in the foreground */

/*
 * After SIGCONT, when another job has the terminal: what the command writes still shows, nothing
 * is read, and questions wait until sb_terminal_resume().
 */
void sb_terminal_background(struct sb_terminal *terminal);
bool sb_terminal_in_background(const struct sb_terminal *terminal);

/*
 * The command has ended: show what it has written and close the relay.  Waits briefly.  Questions
 * still open are answered with deny.
 */
void sb_terminal_drain(struct sb_terminal *terminal);

/* The window size of a terminal; 24 x 80 when it does not know. */
struct winsize;
void sb_tty_size(int fd, struct winsize *out);

#endif
