/*
 * linux_seccomp.c - the system call filter: its table.  linux_filter.c compiles it.
 */
#include "enforce/linux_seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "base/each.h"
#include "enforce/held.h"
#include "enforce/inside.h"
#include "enforce/linux_filter.h"
#include "enforce/linux_ioctls.h"
#include "sys/notify.h"
#include "sys/process.h"

/* Newer than some libc's headers; these numbers are the same everywhere. */
#define NR_quotactl_fd 443
#define NR_memfd_secret 447
#define NR_setxattrat 463
#define NR_removexattrat 466
#define NR_open_tree_attr 467
#define NR_file_setattr 469

#define NEW_NAMESPACE                                                                              \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)
#define NEW_TIME_NAMESPACE 0x80 /* in clone() this bit belongs to the exit signal */

#define NEGATIVE 0x80000000u /* and above: a process group */

#define PROTO_SCTP 132
#define PROTO_SMC 256
#define PROTO_MPTCP 262
#define FAST_OPEN 0x20000000 /* MSG_FASTOPEN: connects without connect() */

#define EQUAL SB_FILTER_EQUAL
#define DIFFERENT SB_FILTER_DIFFERENT
#define ANY_BIT SB_FILTER_ANY_BIT
#define NOT_ZERO SB_FILTER_NOT_ZERO
#define AT_LEAST SB_FILTER_AT_LEAST
#define AT_MOST SB_FILTER_AT_MOST
#define MASKED SB_FILTER_MASKED

enum when {
	EVERY_RUN,
	NETWORK_OFF,
	NO_MOUNTS,
	AS_ROOT_STATIC, /* what the broker checks itself in a supervised run */
	SUPERVISED,
	HOLDS_SIGNALS,
	HOLDS_SOCKETS,
	HOLDS_GROUPS,
	NEEDS_SIGHT,
	MAKES_NO_SOCKETS,
	UNMOUNTED, /* supervised, or without mounts */
	SHARED_IPC,
	SHARED_PIDS,
	SHARED_PIDS_STATIC,
	SHARED_PIDS_SUPERVISED,
	NO_LANDLOCK,
	SOME_PROGRAMS,
	SOME_PROGRAMS_SUPERVISED,
	SUPERVISED_ALONE, /* without Landlock */
	WHENS,
};

#define ANSWER(error) (SECCOMP_RET_ERRNO | (error))
#define PERM ANSWER(EPERM)
#define HOLD SECCOMP_RET_USER_NOTIF

/* For SB_NAMED(): calls whatever their arguments. */
#define CALL(number, answer, when)                                                                 \
	{                                                                                          \
		number, answer, when,                                                              \
		{                                                                                  \
			{                                                                          \
				0                                                                  \
			}                                                                          \
		}                                                                                  \
	}

