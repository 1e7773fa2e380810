/*
 * Who owns a descriptor (F_SETOWN) is signalled when something happens at it, with a signal of
 * one's choice (F_SETSIG).  Landlock's scope (ABI 6) keeps such a signal inside the domain, too,
 * if the owner is a process.  A process group as owner is another matter: kernels from 6.12 on,
 * until it was repaired in 2026, looked at the member that joined last, and when that was the
 * caller itself they signalled every other member, also outside.  So nothing leans on the scope
 * for groups (enforce/linux_seccomp.c), and how it is here is only told.
 */
#include "fact.h"

#include <signal.h>
#include <time.h>

static pid_t stranger;
static bool scoped, joins;

/* Give the stranger a pipe, and let something happen at it. */
static int signal_by_pipe(void)
{
	int ends[2];

	if (pipe(ends) < 0 || (joins && setpgid(0, stranger) < 0))
		return broken("pipe or group");
	if (scoped && (errno = landlock(0, LL_SCOPE_SIGNAL, NULL)))
		return broken("Landlock");
	if (joins) /* ourselves as well, and are not to die of it */
		signal(SIGUSR1, SIG_IGN);
	if (fcntl(ends[0], F_SETOWN, joins ? -stranger : stranger) < 0 ||
	    fcntl(ends[0], F_SETSIG, SIGUSR1) < 0 || fcntl(ends[0], F_SETFL, O_ASYNC) < 0 ||
	    write(ends[1], "x", 1) != 1)
		return errno;
	return 0;
}

/* Did the stranger, a fresh one, get the signal? */
static int reaches(void)
{
	int ready[2], status;
	char byte;

	if (pipe(ready) < 0)
		return broken("pipe");
	stranger = fork();
	if (stranger == 0) {
		sigset_t set;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigaddset(&set, SIGTERM);
		sigprocmask(SIG_BLOCK, &set, NULL);
		if (write(ready[1], "r", 1) != 1)
			_exit(9);
		/* SIGTERM is sent when all is over; the other one came before it, or not at all */
		sigdelset(&set, SIGUSR1);
		sigwaitinfo(&set, NULL);
		sigemptyset(&set);
		sigpending(&set);
		_exit(sigismember(&set, SIGUSR1));
	}
	if (read(ready[0], &byte, 1) != 1)
		return broken("stranger");
	expect(attempt(signal_by_pipe), 0, "the owner is set and something happens");
	kill(stranger, SIGTERM);
	waitpid(stranger, &status, 0);
	close(ready[0]);
	close(ready[1]);
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

int main(void)
{
	need_landlock(6);
	expect(reaches(), true, "without the scope an owner outside is signalled");
	joins = true;
	expect(reaches(), true, "and so is its group");
	scoped = true;
	joins = false;
	expect(reaches(), false, "with it, the owner is not");
	joins = true;
	printf("# a group that the caller has joined is %ssignalled\n", reaches() ? "" : "not ");
	return fact_done();
}
