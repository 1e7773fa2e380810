/*
 * test_filter.c - the compiled system call filter, run by a small interpreter.
 *
 * The kernel refuses a filter that is malformed; that a well-formed one answers what
 * the table says can be checked here for every number and without loading anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/btrfs.h>
#include <linux/fiemap.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/msdos_fs.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "enforce/linux_seccomp.h"
#include "unit.h"

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#define OTHER AUDIT_ARCH_I386
#else
#define ARCH AUDIT_ARCH_AARCH64
#define OTHER AUDIT_ARCH_ARM
#endif

#define MAX 1024
#define SELF 0x803
#define QUERY 0x53425348

static struct sock_filter code[MAX];
static size_t length;

static void build(bool network_off, bool no_mounts)
{
	struct sb_filter_options options = {
		.network_off = network_off, .no_mounts = no_mounts, .self = SELF};

	length = sb_filter_build(&options, code, MAX);
	assert_true(length > 0);
}

/* Every jump lands inside the program and forward, every path ends in a return. */
static uint32_t interpret(const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t pc = 0; pc < length; pc++) {
		const struct sock_filter *i = &code[pc];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert_true(i->k % 4 == 0 && i->k + 4 <= sizeof *data);
			memcpy(&a, (const char *)data + i->k, 4);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			pc += a > i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			pc += a & i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			fail_msg("instruction %zu has code %#x", pc, i->code);
		}
	}
	fail_msg("ran off the end");
	return 0;
}

static uint32_t call(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct seccomp_data data = {.nr = number, .arch = ARCH, .args = {a, b, c, d}};

	return interpret(&data);
}

#define REFUSED(error) (SECCOMP_RET_ERRNO | (error))

static void calls_that_are_refused_whatever_their_arguments(void **state)
{
	static const struct {
		int number, error;
	} rows[] = {
		{SYS_clone3, ENOSYS},
		{SYS_setns, EPERM},
		{SYS_mount, EPERM},
		{SYS_umount2, EPERM},
		{SYS_pivot_root, EPERM},
		{SYS_chroot, EPERM},
		{SYS_open_tree, EPERM},
		{SYS_move_mount, EPERM},
		{SYS_fsopen, EPERM},
		{SYS_mount_setattr, EPERM},
		{SYS_io_uring_setup, EPERM},
		{SYS_bpf, EPERM},
		{SYS_userfaultfd, EPERM},
		{SYS_keyctl, EPERM},
		{SYS_add_key, EPERM},
		{SYS_kexec_load, EPERM},
		{SYS_init_module, EPERM},
		{SYS_reboot, EPERM},
		{SYS_open_by_handle_at, EPERM},
		{SYS_fanotify_init, EPERM},
		{SYS_perf_event_open, EPERM},
		{463, ENOSYS},
		{466, ENOSYS},
		{467, ENOSYS},
		{469, ENOSYS},
		{SYS_swapon, EPERM},
		{SYS_settimeofday, EPERM},
	};

	(void)state;
	build(false, false);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(REFUSED(rows[i].error), call(rows[i].number, 0, 0, 0, 0));
}

static void ordinary_calls_are_allowed(void **state)
{
	static const int rows[] = {
		SYS_read,    SYS_write,          SYS_openat, SYS_close,   SYS_execve,
		SYS_mmap,    SYS_futex,          SYS_wait4,  SYS_getpid,  SYS_kill,
		SYS_ptrace,  SYS_fchmod,         SYS_statx,  SYS_connect, SYS_memfd_create,
		SYS_seccomp, 444 /* landlock */, 445,        446,         1000,
		0x3fffffff};

	(void)state;
	build(false, false);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(SECCOMP_RET_ALLOW, call(rows[i], 1, 1, 1, 1));
}

static void arguments_decide(void **state)
{
	uint64_t high = UINT64_C(1) << 32;

	(void)state;
	build(false, false);
	assert_int_equal(REFUSED(EPERM), call(SYS_ioctl, 0, TIOCSTI, 0, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_ioctl, 0, TIOCSTI | high, 0, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_ioctl, 0, TIOCLINUX, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_ioctl, 0, TCGETS, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_ioctl, 0, 0x40086602, 0, 0));

	assert_int_equal(REFUSED(EPERM), call(SYS_clone, CLONE_NEWUSER | 17, 0, 0, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_clone, CLONE_NEWNS, 0, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_clone, CLONE_VM | CLONE_VFORK | 17, 0, 0, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_unshare, CLONE_NEWNET, 0, 0, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_unshare, 0x80, 0, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_unshare, CLONE_FILES | CLONE_FS, 0, 0, 0));
}