static const struct sb_filter_row table[] = {
	/* Typing into the user's terminal.  Linux 6.2 lets an admin turn TIOCSTI off
	 * (dev.tty.legacy_tiocsti), but we cannot count on that: ioctl_tty(2). */
	{SYS_ioctl, PERM, EVERY_RUN, {{EQUAL, 1, TIOCSTI}}},
	{SYS_ioctl, PERM, EVERY_RUN, {{EQUAL, 1, TIOCLINUX}}},
	/* Other line disciplines: drivers for modems that a terminal never needs, with bugs. */
	{SYS_ioctl, PERM, EVERY_RUN, {{EQUAL, 1, TIOCSETD}}},
	/* A terminal that nobody can open any more, also when the run is over: ioctl_tty(2). */
	{SYS_ioctl, PERM, EVERY_RUN, {{EQUAL, 1, TIOCEXCL}}},
	/* One that shows nothing more, our words and the shell's neither: no key undoes this, tcflow(3). */
	{SYS_ioctl, PERM, EVERY_RUN, {{EQUAL, 1, TCXONC}, {EQUAL, 2, TCOOFF}}},
	/* chattr and the like, by a descriptor that is open for reading: metadata that a read-only
	 * mount would hold.  Inside the roots of a supervised run there is none around what is
	 * read-only: there the broker does what chattr does, and nobody needs the others.  Programs
	 * that try know file systems without. */
	{SYS_ioctl, HOLD, SUPERVISED, {{EQUAL, 1, SB_IOCTL_SETFLAGS}}},
	{SYS_ioctl, ANSWER(EOPNOTSUPP), UNMOUNTED, {{EQUAL, 1, SB_IOCTL_SETFLAGS}}},
	{SYS_ioctl, ANSWER(EOPNOTSUPP), UNMOUNTED, {{EQUAL, 1, SB_IOCTL_SETXATTR}}},
	{SYS_ioctl, ANSWER(EOPNOTSUPP), UNMOUNTED, {{EQUAL, 1, SB_IOCTL_SETVERSION}}},
	{SYS_ioctl, ANSWER(EOPNOTSUPP), UNMOUNTED, {{EQUAL, 1, SB_IOCTL_SETVERSION4}}},
	{SYS_ioctl, ANSWER(EOPNOTSUPP), UNMOUNTED, {{EQUAL, 1, SB_IOCTL_ENABLE_VERITY}}},
	/* Which blocks a file has is changed through a descriptor that may be open for reading alone,
	 * and whose number lies in memory: ioctl_fideduperange(2).  Only a mount holds that. */
	{SYS_ioctl, ANSWER(EOPNOTSUPP), NO_MOUNTS, {{EQUAL, 1, SB_IOCTL_DEDUPE}}},

	/* New namespaces give capabilities inside them, and with them half the kernel. */
	{SYS_clone, PERM, EVERY_RUN, {{ANY_BIT, 0, NEW_NAMESPACE}}},
	{SYS_unshare, PERM, EVERY_RUN, {{ANY_BIT, 0, NEW_NAMESPACE | NEW_TIME_NAMESPACE}}},
	{SYS_clone3, ANSWER(ENOSYS), EVERY_RUN, {{0}}}, /* flags in memory; libc falls back */
	SB_NAMED(CALL, PERM, EVERY_RUN, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root,
		 SYS_chroot, SYS_open_tree),
	{NR_open_tree_attr, ANSWER(ENOSYS), EVERY_RUN, {{0}}},
	SB_NAMED(CALL, PERM, EVERY_RUN, SYS_move_mount, SYS_fsopen, SYS_fsconfig, SYS_fsmount,
		 SYS_fspick, SYS_mount_setattr),

	/* Work that is done where no filter looks. */
	SB_NAMED(CALL, PERM, EVERY_RUN, SYS_io_uring_setup, SYS_io_uring_enter,
		 SYS_io_uring_register, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
		 SYS_open_by_handle_at, SYS_fanotify_init),

	/* Keys live in keyrings shared with the user's other programs. */
	SB_NAMED(CALL, PERM, EVERY_RUN, SYS_keyctl, SYS_add_key, SYS_request_key),

	/* Files that no mount and no directory holds, so nothing else keeps them from being programs. */
	SB_NAMED(CALL, PERM, SOME_PROGRAMS, SYS_memfd_create, NR_memfd_secret),
	/* The loader must be executable, and is no program: linux_view_programs.c. */
	SB_NAMED(CALL, HOLD, SOME_PROGRAMS_SUPERVISED, SYS_execve, SYS_execveat),

	/* The machine itself. */
	SB_NAMED(CALL, PERM, EVERY_RUN, SYS_kexec_load, SYS_kexec_file_load, SYS_init_module,
		 SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct,
		 SYS_quotactl, NR_quotactl_fd, SYS_syslog, SYS_settimeofday, SYS_clock_settime),

	/* PRIO_PGRP and PRIO_USER, and their like for ioprio: rows_of_process() */
	{SYS_setpriority, PERM, EVERY_RUN, {{DIFFERENT, 0, PRIO_PROCESS}}},
	{SYS_ioprio_set, PERM, EVERY_RUN, {{DIFFERENT, 0, 1 /* IOPRIO_WHO_PROCESS */}}},

	/* A lease on somebody's file makes whoever opens it wait, outside as well, and us. */
	{SYS_fcntl, ANSWER(EACCES), EVERY_RUN, {{EQUAL, 1, F_SETLEASE}}},
	/* How long data will live is kept with the file, and asks for no right to write. */
	{SYS_fcntl, ANSWER(EINVAL), EVERY_RUN, {{EQUAL, 1, F_SET_RW_HINT}}},
	{SYS_fcntl, ANSWER(EINVAL), EVERY_RUN, {{EQUAL, 1, F_SET_FILE_RW_HINT}}},

	/*
	 * SECURITY: nobody outside becomes the owner of a descriptor.
	 *
	 * Danger: the owner is signalled when something happens at it, with any signal (F_SETSIG).
	 * In a pid namespace nobody outside can be named.  Elsewhere Landlock's scope holds single
	 * processes (ABI 6), but groups not in every kernel (tests/facts/signal_owner.c).  What
	 * lies in memory is refused, since it can change after a look; the rest is a number, of
	 * which the broker lets through the caller's own.
	 * Price: without a pid namespace no group and no single thread can own a descriptor.
	 * Held by: tests/enforce/processes.py
	 */
	{SYS_fcntl, PERM, SHARED_PIDS, {{EQUAL, 1, F_SETOWN_EX}}},
	{SYS_ioctl, PERM, SHARED_PIDS, {{EQUAL, 1, FIOSETOWN}}},
	{SYS_ioctl, PERM, SHARED_PIDS, {{EQUAL, 1, SIOCSPGRP}}},
	{SYS_fcntl, PERM, SHARED_PIDS_STATIC, {{EQUAL, 1, F_SETOWN}, {AT_LEAST, 2, NEGATIVE}}},
	{SYS_fcntl, HOLD, SHARED_PIDS_SUPERVISED, {{EQUAL, 1, F_SETOWN}, {DIFFERENT, 2, 0}}},

	/* Queues, semaphores and memory of other programs of the user, where they are not in a
	 * namespace of their own: their numbers can be guessed, and no path leads there. */
	SB_NAMED(CALL, PERM, SHARED_IPC, SYS_mq_open, SYS_mq_unlink, SYS_mq_timedsend,
		 SYS_mq_timedreceive, SYS_mq_notify, SYS_mq_getsetattr),
	/* The broker knows which are the run's own (sysv.h); where nobody listens, as in a static run, the
	 * answer is ENOSYS, that of a kernel without them: seccomp(2). */
	SB_NAMED(CALL, HOLD, SHARED_IPC, SYS_msgget, SYS_msgctl, SYS_msgrcv, SYS_msgsnd, SYS_semget,
		 SYS_semctl, SYS_semtimedop, SYS_semop, SYS_shmget, SYS_shmctl, SYS_shmat),

	/* Metadata calls too new for anyone to need; programs fall back. */
	SB_NAMED(CALL, ANSWER(ENOSYS), EVERY_RUN, NR_setxattrat, NR_removexattrat, NR_file_setattr),

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
	 {{EQUAL, 0, AF_NETLINK}, {DIFFERENT, 2, 0 /* NETLINK_ROUTE */}}},
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
	/* openat2() has the mode in memory (rows_of_held()), and callers fall back. */
	{SYS_openat2, ANSWER(ENOSYS), AS_ROOT_STATIC, {{0}}},
