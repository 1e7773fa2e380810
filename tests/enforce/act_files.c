/* act_files.c - files and names: opening, writing, making, removing. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "act.h"

/* --- opening and writing ----------------------------------------------------------------- */

static const struct name open_flags[] = {
	{"rdonly", O_RDONLY},     {"wronly", O_WRONLY},
	{"rdwr", O_RDWR},         {"creat", O_CREAT},
	{"excl", O_EXCL},         {"trunc", O_TRUNC},
	{"append", O_APPEND},     {"tmpfile", O_TMPFILE},
	{"nofollow", O_NOFOLLOW}, {"direct", O_DIRECT},
	{"nonblock", O_NONBLOCK}, {"directory", O_DIRECTORY},
	{"path", O_PATH},         {"noatime", O_NOATIME},
	{"accmode", O_ACCMODE},   {NULL, 0},
};

int put_if_writable(long fd, int flags)
{
	if (fd < 0)
		return -1;
	if ((flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR)
		return put((int)fd);
	return 0;
}

/* open FLAGS PATH */
static int do_open(char **arg)
{
	int flags = (int)bits(open_flags, arg[0], "flag");

	return put_if_writable(syscall(SYS_openat, AT_FDCWD, arg[1], flags, 0644), flags);
}

/* openat2 FLAGS PATH */
static int do_openat2(char **arg)
{
	int flags = (int)bits(open_flags, arg[0], "flag");
	struct open_how how = {.flags = (unsigned)flags, .mode = flags & O_CREAT ? 0644 : 0};

	return put_if_writable(syscall(NR_OPENAT2, AT_FDCWD, arg[1], &how, sizeof how), flags);
}

/* openat HOW DIRECTORY NAME: through a descriptor of the directory, opened with flags HOW */
static int do_openat(char **arg)
{
	int directory = file(arg[1], (int)bits(open_flags, arg[0], "flag") | O_DIRECTORY);

	return directory < 0 ? -1
			     : put_if_writable(openat(directory, arg[2], O_WRONLY | O_CREAT, 0644),
					       O_WRONLY);
}

/* reopen HOW WAY PATH: open with flags HOW, then for writing by WAY/N */
static int do_reopen(char **arg)
{
	char link[256];
	int fd = file(arg[2], (int)bits(open_flags, arg[0], "flag"));

	if (fd < 0)
		return -1;
	snprintf(link, sizeof link, "%s/%d", arg[1], fd);
	return put_if_writable(open(link, O_WRONLY | O_APPEND), O_WRONLY);
}

/* cd DIRECTORY NAME, fchdir DIRECTORY NAME: go there, then a relative write */
static int do_cd(char **arg)
{
	return chdir(arg[0]) < 0
		       ? -1
		       : put_if_writable(open(arg[1], O_WRONLY | O_CREAT, 0644), O_WRONLY);
}

static int do_fchdir(char **arg)
{
	int fd = file(arg[0], O_PATH);

	return fd < 0 || fchdir(fd) < 0
		       ? -1
		       : put_if_writable(open(arg[1], O_WRONLY | O_CREAT, 0644), O_WRONLY);
}

static int do_truncate(char **arg)
{
	return truncate(arg[0], 1);
}

/* write FD: into a descriptor that is open already */
static int do_write(char **arg)
{
	return put((int)number(arg[0]));
}

static int do_read(char **arg)
{
	char byte;
	int fd = file(arg[0], O_RDONLY);

	return fd < 0 || read(fd, &byte, 1) < 0 ? -1 : 0;
}

static int do_list(char **arg)
{
	char entries[4096];
	int fd = file(arg[0], O_RDONLY | O_DIRECTORY);

	return fd < 0 ? -1 : zero(syscall(SYS_getdents64, fd, entries, sizeof entries));
}

static int do_mmap(char **arg)
{
	int fd = open(arg[0], O_RDWR);
	char *map;

	if (fd < 0)
		return -1;
	map = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -1;
	map[0] = 'X';
	return msync(map, 1, MS_SYNC);
}

static int do_fallocate(char **arg)
{
	int fd = open(arg[0], O_WRONLY);

	return fd < 0 ? -1 : fallocate(fd, 0, 0, 65536);
}

/* copy HOW FROM TO */
static int do_copy(char **arg)
{
	int from = open(arg[1], O_RDONLY), to, pair[2];

	if (from < 0 || (to = open(arg[2], O_WRONLY)) < 0)
		return -1;
	if (strcmp(arg[0], "range") == 0)
		return copy_file_range(from, NULL, to, NULL, 1, 0) == 1 ? 0 : -1;
	if (strcmp(arg[0], "sendfile") == 0)
		return sendfile(to, from, NULL, 1) == 1 ? 0 : -1;
	if (strcmp(arg[0], "splice") == 0) {
		if (pipe(pair) < 0 || splice(from, NULL, pair[1], NULL, 1, 0) != 1)
			return -1;
		return splice(pair[0], NULL, to, NULL, 1, 0) == 1 ? 0 : -1;
	}
	errno = EINVAL;
	die(arg[0]);
	return -1;
}

/* --- names ------------------------------------------------------------------------------- */

static int do_mkdir(char **arg)
{
	return zero(syscall(SYS_mkdirat, AT_FDCWD, arg[0], 0755));
}

static int do_rmdir(char **arg)
{
	return zero(syscall(SYS_unlinkat, AT_FDCWD, arg[0], AT_REMOVEDIR));
}

static int do_unlink(char **arg)
{
	return zero(syscall(SYS_unlinkat, AT_FDCWD, arg[0], 0));
}

/* mknod KIND PATH */
static int do_mknod(char **arg)
{
	static const struct name kinds[] = {{"fifo", S_IFIFO},    {"socket", S_IFSOCK},
					    {"regular", S_IFREG}, {"char", S_IFCHR},
					    {"block", S_IFBLK},   {NULL, 0}};
	mode_t kind = (mode_t)look_up(kinds, arg[0], "kind");

	/* 1:3 is /dev/null, 7:0 the first loop device */
	return zero(syscall(SYS_mknodat, AT_FDCWD, arg[1], kind | 0644,
			    kind == S_IFCHR   ? 0x103
			    : kind == S_IFBLK ? 0x700
					      : 0));
}

static int do_symlink(char **arg)
{
	return zero(syscall(SYS_symlinkat, arg[0], AT_FDCWD, arg[1]));
}

/* link HOW OLD NEW */
static int do_link(char **arg)
{
	char link[64];
	int fd;

	if (strcmp(arg[0], "path") == 0)
		return linkat(AT_FDCWD, arg[1], AT_FDCWD, arg[2], 0);
	if ((fd = file(arg[1], O_PATH)) < 0)
		return -1;
	if (strcmp(arg[0], "empty") == 0)
		return linkat(fd, "", AT_FDCWD, arg[2], AT_EMPTY_PATH);
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd); /* "proc" */
	return linkat(AT_FDCWD, link, AT_FDCWD, arg[2], AT_SYMLINK_FOLLOW);
}

