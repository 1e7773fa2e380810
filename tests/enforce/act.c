/*
 * act.c - what an attacker would try, one system call at a time.
 *
 *     act NAME ARGUMENT...        do it; exit 0: it worked, 1: refused (errno name on stderr)
 *     act answer CALL=ERROR[,CALL=ERROR...] -- CMD ARGS...
 *                                 run CMD on a machine where CALL answers ERROR; "0" is a
 *                                 lie: the call claims success and does nothing
 *
 * A shell or Python would do some of these in another way than the one under test (libc
 * picks the call, falls back, retries), so each act names its system call.  Where an
 * argument is a file, "fd:N" stands for descriptor N, which the act inherited.
 *
 * Other exit statuses: 2 usage, 3 the act worked but its effect was not seen, and the
 * signal's when the kernel killed it.  Built as build/tests/act; plain libc.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/vm_sockets.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "tell act.c the audit architecture of this machine"
#endif

/* Numbers that Debian 12's headers may lack; the same on every architecture. */
#define NR_PIDFD_SEND_SIGNAL 424
#define NR_IO_URING_SETUP 425
#define NR_IO_URING_ENTER 426
#define NR_OPEN_TREE 428
#define NR_MOVE_MOUNT 429
#define NR_FSOPEN 430
#define NR_FSCONFIG 431
#define NR_FSMOUNT 432
#define NR_FSPICK 433
#define NR_PIDFD_OPEN 434
#define NR_CLONE3 435
#define NR_OPENAT2 437
#define NR_PIDFD_GETFD 438
#define NR_PROCESS_MADVISE 440
#define NR_MOUNT_SETATTR 442
#define NR_QUOTACTL_FD 443
#define NR_LANDLOCK_CREATE_RULESET 444
#define NR_LANDLOCK_ADD_RULE 445
#define NR_LANDLOCK_RESTRICT_SELF 446
#define NR_FCHMODAT2 452
#define NR_SETXATTRAT 463
#define NR_REMOVEXATTRAT 466
#define NR_OPEN_TREE_ATTR 467
#define NR_FILE_SETATTR 469

#define PROTO_MPTCP 262
#define PROTO_SMC 256
#define FAMILY_SMC 43
#define XATTR "user.act"

struct name {
	const char *name;
	unsigned long value;
};

static void die(const char *what)
{
	fprintf(stderr, "act: %s: %s\n", what, strerror(errno));
	exit(2);
}

static unsigned long look_up(const struct name *names, const char *word, const char *what)
{
	for (; names->name; names++) {
		if (strcmp(names->name, word) == 0)
			return names->value;
	}
	fprintf(stderr, "act: no such %s: '%s'\n", what, word);
	exit(2);
}

/* Words joined by '+' to the bits they stand for. */
static unsigned long bits(const struct name *names, const char *words, const char *what)
{
	char copy[256], *rest = copy, *word;
	unsigned long all = 0;

	snprintf(copy, sizeof copy, "%s", words);
	while ((word = strsep(&rest, "+")))
		all |= look_up(names, word, what);
	return all;
}

static long number(const char *word)
{
	char *end;
	long value = strtol(word, &end, 0);

	if (*end || end == word) {
		fprintf(stderr, "act: not a number: '%s'\n", word);
		exit(2);
	}
	return value;
}

/* Descriptor of a file argument: N of "fd:N", else the path opened with flags. */
static int file(const char *path, int flags)
{
	if (strncmp(path, "fd:", 3) == 0)
		return (int)number(path + 3);
	return open(path, flags | O_CLOEXEC);
}

static int put(int fd)
{
	return write(fd, "X", 1) == 1 ? 0 : -1;
}

/* The syscall() results of calls that answer 0. */
static int zero(long result)
{
	return result < 0 ? -1 : 0;
}

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

static int put_if_writable(long fd, int flags)
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

static int unix_address(struct sockaddr_un *to, const char *path)
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

/* --- other doors to the same calls ------------------------------------------------------- */

