#include "supervise/call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "policy/encode.h"
#include "sys/notify.h"

#define TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)
#define NR_faccessat2 439
#define NR_fchmodat2 452
#ifndef AT_EACCESS
#define AT_EACCESS 0x200
#endif

static const char *const names[SB_ACT_COUNT] = {
	[SB_ACT_OPEN] = "open",         [SB_ACT_MKDIR] = "mkdir",
	[SB_ACT_MKNOD] = "mknod",       [SB_ACT_SYMLINK] = "symlink",
	[SB_ACT_LINK] = "link",         [SB_ACT_RENAME] = "rename",
	[SB_ACT_UNLINK] = "unlink",     [SB_ACT_RMDIR] = "rmdir",
	[SB_ACT_TRUNCATE] = "truncate", [SB_ACT_CHMOD] = "chmod",
	[SB_ACT_CHOWN] = "chown",       [SB_ACT_TIMES] = "utimensat",
	[SB_ACT_SETXATTR] = "setxattr", [SB_ACT_REMOVEXATTR] = "removexattr",
	[SB_ACT_ACCESS] = "access",     [SB_ACT_CONNECT] = "connect",
	[SB_ACT_BIND] = "bind",         [SB_ACT_UMASK] = "umask",
	[SB_ACT_LOCK] = "lock",         [SB_ACT_LANDLOCK] = "landlock",
	[SB_ACT_REGISTER] = "register", [SB_ACT_CLOSE] = "close",
	[SB_ACT_FLAGS] = "chattr",      [SB_ACT_CHDIR] = "chdir",
	[SB_ACT_OWNER] = "owner",
};

const char *sb_act_name(enum sb_act act)
{
	return names[act];
}

/* The copying of one call. */
struct reader {
	struct sb_call *call;
	const uint64_t *args;
	pid_t thread;
};

static int copy(const struct reader *reader, uint64_t address, void *out, size_t length)
{
	ssize_t got = sb_sys_read_memory(reader->thread, address, out, length);

	if (got < 0)
		return (int)got;
	return (size_t)got == length ? 0 : -EFAULT;
}

static int get_path(const struct reader *reader, uint64_t dirfd, uint64_t address, bool follow,
		    struct sb_named *out)
{
	out->fd = (int)dirfd;
	out->follow = follow;
	return sb_sys_read_string(reader->thread, address, out->path, sizeof out->path);
}

/* With AT_EMPTY_PATH an empty path means the descriptor itself. */
static int get_path_or_descriptor(const struct reader *reader, uint64_t dirfd, uint64_t address,
				  int at_flags, bool follow, struct sb_named *out)
{
	int status = get_path(reader, dirfd, address, follow, out);

	if (status == 0 && !out->path[0] && (at_flags & AT_EMPTY_PATH))
		out->by_descriptor = true; /* AT_FDCWD: the current directory */
	return status;
}

static void get_descriptor(uint64_t fd, struct sb_named *out)
{
	out->fd = (int)fd;
	out->by_descriptor = out->open_only = true;
}

static int get_open(struct reader *reader, uint64_t dirfd, uint64_t path, int flags, mode_t mode)
{
	struct sb_call *call = reader->call;

	call->act = SB_ACT_OPEN;
	call->flags = flags;
	call->mode = mode;
	/* nonsense is refused before the path is looked at; the kernel knows what is nonsense */
	if ((flags & (O_DIRECTORY | TMPFILE_BIT)) &&
	    openat(-1, "x", flags & ~O_CLOEXEC, mode) < 0 &&
	    (errno == EINVAL || errno == EOPNOTSUPP))
		return -errno;
	return get_path(reader, dirfd, path, !(flags & O_NOFOLLOW), &call->file);
}

