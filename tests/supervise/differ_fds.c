/*
 * differ_fds.c - the operations on descriptors, limits, directories and sockets.
 *
 * What an open handed over must behave like what the kernel hands over itself: its number,
 * its position, its locks, its mappings.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "differ.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ANY(array) ((array)[chance(COUNT(array))])

/* --- reading and writing -------------------------------------------------------------- */

static void write_something(void)
{
	static const char text[] = "some words, and then some more of them\n";
	static const long places[] = {0, 3, 100, 4095, -1};
	size_t length = chance(sizeof text);
	long at = ANY(places);
	int fd = pick_fd();

	if (one_in(2)) {
		tell("write(%d, %zu)", fd, length);
		tell_result(call(SYS_write, fd, text, length));
	} else {
		tell("pwrite(%d, %zu, %ld)", fd, length, at);
		tell_result(call(SYS_pwrite64, fd, text, length, at));
	}
}

static void read_something(void)
{
	char data[256];
	int fd = pick_fd();
	long got = one_in(2) ? call(SYS_pread64, fd, data, sizeof data, (long)chance(10))
			     : call(SYS_read, fd, data, sizeof data);

	tell("read(%d)", fd);
	if (got > 0)
		tell(" %llx", (unsigned long long)hash_bytes(data, (size_t)got));
	tell_result(got);
}

static void seek_something(void)
{
	static const int origins[] = {SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, 9};
	long offset = (long)chance(50) - 5;
	int fd = pick_fd(), origin = ANY(origins);

	tell("lseek(%d, %ld, %d)", fd, offset, origin);
	tell_result(call(SYS_lseek, fd, offset, origin));
}

static void map_something(void)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = pick_fd();
	struct stat info;
	char *memory;

	tell("mmap(%d)", fd);
	memory = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		tell_result(-errno);
		return;
	}
	if (fstat(fd, &info) == 0 && info.st_size > 0) { /* else a touch is SIGBUS */
		memory[0] = 'M';
		tell(" %s", msync(memory, (size_t)page, MS_SYNC) == 0 ? "written" : "not written");
	}
	munmap(memory, (size_t)page);
	tell("\n");
}

static void space_something(void)
{
	int fd = pick_fd(), mode = one_in(3) ? 1 /* FALLOC_FL_KEEP_SIZE */ : 0;

	tell("fallocate(%d, %d)", fd, mode);
	tell_result(call(SYS_fallocate, fd, mode, 10L, 500L));
}

static void copy_something(void)
{
	int from = pick_fd(), to = pick_fd();

	if (one_in(2)) {
		tell("copy_file_range(%d, %d)", from, to);
		tell_result(call(SYS_copy_file_range, from, NULL, to, NULL, 20L, 0L));
	} else {
		tell("sendfile(%d, %d)", to, from);
		tell_result(call(SYS_sendfile, to, from, NULL, 20L));
	}
}

/* --- the table of descriptors --------------------------------------------------------- */

static void close_something(void)
{
	int fd = pick_fd();

	tell("close(%d)", fd);
	tell_result(call(SYS_close, fd));
}

static void duplicate_something(void)
{
	int fd = pick_fd(), to = (int)chance(9);

	switch (chance(3)) {
	case 0:
		tell("dup(%d)", fd);
		tell_descriptor(call(SYS_dup, fd));
		break;
	case 1:
		tell("dup3(%d, %d)", fd, to);
		tell_descriptor(call(SYS_dup3, fd, to, one_in(2) ? O_CLOEXEC : 0));
		break;
	default:
		tell("dupfd(%d, %d)", fd, to);
		tell_descriptor(call(SYS_fcntl, fd, one_in(2) ? F_DUPFD : F_DUPFD_CLOEXEC, to));
		break;
	}
}

/* No number is free: nothing may be created, and nothing truncated. */
static void with_few_descriptors(void)
{
	struct rlimit before, few;

	getrlimit(RLIMIT_NOFILE, &before);
	few = before;
	few.rlim_cur = chance(8);
	setrlimit(RLIMIT_NOFILE, &few);
	tell("[at most %u] ", (unsigned)few.rlim_cur);
	open_something();
	setrlimit(RLIMIT_NOFILE, &before);
}

static volatile sig_atomic_t too_large;

static void on_too_large(int number)
{
	(void)number;
	too_large++;
}

/* The signal comes to whoever made the call. */
static void with_small_files(void)
{
	struct rlimit before, small;

	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 100;
	too_large = 0;
	signal(SIGXFSZ, on_too_large);
	setrlimit(RLIMIT_FSIZE, &small);
	tell("[at most 100 bytes] ");
	if (one_in(3))
		write_something();
	else
		resize_something();
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_IGN);
	tell("  signals=%d\n", (int)too_large);
}

/* --- locks ---------------------------------------------------------------------------- */