static void limits_by_number_are_looked_at_where_outside_has_numbers(void **state)
{
	struct sb_filter_options options = {
		.self = SELF, .other_pids = true, .shared_pids = true, .supervised = true};

	(void)state;
	length = sb_filter_build(&options, code, MAX);
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_prlimit64, 7, 0, 1, 0));
	/* not the mark of a nested run, whoever it is said to be about */
	assert_int_equal(REFUSED(EPERM), call(SYS_prlimit64, 7, RLIMIT_LOCKS, 1, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_prlimit64, 7, 0, 0, 1));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_prlimit64, 0, 0, 1, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_prlimit64, 1, 0, 1, 0));
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_setpriority, PRIO_PROCESS, 7, 5, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_setpriority, PRIO_USER, 7, 5, 0));
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_ioprio_set, 1, 7, 5, 0));
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_sched_setaffinity, 7, 0, 0, 0));
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_sched_setattr, 7, 0, 0, 0));
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_sched_setparam, 7, 0, 0, 0));
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_sched_setscheduler, 7, 0, 0, 0));
}

static void limits_are_for_processes_of_the_run(void **state)
{
	struct sb_filter_options options = {.self = SELF, .other_pids = true};
	uint64_t high = UINT64_C(1) << 32;
	uint32_t own = REFUSED(EPERM);

	(void)state;
	for (int i = 0; i < 2; i++) {
		length = sb_filter_build(&options, code, MAX);
		assert_int_equal(own, call(SYS_prlimit64, 7, 0, 1, 0));
		assert_int_equal(own, call(SYS_prlimit64, 7, 0, high, 0));
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_prlimit64, 7, 0, 0, 1));
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_prlimit64, 0, 0, 1, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_setpriority, PRIO_USER, 0, 5, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_setpriority, PRIO_PGRP, 0, 5, 0));
		assert_int_equal(own, call(SYS_setpriority, PRIO_PROCESS, 7, 5, 0));
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_setpriority, PRIO_PROCESS, 0, 5, 0));
		assert_int_equal(own, call(SYS_sched_setaffinity, 7, 0, 0, 0));
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_sched_setaffinity, 0, 0, 0, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_ioprio_set, 3, 0, 0, 0));
		/* the first of the namespace is the supervisor's */
		assert_int_equal(REFUSED(EPERM), call(SYS_prlimit64, 1, 0, 1, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_setpriority, PRIO_PROCESS, 1, 5, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_ioprio_set, 1, 1, 0, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_sched_setaffinity, 1, 0, 0, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_sched_setattr, 1, 0, 0, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_sched_setparam, 1, 0, 0, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_sched_setscheduler, 1, 0, 0, 0));
		options.other_pids = false;
		own = SECCOMP_RET_ALLOW;
	}
}

static void sockets(void **state)
{
	(void)state;
	build(false, false);
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_socket, AF_INET, SOCK_STREAM, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_socket, AF_INET6, SOCK_DGRAM, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_socket, AF_NETLINK, SOCK_RAW, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_socket, AF_INET, SOCK_STREAM, 262, 0));
	assert_int_equal(REFUSED(EPROTONOSUPPORT), call(SYS_socket, AF_NETLINK, SOCK_RAW, 16, 0));
	for (int family = 0; family < 64; family++)
		if (family != AF_UNIX && family != AF_INET && family != AF_INET6 &&
		    family != AF_NETLINK)
			assert_int_equal(REFUSED(EAFNOSUPPORT), call(SYS_socket, family, 1, 0, 0));

	build(true, false);
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0));
	assert_int_equal(REFUSED(EACCES), call(SYS_socket, AF_INET, SOCK_STREAM, 0, 0));
	assert_int_equal(REFUSED(EACCES), call(SYS_socket, AF_INET6, SOCK_DGRAM, 0, 0));
	assert_int_equal(REFUSED(EAFNOSUPPORT), call(SYS_socket, 40, SOCK_STREAM, 0, 0));
	assert_int_equal(REFUSED(EOPNOTSUPP), call(SYS_sendto, 3, 0, 0, 0x20000000));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_sendto, 3, 0, 0, 0));
}

