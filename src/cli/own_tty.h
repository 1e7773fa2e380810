/*
 * own_tty.h - a terminal on which another run's questions are answered: nobody else's meanwhile.
 */
#ifndef SB_CLI_OWN_TTY_H
#define SB_CLI_OWN_TTY_H

#include "config/setup.h"
#include "terminal/terminal.h"

struct sb_own_tty {
	int tty;
	int signals; /* sb_tty_signals() */
	int guard; /* closing it lets others open the terminal again; -1: nobody looks after that */
	struct sb_terminal *terminal;
};

#define SB_OWN_TTY ((struct sb_own_tty){-1, -1, -1, NULL})

/* The terminal that we were started on; or -1. */
int sb_tty_find(void);

/*
 * Make own->tty one to ask on, as options say: all but its descriptor, colours and the user's word.  SB_E_REFUSED: a
 * process in a sandbox has it open.  sb_own_tty_close() ends it, after an error too.
 */
int sb_own_tty_open(struct sb_own_tty *own, const struct sb_home *home,
		    struct sb_terminal_options options, struct sb_error *err);
void sb_own_tty_close(struct sb_own_tty *own);

/* SIGWINCH, and those that end us, as a descriptor to read struct signalfd_siginfo from. */
int sb_tty_signals(void);

/* Take those that came; true: one ends us.  terminal, or NULL, hears of another size. */
bool sb_tty_ended(int signals, struct sb_terminal *terminal);

#endif
