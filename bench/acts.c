/*
 * acts.c - the small acts that programs do all day, timed from inside.
 *
 *     acts read N      open, read and close each of N files
 *     acts create N    create, write, close and unlink N files, one after another
 *     acts spawn N     fork, exec true and wait, N times
 *     acts run         run the shell command that the request holds
 *
 * It runs in the directory it works on, natively or inside a sandbox, and stays
 * there: each line on stdin asks for one round, each answer on stdout is that
 * round's nanoseconds.  So several of these, one per sandbox, can take turns, and
 * starting the sandbox is not part of the number (launch.c measures that).
 *
 * It does not measure a cold page cache, nor many processes at once.  A user cares
 * because this is what a sandbox costs after it has started.  The baseline is this
 * same program without a sandbox.
 *
 * Each act checks its own result.  A wrong one is a sentence on stderr and exit 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILES_PER_DIRECTORY = 50, CREATED_BYTES = 512 };

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "acts: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

/* The files are made by bench/run: file i begins with its number and a newline. */
static void act_read(int count)
{
	char name[64];
	char bytes[8192];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "d%03d/f%05d", i / FILES_PER_DIRECTORY, i);
		int fd = open(name, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			die("cannot open '%s': %s", name, strerror(errno));
		ssize_t got = read(fd, bytes, sizeof(bytes) - 1);

		if (got <= 0)
			die("cannot read '%s': %s", name, got ? strerror(errno) : "it is empty");
		bytes[got] = '\0';
		if (close(fd) < 0)
			die("cannot close '%s': %s", name, strerror(errno));
		if (strtol(bytes, NULL, 10) != i)
			die("'%s' holds the wrong bytes", name);
	}
}

static void act_create(int count)
{
	char name[64];
	char bytes[CREATED_BYTES];

	memset(bytes, 'x', sizeof(bytes));
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "made%05d", i);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

		if (fd < 0)
			die("cannot create '%s': %s", name, strerror(errno));
		if (write(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
			die("cannot write '%s': %s", name, strerror(errno));
		if (close(fd) < 0)
			die("cannot close '%s': %s", name, strerror(errno));
		/* O_EXCL in the next round proves that this one really went away. */
		if (unlink(name) < 0)
			die("cannot unlink '%s': %s", name, strerror(errno));
	}
}

static void wait_for_success(pid_t pid, const char *what)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid: %s", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		die("'%s' ended with status 0x%x, expected exit 0", what, (unsigned)status);
}

static void act_spawn(int count)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork: %s", strerror(errno));
		if (pid == 0) {
			execlp("true", "true", (char *)NULL);
			_exit(127);
		}
		wait_for_success(pid, "true");
	}
}

static void act_run(const char *command)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid == 0) {
		/* Answers own stdout; whatever the command says goes to stderr. */
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	wait_for_success(pid, command);
}

int main(int argc, char **argv)
{
	const char *act = argc > 1 ? argv[1] : "";
	int count = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	if (count < 1 && strcmp(act, "run") != 0) {
		fprintf(stderr, "usage: acts read|create|spawn N, or acts run\n");
		return 2;
	}
	while ((length = getline(&line, &room, stdin)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		long long start = now_ns();

		if (!strcmp(act, "read"))
			act_read(count);
		else if (!strcmp(act, "create"))
			act_create(count);
		else if (!strcmp(act, "spawn"))
			act_spawn(count);
		else if (!strcmp(act, "run"))
			act_run(line);
		else
			die("no act is called '%s'", act);
		printf("%lld\n", now_ns() - start);
		fflush(stdout);
	}
	free(line);
	return 0;
}
