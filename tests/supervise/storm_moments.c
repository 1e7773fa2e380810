/*
 * storm_moments.c - requests at bad moments.
 *
 *     storm signals restart|plain|repeat CALLS
 *                                 timers fire while calls are held: none says EINTR, and all
 *                                 come to an end; the handler with SA_RESTART or without;
 *                                 repeat: EINTR is fine when nothing was done
 *     storm signals wait          calls that wait are interrupted, as without a sandbox
 *     storm killed TIMES          callers die at random: nothing half-done, or begun afterwards
 *     storm spawn TIMES           vfork and posix_spawn() with file actions
 *     storm handed TIMES          a closed descriptor is closed: nobody else still has it
 *     storm siblings COUNT        leaves children of its own parent behind, for ten minutes
 *     storm quiet                 a process whose memory others may not read
 *     storm flip INSIDE OUTSIDE MILLISECONDS
 *                                 a thread changes the path while calls are made with it
 */
#include "storm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define TIMER_US 5000

static int count_of(char **argv)
{
	return argv[0] ? (int)strtol(argv[0], NULL, 10) : 100;
}

/* --- signals -------------------------------------------------------------------------- */

static volatile sig_atomic_t ticks;

static void on_tick(int number)
{
	(void)number;
	ticks++;
}

static void start_timer(int flags, long interval_us)
{
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = flags};
	struct itimerval timer = {{0, interval_us}, {0, interval_us}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static bool may_repeat; /* a call that says EINTR did nothing, and is made again */
static long interrupted;

static bool again(void)
{
	if (errno != EINTR || !may_repeat)
		return false;
	interrupted++;
	return true;
}

#define EXPECT(call)                                                                               \
	do {                                                                                       \
		while (!(call))                                                                    \
			if (!again())                                                              \
				wrong("%s under a timer", #call);                                  \
	} while (0)

/*
 * Calls on plain files are never interrupted.  None of these works twice, so one that was
 * done and yet said EINTR is found when it is repeated.
 */
static void work_under_timer(int flags, int calls)
{
	ticks = 0;
	start_timer(flags, TIMER_US);
	for (int i = 0; i < calls || ticks < 5; i++) {
		EXPECT(put_file("timed", O_EXCL, "x"));
		EXPECT(rename("timed", "timed2") == 0);
		EXPECT(chmod("timed2", 0600) == 0);
		EXPECT(truncate("timed2", 3) == 0);
		EXPECT(access("timed2", W_OK) == 0);
		EXPECT(link("timed2", "timed") == 0);
		EXPECT(unlink("timed") == 0);
		EXPECT(unlink("timed2") == 0);
		EXPECT(mkdir("timed", 0700) == 0);
		EXPECT(rmdir("timed") == 0);
	}
	start_timer(flags, 0);
}

/* Waiting for the other end of a FIFO is interrupted, or begun again. */
static void wait_under_timer(void)
{
	long begin = now_ms();
	pid_t pid;
	int fd, status;

	if (mkfifo("waits", 0600) != 0)
		wrong("mkfifo");
	start_timer(0, TIMER_US);
	fd = open("waits", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 || errno != EINTR)
		wrong("open of a FIFO answered %d", fd);
	fd = open("waits", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 || errno != EINTR)
		wrong("open of a FIFO for writing answered %d", fd);
	start_timer(SA_RESTART, TIMER_US);
	pid = fork();
	if (pid == 0) {
		usleep(60000);
		fd = open("waits", O_WRONLY | O_CLOEXEC);
		_exit(fd < 0);
	}
	fd = open("waits", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		wrong("open that is restarted");
	start_timer(0, 0);
	close(fd);
	waitpid(pid, &status, 0);

	/* and a signal that ends the process ends the waiting */
	pid = fork();
	if (pid == 0) {
		attempt(open("waits", O_RDONLY | O_CLOEXEC));
		_exit(0);
	}
	usleep(20000);
	kill(pid, SIGTERM);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		wrong("SIGTERM did not end who waited");
	if (unlink("waits") != 0)
		wrong("unlink");
	if (now_ms() - begin > 5000)
		wrong("it took %ld ms", now_ms() - begin);
}

int storm_signals(char **argv)
{
	const char *kind = argv[0] ? argv[0] : "";

	if (strcmp(kind, "restart") == 0)
		work_under_timer(SA_RESTART, count_of(argv + 1));
	else if (strcmp(kind, "plain") == 0)
		work_under_timer(0, count_of(argv + 1));
	else if (strcmp(kind, "repeat") == 0)
		may_repeat = true, work_under_timer(0, count_of(argv + 1));
	else if (strcmp(kind, "wait") == 0)
		wait_under_timer();
	else
		wrong("restart, plain, repeat or wait?");
	if (interrupted)
		printf("%ld interrupted\n", interrupted);
	return 0;
}

/* --- death ---------------------------------------------------------------------------- */

static _Noreturn void replace_for_ever(void)
{
	char text[64];

	for (unsigned i = 0;; i++) {
		snprintf(text, sizeof text, "[%u]", i);
		unlink("temp");
		if (!put_file("temp", O_EXCL, text) || rename("temp", "data") != 0)
			wrong("replace");
		attempt(link("data", "hard"));
		attempt(symlink("data", "soft"));
		mkdir("dir", 0700);
		rename("dir", "dir2");
		rmdir("dir2");
		unlink("hard");
		unlink("soft");
	}
}

static uint64_t names_here(void)
{
	DIR *directory = opendir(".");
	struct dirent *entry;
	uint64_t sum = 0;

	while (directory && (entry = readdir(directory))) {
		uint64_t hash = 5381;

		for (const char *c = entry->d_name; *c; c++)
			hash = hash * 33 + (unsigned char)*c;
		sum += hash;
	}
	if (directory)
		closedir(directory);
	return sum;
}

/*
 * What was being done for the dead when it died may end, a moment later than without a sandbox:
 * nobody can take a system call of the supervisor back.  But nothing is begun, so it is one
 * change, and soon.
 */
static void check_that_it_ended(void)
{
	uint64_t before = names_here(), after;
	int changes = 0;

	for (int calm = 0; calm < 2; calm++) {
		usleep(2000);
		after = names_here();
		if (after != before) {
			calm = 0;
			if (++changes > 1)
				wrong("%d changes were made for a process that is dead", changes);
		}
		before = after;
	}
}

static void check_what_is_left(void)
{
	char text[64];
	unsigned number;
	char end;

	check_that_it_ended();
	if (get_file("data", text, sizeof text) < 0) {
		if (errno != ENOENT)
			wrong("data");
		/* NOLINTNEXTLINE(cert-err34-c): only its form matters */
	} else if (sscanf(text, "[%u%c", &number, &end) != 2 || end != ']') {
		wrong("data holds '%s'", text);
	}
}

int storm_killed(char **argv)
{
	int times = count_of(argv);
	unsigned random = 7;

	for (int i = 0; i < times; i++) {
		pid_t pid = fork();
		int status;

		if (pid < 0)
			wrong("fork");
		if (pid == 0)
			replace_for_ever();
		usleep(200 + (unsigned)rand_r(&random) % 3000);
		kill(pid, SIGKILL);
		if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
			wrong("the process ended by itself: %#x", (unsigned)status);
		check_what_is_left();
	}
	/* and everything still works */
	unlink("temp"), unlink("hard"), unlink("soft");
	rmdir("dir"), rmdir("dir2");
	if (!put_file("data", O_TRUNC, "end") || unlink("data") != 0)
		wrong("after the last one");
	return 0;
}

/* --- other ways to begin -------------------------------------------------------------- */

static void spawn_once(int number)
{
	char text[64], want[64], word[32];
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"cat; echo $0; pwd -P >where", word,
			NULL};
	posix_spawn_file_actions_t actions;
	int status = 0, error;
	pid_t pid = -1;

	snprintf(word, sizeof word, "%d", number);
	if (!put_file("input", O_TRUNC, "read\n") || mkdir("below", 0700) != 0)
		wrong("prepare");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "input", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 7, "output", O_WRONLY | O_CREAT | O_TRUNC, 0640);
	posix_spawn_file_actions_adddup2(&actions, 7, 1);
	posix_spawn_file_actions_addclose(&actions, 7);
	posix_spawn_file_actions_addchdir_np(&actions, "below");
	error = posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error != 0 || waitpid(pid, &status, 0) != pid || status != 0)
		wrong("posix_spawn: %d, %#x", error, (unsigned)status);
	snprintf(want, sizeof want, "read\n%d\n", number);
	if (get_file("output", text, sizeof text) < 0 || strcmp(text, want) != 0)
		wrong("output holds '%s'", text);
	if (unlink("below/where") != 0 || rmdir("below") != 0 || unlink("output") != 0 ||
	    unlink("input") != 0)
		wrong("clean up");

	/* NOLINTBEGIN(clang-analyzer-unix.Vfork, clang-analyzer-security.insecureAPI.vfork):
	 * shells and language runtimes do open files there, so it must work */
	pid = vfork();
	if (pid == 0) {
		int fd = open("made", O_WRONLY | O_CREAT | O_EXCL, 0600);

		if (fd < 0 || dup2(fd, 1) < 0)
			_exit(9);
		execl("/bin/echo", "echo", "vforked", (char *)NULL);
		_exit(8);
	}
	/* NOLINTEND(clang-analyzer-unix.Vfork, clang-analyzer-security.insecureAPI.vfork) */
	if (waitpid(pid, &status, 0) != pid || status != 0)
		wrong("vfork: %#x", (unsigned)status);
	if (get_file("made", text, sizeof text) < 0 || strcmp(text, "vforked\n") != 0 ||
	    unlink("made") != 0)
		wrong("made holds '%s'", text);
}

