/*
 * Directories, names and times of files, as the headers of this room have them.
 *
 * What Linux does in one call that cannot be raced is done in steps here.  Nothing is performed for a confined
 * program on macOS, so these only look.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/beneath.h"
#include "sys/directory.h"
#include "sys/process.h"

/* --- directory.h: dir->entries holds the stream --------------------------------------------------- */

static DIR **stream_of(struct sb_sys_dir *dir)
{
	return (DIR **)(void *)dir->entries;
}

/* The stream is on a copy of the descriptor, which stays the caller's, and is closed at the end. */
const struct dirent64 *sb_sys_dir_next(struct sb_sys_dir *dir)
{
	const struct dirent64 *entry;
	int copy;

	if (!*stream_of(dir)) {
		copy = dir->end ? -1 : fcntl(dir->fd, F_DUPFD_CLOEXEC, 0);
		if (copy < 0)
			return NULL;
		*stream_of(dir) = fdopendir(copy);
		if (!*stream_of(dir)) {
			dir->error = errno;
			close(copy);
			return NULL;
		}
	}
	errno = 0;
	entry = readdir(*stream_of(dir));
	if (entry)
		return entry;
	dir->error = errno;
	dir->end = 1;
	closedir(*stream_of(dir));
	*stream_of(dir) = NULL;
	return NULL;
}

void sb_sys_dir_close(struct sb_sys_dir *dir)
{
	if (*stream_of(dir))
		closedir(*stream_of(dir));
	*stream_of(dir) = NULL;
	close(dir->fd);
	dir->fd = -1;
}

/* --- beneath.h ----------------------------------------------------------------------------------- */

/* Only Linux resolves a path within bounds in one call, and whoever needs that has another way. */
int sb_sys_openat2(int directory, const char *path, uint64_t flags, uint64_t resolve)
{
	(void)directory;
	(void)path;
	(void)flags;
	(void)resolve;
	return -ENOSYS;
}

static int look(int directory, const char *name, int flags, struct stat *out)
{
	int status = *name ? fstatat(directory, name, out, flags) : fstat(directory, out);

	return status == 0 ? 0 : -errno;
}

int sb_sys_look(int directory, const char *name, struct sb_sys_file *out)
{
	struct stat info;
	int status = look(directory, name, AT_SYMLINK_NOFOLLOW, &info);

	if (status != 0)
		return status;
	*out = (struct sb_sys_file){
		.mode = info.st_mode,
		.uid = info.st_uid,
		.gid = info.st_gid,
		.links = info.st_nlink,
		.bytes = (uint64_t)info.st_size,
		.device = (uint64_t)info.st_dev,
		.inode = info.st_ino,
		.mount = (uint64_t)info.st_dev,
		.modified = info.st_mtim,
		.accessed = info.st_atim,
		.changed = info.st_ctim,
		.born = info.st_birthtimespec,
	};
	return 0;
}

int sb_sys_identify(int directory, const char *name, struct sb_sys_identity *out)
{
	struct stat info;
	int status = look(directory, name, 0, &info);

	if (status == 0)
		*out = (struct sb_sys_identity){.device = (uint64_t)info.st_dev,
						.inode = info.st_ino};
	return status;
}

int sb_sys_rename(int from_directory, const char *from, int to_directory, const char *to,
		  unsigned flags)
{
	if (flags & ~RENAME_NOREPLACE)
		return -EINVAL;
	return renameatx_np(from_directory, from, to_directory, to, flags ? RENAME_EXCL : 0)
		       ? -errno
		       : 0;
}

/* --- about a directory --- */

bool sb_sys_folds(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
	       pathconf(path, _PC_CASE_SENSITIVE) != 1; /* one that does not say may */
}

/* --- process.h ------------------------------------------------------------------------------------- */

int sb_sys_open_path(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW_ANY);

	return fd < 0 ? -errno : fd;
}

bool sb_sys_is_plain_path(const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) && strcmp(real, path) == 0;
}
