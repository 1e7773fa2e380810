/*
 * storm.c - crowds: processes and threads that share a directory.
 *
 *     storm crowd PROCESSES THREADS ROUNDS   everybody creates, renames, removes, and checks
 *     storm bomb COUNT                       processes that make processes, each with a file
 *     storm rounds                           a round of work for each line read; says "done"
 *     storm signals|killed|spawn|handed|quiet|flip ...    see storm_moments.c
 *     storm chdir|elsewhere ...              see storm_places.c
 *
 * In the current directory, which must be empty.
 */
#include "storm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHARED_NAMES 8
#define THREADS_MAX 64

/* What the processes of a crowd agree on. */
struct tally {
	atomic_int locked;  /* times that somebody created the lock */
	atomic_int started; /* processes of a bomb */
};

static struct tally *tally;

void wrong(const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	fputs("storm: ", stderr);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (errno: %s)\n", strerror(error));
	_exit(1);
}

bool put_file(const char *path, int flags, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
	ssize_t length = (ssize_t)strlen(text);

	if (fd < 0)
		return false;
	if (write(fd, text, (size_t)length) != length)
		wrong("write to %s", path);
	close(fd);
	return true;
}

long get_file(const char *path, char *data, unsigned long size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, data, size - 1);
	close(fd);
	data[got > 0 ? got : 0] = '\0';
	return got;
}

void attempt(int result)
{
	(void)result;
}

long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- a crowd -------------------------------------------------------------------------- */

struct member {
	int process, thread, rounds;
};

/* Names of our own: nobody else touches them, so every step must work. */
static void work_alone(const struct member *me, int round)
{
	char name[40], other[64], inner[96], text[64], seen[64];
	struct stat info;

	snprintf(text, sizeof text, "%d-%d-%d\n", me->process, me->thread, round);
	snprintf(name, sizeof name, "own-%d-%d", me->process, me->thread);
	snprintf(other, sizeof other, "%s-moved", name);
	if (!put_file(name, O_EXCL, text))
		wrong("create %s", name);
	if (put_file(name, O_EXCL, text) || errno != EEXIST)
		wrong("%s was created twice", name);
	if (rename(name, other) != 0 || access(name, F_OK) == 0)
		wrong("rename %s", name);
	if (chmod(other, 0600) != 0 || stat(other, &info) != 0 || (info.st_mode & 0777) != 0600)
		wrong("chmod %s", other);
	if (get_file(other, seen, sizeof seen) < 0 || strcmp(seen, text) != 0)
		wrong("%s holds '%s', not '%s'", other, seen, text);
	if (link(other, name) != 0 || stat(name, &info) != 0 || info.st_nlink != 2)
		wrong("link %s", other);
	if (unlink(other) != 0 || unlink(name) != 0 || unlink(name) == 0 || errno != ENOENT)
		wrong("unlink %s", name);
	snprintf(inner, sizeof inner, "%s/inner", name);
	if (mkdir(name, 0755) != 0 || !put_file(inner, O_EXCL, text) || rmdir(name) == 0 ||
	    errno != ENOTEMPTY)
		wrong("directory %s", name);
	if (rename(name, other) != 0)
		wrong("rename of directory %s", name);
	snprintf(inner, sizeof inner, "%s/inner", other);
	if (unlink(inner) != 0 || rmdir(other) != 0)
		wrong("remove directory %s", other);
}

/* Names of everybody: a step may lose a race, but what is there is always whole. */
static void work_together(const struct member *me, int round, unsigned *random)
{
	char name[64], shared[32], text[64], seen[64];
	int process, thread, number;

	snprintf(name, sizeof name, "new-%d-%d", me->process, me->thread);
	snprintf(shared, sizeof shared, "shared-%d", rand_r(random) % SHARED_NAMES);
	snprintf(text, sizeof text, "%d-%d-%d\n", me->process, me->thread, round);
	if (!put_file(name, O_EXCL, text) || rename(name, shared) != 0)
		wrong("replace %s", shared);
	snprintf(shared, sizeof shared, "shared-%d", rand_r(random) % SHARED_NAMES);
	if (get_file(shared, seen, sizeof seen) >= 0) {
		/* NOLINTNEXTLINE(cert-err34-c): three small numbers of our own */
		if (sscanf(seen, "%d-%d-%d\n", &process, &thread, &number) != 3)
			wrong("%s holds '%s'", shared, seen);
	} else if (errno != ENOENT) {
		wrong("read %s", shared);
	}
	if (rand_r(random) % 4 == 0 && unlink(shared) != 0 && errno != ENOENT)
		wrong("unlink %s", shared);
}

/* O_EXCL makes a lock: what it guards is never lost. */
static void work_locked(void)
{
	char text[32];

	if (!put_file("lock", O_EXCL, "")) {
		if (errno != EEXIST)
			wrong("create lock");
		return;
	}
	if (get_file("count", text, sizeof text) < 0)
		wrong("read count");
	snprintf(text, sizeof text, "%ld", strtol(text, NULL, 10) + 1);
	if (!put_file("count", O_TRUNC, text))
		wrong("write count");
	atomic_fetch_add(&tally->locked, 1);
	if (unlink("lock") != 0)
		wrong("remove lock");
}

