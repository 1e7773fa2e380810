/*
 * Landlock's scope (ABI 6) keeps signals inside the domain: EPERM for a process
 * outside, though the user is the same.  Children inside can still be signalled.
 */
#include "fact.h"

#include <signal.h>

static pid_t stranger;
static bool scoped;

static int signal_outside(void)
{
	if (scoped && (errno = landlock(0, LL_SCOPE_SIGNAL, NULL)))
		return broken("Landlock");
	return kill(stranger, 0) < 0 ? errno : 0;
}

static int signal_inside(void)
{
	pid_t child;
	int result;

	if ((errno = landlock(0, LL_SCOPE_SIGNAL, NULL)))
		return broken("Landlock");
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	result = kill(child, SIGTERM) < 0 ? errno : 0;
	waitpid(child, NULL, 0);
	return result;
}

int main(void)
{
	need_landlock(6);
	stranger = fork();
	if (stranger == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	expect(attempt(signal_outside), 0, "without the scope a process outside is signalled");
	scoped = true;
	expect(attempt(signal_outside), EPERM, "with it, it is not");
	expect(attempt(signal_inside), 0, "a child inside is");
	kill(stranger, SIGKILL);
	reap(stranger);
	return fact_done();
}