#ifdef __x86_64__
	SB_NAMED(CALL, PERM, EVERY_RUN, SYS_uselib, SYS_iopl, SYS_ioperm),
#endif

	/* Supervised: what held.h does not say.  After the rows above: of two rows for one number
	 * the first that applies answers, so what is forbidden stays forbidden. */

	/* Flags in memory.  Of what the broker cannot do for the caller, nothing holds the rest. */
	{SYS_openat2, ANSWER(ENOSYS), SUPERVISED_ALONE, {{0}}},
	/* as flock(): held.h */
	{SYS_fcntl, HOLD, SUPERVISED, {{EQUAL, 1, F_OFD_SETLK}}},
	{SYS_fcntl, HOLD, SUPERVISED, {{EQUAL, 1, F_OFD_SETLKW}}},
	/* A datagram can be sent to any path without connecting.  Bit 1 is in SOCK_DGRAM and
	 * SOCK_RAW (which unix sockets take for the same), not in STREAM and SEQPACKET. */
	{SYS_socket, ANSWER(EACCES), SUPERVISED, {{EQUAL, 0, AF_UNIX}, {ANY_BIT, 1, 2}}},
	{SYS_socketpair, HOLD, SUPERVISED, {{EQUAL, 0, AF_UNIX}, {ANY_BIT, 1, 2}}},
	{SYS_socket, HOLD, HOLDS_SOCKETS, {{0}}},
	/* Nothing else keeps them inside: supervise/linux_signals.c. */
	SB_NAMED(CALL, HOLD, HOLDS_SIGNALS, SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo,
		 SYS_rt_tgsigqueueinfo, SYS_pidfd_send_signal),
	/* The namespace has no names for them: sb_groups_note(). */
	{SYS_getgroups, HOLD, HOLDS_GROUPS, {{0}}},
	/*
	 * SECURITY: where the broker has no right to read processes that hide their memory, none does.
	 *
	 * Danger: other processes of the run can read it, and a program behind core_pattern gets it with a
	 * core.  They are one run: who could read gpg-agent there could have started another in its place.
	 * Price: the answer is a lie.  Else such a program (gpg-agent) could change nothing at all.
	 * Held by: tests/supervise/everyday.py
	 */
	{SYS_prctl, ANSWER(0), NEEDS_SIGHT, {{EQUAL, 0, PR_SET_DUMPABLE}, {EQUAL, 1, 0}}},
	/* the mark by which the broker knows a nested run's processes (supervise/domains.h) */
	{SYS_prlimit64, PERM, SUPERVISED, {{EQUAL, 1, RLIMIT_LOCKS}, {NOT_ZERO, 2, 0}}},
	{SYS_setrlimit, PERM, SUPERVISED, {{EQUAL, 0, RLIMIT_LOCKS}}},
};

