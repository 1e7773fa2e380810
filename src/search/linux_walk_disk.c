/*
 * The disk as a backend of a search.
 *
 * SECURITY: nothing outside the root is opened, whatever is renamed or linked meanwhile.
 *
 * Danger: between listing a name and opening it, a directory can become a link that leads out,
 * a file a FIFO that blocks or a device that acts when opened.
 * So directories are opened from the root with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS (openat2(2),
 * Linux 5.6), or name by name with O_NOFOLLOW where that is missing; files by their name in the
 * directory, with O_PATH, which opens nothing (open(2)), then looked at, and only a regular
 * file is opened, through /proc/self/fd: it is the one that was looked at.
 * Price: two calls more for every file, about 2 us.
 * Held by: tests/unit/test_walk.c, tests/unit/test_files_attacks.c
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <dirent.h>

#include "base/auto.h"
#include "base/words.h"
#include "search/search.h"
#include "sys/beneath.h"

enum {
	LIST_BYTES = 32 * 1024, /* about a thousand names a call */
	DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

static atomic_bool no_openat2; /* on this kernel, or behind this filter */

static int open_beneath(int root, const char *path, int flags, bool one_mount)
{
	struct open_how how = {
		.flags = (uint64_t)flags,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   (one_mount ? RESOLVE_NO_XDEV : 0),
	};
	long fd = -1;

	if (atomic_load_explicit(&no_openat2, memory_order_relaxed))
		return -ENOSYS;
	/* EAGAIN: a rename elsewhere made the kernel unsure; only ".." can cause it (openat2(2)). */
	for (int tries = 0; tries < 8; tries++) {
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	if (fd < 0 && errno == ENOSYS)
		atomic_store_explicit(&no_openat2, true, memory_order_relaxed);
	return fd < 0 ? -errno : (int)fd;
}

static bool same_mount(int a, int b)
{
	struct stat one, other;

	/* Bind mounts of the same filesystem pass: without openat2() they cannot be told. */
	return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev;
}

/* Name by name: where openat2() is missing, and for paths longer than the kernel takes. */
static int open_by_steps(int root, const char *path, bool one_mount)
{
	SB_AUTO_FD int at = openat(root, ".", DIRECTORY);

	if (at < 0)
		return -errno;
	while (*path) {
		size_t length = strcspn(path, "/");
		char name[NAME_MAX + 1];
		int next;

		if (length > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, length);
		name[length] = '\0';
		if (!length || sb_is_dots(name))
			return -EINVAL;
		next = openat(at, name, DIRECTORY);
		if (next < 0)
			return -errno;
		if (one_mount && !same_mount(at, next)) {
			close(next);
			return -EXDEV;
		}
		close(at);
		at = next;
		path += length + (path[length] == '/');
	}
	return sb_take_fd(&at);
}

static int open_directory(void *context, const char *path, sb_search_handle *out)
{
	const struct sb_search_disk *disk = context;
	int fd = open_beneath(disk->root, *path ? path : ".", DIRECTORY, disk->one_mount);

	if (fd == -ENOSYS || fd == -ENAMETOOLONG)
		fd = open_by_steps(disk->root, path, disk->one_mount);
	if (fd < 0)
		return fd;
	/* what lies there are no files, and some never end; with one mount it is not met */
	if (!disk->one_mount && sb_sys_is_procfs(fd)) {
		close(fd);
		return -EXDEV;
	}
	*out = fd;
	return 0;
}

static enum sb_search_kind kind_of(int directory, const struct dirent64 *entry)
{
	struct stat info;
	unsigned type = entry->d_type;

	/* Some filesystems do not say (getdents(2)). */
	if (type == DT_UNKNOWN &&
	    fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
		type = IFTODT(info.st_mode);
	switch (type) {
	case DT_REG:
		return SB_SEARCH_FILE;
	case DT_DIR:
		return SB_SEARCH_DIRECTORY;
	case DT_LNK:
		return SB_SEARCH_LINK;
	default:
		return SB_SEARCH_OTHER;
	}
}

static int list(void *context, sb_search_handle directory, sb_search_listed listed, void *to)
{
	_Alignas(struct dirent64) char entries[LIST_BYTES];
	int fd = (int)directory, status;
	ssize_t got;

	(void)context;
	while ((got = getdents64(fd, (void *)entries, sizeof(entries))) > 0) {
		for (ssize_t at = 0; at < got;) {
			const struct dirent64 *entry = (const struct dirent64 *)(entries + at);

			at += entry->d_reclen;
			if (sb_is_dots(entry->d_name))
				continue;
			status = listed(to, entry->d_name, kind_of(fd, entry));
			if (status)
				return status;
		}
	}
	return got < 0 ? -errno : 0;
}

static void close_handle(void *context, sb_search_handle handle)
{
	(void)context;
	close((int)handle);
}

/* What the name means, held and not opened.  A file can be mounted on a file. */
static int find_file(const struct sb_search_disk *disk, int directory, const char *name)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	int fd = disk->one_mount ? open_beneath(directory, name, flags, true) : -ENOSYS;

	if (fd != -ENOSYS)
		return fd;
	fd = openat(directory, name, flags);
	if (fd < 0)
		return -errno;
	if (disk->one_mount && !same_mount(directory, fd)) {
		close(fd);
		return -EXDEV;
	}
	return fd;
}

/* 0, or why this is nothing to read. */
static int check_file(const struct sb_search_disk *disk, int object)
{
	struct stat info;

	if (fstat(object, &info) < 0)
		return -errno;
	if (S_ISLNK(info.st_mode))
		return -ELOOP;
	if (!S_ISREG(info.st_mode))
		return -EINVAL;
	if (disk->one_link && info.st_nlink > 1)
		return -EMLINK;
	/* /proc is on no block device */
	if (!disk->one_mount && major(info.st_dev) == 0 && sb_sys_is_procfs(object))
		return -EXDEV;
	return 0;
}

static int open_file(void *context, sb_search_handle directory, const char *name,
		     sb_search_handle *out)
{
	const struct sb_search_disk *disk = context;
	SB_AUTO_FD int object = find_file(disk, (int)directory, name);
	char path[32];
	int status, fd;

	if (object < 0)
		return object;
	status = check_file(disk, object);
	if (status < 0)
		return status;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", object);
	/* O_NONBLOCK: somebody may hold a lease on it (fcntl(2), F_SETLEASE) */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*out = fd;
	return 0;
}

static ssize_t read_file(void *context, sb_search_handle file, void *into, size_t length)
{
	ssize_t got;

	(void)context;
	do {
		got = read((int)file, into, length);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

const struct sb_search_backend sb_search_disk_backend = {
	.open_directory = open_directory,
	.list = list,
	.close_directory = close_handle,
	.open_file = open_file,
	.read = read_file,
	.close_file = close_handle,
};
