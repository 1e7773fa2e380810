/* act_processes.c - processes outside; namespaces and mounts. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act.h"

/* --- processes outside ------------------------------------------------------------------- */

/* victim: prints "PID ADDRESS DESCRIPTOR", waits for the end of its input, then prints what
 * stands at the address and how many signals came */
static volatile sig_atomic_t signals;

static void count_signal(int signal)
{
	(void)signal;
	signals++;
}

static int do_victim(char **arg)
{
	static char memory[8] = "intact";
	int secret = open("/dev/null", O_RDWR);
	char byte;

	(void)arg;
	for (int i = 1; i < SIGRTMIN; i++) {
		if (i != SIGCHLD)
			signal(i, count_signal);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* Yama would spoil the control */
	printf("%d %lu %d\n", getpid(), (unsigned long)(uintptr_t)memory, secret);
	fflush(stdout);
	for (;;) {
		ssize_t got = read(0, &byte, 1);

		if (got == 0 || (got < 0 && errno != EINTR))
			break;
	}
	printf("%s %d\n", memory, (int)signals);
	return 0;
}

static const struct name signal_names[] = {
	{"0", 0}, {"USR1", SIGUSR1}, {"KILL", SIGKILL}, {"STOP", SIGSTOP}, {NULL, 0}};

/* Make pid, or a group, the owner of a descriptor, by one of the ways there are. */
static int set_owner(int fd, const char *how, pid_t pid)
{
	struct f_owner_ex process = {F_OWNER_PID, pid}, group = {F_OWNER_PGRP, 0};
	const char *shell = getenv("GROUP"); /* of whoever started us, and the victim beside us */
	int number = (int)pid;

	if (strcmp(how, "owner") == 0)
		return fcntl(fd, F_SETOWN, pid);
	if (strcmp(how, "owner-self") == 0) {
		signal(SIGUSR1, count_signal);
		return fcntl(fd, F_SETOWN, getpid());
	}
	if (strcmp(how, "owner-ex") == 0)
		return fcntl(fd, F_SETOWN_EX, &process);
	if (strcmp(how, "owner-ioctl") == 0)
		return ioctl(fd, FIOSETOWN, &number);
	if (strcmp(how, "owner-pgrp") == 0)
		return ioctl(fd, SIOCSPGRP, &number);
	group.pid = shell ? atoi(shell) : getpgrp();
	number = -group.pid;
	setpgid(0, group.pid); /* a member of it, if that can be */
	signal(SIGUSR1, SIG_IGN);
	if (strcmp(how, "owner-group") == 0)
		return fcntl(fd, F_SETOWN, number);
	if (strcmp(how, "owner-group-ex") == 0)
		return fcntl(fd, F_SETOWN_EX, &group);
	if (strcmp(how, "owner-group-ioctl") == 0)
		return ioctl(fd, SIOCSPGRP, &number);
	errno = EINVAL;
	die(how);
	return -1;
}

/* numbers: of calls that have no name elsewhere */
static int do_numbers(char **arg)
{
	(void)arg;
	return printf("%d %d %d\n", SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo) > 0 ? 0 : -1;
}

/* kill HOW PID SIGNAL */
static int do_kill(char **arg)
{
	pid_t pid = (pid_t)number(arg[1]);
	int sig = (int)look_up(signal_names, arg[2], "signal"), fd, pair[2];
	siginfo_t info = {.si_signo = sig, .si_code = SI_QUEUE};

	if (strcmp(arg[0], "kill") == 0)
		return kill(pid, sig);
	if (strcmp(arg[0], "group") == 0)
		return kill(-pid, sig);
	if (strcmp(arg[0], "tkill") == 0)
		return zero(syscall(SYS_tkill, pid, sig));
	if (strcmp(arg[0], "tgkill") == 0)
		return zero(syscall(SYS_tgkill, pid, pid, sig));
	if (strcmp(arg[0], "queue") == 0)
		return zero(syscall(SYS_rt_sigqueueinfo, pid, sig, &info));
	if (strcmp(arg[0], "tgqueue") == 0)
		return zero(syscall(SYS_rt_tgsigqueueinfo, pid, pid, sig, &info));
	if (strcmp(arg[0], "pidfd") == 0) {
		fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
		return fd < 0 ? -1 : zero(syscall(NR_PIDFD_SEND_SIGNAL, fd, sig, NULL, 0));
	}
	/* owner: data on our socket signals the owner we name; nothing tells us if it came */
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || set_owner(pair[0], arg[0], pid) < 0 ||
	    fcntl(pair[0], F_SETSIG, sig) < 0 || fcntl(pair[0], F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
		return -1;
	if (put(pair[1]) < 0)
		return -1;
	if (strcmp(arg[0], "owner-self") == 0 && !signals)
		exit(3);
	return 0;
}

static int do_attach(char **arg)
{
	pid_t pid = (pid_t)number(arg[0]);

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0)
		return -1;
	waitpid(pid, NULL, 0);
	return (int)ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

static int do_seize(char **arg)
{
	return (int)ptrace(PTRACE_SEIZE, (pid_t)number(arg[0]), NULL, NULL);
}

/* memory HOW PID ADDRESS */
static int do_memory(char **arg)
{
	pid_t pid = (pid_t)number(arg[1]);
	void *there = (void *)(uintptr_t)strtoul(arg[2], NULL, 10);
	char bytes[8] = "broken", path[64];
	struct iovec near = {bytes, 7}, far = {there, 7};
	int fd;

	if (strcmp(arg[0], "readv") == 0)
		return process_vm_readv(pid, &near, 1, &far, 1, 0) == 7 ? 0 : -1;
	if (strcmp(arg[0], "writev") == 0)
		return process_vm_writev(pid, &near, 1, &far, 1, 0) == 7 ? 0 : -1;
	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	if (strcmp(arg[0], "mem-read") == 0) {
		fd = open(path, O_RDONLY);
		return fd < 0 || pread(fd, bytes, 7, (off_t)(uintptr_t)there) != 7 ? -1 : 0;
	}
	fd = open(path, O_RDWR); /* mem-write */
	return fd < 0 || pwrite(fd, bytes, 7, (off_t)(uintptr_t)there) != 7 ? -1 : 0;
}

/* getfd PID DESCRIPTOR */
static int do_getfd(char **arg)
{
	int fd = (int)syscall(NR_PIDFD_OPEN, (pid_t)number(arg[0]), 0);

	return fd < 0 ? -1 : zero(syscall(NR_PIDFD_GETFD, fd, number(arg[1]), 0));
}

struct sched_attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* adjust HOW PID: limits and priorities; PID 0 is the caller */
static int do_adjust(char **arg)
{
	pid_t pid = (pid_t)number(arg[1]);
	struct rlimit limit;
	int nicer = getpriority(PRIO_PROCESS, 0) +
		    1; /* than whoever started the tests: that is always allowed */
	struct sched_attributes attributes = {
		.size = sizeof attributes, .policy = SCHED_BATCH, .nice = nicer < 19 ? nicer : 19};
	struct sched_param param = {0};
	cpu_set_t cpus;
	unsigned long nodes = 1;

	if (strcmp(arg[0], "rlimit") == 0) {
		if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) < 0)
			return -1;
		limit.rlim_cur = 64;
		return prlimit(pid, RLIMIT_NOFILE, &limit, NULL);
	}
	if (strcmp(arg[0], "rlimit-read") == 0)
		return prlimit(pid, RLIMIT_NOFILE, NULL, &limit);
	if (strcmp(arg[0], "nice") == 0)
		return setpriority(PRIO_PROCESS, (id_t)pid, nicer);
	if (strcmp(arg[0], "nice-user") == 0)
		return setpriority(PRIO_USER, (id_t)pid, 0);
	if (strcmp(arg[0], "nice-group") == 0)
		return setpriority(PRIO_PGRP, (id_t)pid, nicer);
	if (strcmp(arg[0], "affinity") == 0) {
		CPU_ZERO(&cpus);
		CPU_SET(0, &cpus);
		return sched_setaffinity(pid, sizeof cpus, &cpus);
	}
	if (strcmp(arg[0], "scheduler") == 0)
		return zero(syscall(SYS_sched_setscheduler, pid, SCHED_BATCH, &param));
	if (strcmp(arg[0], "param") == 0)
		return zero(syscall(SYS_sched_setparam, pid, &param));
	if (strcmp(arg[0], "attr") == 0)
		return zero(syscall(SYS_sched_setattr, pid, &attributes, 0));
	if (strcmp(arg[0], "ioprio") == 0) /* process, best effort 7 */
		return zero(syscall(SYS_ioprio_set, 1, pid, (2 << 13) | 7));
	if (strcmp(arg[0], "move-pages") == 0) {
		int status = 0;
		void *page = &status;

		return zero(syscall(SYS_move_pages, pid, 1, &page, NULL, &status, 0));
	}
	if (strcmp(arg[0], "migrate") == 0)
		return zero(syscall(SYS_migrate_pages, pid, 8, &nodes, &nodes));
	errno = EINVAL;
	die(arg[0]);
	return -1;
}

