/*
 * without.c - run a command on a lesser machine than this one.
 *
 *     without WHAT[,WHAT...] -- CMD ARGS...
 *
 *     userns           no new namespace of any kind and no mounting, as in Docker
 *     mounts           namespaces can be made, but nothing can be mounted in them
 *     tmpfs            mounts can be copied and changed, but no filesystem be made
 *     net              no network namespace
 *     landlock         a kernel before 5.13
 *     landlock-abi=N   a kernel whose Landlock has only ABI N (1 to what there really is)
 *     seccomp          no filter can be loaded any more
 *     pidfd_getfd      refused, as in Docker
 *     pidfd-thread     a kernel before 6.9: a pidfd is of a process, not of a thread
 *     wait-killable    a kernel before 5.19: a held call is interrupted by any signal
 *     unshare          refused, as in Docker, also what makes no namespace
 *     openat2          a kernel before 5.6
 *     statx            not there, as under older container runtimes; nor are
 *     close_range      these
 *     process_vm_readv
 *     memory           other processes' cannot be read, as with Yama's ptrace_scope 3
 *     rename-flags     a filesystem whose renames know no flags
 *     listener         another program holds its system calls already (but lets them be)
 *     docker           what Docker's default profile refuses, together
 *     gvisor           no listeners, no Landlock, none of the newer calls that mount
 *     linux=M.N        all that this kernel does not have, of what is known here: newer calls and
 *                      flags, and its Landlock (none: put "landlock" before it)
 *
 * A seccomp filter plays the lesser machine; CMD is exec'd in place under it, so its
 * exit status, signals and terminal are its own.  Only the Landlock ABI needs more:
 * a filter can refuse but not answer "3", so a process of its own, with nothing in
 * common with CMD, traces it, answers landlock_create_ruleset() in its place and ends with
 * the last process under the filter.  (A filter that hands the call to a listener would do,
 * too; but there is one listener to a process, and that is the one of a supervised run.)
 *
 * Built as build/tests/without (meson option tests); plain libc.  Exit status of its own
 * mistakes: 2 usage, 125 set-up, 126 and 127 as in a shell.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/elf.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "tell without.c the audit architecture of this machine"
#endif

/* Numbers that Debian 12's headers may lack; the same on every architecture. */
#define NR_LANDLOCK_CREATE_RULESET 444
#define NR_LANDLOCK_ADD_RULE 445
#define NR_LANDLOCK_RESTRICT_SELF 446
#define NR_OPEN_TREE 428
#define NR_MOVE_MOUNT 429
#define NR_FSOPEN 430
#define NR_FSCONFIG 431
#define NR_FSMOUNT 432
#define NR_FSPICK 433
#define NR_OPENAT2 437
#define NR_PIDFD_GETFD 438
#define NR_MOUNT_SETATTR 442
#define NR_OPEN_TREE_ATTR 467

#define LANDLOCK_VERSION 1u          /* flags of landlock_create_ruleset */
#define LANDLOCK_NET_PORT 2u         /* rule type since ABI 4 */
#define WAIT_KILLABLE_RECV (1u << 5) /* flag of a filter with a listener since Linux 5.19 */
#define PIDFD_THREAD O_EXCL          /* flag of pidfd_open since Linux 6.9 */
#define PEER_PIDFD 77                /* SO_PEERPIDFD since Linux 6.5 */
#define NOTIF_SET_FLAGS 0x40082104u  /* SECCOMP_IOCTL_NOTIF_SET_FLAGS since Linux 6.6 */
#define EVERY_NAMESPACE                                                                            \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)
#define NEW_TIME 0x80u /* unshare only: in clone the bit belongs to the exit signal */

/* What each ABI can handle: landlock(7), "Kernel support". */
struct ruleset_attr {
	uint64_t fs, net, scoped;
};
static const struct landlock_abi {
	size_t size; /* of struct landlock_ruleset_attr then */
	struct ruleset_attr known;
} abis[] = {
	[1] = {8, {(1 << 13) - 1, 0, 0}},  /* files and directories */
	[2] = {8, {(1 << 14) - 1, 0, 0}},  /* + refer */
	[3] = {8, {(1 << 15) - 1, 0, 0}},  /* + truncate */
	[4] = {16, {(1 << 15) - 1, 3, 0}}, /* + TCP bind and connect */
	[5] = {16, {(1 << 16) - 1, 3, 0}}, /* + ioctl on devices */
	[6] = {24, {(1 << 16) - 1, 3, 3}}, /* + abstract sockets and signals */
	[7] = {24, {(1 << 16) - 1, 3, 3}}, /* + flags for the audit log */
};
#define LAST_ABI ((int)(sizeof abis / sizeof *abis) - 1)