/*
 * The performer's own: it acts on hostile requests and must not be led to more than files in
 * the roots.  Without mounts nothing else would keep it from metadata outside.
 */
static const struct sb_filter_row performer_table[] = {
	/* its own work with held calls, before it is looked whether others are a file system's */
	{SYS_ioctl, SECCOMP_RET_ALLOW, EVERY_RUN, {{MASKED, 1, SB_IOCTL_TYPE('!')}}},
	{SYS_ioctl, SECCOMP_RET_ALLOW, EVERY_RUN, {{EQUAL, 1, SB_IOCTL_GETFLAGS}}},
	{SYS_ioctl, PERM, NO_MOUNTS, {{EQUAL, 1, SB_IOCTL_SETFLAGS}}}, /* metadata, as below */
	{SYS_ioctl, SECCOMP_RET_ALLOW, EVERY_RUN, {{EQUAL, 1, SB_IOCTL_SETFLAGS}}},
	SB_NAMED(CALL, PERM, EVERY_RUN, SYS_execve, SYS_execveat, SYS_ptrace),
	{SYS_process_vm_writev, PERM, NO_LANDLOCK, {{0}}}, /* else only into the run's processes */
	{SYS_unshare, PERM, EVERY_RUN, {{ANY_BIT, 0, NEW_NAMESPACE | NEW_TIME_NAMESPACE}}},
	SB_NAMED(CALL, PERM, EVERY_RUN, SYS_setns, SYS_mount, SYS_move_mount, SYS_open_tree,
		 SYS_mount_setattr, SYS_umount2, SYS_io_uring_setup, SYS_bpf, SYS_open_by_handle_at,
		 SYS_keyctl),
	{SYS_socket, PERM, MAKES_NO_SOCKETS, {{DIFFERENT, 0, AF_UNIX}, {DIFFERENT, 0, AF_NETLINK}}},
	/* which file a socket is bound to: sys/unix_diag.h */
	{SYS_socket,
	 PERM,
	 MAKES_NO_SOCKETS,
	 {{EQUAL, 0, AF_NETLINK}, {DIFFERENT, 2, NETLINK_SOCK_DIAG}}},
	SB_NAMED(CALL, PERM, NO_MOUNTS, NR_setxattrat, NR_removexattrat, NR_file_setattr),
};

#define ROWS (sizeof table / sizeof table[0])
#define PERFORMER_ROWS (sizeof performer_table / sizeof performer_table[0])
_Static_assert(PERFORMER_ROWS <= ROWS, "the list of rows has room for either table");
#define STAGING_ROWS 12
#define MADE_ROWS (2 * SB_HELD_MAX + 1 + STAGING_ROWS + 12)