static void lock_something(void)
{
	int fd = pick_fd();
	struct flock lock = {.l_type = one_in(3) ? F_RDLCK : F_WRLCK, .l_len = 10};
	long result;
	int status;
	pid_t pid;

	if (one_in(2)) {
		result = call(SYS_flock, fd, (one_in(3) ? LOCK_SH : LOCK_EX) | LOCK_NB);
		tell("flock(%d)", fd);
	} else {
		result = call(SYS_fcntl, fd, F_SETLK, &lock);
		tell("fcntl-lock(%d, %d)", fd, lock.l_type);
	}
	tell_result(result);
	if (result < 0)
		return;
	/* another process, with a description of its own, sees the lock */
	pid = fork();
	if (pid == 0) {
		char path[40];
		long other;

		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		other = call(SYS_openat, AT_FDCWD, path, O_RDWR | O_NONBLOCK);
		tell("  other: open %s", other < 0 ? error_name(-other) : "ok");
		if (other >= 0) {
			long wanted = call(SYS_flock, other, LOCK_EX | LOCK_NB);

			tell(" flock %s", wanted < 0 ? error_name(-wanted) : "ok");
			wanted = call(SYS_fcntl, other, F_SETLK, &lock);
			tell(" lock %s", wanted < 0 ? error_name(-wanted) : "ok");
		}
		tell("\n");
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		tell("  (no other process)\n");
	if (one_in(2))
		call(SYS_flock, fd, LOCK_UN);
}

/* --- where we stand, and how we create ------------------------------------------------- */

static void change_directory(void)
{
	struct name name = pick_name();
	int fd = pick_fd();

	if (one_in(4)) {
		tell("fchdir(%d)", fd);
		tell_result(call(SYS_fchdir, fd));
	} else if (one_in(3)) {
		tell("chdir(T)");
		tell_result(call(SYS_chdir, world.tree));
	} else {
		tell("chdir(%s)", name.told);
		tell_result(call(SYS_chdir, name.path));
	}
}

static void change_umask(void)
{
	static const mode_t masks[] = {0, 022, 077, 027, 0777, 002, 0222};
	mode_t mask = ANY(masks);

	tell("umask(%#o)", mask);
	tell_result(call(SYS_umask, mask));
}

/* --- sockets -------------------------------------------------------------------------- */

static socklen_t fill_address(struct sockaddr_un *address, const struct name *name)
{
	size_t length = strlen(name->path);

	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	if (length > sizeof address->sun_path)
		length = sizeof address->sun_path;
	memcpy(address->sun_path, name->path, length);
	/* with the NUL or without it; the kernel adds one */
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length +
			   (length < sizeof address->sun_path && one_in(2)));
}

static void tell_address(long result, const struct sockaddr_un *address, socklen_t length)
{
	int bytes = (int)length - (int)offsetof(struct sockaddr_un, sun_path);

	if (result < 0)
		tell(" %s", error_name(-result));
	else
		tell(" %d:%.*s", (int)length, bytes > 0 ? bytes : 0, address->sun_path);
}

static void meet_at_a_socket(void)
{
	struct name name = pick_socket();
	struct sockaddr_un address, seen;
	int type = one_in(4) ? SOCK_SEQPACKET : SOCK_STREAM;
	long server = call(SYS_socket, AF_UNIX, type, 0), client, result;
	socklen_t length = fill_address(&address, &name), seen_length = sizeof seen;

	if (one_in(30))
		address.sun_family = AF_INET;
	else if (one_in(30))
		length = 1;
	else if (one_in(30))
		length = 200;
	tell("bind(%s, %u, %u)", name.told, address.sun_family, (unsigned)length);
	result = call(SYS_bind, server, one_in(40) ? (void *)world.edge : (void *)&address, length);
	tell_result(result);
	if (result < 0) {
		call(SYS_close, server);
		return;
	}
	memset(&seen, 0, sizeof seen);
	result = call(SYS_getsockname, server, &seen, &seen_length);
	tell("  name");
	tell_address(result, &seen, seen_length);
	tell(" listen");
	tell_result(call(SYS_listen, server, 5));
	client = call(SYS_socket, AF_UNIX, type | SOCK_NONBLOCK, 0);
	tell("  connect");
	result = call(SYS_connect, client, &address, length);
	tell_result(result);
	if (result == 0) {
		seen_length = sizeof seen;
		memset(&seen, 0, sizeof seen);
		result = call(SYS_getpeername, client, &seen, &seen_length);
		tell("  peer");
		tell_address(result, &seen, seen_length);
		tell(" send");
		tell_result(call(SYS_write, client, "hello", 5L));
	}
	call(SYS_close, client);
	call(SYS_close, server);
}

static void connect_somewhere(void)
{
	struct name name = pick_socket();
	struct sockaddr_un address;
	socklen_t length = fill_address(&address, &name);
	long fd = call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (one_in(20)) {
		memcpy(address.sun_path, "\0sandbash-differ-nobody", 24);
		length = sizeof address;
		strcpy(name.told, "@nobody");
	}
	tell("connect(%s)", name.told);
	tell_result(call(SYS_connect, fd, &address, length));
	call(SYS_close, fd);
}

/* --- what is not a file --------------------------------------------------------------- */

