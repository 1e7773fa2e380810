#include "sys/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

int sb_sys_dir_open(struct sb_sys_dir *dir, const char *path)
{
	/* not open(), in which musl sets O_CLOEXEC by a second call */
	int fd = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	sb_sys_dir_init(dir, fd);
	return fd;
}

void sb_sys_dir_init(struct sb_sys_dir *dir, int fd)
{
	dir->fd = fd;
	dir->error = 0;
	dir->at = dir->end = 0;
	memset(dir->entries, 0, sizeof(DIR *)); /* that of a system without getdents64() */
}