static struct sock_filter filter[256];
static unsigned short length;
static bool has_listener;

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "without: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* --- the filter: blocks that each begin at the system call number ----------------------- */

static void add(uint16_t code, uint8_t jump_true, uint8_t jump_false, uint32_t k)
{
	if (length == sizeof filter / sizeof *filter) {
		errno = E2BIG;
		die("filter");
	}
	filter[length++] = (struct sock_filter){code, jump_true, jump_false, k};
}

static void load(size_t offset)
{
	add(BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

/* The low half of an argument: both architectures are little-endian. */
static void load_argument(unsigned number)
{
	load(offsetof(struct seccomp_data, args) + 8 * number);
}

static void answer(int error)
{
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (uint32_t)error);
}

static void refuse(int call, int error)
{
	load(offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)call);
	answer(error);
}

/* test: BPF_JSET (any of these bits) or BPF_JEQ. */
static void refuse_when(int call, unsigned argument, uint16_t test, uint32_t value, int error)
{
	load(offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, (uint32_t)call);
	load_argument(argument);
	add(BPF_JMP | test | BPF_K, 0, 1, value);
	answer(error);
}

static void hold(int call)
{
	load(offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)call);
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRACE);
}

static void begin_filter(void)
{
	/* Another architecture's calls (32-bit programs) are let through: this is a
	 * costume, not a jail. */
	load(offsetof(struct seccomp_data, arch));
	add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, NATIVE_ARCH);
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

static void without_namespaces(uint32_t which)
{
	refuse_when(SYS_unshare, 0, BPF_JSET, which, EPERM);
	refuse_when(SYS_clone, 0, BPF_JSET, which & ~NEW_TIME, EPERM);
	refuse(SYS_clone3, ENOSYS); /* its flags lie in memory; everybody falls back to clone */
}

static void without_mounts(void)
{
	/* Root of a container has no right to, either, and knows that. */
	static const int calls[] = {
		SYS_mount,     SYS_umount2,      SYS_pivot_root,    NR_OPEN_TREE,
		NR_MOVE_MOUNT, NR_FSOPEN,        NR_FSCONFIG,       NR_FSMOUNT,
		NR_FSPICK,     NR_MOUNT_SETATTR, NR_OPEN_TREE_ATTR,
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		refuse(calls[i], EPERM);
	prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0); /* EPERM: has none to lose */
}

/* The default profile, of what sandbash or a command in it could want: an EPERM each. */
static void as_in_docker(void)
{
	static const int calls[] = {
		SYS_unshare,
		SYS_setns,
		NR_PIDFD_GETFD,
		SYS_bpf,
		SYS_perf_event_open,
		SYS_userfaultfd,
		SYS_keyctl,
		SYS_add_key,
		SYS_request_key,
		SYS_open_by_handle_at,
		SYS_name_to_handle_at,
		SYS_io_uring_setup,
		SYS_fanotify_init,
		SYS_kcmp,
		SYS_process_madvise,
		SYS_mbind,
		SYS_chroot,
		SYS_acct,
		SYS_swapon,
	};

	without_namespaces(EVERY_NAMESPACE | NEW_TIME);
	without_mounts();
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		refuse(calls[i], EPERM);
}

/* What sandbash asks a kernel for, and when that came. */
static const struct came {
	int major, minor;
	int last_call; /* the last number that it knows; 0: no new ones */
	int landlock;  /* 0: no new ABI */
} history[] = {
	{5, 14, 447, 1}, {5, 15, 448, 0}, {5, 16, 449, 0}, {5, 17, 450, 0}, {5, 19, 0, 2},
	{6, 2, 0, 3},    {6, 5, 451, 0},  {6, 6, 453, 0},  {6, 7, 456, 4},  {6, 8, 461, 0},
	{6, 10, 462, 5}, {6, 12, 0, 6},   {6, 13, 466, 0}, {6, 15, 467, 7}, {6, 17, 469, 0},
};

