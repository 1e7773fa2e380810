/*
 * Landlock's scope says nothing about priorities and limits: a confined process can
 * renice its user's processes outside, by setpriority(PRIO_USER, 0) all at once, and
 * set their limits with prlimit().  Hence the seccomp filter refuses both.
 *
 * PRIO_USER reaches every process of the user that the caller can see, so all of this
 * happens in a pid namespace of its own.
 */
#include "fact.h"

#include <sys/resource.h>
#include <signal.h>

static pid_t stranger; /* in our pid namespace, outside the domain */

static int renice_user(void)
{
	if ((errno = landlock(LL_WRITES_ABI1, LL_SCOPE_SIGNAL, NULL)))
		return broken("Landlock");
	if (kill(stranger, 0) == 0)
		return broken("the scope does not hold");
	return setpriority(PRIO_USER, 0, 7) < 0 ? errno : 0;
}

static int limit_stranger(void)
{
	struct rlimit limit = {.rlim_cur = 50, .rlim_max = 50};

	if ((errno = landlock(LL_WRITES_ABI1, LL_SCOPE_SIGNAL, NULL)))
		return broken("Landlock");
	return prlimit(stranger, RLIMIT_NOFILE, &limit, NULL) < 0 ? errno : 0;
}

/* First process of the pid namespace; returns one bit for each fact that fails. */
static int in_namespace(void)
{
	struct rlimit limit = {0};
	int result = 0;

	stranger = fork();
	if (stranger == 0) {
		pause();
		_exit(0);
	}
	if (attempt(renice_user) != 0)
		result |= 1;
	if (getpriority(PRIO_PROCESS, (id_t)stranger) != 7)
		result |= 2;
	if (attempt(limit_stranger) != 0 || prlimit(stranger, RLIMIT_NOFILE, NULL, &limit) < 0 ||
	    limit.rlim_max != 50)
		result |= 4;
	kill(stranger, SIGKILL);
	reap(stranger);
	return result;
}

static int run(void)
{
	if (enter_namespaces(CLONE_NEWPID))
		return FACT_BROKEN;
	return attempt(in_namespace); /* the first child is the one in the new pid namespace */
}

int main(void)
{
	int result;

	need_landlock(6);
	result = attempt(run);
	if (result == FACT_BROKEN)
		skip_all("no pid namespace in a user namespace here");
	check(!(result & 1), "setpriority(PRIO_USER, 0) succeeds under Landlock");
	check(!(result & 2), "a process outside the domain was reniced");
	check(!(result & 4), "prlimit() changes its limits");
	return fact_done();
}
