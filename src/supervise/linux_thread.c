#include "supervise/proc_name.h"
#include "supervise/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "sys/notify.h"

#define STATUS_SIZE 4096

/* A small file of the thread's directory, whole and ended with NUL. */
static bool read_small(int proc, pid_t thread, const char *file, char *out, size_t size)
{
	char name[SB_PROC_NAME];
	ssize_t length;
	SB_AUTO_FD int fd = -1;

	snprintf(name, sizeof name, "%d/%s", thread, file);
	fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, out, size - 1);
	if (length <= 0)
		return false;
	out[length] = '\0';
	return true;
}

long sb_thread_field(int proc, pid_t thread, const char *field, int base)
{
	char text[STATUS_SIZE];
	const char *found =
		read_small(proc, thread, "status", text, sizeof text) ? strstr(text, field) : NULL;

	return found ? strtol(found + strlen(field), NULL, base) : -1;
}

/* What the kernel tells of a descriptor. */
static bool descriptor_field(int proc, pid_t thread, int number, const char *field, int base,
			     long *out)
{
	char name[SB_PROC_NAME], text[512];
	const char *found;

	snprintf(name, sizeof name, "fdinfo/%d", number);
	found = read_small(proc, thread, name, text, sizeof text) ? strstr(text, field) : NULL;
	if (found)
		*out = strtol(found + strlen(field), NULL, base);
	return found;
}

/* The link to an open file has the rights that it was opened with: what O_PATH opens has none. */
bool sb_thread_has_open(int proc, pid_t thread, int number)
{
	char name[SB_PROC_NAME];
	struct stat link;
	long flags = O_PATH;

	sb_proc_fd(name, thread, number);
	if (fstatat(proc, name, &link, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (link.st_mode & (S_IRUSR | S_IWUSR)))
		return true;
	/* neither has what was opened for ioctl() alone: open(2) */
	return descriptor_field(proc, thread, number, "flags:\t", 8, &flags) && !(flags & O_PATH);
}

/* proc(5): the directory of a process's threads has a link for each, and two of its own. */
bool sb_thread_is_alone(int proc, pid_t thread)
{
	char name[SB_PROC_NAME];
	struct stat info;

	snprintf(name, sizeof name, "%d/task", thread);
	return fstatat(proc, name, &info, 0) == 0 && info.st_nlink == 3;
}

/* One that is alone has the number of its process, execve() from another thread included (execve(2)). */
long sb_thread_process(int proc, pid_t thread)
{
	return sb_thread_is_alone(proc, thread) ? thread
						: sb_thread_field(proc, thread, "\nTgid:\t", 10);
}

pid_t sb_thread_pidfd(int proc, pid_t thread, int number)
{
	long process = 0;

	descriptor_field(proc, thread, number, "\nPid:\t", 10, &process);
	return (pid_t)process;
}

/* Is that what the thread has at number?  It need not share its descriptors with its process. */
static bool is_at(int proc, pid_t thread, int number, int taken)
{
	char name[SB_PROC_NAME];
	struct stat has, got;

	sb_proc_fd(name, thread, number);
	return fstatat(proc, name, &has, 0) == 0 && fstat(taken, &got) == 0 &&
	       has.st_dev == got.st_dev && has.st_ino == got.st_ino;
}

int sb_thread_take_descriptor(int proc, pid_t thread, int number)
{
	int taken = sb_sys_take_descriptor(thread, number);

	if (taken != -EINVAL && taken != -ENOENT)
		return taken;
	taken = sb_sys_take_descriptor((pid_t)sb_thread_process(proc, thread), number);
	if (taken >= 0 && !is_at(proc, thread, number, taken)) {
		close(taken);
		return -EBADF;
	}
	return taken;
}

static uint64_t signal_set(const char *status, const char *field)
{
	const char *found = strstr(status, field);

	return found ? strtoull(found + strlen(field), NULL, 16) : 0;
}

/* The signals that wait for it, and that it neither blocks nor ignores; uncaught: nor handles. */
static uint64_t waiting_signals(int proc, pid_t thread, bool uncaught)
{
	char text[STATUS_SIZE];
	uint64_t pending;

	if (!read_small(proc, thread, "status", text, sizeof text))
		return 0;
	pending = signal_set(text, "\nSigPnd:\t") | signal_set(text, "\nShdPnd:\t");
	if (uncaught)
		pending &= ~signal_set(text, "\nSigCgt:\t");
	return pending & ~signal_set(text, "\nSigBlk:\t") & ~signal_set(text, "\nSigIgn:\t");
}

bool sb_thread_has_signal(int proc, pid_t thread)
{
	return waiting_signals(proc, thread, false);
}

bool sb_thread_is_ending(int proc, pid_t thread)
{
	static const int others[] = {SIGCHLD, SIGCONT, SIGURG,  SIGWINCH,
				     SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
	uint64_t ending = ~UINT64_C(0);

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		ending &= ~(UINT64_C(1) << (others[i] - 1));
	return waiting_signals(proc, thread, true) & ending;
}

bool sb_thread_is_table_full(int proc, pid_t thread)
{
	struct rlimit limit;
	char name[SB_PROC_NAME], target[8];
	size_t count = 0;
	SB_AUTO_DIR DIR *dir = NULL;
	int fd;

	if (prlimit(thread, RLIMIT_NOFILE, NULL, &limit) != 0 || limit.rlim_cur > INT_MAX)
		return false;
	if (limit.rlim_cur == 0)
		return true;
	sb_proc_fd(name, thread, (int)limit.rlim_cur - 1);
	if (readlinkat(proc, name, target, sizeof target) < 0)
		return false; /* the last one is free */
	snprintf(name, sizeof name, "%d/fd", thread);
	fd = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	for (const struct dirent *entry; dir && (entry = readdir(dir));)
		count += entry->d_name[0] != '.' &&
			 strtoul(entry->d_name, NULL, 10) < limit.rlim_cur;
	return count >= limit.rlim_cur;
}

/* Field 22 of its stat, after the name, which may hold anything. */
uint64_t sb_process_start(int proc, pid_t process)
{
	char text[1024];
	const char *at = read_small(proc, process, "stat", text, sizeof text) ? strrchr(text, ')')
									      : NULL;

	for (int field = 2; at && field < 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

void sb_process_program(int proc, pid_t process, char *out, size_t size)
{
	char name[SB_PROC_NAME];
	ssize_t length;

	snprintf(name, sizeof name, "%d/exe", process);
	length = readlinkat(proc, name, out, size - 1);
	out[length > 0 ? length : 0] = '\0';
}
