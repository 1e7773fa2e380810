/*
 * storm_places.c - a call acts where its paths led, whatever the others do meanwhile.
 *
 *     storm chdir MILLISECONDS    a thread changes the current directory while calls with two
 *                                 paths are made: whichever it was, it was never another one;
 *                                 and once it is said to be changed, it is
 *     storm elsewhere             who waits at a FIFO still finds it when others, with another
 *                                 current directory, have been served
 */
#include "storm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TURNS 2000

/* --- the current directory changes ------------------------------------------------------------ */

static int places[2];
static atomic_bool over;

static void *wander(void *argument)
{
	for (unsigned i = 0; !over; i++)
		if (fchdir(places[i % 2]) != 0)
			wrong("fchdir");
	return argument;
}

/* Nobody ever names "sub/x" from here: only a call in the wrong place reaches it. */
static void make_place(const char *name, int *out)
{
	if (mkdir(name, 0755) != 0 || chdir(name) != 0 || mkdir("sub", 0755) != 0 ||
	    !put_file("sub/x", O_EXCL, "canary"))
		wrong("make %s", name);
	*out = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*out < 0 || chdir("..") != 0)
		wrong("open %s", name);
}

static void check_place(int place)
{
	char text[16] = "";
	int fd = openat(place, "sub/x", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		wrong("sub/x is gone: a call was made in another directory");
	if (read(fd, text, sizeof text - 1) < 0 || strcmp(text, "canary") != 0)
		wrong("sub/x is another one: %s", text);
	close(fd);
}

static void remove_place(const char *name, int place)
{
	static const char *const left[] = {"x", "sub/x", "sub/y", "sub/z"};

	for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
		attempt(unlinkat(place, left[i], 0));
	if (unlinkat(place, "sub", AT_REMOVEDIR) != 0 || rmdir(name) != 0)
		wrong("rmdir %s", name);
	close(place);
}

/* A thread moves and says so; whoever heard it is where that one went. */
static atomic_int moved, seen;

static void *move_and_tell(void *argument)
{
	for (int turn = 1; turn <= TURNS; turn++) {
		if (fchdir(places[turn % 2]) != 0)
			wrong("fchdir");
		moved = turn;
		while (seen != turn)
			sched_yield();
	}
	return argument;
}

static void follow(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, move_and_tell, NULL) != 0)
		wrong("thread");
	for (int turn = 1; turn <= TURNS; turn++) {
		struct stat info;

		do /* always one more look at where we are */
			attempt(access("x", W_OK));
		while (moved != turn);
		if (!put_file("t", O_EXCL, "t"))
			wrong("make a file");
		if (fstatat(places[turn % 2], "t", &info, 0) != 0)
			wrong("it is not where the other thread went");
		if (unlink("t") != 0)
			wrong("unlink");
		seen = turn;
	}
	pthread_join(thread, NULL);
}

int storm_chdir(char **argv)
{
	long end = now_ms() + (argv[0] ? strtol(argv[0], NULL, 10) : 500);
	int home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pthread_t thread;

	make_place("a", &places[0]);
	make_place("b", &places[1]);
	if (home < 0 || fchdir(places[0]) != 0 || pthread_create(&thread, NULL, wander, NULL) != 0)
		wrong("thread");
	while (now_ms() < end) {
		int fd = open("x", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

		if (fd >= 0)
			close(fd);
		attempt(rename("x", "sub/y"));
		attempt(rename("sub/y", "x"));
		attempt(link("x", "sub/z"));
		attempt(unlink("sub/z"));
		check_place(places[0]);
		check_place(places[1]);
	}
	over = true;
	pthread_join(thread, NULL);
	follow();
	if (fchdir(home) != 0)
		wrong("fchdir");
	close(home);
	remove_place("a", places[0]);
	remove_place("b", places[1]);
	return 0;
}

/* --- waiting elsewhere ---------------------------------------------------------------------- */

/* Opens the FIFO by its name alone, which O_NOFOLLOW insists on. */
static _Noreturn void write_to_fifo(void)
{
	int fd = open("fifo", O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		wrong("open a FIFO");
	_exit(write(fd, "x", 1) == 1 ? 0 : 1);
}

int storm_elsewhere(char **argv)
{
	char letter;
	int fd, status;
	pid_t pid;

	(void)argv;
	if (mkdir("a", 0755) != 0 || mkdir("b", 0755) != 0 || mkfifo("a/fifo", 0644) != 0)
		wrong("mkdir");
	pid = fork();
	if (pid == 0) {
		if (chdir("a") != 0)
			_exit(1);
		write_to_fifo();
	}
	nanosleep(&(struct timespec){0, 50000000}, NULL);
	if (chdir("b") != 0)
		wrong("chdir");
	for (int i = 0; i < 100; i++)
		if (!put_file("other", 0, "x") || unlink("other") != 0)
			wrong("work elsewhere");
	fd = open("../a/fifo", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &letter, 1) != 1)
		wrong("read the FIFO");
	close(fd);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		wrong("who waited: %#x", (unsigned)status);
	if (chdir("..") != 0 || unlink("a/fifo") != 0 || rmdir("a") != 0 || rmdir("b") != 0)
		wrong("remove");
	return 0;
}
