#include "sys/birth_time.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h> /* musl has no statx() of its own */
#include <sys/syscall.h>
#include <unistd.h>

int sb_sys_birth(int fd, struct timespec *out)
{
	struct statx info;

	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_BTIME, &info) != 0)
		return -errno;
	if (!(info.stx_mask & STATX_BTIME))
		return -ENODATA;
	out->tv_sec = info.stx_btime.tv_sec;
	out->tv_nsec = info.stx_btime.tv_nsec;
	return 0;
}
