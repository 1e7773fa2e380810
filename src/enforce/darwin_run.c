/*
 * Running, and running once more.  Held, with another sb_seatbelt_enter(), by tests/unit/test_darwin_run.c.
 */
#include "enforce/darwin_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"

/*
 * SECURITY: no descriptor comes along.
 *
 * Danger: one that was opened outside leads past the profile, which is asked when a file is opened.
 * Price: pipes beyond the first three, as of <(...), are closed.
 * Held by: nothing; it needs a Mac (docs/macos.md).
 */
static void close_others(void)
{
	for (int fd = 3, end = getdtablesize(); fd < end; fd++)
		close(fd);
}

/* Does not return; what fails is told on standard error, since the command has not begun. */
static _Noreturn void become(char *const *argv, const struct sb_seatbelt *seatbelt)
{
	struct sb_error err;

	close_others();
	if (sb_seatbelt_enter(seatbelt, &err) != SB_OK) {
		dprintf(STDERR_FILENO, err.hint[0] ? "sandbash: %s\nhint: %s\n" : "sandbash: %s\n",
			err.message, err.hint);
		_exit(125);
	}
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "sandbash: cannot run the command: %s\n", strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static volatile sig_atomic_t command;

static void hand_on(int number)
{
	kill(command, number);
}

/*
 * SECURITY: who may be asked about has no terminal.
 *
 * Danger: the question is asked when the command has ended, and what it has left behind could type the answer.
 * In a session of its own it has no terminal to open, and the profile opens no other.
 * Price: its signals are sent to us, and handed on.
 * Held by: tests/unit/test_darwin_run.c
 */
static int run_once(char *const *argv, const struct sb_seatbelt *seatbelt, int *out_status,
		    struct sb_error *err)
{
	static const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	enum { COUNT = sizeof numbers / sizeof numbers[0] };
	struct sigaction before[COUNT], ours = {.sa_handler = hand_on};
	sigset_t held, old;
	pid_t ended;
	int status = 0;

	sigemptyset(&held);
	for (size_t i = 0; i < COUNT; i++)
		sigaddset(&held, numbers[i]);
	sigprocmask(SIG_BLOCK, &held, &old);
	command = fork();
	if (command == 0) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		setsid();
		become(argv, seatbelt);
	}
	for (size_t i = 0; i < COUNT; i++)
		sigaction(numbers[i], &ours, &before[i]);
	if (command > 0)
		sigprocmask(SIG_SETMASK, &old, NULL);
	do
		ended = command < 0 ? command : waitpid(command, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		sb_fail(err, SB_E_SYSTEM, errno, "cannot start a process");
	for (size_t i = 0; i < COUNT; i++)
		sigaction(numbers[i], &before[i], NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	*out_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return ended < 0 ? SB_E_SYSTEM : SB_OK;
}

static bool is_among(const struct sb_refused *all, size_t count, const struct sb_refused *one)
{
	while (count--)
		if (all[count].op == one->op && strcmp(all[count].path, one->path) == 0)
			return true;
	return false;
}

struct reading {
	const struct sb_policy *policy;
	struct sb_refused *all;
	size_t count;
};

/* Each once; of other sandboxes as well, for which nobody will say yes. */
static void take_line(void *context, const char *line)
{
	struct reading *reading = context;
	struct sb_refused *next = &reading->all[reading->count];

	if (reading->count < SB_REFUSED_MAX && sb_refused_parse(line, next) &&
	    sb_refused_may_be_asked(reading->policy, next) &&
	    !is_among(reading->all, reading->count, next))
		reading->count++;
}

int sb_darwin_run(const struct sb_darwin_run *run, int *out_status, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_refused *refused = calloc(SB_REFUSED_MAX, sizeof *refused);
	struct reading reading = {run->policy, refused, 0};
	const struct sb_seatbelt *wider;
	time_t begin = time(NULL);
	int status;

	if (!refused)
		return sb_no_memory(err);
	if (!run->ask)
		become(run->argv, run->seatbelt);
	status = run_once(run->argv, run->seatbelt, out_status, err);
	if (status != SB_OK || *out_status == 0)
		return status;
	sb_seatbelt_log(begin, take_line, &reading);
	wider = reading.count ? run->ask(run->context, refused, reading.count) : NULL;
	return wider ? run_once(run->argv, wider, out_status, err) : SB_OK;
}