static int get_openat2(struct reader *reader)
{
	struct open_how how = {0};
	size_t size = reader->args[3];
	char more[PATH_MAX];
	int status;

	if (size < sizeof how)
		return -EINVAL;
	if (size > sizeof more)
		return -E2BIG;
	status = copy(reader, reader->args[2], more, size);
	if (status < 0)
		return status;
	for (size_t i = sizeof how; i < size; i++)
		if (more[i])
			return -E2BIG;
	memcpy(&how, more, sizeof how);
	/* openat2() takes no nonsense, and minds it before anything else: ask the kernel */
	if (syscall(SYS_openat2, -1, "x", &how, sizeof how) < 0 &&
	    (errno == EINVAL || errno == EOPNOTSUPP))
		return -errno;
	/* for every other call that takes a mode the filter says this (linux_seccomp.c) */
	if (geteuid() == 0 && (how.flags & (O_CREAT | TMPFILE_BIT)) && (how.mode & S_ISUID))
		return -EPERM;
	reader->call->resolve = how.resolve;
	reader->call->flags_in_memory = true;
	return get_open(reader, reader->args[0], reader->args[1], (int)how.flags, (mode_t)how.mode);
}

static int get_two_paths(struct reader *reader, enum sb_act act, uint64_t from_dir, uint64_t from,
			 uint64_t to_dir, uint64_t to, int flags)
{
	struct sb_call *call = reader->call;
	int status;

	call->act = act;
	call->flags = flags;
	if (act == SB_ACT_RENAME &&
	    ((flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)) ||
	     ((flags & RENAME_EXCHANGE) && (flags & ~RENAME_EXCHANGE))))
		return -EINVAL;
	status = act == SB_ACT_LINK ? get_path_or_descriptor(reader, from_dir, from, flags,
							     flags & AT_SYMLINK_FOLLOW, &call->file)
				    : get_path(reader, from_dir, from, false, &call->file);
	/* the kernel looks the first one up before it minds that the second is no path */
	if (status == 0)
		call->target_error = -get_path(reader, to_dir, to, false, &call->target);
	return status;
}

static bool is_node_type(mode_t mode)
{
	return !(mode & S_IFMT) || S_ISREG(mode) || S_ISCHR(mode) || S_ISBLK(mode) ||
	       S_ISFIFO(mode) || S_ISSOCK(mode);
}

static int get_name(struct reader *reader, enum sb_act act, uint64_t dirfd, uint64_t path,
		    mode_t mode, dev_t device)
{
	reader->call->act = act;
	reader->call->mode = mode;
	reader->call->device = device;
	if (act == SB_ACT_MKNOD && !is_node_type(mode))
		return S_ISDIR(mode) ? -EPERM : -EINVAL;
	return get_path(reader, dirfd, path, false, &reader->call->file);
}

static int get_symlink(struct reader *reader, uint64_t text, uint64_t dirfd, uint64_t path)
{
	struct sb_call *call = reader->call;
	int status = sb_sys_read_string(reader->thread, text, call->text, sizeof call->text);

	call->act = SB_ACT_SYMLINK;
	if (status == 0 && !call->text[0])
		status = -ENOENT;
	return status == 0 ? get_path(reader, dirfd, path, false, &call->file) : status;
}

static int get_chmod(struct reader *reader, uint64_t dirfd, uint64_t path, uint64_t mode, int flags)
{
	reader->call->act = SB_ACT_CHMOD;
	reader->call->mode = (mode_t)mode;
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return get_path_or_descriptor(reader, dirfd, path, flags, !(flags & AT_SYMLINK_NOFOLLOW),
				      &reader->call->file);
}

static int get_chown(struct reader *reader, uint64_t dirfd, uint64_t path, uint64_t owner,
		     uint64_t group, int flags)
{
	reader->call->act = SB_ACT_CHOWN;
	reader->call->owner = (uid_t)owner;
	reader->call->group = (gid_t)group;
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return get_path_or_descriptor(reader, dirfd, path, flags, !(flags & AT_SYMLINK_NOFOLLOW),
				      &reader->call->file);
}

