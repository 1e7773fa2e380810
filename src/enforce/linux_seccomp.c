/*
 * linux_seccomp.c - the system call filter: its table.  linux_filter.c compiles it.
 */
#include "enforce/linux_seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforce/linux_filter.h"
#include "sys/process.h"

/* Newer than some libc's headers; these numbers are the same everywhere. */
#define NR_quotactl_fd 443
#define NR_fchmodat2 452
#define NR_setxattrat 463
#define NR_removexattrat 466
#define NR_open_tree_attr 467
#define NR_file_setattr 469

#define NEW_NAMESPACE                                                                              \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)
#define NEW_TIME_NAMESPACE 0x80 /* in clone() this bit belongs to the exit signal */

#define FILE_SETFLAGS 0x40086602u /* FS_IOC_SETFLAGS */
#define FILE_SETXATTR 0x401c5820u /* FS_IOC_FSSETXATTR */

#define MAKES_FILE (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))

#define PROTO_SCTP 132
#define PROTO_SMC 256
#define PROTO_MPTCP 262
#define FAST_OPEN 0x20000000 /* MSG_FASTOPEN: connects without connect() */

/* "SBSH": what sb_inside() asks with.  Every kernel answers EINVAL to this prctl. */
#define QUERY 0x53425348u
#define QUERY_BASE 0x800u /* the answer is an errno: 0x800 + depth * 2 + mounts */
#define QUERY_DEPTH 0x3ffu

#define EQUAL SB_FILTER_EQUAL
#define DIFFERENT SB_FILTER_DIFFERENT
#define ANY_BIT SB_FILTER_ANY_BIT
#define NOT_ZERO SB_FILTER_NOT_ZERO

enum when { EVERY_RUN, NETWORK_OFF, NO_MOUNTS, AS_ROOT };

#define ANSWER(error) (SECCOMP_RET_ERRNO | (error))
#define PERM ANSWER(EPERM)

