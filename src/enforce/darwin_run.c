/*
 * Confining and running.  Compiled for macOS alone; tests/cli/macos.py holds what can be held elsewhere.
 */
#include "enforce/darwin_run.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"

/* libSystem has them; no header of the SDK does. */
int sandbox_init_with_parameters(const char *profile, uint64_t flags,
				 const char *const parameters[], char **errorbuf);
void sandbox_free_error(char *errorbuf);

/*
 * SECURITY: names are compared as APFS compares them.
 *
 * Danger: HFS+ leaves characters out that show as nothing: ".g\u200cit" is ".git" there, and no regular expression
 * of the profile says so.
 * Price: no project on such a disk.
 * Held by: nothing; it needs a Mac with such a disk (docs/macos.md).
 */
static int refuse_hfs(struct sb_error *err)
{
	struct statfs info;

	if (statfs(".", &info) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot tell what disk this is");
	if (strcmp(info.f_fstypename, "hfs") != 0)
		return SB_OK;
	sb_fail(err, SB_E_UNSUPPORTED, 0, "guarded names cannot be held on a disk with HFS+");
	return sb_hint(err, "move the project to a disk with APFS");
}

int sb_seatbelt_enter(const struct sb_seatbelt *seatbelt, struct sb_error *err)
{
	SB_AUTO_FREE const char **parameters = calloc(2 * seatbelt->count + 1, sizeof *parameters);
	char *why = NULL;
	int status = refuse_hfs(err);

	if (status != SB_OK)
		return status;
	if (!parameters)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	for (size_t i = 0; i < seatbelt->count; i++) {
		parameters[2 * i] = seatbelt->parameters[i].name;
		parameters[2 * i + 1] = seatbelt->parameters[i].value;
	}
	if (sandbox_init_with_parameters(seatbelt->text.data, 0, parameters, &why) == 0)
		return SB_OK;
	sb_fail(err, SB_E_UNSUPPORTED, 0, "cannot enter the sandbox: %s",
		why ? why : "no reason given");
	if (why)
		sandbox_free_error(why);
	return sb_hint(err, "nothing was run; inside another sandbox there can be none");
}

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
		dprintf(STDERR_FILENO, "sandbash: %s\nhint: %s\n", err.message, err.hint);
		_exit(125);
	}
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "sandbash: cannot run the command: %s\n", strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Signals of the terminal are the command's, as if it ran alone. */
static int run_once(char *const *argv, const struct sb_seatbelt *seatbelt, int *out_status,
		    struct sb_error *err)
{
	static const int ours[] = {SIGINT, SIGQUIT, SIGTERM};
	struct sigaction before[sizeof ours / sizeof ours[0]];
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	pid_t child, ended;
	int status = 0;

	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		sigaction(ours[i], &ignore, &before[i]);
	child = fork();
	if (child == 0) {
		for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
			sigaction(ours[i], &before[i], NULL);
		become(argv, seatbelt);
	}
	do
		ended = child < 0 ? child : waitpid(child, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		sb_fail(err, SB_E_SYSTEM, errno, "cannot start a process");
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		sigaction(ours[i], &before[i], NULL);
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

/* What the log has of the time since, each once; of other sandboxes as well, for which nobody will say yes. */
static size_t read_log(const struct sb_policy *policy, time_t since, struct sb_refused *out)
{
	char command[256], line[4096], start[32];
	struct tm local;
	size_t count = 0;
	FILE *log;

	if (!localtime_r(&since, &local) ||
	    !strftime(start, sizeof start, "%Y-%m-%d %H:%M:%S", &local))
		return 0;
	snprintf(command, sizeof command,
		 "exec /usr/bin/log show --style compact --start '%s' --predicate "
		 "'sender == \"Sandbox\"' 2>/dev/null",
		 start);
	log = popen(command, "r");
	while (log && count < SB_REFUSED_MAX && fgets(line, sizeof line, log)) {
		/* a line that is cut tells half a path */
		if (strchr(line, '\n') && sb_refused_parse(line, &out[count]) &&
		    sb_refused_may_be_asked(policy, &out[count]) &&
		    !is_among(out, count, &out[count]))
			count++;
	}
	if (log)
		pclose(log);
	return count;
}

int sb_darwin_run(const struct sb_darwin_run *run, int *out_status, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_refused *refused = calloc(SB_REFUSED_MAX, sizeof *refused);
	const struct sb_seatbelt *wider;
	time_t begin = time(NULL);
	size_t count;
	int status;

	if (!refused)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	if (!run->ask)
		become(run->argv, run->seatbelt);
	status = run_once(run->argv, run->seatbelt, out_status, err);
	if (status != SB_OK || *out_status == 0)
		return status;
	count = read_log(run->policy, begin, refused);
	wider = count ? run->ask(run->context, refused, count) : NULL;
	return wider ? run_once(run->argv, wider, out_status, err) : SB_OK;
}