static void file_flags_are_held_without_mounts(void **state)
{
	(void)state;
	build(false, true);
	assert_int_equal(REFUSED(EOPNOTSUPP), call(SYS_ioctl, 0, 0x40086602, 0, 0));
	assert_int_equal(REFUSED(EOPNOTSUPP), call(SYS_ioctl, 0, 0x401c5820, 0, 0));
	assert_int_equal(REFUSED(EOPNOTSUPP), call(SYS_ioctl, 0, FIDEDUPERANGE, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_ioctl, 0, FICLONERANGE, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_ioctl, 0, TCGETS, 0, 0));
}

static void nobody_else_can_be_become(void **state)
{
	struct sb_filter_options options = {.one_user = true, .user = 1000, .group = 100};
	const int users[] = {SYS_setuid, SYS_setreuid, SYS_setresuid};
	const int groups[] = {SYS_setgid, SYS_setregid, SYS_setresgid};
	const uint64_t same = UINT32_MAX;

	(void)state;
	length = sb_filter_build(&options, code, MAX);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(REFUSED(EPERM), call(users[i], 7, same, same, 0));
		assert_int_equal(REFUSED(EPERM), call(groups[i], 1000, same, same, 0));
		assert_int_equal(i ? REFUSED(EPERM) : SECCOMP_RET_ALLOW,
				 call(users[i], same, 0, same, 0));
		assert_int_equal(i == 2 ? REFUSED(EPERM) : SECCOMP_RET_ALLOW,
				 call(groups[i], same, same, 7, 0));
		assert_int_equal(SECCOMP_RET_ALLOW, call(users[i], 1000, same, 1000, 0));
		assert_int_equal(SECCOMP_RET_ALLOW, call(groups[i], 100, 100, same, 0));
	}
	options.one_user = false;
	length = sb_filter_build(&options, code, MAX);
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_setuid, 7, 0, 0, 0));
}

/* Types of which only file systems have commands; and numbers of a type that they share. */
static bool is_file_system(unsigned command)
{
	unsigned type = command >> 8 & 0xff, number = command & 0xff;
	static const unsigned char whole[] = {'f',  'X',  'r',  0x15, 0x83, 0x93,
					      0x94, 0x97, 0xbc, 0xcd, 0xcf, 0xf5};

	return memchr(whole, (int)type, sizeof whole) || (type == 'v' && number < 0x20) ||
	       (type == 'o' && number < 0x20) || (type == 'n' && number >> 5 == 4) ||
	       (type == 'h' && number >> 4 == 8) || (type == 'l' && number >> 6 == 1);
}

static bool is_listed(unsigned command)
{
	static const unsigned listed[] = {
		FS_IOC_GETFLAGS,
		FS_IOC_FIEMAP,
		FS_IOC_GETVERSION,
		FS_IOC_FSGETXATTR,
		FS_IOC_GETFSLABEL,
		FICLONE,
		FICLONERANGE,
		FIDEDUPERANGE, /* only where mounts hold it */
		0x40305828,    /* FS_IOC_RESVSP, UNRESVSP, RESVSP64, UNRESVSP64, ZERO_RANGE */
		0x40305829,
		0x4030582a,
		0x4030582b,
		0x40305839,
		0x80111500, /* FS_IOC_GETFSUUID, GETFSSYSFSPATH */
		0x80811501,
		FS_IOC_SETFLAGS, /* these five only where mounts hold them */
		FS_IOC_FSSETXATTR,
		FS_IOC_SETVERSION,
		0x40086604,
		FS_IOC_ENABLE_VERITY,
		0x80086603, /* of ext4 */
		0x40046629,
		0xc020662a,
		0x8008662c,
		FS_IOC_GET_ENCRYPTION_POLICY,
		FS_IOC_GET_ENCRYPTION_POLICY_EX,
		FS_IOC_GET_ENCRYPTION_KEY_STATUS,
		FS_IOC_MEASURE_VERITY,
		FS_IOC_READ_VERITY_METADATA,
		0xc0606610, /* PAGEMAP_SCAN, PROCMAP_QUERY */
		0xc0686611,
		0x800c581e, /* of XFS */
		0xc0205826,
		0xc0305838,
		0x801c582d,
		0x80705864,
		0x8100587e,
		BTRFS_IOC_INO_LOOKUP,
		BTRFS_IOC_SUBVOL_GETFLAGS,
		BTRFS_IOC_GET_SUBVOL_INFO,
		BTRFS_IOC_FS_INFO,
		BTRFS_IOC_DEV_INFO,
		BTRFS_IOC_SPACE_INFO,
		BTRFS_IOC_GET_FEATURES,
		VFAT_IOCTL_READDIR_BOTH,
		VFAT_IOCTL_READDIR_SHORT,
		FAT_IOCTL_GET_ATTRIBUTES,
		FAT_IOCTL_GET_VOLUME_ID,
		0x8004f50c, /* of F2FS */
		0x8004f50e,
		0x80289701, /* of Ceph */
		0x80088301, /* of ZFS */
	};

	for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++)
		if (listed[i] == command)
			return true;
	return false;
}

