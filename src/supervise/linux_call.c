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

#ifndef AT_EACCESS
#define AT_EACCESS 0x200
#endif

#define MEANT (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) /* how a file may be meant */
#define ONLY_CHECKED 0x10000                        /* AT_EXECVE_CHECK, Linux 6.14 */
#define NO_NAMES 1

/* The copying of one call. */
struct reader {
	struct sb_call *call;
	const struct sb_held *held;
	const uint64_t *args;
	pid_t thread;
	int at_flags; /* AT_*, for the first path */
	bool follow;
};

/* By its place in the row: held.h. */
static uint64_t argument(const struct reader *reader, unsigned place)
{
	return place ? reader->args[place - 1] : 0;
}

static int copy(const struct reader *reader, uint64_t address, void *out, size_t length)
{
	ssize_t got = sb_sys_read_memory(reader->thread, address, out, length);

	if (got < 0)
		return (int)got;
	return (size_t)got == length ? 0 : -EFAULT;
}

/* --- names ------------------------------------------------------------------------------------ */

static int get_path(const struct reader *reader, struct sb_where where, bool follow,
		    struct sb_named *out)
{
	out->fd = where.directory ? (int)argument(reader, where.directory) : AT_FDCWD;
	out->follow = follow;
	return sb_sys_read_string(reader->thread, argument(reader, where.path), out->path,
				  sizeof out->path);
}

static void get_descriptor(const struct reader *reader)
{
	struct sb_named *file = &reader->call->file;

	file->fd = (int)argument(reader, reader->held->file.directory);
	file->follow = false;
	file->by_descriptor = file->open_only = true;
}

static int get_names(const struct reader *reader)
{
	const struct sb_held *held = reader->held;
	struct sb_call *call = reader->call;
	int status;

	if (!held->file.path) {
		if (held->file.directory)
			get_descriptor(reader);
		return 0;
	}
	status = get_path(reader, held->file, reader->follow, &call->file);
	if (status == 0 && !call->file.path[0] && (reader->at_flags & AT_EMPTY_PATH))
		call->file.by_descriptor = true; /* AT_FDCWD: the current directory */
	/* the kernel looks the first one up before it minds that the second is no path */
	if (status == 0 && held->target.path)
		call->target_error = -get_path(reader, held->target, false, &call->target);
	return status;
}

/* --- what an act has beside names: read, and minded, before them --------------------------------- */

static int get_meant(struct reader *reader, int known)
{
	reader->at_flags = (int)argument(reader, reader->held->flags);
	reader->follow = !(reader->at_flags & AT_SYMLINK_NOFOLLOW) && !reader->held->link;
	return reader->at_flags & ~known ? -EINVAL : 0;
}

static int get_how(struct reader *reader)
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
	if (geteuid() == 0 && (how.flags & SB_MAKES_FILE) && (how.mode & S_ISUID))
		return -EPERM;
	reader->call->resolve = how.resolve;
	reader->call->flags_in_memory = true;
	reader->call->flags = (int)how.flags;
	reader->call->mode = (mode_t)how.mode;
	return 0;
}

static int get_open(struct reader *reader)
{
	struct sb_call *call = reader->call;
	int status = 0;

	call->flags = (int)argument(reader, reader->held->flags);
	call->mode = (mode_t)argument(reader, reader->held->more);
	if (!reader->held->more)
		status = get_how(reader);
	else if (!reader->held->flags)
		call->flags = O_CREAT | O_WRONLY | O_TRUNC; /* creat() */
	if (status < 0)
		return status;
	reader->follow = !(call->flags & O_NOFOLLOW);
	/* nonsense is refused before the path is looked at; the kernel knows what is nonsense */
	if ((call->flags & (O_DIRECTORY | SB_TMPFILE_BIT)) &&
	    openat(-1, "x", call->flags & ~O_CLOEXEC, call->mode) < 0 &&
	    (errno == EINVAL || errno == EOPNOTSUPP))
		return -errno;
	return 0;
}

static int get_rename(struct reader *reader)
{
	int flags = (int)argument(reader, reader->held->flags);

	reader->call->flags = flags;
	return (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)) ||
			       ((flags & RENAME_EXCHANGE) && (flags & ~RENAME_EXCHANGE))
		       ? -EINVAL
		       : 0;
}

static int get_link(struct reader *reader)
{
	int status = get_meant(reader, AT_SYMLINK_FOLLOW | AT_EMPTY_PATH);

	reader->call->flags = reader->at_flags;
	reader->follow = reader->at_flags & AT_SYMLINK_FOLLOW;
	return status;
}

static int get_unlink(struct reader *reader)
{
	int flags = (int)argument(reader, reader->held->flags);

	if (flags)
		reader->call->act = SB_ACT_RMDIR;
	return flags & ~AT_REMOVEDIR ? -EINVAL : 0;
}

static int get_mode(struct reader *reader)
{
	reader->call->mode = (mode_t)argument(reader, reader->held->more);
	return 0;
}

