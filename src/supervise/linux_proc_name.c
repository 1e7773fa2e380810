#include "supervise/proc_name.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "sys/beneath.h"

static char *put_text(char *out, const char *text)
{
	while (*text)
		*out++ = *text++;
	return out;
}

static char *put_number(char *out, int number)
{
	char digits[12];
	unsigned left = (unsigned)number;
	int count = 0;

	if (number < 0) {
		*out++ = '-';
		left = -left;
	}
	do
		digits[count++] = (char)('0' + left % 10);
	while (left /= 10);
	while (count)
		*out++ = digits[--count];
	return out;
}

const char *sb_proc_self_fd(char out[SB_PROC_NAME], int number)
{
	*put_number(put_text(out, "self/fd/"), number) = '\0';
	return out;
}

static const char *of_number(char out[SB_PROC_NAME], int thread)
{
	*put_number(out, thread) = '\0';
	return out;
}

const char *sb_proc_cwd(char out[SB_PROC_NAME], int thread)
{
	*put_text(put_number(out, thread), "/cwd") = '\0';
	return out;
}

const char *sb_proc_fd(char out[SB_PROC_NAME], int thread, int number)
{
	*put_number(put_text(put_number(out, thread), "/fd/"), number) = '\0';
	return out;
}

int sb_proc_named_fd(const char *path)
{
	static const char prefix[] = "/proc/self/fd/";
	int number = 0;

	if (strncmp(path, prefix, sizeof prefix - 1) != 0)
		return -1;
	path += sizeof prefix - 1;
	/* as the kernel takes it: no sign, no zero in front */
	for (int i = 0; *path; i++, path++) {
		if (*path < '0' || *path > '9' || i > 7 || (i && !number))
			return -1;
		number = number * 10 + (*path - '0');
	}
	return path[-1] == '/' ? -1 : number;
}

/* --- what a descriptor is called ------------------------------------------------------------------ */

static int own_fds = -1;         /* this process's directory of descriptors in /proc */
static bool callers_have_procfs; /* ... as it is called: nobody who is held mounts anything */

bool sb_is_procfs(int fd)
{
	struct statfs info;

	return fstatfs(fd, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

int sb_descriptor_paths_begin(int proc)
{
	SB_AUTO_FD int named = sb_sys_openat2(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY,
					      RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);

	callers_have_procfs = named >= 0 && sb_is_procfs(named);
	own_fds = openat(proc, "self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return own_fds < 0 ? -errno : 0;
}

bool sb_callers_have_procfs(void)
{
	return callers_have_procfs;
}

int sb_descriptor_path(int proc, int fd, char *out, size_t size)
{
	char name[SB_PROC_NAME];
	ssize_t length;

	if (own_fds >= 0)
		length = readlinkat(own_fds, of_number(name, fd), out, size - 1);
	else
		length = readlinkat(proc, sb_proc_self_fd(name, fd), out, size - 1);
	if (length < 0)
		return -errno;
	out[length] = '\0';
	if ((size_t)length >= size - 1)
		return -ENAMETOOLONG;
	return out[0] == '/' ? 0 : -ENODATA;
}