/* --- namespaces and mounts --------------------------------------------------------------- */

static const struct name namespaces[] = {
	{"user", CLONE_NEWUSER},     {"mount", CLONE_NEWNS}, {"pid", CLONE_NEWPID},
	{"net", CLONE_NEWNET},       {"ipc", CLONE_NEWIPC},  {"uts", CLONE_NEWUTS},
	{"cgroup", CLONE_NEWCGROUP}, {"time", 0x80},         {NULL, 0},
};

static int do_unshare(char **arg)
{
	return unshare((int)bits(namespaces, arg[0], "namespace"));
}

static int end_child(long pid)
{
	int status;

	if (pid == 0)
		_exit(0);
	return pid < 0 || waitpid((pid_t)pid, &status, 0) < 0 ? -1 : 0;
}

static int do_clone(char **arg)
{
	return end_child(
		syscall(SYS_clone, bits(namespaces, arg[0], "namespace") | SIGCHLD, 0, 0, 0, 0));
}

static int do_clone3(char **arg)
{
	uint64_t how[11] = {bits(namespaces, arg[0], "namespace"), 0, 0, 0, SIGCHLD};

	return end_child(syscall(NR_CLONE3, how, sizeof how));
}

/* setns FILE KIND */
static int do_setns(char **arg)
{
	int fd = file(arg[0], O_RDONLY);

	return fd < 0 ? -1 : setns(fd, (int)look_up(namespaces, arg[1], "namespace"));
}