/* Which rows count: by what they say about when. */
static void find_when(const struct sb_filter_options *options, bool out[WHENS])
{
	const bool held = options->supervised;
	const bool when[WHENS] = {
		[EVERY_RUN] = true,
		[NETWORK_OFF] = options->network_off,
		[NO_MOUNTS] = options->no_mounts,
		[AS_ROOT_STATIC] = options->as_root && !held,
		[SUPERVISED] = held,
		[HOLDS_SIGNALS] = options->signals,
		[HOLDS_SOCKETS] = options->sockets,
		[HOLDS_GROUPS] = options->groups,
		[NEEDS_SIGHT] = options->sight,
		[MAKES_NO_SOCKETS] = !options->sockets,
		[UNMOUNTED] = options->no_mounts || held,
		[SHARED_IPC] = options->shared_ipc,
		[SHARED_PIDS] = options->shared_pids,
		[SHARED_PIDS_STATIC] = options->shared_pids && !held,
		[SHARED_PIDS_SUPERVISED] = options->shared_pids && held,
		[NO_LANDLOCK] = options->no_landlock,
		[SOME_PROGRAMS] = options->programs,
		[SOME_PROGRAMS_SUPERVISED] = options->programs && held,
		[SUPERVISED_ALONE] = held && options->no_landlock,
	};

	memcpy(out, when, sizeof when);
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

/*
 * Insert the rows about file systems' ioctls behind the others of that number, at once: one by one
 * would take longer than the rest.  The performer asks nothing of a file system in this way.
 */
static size_t insert_ioctls(const struct sb_filter_row **rows, size_t count, bool performer)
{
	const struct sb_filter_row *chosen[SB_FILE_IOCTLS_MAX];
	size_t more = 0, at = count;

	for (size_t i = 0; i < sb_file_ioctl_count; i++)
		if (!performer || sb_file_ioctls[i].answer != SECCOMP_RET_ALLOW)
			chosen[more++] = &sb_file_ioctls[i];
	while (at && rows[at - 1]->number > sb_file_ioctls[0].number)
		at--;
	memmove(rows + at + more, rows + at, (count - at) * sizeof rows[0]);
	memcpy(rows + at, chosen, more * sizeof rows[0]);
	return count + more;
}

/* Setuid bits.  A mode that is no argument of an open without O_CREAT may be anything. */
static struct sb_filter_row no_setuid(const struct sb_held *call)
{
	const struct sb_filter_condition mode = {ANY_BIT, call->more - 1u, S_ISUID};

	if (!call->flags || call->act != SB_ACT_OPEN)
		return (struct sb_filter_row){call->number, PERM, EVERY_RUN, {mode}};
	return (struct sb_filter_row){
		call->number, PERM, EVERY_RUN, {{ANY_BIT, call->flags - 1u, SB_MAKES_FILE}, mode}};
}

static struct sb_filter_row hold(const struct sb_held *call,
				 const struct sb_filter_options *options)
{
	struct sb_filter_row row = {call->number, HOLD, SUPERVISED, {call->only}};

	if (call->act == SB_ACT_OPEN && options->reads)
		row.conditions[0] = (struct sb_filter_condition){0};
	else if (call->act == SB_ACT_OPEN && options->listings)
		row.conditions[0].value |= O_DIRECTORY;
	return row;
}

/*
 * SECURITY: limits, priority and processors are those of the run's own processes.
 *
 * Danger: uid is all the kernel asks for (tests/facts/priority.c).  In a pid namespace of the
 * run's own a number means one of its processes, or the first, which is the supervisor's.
 * PRIO_PGRP and PRIO_USER, and their like for ioprio, reach further than their "0" looks, and
 * are refused.
 * Elsewhere a supervised run lets the caller name itself: the number is an argument.
 * Price: elsewhere renice, taskset and prlimit work on the calling process alone.
 * Held by: tests/enforce/processes.py
 */
static size_t rows_of_process(const struct sb_held *call, const struct sb_filter_options *options,
			      struct sb_filter_row *out)
{
	const struct sb_filter_condition first = {EQUAL, call->more - 1u, 1};
	const struct sb_filter_condition other = {DIFFERENT, call->more - 1u, 0};
	bool held = options->shared_pids && options->supervised;

	out[0] = (struct sb_filter_row){call->number, PERM, EVERY_RUN, {first, call->only}};
	out[1] = (struct sb_filter_row){
		call->number, held ? HOLD : PERM, EVERY_RUN, {other, call->only}};
	return held || options->other_pids ? 2 : 1;
}

/*
 * What the calls of held.h lead to.  Supervised: each is held, and carried out by the broker.  As
 * root: none that takes a mode makes a setuid file.  For the performer: no metadata, where no mount
 * holds it.
 */
static size_t rows_of_held(const struct sb_filter_options *options, struct sb_filter_row *out)
{
	size_t count = 0;

	for (size_t i = 0; i < sb_held_count; i++) {
		const struct sb_held *call = &sb_held_calls[i];
		bool has_mode = call->act == SB_ACT_OPEN || call->act == SB_ACT_MKNOD ||
				call->act == SB_ACT_CHMOD;

		if (options->performer && options->no_mounts && sb_act_is_metadata(call->act) &&
		    !call->sometimes)
			out[count++] = (struct sb_filter_row){call->number, PERM, EVERY_RUN, {{0}}};
		if (options->as_root && has_mode && call->more)
			out[count++] = no_setuid(call);
		if (call->act == SB_ACT_OWNER && !options->performer)
			count += rows_of_process(call, options, out + count);
		else if (options->supervised && !call->sometimes)
			out[count++] = hold(call, options);
	}
	return count;
}

#define AMONG(argument, first, last)                                                               \
	{AT_LEAST, argument, first},                                                               \
	{                                                                                          \
		AT_MOST, argument, last                                                            \
	}

/*
 * The last descriptor of a staged file may be one of the high numbers that the broker
 * gives out, or what a shell made of it (supervise/stage.h).  All other closing is as
 * fast as ever, but for the comparison: some programs close every number there is.  A copy
 * of such a descriptor may get a number whose closing is not held, so making one is.
 * Standard input is not what shells write to: a held call may be interrupted (EINTR), and a
 * dash that cannot put its input back keeps the FIFO that it read a line from.
 */
static size_t rows_of_staging(unsigned first, struct sb_filter_row *out)
{
	const unsigned last = first + SB_STAGING_HELD - 1;
	const struct sb_filter_row rows[] = {
		{SYS_close, HOLD, SUPERVISED, {AMONG(0, first, last)}},
		{SYS_close, HOLD, SUPERVISED, {AMONG(0, 1, 2)}},
		{SYS_dup3, HOLD, SUPERVISED, {AMONG(1, first, last)}},
		{SYS_dup3, HOLD, SUPERVISED, {AMONG(1, 1, 2)}},
		{SYS_dup3, HOLD, SUPERVISED, {AMONG(0, first, last)}},
		{SYS_dup, HOLD, SUPERVISED, {AMONG(0, first, last)}},
		{SYS_fcntl, HOLD, SUPERVISED, {{EQUAL, 1, F_DUPFD}, AMONG(0, first, last)}},
		{SYS_fcntl, HOLD, SUPERVISED, {{EQUAL, 1, F_DUPFD_CLOEXEC}, AMONG(0, first, last)}},
		{SYS_close_range, HOLD, SUPERVISED, {{AT_LEAST, 1, first}, {AT_MOST, 0, last}}},
#ifdef __x86_64__
		{SYS_dup2, HOLD, SUPERVISED, {AMONG(1, first, last)}},
		{SYS_dup2, HOLD, SUPERVISED, {AMONG(1, 1, 2)}},
		{SYS_dup2, HOLD, SUPERVISED, {AMONG(0, first, last)}},
#endif
	};

	_Static_assert(sizeof rows / sizeof rows[0] <= STAGING_ROWS, "room for them");
	memcpy(out, rows, sizeof rows);
	return sizeof rows / sizeof rows[0];
}

/*
 * Who has no rights can be nobody else.  A user namespace that knows one user and one group says
 * EINVAL to all others, and programs take that for a mistake of their own: setuid(2).
 */
static size_t rows_of_ids(unsigned user, unsigned group, struct sb_filter_row *out)
{
	static const struct {
		int number;
		unsigned ids; /* arguments */
		bool group;
	} calls[] = {{SYS_setuid, 1, false}, {SYS_setreuid, 2, false}, {SYS_setresuid, 3, false},
		     {SYS_setgid, 1, true},  {SYS_setregid, 2, true},  {SYS_setresgid, 3, true}};
	size_t count = 0;

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		for (unsigned n = 0; n < calls[i].ids; n++)
			out[count++] = (struct sb_filter_row){
				calls[i].number,
				PERM,
				EVERY_RUN,
				{{DIFFERENT, n, calls[i].group ? group : user},
				 {DIFFERENT, n, UINT32_MAX /* as it is */}}};
	return count;
}

size_t sb_filter_build(const struct sb_filter_options *options, struct sock_filter *out, size_t max)
{
	const struct sb_filter_row *from = options->performer ? performer_table : table;
	const struct sb_filter_row *rows[ROWS + SB_FILE_IOCTLS_MAX + MADE_ROWS];
	struct sb_filter_row made[MADE_ROWS];
	size_t count = 0, all = options->performer ? PERFORMER_ROWS : ROWS;
	size_t more = rows_of_held(options, made);
	bool when[WHENS];

	find_when(options, when);
	if (!options->performer)
		made[more++] = (struct sb_filter_row){
			SYS_prctl, ANSWER(options->self), EVERY_RUN, {{EQUAL, 0, SB_INSIDE_QUERY}}};
	if (options->staging)
		more += rows_of_staging(options->staging, made + more);
	if (options->one_user)
		more += rows_of_ids(options->user, options->group, made + more);
	for (size_t i = 0; i < all; i++)
		if (when[from[i].when])
			insert(rows, count++, &from[i]);
	count = insert_ioctls(rows, count, options->performer);
	for (size_t i = 0; i < more; i++)
		insert(rows, count++, &made[i]);
	return sb_filter_compile(rows, count, out, max);
}

unsigned sb_staging_base(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 2 * SB_STAGING_COUNT)
		return 0;
	if (limit.rlim_cur >= 1000 + SB_STAGING_COUNT)
		return 1000;
	return (unsigned)limit.rlim_cur - SB_STAGING_COUNT;
}

