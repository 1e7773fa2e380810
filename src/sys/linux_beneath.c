#include "sys/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/stat.h> /* musl has no statx() of its own */
#include <sys/statvfs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

int sb_sys_openat2(int directory, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = resolve};
	long fd = syscall(SYS_openat2, directory, path, &how, sizeof how);

	return fd < 0 ? -errno : (int)fd;
}

static struct timespec when(const struct statx_timestamp *stamp)
{
	return (struct timespec){.tv_sec = stamp->tv_sec, .tv_nsec = stamp->tv_nsec};
}

static uint64_t device_of(dev_t device)
{
	return (uint64_t)major(device) << 32 | minor(device);
}

/* Some containers' profiles are older than statx(), and answer as if the kernel were. */
static int look_by_stat(int directory, const char *name, struct sb_sys_file *out)
{
	struct stat info;

	if (fstatat(directory, name, &info,
		    AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0)
		return -errno;
	*out = (struct sb_sys_file){
		.mode = info.st_mode,
		.uid = info.st_uid,
		.gid = info.st_gid,
		.links = info.st_nlink,
		.bytes = (uint64_t)info.st_size,
		.device = device_of(info.st_dev),
		.inode = info.st_ino,
		.mount = device_of(info.st_dev),
		.modified = info.st_mtim,
		.accessed = info.st_atim,
		.changed = info.st_ctim,
	};
	return 0;
}

static int identify_by_stat(int directory, const char *name, struct sb_sys_identity *out)
{
	struct stat info;

	if (fstatat(directory, name, &info, AT_EMPTY_PATH | AT_NO_AUTOMOUNT) != 0)
		return -errno;
	*out = (struct sb_sys_identity){.device = device_of(info.st_dev), .inode = info.st_ino};
	return 0;
}

int sb_sys_look(int directory, const char *name, struct sb_sys_file *out)
{
	unsigned wanted = STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID;
	struct statx info;

	if (syscall(SYS_statx, directory, name,
		    AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, wanted, &info) != 0)
		return errno == ENOSYS ? look_by_stat(directory, name, out) : -errno;
	*out = (struct sb_sys_file){
		.mode = info.stx_mode,
		.uid = info.stx_uid,
		.gid = info.stx_gid,
		.links = info.stx_nlink,
		.bytes = info.stx_size,
		.device = (uint64_t)info.stx_dev_major << 32 | info.stx_dev_minor,
		.inode = info.stx_ino,
		.modified = when(&info.stx_mtime),
		.accessed = when(&info.stx_atime),
		.changed = when(&info.stx_ctime),
	};
	if (info.stx_mask & STATX_BTIME)
		out->born = when(&info.stx_btime);
	out->mount = info.stx_mask & STATX_MNT_ID ? info.stx_mnt_id : out->device;
	return 0;
}

int sb_sys_identify(int directory, const char *name, struct sb_sys_identity *out)
{
	struct statx info;

	if (syscall(SYS_statx, directory, name,
		    AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID,
		    &info) != 0)
		return errno == ENOSYS ? identify_by_stat(directory, name, out) : -errno;
	out->device = (uint64_t)info.stx_dev_major << 32 | info.stx_dev_minor;
	out->inode = info.stx_ino;
	out->mount = info.stx_mask & STATX_MNT_ID ? info.stx_mnt_id : 0;
	return 0;
}

bool sb_sys_same_file(int fd, int other)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

bool sb_sys_is_frozen(int fd)
{
	struct statvfs system;
	struct statx info;

	return fstatvfs(fd, &system) != 0 || (system.f_flag & ST_RDONLY) ||
	       syscall(SYS_statx, fd, "", AT_EMPTY_PATH, 0, &info) != 0 ||
	       (info.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND));
}

int sb_sys_rename(int from_directory, const char *from, int to_directory, const char *to,
		  unsigned flags)
{
	return syscall(SYS_renameat2, from_directory, from, to_directory, to, flags) ? -errno : 0;
}

bool sb_sys_is_procfs(int fd)
{
	struct statfs info;

	return fstatfs(fd, &info) != 0 || info.f_type == PROC_SUPER_MAGIC;
}