/* mount HOW PATH */
static int do_mount(char **arg)
{
	const char *how = arg[0], *path = arg[1];
	uint64_t attributes[4] = {1 /* MOUNT_ATTR_RDONLY */, 0, 0, 0}, writable[4] = {0, 1, 0, 0};
	int fd;

	if (strcmp(how, "tmpfs") == 0)
		return mount("act", path, "tmpfs", 0, NULL);
	if (strcmp(how, "proc") == 0)
		return mount("act", path, "proc", 0, NULL);
	if (strcmp(how, "bind") == 0)
		return mount(path, path, NULL, MS_BIND, NULL);
	if (strcmp(how, "remount") == 0)
		return mount(NULL, path, NULL, MS_REMOUNT | MS_BIND, NULL);
	if (strcmp(how, "private") == 0)
		return mount(NULL, path, NULL, MS_PRIVATE, NULL);
	if (strcmp(how, "umount") == 0)
		return umount2(path, MNT_DETACH);
	if (strcmp(how, "open_tree") == 0)
		return zero(syscall(NR_OPEN_TREE, AT_FDCWD, path, 1 /* CLONE */));
	if (strcmp(how, "open_tree_attr") == 0)
		return zero(syscall(NR_OPEN_TREE_ATTR, AT_FDCWD, path, 1, attributes,
				    sizeof attributes));
	if (strcmp(how, "fsopen") == 0)
		return zero(syscall(NR_FSOPEN, "tmpfs", 0));
	if (strcmp(how, "fspick") == 0)
		return zero(syscall(NR_FSPICK, AT_FDCWD, path, 0));
	if (strcmp(how, "setattr") == 0)
		return zero(
			syscall(NR_MOUNT_SETATTR, AT_FDCWD, path, 0, writable, sizeof writable));
	if (strcmp(how, "pivot") == 0)
		return zero(syscall(SYS_pivot_root, path, path));
	if (strcmp(how, "fsmount") == 0) {
		fd = (int)syscall(NR_FSOPEN, "tmpfs", 0);
		if (fd < 0 || syscall(NR_FSCONFIG, fd, 6 /* CREATE */, NULL, NULL, 0) < 0)
			return -1;
		fd = (int)syscall(NR_FSMOUNT, fd, 0, 0);
		return fd < 0 ? -1
			      : zero(syscall(NR_MOVE_MOUNT, fd, "", AT_FDCWD, path,
					     4 /* F_EMPTY */));
	}
	errno = EINVAL;
	die(how);
	return -1;
}

const struct act process_acts[] = {
	{"numbers", 0, do_numbers}, {"victim", 0, do_victim}, {"kill", 3, do_kill},
	{"attach", 1, do_attach},   {"seize", 1, do_seize},   {"memory", 3, do_memory},
	{"getfd", 2, do_getfd},     {"adjust", 2, do_adjust}, {"unshare", 1, do_unshare},
	{"clone", 1, do_clone},     {"clone3", 1, do_clone3}, {"setns", 2, do_setns},
	{"mount", 2, do_mount},     {NULL, 0, NULL},
};
