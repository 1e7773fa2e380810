/*
 * swap.c - a call whose path becomes another one after somebody has looked at it.
 *
 *     swap ACT GOOD BAD SECONDS
 *
 * One thread writes GOOD and BAD into the same memory by turns, without a pause; the other does
 * ACT with a path that lies there, again and again.  So a supervisor may see GOOD, and the kernel
 * takes BAD.  Whether anything came of it is for the caller to see; the exit status is 0 when ACT
 * was done at all, and stdout says how often it worked and how often not.
 *
 *     open       for writing, made if it is not there; five bytes go into it
 *     trunc      the same, emptied at the open
 *     truncate   by path
 *     mkdir, rmdir, unlink, symlink (to "x")
 *     link-from, link-to, rename-from, rename-to
 *                the other name is "own" in the current directory, which is made anew
 *     chmod      to 0777
 *     read-trunc, none-trunc
 *                emptied at the open, which is for reading; for neither reading nor writing (3)
 *     how-trunc, how-none-trunc, how-write, how-path
 *                openat2(): with GOOD its flags are to read, with BAD they are read-trunc's,
 *                none-trunc's, open's; how-path: O_PATH with GOOD, to write with BAD
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char path[4096] __attribute__((aligned(8)));
static const char *words[2];
static volatile bool over;
static struct open_how how;
static volatile uint64_t how_flags[2] = {O_CLOEXEC, O_CLOEXEC}; /* with GOOD, with BAD */

static void *turn(void *unused)
{
	uint64_t both[2] = {0};

	(void)unused;
	if (strlen(words[0]) > 8 || strlen(words[1]) > 8) {
		/* the longer one's end stays behind the shorter one's NUL */
		while (!over)
			for (int i = 0; i < 2; i++) {
				memcpy(path, words[i], strlen(words[i]) + 1);
				__atomic_store_n(&how.flags, how_flags[i], __ATOMIC_RELAXED);
			}
		return NULL;
	}
	/* at one moment: never half of each */
	memcpy(&both[0], words[0], strlen(words[0]));
	memcpy(&both[1], words[1], strlen(words[1]));
	while (!over)
		for (int i = 0; i < 2; i++)
			__atomic_store_n((uint64_t *)path, both[i], __ATOMIC_RELAXED);
	return NULL;
}

static int put(int flags)
{
	int fd = open(path, flags | O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	int status = fd < 0 ? -1 : write(fd, "evil\n", 5) == 5 ? 0 : -1;

	if (fd >= 0)
		close(fd);
	return status;
}

static int put_once(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	if (fd < 0)
		return -1;
	if (write(fd, "evil\n", 5) != 5) {
		close(fd);
		return -1;
	}
	return close(fd);
}

static int do_open(void)
{
	return put(0);
}

static int do_trunc(void)
{
	return put(O_TRUNC);
}

static int do_truncate(void)
{
	return truncate(path, 0);
}

static int do_mkdir(void)
{
	return mkdir(path, 0777);
}

static int do_rmdir(void)
{
	return rmdir(path);
}

static int do_unlink(void)
{
	return unlink(path);
}

static int do_symlink(void)
{
	return symlink("x", path);
}

static int do_chmod(void)
{
	return chmod(path, 0777);
}

static int do_link_from(void)
{
	unlink("own");
	return link(path, "own");
}

static int do_link_to(void)
{
	return put_once("own") < 0 ? -1 : link("own", path);
}

static int do_rename_from(void)
{
	unlink("own");
	return rename(path, "own");
}

static int do_rename_to(void)
{
	return put_once("own") < 0 ? -1 : rename("own", path);
}

static int close_it(long fd)
{
	return fd < 0 ? -1 : close((int)fd);
}

static int do_read_trunc(void)
{
	return close_it(open(path, O_RDONLY | O_TRUNC | O_CLOEXEC));
}

static int do_none_trunc(void)
{
	return close_it(open(path, 3 | O_TRUNC | O_CLOEXEC));
}

static int do_how(void)
{
	long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);

	/* it may have been opened for reading, or for nothing: then this does nothing */
	if (fd >= 0 && (how_flags[1] & O_CREAT) && write((int)fd, "evil\n", 5) < 0)
		errno = 0;
	return close_it(fd);
}

static int do_how_trunc(void)
{
	how_flags[1] = O_RDONLY | O_TRUNC | O_CLOEXEC;
	return do_how();
}

static int do_how_none_trunc(void)
{
	how_flags[1] = 3 | O_TRUNC | O_CLOEXEC;
	return do_how();
}

static int do_how_write(void)
{
	how_flags[1] = O_WRONLY | O_CREAT | O_CLOEXEC;
	return do_how();
}

static int do_how_path(void)
{
	how_flags[0] = O_PATH | O_CLOEXEC;
	return do_how_write();
}

static const struct {
	const char *name;
	int (*act)(void);
} acts[] = {
	{"open", do_open},
	{"trunc", do_trunc},
	{"truncate", do_truncate},
	{"mkdir", do_mkdir},
	{"rmdir", do_rmdir},
	{"unlink", do_unlink},
	{"symlink", do_symlink},
	{"link-from", do_link_from},
	{"link-to", do_link_to},
	{"rename-from", do_rename_from},
	{"rename-to", do_rename_to},
	{"chmod", do_chmod},
	{"read-trunc", do_read_trunc},
	{"none-trunc", do_none_trunc},
	{"how-trunc", do_how_trunc},
	{"how-none-trunc", do_how_none_trunc},
	{"how-write", do_how_write},
	{"how-path", do_how_path},
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	long worked = 0, failed = 0;
	double end;
	pthread_t thread;
	int (*act)(void) = NULL;

	for (size_t i = 0; argc == 5 && i < sizeof acts / sizeof acts[0]; i++)
		if (strcmp(argv[1], acts[i].name) == 0)
			act = acts[i].act;
	if (!act) {
		fprintf(stderr, "usage: swap ACT GOOD BAD SECONDS\n");
		return 2;
	}
	how.flags = how_flags[0];
	words[0] = argv[2];
	words[1] = argv[3];
	memcpy(path, words[0], strlen(words[0]) + 1);
	if (pthread_create(&thread, NULL, turn, NULL) != 0)
		return 2;
	end = now() + strtod(argv[4], NULL);
	while (now() < end)
		for (int i = 0; i < 64; i++) {
			if (act() == 0)
				worked++;
			else
				failed++;
		}
	over = true;
	pthread_join(thread, NULL);
	printf("%ld %ld\n", worked, failed);
	return 0;
}