static const struct name rename_flags[] = {
	{"plain", 0}, {"noreplace", 1}, {"exchange", 2}, {"whiteout", 4}, {NULL, 0}};

/* rename HOW OLD NEW */
static int do_rename(char **arg)
{
	return zero(syscall(SYS_renameat2, AT_FDCWD, arg[1], AT_FDCWD, arg[2],
			    look_up(rename_flags, arg[0], "flag")));
}

/* flip A B SECONDS: exchange two names as fast as possible, for races */
static int do_flip(char **arg)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += number(arg[2]);
	do {
		for (int i = 0; i < 64; i++) {
			if (syscall(SYS_renameat2, AT_FDCWD, arg[0], AT_FDCWD, arg[1], 2) < 0)
				return -1;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec);
	return 0;
}

/* tmpfile DIRECTORY NAME: a nameless file there, then a name for it */
static int do_tmpfile(char **arg)
{
	char link[64];
	int fd = open(arg[0], O_WRONLY | O_TMPFILE, 0644);

	if (fd < 0 || put(fd) < 0)
		return -1;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, AT_FDCWD, arg[1], AT_SYMLINK_FOLLOW);
}

int unix_address(struct sockaddr_un *to, const char *path)
{
	memset(to, 0, sizeof *to);
	to->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof to->sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strncpy(to->sun_path, path, sizeof to->sun_path - 1);
	return 0;
}

static int do_bind(char **arg)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || unix_address(&address, arg[0]) < 0)
		return -1;
	return bind(fd, (struct sockaddr *)&address, sizeof address);
}

struct handle {
	struct file_handle head;
	unsigned char bytes[MAX_HANDLE_SZ];
};

/* handle MOUNT PATH: by the file's number instead of its name */
static int do_handle(char **arg)
{
	struct handle handle = {.head = {.handle_bytes = MAX_HANDLE_SZ}};
	int mount_id, mount = open(arg[0], O_RDONLY);

	if (mount < 0 || name_to_handle_at(AT_FDCWD, arg[1], &handle.head, &mount_id, 0) < 0)
		return -1;
	return put_if_writable(open_by_handle_at(mount, &handle.head, O_WRONLY), O_WRONLY);
}

/* chroot DIRECTORY NAME */
static int do_chroot(char **arg)
{
	return chroot(arg[0]) < 0
		       ? -1
		       : put_if_writable(open(arg[1], O_WRONLY | O_CREAT, 0644), O_WRONLY);
}

const struct act file_acts[] = {
	{"open", 2, do_open},         {"openat", 3, do_openat}, {"openat2", 2, do_openat2},
	{"reopen", 3, do_reopen},     {"cd", 2, do_cd},         {"fchdir", 2, do_fchdir},
	{"truncate", 1, do_truncate}, {"write", 1, do_write},   {"read", 1, do_read},
	{"list", 1, do_list},         {"mmap", 1, do_mmap},     {"fallocate", 1, do_fallocate},
	{"copy", 3, do_copy},         {"mkdir", 1, do_mkdir},   {"rmdir", 1, do_rmdir},
	{"unlink", 1, do_unlink},     {"mknod", 2, do_mknod},   {"symlink", 2, do_symlink},
	{"link", 3, do_link},         {"rename", 3, do_rename}, {"flip", 3, do_flip},
	{"tmpfile", 2, do_tmpfile},   {"bind", 1, do_bind},     {"handle", 2, do_handle},
	{"chroot", 2, do_chroot},     {NULL, 0, NULL},
};
