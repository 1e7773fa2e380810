#include "enforce/held.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>

#include "enforce/linux_seccomp.h"

#define ANY_BIT SB_FILTER_ANY_BIT
#define WRITES 2 /* W_OK */

/* The decoder looks from the top: what programs do most comes first. */
const struct sb_held sb_held_calls[] = {
	{SYS_openat, .act = SB_ACT_OPEN, .file = {1, 2}, .more = 4, .flags = 3,
	 .only = {ANY_BIT, 2, SB_OPENS_TO_CHANGE}},
#ifdef __x86_64__
	{SYS_open, .act = SB_ACT_OPEN, .file = {0, 1}, .more = 3, .flags = 2,
	 .only = {ANY_BIT, 1, SB_OPENS_TO_CHANGE}},
	{SYS_unlink, .act = SB_ACT_UNLINK, .file = {0, 1}},
	{SYS_rename, .act = SB_ACT_RENAME, .file = {0, 1}, .target = {0, 2}},
	{SYS_mkdir, .act = SB_ACT_MKDIR, .file = {0, 1}, .more = 2},
	{SYS_rmdir, .act = SB_ACT_RMDIR, .file = {0, 1}},
	{SYS_link, .act = SB_ACT_LINK, .file = {0, 1}, .target = {0, 2}},
	{SYS_symlink, .act = SB_ACT_SYMLINK, .file = {0, 2}, .more = 1},
	{SYS_chmod, .act = SB_ACT_CHMOD, .file = {0, 1}, .more = 2},
	{SYS_access, .act = SB_ACT_ACCESS, .file = {0, 1}, .more = 2, .only = {ANY_BIT, 1, WRITES}},
#endif
	{SYS_unlinkat, .act = SB_ACT_UNLINK, .file = {1, 2}, .flags = 3},
	{SYS_renameat2, .act = SB_ACT_RENAME, .file = {1, 2}, .target = {3, 4}, .flags = 5},
#ifdef SYS_renameat
	{SYS_renameat, .act = SB_ACT_RENAME, .file = {1, 2}, .target = {3, 4}},
#endif
	{SYS_mkdirat, .act = SB_ACT_MKDIR, .file = {1, 2}, .more = 3},
	{SYS_linkat, .act = SB_ACT_LINK, .file = {1, 2}, .target = {3, 4}, .flags = 5},
	{SYS_symlinkat, .act = SB_ACT_SYMLINK, .file = {2, 3}, .more = 1},
	{SYS_fchmod, .act = SB_ACT_CHMOD, .file = {1, 0}, .more = 2},
	{SYS_fchmodat, .act = SB_ACT_CHMOD, .file = {1, 2}, .more = 3},
	{SYS_utimensat, .act = SB_ACT_TIMES, .file = {1, 2}, .more = 3, .flags = 4},
	/* gcc and others ask before they write: the answer must be what the write will get */
	{SYS_faccessat, .act = SB_ACT_ACCESS, .file = {1, 2}, .more = 3,
	 .only = {ANY_BIT, 2, WRITES}},
	{SB_NR_faccessat2, .act = SB_ACT_ACCESS, .file = {1, 2}, .more = 3, .flags = 4,
	 .only = {ANY_BIT, 2, WRITES}},
	/* let through, but known: else they would have to be looked up for every call */
	{SYS_chdir, .act = SB_ACT_CHDIR},
	{SYS_fchdir, .act = SB_ACT_CHDIR},
	{SYS_umask, .act = SB_ACT_UMASK},
	/* Where a socket leads is decided by path; Landlock and mounts do not hold that. */
	{SYS_connect, .act = SB_ACT_CONNECT, .more = 1},
	{SYS_bind, .act = SB_ACT_BIND, .more = 1},
	/* locks that belong to an open file, of which the broker may still have a copy: perform.h */
	{SYS_flock, .act = SB_ACT_LOCK, .only = {ANY_BIT, 1, LOCK_SH | LOCK_EX}},
	{SYS_fcntl, .act = SB_ACT_LOCK, .more = 3, .flags = 2, .sometimes = true},
	{SYS_execve, .act = SB_ACT_EXEC, .file = {0, 1}, .sometimes = true},
	{SYS_execveat, .act = SB_ACT_EXEC, .file = {1, 2}, .flags = 5, .sometimes = true},
	{SYS_close, .act = SB_ACT_CLOSE, .sometimes = true},
	{SYS_close_range, .act = SB_ACT_CLOSE, .sometimes = true},
	{SYS_dup, .act = SB_ACT_CLOSE, .sometimes = true},
	{SYS_dup3, .act = SB_ACT_CLOSE, .sometimes = true},
#ifdef __x86_64__
	{SYS_dup2, .act = SB_ACT_CLOSE, .sometimes = true},
#endif
	{SYS_openat2, .act = SB_ACT_OPEN, .file = {1, 2}}, /* the rest in memory */
	{SYS_mknodat, .act = SB_ACT_MKNOD, .file = {1, 2}, .more = 3},
	{SYS_truncate, .act = SB_ACT_TRUNCATE, .file = {0, 1}, .more = 2},
	{SB_NR_fchmodat2, .act = SB_ACT_CHMOD, .file = {1, 2}, .more = 3, .flags = 4},
	{SYS_fchown, .act = SB_ACT_CHOWN, .file = {1, 0}, .more = 2},
	{SYS_fchownat, .act = SB_ACT_CHOWN, .file = {1, 2}, .more = 3, .flags = 5},
	{SYS_setxattr, .act = SB_ACT_SETXATTR, .file = {0, 1}, .more = 2, .flags = 5},
	{SYS_lsetxattr, .act = SB_ACT_SETXATTR, .file = {0, 1}, .more = 2, .flags = 5,
	 .link = true},
	{SYS_fsetxattr, .act = SB_ACT_SETXATTR, .file = {1, 0}, .more = 2, .flags = 5},
	{SYS_removexattr, .act = SB_ACT_REMOVEXATTR, .file = {0, 1}, .more = 2},
	{SYS_lremovexattr, .act = SB_ACT_REMOVEXATTR, .file = {0, 1}, .more = 2, .link = true},
	{SYS_ioctl, .act = SB_ACT_FLAGS, .file = {1, 0}, .more = 3, .sometimes = true},
	{SYS_fremovexattr, .act = SB_ACT_REMOVEXATTR, .file = {1, 0}, .more = 2},
#ifdef __x86_64__
	{SYS_creat, .act = SB_ACT_OPEN, .file = {0, 1}, .more = 2},
	{SYS_mknod, .act = SB_ACT_MKNOD, .file = {0, 1}, .more = 2},
	{SYS_chown, .act = SB_ACT_CHOWN, .file = {0, 1}, .more = 2},
	{SYS_lchown, .act = SB_ACT_CHOWN, .file = {0, 1}, .more = 2, .link = true},
	{SYS_utime, .act = SB_ACT_TIMES, .file = {0, 1}, .more = 2},
	{SYS_utimes, .act = SB_ACT_TIMES, .file = {0, 1}, .more = 2},
	{SYS_futimesat, .act = SB_ACT_TIMES, .file = {1, 2}, .more = 3},
#endif
	/* A program's own Landlock layer would not bind the broker that acts for it. */
	{SYS_landlock_create_ruleset, .act = SB_ACT_LANDLOCK},
	{SYS_prctl, .act = SB_ACT_REGISTER, .more = 2, .only = {SB_FILTER_EQUAL, 0, SB_REGISTER}},
	/* limits, priority and processors of a process: more is its number */
	{SYS_prlimit64, .act = SB_ACT_OWNER, .more = 1, .only = {SB_FILTER_NOT_ZERO, 2, 0}},
	{SYS_setpriority, .act = SB_ACT_OWNER, .more = 2},
	{SYS_ioprio_set, .act = SB_ACT_OWNER, .more = 2},
	{SYS_sched_setaffinity, .act = SB_ACT_OWNER, .more = 1},
	{SYS_sched_setattr, .act = SB_ACT_OWNER, .more = 1},
	{SYS_sched_setparam, .act = SB_ACT_OWNER, .more = 1},
	{SYS_sched_setscheduler, .act = SB_ACT_OWNER, .more = 1},
};

const size_t sb_held_count = sizeof sb_held_calls / sizeof sb_held_calls[0];
_Static_assert(sizeof sb_held_calls / sizeof sb_held_calls[0] <= SB_HELD_MAX, "room in the filter");

const struct sb_held *sb_held_find(int number)
{
	for (size_t i = 0; i < sb_held_count; i++)
		if (sb_held_calls[i].number == number)
			return &sb_held_calls[i];
	return NULL;
}
