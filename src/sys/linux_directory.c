#include "sys/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
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
	if (dir->fd >= 0)
		close(dir->fd);
	dir->fd = -1;
}

/* --- names that differ in case --------------------------------------------------------------------- */

#ifndef FS_CASEFOLD_FL
#define FS_CASEFOLD_FL 0x40000000
#endif

/* f_type of statfs(2), and of file systems that are in no header. */
static const uint32_t folding[] = {
	0x4d44 /* vfat */,     0x2011bab0 /* exfat */, 0x4244 /* hfs */,
	0x482b /* hfsplus */,  0x5346544e /* ntfs */,  0x7366746e /* ntfs3 */,
	0x01021997 /* 9p */,   0x517b /* smb */,       0xff534d42 /* cifs */,
	0xfe534d42 /* smb2 */, 0x6969 /* nfs */,       0x65735546 /* fuse */,
	0x786f4256 /* vbox */, 0x9660 /* iso9660 */,   0x53464846 /* wslfs */,
};

bool sb_sys_folds(const char *path)
{
	struct statfs info;
	long flags = 0;
	int fd;

	if (statfs(path, &info) != 0)
		return false;
	for (size_t i = 0; i < sizeof folding / sizeof folding[0]; i++)
		if ((uint32_t)info.f_type == folding[i])
			return true;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0)
		flags = 0;
	close(fd);
	return flags & FS_CASEFOLD_FL;
}

/* --- changes ---------------------------------------------------------------------------------------- */

int sb_sys_watch(const char *directory)
{
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (watch < 0)
		return -errno;
	if (inotify_add_watch(watch, directory,
			      IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR) < 0) {
		int error = errno;

		close(watch);
		return -error;
	}
	return watch;
}

void sb_sys_watch_clear(int watch)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	while (read(watch, events, sizeof events) > 0)
		;
}

/* --- removing all ----------------------------------------------------------------------------------- */

#define MAX_DEPTH 65536 /* trees deeper than PATH_MAX are made by accident often enough */

struct level {
	dev_t device;
	ino_t inode;
};

static bool is_at(int directory, const struct level *level)
{
	struct stat info;

	return fstat(directory, &info) == 0 && info.st_dev == level->device &&
	       info.st_ino == level->inode;
}

/* For changes, whatever its mode was; its owner may do so.  A negative errno. */
static int enter(int directory, const char *name, struct level *out)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int below = openat(directory, name, flags);
	struct stat info;

	if (below < 0 && errno == EACCES &&
	    fchmodat(directory, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0)
		below = openat(directory, name, flags);
	if (below < 0)
		return -errno;
	fstat(below, &info); /* of what is open it cannot fail */
	if ((info.st_mode & S_IRWXU) != S_IRWXU)
		fchmod(below, S_IRWXU);
	*out = (struct level){info.st_dev, info.st_ino};
	return below;
}

/*
 * Remove what can be removed at once; stops at a directory that holds something, and enters it.  A descriptor,
 * 0 when nothing is left, or a negative errno.
 */
static int clear(int directory, struct level *out_below)
{
	struct sb_sys_dir names;
	const struct dirent64 *entry;

	if (lseek(directory, 0, SEEK_SET) != 0)
		return -errno;
	sb_sys_dir_init(&names, directory);
	while ((entry = sb_sys_dir_next(&names))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(directory, entry->d_name, 0) == 0 ||
		    unlinkat(directory, entry->d_name, AT_REMOVEDIR) == 0)
			continue;
		if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES)
			return -errno;
		return enter(directory, entry->d_name, out_below);
	}
	return -names.error;
}

/* The directory at levels[depth], by steps from the one at levels[0]. */
static int sweep(int directory, struct level *levels)
{
	struct level left = {0};
	size_t depth = 0;

	for (;;) {
		struct level below = {0};
		int next = clear(directory, &below);

		if (next < 0 || (next == 0 && depth == 0))
			return close(directory), next;
		if (next > 0 && (++depth == MAX_DEPTH || memcmp(&below, &left, sizeof left) == 0))
			return close(next), close(directory), -ENOTEMPTY;
		if (next > 0) {
			levels[depth] = below;
		} else {
			left = levels[depth--];
			next = openat(directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		}
		close(directory);
		if (next < 0 || !is_at(next, &levels[depth]))
			return next < 0 ? -errno : (close(next), -ESTALE);
		directory = next;
	}
}

/* Of a directory that nobody may search no name leads to its mode, not even ".". */
static bool open_up(int directory)
{
	char name[32];

	snprintf(name, sizeof name, "/proc/self/fd/%d", directory);
	return chmod(name, S_IRWXU) == 0;
}

int sb_sys_sweep(int directory)
{
	const size_t size = MAX_DEPTH * sizeof(struct level);
	struct level *levels = mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int status = -ENOMEM;
	int top;

	if (levels == MAP_FAILED)
		return status;
	top = enter(directory, ".", &levels[0]);
	if (top == -EACCES && open_up(directory))
		top = enter(directory, ".", &levels[0]);
	status = top < 0 ? top : sweep(top, levels);
	munmap(levels, size);
	return status;
}
