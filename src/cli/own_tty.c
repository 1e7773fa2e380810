#include "cli/own_tty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "cli/cli.h"
#include "config/word.h"
#include "consent/peer.h"

int sb_tty_find(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (isatty(fd))
			return fd;
	return open("/dev/tty", O_RDWR | O_CLOEXEC);
}

/*
 * SECURITY: a terminal that was opened after the run began is in sight of the command.
 *
 * Danger: it could open it by its name, read the keys and draw over a question.  In exclusive
 * mode nobody can who has no CAP_SYS_ADMIN: ioctl_tty(2).  What had it open before still has:
 * then there is no attaching from here (consent/peer.h).
 * Price: while we are attached, no other program can open this terminal.  A process of its own
 * ends that when we are gone, however we went.
 * Held by: tests/cli/attach_inside.py
 */
static int keep_others_out(int tty)
{
	int ends[2];
	char byte;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	if (fork() == 0) {
		sigset_t all;

		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		close(ends[1]);
		while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
			;
		ioctl(tty, TIOCNXCL);
		_exit(0);
	}
	close(ends[0]);
	ioctl(tty, TIOCEXCL);
	return ends[1];
}

static int check(int tty, struct sb_error *err)
{
	struct stat info;
	pid_t holder = fstat(tty, &info) == 0 ? sb_terminal_held_inside(&info) : 0;

	if (!holder)
		return SB_OK;
	sb_fail(err, SB_E_REFUSED, 0,
		"process %d, which is in a sandbox, has this terminal open and could change what "
		"you see",
		holder);
	return sb_hint(err, "attach from another terminal");
}

int sb_own_tty_open(struct sb_own_tty *own, const struct sb_home *home,
		    struct sb_terminal_options options, struct sb_error *err)
{
	SB_AUTO_FREE char *word = sb_word(home);
	int status;

	options.size = sizeof options;
	options.tty = own->tty;
	options.master = -1;
	options.colour = sb_has_colours();
	options.word = word;
	own->signals = sb_tty_signals();
	if (own->signals < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot wait for signals");
	status = sb_terminal_open(&options, &own->terminal, err);
	if (status != SB_OK)
		return status;
	own->guard = keep_others_out(own->tty);
	return check(own->tty, err);
}

void sb_own_tty_close(struct sb_own_tty *own)
{
	if (own->terminal) {
		ioctl(own->tty, TIOCNXCL);
		if (own->guard >= 0) {
			close(own->guard);
			while (wait(NULL) < 0 && errno == EINTR)
				;
		}
		sb_terminal_close(own->terminal);
	}
	sb_auto_close(&own->signals);
}

int sb_tty_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool sb_tty_ended(int signals, struct sb_terminal *terminal)
{
	struct signalfd_siginfo info;
	bool ended = false;

	while (read(signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo != SIGWINCH)
			ended = true;
		else if (terminal)
			sb_terminal_resized(terminal);
	}
	return ended;
}