static void *be_member(void *argument)
{
	const struct member *me = argument;
	unsigned random = (unsigned)(me->process * 1000 + me->thread);

	for (int round = 0; round < me->rounds; round++) {
		work_alone(me, round);
		work_together(me, round, &random);
		work_locked();
	}
	return NULL;
}

static void run_threads(int process, int threads, int rounds)
{
	struct member members[THREADS_MAX];
	pthread_t ids[THREADS_MAX];

	for (int i = 0; i < threads; i++) {
		members[i] = (struct member){process, i, rounds};
		if (pthread_create(&ids[i], NULL, be_member, &members[i]) != 0)
			wrong("a thread");
	}
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
}

static void wait_for_all(void)
{
	int status;

	while (wait(&status) > 0)
		if (status != 0)
			wrong("a process ended with %#x", (unsigned)status);
}

static int crowd(int processes, int threads, int rounds)
{
	char text[32];
	long counted;

	if (threads < 1 || threads > THREADS_MAX || !put_file("count", O_EXCL, "0"))
		wrong("cannot begin");
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			wrong("fork");
		if (pid == 0) {
			run_threads(i, threads, rounds);
			_exit(0);
		}
	}
	wait_for_all();
	if (get_file("count", text, sizeof text) < 0)
		wrong("read count");
	counted = strtol(text, NULL, 10);
	if (counted != atomic_load(&tally->locked) || counted == 0)
		wrong("counted %ld, not %d", counted, atomic_load(&tally->locked));
	for (int i = 0; i < SHARED_NAMES; i++) {
		char shared[32];

		snprintf(shared, sizeof shared, "shared-%d", i);
		unlink(shared);
	}
	unlink("count");
	return 0;
}

/* --- processes that make processes ------------------------------------------------------ */

static void explode(int count)
{
	for (;;) {
		int number = atomic_fetch_add(&tally->started, 1);
		char name[32];
		pid_t pid;

		if (number >= count)
			break;
		pid = fork();
		if (pid < 0) { /* the machine's limit, not ours */
			atomic_fetch_sub(&tally->started, 1);
			usleep(1000);
			continue;
		}
		if (pid == 0) {
			snprintf(name, sizeof name, "bomb-%d", number);
			if (!put_file(name, O_EXCL, name))
				wrong("create %s", name);
			if (number % 3 == 0)
				explode(count);
			_exit(0);
		}
	}
	wait_for_all();
}

static int bomb(int count)
{
	explode(count);
	for (int i = 0; i < count; i++) {
		char name[32], text[32];

		snprintf(name, sizeof name, "bomb-%d", i);
		if (get_file(name, text, sizeof text) < 0 || strcmp(text, name) != 0 ||
		    unlink(name) != 0)
			wrong("%s is missing", name);
	}
	return 0;
}

/* --- rounds, while somebody measures ---------------------------------------------------- */

static void use_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "round.sock"};
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(server, (struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(server, 1) != 0 ||
	    connect(client, (struct sockaddr *)&address, sizeof address) != 0)
		wrong("socket");
	close(client);
	close(server);
	if (unlink(address.sun_path) != 0)
		wrong("remove socket");
}

static int rounds(void)
{
	char line[16];

	while (fgets(line, sizeof line, stdin)) {
		struct member me = {.process = getpid()};
		pid_t pid;

		for (int i = 0; i < 150; i++) {
			char name[32];

			work_alone(&me, i);
			/* many directories and many names, so that a cache would grow */
			snprintf(name, sizeof name, "many-%d", i);
			if (mkdir(name, 0700) != 0)
				wrong("mkdir %s", name);
		}
		for (int i = 0; i < 150; i++) {
			char name[32];

			snprintf(name, sizeof name, "many-%d", i);
			if (rmdir(name) != 0)
				wrong("rmdir %s", name);
		}
		use_socket();
		for (int i = 0; i < 20; i++) {
			pid = fork();
			if (pid == 0) {
				me.thread = i + 1;
				work_alone(&me, i);
				_exit(0);
			}
		}
		wait_for_all();
		puts("done");
		fflush(stdout);
	}
	return 0;
}

static int number_of(const char *text)
{
	return text ? (int)strtol(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(char **argv);
	} moments[] = {{"signals", storm_signals},    {"killed", storm_killed},
		       {"spawn", storm_spawn},        {"handed", storm_handed},
		       {"siblings", storm_siblings},  {"quiet", storm_quiet},
		       {"flip", storm_flip},          {"chdir", storm_chdir},
		       {"elsewhere", storm_elsewhere}};

	tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED)
		wrong("mmap");
	umask(022);
	if (argc == 5 && strcmp(argv[1], "crowd") == 0)
		return crowd(number_of(argv[2]), number_of(argv[3]), number_of(argv[4]));
	if (argc == 3 && strcmp(argv[1], "bomb") == 0)
		return bomb(number_of(argv[2]));
	if (argc == 2 && strcmp(argv[1], "rounds") == 0)
		return rounds();
	for (size_t i = 0; argc > 1 && i < sizeof moments / sizeof moments[0]; i++)
		if (strcmp(argv[1], moments[i].name) == 0)
			return moments[i].run(argv + 2);
	fputs("storm: which one?\n", stderr);
	return 2;
}