static int get_utimensat(struct reader *reader)
{
	struct sb_call *call = reader->call;
	int flags = (int)reader->args[3], status = 0;

	call->act = SB_ACT_TIMES;
	call->times[0].tv_nsec = call->times[1].tv_nsec = UTIME_NOW;
	if (reader->args[2])
		status = copy(reader, reader->args[2], call->times, sizeof call->times);
	if (status < 0)
		return status;
	if (call->times[0].tv_nsec == UTIME_OMIT && call->times[1].tv_nsec == UTIME_OMIT) {
		call->flags = 1; /* the kernel looks at nothing then */
		return 0;
	}
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (!reader->args[1] && (int)reader->args[0] != AT_FDCWD) { /* futimens() */
		if (flags)
			return -EINVAL;
		get_descriptor(reader->args[0], &call->file);
		return 0;
	}
	return get_path_or_descriptor(reader, reader->args[0], reader->args[1], flags,
				      !(flags & AT_SYMLINK_NOFOLLOW), &call->file);
}

#ifdef __x86_64__
static int get_utimes(struct reader *reader, uint64_t dirfd, uint64_t path, uint64_t times)
{
	struct sb_call *call = reader->call;
	struct timeval values[2];

	call->act = SB_ACT_TIMES;
	call->times[0].tv_nsec = call->times[1].tv_nsec = UTIME_NOW;
	if (times) {
		int status = copy(reader, times, values, sizeof values);

		if (status < 0)
			return status;
		for (int i = 0; i < 2; i++) {
			if (values[i].tv_usec < 0 || values[i].tv_usec >= 1000000)
				return -EINVAL;
			call->times[i] =
				(struct timespec){values[i].tv_sec, values[i].tv_usec * 1000};
		}
	}
	if (!path && (int)dirfd != AT_FDCWD) { /* futimesat() may mean the descriptor */
		get_descriptor(dirfd, &call->file);
		return 0;
	}
	return get_path(reader, dirfd, path, true, &call->file);
}

static int get_utime(struct reader *reader)
{
	struct sb_call *call = reader->call;
	struct utimbuf values;

	call->act = SB_ACT_TIMES;
	call->times[0].tv_nsec = call->times[1].tv_nsec = UTIME_NOW;
	if (reader->args[1]) {
		int status = copy(reader, reader->args[1], &values, sizeof values);

		if (status < 0)
			return status;
		call->times[0] = (struct timespec){values.actime, 0};
		call->times[1] = (struct timespec){values.modtime, 0};
	}
	return get_path(reader, (uint64_t)AT_FDCWD, reader->args[0], true, &call->file);
}
#endif

enum xattr_form { XATTR_PATH, XATTR_LINK, XATTR_DESCRIPTOR };

static int get_xattr(struct reader *reader, enum sb_act act, enum xattr_form form)
{
	struct sb_call *call = reader->call;
	int status = 0;

	call->act = act;
	if (act == SB_ACT_SETXATTR) {
		call->flags = (int)reader->args[4];
		if (call->flags & ~3) /* XATTR_CREATE | XATTR_REPLACE */
			return -EINVAL;
	}
	status = sb_sys_read_string(reader->thread, reader->args[1], call->text, SB_XATTR_NAME);
	if (status == -ENAMETOOLONG || (status == 0 && !call->text[0]))
		return -ERANGE;
	if (status == 0 && act == SB_ACT_SETXATTR) {
		call->value_length = reader->args[3];
		if (call->value_length > SB_XATTR_SIZE)
			return -E2BIG;
		call->value = malloc(call->value_length + 1);
		if (!call->value)
			return -ENOMEM;
		if (call->value_length)
			status = copy(reader, reader->args[2], call->value, call->value_length);
	}
	if (status < 0)
		return status;
	if (form == XATTR_DESCRIPTOR) {
		get_descriptor(reader->args[0], &call->file);
		return 0;
	}
	return get_path(reader, (uint64_t)AT_FDCWD, reader->args[0], form == XATTR_PATH,
			&call->file);
}

