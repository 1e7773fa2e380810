/*
 * differ_ops.c - the operations that make, move and remove names.
 *
 * Each draws its arguments, makes the system call itself (libc would pick another one, or
 * check first) and tells the call and its result.  The older calls are there on x86-64.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "differ.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ANY(array) ((array)[chance(COUNT(array))])

mode_t pick_mode(void)
{
	static const mode_t modes[] = {0644, 0666,  0600,  0755, 0777, 0700, 0444, 0555, 0000,
				       0222, 02755, 01777, 0711, 0640, 0020, 0004, 0070};
	mode_t mode = one_in(4) ? chance(01000) : ANY(modes);

	if (one_in(30))
		mode |= 0x10000; /* bits that no mode has are ignored */
	if (one_in(20) && !world.is_root)
		mode |= S_ISUID;
	return mode;
}

/* --- opening -------------------------------------------------------------------------- */

#define MEANINGLESS (O_NOFOLLOW | O_DIRECTORY)

static const char *type_of(mode_t mode)
{
	return S_ISREG(mode)    ? "file"
	       : S_ISDIR(mode)  ? "directory"
	       : S_ISLNK(mode)  ? "link"
	       : S_ISFIFO(mode) ? "fifo"
	       : S_ISSOCK(mode) ? "socket"
	       : S_ISCHR(mode)  ? "device"
				: "?";
}

/* Everything that a program can learn about a new descriptor, and a newline. */
void tell_descriptor(long fd)
{
	long flags, position;
	struct stat info;

	if (fd < 0) {
		tell_result(fd);
		return;
	}
	flags = call(SYS_fcntl, fd, F_GETFL);
	if (!world.strict_flags && flags >= 0)
		flags &= ~(long)MEANINGLESS;
	tell(" = %ld flags=%#lx cloexec=%ld", fd, flags, call(SYS_fcntl, fd, F_GETFD));
	position = call(SYS_lseek, fd, 0, SEEK_CUR);
	if (position)
		tell(" position=%s", position < 0 ? error_name(-position) : "moved");
	if (fstat((int)fd, &info) != 0) {
		tell(" fstat=%s\n", error_name(errno));
		return;
	}
	tell(" %s mode=%o links=%u", type_of(info.st_mode), info.st_mode & 07777,
	     (unsigned)info.st_nlink);
	if (S_ISREG(info.st_mode))
		tell(" size=%lld", (long long)info.st_size);
	if (leads_above((int)fd)) {
		call(SYS_close, fd);
		tell(" (closed)");
	}
	tell("\n");
}

static int pick_open_flags(void)
{
	static const int access_modes[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR, O_WRONLY, O_ACCMODE};
	static const int extras[] = {O_EXCL,    O_NOFOLLOW, O_DIRECTORY, O_APPEND,
				     O_TRUNC,   O_CLOEXEC,  O_NONBLOCK,  O_SYNC,
				     O_NOATIME, O_NOCTTY,   O_DSYNC,     O_LARGEFILE};
	int flags = one_in(25) ? O_ACCMODE : access_modes[chance(5)];

	if (!one_in(3))
		flags |= O_CREAT;
	for (unsigned i = chance(4); i > 0; i--)
		flags |= ANY(extras);
	if (one_in(4))
		flags |= O_CLOEXEC;
	if (one_in(12))
		flags |= O_TRUNC;
	if (one_in(15))
		flags |= O_PATH;
	if (one_in(15))
		flags = (flags & ~O_CREAT) | O_TMPFILE;
	if (one_in(40))
		flags |= 0x40000000; /* no flag: ignored by open, refused by openat2 */
	return flags;
}

/* An open that would wait for the other end of a FIFO waits for ever here. */
static int without_waiting(int flags, int dirfd, const char *path)
{
	struct stat info;

	if (flags & (O_NONBLOCK | O_PATH))
		return flags;
	if (call(SYS_newfstatat, dirfd, path, &info, 0) == 0 && S_ISFIFO(info.st_mode))
		flags |= O_NONBLOCK;
	return flags;
}