/* Every type and number, in all directions, with every size that one of the listed has. */
static void ioctls_of_file_systems_are_a_list(void **state)
{
	static const unsigned sizes[] = {0,  4,   8,   9,   12,  16,  17,  24,  28,   32,   40,  48,
					 96, 104, 112, 128, 129, 256, 504, 560, 1024, 4096, 8191};
	size_t allowed = 0;

	(void)state;
	build(false, false);
	for (unsigned low = 0; low < 0x10000; low++)
		for (unsigned direction = 0; direction < 4; direction++)
			for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
				unsigned command = direction << 30 | sizes[i] << 16 | low;
				bool passes = !is_file_system(command) || is_listed(command);

				if (command == TIOCSTI || command == TIOCLINUX ||
				    command == TIOCSETD || command == TIOCEXCL ||
				    command == TCXONC /* TCOOFF is 0 */)
					passes = false;
				allowed += is_file_system(command) && passes;
				if (call(SYS_ioctl, 0, command, 0, 0) !=
				    (passes ? SECCOMP_RET_ALLOW : REFUSED(EPERM)))
					fail_msg("command %#x", command);
			}
	assert_int_equal(52, allowed); /* the whole list was met */
	assert_int_equal(call(SYS_ioctl, 0, TCXONC, 1 /* TCOON */, 0), SECCOMP_RET_ALLOW);
}

static void message_queues_are_refused_or_held_where_they_are_shared(void **state)
{
	static const int calls[] = {SYS_mq_open, SYS_mq_unlink, SYS_mq_timedsend, SYS_mq_notify,
				    SYS_msgget,  SYS_msgctl,    SYS_msgsnd,       SYS_msgrcv,
				    SYS_semget,  SYS_semctl,    SYS_semop,        SYS_semtimedop,
				    SYS_shmget,  SYS_shmctl,    SYS_shmat};
	const size_t posix = 4; /* the broker knows the others */
	struct sb_filter_options options = {.self = SELF};

	(void)state;
	for (unsigned bits = 0; bits < 4; bits++) {
		options.shared_ipc = bits & 1;
		options.supervised = bits & 2;
		length = sb_filter_build(&options, code, MAX);
		assert_true(length > 0);
		for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
			assert_int_equal(!(bits & 1)  ? SECCOMP_RET_ALLOW
					 : i >= posix ? SECCOMP_RET_USER_NOTIF
						      : REFUSED(EPERM),
					 call(calls[i], 0, 0, 0, 0));
	}
}

static void nobody_outside_owns_a_descriptor(void **state)
{
	const uint64_t group = (uint32_t)-7, wide = (uint64_t)-7;
	struct sb_filter_options options = {.self = SELF, .shared_pids = true};

	(void)state;
	length = sb_filter_build(&options, code, MAX);
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_fcntl, 0, F_SETOWN, 7, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_fcntl, 0, F_SETOWN, group, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_fcntl, 0, F_SETOWN, wide, 0));
	for (int supervised = 0; supervised < 2; supervised++) {
		options.supervised = supervised;
		length = sb_filter_build(&options, code, MAX);
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_fcntl, 0, F_SETOWN, 0, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_fcntl, 0, F_SETOWN_EX, 0, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_ioctl, 0, FIOSETOWN, 0, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_ioctl, 0, SIOCSPGRP, 0, 0));
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_fcntl, 0, F_GETOWN, 7, 0));
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_fcntl, 0, F_SETSIG, 7, 0));
	}
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_fcntl, 0, F_SETOWN, 7, 0));
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_fcntl, 0, F_SETOWN, group, 0));
	options.shared_pids = false;
	length = sb_filter_build(&options, code, MAX);
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_fcntl, 0, F_SETOWN, 7, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_fcntl, 0, F_SETOWN_EX, 7, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_ioctl, 0, FIOSETOWN, 7, 0));
}