/* One operation through io_uring: the kernel does it without a system call of its own. */
static int submit(struct io_uring_sqe *operation)
{
	struct io_uring_params params = {0};
	int ring = (int)syscall(NR_IO_URING_SETUP, 1, &params);
	unsigned char *requests, *answers;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;

	if (ring < 0)
		return -1;
	requests = mmap(NULL, params.sq_off.array + params.sq_entries * 4, PROT_READ | PROT_WRITE,
			MAP_SHARED, ring, IORING_OFF_SQ_RING);
	answers = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof *cqe,
		       PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	sqe = mmap(NULL, params.sq_entries * sizeof *sqe, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		   IORING_OFF_SQES);
	if (requests == MAP_FAILED || answers == MAP_FAILED || sqe == MAP_FAILED)
		return -1;
	sqe[0] = *operation;
	((unsigned *)(void *)(requests + params.sq_off.array))[0] = 0;
	__atomic_store_n((unsigned *)(void *)(requests + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(NR_IO_URING_ENTER, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -1;
	cqe = (struct io_uring_cqe *)(void *)(answers + params.cq_off.cqes);
	if (cqe->res < 0) {
		errno = -cqe->res;
		return -1;
	}
	return cqe->res;
}

/* uring HOW PATH */
static int do_uring(char **arg)
{
	struct io_uring_sqe sqe = {.fd = AT_FDCWD, .addr = (uintptr_t)arg[1]};

	if (strcmp(arg[0], "nop") == 0) {
		sqe = (struct io_uring_sqe){.opcode = IORING_OP_NOP};
	} else if (strcmp(arg[0], "open") == 0) {
		sqe.opcode = IORING_OP_OPENAT;
		sqe.open_flags = O_WRONLY | O_CREAT | O_TRUNC;
		sqe.len = 0644;
	} else if (strcmp(arg[0], "mkdir") == 0) {
		sqe.opcode = IORING_OP_MKDIRAT;
		sqe.len = 0755;
	} else if (strcmp(arg[0], "unlink") == 0) {
		sqe.opcode = IORING_OP_UNLINKAT;
	} else if (strcmp(arg[0], "setxattr") == 0) {
		sqe = (struct io_uring_sqe){.opcode = 42 /* IORING_OP_SETXATTR */,
					    .addr = (uintptr_t)XATTR,
					    .len = 1,
					    .off = (uintptr_t) "X"};
		((uint64_t *)&sqe)[6] = (uintptr_t)arg[1]; /* addr3 */
	} else if (strcmp(arg[0], "socket") == 0) {
		sqe = (struct io_uring_sqe){
			.opcode = 45 /* IORING_OP_SOCKET */, .fd = AF_INET, .off = SOCK_DGRAM};
	} else {
		errno = EINVAL;
		die(arg[0]);
	}
	return submit(&sqe) < 0 ? -1 : 0;
}

#if defined(__x86_64__)
static long call_i386(long call, uint32_t a, uint32_t b, uint32_t c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(call), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

/* i386 HOW PATH: the 32-bit table, whose numbers mean something else */
static int do_i386(char **arg)
{
	size_t size = strlen(arg[1]) + 1;
	char *low = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint32_t path = (uint32_t)(uintptr_t)low;
	long result;

	if (low == MAP_FAILED)
		return -1;
	memcpy(low, arg[1], size);
	if (strcmp(arg[0], "open") == 0)
		result = call_i386(5, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	else if (strcmp(arg[0], "chmod") == 0)
		result = call_i386(15, path, 0604, 0);
	else if (strcmp(arg[0], "unlink") == 0)
		result = call_i386(10, path, 0, 0);
	else /* getpid */
		result = call_i386(20, 0, 0, 0);
	if (result < 0) {
		errno = (int)-result;
		return -1;
	}
	return 0;
}

/* x32 PATH: native numbers with bit 30 set */
static int do_x32(char **arg)
{
	return zero(syscall(SYS_open | 0x40000000L, arg[0], O_WRONLY | O_CREAT | O_TRUNC, 0644));
}

/* legacy HOW A B: calls that newer architectures left out */
static int do_legacy(char **arg)
{
	const char *how = arg[0];

	if (strcmp(how, "open") == 0)
		return put_if_writable(syscall(SYS_open, arg[1], O_WRONLY), O_WRONLY);
	if (strcmp(how, "creat") == 0)
		return put_if_writable(syscall(SYS_creat, arg[1], 0644), O_WRONLY);
	if (strcmp(how, "mkdir") == 0)
		return zero(syscall(SYS_mkdir, arg[1], 0755));
	if (strcmp(how, "rmdir") == 0)
		return zero(syscall(SYS_rmdir, arg[1]));
	if (strcmp(how, "unlink") == 0)
		return zero(syscall(SYS_unlink, arg[1]));
	if (strcmp(how, "mknod") == 0)
		return zero(syscall(SYS_mknod, arg[1], S_IFREG | 0644, 0));
	if (strcmp(how, "rename") == 0)
		return zero(syscall(SYS_rename, arg[1], arg[2]));
	if (strcmp(how, "link") == 0)
		return zero(syscall(SYS_link, arg[1], arg[2]));
	if (strcmp(how, "symlink") == 0)
		return zero(syscall(SYS_symlink, arg[1], arg[2]));
	if (strcmp(how, "chmod") == 0)
		return zero(syscall(SYS_chmod, arg[1], 0604));
	if (strcmp(how, "chown") == 0)
		return zero(syscall(SYS_chown, arg[1], geteuid(), getegid()));
	if (strcmp(how, "lchown") == 0)
		return zero(syscall(SYS_lchown, arg[1], geteuid(), getegid()));
	if (strcmp(how, "utime") == 0)
		return zero(syscall(SYS_utime, arg[1], (long[2]){1000000000, 1000000000}));
	if (strcmp(how, "utimes") == 0)
		return zero(syscall(SYS_utimes, arg[1], (long[4]){1000000000, 0, 1000000000, 0}));
	if (strcmp(how, "futimesat") == 0)
		return zero(syscall(SYS_futimesat, AT_FDCWD, arg[1],
				    (long[4]){1000000000, 0, 1000000000, 0}));
	errno = EINVAL;
	die(how);
	return -1;
}
#endif

/* --- processes outside ------------------------------------------------------------------- */

/* victim: prints "PID ADDRESS DESCRIPTOR", waits for the end of its input, then prints what
 * stands at the address and how many signals came */
static volatile sig_atomic_t signals;

static void count_signal(int signal)
{
	(void)signal;
	signals++;
}

static int do_victim(char **arg)
{
	static char memory[8] = "intact";
	int secret = open("/dev/null", O_RDWR);
	char byte;

	(void)arg;
	for (int i = 1; i < SIGRTMIN; i++) {
		if (i != SIGCHLD)
			signal(i, count_signal);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* Yama would spoil the control */
	printf("%d %lu %d\n", getpid(), (unsigned long)(uintptr_t)memory, secret);
	fflush(stdout);
	for (;;) {
		ssize_t got = read(0, &byte, 1);

		if (got == 0 || (got < 0 && errno != EINTR))
			break;
	}
	printf("%s %d\n", memory, (int)signals);
	return 0;
}

static const struct name signal_names[] = {
	{"0", 0}, {"USR1", SIGUSR1}, {"KILL", SIGKILL}, {"STOP", SIGSTOP}, {NULL, 0}};

/* kill HOW PID SIGNAL */
static int do_kill(char **arg)
{
	pid_t pid = (pid_t)number(arg[1]);
	int sig = (int)look_up(signal_names, arg[2], "signal"), fd, pair[2];
	siginfo_t info = {.si_signo = sig, .si_code = SI_QUEUE};

	if (strcmp(arg[0], "kill") == 0)
		return kill(pid, sig);
	if (strcmp(arg[0], "group") == 0)
		return kill(-pid, sig);
	if (strcmp(arg[0], "tkill") == 0)
		return zero(syscall(SYS_tkill, pid, sig));
	if (strcmp(arg[0], "tgkill") == 0)
		return zero(syscall(SYS_tgkill, pid, pid, sig));
	if (strcmp(arg[0], "queue") == 0)
		return zero(syscall(SYS_rt_sigqueueinfo, pid, sig, &info));
	if (strcmp(arg[0], "tgqueue") == 0)
		return zero(syscall(SYS_rt_tgsigqueueinfo, pid, pid, sig, &info));
	if (strcmp(arg[0], "pidfd") == 0) {
		fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
		return fd < 0 ? -1 : zero(syscall(NR_PIDFD_SEND_SIGNAL, fd, sig, NULL, 0));
	}
	/* owner: data on our socket signals the owner we name; nothing tells us if it came */
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || fcntl(pair[0], F_SETOWN, pid) < 0 ||
	    fcntl(pair[0], F_SETSIG, sig) < 0 || fcntl(pair[0], F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
		return -1;
	return put(pair[1]);
}

static int do_attach(char **arg)
{
	pid_t pid = (pid_t)number(arg[0]);

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0)
		return -1;
	waitpid(pid, NULL, 0);
	return (int)ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

static int do_seize(char **arg)
{
	return (int)ptrace(PTRACE_SEIZE, (pid_t)number(arg[0]), NULL, NULL);
}

/* memory HOW PID ADDRESS */
static int do_memory(char **arg)
{
	pid_t pid = (pid_t)number(arg[1]);
	void *there = (void *)(uintptr_t)strtoul(arg[2], NULL, 10);
	char bytes[8] = "broken", path[64];
	struct iovec near = {bytes, 7}, far = {there, 7};
	int fd;

	if (strcmp(arg[0], "readv") == 0)
		return process_vm_readv(pid, &near, 1, &far, 1, 0) == 7 ? 0 : -1;
	if (strcmp(arg[0], "writev") == 0)
		return process_vm_writev(pid, &near, 1, &far, 1, 0) == 7 ? 0 : -1;
	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	if (strcmp(arg[0], "mem-read") == 0) {
		fd = open(path, O_RDONLY);
		return fd < 0 || pread(fd, bytes, 7, (off_t)(uintptr_t)there) != 7 ? -1 : 0;
	}
	fd = open(path, O_RDWR); /* mem-write */
	return fd < 0 || pwrite(fd, bytes, 7, (off_t)(uintptr_t)there) != 7 ? -1 : 0;
}

/* getfd PID DESCRIPTOR */
static int do_getfd(char **arg)
{
	int fd = (int)syscall(NR_PIDFD_OPEN, (pid_t)number(arg[0]), 0);

	return fd < 0 ? -1 : zero(syscall(NR_PIDFD_GETFD, fd, number(arg[1]), 0));
}

struct sched_attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* adjust HOW PID: limits and priorities; PID 0 is the caller */
static int do_adjust(char **arg)
{
	pid_t pid = (pid_t)number(arg[1]);
	struct rlimit limit;
	struct sched_attributes attributes = {
		.size = sizeof attributes, .policy = SCHED_BATCH, .nice = 5};
	struct sched_param param = {0};
	cpu_set_t cpus;
	unsigned long nodes = 1;

	if (strcmp(arg[0], "rlimit") == 0) {
		if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) < 0)
			return -1;
		limit.rlim_cur = 64;
		return prlimit(pid, RLIMIT_NOFILE, &limit, NULL);
	}
	if (strcmp(arg[0], "rlimit-read") == 0)
		return prlimit(pid, RLIMIT_NOFILE, NULL, &limit);
	if (strcmp(arg[0], "nice") == 0)
		return setpriority(PRIO_PROCESS, (id_t)pid, 5);
	if (strcmp(arg[0], "nice-user") == 0)
		return setpriority(PRIO_USER, (id_t)pid, 0);
	if (strcmp(arg[0], "nice-group") == 0)
		return setpriority(PRIO_PGRP, (id_t)pid, 5);
	if (strcmp(arg[0], "affinity") == 0) {
		CPU_ZERO(&cpus);
		CPU_SET(0, &cpus);
		return sched_setaffinity(pid, sizeof cpus, &cpus);
	}
	if (strcmp(arg[0], "scheduler") == 0)
		return zero(syscall(SYS_sched_setscheduler, pid, SCHED_BATCH, &param));
	if (strcmp(arg[0], "param") == 0)
		return zero(syscall(SYS_sched_setparam, pid, &param));
	if (strcmp(arg[0], "attr") == 0)
		return zero(syscall(SYS_sched_setattr, pid, &attributes, 0));
	if (strcmp(arg[0], "ioprio") == 0) /* process, best effort 7 */
		return zero(syscall(SYS_ioprio_set, 1, pid, (2 << 13) | 7));
	if (strcmp(arg[0], "move-pages") == 0) {
		int status = 0;
		void *page = &status;

		return zero(syscall(SYS_move_pages, pid, 1, &page, NULL, &status, 0));
	}
	if (strcmp(arg[0], "migrate") == 0)
		return zero(syscall(SYS_migrate_pages, pid, 8, &nodes, &nodes));
	errno = EINVAL;
	die(arg[0]);
	return -1;
}

/* --- namespaces and mounts --------------------------------------------------------------- */

static const struct name namespaces[] = {
	{"user", CLONE_NEWUSER},     {"mount", CLONE_NEWNS}, {"pid", CLONE_NEWPID},
	{"net", CLONE_NEWNET},       {"ipc", CLONE_NEWIPC},  {"uts", CLONE_NEWUTS},
	{"cgroup", CLONE_NEWCGROUP}, {"time", 0x80},         {NULL, 0},
};

static int do_unshare(char **arg)
{
	return unshare((int)bits(namespaces, arg[0], "namespace"));
}

static int end_child(long pid)
{
	int status;

	if (pid == 0)
		_exit(0);
	return pid < 0 || waitpid((pid_t)pid, &status, 0) < 0 ? -1 : 0;
}

static int do_clone(char **arg)
{
	return end_child(
		syscall(SYS_clone, bits(namespaces, arg[0], "namespace") | SIGCHLD, 0, 0, 0, 0));
}

static int do_clone3(char **arg)
{
	uint64_t how[11] = {bits(namespaces, arg[0], "namespace"), 0, 0, 0, SIGCHLD};

	return end_child(syscall(NR_CLONE3, how, sizeof how));
}

/* setns FILE KIND */
static int do_setns(char **arg)
{
	int fd = file(arg[0], O_RDONLY);

	return fd < 0 ? -1 : setns(fd, (int)look_up(namespaces, arg[1], "namespace"));
}

/* mount HOW PATH */
static int do_mount(char **arg)
{
	const char *how = arg[0], *path = arg[1];
	uint64_t attributes[4] = {1 /* MOUNT_ATTR_RDONLY */, 0, 0, 0}, writable[4] = {0, 1, 0, 0};
	int fd;

	if (strcmp(how, "tmpfs") == 0)
		return mount("act", path, "tmpfs", 0, NULL);
	if (strcmp(how, "proc") == 0)
		return mount("act", path, "proc", 0, NULL);
	if (strcmp(how, "bind") == 0)
		return mount(path, path, NULL, MS_BIND, NULL);
	if (strcmp(how, "remount") == 0)
		return mount(NULL, path, NULL, MS_REMOUNT | MS_BIND, NULL);
	if (strcmp(how, "private") == 0)
		return mount(NULL, path, NULL, MS_PRIVATE, NULL);
	if (strcmp(how, "umount") == 0)
		return umount2(path, MNT_DETACH);
	if (strcmp(how, "open_tree") == 0)
		return zero(syscall(NR_OPEN_TREE, AT_FDCWD, path, 1 /* CLONE */));
	if (strcmp(how, "open_tree_attr") == 0)
		return zero(syscall(NR_OPEN_TREE_ATTR, AT_FDCWD, path, 1, attributes,
				    sizeof attributes));
	if (strcmp(how, "fsopen") == 0)
		return zero(syscall(NR_FSOPEN, "tmpfs", 0));
	if (strcmp(how, "fspick") == 0)
		return zero(syscall(NR_FSPICK, AT_FDCWD, path, 0));
	if (strcmp(how, "setattr") == 0)
		return zero(
			syscall(NR_MOUNT_SETATTR, AT_FDCWD, path, 0, writable, sizeof writable));
	if (strcmp(how, "pivot") == 0)
		return zero(syscall(SYS_pivot_root, path, path));
	if (strcmp(how, "fsmount") == 0) {
		fd = (int)syscall(NR_FSOPEN, "tmpfs", 0);
		if (fd < 0 || syscall(NR_FSCONFIG, fd, 6 /* CREATE */, NULL, NULL, 0) < 0)
			return -1;
		fd = (int)syscall(NR_FSMOUNT, fd, 0, 0);
		return fd < 0 ? -1
			      : zero(syscall(NR_MOVE_MOUNT, fd, "", AT_FDCWD, path,
					     4 /* F_EMPTY */));
	}
	errno = EINVAL;
	die(how);
	return -1;
}

/* --- the network and sockets ------------------------------------------------------------- */

/* How a socket is meant to reach the other side. */
static const struct reach {
	const char *name;
	int family, type, protocol;
} reaches[] = {
	{"tcp", AF_INET, SOCK_STREAM, 0},
	{"tcp6", AF_INET6, SOCK_STREAM, 0},
	{"mapped", AF_INET6, SOCK_STREAM, 0}, /* IPv4 by way of an IPv6 socket */
	{"udp", AF_INET, SOCK_DGRAM, 0},
	{"udp6", AF_INET6, SOCK_DGRAM, 0},
	{"udp-sendto", AF_INET, SOCK_DGRAM, 0},
	{"udp-sendmsg", AF_INET, SOCK_DGRAM, 0},
	{"udp-sendmmsg", AF_INET, SOCK_DGRAM, 0},
	{"udplite", AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE},
	{"mptcp", AF_INET, SOCK_STREAM, PROTO_MPTCP},
	{"fastopen", AF_INET, SOCK_STREAM, 0},
	{"fastopen-sendmsg", AF_INET, SOCK_STREAM, 0},
	{"fastopen-connect", AF_INET, SOCK_STREAM, 0},
	{"unspec", AF_INET, SOCK_STREAM, 0},
	{NULL, 0, 0, 0},
};

/* reach HOW ADDRESS PORT */
static int do_reach(char **arg)
{
	const struct reach *how = reaches;
	struct sockaddr_in to = {.sin_family = AF_INET};
	struct sockaddr_in6 to6 = {.sin6_family = AF_INET6};
	const struct sockaddr *address = (const struct sockaddr *)&to;
	socklen_t size = sizeof to;
	struct iovec data = {(char[1]){'X'}, 1};
	struct mmsghdr message = {
		{.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &data, .msg_iovlen = 1}, 0};
	int fd, one = 1;

	while (how->name && strcmp(how->name, arg[0]) != 0)
		how++;
	if (!how->name) {
		errno = EINVAL;
		die(arg[0]);
	}
	to.sin_port = to6.sin6_port = htons((uint16_t)number(arg[2]));
	if (how->family == AF_INET6) {
		char mapped[64];

		snprintf(mapped, sizeof mapped, "%s%s",
			 strcmp(arg[0], "mapped") ? "" : "::ffff:", arg[1]);
		if (inet_pton(AF_INET6, mapped, &to6.sin6_addr) != 1)
			die(mapped);
		address = (const struct sockaddr *)&to6;
		size = sizeof to6;
	} else if (inet_pton(AF_INET, arg[1], &to.sin_addr) != 1) {
		die(arg[1]);
	}
	fd = socket(how->family, how->type, how->protocol);
	if (fd < 0)
		return -1;
	if (strcmp(arg[0], "udp-sendto") == 0)
		return sendto(fd, "X", 1, 0, address, size) == 1 ? 0 : -1;
	if (strcmp(arg[0], "udp-sendmsg") == 0)
		return sendmsg(fd, &message.msg_hdr, 0) == 1 ? 0 : -1;
	if (strcmp(arg[0], "udp-sendmmsg") == 0)
		return sendmmsg(fd, &message, 1, 0) == 1 ? 0 : -1;
	if (strcmp(arg[0], "fastopen") == 0)
		return sendto(fd, "X", 1, MSG_FASTOPEN, address, size) == 1 ? 0 : -1;
	if (strcmp(arg[0], "fastopen-sendmsg") == 0)
		return sendmsg(fd, &message.msg_hdr, MSG_FASTOPEN) == 1 ? 0 : -1;
	if (strcmp(arg[0], "fastopen-connect") == 0 &&
	    setsockopt(fd, IPPROTO_TCP, 30 /* TCP_FASTOPEN_CONNECT */, &one, sizeof one) < 0)
		return -1;
	if (connect(fd, address, size) < 0)
		return -1;
	return put(fd);
}

static const struct name families[] = {
	{"unix", AF_UNIX},     {"inet", AF_INET},
	{"inet6", AF_INET6},   {"netlink", AF_NETLINK},
	{"packet", AF_PACKET}, {"vsock", AF_VSOCK},
	{"alg", AF_ALG},       {"smc", FAMILY_SMC},
	{"can", AF_CAN},       {"bluetooth", AF_BLUETOOTH},
	{"xdp", 44},           {"key", AF_KEY},
	{"tipc", 30},          {"rds", 21},
	{"qipcrtr", 42},       {NULL, 0},
};

static const struct name types[] = {{"stream", SOCK_STREAM}, {"dgram", SOCK_DGRAM},
				    {"raw", SOCK_RAW},       {"seqpacket", SOCK_SEQPACKET},
				    {"packet", SOCK_PACKET}, {NULL, 0}};

/* socket FAMILY TYPE PROTOCOL */
static int do_socket(char **arg)
{
	return zero(socket((int)look_up(families, arg[0], "family"),
			   (int)look_up(types, arg[1], "type"), (int)number(arg[2])));
}

/* loopback HOW: both ends are ours */
static int do_loopback(char **arg)
{
	int type = strcmp(arg[0], "udp") == 0 ? SOCK_DGRAM : SOCK_STREAM;
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	int server = socket(AF_INET, type, 0), client = socket(AF_INET, type, 0), peer;
	char byte;

	if (server < 0 || client < 0 || bind(server, (struct sockaddr *)&address, size) < 0 ||
	    getsockname(server, (struct sockaddr *)&address, &size) < 0)
		return -1;
	if (type == SOCK_STREAM && listen(server, 1) < 0)
		return -1;
	if (connect(client, (struct sockaddr *)&address, size) < 0 || put(client) < 0)
		return -1;
	peer = type == SOCK_STREAM ? accept(server, NULL, NULL) : server;
	return peer < 0 || read(peer, &byte, 1) != 1 ? -1 : 0;
}

/* listen PORT: a server of ours on the machine's own address */
static int do_listen(char **arg)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				      .sin_port = htons((uint16_t)number(arg[0]))};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
		return -1;
	return listen(fd, 1);
}

/* unix HOW ADDRESS: ADDRESS is a path, or @NAME for an abstract one */
static int do_unix(char **arg)
{
	struct sockaddr_un to;
	socklen_t size = sizeof to;
	const char *how = arg[0];
	int fd, pair[2];

	if (unix_address(&to, arg[1]) < 0)
		return -1;
	if (arg[1][0] == '@') {
		to.sun_path[0] = '\0';
		size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(arg[1]));
	}
	if (strcmp(how, "pair") == 0) { /* a socketpair can address anybody */
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
			return -1;
		return sendto(pair[0], "X", 1, 0, (struct sockaddr *)&to, size) == 1 ? 0 : -1;
	}
	if (strcmp(how, "sendto") == 0) {
		fd = socket(AF_UNIX, SOCK_DGRAM, 0);
		if (fd < 0)
			return -1;
		return sendto(fd, "X", 1, 0, (struct sockaddr *)&to, size) == 1 ? 0 : -1;
	}
	fd = socket(AF_UNIX, (int)look_up(types, how, "type"), 0);
	return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, size);
}

/* abstract: both ends ours */
static int do_abstract(char **arg)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 16);
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)arg;
	snprintf(address.sun_path + 1, 15, "act-%d", getpid());
	if (server < 0 || client < 0 || bind(server, (struct sockaddr *)&address, size) < 0 ||
	    listen(server, 1) < 0)
		return -1;
	return connect(client, (struct sockaddr *)&address, size);
}

