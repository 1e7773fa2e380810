#include "terminal/terminal_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/auto.h"

int sb_tty_reopen(int fd)
{
	char link[32];
	int again;

	if (!isatty(fd))
		return -ENOTTY;
	/* Through the link, not the name: the name may mean another terminal in this namespace. */
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	again = open(link, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

void sb_tty_size(int fd, struct winsize *out)
{
	if (ioctl(fd, TIOCGWINSZ, out) < 0 || out->ws_row == 0 || out->ws_col == 0)
		*out = (struct winsize){.ws_row = 24, .ws_col = 80};
}

/* The slave side of a pty: TIOCGPTPEER needs no name that could mean another one (Linux 4.13). */
static int open_slave(int master)
{
	int flags = O_RDWR | O_NOCTTY | O_CLOEXEC;
	int slave = -1;

#ifdef TIOCGPTPEER
	slave = ioctl(master, TIOCGPTPEER, flags);
#endif
	if (slave < 0) {
		char name[64];

		if (ptsname_r(master, name, sizeof name) == 0)
			slave = open(name, flags);
	}
	return slave < 0 ? -errno : slave;
}

int sb_terminal_pty(int tty, int *out_master, int *out_slave, struct sb_error *err)
{
	SB_AUTO_FD int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	SB_AUTO_FD int slave = -1;
	struct termios settings;
	struct winsize size;

	if (master < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot open a pseudo-terminal");
	if (unlockpt(master) < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot unlock a pseudo-terminal");
	slave = open_slave(master);
	if (slave < 0) {
		int code = -slave;

		slave = -1;
		return sb_fail(err, SB_E_SYSTEM, code,
			       "cannot open a pseudo-terminal's other side");
	}
	/* Ours alone: write(1) of other users has no business between a command and a question. */
	if (fchmod(slave, 0600) < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot make a pseudo-terminal private");
	if (tcgetattr(tty, &settings) < 0 || tcsetattr(slave, TCSANOW, &settings) < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot copy the terminal's settings");
	sb_tty_size(tty, &size);
	if (ioctl(slave, TIOCSWINSZ, &size) < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot set a pseudo-terminal's size");
	*out_master = sb_take_fd(&master);
	*out_slave = sb_take_fd(&slave);
	return SB_OK;
}