static bool is_before(const int version[2], int major, int minor)
{
	return version[0] < major || (version[0] == major && version[1] < minor);
}

/* Returns its Landlock ABI. */
static int as_linux(const int version[2])
{
	int last_call = 0, landlock = 0;

	for (size_t i = 0; i < sizeof history / sizeof *history; i++) {
		const struct came *came = &history[i];

		if (is_before(version, came->major, came->minor))
			break;
		last_call = came->last_call ? came->last_call : last_call;
		landlock = came->landlock ? came->landlock : landlock;
	}
	load(offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JGT | BPF_K, 0, 1, (uint32_t)last_call);
	answer(ENOSYS);
	if (is_before(version, 5, 19))
		refuse_when(SYS_seccomp, 1, BPF_JSET, WAIT_KILLABLE_RECV, EINVAL);
	if (is_before(version, 6, 5))
		refuse_when(SYS_getsockopt, 2, BPF_JEQ, PEER_PIDFD, ENOPROTOOPT);
	if (is_before(version, 6, 6))
		refuse_when(SYS_ioctl, 1, BPF_JEQ, NOTIF_SET_FLAGS, EINVAL);
	if (is_before(version, 6, 9))
		refuse_when(SYS_pidfd_open, 1, BPF_JSET, PIDFD_THREAD, EINVAL);
	return landlock;
}

static void as_in_gvisor(void)
{
	static const int calls[] = {NR_OPEN_TREE, NR_MOVE_MOUNT, NR_FSOPEN,        NR_FSCONFIG,
				    NR_FSMOUNT,   NR_FSPICK,     NR_MOUNT_SETATTR, NR_PIDFD_GETFD};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		refuse(calls[i], ENOSYS);
	refuse_when(SYS_seccomp, 1, BPF_JSET, SECCOMP_FILTER_FLAG_NEW_LISTENER, EINVAL);
	prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0);
}

static void without_seccomp(void)
{
	refuse_when(SYS_seccomp, 0, BPF_JEQ, SECCOMP_SET_MODE_FILTER, EINVAL);
	refuse_when(SYS_seccomp, 0, BPF_JEQ, SECCOMP_GET_ACTION_AVAIL, EINVAL);
	refuse_when(SYS_seccomp, 0, BPF_JEQ, SECCOMP_GET_NOTIF_SIZES, EINVAL);
	/* prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ...) */
	load(offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, 0, 5, SYS_prctl);
	load_argument(0);
	add(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, PR_SET_SECCOMP);
	load_argument(1);
	add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SECCOMP_MODE_FILTER);
	answer(EINVAL);
}

static void without_landlock(void)
{
	refuse(NR_LANDLOCK_CREATE_RULESET, ENOSYS);
	refuse(NR_LANDLOCK_ADD_RULE, ENOSYS);
	refuse(NR_LANDLOCK_RESTRICT_SELF, ENOSYS);
}

/* The parts of an old ABI that registers show; the tracer does the rest. */
static void with_landlock_abi(int abi)
{
	if (abi < 4)
		refuse_when(NR_LANDLOCK_ADD_RULE, 1, BPF_JEQ, LANDLOCK_NET_PORT, EINVAL);
	if (abi < 7)
		refuse_when(NR_LANDLOCK_RESTRICT_SELF, 1, BPF_JSET, UINT32_MAX, EINVAL);
	hold(NR_LANDLOCK_CREATE_RULESET);
}

/* --- the tracer of landlock-abi=N -------------------------------------------------------- */

/*
 * What a kernel with this ABI answers to landlock_create_ruleset(attr, size, flags):
 * > 0 that value, < 0 that error, 0: let the real call go on.
 */