static void openat2_needs_landlock(void **state)
{
	struct sb_filter_options options = {.self = SELF, .supervised = true, .no_landlock = true};

	(void)state;
	length = sb_filter_build(&options, code, MAX);
	assert_int_equal(REFUSED(ENOSYS), call(SYS_openat2, 0, 0, 0, 0));
	options.supervised = false;
	length = sb_filter_build(&options, code, MAX);
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_openat2, 0, 0, 0, 0));
}

static void foreign_calls_kill(void **state)
{
	struct seccomp_data data = {.nr = SYS_read, .arch = OTHER};

	(void)state;
	build(false, false);
	assert_int_equal(SECCOMP_RET_KILL_PROCESS, interpret(&data));
#ifdef __x86_64__
	assert_int_equal(SECCOMP_RET_KILL_PROCESS, call(0x40000000, 0, 0, 0, 0));
	assert_int_equal(SECCOMP_RET_KILL_PROCESS, call(0x40000000 | SYS_openat, 0, 0, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(-1, 0, 0, 0, 0));
#endif
}

static void the_query_is_answered(void **state)
{
	(void)state;
	build(false, false);
	assert_int_equal(REFUSED(SELF), call(SYS_prctl, QUERY, 0, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_prctl, 38, 1, 0, 0));
}

/* Jumps reach 255 instructions.  Should a new row fail this, the tree needs longer ones. */
static void every_combination_fits(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 2048; bits++) {
		struct sb_filter_options options = {.network_off = bits & 1,
						    .no_mounts = bits & 2,
						    .as_root = bits & 4,
						    .supervised = bits & 8,
						    .shared_ipc = bits & 16,
						    .shared_pids = bits & 32,
						    .no_landlock = bits & 64,
						    .reads = bits & 128 && bits & 8,
						    .listings = bits & 256 && bits & 8,
						    .signals = bits & 512 && bits & 8,
						    .sockets = bits & 1024 && bits & 8,
						    .staging = bits & 8 ? 1000 : 0,
						    .self = SELF};
		uint32_t otherwise = bits & 8 ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;

		length = sb_filter_build(&options, code, MAX);
		assert_in_range(length, 1, 512); /* the room that who loads it has */
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_read, 0, 0, 0, 0));
		assert_int_equal(SECCOMP_RET_ERRNO | EPERM, call(SYS_mount, 0, 0, 0, 0));
		assert_int_equal(bits & 4 ? SECCOMP_RET_ERRNO | EPERM : otherwise,
				 call(SYS_fchmodat, 0, 0, 04755, 0));
		assert_int_equal(otherwise, call(SYS_fchmodat, 0, 0, 0755, 0));
		assert_int_equal(options.signals ? otherwise : SECCOMP_RET_ALLOW,
				 call(SYS_kill, 0, 9, 0, 0));
		assert_int_equal(options.signals ? otherwise : SECCOMP_RET_ALLOW,
				 call(SYS_pidfd_send_signal, 0, 9, 0, 0));
		assert_int_equal(options.listings || options.reads ? otherwise : SECCOMP_RET_ALLOW,
				 call(SYS_openat, 0, 0, O_DIRECTORY, 0));
		assert_int_equal(options.reads ? otherwise : SECCOMP_RET_ALLOW,
				 call(SYS_openat, 0, 0, 0, 0));
#ifdef __x86_64__
		assert_int_equal(bits & 4 ? SECCOMP_RET_ERRNO | EPERM : otherwise,
				 call(SYS_chmod, 0, 04755, 0, 0));
		assert_int_equal(otherwise, call(SYS_chmod, 0, 0755, 0, 0));
#endif
	}
}

