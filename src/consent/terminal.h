/*
 * terminal.h - the user's terminal, shared between a command on a pty and our questions.
 *
 *     open -> { poll, handle, ask, withdraw, suspend, resume }... -> close
 *
 * The command has a pty of its own.  We carry bytes between the real terminal and the
 * pty's master side; while a question is open the command's output waits and nothing the
 * person types reaches it.  The command can neither read an answer nor draw over a question.
 *
 * Owns neither descriptor.  Changes the real terminal's settings and restores them; never
 * blocks on either side.  The caller has the event loop:
 *
 *     n = sb_terminal_poll(t, fds);  poll(fds, n, sb_terminal_timeout_ms(t));  sb_terminal_handle(t, fds, n);
 */
#ifndef SB_CONSENT_TERMINAL_H
#define SB_CONSENT_TERMINAL_H

#include <poll.h>

#include "consent/question.h"

struct sb_terminal;

struct sb_terminal_options {
	size_t size;       /* sizeof this struct */
	int tty;           /* the real terminal, open for reading and writing */
	int master;        /* of the command's pty */
	const char *word;  /* known to the user and us only, shown with every question; or NULL */
	/* Called from sb_terminal_handle(), once per question. */
	void (*answered)(void *context, unsigned long id, enum sb_answer answer);
	void *context;
};

#define SB_TERMINAL_FDS 2

int sb_terminal_open(const struct sb_terminal_options *options, struct sb_terminal **out,
		     struct sb_error *err);
void sb_terminal_close(struct sb_terminal *terminal); /* restores the real terminal */

/* Which descriptors to wait for; returns how many were filled in (at most SB_TERMINAL_FDS). */
size_t sb_terminal_poll(const struct sb_terminal *terminal, struct pollfd *out);
int sb_terminal_timeout_ms(const struct sb_terminal *terminal); /* -1: none */
void sb_terminal_handle(struct sb_terminal *terminal, const struct pollfd *fds, size_t count);

/* Ask, or queue behind those already asked; everything in question is copied. */
int sb_terminal_ask(struct sb_terminal *terminal, const struct sb_question *question,
		    struct sb_error *err);
/* Who asked is gone, time is up, or somebody answered elsewhere: take the question away. */
void sb_terminal_withdraw(struct sb_terminal *terminal, unsigned long id);

/* One line for the person, shown when no question or full-screen program is in the way. */
void sb_terminal_notice(struct sb_terminal *terminal, const char *text);

void sb_terminal_resized(struct sb_terminal *terminal); /* after SIGWINCH */
void sb_terminal_suspend(struct sb_terminal *terminal); /* before we stop: settings restored */
void sb_terminal_resume(struct sb_terminal *terminal);  /* after SIGCONT, in the foreground */

/* The command has ended: show what it has written and close the relay.  Waits briefly. */
void sb_terminal_drain(struct sb_terminal *terminal);

#endif