/* --- shared memory and queues ------------------------------------------------------------ */

/* ipc HOW NAME: write into what somebody made; "make-*" is that somebody and prints the id */
static int do_ipc(char **arg)
{
	const char *how = arg[0];
	struct {
		long type;
		char byte;
	} message = {1, 'X'};
	char *memory;
	int id;

	if (strcmp(how, "make-shm") == 0)
		return printf("%d\n", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600)) < 0 ? -1 : 0;
	if (strcmp(how, "make-msg") == 0)
		return printf("%d\n", msgget(IPC_PRIVATE, IPC_CREAT | 0600)) < 0 ? -1 : 0;
	if (strcmp(how, "make-sem") == 0)
		return printf("%d\n", semget(IPC_PRIVATE, 1, IPC_CREAT | 0600)) < 0 ? -1 : 0;
	if (strcmp(how, "make-mq") == 0)
		return mq_open(arg[1], O_RDWR | O_CREAT | O_EXCL, 0600, NULL) < 0 ? -1 : 0;
	if (strcmp(how, "mq") == 0) {
		id = mq_open(arg[1], O_WRONLY);
		return id < 0 ? -1 : mq_send(id, "X", 1, 0);
	}
	if (strcmp(how, "remove-mq") == 0)
		return mq_unlink(arg[1]);
	if (strcmp(how, "own-shm") == 0) {
		id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
		if (id < 0 || (memory = shmat(id, NULL, 0)) == (void *)-1)
			return -1;
		memory[0] = 'X';
		return shmctl(id, IPC_RMID, NULL);
	}
	id = (int)number(arg[1]);
	if (strcmp(how, "shm") == 0) {
		memory = shmat(id, NULL, 0);
		if (memory == (void *)-1)
			return -1;
		memory[0] = 'X';
		return 0;
	}
	if (strcmp(how, "msg") == 0)
		return msgsnd(id, &message, 1, IPC_NOWAIT);
	if (strcmp(how, "sem") == 0)
		return semop(id, &(struct sembuf){0, 1, IPC_NOWAIT}, 1);
	if (strcmp(how, "remove-shm") == 0)
		return shmctl(id, IPC_RMID, NULL);
	if (strcmp(how, "remove-msg") == 0)
		return msgctl(id, IPC_RMID, NULL);
	if (strcmp(how, "remove-sem") == 0)
		return semctl(id, 0, IPC_RMID);
	errno = EINVAL;
	die(how);
	return -1;
}