static void open_at(void)
{
	struct name name = pick_file();
	int dirfd = pick_dirfd();
	int flags = without_waiting(pick_open_flags(), dirfd, name.path);
	mode_t mode = pick_mode();

	tell("openat(");
	tell_dirfd(dirfd);
	tell(", %s, %#x, %#o)", name.told, (unsigned)flags, mode);
	tell_descriptor(call(SYS_openat, dirfd, name.path, flags, mode));
}

static void open_at2(void)
{
	static const uint64_t resolves[] = {
		0,
		0,
		RESOLVE_NO_SYMLINKS,
		RESOLVE_NO_MAGICLINKS,
		RESOLVE_BENEATH,
		RESOLVE_IN_ROOT,
		RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS,
		RESOLVE_CACHED,
		RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
		RESOLVE_BENEATH | RESOLVE_IN_ROOT,
		0x100,
	};
	struct {
		struct open_how how;
		uint64_t more;
	} words = {.how.resolve = ANY(resolves)};
	struct name name = pick_file();
	int dirfd = pick_dirfd();
	size_t size = sizeof words.how;
	const void *how = &words.how;
	unsigned odd = chance(40);
	int tries = 1000;
	long fd;

	words.how.flags = (uint64_t)(unsigned)without_waiting(pick_open_flags(), dirfd, name.path);
	if (words.how.flags & (O_CREAT | __O_TMPFILE) || one_in(20))
		words.how.mode = pick_mode() & (one_in(10) ? ~0u : 07777u);
	/* Whether a path is in the cache depends on what else the machine does. */
	if (words.how.resolve == RESOLVE_CACHED)
		words.how.resolve = 0;
	/* From the root down there may be a mount at the tree, or not. */
	if ((words.how.resolve & RESOLVE_NO_XDEV) && name.told[0] != '.' && strchr(name.told, '/'))
		words.how.resolve = 0;
	if (odd == 0)
		size = 8;
	else if (odd == 1)
		size = sizeof words;
	else if (odd == 2)
		size = sizeof words, words.more = 1;
	else if (odd == 3)
		how = world.edge;
	else if (odd == 4)
		size = 1 << 20;
	tell("openat2(");
	tell_dirfd(dirfd);
	tell(", %s, {%#llx, %#llo, %#llx}%s, %zu)", name.told, (unsigned long long)words.how.flags,
	     (unsigned long long)words.how.mode, (unsigned long long)words.how.resolve,
	     how == &words.how ? "" : " unreadable", size);
	/* EAGAIN: somewhere on the machine something was renamed while ".." was followed */
	do
		fd = call(SYS_openat2, dirfd, name.path, how, size);
	while (fd == -EAGAIN && tries-- > 0);
	tell_descriptor(fd);
}

#ifdef SYS_open
static void open_old(void)
{
	struct name name = pick_file();
	int flags = without_waiting(pick_open_flags(), AT_FDCWD, name.path);
	mode_t mode = pick_mode();

	tell("open(%s, %#x, %#o)", name.told, (unsigned)flags, mode);
	tell_descriptor(call(SYS_open, name.path, flags, mode));
}

static void creat_old(void)
{
	struct name name = pick_file();
	mode_t mode = pick_mode();

	/* it has no O_NONBLOCK */
	if (!(without_waiting(0, AT_FDCWD, name.path) & O_NONBLOCK)) {
		tell("creat(%s, %#o)", name.told, mode);
		tell_descriptor(call(SYS_creat, name.path, mode));
	} else {
		tell("creat(%s): a fifo\n", name.told);
	}
}
#endif

void open_something(void)
{
	unsigned way = chance(10);

	if (way < 2 && world.openat2) {
		open_at2();
		return;
	}
#ifdef SYS_open
	if (way < 5) {
		open_old();
		return;
	}
	if (way == 5) {
		creat_old();
		return;
	}
#endif
	open_at();
}

