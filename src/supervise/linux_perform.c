#include "supervise/perform.h"
#include "supervise/proc_name.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/acts.h"
#include "supervise/owed.h"
#include "supervise/spares.h"
#include "sys/notify.h"

#define SETTLE_LOOKS 200 /* up to a millisecond each */

static struct sb_outcome outcome(long result)
{
	return (struct sb_outcome){.error = result < 0 ? errno : 0, .fd = -1};
}

static struct sb_outcome opened(int fd)
{
	return (struct sb_outcome){.error = fd < 0 ? errno : 0, .fd = fd};
}

static struct sb_outcome refused(int error)
{
	return (struct sb_outcome){.error = error, .fd = -1};
}

static int check_open(const struct sb_call *call, const struct sb_spot *file);

enum sb_lookup sb_perform_lookup(const struct sb_call *call)
{
	int makes = call->act == SB_ACT_OPEN ? call->flags & (O_CREAT | O_EXCL) : 0;

	if (makes == (O_CREAT | O_EXCL) ||
	    (call->act != SB_ACT_OPEN && !sb_act_has(call->act, SB_TRAIT_FILE)))
		return SB_LOOKUP_NAME;
	if (makes & O_CREAT)
		return call->file.follow ? SB_LOOKUP_CREATE : SB_LOOKUP_CREATE_NOFOLLOW;
	return call->file.follow ? SB_LOOKUP_FOLLOW : SB_LOOKUP_NOFOLLOW;
}

bool sb_perform_is_native(const struct sb_call *call, const struct sb_spot *file)
{
	if (call->act != SB_ACT_OPEN || file->object < 0)
		return false;
	return S_ISCHR(file->info.st_mode) || S_ISBLK(file->info.st_mode) ||
	       (file->directory < 0 && !file->path[0]);
}

bool sb_is_harmless_device(const struct stat *info)
{
	unsigned number = minor(info->st_rdev);

	return S_ISCHR(info->st_mode) && major(info->st_rdev) == 1 &&
	       (number == 3 || number == 5 || number == 7 || number == 8 || number == 9);
}

/* O_NOFOLLOW stays visible in the descriptor's flags, so it has to be there at the open. */
static int open_by_name(const struct sb_spot *file, int flags)
{
	int fd = openat(file->directory, file->name, flags);
	struct stat info;

	if (fd >= 0 && (fstat(fd, &info) != 0 || info.st_ino != file->info.st_ino ||
			info.st_dev != file->info.st_dev)) {
		close(fd);
		errno = ENOENT; /* replaced meanwhile, from outside */
		fd = -1;
	}
	return fd;
}

static int open_found(const struct sb_call *call, const struct sb_spot *file, int flags)
{
	char name[SB_PROC_NAME];

	return (call->flags & O_NOFOLLOW) && file->directory >= 0
		       ? open_by_name(file, flags | O_NOFOLLOW)
		       : openat(AT_FDCWD, sb_proc_self_fd(name, file->object), flags);
}

/*
 * A FIFO without a reader: the kernel would wait, and we must not.  Whoever waits for the
 * caller tries again, so that it is the caller alone who waits.
 */
static struct sb_outcome open_fifo(const struct sb_call *call, const struct sb_spot *file)
{
	int flags = call->flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW);
	struct sb_outcome result = opened(open_found(call, file, flags | O_NONBLOCK));

	result.again = result.error == ENXIO && !(flags & O_NONBLOCK);
	if (result.fd >= 0 && !(flags & O_NONBLOCK))
		fcntl(result.fd, F_SETFL, flags);
	return result;
}

static struct sb_outcome open_existing(const struct sb_call *call, const struct sb_spot *file)
{
	/* the last name is known to be no link; the link to it in /proc has to be followed */
	int flags = call->flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW);
	bool empties = (flags & O_TRUNC) && file->info.st_size > 0;
	struct sb_outcome result;
	char name[SB_PROC_NAME];

	if (S_ISFIFO(file->info.st_mode))
		return open_fifo(call, file);
	/* a full table of descriptors must not cost the contents */
	if (empties)
		flags &= ~O_TRUNC;
	/* a descriptor handed over cannot be taken back when that fails: find out before */
	if (empties && (flags & O_ACCMODE) == O_RDONLY) {
		int writer =
			openat(AT_FDCWD, sb_proc_self_fd(name, file->object), O_WRONLY | O_CLOEXEC);

		if (writer < 0)
			return outcome(-1);
		close(writer);
	}
	result = opened(open_found(call, file, flags));
	result.truncate = empties;
	return result;
}