/* --- the terminal ------------------------------------------------------------------------ */

/* terminal HOW FILE */
static int do_terminal(char **arg)
{
	int fd = file(arg[1], O_RDWR | O_NOCTTY);
	char byte = 'X', select[16] = {2};
	struct winsize size;
	int discipline = 0;

	if (fd < 0)
		return -1;
	if (strcmp(arg[0], "sti") == 0)
		return ioctl(fd, TIOCSTI, &byte);
	if (strcmp(arg[0], "sti-high") == 0) /* the kernel looks at the low half only */
		return zero(syscall(SYS_ioctl, fd, TIOCSTI | 0x100000000UL, &byte));
	if (strcmp(arg[0], "sti-negative") == 0)
		return zero(syscall(SYS_ioctl, fd, TIOCSTI | 0xffffffff00000000UL, &byte));
	if (strcmp(arg[0], "linux") == 0)
		return ioctl(fd, TIOCLINUX, select);
	if (strcmp(arg[0], "discipline") == 0)
		return ioctl(fd, TIOCSETD, &discipline);
	if (strcmp(arg[0], "size") == 0)
		return ioctl(fd, TIOCGWINSZ, &size);
	errno = EINVAL;
	die(arg[0]);
	return -1;
}

/* pty: a new terminal of our own */
static int do_pty(char **arg)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY), slave;

	(void)arg;
	if (fd < 0 || grantpt(fd) < 0 || unlockpt(fd) < 0)
		return -1;
	slave = open(ptsname(fd), O_RDWR | O_NOCTTY);
	return slave < 0 ? -1 : put(slave);
}