/* A file without a name, then one of the ways to give it one. */
static void temporary_file(void)
{
	int flags = O_TMPFILE | (one_in(3) ? O_RDWR : O_WRONLY) | (one_in(4) ? O_EXCL : 0);
	struct name directory = pick_name(), name = pick_name();
	mode_t mode = pick_mode();
	int dirfd = pick_dirfd();
	char source[40];
	long fd;

	tell("tmpfile(%s, %#x, %#o)", directory.told, (unsigned)flags, mode);
	fd = call(SYS_openat, AT_FDCWD, directory.path, flags, mode);
	tell_descriptor(fd);
	if (fd < 0)
		return;
	tell("  write");
	tell_result(call(SYS_write, fd, "temporary\n", 10L));
	if (one_in(2)) {
		snprintf(source, sizeof source, "/proc/self/fd/%ld", fd);
		tell("  linkat(proc, ");
		tell_dirfd(dirfd);
		tell(", %s)", name.told);
		tell_result(call(SYS_linkat, AT_FDCWD, source, dirfd, name.path,
				 one_in(10) ? 0 : AT_SYMLINK_FOLLOW));
	} else {
		tell("  linkat(%s, ", "EMPTY_PATH");
		tell_dirfd(dirfd);
		tell(", %s)", name.told);
		tell_result(call(SYS_linkat, fd, "", dirfd, name.path, AT_EMPTY_PATH));
	}
	if (one_in(2))
		call(SYS_close, fd);
}

/* --- making --------------------------------------------------------------------------- */

static void make_directory(void)
{
	struct name name = pick_name();
	mode_t mode = pick_mode();
	int dirfd = pick_dirfd();

#ifdef SYS_mkdir
	if (one_in(3)) {
		tell("mkdir(%s, %#o)", name.told, mode);
		tell_result(call(SYS_mkdir, name.path, mode));
		return;
	}
#endif
	tell("mkdirat(");
	tell_dirfd(dirfd);
	tell(", %s, %#o)", name.told, mode);
	tell_result(call(SYS_mkdirat, dirfd, name.path, mode));
}

static void make_node(void)
{
	/* no devices: those are refused, and their numbers with them */
	static const mode_t types[] = {S_IFIFO, S_IFSOCK, S_IFREG, 0,
				       S_IFIFO, S_IFDIR,  S_IFLNK, 0150000};
	struct name name = pick_name();
	mode_t mode = ANY(types) | (pick_mode() & 07777);
	int dirfd = pick_dirfd();

#ifdef SYS_mknod
	if (one_in(3)) {
		tell("mknod(%s, %#o)", name.told, mode);
		tell_result(call(SYS_mknod, name.path, mode, 0));
		return;
	}
#endif
	tell("mknodat(");
	tell_dirfd(dirfd);
	tell(", %s, %#o)", name.told, mode);
	tell_result(call(SYS_mknodat, dirfd, name.path, mode, 0));
}

static void make_link(void)
{
	static const int flag_list[] = {0,
					0,
					0,
					AT_SYMLINK_FOLLOW,
					AT_SYMLINK_FOLLOW,
					AT_EMPTY_PATH,
					AT_SYMLINK_NOFOLLOW,
					0x8000};
	struct name from = pick_name(), to = pick_name();
	int from_fd = pick_dirfd(), to_fd = pick_dirfd(), flags = ANY(flag_list);

#ifdef SYS_link
	if (one_in(3)) {
		tell("link(%s, %s)", from.told, to.told);
		tell_result(call(SYS_link, from.path, to.path));
		return;
	}
#endif
	if (flags == AT_EMPTY_PATH && one_in(2))
		from.path = "", strcpy(from.told, "");
	tell("linkat(");
	tell_dirfd(from_fd);
	tell(", %s, ", from.told);
	tell_dirfd(to_fd);
	tell(", %s, %#x)", to.told, (unsigned)flags);
	tell_result(call(SYS_linkat, from_fd, from.path, to_fd, to.path, flags));
}

static void make_symlink(void)
{
	const char *target = pick_target();
	struct name name = pick_name();
	int dirfd = pick_dirfd();

	if (one_in(40))
		target = one_in(2) ? NULL : world.edge;
	tell("symlink");
	if (!target || target == world.edge)
		tell("((unreadable)");
	else {
		tell("(");
		tell_target(target);
	}
#ifdef SYS_symlink
	if (one_in(3)) {
		tell(", %s)", name.told);
		tell_result(call(SYS_symlink, target, name.path));
		return;
	}
#endif
	tell(", ");
	tell_dirfd(dirfd);
	tell(", %s)", name.told);
	tell_result(call(SYS_symlinkat, target, dirfd, name.path));
}