struct sb_outcome sb_perform_read(const struct sb_call *call, const struct sb_spot *file)
{
	if (S_ISLNK(file->info.st_mode))
		return refused(call->flags & O_DIRECTORY ? ENOTDIR : ELOOP);
	return opened(open_found(call, file, call->flags & ~O_NOFOLLOW));
}

static struct sb_outcome open_file(const struct sb_call *call, const struct sb_spot *file)
{
	struct sb_outcome result;
	int fd;

	if ((call->flags & O_TMPFILE) == O_TMPFILE)
		return opened(openat(file->object, ".", call->flags, call->mode));
	if (file->object >= 0) {
		int error = check_open(call, file);

		return error ? refused(error) : open_existing(call, file);
	}
	/* O_EXCL: it is new, or the answer is EEXIST and the caller resolves again */
	fd = sb_spare_create(file->directory, file->name, call->flags, call->mode);
	if (fd == -ENOTSUP)
		fd = openat(file->directory, file->name, call->flags | O_CREAT | O_EXCL,
			    call->mode);
	else if (fd < 0)
		return refused(-fd);
	result = opened(fd);
	result.created = result.fd >= 0;
	return result;
}

static bool look(const struct sb_spot *spot, struct stat *out)
{
	return fstatat(spot->directory, spot->name, out, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A socket cannot be opened by its name, which is said to those who might have. */
static int check_socket(const struct sb_call *call, const struct sb_spot *file)
{
	static const int modes[] = {[O_RDONLY] = R_OK, [O_WRONLY] = W_OK, [O_RDWR] = R_OK | W_OK};
	int access = call->flags & O_ACCMODE;
	int mode = (access < 3 ? modes[access] : R_OK | W_OK) | (call->flags & O_TRUNC ? W_OK : 0);
	char name[SB_PROC_NAME];

	return faccessat(AT_FDCWD, sb_proc_self_fd(name, file->object), mode, AT_EACCESS) ? errno
											  : ENXIO;
}

static int check_open(const struct sb_call *call, const struct sb_spot *file)
{
	mode_t mode = file->info.st_mode;
	struct stat info;

	if (file->object < 0 && strchr(file->name, '/'))
		return EISDIR;
	if (file->object < 0)
		return (call->flags & O_EXCL) && look(file, &info) ? EEXIST : 0;
	if ((call->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return EEXIST;
	if ((call->flags & O_TMPFILE) == O_TMPFILE)
		return S_ISDIR(mode) ? 0 : ENOTDIR;
	if (S_ISLNK(mode))
		return call->flags & O_DIRECTORY ? ENOTDIR : ELOOP;
	if (S_ISDIR(mode))
		return EISDIR;
	if (call->flags & O_DIRECTORY)
		return ENOTDIR;
	return S_ISSOCK(mode) ? check_socket(call, file) : 0;
}

/* Is a name free?  What follows it is minded later: "f/" is there when f is, whatever f is. */
static int check_new(const struct sb_spot *spot, bool is_directory)
{
	char plain[sizeof spot->name];
	size_t length = strcspn(spot->name, "/");
	struct stat info;

	memcpy(plain, spot->name, length);
	plain[length] = '\0';
	if (fstatat(spot->directory, plain, &info, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	if (errno == ENAMETOOLONG)
		return errno;
	return errno == ENOENT && spot->name[length] && !is_directory ? ENOENT : 0;
}

bool sb_perform_is_dots(const char *name)
{
	return strncmp(name, ".", 2) == 0 || strncmp(name, "./", 2) == 0 ||
	       strncmp(name, "..", 3) == 0 || strncmp(name, "../", 3) == 0;
}

static int check_rename(const struct sb_call *call, const struct sb_spot *file,
			const struct sb_spot *target)
{
	struct stat from, to, from_dir, to_dir;

	if (fstat(file->directory, &from_dir) != 0 || fstat(target->directory, &to_dir) != 0)
		return EACCES;
	if (from_dir.st_dev != to_dir.st_dev)
		return EXDEV;
	if (sb_perform_is_dots(file->name))
		return EBUSY;
	if (sb_perform_is_dots(target->name))
		return call->flags & RENAME_NOREPLACE ? EEXIST : EBUSY;
	if (!look(file, &from))
		return errno;
	if (look(target, &to))
		return call->flags & RENAME_NOREPLACE ? EEXIST : 0;
	return call->flags & RENAME_EXCHANGE ? errno : 0;
}

bool sb_perform_may_search(const struct sb_spot *spot)
{
	return spot->directory < 0 || faccessat(spot->directory, ".", X_OK, AT_EACCESS) == 0;
}

/* --- the flags that a file system keeps with a file: chattr(1) ------------------------------------- */

/*
 * SECURITY: only flags that change how a file is stored, and nothing for anybody else.
 *
 * Danger: immutable and append-only files of a root's run, since whoever does this may have rights that the
 * command has not; directories in which names are the same in capitals; project quotas that are another's.
 * What a file system of next year makes of a number nobody knows: so this is a list of those that are harmless.
 * Price: "chattr +F" and the like answer EOPNOTSUPP, as on a file system without.
 * Held by: tests/enforce/ioctls.py
 */
#define HARMLESS                                                                                   \
	(FS_SECRM_FL | FS_UNRM_FL | FS_COMPR_FL | FS_SYNC_FL | FS_NODUMP_FL | FS_NOATIME_FL |      \
	 FS_NOCOMP_FL | FS_NOTAIL_FL | FS_DIRSYNC_FL | FS_TOPDIR_FL | FS_NOCOW_FL | 0x2000000)
/* what the kernel says EPERM about to all who have no rights: ioctl_iflags(2) */
#define FOR_ROOT (FS_IMMUTABLE_FL | FS_APPEND_FL | FS_JOURNAL_DATA_FL)

/* A descriptor with which flags can be asked for, or a negative errno. */
static int open_flags(const struct sb_spot *file, int *out)
{
	char name[SB_PROC_NAME];
	int fd;

	if (!S_ISREG(file->info.st_mode) && !S_ISDIR(file->info.st_mode))
		return -ENOTTY;
	fd = openat(AT_FDCWD, sb_proc_self_fd(name, file->object),
		    O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, out) != 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd < 0 ? -errno : fd;
}

static int check_flags(const struct sb_spot *file)
{
	int now;
	SB_AUTO_FD int fd = open_flags(file, &now);

	return fd < 0 ? -fd : 0;
}

static int perform_flags(const struct sb_call *call, const struct sb_spot *file)
{
	int now = 0;
	SB_AUTO_FD int fd = open_flags(file, &now);

	if (fd < 0)
		return -fd;
	if ((now ^ call->flags) & FOR_ROOT)
		return EPERM;
	if ((now ^ call->flags) & ~HARMLESS)
		return file->info.st_uid == geteuid() ? EOPNOTSUPP : EPERM;
	return ioctl(fd, FS_IOC_SETFLAGS, &call->flags) == 0 ? 0 : errno;
}

int sb_perform_precheck(const struct sb_call *call, const struct sb_spot *file,
			const struct sb_spot *target)
{
	struct stat info;
	int error;

	if (sb_call_is_two(call) && !(sb_perform_may_search(file) && sb_perform_may_search(target)))
		return EACCES;
	switch (call->act) {
	case SB_ACT_OPEN:
		return check_open(call, file);
	case SB_ACT_MKDIR:
	case SB_ACT_MKNOD:
	case SB_ACT_SYMLINK:
		return check_new(file, call->act == SB_ACT_MKDIR);
	case SB_ACT_BIND:
		error = check_new(file, false);
		return error == EEXIST ? EADDRINUSE : error;
	case SB_ACT_LINK:
		return check_new(target, false);
	case SB_ACT_FLAGS:
		return check_flags(file);
	case SB_ACT_CHMOD: /* links have no mode of their own, whoever asks */
		return S_ISLNK(file->info.st_mode) ? EOPNOTSUPP : 0;
	case SB_ACT_UNLINK:
		if (!look(file, &info))
			return errno;
		return S_ISDIR(info.st_mode) && strchr(file->name, '/') ? EISDIR : 0;
	case SB_ACT_RMDIR:
		return look(file, &info) ? 0 : errno;
	case SB_ACT_RENAME:
		return check_rename(call, file, target);
	case SB_ACT_TRUNCATE:
		if (S_ISDIR(file->info.st_mode))
			return EISDIR;
		return S_ISREG(file->info.st_mode) ? 0 : EINVAL;
	default:
		return 0;
	}
}

int sb_perform_postcheck(const struct sb_call *call, const struct sb_spot *file)
{
	struct stat info;

	if (call->act == SB_ACT_UNLINK && look(file, &info) && S_ISDIR(info.st_mode))
		return EISDIR;
	if (call->act == SB_ACT_RMDIR && look(file, &info) && !S_ISDIR(info.st_mode))
		return ENOTDIR;
	return 0;
}

static long link_file(const struct sb_spot *file, const struct sb_spot *target)
{
	char name[SB_PROC_NAME];

	if (file->directory >= 0 && strcmp(file->name, ".") != 0)
		return linkat(file->directory, file->name, target->directory, target->name, 0);
	return linkat(AT_FDCWD, sb_proc_self_fd(name, file->object), target->directory,
		      target->name, AT_SYMLINK_FOLLOW);
}

static struct sb_outcome make_directory(const struct sb_call *call, const struct sb_spot *file)
{
	int status = sb_spare_mkdir(file->directory, file->name, file->path, call->mode);

	return status == -ENOTSUP ? outcome(mkdirat(file->directory, file->name, call->mode))
				  : refused(-status);
}

static long check_access(const struct sb_call *call, const char *object)
{
	long result = syscall(SB_NR_faccessat2, AT_FDCWD, object, call->flags, call->at_flags);

	if (result < 0 && errno == ENOSYS) /* before Linux 5.8; ours are the ids of the command */
		result = faccessat(AT_FDCWD, object, call->flags, 0);
	return result;
}

static struct sb_outcome carry_out(const struct sb_call *call, const struct sb_spot *file,
				   const struct sb_spot *target)
{
	char buffer[SB_PROC_NAME];
	const char *object = sb_proc_self_fd(buffer, file->object);

	switch (call->act) {
	case SB_ACT_OPEN:
		return open_file(call, file);
	case SB_ACT_MKDIR:
		return make_directory(call, file);
	case SB_ACT_MKNOD:
		return outcome(mknodat(file->directory, file->name, call->mode, call->device));
	case SB_ACT_SYMLINK:
		return outcome(symlinkat(call->text, file->directory, file->name));
	case SB_ACT_LINK:
		return outcome(link_file(file, target));
	case SB_ACT_RENAME:
		return outcome(sb_spare_rename(file->directory, file->name, target->directory,
					       target->name, (unsigned)call->flags));
	case SB_ACT_UNLINK:
		return outcome(sb_spare_unlink(file->directory, file->name));
	case SB_ACT_RMDIR:
		return outcome(unlinkat(file->directory, file->name, AT_REMOVEDIR));
	case SB_ACT_TRUNCATE:
		return outcome(truncate(object, call->length));
	case SB_ACT_CHMOD:
		return outcome(fchmodat(AT_FDCWD, object, call->mode, 0));
	case SB_ACT_CHOWN:
		return outcome(fchownat(file->object, "", call->owner, call->group, AT_EMPTY_PATH));
	case SB_ACT_TIMES:
		return outcome(utimensat(AT_FDCWD, object, call->times, 0));
	case SB_ACT_SETXATTR:
		return outcome(
			setxattr(object, call->text, call->value, call->value_length, call->flags));
	case SB_ACT_REMOVEXATTR:
		return outcome(removexattr(object, call->text));
	case SB_ACT_FLAGS:
		return refused(perform_flags(call, file));
	case SB_ACT_ACCESS:
		return outcome(check_access(call, object));
	default: /* sockets have their own way; the rest is never performed */
		return refused(EACCES);
	}
}

static struct sb_own_temp *own_temp;

void sb_perform_note(struct sb_own_temp *own)
{
	own_temp = own;
}

void sb_perform_made(int directory, const char *name)
{
	sb_own_temp_made(own_temp, directory, name);
}

struct sb_outcome sb_perform(const struct sb_call *call, const struct sb_spot *file,
			     const struct sb_spot *target)
{
	struct sb_outcome outcome;
	bool left = false;

	if (!own_temp)
		return carry_out(call, file, target);
	if (sb_act_has(call->act, SB_TRAIT_REMOVES))
		left = sb_own_temp_leaves(own_temp, file->directory, file->name);
	outcome = carry_out(call, file, target);
	if (outcome.error) {
		if (left) /* a directory with something in it */
			sb_perform_made(file->directory, file->name);
		return outcome;
	}
	if (sb_call_is_two(call))
		sb_perform_made(target->directory, target->name);
	if (outcome.created || (sb_act_has(call->act, SB_TRAIT_NAMES) && !sb_call_is_two(call)) ||
	    (call->act == SB_ACT_RENAME && (call->flags & RENAME_EXCHANGE)))
		sb_perform_made(file->directory, file->name);
	return outcome;
}

/* Nobody waits for it: the caller was killed, or a signal ended its wait (owed.h). */
static bool is_unheard(int status)
{
	return status == -ENOENT || status == -ESRCH;
}

/* A file that was made for the call is not made twice. */
static void let_go(const struct sb_call *call, const struct sb_spot *file,
		   struct sb_outcome *outcome, int status)
{
	if (sb_owed_interrupts() && is_unheard(status) && outcome->created) {
		sb_owed_keep(call, file, outcome->fd);
		outcome->created = false;
	} else {
		close(outcome->fd);
	}
	outcome->fd = -1;
}

/*
 * Hand over, empty if that was asked for, let go of our own copy, and only then let the caller
 * go on: with a copy of ours still open, a program just written would be busy, a FIFO would not
 * end and a lock would stay.  The kernel, too, takes a number before it touches the file.
 */
static int hand_over(int listener, const struct sb_call *call, const struct sb_spot *file,
		     struct sb_outcome *outcome)
{
	char name[SB_PROC_NAME];
	int number = sb_sys_notify_place(listener, call->id, outcome->fd, call->flags & O_CLOEXEC);
	int error = 0;

	if (number >= 0 && outcome->truncate &&
	    truncate(sb_proc_self_fd(name, outcome->fd), 0) != 0)
		error = errno;
	let_go(call, file, outcome, number);
	if (number < 0 || error)
		return number < 0 ? number : -error;
	if (!sb_owed_say(listener, call, number))
		sb_owed_keep_number(call, file, number);
	return number;
}

static unsigned copies; /* of handed-over files that we still have open */

/*
 * One step less, for a new file that cannot be executed yet: our copy lives on for a moment.  (Who
 * makes it executable does so through us, after that moment.)  It shares the locks that the caller
 * gets through its own; so whoever wants one waits until there are no copies.
 */
static bool is_nobodys(const struct sb_call *call, const struct sb_outcome *outcome)
{
	return outcome->created && !(call->mode & 0111) && (call->flags & O_ACCMODE) != O_RDONLY;
}

static int hand_over_at_once(int listener, const struct sb_call *call, const struct sb_spot *file,
			     struct sb_outcome *outcome)
{
	int status;

	if (!is_nobodys(call, outcome))
		return hand_over(listener, call, file, outcome);
	__atomic_fetch_add(&copies, 1, __ATOMIC_ACQ_REL);
	status = sb_sys_notify_give(listener, call->id, outcome->fd, call->flags & O_CLOEXEC);
	let_go(call, file, outcome, status);
	__atomic_fetch_sub(&copies, 1, __ATOMIC_ACQ_REL);
	return status;
}

void sb_deliver_settle(void)
{
	struct timespec pause = {0, 20000};

	/* another thread has to run to let go of its copy: that takes no longer than a busy machine
	 * keeps one of the idle class waiting */
	for (int i = 0; i < SETTLE_LOOKS && __atomic_load_n(&copies, __ATOMIC_ACQUIRE); i++) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 1000000)
			pause.tv_nsec *= 2;
	}
}

typedef int hand_over_fn(int listener, const struct sb_call *call, const struct sb_spot *file,
			 struct sb_outcome *outcome);

static void deliver(int listener, const struct sb_call *call, const struct sb_spot *file,
		    const struct sb_spot *target, struct sb_outcome *outcome, hand_over_fn *hand)
{
	int status;

	if (outcome->error) {
		sb_sys_notify_fail(listener, call->id, outcome->error);
		return;
	}
	if (outcome->fd < 0) {
		sb_owed_return(listener, call, file, target);
		return;
	}
	status = hand(listener, call, file, outcome);
	if (status >= 0)
		return;
	/* EMFILE leaves no file behind */
	if (outcome->created)
		unlinkat(file->directory, file->name, 0);
	sb_sys_notify_fail(listener, call->id, -status);
}

void sb_deliver(int listener, const struct sb_call *call, const struct sb_spot *file,
		const struct sb_spot *target, struct sb_outcome *outcome)
{
	deliver(listener, call, file, target, outcome, hand_over);
}

void sb_deliver_quickly(int listener, const struct sb_call *call, const struct sb_spot *file,
			const struct sb_spot *target, struct sb_outcome *outcome)
{
	deliver(listener, call, file, target, outcome, hand_over_at_once);
}