/* --- little-used calls ------------------------------------------------------------------- */

/* call NAME: with arguments that do no harm; see the table in processes.py for the answers */
static int do_call(char **arg)
{
	const char *name = arg[0];
	static char buffer[256];

	if (strcmp(name, "bpf") == 0) {
		uint32_t map[18] = {2 /* array */, 4, 4, 1};

		return zero(syscall(SYS_bpf, 0, map, sizeof map));
	}
	if (strcmp(name, "perf_event_open") == 0) {
		uint64_t event[16] = {1 /* software */ | (uint64_t)sizeof event << 32, 1};

		event[5] = 0x60; /* exclude_kernel, exclude_hv */
		return zero(syscall(SYS_perf_event_open, event, 0, -1, -1, 0));
	}
	if (strcmp(name, "userfaultfd") == 0)
		return zero(syscall(SYS_userfaultfd, 1 /* user mode only */));
	if (strcmp(name, "keyctl") == 0) /* id of the process keyring, created */
		return zero(syscall(SYS_keyctl, 0, -2, 1));
	if (strcmp(name, "add_key") == 0)
		return zero(syscall(SYS_add_key, "user", "act", "X", 1, -2));
	if (strcmp(name, "request_key") == 0) /* answers ENOKEY, not EPERM, when allowed */
		return zero(syscall(SYS_request_key, "user", "no-such-key", NULL, 0));
	if (strcmp(name, "fanotify_init") == 0)
		return zero(syscall(SYS_fanotify_init, 0x200 /* report fid */, O_RDONLY));
	if (strcmp(name, "open_by_handle_at") == 0)
		return zero(syscall(SYS_open_by_handle_at, -1, buffer, 0));
	if (strcmp(name, "kexec_load") == 0)
		return zero(syscall(SYS_kexec_load, 0, 99, NULL, 0));
	if (strcmp(name, "init_module") == 0)
		return zero(syscall(SYS_init_module, buffer, 1, ""));
	if (strcmp(name, "finit_module") == 0)
		return zero(syscall(SYS_finit_module, -1, "", 0));
	if (strcmp(name, "delete_module") == 0)
		return zero(syscall(SYS_delete_module, "no_such_module", O_NONBLOCK));
	if (strcmp(name, "reboot") == 0) /* wrong magic: EINVAL when allowed */
		return zero(syscall(SYS_reboot, 0, 0, 0, 0));
	if (strcmp(name, "swapon") == 0)
		return zero(syscall(SYS_swapon, "/no/such/file", 0));
	if (strcmp(name, "swapoff") == 0)
		return zero(syscall(SYS_swapoff, "/no/such/file"));
	if (strcmp(name, "acct") == 0)
		return zero(syscall(SYS_acct, "/no/such/file"));
	if (strcmp(name, "quotactl") == 0)
		return zero(syscall(SYS_quotactl, 0x800002 << 8, "/no/such/device", 0, buffer));
	if (strcmp(name, "syslog") == 0)
		return zero(syscall(SYS_syslog, 3 /* read all */, buffer, sizeof buffer));
	if (strcmp(name, "settimeofday") == 0) /* an impossible time: EINVAL when allowed */
		return zero(syscall(SYS_settimeofday, (long[2]){0, -1}, NULL));
	if (strcmp(name, "clock_settime") == 0)
		return zero(syscall(SYS_clock_settime, 0, (long[2]){0, -1}));
	if (strcmp(name, "memfd_create") == 0)
		return zero(syscall(SYS_memfd_create, "act", 0));
	if (strcmp(name, "inotify") == 0)
		return zero(syscall(SYS_inotify_init1, 0));
	errno = EINVAL;
	die(name);
	return -1;
}

