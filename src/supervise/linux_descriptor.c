#include "supervise/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/proc_name.h"
#include "sys/beneath.h"

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
		length = readlinkat(own_fds, sb_proc_thread(name, fd), out, size - 1);
	else
		length = readlinkat(proc, sb_proc_self_fd(name, fd), out, size - 1);
	if (length < 0)
		return -errno;
	out[length] = '\0';
	if ((size_t)length >= size - 1)
		return -ENAMETOOLONG;
	return out[0] == '/' ? 0 : -ENODATA;
}