/* What enter() answers, if that is no error. */
static int load(const struct sb_filter_options *options,
		int (*enter)(const struct sock_fprog *program), struct sb_error *err)
{
	struct sock_filter code[512];
	size_t count = sb_filter_build(options, code, sizeof code / sizeof code[0]);
	struct sock_fprog program = {.len = (unsigned short)count, .filter = code};
	int status;

	if (count == 0)
		return sb_fail(err, SB_E_SYSTEM, 0, "the system call filter does not fit");
	status = enter(&program);
	if (status < 0)
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot load the system call filter");
	return status;
}

static struct sb_filter_options options_for(const struct sb_plan *plan,
					    const struct sb_layers *layers)
{
	unsigned depth = (unsigned)layers->outer + 1;

	return (struct sb_filter_options){
		.network_off = !plan->network && !layers->net_namespace,
		.as_root = geteuid() == 0,
		.one_user = layers->user_namespace,
		.user = getuid(),
		.group = getgid(),
		.no_mounts = !layers->mounts,
		.no_landlock = layers->landlock_abi < 1,
		/* an outer run has refused already what its own namespaces do not hold; a worker that was
		 * called is in one with its caller */
		.shared_ipc = layers->outer ? plan->view : !layers->ipc_namespace,
		.shared_pids = layers->outer ? plan->view : !layers->pid_namespace,
		.other_pids = !layers->pid_namespace,
		.programs = plan->programs != NULL,
		.self = SB_INSIDE_BASE + (depth > SB_INSIDE_DEPTH ? SB_INSIDE_DEPTH : depth) * 2 +
			(layers->mounts || layers->outer_mounts),
	};
}