/* --- a machine that answers wrongly ------------------------------------------------------ */

static const struct name calls[] = {
	{"unshare", SYS_unshare},
	{"clone", SYS_clone},
	{"clone3", NR_CLONE3},
	{"mount", SYS_mount},
	{"umount2", SYS_umount2},
	{"open_tree", NR_OPEN_TREE},
	{"move_mount", NR_MOVE_MOUNT},
	{"fsopen", NR_FSOPEN},
	{"fsconfig", NR_FSCONFIG},
	{"fsmount", NR_FSMOUNT},
	{"mount_setattr", NR_MOUNT_SETATTR},
	{"landlock_create_ruleset", NR_LANDLOCK_CREATE_RULESET},
	{"landlock_add_rule", NR_LANDLOCK_ADD_RULE},
	{"landlock_restrict_self", NR_LANDLOCK_RESTRICT_SELF},
	{"seccomp", SYS_seccomp},
	{"capset", SYS_capset},
	{"capget", SYS_capget},
	{"prctl", SYS_prctl},
	{"close_range", SYS_close_range},
	{"openat2", NR_OPENAT2},
	{"setgroups", SYS_setgroups},
	{"chdir", SYS_chdir},
	{"fchdir", SYS_fchdir},
	{"getcwd", SYS_getcwd},
	{"readlinkat", SYS_readlinkat},
	{"statx", SYS_statx},
	{"getdents64", SYS_getdents64},
	{"fcntl", SYS_fcntl},
	{NULL, 0},
};

