/*
 * interrupted.c - names are made, moved and removed while signals come all the time.
 *
 *     interrupted restart|plain|busy ROUNDS
 *
 * restart: the handler has SA_RESTART, and no call may fail with EINTR.  plain: it has not, and a
 * call that does is made again, as programs do.  busy: as restart, and the handler changes files
 * itself.  In all of them each thing is done once, and a second time it answers as it should; no
 * descriptor is left over.  Prints what went wrong, or "ok" and whether signals came.
 */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static volatile sig_atomic_t ticks, stopped, done;
static bool restarts, busy;
static long interruptions;
static unsigned pause_us = 20;

/* At another moment of the next call each time; and later and later until one gets done. */
static void arm(void)
{
	struct itimerval next = {.it_value = {0, 0}};

	pause_us = pause_us * 5 / 4 + 7;
	if (pause_us > 1500 && done) {
		pause_us = 20;
		done = 0;
	} else if (pause_us > 200000) {
		pause_us = 200000;
	}
	next.it_value.tv_usec = pause_us;
	setitimer(ITIMER_REAL, &next, NULL);
}

static void on_alarm(int number)
{
	int saved = errno, fd;

	(void)number;
	ticks++;
	if (busy) {
		fd = open("handler", O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd >= 0)
			close(fd);
		unlink("handler");
	}
	if (!stopped)
		arm();
	errno = saved;
}

static void expect(long result, int error, const char *what, int round)
{
	int got = result < 0 ? errno : 0;

	if (got == error)
		return;
	printf("%s in round %d: %s\n", what, round, got ? strerror(got) : "worked");
	exit(1);
}

/* Make a call; once more if a signal kept it from being made. */
#define CALL(expression, error)                                                                    \
	do {                                                                                       \
		long result;                                                                       \
		do {                                                                               \
			result = (expression);                                                     \
			interruptions += result < 0 && errno == EINTR;                             \
		} while (result < 0 && errno == EINTR && !restarts);                               \
		done = 1;                                                                          \
		expect(result, error, #expression, round);                                         \
	} while (0)

static void names(int round)
{
	int fd = -1;
	struct stat info;

	CALL(mkdir("d", 0700), 0);
	CALL(mkdir("d", 0700), EEXIST);
	CALL(fd = open("d/f", O_CREAT | O_EXCL | O_WRONLY, 0600), 0);
	expect(write(fd, "x", 1), 0, "write", round);
	close(fd);
	CALL(open("d/f", O_CREAT | O_EXCL | O_WRONLY, 0600), EEXIST);
	CALL(fd = open("d/g", O_CREAT | O_EXCL | O_WRONLY, 0444), 0); /* as git does */
	close(fd);
	CALL(fd = open("d/x", O_CREAT | O_TRUNC | O_RDWR, 0755), 0);
	close(fd);
	CALL(fd = open("d/f", O_RDWR), 0);
	close(fd);
	CALL(link("d/f", "d/h"), 0);
	CALL(link("d/f", "d/h"), EEXIST);
	CALL(rename("d/f", "d/k"), 0);
	CALL(rename("d/f", "d/k"), ENOENT);
	CALL(symlink("k", "d/l"), 0);
	CALL(symlink("k", "d/l"), EEXIST);
	CALL(mkfifo("d/p", 0600), 0);
	CALL(mkfifo("d/p", 0600), EEXIST);
	expect(stat("d/l", &info), 0, "stat", round);
	if (info.st_size != 1 || info.st_nlink != 2) {
		printf("another file in round %d\n", round);
		exit(1);
	}
	CALL(fd = open("d/k", O_WRONLY | O_TRUNC), 0);
	close(fd);
	CALL(unlink("d/g"), 0);
	CALL(unlink("d/g"), ENOENT);
	CALL(unlink("d/h"), 0);
	CALL(unlink("d/k"), 0);
	CALL(unlink("d/l"), 0);
	CALL(unlink("d/p"), 0);
	CALL(unlink("d/x"), 0);
	CALL(rmdir("d"), 0);
	CALL(rmdir("d"), ENOENT);
}

static void sockets(int round)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "s"};
	const struct sockaddr *at = (const void *)&address;
	int server = -1, client = -1, peer = -1;

	CALL(server = socket(AF_UNIX, SOCK_STREAM, 0), 0);
	CALL(bind(server, at, sizeof address), 0);
	expect(listen(server, 8), 0, "listen", round);
	CALL(client = socket(AF_UNIX, SOCK_STREAM, 0), 0);
	CALL(connect(client, at, sizeof address), 0);
	CALL(connect(client, at, sizeof address), EISCONN);
	CALL(peer = accept(server, NULL, NULL), 0);
	close(peer);
	close(client);
	close(server);
	CALL(unlink("s"), 0);
}

/* Ends that a signal kept from being told of would stay open. */
static void pairs(int round)
{
	char byte = 'x';
	int ends[2] = {-1, -1};

	CALL(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	expect(send(ends[0], &byte, 1, 0), 0, "send", round);
	expect(recv(ends[1], &byte, 1, MSG_DONTWAIT), 0, "recv", round);
	close(ends[0]);
	close(ends[1]);
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_alarm};
	int before = count_descriptors(), after;

	if (argc != 3)
		return 2;
	busy = strcmp(argv[1], "busy") == 0;
	restarts = busy || strcmp(argv[1], "restart") == 0;
	action.sa_flags = restarts ? SA_RESTART : 0;
	sigaction(SIGALRM, &action, NULL);
	arm();
	for (int round = 0, rounds = atoi(argv[2]); round < rounds; round++) {
		names(round);
		for (int i = 0; i < 4; i++)
			pairs(round);
		if (round % 4 == 0)
			sockets(round);
	}
	stopped = 1;
	signal(SIGALRM, SIG_IGN);
	after = count_descriptors();
	if (after != before) {
		printf("%d descriptors, %d before\n", after, before);
		return 1;
	}
	fprintf(stderr, "%ld of %ld signals interrupted a call\n", interruptions, (long)ticks);
	printf("ok%s\n", ticks ? ", with signals" : "");
	return 0;
}
