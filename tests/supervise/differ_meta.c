/*
 * differ_meta.c - the operations on what a name stands for: size, mode, owner, times,
 * attributes, and whether one may.
 *
 * A time that is set lies in 2001 and is listed; any other time is "now", and is not.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "differ.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* Linux 6.6, newer than the headers of Debian 12 */
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ANY(array) ((array)[chance(COUNT(array))])

static int pick_at_flags(void)
{
	static const int flag_list[] = {0,
					0,
					0,
					AT_SYMLINK_NOFOLLOW,
					AT_SYMLINK_NOFOLLOW,
					AT_EMPTY_PATH,
					AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
					0x10000};

	return ANY(flag_list);
}

/* With AT_EMPTY_PATH mostly an empty path, or the flag says nothing. */
static struct name pick_name_for(int flags)
{
	struct name name = pick_name();

	if ((flags & AT_EMPTY_PATH) && !one_in(3)) {
		name.path = "";
		name.told[0] = '\0';
	}
	return name;
}

static void tell_at(const char *what, int dirfd, const struct name *name)
{
	tell("%s(", what);
	tell_dirfd(dirfd);
	tell(", %s", name->told);
}

/* --- size ----------------------------------------------------------------------------- */

void resize_something(void)
{
	static const long sizes[] = {0, 1, 5, 4096, 70000, -1, 0x7fffffffffffffff, 100, 101};
	long size = ANY(sizes);

	if (one_in(2)) {
		int fd = pick_fd();

		tell("ftruncate(%d, %ld)", fd, size);
		tell_result(call(SYS_ftruncate, fd, size));
	} else {
		struct name name = pick_file();

		tell("truncate(%s, %ld)", name.told, size);
		tell_result(call(SYS_truncate, name.path, size));
	}
}

/* --- mode and owner ------------------------------------------------------------------- */

static void change_mode(void)
{
	int dirfd = pick_dirfd(), flags = pick_at_flags(), fd = pick_fd();
	struct name name = pick_name();
	mode_t mode = pick_mode();

	switch (chance(4)) {
	case 0:
		tell("fchmod(%d, %#o)", fd, mode);
		tell_result(call(SYS_fchmod, fd, mode));
		return;
	case 1:
		name = pick_name_for(flags);
		tell_at("fchmodat2", dirfd, &name);
		tell(", %#o, %#x)", mode, (unsigned)flags);
		tell_result(call(SYS_fchmodat2, dirfd, name.path, mode, flags));
		return;
#ifdef SYS_chmod
	case 2:
		tell("chmod(%s, %#o)", name.told, mode);
		tell_result(call(SYS_chmod, name.path, mode));
		return;
#endif
	default:
		tell_at("fchmodat", dirfd, &name);
		tell(", %#o)", mode);
		tell_result(call(SYS_fchmodat, dirfd, name.path, mode));
	}
}

/* Only to whom it belongs already: it still clears setuid bits, and still fails on no file. */
static void change_owner(void)
{
	int dirfd = pick_dirfd(), flags = pick_at_flags(), fd = pick_fd();
	struct name name = pick_name();
	unsigned way = chance(3);
	uid_t uid = way == 0 ? (uid_t)-1 : getuid();
	gid_t gid = way == 1 ? (gid_t)-1 : getgid();
	const char *who = way == 0 ? "-, own" : way == 1 ? "own, -" : "own, own";

	if (one_in(4)) {
		uid = (uid_t)-1, gid = (gid_t)-1;
		who = "-, -";
	}
	switch (chance(4)) {
	case 0:
		tell("fchown(%d, %s)", fd, who);
		tell_result(call(SYS_fchown, fd, uid, gid));
		return;
#ifdef SYS_chown
	case 1:
		tell("chown(%s, %s)", name.told, who);
		tell_result(call(SYS_chown, name.path, uid, gid));
		return;
	case 2:
		tell("lchown(%s, %s)", name.told, who);
		tell_result(call(SYS_lchown, name.path, uid, gid));
		return;
#endif
	default:
		name = pick_name_for(flags);
		tell_at("fchownat", dirfd, &name);
		tell(", %s, %#x)", who, (unsigned)flags);
		tell_result(call(SYS_fchownat, dirfd, name.path, uid, gid, flags));
	}
}

/* --- times ---------------------------------------------------------------------------- */

static struct timespec pick_time(void)
{
	static const long parts[] = {0,         1,          999999999,  123456789,
				     UTIME_NOW, UTIME_OMIT, 1000000000, -1};
	struct timespec time = {.tv_sec = 1000000000 + chance(10000)};

	time.tv_nsec = one_in(3) ? ANY(parts) : parts[chance(4)];
	return time;
}

static void set_times(void)
{
	struct timespec times[2] = {pick_time(), pick_time()};
	int dirfd = pick_dirfd(), flags = pick_at_flags();
	struct name name = pick_name_for(flags);
	const void *pointer = times;

	if (one_in(6))
		pointer = NULL;
	else if (one_in(30))
		pointer = world.edge;
	if (one_in(4)) { /* futimens(): the descriptor itself */
		dirfd = pick_fd();
		name = (struct name){.path = NULL, .told = "NULL"};
		if (!one_in(6))
			flags = 0;
	}
	tell_at("utimensat", dirfd, &name);
	if (!pointer)
		tell(", NULL");
	else
		tell(", {%lld.%ld, %lld.%ld}%s", (long long)times[0].tv_sec, times[0].tv_nsec,
		     (long long)times[1].tv_sec, times[1].tv_nsec,
		     pointer == times ? "" : " unreadable");
	tell(", %#x)", (unsigned)flags);
	tell_result(call(SYS_utimensat, dirfd, name.path, pointer, flags));
}