static int get_node(struct reader *reader)
{
	mode_t mode = (mode_t)argument(reader, reader->held->more);

	reader->call->mode = mode;
	reader->call->device = (dev_t)(unsigned)argument(reader, reader->held->more + 1u);
	if (!(mode & S_IFMT) || S_ISREG(mode) || S_ISCHR(mode) || S_ISBLK(mode) || S_ISFIFO(mode) ||
	    S_ISSOCK(mode))
		return 0;
	return S_ISDIR(mode) ? -EPERM : -EINVAL;
}

static int get_text(struct reader *reader)
{
	struct sb_call *call = reader->call;
	int status = sb_sys_read_string(reader->thread, argument(reader, reader->held->more),
					call->text, sizeof call->text);

	return status == 0 && !call->text[0] ? -ENOENT : status;
}

static int get_length(struct reader *reader)
{
	reader->call->length = (off_t)argument(reader, reader->held->more);
	reader->follow = true;
	return reader->call->length < 0 ? -EINVAL : 0;
}

static int get_chmod(struct reader *reader)
{
	get_mode(reader);
	return get_meant(reader, MEANT);
}

static int get_chown(struct reader *reader)
{
	reader->call->owner = (uid_t)argument(reader, reader->held->more);
	reader->call->group = (gid_t)argument(reader, reader->held->more + 1u);
	return get_meant(reader, MEANT);
}

static int copy_times(const struct reader *reader, uint64_t address, struct timespec out[2])
{
#ifdef __x86_64__
	struct utimbuf seconds = {0};
	struct timeval values[2];
	int status;

	if (reader->held->number == SYS_utime) {
		status = copy(reader, address, &seconds, sizeof seconds);
		out[0] = (struct timespec){seconds.actime, 0};
		out[1] = (struct timespec){seconds.modtime, 0};
		return status;
	}
	if (reader->held->number != SYS_utimensat) { /* utimes(), futimesat() */
		status = copy(reader, address, values, sizeof values);
		for (int i = 0; i < 2 && status == 0; i++) {
			out[i] = (struct timespec){values[i].tv_sec, values[i].tv_usec * 1000};
			if (values[i].tv_usec < 0 || values[i].tv_usec >= 1000000)
				status = -EINVAL;
		}
		return status;
	}
#endif
	return copy(reader, address, out, 2 * sizeof out[0]);
}

static int get_times(struct reader *reader)
{
	const struct sb_where *where = &reader->held->file;
	struct sb_call *call = reader->call;
	uint64_t address = argument(reader, reader->held->more);
	int status = 0;

	call->times[0].tv_nsec = call->times[1].tv_nsec = UTIME_NOW;
	if (address)
		status = copy_times(reader, address, call->times);
	if (status < 0)
		return status;
	if (call->times[0].tv_nsec == UTIME_OMIT && call->times[1].tv_nsec == UTIME_OMIT) {
		call->flags = 1; /* the kernel looks at nothing then */
		return NO_NAMES;
	}
	status = get_meant(reader, MEANT);
	if (status < 0 || argument(reader, where->path) || !where->directory ||
	    (int)argument(reader, where->directory) == AT_FDCWD)
		return status;
	get_descriptor(reader); /* futimens() */
	return reader->at_flags ? -EINVAL : NO_NAMES;
}

static int get_attribute(struct reader *reader)
{
	struct sb_call *call = reader->call;
	const uint64_t more = reader->held->more;
	int status;

	reader->follow = !reader->held->link;
	call->flags = (int)argument(reader, reader->held->flags);
	if (call->flags & ~3) /* XATTR_CREATE | XATTR_REPLACE */
		return -EINVAL;
	status = sb_sys_read_string(reader->thread, argument(reader, more), call->text,
				    SB_XATTR_NAME);
	if (status == -ENAMETOOLONG || (status == 0 && !call->text[0]))
		return -ERANGE;
	if (status < 0 || call->act == SB_ACT_REMOVEXATTR)
		return status;
	call->value_length = argument(reader, more + 2);
	if (call->value_length > SB_XATTR_SIZE)
		return -E2BIG;
	call->value = malloc(call->value_length + 1);
	if (!call->value)
		return -ENOMEM;
	return call->value_length
		       ? copy(reader, argument(reader, more + 1), call->value, call->value_length)
		       : 0;
}

/* Of all ioctls only this one is held (linux_seccomp.c). */
static int get_flags(struct reader *reader)
{
	return copy(reader, argument(reader, reader->held->more), &reader->call->flags,
		    sizeof reader->call->flags);
}

static int get_access(struct reader *reader)
{
	int status = get_meant(reader, AT_EACCESS | MEANT);

	reader->call->flags = (int)argument(reader, reader->held->more);
	reader->call->at_flags = reader->at_flags & AT_EACCESS;
	return reader->call->flags & ~7 ? -EINVAL : status;
}

static int get_address(struct reader *reader)
{
	struct sb_call *call = reader->call;

	call->socket = (int)reader->args[0];
	call->address_length = (socklen_t)reader->args[2];
	if ((int)reader->args[2] < 0 || call->address_length > sizeof call->address)
		return -EINVAL;
	return call->address_length
		       ? copy(reader, reader->args[1], &call->address, call->address_length)
		       : 0;
}