static const struct {
	int number;
	uint64_t a, b, c;
} changing[] = {
	{SYS_openat, 0, 0, 1},
	{SYS_openat, 0, 0, 2},
	{SYS_openat, 0, 0, 0100},
	{SYS_openat, 0, 0, 01000},
	{SYS_openat, 0, 0, 020200000},
	{SYS_openat2, 0, 0, 0},
	{SYS_mkdirat, 0, 0, 0},
	{SYS_mknodat, 0, 0, 0},
	{SYS_unlinkat, 0, 0, 0},
	{SYS_linkat, 0, 0, 0},
	{SYS_symlinkat, 0, 0, 0},
	{SYS_renameat2, 0, 0, 0},
	{SYS_renameat, 0, 0, 0},
	{SYS_truncate, 0, 0, 0},
	{SYS_fchmod, 0, 0, 0},
	{SYS_fchmodat, 0, 0, 0},
	{452, 0, 0, 0},
	{SYS_fchown, 0, 0, 0},
	{SYS_fchownat, 0, 0, 0},
	{SYS_utimensat, 0, 0, 0},
	{SYS_setxattr, 0, 0, 0},
	{SYS_lsetxattr, 0, 0, 0},
	{SYS_fsetxattr, 0, 0, 0},
	{SYS_removexattr, 0, 0, 0},
	{SYS_lremovexattr, 0, 0, 0},
	{SYS_fremovexattr, 0, 0, 0},
	{SYS_faccessat, 0, 0, 2},
	{439, 0, 0, 2},
	{SYS_umask, 0, 0, 0},
	{SYS_chdir, 0, 0, 0},
	{SYS_fchdir, 0, 0, 0},
	{SYS_connect, 0, 0, 0},
	{SYS_bind, 0, 0, 0},
	{444, 0, 0, 0},
	{SYS_prctl, SB_REGISTER, 0, 0},
#ifdef __x86_64__
	{SYS_open, 0, 1, 0},
	{SYS_creat, 0, 0, 0},
	{SYS_mkdir, 0, 0, 0},
	{SYS_mknod, 0, 0, 0},
	{SYS_unlink, 0, 0, 0},
	{SYS_rmdir, 0, 0, 0},
	{SYS_link, 0, 0, 0},
	{SYS_symlink, 0, 0, 0},
	{SYS_rename, 0, 0, 0},
	{SYS_chmod, 0, 0, 0},
	{SYS_chown, 0, 0, 0},
	{SYS_lchown, 0, 0, 0},
	{SYS_utime, 0, 0, 0},
	{SYS_utimes, 0, 0, 0},
	{SYS_futimesat, 0, 0, 0},
	{SYS_access, 0, 2, 0},
#endif
};

/* KERNEL facts B, C, E, K: every call that changes something, and no call that only reads. */
static void a_supervised_run_holds_every_change(void **state)
{
	struct sb_filter_options options = {.supervised = true, .self = SELF};

	(void)state;
	for (int root = 0; root < 2; root++) {
		options.as_root = root;
		length = sb_filter_build(&options, code, MAX);
		assert_true(length > 0);
		for (size_t i = 0; i < sizeof changing / sizeof changing[0]; i++)
			assert_int_equal(SECCOMP_RET_USER_NOTIF,
					 call(changing[i].number, changing[i].a, changing[i].b,
					      changing[i].c, 0));
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_openat, 0, 0, 02000000, 0));
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_faccessat, 0, 0, 4, 0));
		assert_int_equal(REFUSED(EPERM), call(SYS_prlimit64, 0, RLIMIT_LOCKS, 1, 0));
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_prlimit64, 0, RLIMIT_NOFILE, 1, 0));
		assert_int_equal(REFUSED(EACCES), call(SYS_socket, AF_UNIX, SOCK_DGRAM, 0, 0));
		assert_int_equal(REFUSED(EACCES),
				 call(SYS_socket, AF_UNIX, SOCK_RAW | SOCK_CLOEXEC, 0, 0));
		assert_int_equal(SECCOMP_RET_ALLOW,
				 call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, 0));
		assert_int_equal(root ? REFUSED(EPERM) : SECCOMP_RET_USER_NOTIF,
				 call(SYS_mknodat, 0, 0, 04644, 0));
	}
}