static int answer(int argc, char **argv)
{
	static struct sock_filter filter[256];
	unsigned short length = 0;
	struct sock_fprog program = {.filter = filter};
	char *rest = argv[0], *word;

#define ADD(...) (filter[length++] = (struct sock_filter){__VA_ARGS__})
	if (argc < 3 || strcmp(argv[1], "--") != 0) {
		fprintf(stderr, "usage: act answer CALL=ERROR[,...] -- CMD ARGS...\n");
		return 2;
	}
	ADD(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
	ADD(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, NATIVE_ARCH);
	ADD(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	ADD(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	while ((word = strsep(&rest, ",")) && length < 240) {
		char *error = strchr(word, '=');
		unsigned value = 0;

		if (!error)
			die(word);
		*error++ = '\0';
		while (value < 134 && strcmp(error, "0") != 0 &&
		       strcmp(error, value ? (strerrorname_np((int)value) ?: "") : "") != 0)
			value++;
		if (value == 134)
			die(error);
		ADD(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)look_up(calls, word, "call"));
		ADD(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | value);
	}
	ADD(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
#undef ADD
	program.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		die("filter");
	execvp(argv[2], argv + 2);
	die(argv[2]);
	return 127;
}

static const struct act {
	const char *name;
	int arguments;
	int (*run)(char **);
} acts[] = {
	{"open", 2, do_open},
	{"openat", 3, do_openat},
	{"openat2", 2, do_openat2},
	{"reopen", 3, do_reopen},
	{"cd", 2, do_cd},
	{"fchdir", 2, do_fchdir},
	{"truncate", 1, do_truncate},
	{"write", 1, do_write},
	{"read", 1, do_read},
	{"list", 1, do_list},
	{"mmap", 1, do_mmap},
	{"fallocate", 1, do_fallocate},
	{"copy", 3, do_copy},
	{"mkdir", 1, do_mkdir},
	{"rmdir", 1, do_rmdir},
	{"unlink", 1, do_unlink},
	{"mknod", 2, do_mknod},
	{"symlink", 2, do_symlink},
	{"link", 3, do_link},
	{"rename", 3, do_rename},
	{"flip", 3, do_flip},
	{"tmpfile", 2, do_tmpfile},
	{"bind", 1, do_bind},
	{"handle", 2, do_handle},
	{"chroot", 2, do_chroot},
	{"meta", 2, do_meta},
	{"uring", 2, do_uring},
#if defined(__x86_64__)
	{"i386", 2, do_i386},
	{"x32", 1, do_x32},
	{"legacy", 3, do_legacy},
#endif
	{"victim", 0, do_victim},
	{"kill", 3, do_kill},
	{"attach", 1, do_attach},
	{"seize", 1, do_seize},
	{"memory", 3, do_memory},
	{"getfd", 2, do_getfd},
	{"adjust", 2, do_adjust},
	{"unshare", 1, do_unshare},
	{"clone", 1, do_clone},
	{"clone3", 1, do_clone3},
	{"setns", 2, do_setns},
	{"mount", 2, do_mount},
	{"reach", 3, do_reach},
	{"socket", 3, do_socket},
	{"loopback", 1, do_loopback},
	{"listen", 1, do_listen},
	{"unix", 2, do_unix},
	{"abstract", 0, do_abstract},
	{"ipc", 2, do_ipc},
	{"terminal", 2, do_terminal},
	{"pty", 0, do_pty},
	{"call", 1, do_call},
};

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "answer") == 0)
		return answer(argc - 2, argv + 2);
	for (size_t i = 0; argc > 1 && i < sizeof acts / sizeof *acts; i++) {
		if (strcmp(acts[i].name, argv[1]) != 0)
			continue;
		if (argc - 2 != acts[i].arguments)
			break;
		if (acts[i].run(argv + 2) == 0)
			return 0;
		fprintf(stderr, "%s\n", strerrorname_np(errno));
		return 1;
	}
	fprintf(stderr, "usage: act NAME ARGUMENT...\n");
	return 2;
}