#ifdef SYS_utime
static void set_times_old(void)
{
	struct utimbuf seconds = {1000000000 + chance(1000), 1000000000 + chance(1000)};
	struct timeval micros[2] = {{seconds.actime, chance(1000000)},
				    {seconds.modtime, chance(1000000)}};
	struct name name = pick_name();
	bool now = one_in(4), at = one_in(2);
	int dirfd = pick_dirfd();

	if (one_in(10))
		micros[1].tv_usec = one_in(2) ? -1 : 1000000;
	if (one_in(3)) {
		tell("utime(%s, {%ld, %ld}%s)", name.told, (long)seconds.actime,
		     (long)seconds.modtime, now ? " now" : "");
		tell_result(call(SYS_utime, name.path, now ? NULL : &seconds));
		return;
	}
	if (at && one_in(4))
		name = (struct name){.path = NULL, .told = "NULL"};
	if (at)
		tell_at("futimesat", dirfd, &name);
	else
		tell("utimes(%s", name.told);
	tell(", {%ld.%ld, %ld.%ld}%s)", (long)micros[0].tv_sec, (long)micros[0].tv_usec,
	     (long)micros[1].tv_sec, (long)micros[1].tv_usec, now ? " now" : "");
	tell_result(at ? call(SYS_futimesat, dirfd, name.path, now ? NULL : micros)
		       : call(SYS_utimes, name.path, now ? NULL : micros));
}
#endif

/* --- extended attributes -------------------------------------------------------------- */

static const char *pick_attribute(void)
{
	static char longer[300];
	static const char *const names[] = {"user.a",   "user.a",         "user.b",   "user.",
					    "user.a.b", "trusted.a",      "nonsense", "",
					    "user",     "system.nonsense"};

	if (one_in(20)) {
		unsigned length = 253 + chance(4);

		memset(longer, 'x', length);
		memcpy(longer, "user.", 5);
		longer[length] = '\0';
		return longer;
	}
	return one_in(3) ? ANY(names) : names[chance(3)];
}

static void set_attribute(void)
{
	static const int flag_list[] = {
		0, 0, XATTR_CREATE, XATTR_REPLACE, XATTR_CREATE | XATTR_REPLACE, 0x10};
	static const char value[200] = "a value with a NUL\0and more";
	static const size_t sizes[] = {0, 1, 7, 27, 200};
	const char *attribute = pick_attribute();
	size_t size = ANY(sizes);
	int flags = ANY(flag_list), fd = pick_fd();
	struct name name = pick_name();
	const void *data = value;
	long result;

	if (one_in(30))
		data = world.edge;
	else if (one_in(30))
		size = 65537;
	switch (chance(3)) {
	case 0:
		tell("fsetxattr(%d", fd);
		result = call(SYS_fsetxattr, fd, attribute, data, size, flags);
		break;
	case 1:
		tell("lsetxattr(%s", name.told);
		result = call(SYS_lsetxattr, name.path, attribute, data, size, flags);
		break;
	default:
		tell("setxattr(%s", name.told);
		result = call(SYS_setxattr, name.path, attribute, data, size, flags);
		break;
	}
	tell(", %.20s(%zu), %zu%s, %#x)", attribute, strlen(attribute), size,
	     data == value ? "" : " unreadable", (unsigned)flags);
	tell_result(result);
}

static void remove_attribute(void)
{
	const char *attribute = pick_attribute();
	struct name name = pick_name();
	int fd = pick_fd();
	long result;

	switch (chance(3)) {
	case 0:
		tell("fremovexattr(%d", fd);
		result = call(SYS_fremovexattr, fd, attribute);
		break;
	case 1:
		tell("lremovexattr(%s", name.told);
		result = call(SYS_lremovexattr, name.path, attribute);
		break;
	default:
		tell("removexattr(%s", name.told);
		result = call(SYS_removexattr, name.path, attribute);
		break;
	}
	tell(", %.20s(%zu))", attribute, strlen(attribute));
	tell_result(result);
}

/* --- may one? ------------------------------------------------------------------------- */

static void may_access(void)
{
	static const int modes[] = {W_OK, W_OK, R_OK | W_OK, F_OK, X_OK, R_OK | W_OK | X_OK, 0x10};
	static const int flag_list[] = {0,
					AT_EACCESS,
					AT_SYMLINK_NOFOLLOW,
					AT_EACCESS | AT_SYMLINK_NOFOLLOW,
					AT_EMPTY_PATH,
					0x10000};
	int mode = ANY(modes), flags = ANY(flag_list), dirfd = pick_dirfd();
	struct name name = pick_file();

	switch (chance(3)) {
#ifdef SYS_access
	case 0:
		tell("access(%s, %d)", name.told, mode);
		tell_result(call(SYS_access, name.path, mode));
		return;
#endif
	case 1:
		tell_at("faccessat", dirfd, &name);
		tell(", %d)", mode);
		tell_result(call(SYS_faccessat, dirfd, name.path, mode));
		return;
	default:
		name = pick_name_for(flags);
		tell_at("faccessat2", dirfd, &name);
		tell(", %d, %#x)", mode, (unsigned)flags);
		tell_result(call(SYS_faccessat2, dirfd, name.path, mode, flags));
	}
}

const struct operation meta_operations[] = {
	{5, resize_something}, {9, change_mode},      {3, change_owner}, {7, set_times},
#ifdef SYS_utime
	{3, set_times_old},
#endif
	{5, set_attribute},    {3, remove_attribute}, {5, may_access},
};
const size_t meta_operation_count = COUNT(meta_operations);
