/*
 * linux_flags.c - the flags that a file system keeps with a file: chattr(1).
 *
 * SECURITY: only flags that change how a file is stored, and nothing for anybody else.
 *
 * Danger: immutable and append-only files of a root's run, since whoever does this may have rights that the
 * command has not; directories in which names are the same in capitals; project quotas that are another's.
 * What a file system of next year makes of a number nobody knows: so this is a list of those that are harmless.
 * Price: "chattr +F" and the like answer EOPNOTSUPP, as on a file system without.
 * Held by: tests/enforce/ioctls.py
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/perform.h"
#include "supervise/proc_name.h"

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

int sb_perform_check_flags(const struct sb_spot *file)
{
	int now, fd = open_flags(file, &now);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -fd : 0;
}

int sb_perform_flags(const struct sb_call *call, const struct sb_spot *file)
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