int sb_filter_enter(const struct sb_plan *plan, struct sb_layers *layers, struct sb_error *err)
{
	struct sb_filter_options options = options_for(plan, layers);
	int status = load(&options, sb_sys_load_filter, err);

	layers->seccomp |= status == SB_OK;
	return status;
}

/* Has the user groups that the namespace knows no number for? */
static bool has_unnamed_groups(const struct sb_layers *layers)
{
	gid_t first;
	int count = layers->user_namespace ? getgroups(0, NULL) : 0;

	return count > 1 || (count == 1 && getgroups(1, &first) == 1 && first != getgid());
}

int sb_filter_enter_held(const struct sb_plan *plan, struct sb_layers *layers, int *out_listener,
			 struct sb_error *err)
{
	struct sb_filter_options options = options_for(plan, layers);
	int status;

	options.supervised = true;
	options.staging = sb_staging_base();
	options.reads = plan->holds_reads;
	options.listings = layers->listings;
	options.signals = sb_layers_hold_signals(layers);
	options.sockets = layers->no_copies;
	options.sight = layers->no_sight;
	options.groups = has_unnamed_groups(layers);
	status = load(&options, sb_sys_load_held_filter, err);
	if (status < 0)
		return status;
	*out_listener = status;
	layers->seccomp = true;
	return SB_OK;
}

int sb_filter_enter_performer(const struct sb_layers *layers, struct sb_error *err)
{
	struct sb_filter_options options = {.performer = true,
					    .no_mounts = !layers->mounts,
					    /* of ABI 1 it has no domain where there are mounts */
					    .no_landlock = layers->landlock_abi <
							   (layers->mounts ? 2 : 1),
					    .sockets = layers->no_copies};

	return load(&options, sb_sys_load_filter, err);
}