/*
 * Opened, used and closed again here: a descriptor that stayed could be given to fchmod(),
 * and root owns the devices of the machine.
 */
static void use_a_device(void)
{
	static const char *const devices[] = {"/dev/null",  "/dev/zero",    "/dev/full",
					      "/dev/tty",   "/dev/urandom", "/dev/./null",
					      "/dev/null/x"};
	static const int flag_list[] = {O_WRONLY,
					O_RDWR,
					O_WRONLY | O_CREAT,
					O_WRONLY | O_TRUNC,
					O_RDWR | O_CREAT | O_TRUNC,
					O_WRONLY | O_APPEND,
					O_WRONLY | O_CREAT | O_EXCL,
					O_RDWR | O_DIRECTORY,
					O_RDWR | O_NOFOLLOW};
	const char *device = ANY(devices);
	int flags = ANY(flag_list) | O_NOCTTY;
	long fd = call(SYS_openat, AT_FDCWD, device, flags, 0666);
	struct stat info;

	tell("device(%s, %#x)", device, (unsigned)flags);
	if (fd < 0) {
		tell_result(fd);
		return;
	}
	tell(" = %ld %#lx", fd, call(SYS_fcntl, fd, F_GETFL));
	if (fstat((int)fd, &info) == 0)
		tell(" %s", S_ISCHR(info.st_mode) ? "device" : "something else");
	if (strcmp(device, "/dev/urandom") != 0)
		tell(" write"), tell_result(call(SYS_write, fd, "x", 1L));
	else
		tell("\n");
	call(SYS_close, fd);
}

/* Both ends of a FIFO wait for each other: neither may hold up who serves the other. */
static void meet_at_a_fifo(void)
{
	char data[16];
	long fd, got = 0;
	int status;
	pid_t pid;

	tell("mkfifo(meet)");
	tell_result(call(SYS_mknodat, AT_FDCWD, "meet", S_IFIFO | 0600, 0));
	if (call(SYS_faccessat, AT_FDCWD, "meet", R_OK | W_OK) != 0)
		return;
	pid = fork();
	if (pid == 0) {
		fd = call(SYS_openat, AT_FDCWD, "meet", O_WRONLY);
		if (fd < 0 || call(SYS_write, fd, "across", 6L) != 6)
			_exit(1);
		_exit(0);
	}
	fd = call(SYS_openat, AT_FDCWD, "meet", O_RDONLY);
	tell("  open");
	tell_descriptor(fd);
	if (fd >= 0)
		got = call(SYS_read, fd, data, sizeof data);
	tell("  read");
	tell_result(got);
	/* all writers are gone: the end, at once */
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		tell("  (the writer failed)\n");
	if (fd >= 0) {
		tell("  end");
		tell_result(call(SYS_read, fd, data, sizeof data));
		call(SYS_close, fd);
	}
	tell("  unlink");
	tell_result(call(SYS_unlinkat, AT_FDCWD, "meet", 0));
}

/*
 * Names of the machine that an ordinary user cannot change: refused here and there, with the
 * same answer.  Reading them works.
 */
static void touch_outside(void)
{
	static const char *const places[] = {"/etc/passwd",  "/usr/bin",   "/usr/bin/env",
					     "/usr/nothing", "/nothing/x", "/etc/passwd/x",
					     "/usr/"};
	const char *place = ANY(places);

	if (!world.outside || world.is_root) {
		read_something();
		return;
	}
	switch (chance(7)) {
	case 0:
		tell("outside open(%s)", place);
		tell_result(call(SYS_openat, AT_FDCWD, place, O_WRONLY));
		break;
	case 1:
		tell("outside create(%s)", place);
		tell_result(call(SYS_openat, AT_FDCWD, place, O_WRONLY | O_CREAT | O_EXCL, 0600));
		break;
	case 2:
		tell("outside mkdir(%s)", place);
		tell_result(call(SYS_mkdirat, AT_FDCWD, place, 0700));
		break;
	case 3:
		tell("outside unlink(%s)", place);
		tell_result(call(SYS_unlinkat, AT_FDCWD, place, 0));
		break;
	case 4:
		tell("outside access(%s)", place);
		tell_result(call(SYS_faccessat, AT_FDCWD, place, W_OK));
		break;
	case 5:
		tell("outside symlink(%s)", place);
		tell_result(call(SYS_symlinkat, "x", AT_FDCWD, place));
		break;
	default:
		tell("outside chmod(%s)", place);
		tell_result(call(SYS_fchmodat, AT_FDCWD, place, 0777));
		break;
	}
}

const struct operation fd_operations[] = {
	{12, write_something}, {4, read_something},      {2, seek_something},
	{3, map_something},    {1, space_something},     {2, copy_something},
	{4, close_something},  {3, duplicate_something}, {4, with_few_descriptors},
	{3, with_small_files}, {3, lock_something},      {6, change_directory},
	{3, change_umask},     {4, meet_at_a_socket},    {2, connect_somewhere},
	{2, use_a_device},     {1, meet_at_a_fifo},      {3, touch_outside},
};
const size_t fd_operation_count = COUNT(fd_operations);