static int get_program(struct reader *reader)
{
	reader->follow = true;
	return reader->held->flags
		       ? get_meant(reader, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | ONLY_CHECKED)
		       : 0;
}

static int get_rules(struct reader *reader)
{
	struct sb_call *call = reader->call;

	call->value_length = reader->args[2];
	call->flags = (int)reader->args[3]; /* an operation and 1: about a path */
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

static int get_process(struct reader *reader)
{
	reader->call->owner_process = (pid_t)argument(reader, reader->held->more);
	return 0;
}

static void closes(struct reader *reader, uint64_t first, uint64_t last, bool replaces)
{
	reader->call->act = SB_ACT_CLOSE;
	reader->call->first = (unsigned)first;
	reader->call->last = (unsigned)last;
	reader->call->replaces = replaces;
}

/* To a number, which is closed before.  Onto itself, or to a free one: nothing is closed. */
static void duplicates(struct reader *reader, uint64_t from, uint64_t to)
{
	bool nothing = (unsigned)from == (unsigned)to;

	closes(reader, nothing ? 1 : to, nothing ? 0 : to, true);
	reader->call->shares = true;
	reader->call->shared = (unsigned)from;
}

static int get_close(struct reader *reader)
{
	const uint64_t *a = reader->args;

	if (reader->held->number == SYS_close)
		closes(reader, a[0], a[0], false);
	else if (reader->held->number == SYS_dup)
		duplicates(reader, a[0], a[0]);
	else if (reader->held->number != SYS_close_range) /* dup2(), dup3() */
		duplicates(reader, a[0], a[1]);
	else if ((unsigned)a[2] & 4) /* CLOSE_RANGE_CLOEXEC closes nothing now */
		closes(reader, 1, 0, true);
	else
		closes(reader, a[0], a[1], true);
	return 0;
}

/* fcntl() does many things, of which some are held; and flock(), which is a lock. */
static int get_lock(struct reader *reader)
{
	int command = reader->held->number == SYS_fcntl ? (int)reader->args[1] : F_OFD_SETLK;

	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		duplicates(reader, reader->args[0], reader->args[0]);
	else if (command == F_SETOWN)
		reader->call->act = SB_ACT_OWNER;
	return get_process(reader);
}

/* NO_NAMES: the rest does not count.  The filter holds nothing that has no row: held.h. */
static int (*const getters[SB_ACT_COUNT])(struct reader *reader) = {
	[SB_ACT_OPEN] = get_open,
	[SB_ACT_MKDIR] = get_mode,
	[SB_ACT_MKNOD] = get_node,
	[SB_ACT_SYMLINK] = get_text,
	[SB_ACT_LINK] = get_link,
	[SB_ACT_RENAME] = get_rename,
	[SB_ACT_UNLINK] = get_unlink,
	[SB_ACT_TRUNCATE] = get_length,
	[SB_ACT_CHMOD] = get_chmod,
	[SB_ACT_CHOWN] = get_chown,
	[SB_ACT_TIMES] = get_times,
	[SB_ACT_SETXATTR] = get_attribute,
	[SB_ACT_REMOVEXATTR] = get_attribute,
	[SB_ACT_FLAGS] = get_flags,
	[SB_ACT_ACCESS] = get_access,
	[SB_ACT_CONNECT] = get_address,
	[SB_ACT_BIND] = get_address,
	[SB_ACT_LOCK] = get_lock,
	[SB_ACT_OWNER] = get_process,
	[SB_ACT_REGISTER] = get_rules,
	[SB_ACT_EXEC] = get_program,
	[SB_ACT_CLOSE] = get_close,
};

int sb_call_decode(const struct seccomp_notif *notification, struct sb_call *out)
{
	struct reader reader = {
		.call = out,
		.held = sb_held_find(notification->data.nr),
		.args = (const uint64_t *)notification->data.args,
		.thread = (pid_t)notification->pid,
	};
	int status = 0;

	/* not all of it: the paths are 12 KB, written only where used */
	out->id = notification->id;
	out->thread = (pid_t)notification->pid;
	out->act = reader.held ? reader.held->act : SB_ACT_COUNT;
	out->file.by_descriptor = out->target.by_descriptor = false;
	out->file.open_only = out->target.open_only = false;
	out->target_error = 0;
	out->file.path[0] = out->target.path[0] = out->text[0] = '\0';
	out->flags = out->at_flags = 0;
	out->mode = 0;
	out->device = 0;
	out->replaces = out->shares = out->flags_in_memory = false;
	out->resolve = 0;
	out->value = NULL;
	out->value_length = 0;
	if (!reader.held) /* what is held and not in the table must not become a hole */
		return -ENOSYS;
	if (getters[out->act])
		status = getters[out->act](&reader);
	if (status == 0)
		status = get_names(&reader);
	return status == NO_NAMES ? 0 : status;
}

void sb_call_done(struct sb_call *call)
{
	free(call->value);
	call->value = NULL;
}
