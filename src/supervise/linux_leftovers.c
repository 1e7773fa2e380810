#include "base/auto.h"
#include "supervise/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervise/sysv.h"
#include "sys/share.h"
#include "sys/directory.h"

#define TRIES 8 /* for a name that nobody has */

/* Of all processes of the supervisor. */
struct shared {
	pid_t guard; /* of the performer's making, a child of the asker's */
	struct {     /* the command's own process writes it, while it is still sandbash */
		char path[PATH_MAX];
		dev_t device;
		ino_t inode; /* 0: not known yet */
		bool there;
	} temp;
};

static struct shared *shared;

bool sb_leftovers_begin(void)
{
	shared = sb_sys_share(sizeof *shared);
	return shared && sb_sysv_begin();
}

static void remove_temp(void)
{
	SB_AUTO_FD int directory = -1;
	struct stat info;

	if (!__atomic_load_n(&shared->temp.there, __ATOMIC_ACQUIRE))
		return;
	if (!__atomic_load_n(&shared->temp.inode, __ATOMIC_ACQUIRE)) {
		rmdir(shared->temp.path); /* nobody has used it */
		return;
	}
	directory = open(shared->temp.path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory < 0)
		return;
	/* the command could have put another there, and moved its own elsewhere */
	if (fstat(directory, &info) == 0 && info.st_dev == shared->temp.device &&
	    info.st_ino == shared->temp.inode && sb_sys_sweep(directory) == 0)
		rmdir(shared->temp.path);
}

static void remove_all(void)
{
	sb_sysv_end();
	remove_temp();
}

/* In a process of its own: until nobody has the other end of the pipe. */
static _Noreturn void guard(int end, int ready)
{
	char byte = 0;

	if (setsid() < 0 || dup2(end, 0) < 0 || write(ready, &byte, 1) != 1 ||
	    syscall(SYS_close_range, 1, ~0u, 0) != 0)
		_exit(1);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	remove_all();
	_exit(0);
}

bool sb_leftovers_guard(void)
{
	int ends[2], ready[2];
	ssize_t got;
	pid_t pid;
	char byte;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	if (pipe2(ready, O_CLOEXEC) != 0) {
		close(ends[0]);
		close(ends[1]);
		return false;
	}
	pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		guard(ends[0], ready[1]);
	close(ends[0]);
	close(ready[1]);
	do
		got = pid > 0 ? read(ready[0], &byte, 1) : 0;
	while (got < 0 && errno == EINTR);
	close(ready[0]);
	if (got == 1)
		shared->guard = pid;
	else
		close(ends[1]);
	return got == 1; /* the other end is open as long as we live */
}

const char *sb_leftovers_make_temp(const char *base)
{
	char *path = shared ? shared->temp.path : NULL;
	struct stat info;
	uint32_t number;

	for (int i = 0; path && i < TRIES; i++) {
		if (getrandom(&number, sizeof number, 0) != sizeof number ||
		    snprintf(path, PATH_MAX, "%s/sandbash-%08x", base, number) >= PATH_MAX)
			return NULL;
		/* said before it is there: we may be killed at any moment, also in between */
		__atomic_store_n(&shared->temp.there, true, __ATOMIC_RELEASE);
		if (mkdir(path, S_IRWXU) == 0 && lstat(path, &info) == 0) {
			shared->temp.device = info.st_dev;
			__atomic_store_n(&shared->temp.inode, info.st_ino, __ATOMIC_RELEASE);
			return path;
		}
		__atomic_store_n(&shared->temp.there, false, __ATOMIC_RELEASE);
		if (errno != EEXIST)
			return NULL;
	}
	return NULL;
}

void sb_leftovers_remove(void)
{
	int status;
	pid_t ended;

	if (shared->guard <= 0)
		return;
	while ((ended = waitpid(shared->guard, &status, __WALL)) < 0 && errno == EINTR)
		;
	if (ended != shared->guard || status != 0)
		remove_all();
}
