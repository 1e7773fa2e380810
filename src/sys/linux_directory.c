#include "sys/directory.h"

#include <errno.h>
#include <unistd.h>

const struct dirent64 *sb_sys_dir_next(struct sb_sys_dir *dir)
{
	const struct dirent64 *entry;

	if (dir->at == dir->end) {
		ssize_t got = getdents64(dir->fd, (void *)dir->entries, sizeof dir->entries);

		dir->error = got < 0 ? errno : 0;
		dir->at = 0;
		dir->end = got > 0 ? (size_t)got : 0;
	}
	if (dir->at == dir->end)
		return NULL;
	entry = (const struct dirent64 *)(dir->entries + dir->at);
	dir->at += entry->d_reclen;
	return entry;
}

void sb_sys_dir_close(struct sb_sys_dir *dir)
{
	close(dir->fd);
	dir->fd = -1;
}
