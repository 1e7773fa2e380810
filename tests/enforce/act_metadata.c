/* act_metadata.c - modes, owners, times and attributes, by every call that sets them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "act.h"

#define XATTR "user.act"

/* --- metadata ---------------------------------------------------------------------------- */

static const struct timespec long_ago[2] = {{1000000000, 0}, {1000000000, 0}};

struct xattr_args {
	uint64_t value;
	uint32_t size, flags;
};

struct file_attr {
	uint64_t xflags;
	uint32_t extsize, nextents, projid, cowextsize;
};

static int through_proc(const char *path, char *link, size_t size)
{
	int fd = file(path, O_PATH);

	if (fd < 0)
		return -1;
	snprintf(link, size, "/proc/self/fd/%d", fd);
	return 0;
}

static int set_flags(int fd)
{
	int flags;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return -1;
	flags ^= FS_NODUMP_FL;
	return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

static int set_fsxattr(int fd)
{
	struct fsxattr attributes;

	if (ioctl(fd, FS_IOC_FSGETXATTR, &attributes) < 0)
		return -1;
	attributes.fsx_xflags ^= FS_XFLAG_NODUMP;
	return ioctl(fd, FS_IOC_FSSETXATTR, &attributes);
}

/* Forms that name the file. */
static int chmod_path(const char *path)
{
	return zero(syscall(SYS_fchmodat, AT_FDCWD, path, 0604));
}

static int fchmodat2_path(const char *path)
{
	return zero(syscall(NR_FCHMODAT2, AT_FDCWD, path, 0604, AT_SYMLINK_NOFOLLOW));
}

static int chown_path(const char *path)
{
	return chown(path, geteuid(), getegid());
}

static int lchown_path(const char *path)
{
	return lchown(path, geteuid(), getegid());
}

static int fchownat_path(const char *path)
{
	return fchownat(AT_FDCWD, path, geteuid(), getegid(), AT_SYMLINK_NOFOLLOW);
}

static int utime_path(const char *path)
{
	return utime(path, &(struct utimbuf){1000000000, 1000000000});
}

static int utimes_path(const char *path)
{
	return utimes(path, (struct timeval[2]){{1000000000, 0}, {1000000000, 0}});
}

static int utimensat_path(const char *path)
{
	return utimensat(AT_FDCWD, path, long_ago, AT_SYMLINK_NOFOLLOW);
}

/* Needs write permission only, not ownership. */
static int touch_path(const char *path)
{
	return utimensat(AT_FDCWD, path, NULL, 0);
}

static int setxattr_path(const char *path)
{
	return setxattr(path, XATTR, "X", 1, 0);
}

static int lsetxattr_path(const char *path)
{
	return lsetxattr(path, XATTR, "X", 1, 0);
}

static int setxattrat_path(const char *path)
{
	struct xattr_args value = {(uintptr_t) "X", 1, 0};

	return zero(syscall(NR_SETXATTRAT, AT_FDCWD, path, 0, XATTR, &value, sizeof value));
}

static int removexattr_path(const char *path)
{
	return removexattr(path, XATTR);
}

static int lremovexattr_path(const char *path)
{
	return lremovexattr(path, XATTR);
}

static int removexattrat_path(const char *path)
{
	return zero(syscall(NR_REMOVEXATTRAT, AT_FDCWD, path, 0, XATTR));
}

/* The caller by name; another user's number may mean nothing in a user namespace. */
static int acl_path(const char *path)
{
	struct {
		uint32_t version;
		struct {
			uint16_t tag, permission;
			uint32_t id;
		} entries[5];
	} acl = {2,
		 {{1, 6, UINT32_MAX},    /* owner */
		  {2, 4, geteuid()},     /* that user */
		  {4, 4, UINT32_MAX},    /* group */
		  {16, 4, UINT32_MAX},   /* mask */
		  {32, 4, UINT32_MAX}}}; /* others */

	return setxattr(path, "system.posix_acl_access", &acl, sizeof acl, 0);
}

static int file_setattr_path(const char *path)
{
	struct file_attr attributes = {.xflags = FS_XFLAG_NODUMP};

	return zero(syscall(NR_FILE_SETATTR, AT_FDCWD, path, &attributes, sizeof attributes, 0));
}

static int chmod_proc(const char *path)
{
	char link[64];

	return through_proc(path, link, sizeof link) < 0 ? -1 : chmod_path(link);
}

static int setxattr_proc(const char *path)
{
	char link[64];

	return through_proc(path, link, sizeof link) < 0 ? -1 : setxattr_path(link);
}

static int utimensat_proc(const char *path)
{
	char link[64];

	return through_proc(path, link, sizeof link) < 0 ? -1
							 : utimensat(AT_FDCWD, link, long_ago, 0);
}

/* Forms on a descriptor that is open for reading. */
static int fchmod_fd(int fd)
{
	return fchmod(fd, 0604);
}

static int fchown_fd(int fd)
{
	return fchown(fd, geteuid(), getegid());
}

static int futimens_fd(int fd)
{
	return zero(syscall(SYS_utimensat, fd, NULL, long_ago, 0));
}

static int fsetxattr_fd(int fd)
{
	return fsetxattr(fd, XATTR, "X", 1, 0);
}

static int fremovexattr_fd(int fd)
{
	return fremovexattr(fd, XATTR);
}

static int setversion_fd(int fd)
{
	int version = 77;

	return ioctl(fd, FS_IOC_SETVERSION, &version);
}

static int setxattrat_fd(int fd)
{
	struct xattr_args value = {(uintptr_t) "X", 1, 0};

	return zero(syscall(NR_SETXATTRAT, fd, "", AT_EMPTY_PATH, XATTR, &value, sizeof value));
}

static int removexattrat_fd(int fd)
{
	return zero(syscall(NR_REMOVEXATTRAT, fd, "", AT_EMPTY_PATH, XATTR));
}

/* Forms on an O_PATH descriptor. */
static int fchmodat2_empty(int fd)
{
	return zero(syscall(NR_FCHMODAT2, fd, "", 0604, AT_EMPTY_PATH));
}

static int fchownat_empty(int fd)
{
	return fchownat(fd, "", geteuid(), getegid(), AT_EMPTY_PATH);
}

static int utimensat_empty(int fd)
{
	return zero(syscall(SYS_utimensat, fd, "", long_ago, AT_EMPTY_PATH));
}

static int file_setattr_empty(int fd)
{
	struct file_attr attributes = {.xflags = FS_XFLAG_NODUMP};

	return zero(
		syscall(NR_FILE_SETATTR, fd, "", &attributes, sizeof attributes, AT_EMPTY_PATH));
}

static const struct metadata {
	const char *name;
	int (*path)(const char *);
	int (*fd)(int);
	int flags; /* how the descriptor is opened */
} metadata[] = {
	{"chmod", chmod_path, NULL, 0},
	{"fchmodat2", fchmodat2_path, NULL, 0},
	{"chown", chown_path, NULL, 0},
	{"lchown", lchown_path, NULL, 0},
	{"fchownat", fchownat_path, NULL, 0},
	{"utime", utime_path, NULL, 0},
	{"utimes", utimes_path, NULL, 0},
	{"utimensat", utimensat_path, NULL, 0},
	{"touch", touch_path, NULL, 0},
	{"setxattr", setxattr_path, NULL, 0},
	{"lsetxattr", lsetxattr_path, NULL, 0},
	{"setxattrat", setxattrat_path, NULL, 0},
	{"removexattr", removexattr_path, NULL, 0},
	{"lremovexattr", lremovexattr_path, NULL, 0},
	{"removexattrat", removexattrat_path, NULL, 0},
	{"acl", acl_path, NULL, 0},
	{"file_setattr", file_setattr_path, NULL, 0},
	{"chmod-proc", chmod_proc, NULL, 0},
	{"setxattr-proc", setxattr_proc, NULL, 0},
	{"utimensat-proc", utimensat_proc, NULL, 0},
	{"fchmod", NULL, fchmod_fd, O_RDONLY},
	{"fchown", NULL, fchown_fd, O_RDONLY},
	{"futimens", NULL, futimens_fd, O_RDONLY},
	{"fsetxattr", NULL, fsetxattr_fd, O_RDONLY},
	{"fremovexattr", NULL, fremovexattr_fd, O_RDONLY},
	{"setflags", NULL, set_flags, O_RDONLY},
	{"fssetxattr", NULL, set_fsxattr, O_RDONLY},
	{"setversion", NULL, setversion_fd, O_RDONLY},
	{"setxattrat-empty", NULL, setxattrat_fd, O_RDONLY},
	{"removexattrat-empty", NULL, removexattrat_fd, O_RDONLY},
	{"fchmodat2-empty", NULL, fchmodat2_empty, O_PATH},
	{"fchownat-empty", NULL, fchownat_empty, O_PATH},
	{"utimensat-empty", NULL, utimensat_empty, O_PATH},
	{"file_setattr-empty", NULL, file_setattr_empty, O_RDONLY},
	{NULL, NULL, NULL, 0},
};

/* meta HOW FILE */
static int do_meta(char **arg)
{
	const struct metadata *form = metadata;
	int fd;

	while (form->name && strcmp(form->name, arg[0]) != 0)
		form++;
	if (!form->name) {
		errno = EINVAL;
		die(arg[0]);
	}
	if (form->path)
		return form->path(arg[1]);
	fd = file(arg[1], form->flags);
	return fd < 0 ? -1 : form->fd(fd);
}

const struct act metadata_acts[] = {
	{"meta", 2, do_meta},
	{NULL, 0, NULL},
};