static const struct sb_filter_row table[] = {
	/* Typing into the user's terminal.  Linux 6.2 lets an admin turn TIOCSTI off
	 * (dev.tty.legacy_tiocsti), but we cannot count on that: ioctl_tty(2). */
	{SYS_ioctl, PERM, EVERY_RUN, {{EQUAL, 1, TIOCSTI}}},
	{SYS_ioctl, PERM, EVERY_RUN, {{EQUAL, 1, TIOCLINUX}}},
	/* chattr: metadata that a read-only mount would hold */
	{SYS_ioctl, PERM, NO_MOUNTS, {{EQUAL, 1, FILE_SETFLAGS}}},
	{SYS_ioctl, PERM, NO_MOUNTS, {{EQUAL, 1, FILE_SETXATTR}}},

	/* New namespaces give capabilities inside them, and with them half the kernel. */
	{SYS_clone, PERM, EVERY_RUN, {{ANY_BIT, 0, NEW_NAMESPACE}}},
	{SYS_unshare, PERM, EVERY_RUN, {{ANY_BIT, 0, NEW_NAMESPACE | NEW_TIME_NAMESPACE}}},
	{SYS_clone3, ANSWER(ENOSYS), EVERY_RUN, {{0}}}, /* flags in memory; libc falls back */
	{SYS_setns, PERM, EVERY_RUN, {{0}}},
	{SYS_mount, PERM, EVERY_RUN, {{0}}},
	{SYS_umount2, PERM, EVERY_RUN, {{0}}},
	{SYS_pivot_root, PERM, EVERY_RUN, {{0}}},
	{SYS_chroot, PERM, EVERY_RUN, {{0}}},
	{SYS_open_tree, PERM, EVERY_RUN, {{0}}},
	{NR_open_tree_attr, ANSWER(ENOSYS), EVERY_RUN, {{0}}},
	{SYS_move_mount, PERM, EVERY_RUN, {{0}}},
	{SYS_fsopen, PERM, EVERY_RUN, {{0}}},
	{SYS_fsconfig, PERM, EVERY_RUN, {{0}}},
	{SYS_fsmount, PERM, EVERY_RUN, {{0}}},
	{SYS_fspick, PERM, EVERY_RUN, {{0}}},
	{SYS_mount_setattr, PERM, EVERY_RUN, {{0}}},

	/* Work that is done where no filter looks. */
	{SYS_io_uring_setup, PERM, EVERY_RUN, {{0}}},
	{SYS_io_uring_enter, PERM, EVERY_RUN, {{0}}},
	{SYS_io_uring_register, PERM, EVERY_RUN, {{0}}},
	{SYS_bpf, PERM, EVERY_RUN, {{0}}},
	{SYS_perf_event_open, PERM, EVERY_RUN, {{0}}},
	{SYS_userfaultfd, PERM, EVERY_RUN, {{0}}},
	{SYS_open_by_handle_at, PERM, EVERY_RUN, {{0}}},
	{SYS_fanotify_init, PERM, EVERY_RUN, {{0}}},

	/* Keys live in keyrings shared with the user's other programs. */
	{SYS_keyctl, PERM, EVERY_RUN, {{0}}},
	{SYS_add_key, PERM, EVERY_RUN, {{0}}},
	{SYS_request_key, PERM, EVERY_RUN, {{0}}},

	/* The machine itself. */
	{SYS_kexec_load, PERM, EVERY_RUN, {{0}}},
	{SYS_kexec_file_load, PERM, EVERY_RUN, {{0}}},
	{SYS_init_module, PERM, EVERY_RUN, {{0}}},
	{SYS_finit_module, PERM, EVERY_RUN, {{0}}},
	{SYS_delete_module, PERM, EVERY_RUN, {{0}}},
	{SYS_reboot, PERM, EVERY_RUN, {{0}}},
	{SYS_swapon, PERM, EVERY_RUN, {{0}}},
	{SYS_swapoff, PERM, EVERY_RUN, {{0}}},
	{SYS_acct, PERM, EVERY_RUN, {{0}}},
	{SYS_quotactl, PERM, EVERY_RUN, {{0}}},
	{NR_quotactl_fd, PERM, EVERY_RUN, {{0}}},
	{SYS_syslog, PERM, EVERY_RUN, {{0}}},
	{SYS_settimeofday, PERM, EVERY_RUN, {{0}}},
	{SYS_clock_settime, PERM, EVERY_RUN, {{0}}},

	/* Limits, priority and processors of programs outside: uid is all the kernel asks for.
	 * PRIO_PGRP and PRIO_USER reach further than their "0" looks. */
	{SYS_prlimit64, PERM, EVERY_RUN, {{NOT_ZERO, 0, 0}, {NOT_ZERO, 2, 0}}},
	{SYS_setpriority, PERM, EVERY_RUN, {{DIFFERENT, 0, PRIO_PROCESS}}},
	{SYS_setpriority, PERM, EVERY_RUN, {{NOT_ZERO, 1, 0}}},
	{SYS_ioprio_set, PERM, EVERY_RUN, {{DIFFERENT, 0, 1 /* IOPRIO_WHO_PROCESS */}}},
	{SYS_ioprio_set, PERM, EVERY_RUN, {{NOT_ZERO, 1, 0}}},
	{SYS_sched_setaffinity, PERM, EVERY_RUN, {{NOT_ZERO, 0, 0}}},
	{SYS_sched_setattr, PERM, EVERY_RUN, {{NOT_ZERO, 0, 0}}},
	{SYS_sched_setparam, PERM, EVERY_RUN, {{NOT_ZERO, 0, 0}}},
	{SYS_sched_setscheduler, PERM, EVERY_RUN, {{NOT_ZERO, 0, 0}}},

	/* Metadata calls too new for anyone to need; programs fall back. */
	{NR_setxattrat, ANSWER(ENOSYS), EVERY_RUN, {{0}}},
	{NR_removexattrat, ANSWER(ENOSYS), EVERY_RUN, {{0}}},
	{NR_file_setattr, ANSWER(ENOSYS), EVERY_RUN, {{0}}},

	/* Families with little use and many bugs; VSOCK reaches the host of a machine. */
	{SYS_socket,
	 ANSWER(EAFNOSUPPORT),
	 EVERY_RUN,
	 {{DIFFERENT, 0, AF_UNIX},
	  {DIFFERENT, 0, AF_INET},
	  {DIFFERENT, 0, AF_INET6},
	  {DIFFERENT, 0, AF_NETLINK}}},
	{SYS_socket,
	 ANSWER(EPROTONOSUPPORT),
	 EVERY_RUN,
	 {{EQUAL, 0, AF_NETLINK}, {NOT_ZERO, 2, 0 /* NETLINK_ROUTE */}}},
	{SYS_socketpair, ANSWER(EAFNOSUPPORT), EVERY_RUN, {{DIFFERENT, 0, AF_UNIX}}},

	/* No network: where there is no namespace for it, no internet sockets; and in any
	 * case none of the ways around a TCP rule (KERNEL.md, trap 4). */
	{SYS_socket, ANSWER(EACCES), NETWORK_OFF, {{EQUAL, 0, AF_INET}}},
	{SYS_socket, ANSWER(EACCES), NETWORK_OFF, {{EQUAL, 0, AF_INET6}}},
	{SYS_socket, ANSWER(EPROTONOSUPPORT), NETWORK_OFF, {{EQUAL, 2, PROTO_MPTCP}}},
	{SYS_socket, ANSWER(EPROTONOSUPPORT), NETWORK_OFF, {{EQUAL, 2, PROTO_SCTP}}},
	{SYS_socket, ANSWER(EPROTONOSUPPORT), NETWORK_OFF, {{EQUAL, 2, PROTO_SMC}}},
	{SYS_sendto, ANSWER(EOPNOTSUPP), NETWORK_OFF, {{ANY_BIT, 3, FAST_OPEN}}},
	{SYS_sendmsg, ANSWER(EOPNOTSUPP), NETWORK_OFF, {{ANY_BIT, 2, FAST_OPEN}}},
	{SYS_sendmmsg, ANSWER(EOPNOTSUPP), NETWORK_OFF, {{ANY_BIT, 3, FAST_OPEN}}},
	/* Setuid bits, in every call that takes a mode.  A mode that is no argument of an open
	 * without O_CREAT may be anything; openat2() has it in memory, and callers fall back. */
	{SYS_fchmod, PERM, AS_ROOT, {{ANY_BIT, 1, S_ISUID}}},
	{SYS_fchmodat, PERM, AS_ROOT, {{ANY_BIT, 2, S_ISUID}}},
	{NR_fchmodat2, PERM, AS_ROOT, {{ANY_BIT, 2, S_ISUID}}},
	{SYS_mknodat, PERM, AS_ROOT, {{ANY_BIT, 2, S_ISUID}}},
	{SYS_openat, PERM, AS_ROOT, {{ANY_BIT, 2, MAKES_FILE}, {ANY_BIT, 3, S_ISUID}}},
	{SYS_openat2, ANSWER(ENOSYS), AS_ROOT, {{0}}},
#ifdef __x86_64__
	{SYS_chmod, PERM, AS_ROOT, {{ANY_BIT, 1, S_ISUID}}},
	{SYS_mknod, PERM, AS_ROOT, {{ANY_BIT, 1, S_ISUID}}},
	{SYS_creat, PERM, AS_ROOT, {{ANY_BIT, 1, S_ISUID}}},
	{SYS_open, PERM, AS_ROOT, {{ANY_BIT, 1, MAKES_FILE}, {ANY_BIT, 2, S_ISUID}}},
	{SYS_uselib, PERM, EVERY_RUN, {{0}}},
	{SYS_iopl, PERM, EVERY_RUN, {{0}}},
	{SYS_ioperm, PERM, EVERY_RUN, {{0}}},
#endif
};