int storm_spawn(char **argv)
{
	for (int i = 0; i < count_of(argv); i++)
		spawn_once(i);
	return 0;
}

/* --- what is handed over -------------------------------------------------------------- */

/*
 * Whoever opened the file for us must have let go of it when we have it: else a program just
 * written cannot be run (ETXTBSY), a lock outlives its owner, a pipe has no end.
 */
static void run_what_was_written(void)
{
	int from = open("/bin/true", O_RDONLY | O_CLOEXEC), status;
	int to = open("program", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	struct stat info;
	pid_t pid;

	if (from < 0 || to < 0 || fstat(from, &info) != 0 ||
	    sendfile(to, from, NULL, (size_t)info.st_size) != info.st_size)
		wrong("copy a program");
	close(from);
	close(to);
	pid = fork();
	if (pid == 0) {
		execl("./program", "program", (char *)NULL);
		_exit(errno == ETXTBSY ? 26 : 1);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		wrong("a program just written: %#x%s", (unsigned)status,
		      WIFEXITED(status) && WEXITSTATUS(status) == 26 ? ", text file busy" : "");
	if (unlink("program") != 0)
		wrong("unlink");
}

static void lock_after_close(void)
{
	for (int i = 0; i < 2; i++) {
		int fd = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0)
			wrong("the lock of a closed descriptor is still held");
		close(fd);
	}
	if (unlink("lock") != 0)
		wrong("unlink");
}

/* Opened to read, which nobody holds: nothing but the lock itself comes to the supervisor. */
static void lock_of_a_reader(bool of_file)
{
	struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	int fd = open("lock", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0)
		wrong("lock a new file");
	if (of_file) {
		whole.l_type = F_WRLCK;
		if (fcntl(fd, F_OFD_SETLK, &whole) != 0)
			wrong("lock a new file");
		whole.l_type = F_RDLCK;
	}
	close(fd);
	fd = open("lock", O_RDONLY | O_CLOEXEC);
	if (fd < 0 ||
	    (of_file ? fcntl(fd, F_OFD_SETLK, &whole) : flock(fd, LOCK_SH | LOCK_NB)) != 0)
		wrong("the lock of a closed descriptor is held, says a reader");
	close(fd);
	if (unlink("lock") != 0)
		wrong("unlink");
}

static void end_of_fifo(void)
{
	int reader, writer;
	char byte;

	if (mkfifo("pipe", 0600) != 0)
		wrong("mkfifo");
	reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	writer = open("pipe", O_WRONLY | O_CLOEXEC);
	if (reader < 0 || writer < 0)
		wrong("open a FIFO");
	close(writer);
	if (read(reader, &byte, 1) != 0)
		wrong("a FIFO without writers has no end");
	close(reader);
	writer = open("pipe", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (writer >= 0 || errno != ENXIO)
		wrong("a FIFO without readers has one");
	if (unlink("pipe") != 0)
		wrong("unlink");
}

int storm_handed(char **argv)
{
	for (int i = 0; i < count_of(argv); i++) {
		run_what_was_written();
		for (int j = 0; j < 10; j++) {
			lock_after_close();
			end_of_fifo();
		}
		for (int j = 0; j < 40; j++)
			lock_of_a_reader(j % 2);
	}
	return 0;
}

/* --- children of somebody else ------------------------------------------------------------ */

int storm_siblings(char **argv)
{
	for (int i = 0; i < count_of(argv); i++) {
		long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

		if (pid < 0)
			wrong("clone");
		if (pid == 0) {
			alarm(600);
			for (;;)
				pause();
		}
	}
	return 0;
}

/* --- a process that nobody may read ------------------------------------------------------ */

int storm_quiet(char **argv)
{
	char text[16];
	struct stat info;

	(void)argv;
	if (prctl(PR_SET_DUMPABLE, 0) != 0)
		wrong("prctl");
	if (mkdir("quiet", 0750) != 0 || chdir("quiet") != 0)
		wrong("mkdir");
	if (!put_file("a", O_EXCL, "text") || rename("a", "b") != 0 || chmod("b", 0600) != 0 ||
	    link("b", "c") != 0 || symlink("b", "d") != 0 || truncate("c", 2) != 0 ||
	    get_file("d", text, sizeof text) != 2 || stat("b", &info) != 0 || info.st_nlink != 2 ||
	    (info.st_mode & 0777) != 0600)
		wrong("files of a quiet process");
	if (unlink("b") != 0 || unlink("c") != 0 || unlink("d") != 0 || chdir("..") != 0 ||
	    rmdir("quiet") != 0)
		wrong("removing them");
	return 0;
}

/* --- a path that changes -------------------------------------------------------------- */

static char flipping[4096];
static atomic_bool stop_flipping;
static char **flip_names;

static void *flip(void *argument)
{
	size_t size = strlen(flip_names[1]) + 1;

	(void)argument;
	while (!atomic_load(&stop_flipping)) {
		memcpy(flipping, flip_names[0], size);
		atomic_signal_fence(memory_order_seq_cst); /* or the first copy is left out */
		memcpy(flipping, flip_names[1], size);
	}
	return NULL;
}

/*
 * Both names have the same length.  Which of them a call meets is chance; that nothing but
 * the one inside is ever changed is checked by who started us.
 */
int storm_flip(char **argv)
{
	struct timespec past[2] = {{1000000000, 0}, {1000000000, 0}};
	long end, changed = 0;
	pthread_t thread;

	if (!argv[0] || !argv[1] || !argv[2] || strlen(argv[0]) != strlen(argv[1]) ||
	    strlen(argv[0]) >= sizeof flipping)
		wrong("two names of the same length are needed");
	flip_names = argv;
	memcpy(flipping, argv[0], strlen(argv[0]) + 1);
	if (pthread_create(&thread, NULL, flip, NULL) != 0)
		wrong("thread");
	end = now_ms() + strtol(argv[2], NULL, 10);
	while (now_ms() < end) {
		int fd = open(flipping, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

		if (fd >= 0) {
			changed += write(fd, "changed", 7) == 7;
			fchmod(fd, 0640);
			close(fd);
		}
		chmod(flipping, 0611);
		attempt(truncate(flipping, 3));
		utimensat(AT_FDCWD, flipping, past, 0);
		setxattr(flipping, "user.flip", "x", 1, 0);
		attempt(link(flipping, "flip-link"));
		unlink("flip-link");
		rename(flipping, "flip-moved");
		rename("flip-moved", argv[0]);
		unlink(flipping);
		mkdir(flipping, 0700);
		rmdir(flipping);
		attempt(symlink("x", flipping));
		unlink(flipping);
		mknod(flipping, S_IFREG | 0600, 0);
	}
	atomic_store(&stop_flipping, true);
	pthread_join(thread, NULL);
	printf("%ld\n", changed);
	unlink(argv[0]);
	return changed > 0 ? 0 : 3;
}
