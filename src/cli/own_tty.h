/*
 * own_tty.h - a terminal on which another run's questions are answered: nobody else's meanwhile.
 */
#ifndef SB_CLI_OWN_TTY_H
#define SB_CLI_OWN_TTY_H

#include "sandbash/error.h"

/* The terminal that we were started on; or -1. */
int sb_tty_find(void);

/* Returns what sb_tty_let_others_in() takes; -1: nobody looks after it when we are killed. */
int sb_tty_keep_others_out(int tty);
void sb_tty_let_others_in(int tty, int guard);

/* SB_E_REFUSED: a process in a sandbox has it open. */
int sb_tty_check(int tty, struct sb_error *err);

/* SIGWINCH, and those that end us, as a descriptor to read struct signalfd_siginfo from. */
int sb_tty_signals(void);

#endif