static int64_t judge(pid_t thread, const uint64_t *args, int abi)
{
	static unsigned char bytes[4096];
	uint64_t attr = args[0], size = args[1];
	uint32_t flags = (uint32_t)args[2];
	struct ruleset_attr asked = {0, 0, 0};
	const struct landlock_abi *kernel = &abis[abi];
	struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)attr, size};

	if (flags) {
		if (attr || size || (flags != LANDLOCK_VERSION && abi < 7))
			return -EINVAL;
		return flags == LANDLOCK_VERSION ? abi : 0;
	}
	if (!attr)
		return -EFAULT;
	if (size < 8)
		return -EINVAL;
	if (size > sizeof bytes)
		return -E2BIG;
	if (process_vm_readv(thread, &here, 1, &there, 1, 0) != (ssize_t)size)
		return -EFAULT;
	/* copy_struct_from_user(): a longer struct is fine while the unknown part is zero. */
	for (size_t i = kernel->size; i < size; i++) {
		if (bytes[i])
			return -E2BIG;
	}
	memcpy(&asked, bytes, size < sizeof asked ? size : sizeof asked);
	if ((asked.fs & ~kernel->known.fs) || (asked.net & ~kernel->known.net) ||
	    (asked.scoped & ~kernel->known.scoped))
		return -EINVAL;
	return 0;
}

/* The thread stands before the call: it is not made, and answers this instead. */
static void answer_call(pid_t thread, int64_t value)
{
	struct user_regs_struct regs;
	struct iovec all = {&regs, sizeof regs};

	if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &all) != 0)
		return; /* killed meanwhile */
#if defined(__x86_64__)
	regs.orig_rax = (unsigned long long)-1;
	regs.rax = (unsigned long long)value;
#else
	int none = -1;
	struct iovec number = {&none, sizeof none};

	ptrace(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &number);
	regs.regs[0] = (unsigned long long)value;
#endif
	ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &all);
}

static void answer_held(pid_t thread, int abi)
{
	struct __ptrace_syscall_info info;
	int64_t verdict;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) < 0)
		return;
	verdict = judge(thread, info.seccomp.args, abi);
	if (verdict)
		answer_call(thread, verdict);
}

