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
 *     openat2          a kernel before 5.6
 *     rename-flags     a filesystem whose renames know no flags
 *
 * A seccomp filter plays the lesser machine; CMD is exec'd in place under it, so its
 * exit status, signals and terminal are its own.  Only the Landlock ABI needs more:
 * a filter can refuse but not answer "3", so a process of its own, with nothing in
 * common with CMD but the listener, answers landlock_create_ruleset() and ends when the
 * last process under the filter does.
 *
 * Built as build/tests/without (meson option tests); plain libc.  Exit status of its own
 * mistakes: 2 usage, 125 set-up, 126 and 127 as in a shell.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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
#define WAIT_KILLABLE_RECV (1u << 5) /* Linux 5.19 */
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

static void die(const char *what)
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

static void notify(int call)
{
	load(offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)call);
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF);
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
	static const int calls[] = {
		SYS_mount,     SYS_umount2,      SYS_pivot_root,    NR_OPEN_TREE,
		NR_MOVE_MOUNT, NR_FSOPEN,        NR_FSCONFIG,       NR_FSMOUNT,
		NR_FSPICK,     NR_MOUNT_SETATTR, NR_OPEN_TREE_ATTR,
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		refuse(calls[i], EPERM);
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

/* The parts of an old ABI that registers show; the supervisor does the rest. */
static void with_landlock_abi(int abi)
{
	if (abi < 4)
		refuse_when(NR_LANDLOCK_ADD_RULE, 1, BPF_JEQ, LANDLOCK_NET_PORT, EINVAL);
	if (abi < 7)
		refuse_when(NR_LANDLOCK_RESTRICT_SELF, 1, BPF_JSET, UINT32_MAX, EINVAL);
	notify(NR_LANDLOCK_CREATE_RULESET);
}

/* --- the supervisor of landlock-abi=N ---------------------------------------------------- */

static bool read_memory(pid_t pid, uint64_t from, void *into, size_t size)
{
	struct iovec here = {into, size}, there = {(void *)(uintptr_t)from, size};

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/*
 * What a kernel with this ABI answers to landlock_create_ruleset(attr, size, flags):
 * > 0 that value, < 0 that error, 0: let the real call go on.
 */
static int64_t judge(const struct seccomp_notif *request, int abi)
{
	static unsigned char bytes[4096];
	uint64_t attr = request->data.args[0], size = request->data.args[1];
	uint32_t flags = (uint32_t)request->data.args[2];
	struct ruleset_attr asked = {0, 0, 0};
	const struct landlock_abi *kernel = &abis[abi];

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
	if (!read_memory((pid_t)request->pid, attr, bytes, size))
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

static void supervise(int listener, int abi)
{
	struct pollfd poll_listener = {.fd = listener, .events = POLLIN};
	struct seccomp_notif request;
	struct seccomp_notif_resp response;
	int64_t verdict;

	for (;;) {
		if (poll(&poll_listener, 1, -1) < 0 && errno != EINTR)
			_exit(1);
		if (!(poll_listener.revents & POLLIN)) {
			if (poll_listener.revents & (POLLHUP | POLLERR))
				_exit(0); /* nobody is left under the filter */
			continue;
		}
		memset(&request, 0, sizeof request);
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
			continue; /* the caller died before we looked */
		verdict = judge(&request, abi);
		response = (struct seccomp_notif_resp){.id = request.id};
		if (verdict == 0)
			response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		else if (verdict > 0)
			response.val = verdict;
		else
			response.error = (int)verdict;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
	}
}

union fd_message {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

static int send_fd(int socket, int fd)
{
	union fd_message control = {0};
	char byte = 0;
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof control};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(header), &fd, sizeof fd);
	return sendmsg(socket, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static int receive_fd(int socket)
{
	union fd_message control = {0};
	char byte;
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof control};
	struct cmsghdr *header;
	int fd;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(header), sizeof fd);
	return fd;
}

/*
 * Start the supervisor as a stranger: not our child (CMD would find it in wait()), not in
 * our session, and with none of our descriptors (it would hold a pipe of CMD's open).
 * Returns the socket on which it awaits the listener.
 */
static int start_supervisor(int abi)
{
	int pair[2], listener, null;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		die("socketpair");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		if (dup2(pair[1], 3) != 3 || (null = open("/dev/null", O_RDWR)) < 0)
			_exit(1);
		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		syscall(SYS_close_range, 4, ~0u, 0);
		if (chdir("/") < 0 || (listener = receive_fd(3)) < 0)
			_exit(1);
		close(3);
		supervise(listener, abi);
	}
	close(pair[1]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return pair[0];
}

static void load_filter(int supervisor)
{
	struct sock_fprog program = {.len = length, .filter = filter};
	unsigned flags = 0;
	long listener;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no_new_privs");
	if (supervisor >= 0) {
		/* Yama 1 lets only ancestors read a process; this opens the one that becomes CMD. */
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE_RECV;
	}
	listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (listener < 0 && errno == EINVAL && supervisor >= 0)
		listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				   SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener < 0)
		die("cannot load the filter");
	if (supervisor < 0)
		return;
	if (send_fd(supervisor, (int)listener) < 0)
		die("cannot hand over the listener");
	close((int)listener);
	close(supervisor);
}

static int real_abi(void)
{
	long abi = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

/* Returns the Landlock ABI to play, or 0. */
static int add_word(const char *word)
{
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
		if (abi >= real_abi())
			return 0; /* this machine is that small already */
		with_landlock_abi((int)abi);
		return (int)abi;
	} else {
		fprintf(stderr, "without: unknown word '%s'\n", word);
		exit(2);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int abi = 0, supervisor = -1;

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
		supervisor = start_supervisor(abi);
	load_filter(supervisor);
	execvp(argv[3], argv + 3);
	fprintf(stderr, "without: cannot run '%s': %s\n", argv[3], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