#define ROWS (sizeof table / sizeof table[0])

static bool applies(const struct sb_filter_row *row, const struct sb_filter_options *options)
{
	switch (row->when) {
	case NETWORK_OFF:
		return options->network_off;
	case NO_MOUNTS:
		return options->no_mounts;
	case AS_ROOT:
		return options->as_root;
	default:
		return true;
	}
}

/* Insert by number; rows of one number keep the order of the table. */
static void insert(const struct sb_filter_row **rows, size_t count, const struct sb_filter_row *row)
{
	while (count && rows[count - 1]->number > row->number) {
		rows[count] = rows[count - 1];
		count--;
	}
	rows[count] = row;
}

size_t sb_filter_build(const struct sb_filter_options *options, struct sock_filter *out, size_t max)
{
	const struct sb_filter_row query = {
		SYS_prctl, ANSWER(options->self), EVERY_RUN, {{EQUAL, 0, QUERY}}};
	const struct sb_filter_row *rows[ROWS + 1];
	size_t count = 0;

	for (size_t i = 0; i < ROWS; i++)
		if (applies(&table[i], options))
			insert(rows, count++, &table[i]);
	insert(rows, count++, &query);
	return sb_filter_compile(rows, count, out, max);
}

int sb_filter_enter(const struct sb_plan *plan, struct sb_layers *layers, struct sb_error *err)
{
	struct sock_filter code[512];
	unsigned depth = (unsigned)layers->outer + 1;
	struct sb_filter_options options = {
		.network_off = !plan->network && !layers->net_namespace,
		.as_root = geteuid() == 0,
		.no_mounts = !layers->mounts,
		.self = QUERY_BASE + (depth > QUERY_DEPTH ? QUERY_DEPTH : depth) * 2 +
			(layers->mounts || layers->outer_mounts),
	};
	struct sock_fprog program = {.filter = code};
	size_t count = sb_filter_build(&options, code, sizeof code / sizeof code[0]);
	int status;

	if (count == 0)
		return sb_fail(err, SB_E_SYSTEM, 0, "the system call filter does not fit");
	program.len = (unsigned short)count;
	status = sb_sys_load_filter(&program);
	if (status < 0)
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot load the system call filter");
	layers->seccomp = true;
	return SB_OK;
}

int sb_inside(bool *out_mounts)
{
	int answer;

	*out_mounts = false;
	if (prctl((int)QUERY, 0, 0, 0, 0) == 0)
		return 0;
	answer = errno;
	if (answer < (int)QUERY_BASE || answer > 0xfff)
		return 0;
	*out_mounts = answer & 1;
	return (answer - (int)QUERY_BASE) / 2;
}