static bool is_stopping(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Until nothing of CMD is left.  What stops for another reason than ours goes on as if alone. */
static void trace(int abi)
{
	int status;
	pid_t thread;

	while ((thread = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		int event = status >> 16, signal = WSTOPSIG(status);

		if (thread < 0 || !WIFSTOPPED(status))
			continue;
		if (event == PTRACE_EVENT_SECCOMP)
			answer_held(thread, abi);
		if (event == PTRACE_EVENT_STOP && is_stopping(signal))
			ptrace(PTRACE_LISTEN, thread, 0, 0);
		else
			ptrace(PTRACE_CONT, thread, 0, event ? 0 : signal);
	}
}

/*
 * Start the tracer as a stranger: not our child (CMD would find it in wait()), not in our
 * session, and with none of our descriptors (it would hold a pipe of CMD's open).  Returns
 * when it has us.
 */
static void start_tracer(int abi)
{
	const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			     PTRACE_O_TRACECLONE;
	pid_t traced = getpid(), pid;
	int ready[2], null;
	char byte;

	/* Yama 1 lets only ancestors trace a process; this opens the one that becomes CMD. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (pipe2(ready, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		die("fork");
	if (pid == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		if (ptrace(PTRACE_SEIZE, traced, 0, options) != 0 || dup2(ready[1], 3) != 3 ||
		    (null = open("/dev/null", O_RDWR)) < 0)
			_exit(1);
		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		syscall(SYS_close_range, 4, ~0u, 0);
		if (chdir("/") < 0 || write(3, "", 1) != 1)
			_exit(1);
		close(3);
		trace(abi);
		_exit(0);
	}
	close(ready[1]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	errno = EPERM;
	if (read(ready[0], &byte, 1) != 1)
		die("cannot be traced");
	close(ready[0]);
}

/* Whoever has the listener: a stranger again, until the process that becomes CMD has ended. */
static void keep_listener(int listener)
{
	struct pollfd end = {(int)syscall(SYS_pidfd_open, getpid(), 0), POLLIN, 0};
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		if (fork() == 0 && dup2(listener, 0) == 0 && dup2(end.fd, 1) == 1) {
			syscall(SYS_close_range, 2, ~0u, 0);
			end.fd = 1;
			poll(&end, 1, -1);
		}
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(end.fd);
	close(listener);
}

static void load_filter(void)
{
	struct sock_fprog program = {.len = length, .filter = filter};
	long listener;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no_new_privs");
	listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			   has_listener ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &program);
	if (listener < 0)
		die("cannot load the filter");
	if (has_listener)
		keep_listener((int)listener);
}

static int real_abi(void)
{
	long abi = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

/* Play a Landlock of this ABI, if there is more; returns it, or 0. */
static int play_abi(long abi)
{
	if (abi >= real_abi())
		return 0; /* this machine is that small already */
	with_landlock_abi((int)abi);
	return (int)abi;
}

/* Returns the Landlock ABI to play, or 0. */
static int add_word(const char *word)
{
	int version[2];
	char *end;
	long abi;

	if (strcmp(word, "userns") == 0) {
		without_namespaces(EVERY_NAMESPACE | NEW_TIME);
		/* As root, a program that missed the refusal would mount on the real machine. */
		without_mounts();
	} else if (strcmp(word, "mounts") == 0) {
		without_mounts();
	} else if (strcmp(word, "tmpfs") == 0) {
		refuse(NR_FSOPEN, EPERM);
	} else if (strcmp(word, "net") == 0) {
		without_namespaces(CLONE_NEWNET);
	} else if (strcmp(word, "landlock") == 0) {
		without_landlock();
	} else if (strcmp(word, "seccomp") == 0) {
		without_seccomp();
	} else if (strcmp(word, "pidfd_getfd") == 0) {
		refuse(NR_PIDFD_GETFD, EPERM);
	} else if (strcmp(word, "pidfd-thread") == 0) {
		refuse_when(SYS_pidfd_open, 1, BPF_JSET, PIDFD_THREAD, EINVAL);
	} else if (strcmp(word, "wait-killable") == 0) {
		refuse_when(SYS_seccomp, 1, BPF_JSET, WAIT_KILLABLE_RECV, EINVAL);
	} else if (strcmp(word, "unshare") == 0) {
		refuse(SYS_unshare, EPERM);
	} else if (strcmp(word, "statx") == 0) {
		refuse(SYS_statx, ENOSYS);
	} else if (strcmp(word, "close_range") == 0) {
		refuse(SYS_close_range, ENOSYS);
	} else if (strcmp(word, "process_vm_readv") == 0) {
		refuse(SYS_process_vm_readv, EPERM);
	} else if (strcmp(word, "memory") == 0) {
		refuse(SYS_process_vm_readv, EPERM);
		refuse(SYS_pread64,
		       EPERM); /* of /proc/PID/mem; what else does that has not begun */
	} else if (strcmp(word, "listener") == 0) {
		has_listener = true;
	} else if (strcmp(word, "docker") == 0) {
		as_in_docker();
	} else if (strcmp(word, "gvisor") == 0) {
		without_landlock();
		as_in_gvisor();
	} else if (sscanf(word, "linux=%d.%d", &version[0], &version[1]) == 2) {
		return play_abi(as_linux(version));
	} else if (strcmp(word, "openat2") == 0) {
		refuse(NR_OPENAT2, ENOSYS);
	} else if (strcmp(word, "rename-flags") == 0) {
		refuse_when(SYS_renameat2, 4, BPF_JSET, 0xffffffff, EINVAL);
	} else if (strncmp(word, "landlock-abi=", 13) == 0) {
		abi = strtol(word + 13, &end, 10);
		if (*end || end == word + 13 || abi < 1 || abi > LAST_ABI) {
			fprintf(stderr, "without: no Landlock ABI '%s'\n", word + 13);
			exit(2);
		}
		return play_abi(abi);
	} else {
		fprintf(stderr, "without: unknown word '%s'\n", word);
		exit(2);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int abi = 0;

	if (argc < 4 || strcmp(argv[2], "--") != 0) {
		fprintf(stderr, "usage: without WHAT[,WHAT...] -- CMD ARGS...\n");
		return 2;
	}
	begin_filter();
	for (char *word, *rest = argv[1]; (word = strsep(&rest, ","));) {
		int found = add_word(word);

		if (found)
			abi = found;
	}
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	if (abi)
		start_tracer(abi);
	load_filter();
	execvp(argv[3], argv + 3);
	fprintf(stderr, "without: cannot run '%s': %s\n", argv[3], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