static int get_access(struct reader *reader, uint64_t dirfd, uint64_t path, uint64_t mode,
		      int flags)
{
	reader->call->act = SB_ACT_ACCESS;
	reader->call->flags = (int)mode;
	reader->call->at_flags = flags & AT_EACCESS;
	if ((mode & ~(uint64_t)7) || (flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)))
		return -EINVAL;
	return get_path_or_descriptor(reader, dirfd, path, flags, !(flags & AT_SYMLINK_NOFOLLOW),
				      &reader->call->file);
}

static int get_address(struct reader *reader, enum sb_act act)
{
	struct sb_call *call = reader->call;

	call->act = act;
	call->socket = (int)reader->args[0];
	call->address_length = (socklen_t)reader->args[2];
	if ((int)reader->args[2] < 0 || call->address_length > sizeof call->address)
		return -EINVAL;
	return call->address_length
		       ? copy(reader, reader->args[1], &call->address, call->address_length)
		       : 0;
}

static int get_truncate(struct reader *reader)
{
	reader->call->act = SB_ACT_TRUNCATE;
	reader->call->length = (off_t)reader->args[1];
	if (reader->call->length < 0)
		return -EINVAL;
	return get_path(reader, (uint64_t)AT_FDCWD, reader->args[0], true, &reader->call->file);
}

static int get_unlink(struct reader *reader)
{
	if (reader->args[2] & ~(uint64_t)AT_REMOVEDIR)
		return -EINVAL;
	return get_name(reader, reader->args[2] ? SB_ACT_RMDIR : SB_ACT_UNLINK, reader->args[0],
			reader->args[1], 0, 0);
}

static int get_plain(struct reader *reader, enum sb_act act)
{
	reader->call->act = act;
	return 0;
}

static int get_rules(struct reader *reader)
{
	struct sb_call *call = reader->call;

	call->act = SB_ACT_REGISTER;
	call->value_length = reader->args[2];
	if (call->value_length > SB_POLICY_BYTES)
		return -E2BIG;
	call->value = malloc(call->value_length + 1);
	if (!call->value)
		return -ENOMEM;
	for (size_t done = 0; done < call->value_length;) {
		ssize_t got = sb_sys_read_memory(reader->thread, reader->args[1] + done,
						 (char *)call->value + done,
						 call->value_length - done);

		if (got <= 0)
			return -EFAULT;
		done += (size_t)got;
	}
	return 0;
}

static int get_close(struct reader *reader, uint64_t first, uint64_t last, bool replaces)
{
	reader->call->first = (unsigned)first;
	reader->call->last = (unsigned)last;
	reader->call->replaces = replaces;
	return get_plain(reader, SB_ACT_CLOSE);
}

/* Of a descriptor onto itself, or with nonsense: nothing is closed. */
static int get_dup(struct reader *reader)
{
	const uint64_t *a = reader->args;

	reader->call->shares = true;
	reader->call->shared = (unsigned)a[0];
	return (unsigned)a[0] == (unsigned)a[1] ? get_close(reader, 1, 0, true)
						: get_close(reader, a[1], a[1], true);
}

/* To a free number. */
static int get_dup_beside(struct reader *reader)
{
	reader->call->shares = true;
	reader->call->shared = (unsigned)reader->args[0];
	return get_close(reader, 1, 0, true);
}

/* Of all ioctls only this one is held (linux_seccomp.c). */
static int get_flags(struct reader *reader)
{
	get_descriptor(reader->args[0], &reader->call->file);
	reader->call->act = SB_ACT_FLAGS;
	return copy(reader, reader->args[2], &reader->call->flags, sizeof reader->call->flags);
}