static void few_numbers_are_held_when_they_are_closed(void **state)
{
	struct sb_filter_options options = {.supervised = true, .self = SELF, .staging = 1000};
	const uint64_t all = UINT32_MAX, end = 1000 + SB_STAGING_HELD;

	(void)state;
	length = sb_filter_build(&options, code, MAX);
	assert_true(length > 0);
	for (uint64_t number = 0; number < 2000; number++) {
		bool held = number == 1 || number == 2 || (number >= 1000 && number < end);
		uint32_t want = held ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;

		assert_int_equal(want, call(SYS_close, number, 0, 0, 0));
		assert_int_equal(want, call(SYS_dup3, 7, number, 0, 0));
		/* a copy may get a number that is not held */
		want = number > 2 && held ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
		assert_int_equal(want, call(SYS_dup, number, 0, 0, 0));
		assert_int_equal(want, call(SYS_dup3, number, 9, 0, 0));
		assert_int_equal(want, call(SYS_fcntl, number, F_DUPFD, 3, 0));
		assert_int_equal(want, call(SYS_fcntl, number, F_DUPFD_CLOEXEC, 3, 0));
		assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_fcntl, number, F_GETFD, 0, 0));
	}
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_close, all, 0, 0, 0));
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_close_range, 3, all, 0, 0));
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_close_range, 3, 1000, 0, 0));
	assert_int_equal(SECCOMP_RET_USER_NOTIF, call(SYS_close_range, end - 1, all, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_close_range, 3, 999, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_close_range, end, all, 0, 0));
}

static void the_performer_keeps_to_files(void **state)
{
	struct sb_filter_options options = {.performer = true, .no_mounts = true};

	(void)state;
	length = sb_filter_build(&options, code, MAX);
	assert_true(length > 0);
	assert_int_equal(REFUSED(EPERM), call(SYS_execve, 0, 0, 0, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_fchmodat, 0, 0, 0, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_socket, AF_INET, 1, 0, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_socket, AF_NETLINK, 3, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_socket, AF_NETLINK, 3, 4, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_openat, 0, 0, 1, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_ioctl, 0, FS_IOC_SETFLAGS, 0, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_ioctl, 0, BTRFS_IOC_SNAP_CREATE_V2, 0, 0));
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_ioctl, 0, SECCOMP_IOCTL_NOTIF_RECV, 0, 0));
	assert_in_range(length, 1, 256);
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_process_vm_writev, 7, 0, 0, 0));
	options.no_mounts = false;
	options.no_landlock = true;
	length = sb_filter_build(&options, code, MAX);
	assert_int_equal(SECCOMP_RET_ALLOW, call(SYS_fchmodat, 0, 0, 0, 0));
	assert_int_equal(REFUSED(EPERM), call(SYS_process_vm_writev, 7, 0, 0, 0));
}

static void a_filter_that_does_not_fit_is_not_built(void **state)
{
	struct sb_filter_options options = {0};

	(void)state;
	assert_int_equal(0, sb_filter_build(&options, code, 20));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(calls_that_are_refused_whatever_their_arguments),
	cmocka_unit_test(ordinary_calls_are_allowed),
	cmocka_unit_test(arguments_decide),
	cmocka_unit_test(limits_are_for_processes_of_the_run),
	cmocka_unit_test(limits_by_number_are_looked_at_where_outside_has_numbers),
	cmocka_unit_test(sockets),
	cmocka_unit_test(file_flags_are_held_without_mounts),
	cmocka_unit_test(nobody_else_can_be_become),
	cmocka_unit_test(ioctls_of_file_systems_are_a_list),
	cmocka_unit_test(message_queues_are_refused_or_held_where_they_are_shared),
	cmocka_unit_test(nobody_outside_owns_a_descriptor),
	cmocka_unit_test(openat2_needs_landlock),
	cmocka_unit_test(foreign_calls_kill),
	cmocka_unit_test(the_query_is_answered),
	cmocka_unit_test(every_combination_fits),
	cmocka_unit_test(a_supervised_run_holds_every_change),
	cmocka_unit_test(few_numbers_are_held_when_they_are_closed),
	cmocka_unit_test(the_performer_keeps_to_files),
	cmocka_unit_test(a_filter_that_does_not_fit_is_not_built),
};

UNIT_MAIN("filter")
