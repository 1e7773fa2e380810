#include "sys/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

int sb_sys_dir_open(struct sb_sys_dir *dir, const char *path)
{
	sb_sys_dir_begin(dir, AT_FDCWD, path);
	return dir->fd < 0 ? -dir->error : dir->fd;
}

struct sb_sys_dir *sb_sys_dir_begin(struct sb_sys_dir *dir, int directory, const char *path)
{
	/* not open(), in which musl sets O_CLOEXEC by a second call */
	sb_sys_dir_init(dir, openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	dir->error = dir->fd < 0 ? errno : 0;
	return dir;
}

void sb_sys_dir_init(struct sb_sys_dir *dir, int fd)
{
	dir->fd = fd;
	dir->error = 0;
	dir->at = dir->end = 0;
	memset(dir->entries, 0, sizeof(DIR *)); /* that of a system without getdents64() */
}