static int decode(struct reader *r, int number)
{
	const uint64_t *a = r->args, here = (uint64_t)AT_FDCWD;

	switch (number) {
	case SYS_openat:
		return get_open(r, a[0], a[1], (int)a[2], (mode_t)a[3]);
	case SYS_openat2:
		return get_openat2(r);
	case SYS_mkdirat:
		return get_name(r, SB_ACT_MKDIR, a[0], a[1], (mode_t)a[2], 0);
	case SYS_mknodat:
		return get_name(r, SB_ACT_MKNOD, a[0], a[1], (mode_t)a[2], (dev_t)(unsigned)a[3]);
	case SYS_unlinkat:
		return get_unlink(r);
	case SYS_linkat:
		if (a[4] & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
			return -EINVAL;
		return get_two_paths(r, SB_ACT_LINK, a[0], a[1], a[2], a[3], (int)a[4]);
	case SYS_symlinkat:
		return get_symlink(r, a[0], a[1], a[2]);
	case SYS_renameat2:
		return get_two_paths(r, SB_ACT_RENAME, a[0], a[1], a[2], a[3], (int)a[4]);
	case SYS_truncate:
		return get_truncate(r);
	case SYS_ioctl:
		return get_flags(r);
	case SYS_fchmod:
		get_descriptor(a[0], &r->call->file);
		r->call->mode = (mode_t)a[1];
		return get_plain(r, SB_ACT_CHMOD);
	case SYS_fchmodat:
		return get_chmod(r, a[0], a[1], a[2], 0);
	case NR_fchmodat2:
		return get_chmod(r, a[0], a[1], a[2], (int)a[3]);
	case SYS_fchown:
		get_descriptor(a[0], &r->call->file);
		r->call->owner = (uid_t)a[1];
		r->call->group = (gid_t)a[2];
		return get_plain(r, SB_ACT_CHOWN);
	case SYS_fchownat:
		return get_chown(r, a[0], a[1], a[2], a[3], (int)a[4]);
	case SYS_utimensat:
		return get_utimensat(r);
	case SYS_setxattr:
		return get_xattr(r, SB_ACT_SETXATTR, XATTR_PATH);
	case SYS_lsetxattr:
		return get_xattr(r, SB_ACT_SETXATTR, XATTR_LINK);
	case SYS_fsetxattr:
		return get_xattr(r, SB_ACT_SETXATTR, XATTR_DESCRIPTOR);
	case SYS_removexattr:
		return get_xattr(r, SB_ACT_REMOVEXATTR, XATTR_PATH);
	case SYS_lremovexattr:
		return get_xattr(r, SB_ACT_REMOVEXATTR, XATTR_LINK);
	case SYS_fremovexattr:
		return get_xattr(r, SB_ACT_REMOVEXATTR, XATTR_DESCRIPTOR);
	case SYS_faccessat:
		return get_access(r, a[0], a[1], a[2], 0);
	case NR_faccessat2:
		return get_access(r, a[0], a[1], a[2], (int)a[3]);
	case SYS_connect:
		return get_address(r, SB_ACT_CONNECT);
	case SYS_bind:
		return get_address(r, SB_ACT_BIND);
	case SYS_dup:
		return get_dup_beside(r);
	case SYS_flock:
		return get_plain(r, SB_ACT_LOCK);
	case SYS_fcntl:
		if ((int)a[1] == F_DUPFD || (int)a[1] == F_DUPFD_CLOEXEC)
			return get_dup_beside(r);
		r->call->owner_process = (pid_t)a[2];
		return get_plain(r, (int)a[1] == F_SETOWN ? SB_ACT_OWNER : SB_ACT_LOCK);
	case SYS_setpriority:
	case SYS_ioprio_set:
		r->call->owner_process = (pid_t)a[1];
		return get_plain(r, SB_ACT_OWNER);
	case SYS_prlimit64:
	case SYS_sched_setaffinity:
	case SYS_sched_setattr:
	case SYS_sched_setparam:
	case SYS_sched_setscheduler:
		r->call->owner_process = (pid_t)a[0];
		return get_plain(r, SB_ACT_OWNER);
	case SYS_umask:
		return get_plain(r, SB_ACT_UMASK);
	case SYS_chdir:
	case SYS_fchdir:
		return get_plain(r, SB_ACT_CHDIR);
	case SYS_landlock_create_ruleset:
		return get_plain(r, SB_ACT_LANDLOCK);
	case SYS_prctl:
		return get_rules(r);
	case SYS_close:
		return get_close(r, a[0], a[0], false);
	case SYS_close_range: /* CLOSE_RANGE_CLOEXEC closes nothing now */
		return get_close(r, (unsigned)a[2] & 4 ? 1 : a[0], (unsigned)a[2] & 4 ? 0 : a[1],
				 true);
	case SYS_dup3:
#ifdef __x86_64__
	case SYS_dup2:
#endif
		return get_dup(r);
#ifdef SYS_renameat
	case SYS_renameat:
		return get_two_paths(r, SB_ACT_RENAME, a[0], a[1], a[2], a[3], 0);
#endif
#ifdef __x86_64__
	case SYS_open:
		return get_open(r, here, a[0], (int)a[1], (mode_t)a[2]);
	case SYS_creat:
		return get_open(r, here, a[0], O_CREAT | O_WRONLY | O_TRUNC, (mode_t)a[1]);
	case SYS_mkdir:
		return get_name(r, SB_ACT_MKDIR, here, a[0], (mode_t)a[1], 0);
	case SYS_mknod:
		return get_name(r, SB_ACT_MKNOD, here, a[0], (mode_t)a[1], (dev_t)(unsigned)a[2]);
	case SYS_unlink:
		return get_name(r, SB_ACT_UNLINK, here, a[0], 0, 0);
	case SYS_rmdir:
		return get_name(r, SB_ACT_RMDIR, here, a[0], 0, 0);
	case SYS_link:
		return get_two_paths(r, SB_ACT_LINK, here, a[0], here, a[1], 0);
	case SYS_symlink:
		return get_symlink(r, a[0], here, a[1]);
	case SYS_rename:
		return get_two_paths(r, SB_ACT_RENAME, here, a[0], here, a[1], 0);
	case SYS_chmod:
		return get_chmod(r, here, a[0], a[1], 0);
	case SYS_chown:
		return get_chown(r, here, a[0], a[1], a[2], 0);
	case SYS_lchown:
		return get_chown(r, here, a[0], a[1], a[2], AT_SYMLINK_NOFOLLOW);
	case SYS_utime:
		return get_utime(r);
	case SYS_utimes:
		return get_utimes(r, here, a[0], a[1]);
	case SYS_futimesat:
		return get_utimes(r, a[0], a[1], a[2]);
	case SYS_access:
		return get_access(r, here, a[0], a[1], 0);
#endif
	default: /* the filter holds what is not in this list: that must not become a hole */
		(void)here;
		return -ENOSYS;
	}
}

int sb_call_decode(const struct seccomp_notif *notification, struct sb_call *out)
{
	struct reader reader = {
		.call = out,
		.args = (const uint64_t *)notification->data.args,
		.thread = (pid_t)notification->pid,
	};

	/* not all of it: the paths are 12 KB, written only where used */
	out->id = notification->id;
	out->thread = (pid_t)notification->pid;
	out->act = SB_ACT_COUNT;
	out->file.by_descriptor = out->target.by_descriptor = false;
	out->file.open_only = out->target.open_only = false;
	out->target_error = 0;
	out->file.path[0] = out->target.path[0] = out->text[0] = '\0';
	out->flags = out->at_flags = 0;
	out->mode = 0;
	out->device = 0;
	out->replaces = out->flags_in_memory = false;
	out->resolve = 0;
	out->value = NULL;
	out->value_length = 0;
	return decode(&reader, notification->data.nr);
}

void sb_call_done(struct sb_call *call)
{
	free(call->value);
	call->value = NULL;
}
