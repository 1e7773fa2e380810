/*
 * launch.c - how long it takes to start a command and see it end.
 *
 *     launch ROUNDS :: CMD ARG... :: CMD ARG... ...
 *
 * Measures, per round and command, the wall time from posix_spawnp to the end of
 * waitpid; prints one line of nanoseconds per round, one number per command, in
 * the order given.  The commands take turns, and each round starts with another
 * one, so a busy moment of the machine hits them all alike.
 *
 * It does not measure a shell's own fork, nor anything the command does: the
 * commands should do nothing.  A user cares because editors and agents start a
 * sandbox for every small command.  The baseline is one of the commands: the
 * same program without a sandbox.
 *
 * Every command must exit 0 each time, or nothing is printed and we exit 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_COMMANDS = 8, WARM_UP_ROUNDS = 10 };

extern char **environ;

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Start argv, wait for it, and return the time; -1 after saying what went wrong. */
static long long launch_once(char **argv, const posix_spawn_file_actions_t *actions)
{
	long long start = now_ns();
	pid_t pid;
	int status;
	int failed = posix_spawnp(&pid, argv[0], actions, NULL, argv, environ);

	if (failed) {
		fprintf(stderr, "launch: cannot start '%s': %s\n", argv[0], strerror(failed));
		return -1;
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR) {
			fprintf(stderr, "launch: waitpid: %s\n", strerror(errno));
			return -1;
		}
	}
	long long took = now_ns() - start;

	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "launch: '%s' ended with status 0x%x, expected exit 0\n", argv[0],
			(unsigned)status);
		return -1;
	}
	return took;
}

int main(int argc, char **argv)
{
	char **commands[MAX_COMMANDS];
	int count = 0;
	long rounds = argc > 3 ? strtol(argv[1], NULL, 10) : 0;

	if (rounds < 1) {
		fprintf(stderr, "usage: launch ROUNDS :: CMD ARG... :: CMD ARG... ...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "::") != 0)
			continue;
		if (count == MAX_COMMANDS || i + 1 == argc) {
			fprintf(stderr, "launch: too many commands, or an empty one\n");
			return 2;
		}
		argv[i] = NULL;
		commands[count++] = &argv[i + 1];
	}

	/* The results go to our stdout; a command must not write between them. */
	posix_spawn_file_actions_t actions;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);

	long long *took = calloc((size_t)rounds * (size_t)count, sizeof(*took));

	if (!took)
		return 1;
	for (long round = -WARM_UP_ROUNDS; round < rounds; round++) {
		for (int turn = 0; turn < count; turn++) {
			int i = (int)((round + WARM_UP_ROUNDS + turn) % count);
			long long t = launch_once(commands[i], &actions);

			if (t < 0)
				return 1;
			if (round >= 0)
				took[round * count + i] = t;
		}
	}
	for (long round = 0; round < rounds; round++)
		for (int i = 0; i < count; i++)
			printf("%lld%c", took[round * count + i], i + 1 < count ? ' ' : '\n');
	free(took);
	posix_spawn_file_actions_destroy(&actions);
	return 0;
}