/* --- moving and removing -------------------------------------------------------------- */

static void rename_something(void)
{
	static const unsigned flag_list[] = {0,
					     0,
					     RENAME_NOREPLACE,
					     RENAME_EXCHANGE,
					     RENAME_EXCHANGE,
					     RENAME_NOREPLACE | RENAME_EXCHANGE,
					     0x10};
	struct name from = pick_name(), to = pick_name();
	int from_fd = pick_dirfd(), to_fd = pick_dirfd();
	unsigned flags = ANY(flag_list), way = chance(4);

#ifdef SYS_rename
	if (way == 0) {
		tell("rename(%s, %s)", from.told, to.told);
		tell_result(call(SYS_rename, from.path, to.path));
		return;
	}
#endif
	tell(way == 1 ? "renameat(" : "renameat2(");
	tell_dirfd(from_fd);
	tell(", %s, ", from.told);
	tell_dirfd(to_fd);
	tell(", %s, %#x)", to.told, way == 1 ? 0 : flags);
#ifdef SYS_renameat
	if (way == 1) {
		tell_result(call(SYS_renameat, from_fd, from.path, to_fd, to.path));
		return;
	}
#endif
	tell_result(call(SYS_renameat2, from_fd, from.path, to_fd, to.path, way == 1 ? 0 : flags));
}

static void remove_something(void)
{
	static const int flag_list[] = {0, 0, 0, AT_REMOVEDIR, AT_REMOVEDIR, 0x1};
	struct name name = pick_name();
	int dirfd = pick_dirfd(), flags = ANY(flag_list);

#ifdef SYS_unlink
	switch (chance(4)) {
	case 0:
		tell("unlink(%s)", name.told);
		tell_result(call(SYS_unlink, name.path));
		return;
	case 1:
		tell("rmdir(%s)", name.told);
		tell_result(call(SYS_rmdir, name.path));
		return;
	default:
		break;
	}
#endif
	tell("unlinkat(");
	tell_dirfd(dirfd);
	tell(", %s, %#x)", name.told, (unsigned)flags);
	tell_result(call(SYS_unlinkat, dirfd, name.path, flags));
}

/* Where we stand, removed: the names of a directory that has none. */
static void stand_on_nothing(void)
{
	static const char *const steps[] = {"gone", "gone/deeper"};
	const char *place = ANY(steps);

	tell("mkdir(gone)");
	tell_result(call(SYS_mkdirat, AT_FDCWD, "gone", 0777));
	tell("  mkdir(gone/deeper)");
	tell_result(call(SYS_mkdirat, AT_FDCWD, "gone/deeper", 0777));
	tell("  chdir(%s)", place);
	if (call(SYS_chdir, place) != 0) {
		tell(": not there\n");
		return;
	}
	tell("\n  rmdir");
	if (place == steps[1])
		tell_result(call(SYS_unlinkat, AT_FDCWD, "../deeper", AT_REMOVEDIR));
	else
		tell_result(call(SYS_unlinkat, AT_FDCWD, "deeper", AT_REMOVEDIR));
	if (place == steps[0]) {
		tell("  rmdir");
		tell_result(call(SYS_unlinkat, AT_FDCWD, "../gone", AT_REMOVEDIR));
	}
	tell("  ");
	open_something();
	tell("  ");
	make_directory();
	tell("  ");
	rename_something();
	if (one_in(2)) {
		tell("  chdir(T)");
		tell_result(call(SYS_chdir, world.tree));
	}
}

const struct operation name_operations[] = {
	{26, open_something},   {6, temporary_file},    {8, make_directory},
	{5, make_node},         {9, make_link},         {8, make_symlink},
	{16, rename_something}, {12, remove_something}, {1, stand_on_nothing},
};
const size_t name_operation_count = COUNT(name_operations);
