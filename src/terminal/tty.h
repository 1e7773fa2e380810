/*
 * tty.h - the settings and the size of a terminal, and a second descriptor for it.
 */
#ifndef SB_TERMINAL_TTY_H
#define SB_TERMINAL_TTY_H

#include <sys/ioctl.h>

/*
 * A non-blocking descriptor for the terminal that fd is.  O_NONBLOCK belongs to the open file,
 * which we share with the shell that started us, so this opens the terminal anew; the caller
 * closes it.  A negative errno: not a terminal, or no right to open it (after su, say).
 */
int sb_tty_reopen(int fd);

/* Its window size; 24 x 80 when it does not know. */
void sb_tty_size(int fd, struct winsize *out);

#endif
