#include "network/jail.h"
#include "supervise/birth.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "terminal/terminal.h"
#include "enforce/linux_landlock.h"
#include "enforce/linux_seccomp.h"
#include "network/network.h"
#include "path/path.h"
#include "supervise/domains.h"
#include "supervise/performer.h"
#include "supervise/spares.h"
#include "supervise/trace.h"
#include "sys/mount.h"
#include "sys/notify.h"
#include "sys/process.h"

#define STACK (64 * 1024)
#define OWN_FAILURE 125
#define NOT_MOUNTED 2 /* INIT's exit status: nothing has happened yet */

enum order { MOUNT_PROC, PROC_IS_MOUNTED }; /* what the performer tells INIT: one byte */

/* What the processes after the first share while they come to be. */
struct family {
	const struct sb_birth *birth;
	int channel;     /* performer's end, to the asker */
	int slave;       /* the command's terminal, or -1: it keeps the caller's */
	int listener[2]; /* socket pair: the command sends the listener, the performer gets it */
	int lifeline[2]; /* pipe: INIT reads the end of it */
	int ready[2];    /* pipe: INIT says that /proc is mounted */
	int pid_namespace;
	struct sb_gate *gate; /* where hosts are told apart */
	pid_t init, target;
	mode_t umask;
};

/* --- INIT ---------------------------------------------------------------------------- */

/*
 * Waits for the end of the pipe and exits, and the kernel ends everything else in the
 * namespace.  (A death signal would not do: it is sent with the rights of the dying performer,
 * whose Landlock scope forbids it.)
 */
static int init_main(struct family *family)
{
	char byte = 0, order;

	/* orphans are reaped for free; other signals do not reach a first process that has no
	 * handler for them: pid_namespaces(7) */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	sb_auto_close(&family->lifeline[1]);
	/* not before the performer has our namespace open: afterwards we cannot be looked at */
	if (read(family->lifeline[0], &order, 1) != 1 ||
	    (order == MOUNT_PROC && sb_sys_mount_proc("/proc", -1) < 0))
		return NOT_MOUNTED;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (sb_sys_no_new_privs() < 0 || sb_sys_keep_capabilities(0) < 0)
		return 1;
	/* nothing of ours or the caller's stays open here but the two pipes */
	if (dup2(family->lifeline[0], 0) < 0 || dup2(family->ready[1], 1) < 0)
		return 1;
	if (syscall(SYS_close_range, 2, ~0u, 0) != 0)
		for (int fd = 2; fd < 1024; fd++)
			close(fd);
	if (order == MOUNT_PROC && write(1, &byte, 1) != 1)
		return 1;
	close(1);
	while (read(0, &byte, 1) != 0)
		;
	return 0;
}

/*
 * SECURITY: INIT shows nothing of what sandbash was started with.
 *
 * Danger: it is a copy of us, and everybody in the namespace reads /proc/1/cmdline: --worker=/real/path, --report=...
 * Before it cannot be looked at any more its environ can be read as well.
 * Price: our own words are gone while it is made, not after: so there is no moment in which it has them.  We need them
 * again, since the command's arguments and variables point there.
 * Held by: tests/enforce/worker.py
 */
static long clone_init(struct family *family)
{
	static const char name[] = "sandbash"; /* what ps(1) shows */
	struct sb_sys_arguments words = {0};
	int found = sb_sys_find_arguments(family->birth->proc, &words);
	SB_AUTO_FREE char *kept = malloc(words.size[0] + words.size[1] + 1);
	long pid;

	if (found < 0 || !kept)
		return -1;
	memcpy(kept, words.bytes[0], words.size[0]);
	memcpy(kept + words.size[0], words.bytes[1], words.size[1]);
	for (int i = 0; i < 2; i++)
		memset(words.bytes[i], 0, words.size[i]);
	if (words.size[0] >= sizeof name)
		memcpy(words.bytes[0], name, sizeof name);
	pid = syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(init_main(family));
	memcpy(words.bytes[0], kept, words.size[0]);
	memcpy(words.bytes[1], kept + words.size[0], words.size[1]);
	return pid;
}

/* Does a step of the plan lie where a new /proc would cover it?  /proc itself may be covered. */
static bool plan_needs_proc(const struct sb_plan *plan)
{
	for (size_t i = 0; i < plan->mount_count; i++) {
		const struct sb_mount_step *step = &plan->mounts[i];

		if (sb_path_within("/proc", step->path) &&
		    !(step->kind == SB_MOUNT_SHOW && strcmp(step->path, "/proc") == 0))
			return true;
	}
	return false;
}

/* Let INIT go on, and wait until it is done.  False: *out_status says how far it came. */
static bool start_init(struct family *family, pid_t pid, int *out_status)
{
	char name[48], byte = MOUNT_PROC;

	*out_status = NOT_MOUNTED << 8;
	snprintf(name, sizeof name, "%d/ns/pid", pid);
	family->pid_namespace = openat(family->birth->proc, name, O_RDONLY | O_CLOEXEC);
	/* where the kernel lets us, we need not wait for INIT */
	if (family->pid_namespace >= 0 && sb_sys_mount_proc("/proc", family->pid_namespace) >= 0)
		byte = PROC_IS_MOUNTED;
	if (family->pid_namespace >= 0 && write(family->lifeline[1], &byte, 1) == 1) {
		if (byte == PROC_IS_MOUNTED || read(family->ready[0], &byte, 1) == 1)
			return true;
		waitpid(pid, out_status, 0);
		return false;
	}
	if (byte == PROC_IS_MOUNTED) /* what is mounted stays, and would show nobody */
		*out_status = 0;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return false;
}

static int no_own_proc(struct sb_error *err)
{
	return sb_fail(err, SB_E_UNSUPPORTED, 0,
		       "this machine cannot keep a worker from seeing other processes");
}

/*
 * SECURITY: a worker's /proc has its own processes, and nothing of the user's keys or, for root, of the kernel's memory.
 *
 * Danger: proc(5), /proc/keys lists what the caller may view, with descriptions that programs chose; a filter on keyctl(2)
 * does not see it.  The others are root's to read without a capability.
 * Price: some mounts, and no second /proc can be made in there, which nobody in a view could.
 * Held by: tests/enforce/worker_escapes.py
 */
static bool cover_proc(void)
{
	static const char *const names[] = {
		"/proc/keys",       "/proc/key-users", /* everybody's */
		"/proc/timer_list", "/proc/kpagecount",  "/proc/kpageflags",  "/proc/kpagecgroup",
		"/proc/slabinfo",   "/proc/vmallocinfo", "/proc/pagetypeinfo"};
	size_t count = getuid() == 0 ? sizeof names / sizeof names[0] : 2;

	for (size_t i = 0; i < count; i++) {
		SB_AUTO_FD int place = open(names[i], O_PATH | O_CLOEXEC);
		SB_AUTO_FD int nothing = -1;

		if (place < 0 && errno == ENOENT) /* not in this kernel */
			continue;
		nothing = sb_sys_clone_tree(AT_FDCWD, "/dev/null");
		if (place < 0 || nothing < 0 || sb_sys_attach(nothing, place) < 0)
			return false;
	}
	return true;
}

/*
 * A pid namespace with its own /proc.  Where that cannot be (a container whose /proc is
 * masked) the run does without: then the performer ends what is left itself.
 */
static int make_pid_namespace(struct family *family, struct sb_error *err)
{
	struct sb_layers *layers = family->birth->stages->layers;
	const struct sb_plan *plan = family->birth->stages->plan;
	int status = NOT_MOUNTED << 8;
	long pid;

	if (!layers->mounts || plan_needs_proc(plan))
		return plan->view ? no_own_proc(err) : SB_OK;
	if (pipe2(family->lifeline, O_CLOEXEC) != 0 || pipe2(family->ready, O_CLOEXEC) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot make a pipe");
	pid = clone_init(family);
	sb_auto_close(&family->lifeline[0]);
	sb_auto_close(&family->ready[1]);
	if (pid > 0 && start_init(family, (pid_t)pid, &status)) {
		family->init = (pid_t)pid;
		layers->pid_namespace = true;
	}
	sb_auto_close(&family->ready[0]);
	if (layers->pid_namespace && (!plan->view || cover_proc()))
		return SB_OK;
	if (plan->view)
		return no_own_proc(err);
	sb_auto_close(&family->lifeline[1]);
	sb_auto_close(&family->pid_namespace);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != NOT_MOUNTED)
		return sb_fail(err, SB_E_BROKEN, 0, "cannot set up the pid namespace");
	return SB_OK;
}

/* --- COMMAND ---------------------------------------------------------------------------- */

static int send_listener(int socket, int listener)
{
	struct sb_wire_message message = {.kind = SB_WIRE_STARTED};

	return sb_wire_send(socket, &message, listener);
}

/* Signals as the caller left them, a process group of its own, in the foreground. */
static void settle_process(const struct family *family)
{
	const struct sb_birth *birth = family->birth;
	struct sigaction original = {.sa_handler = birth->child_ignored ? SIG_IGN : SIG_DFL};

	setpgid(0, 0);
	if (family->slave >= 0 || birth->job_control) {
		int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);

		/* SIGTTOU is blocked here, so that a background process may do this */
		if (tty >= 0) {
			tcsetpgrp(tty, getpgrp());
			close(tty);
		}
	}
	sigaction(SIGCHLD, &original, NULL);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, birth->saved_mask, NULL, NSIG / 8);
}

/*
 * SECURITY: where no Landlock layer says where a core may be made, none is.
 *
 * Danger: the kernel makes it by no call that could be held: enforce/linux_landlock.c, grant_cores().
 * Price: no cores there but those that a program outside gets, for which this limit does not count (core(5)).
 * Held by: tests/supervise/cores.py
 */
static int forbid_cores(struct sb_error *err)
{
	return setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) == 0
		       ? SB_OK
		       : sb_fail(err, SB_E_SYSTEM, errno, "cannot forbid core dumps");
}

static int confine_command(const struct family *family, struct sb_error *err)
{
	struct sb_stages *stages = family->birth->stages;
	SB_AUTO_FD int listener = -1;
	int status = sb_stages_drop_privileges(stages->layers, err);

	if (status == SB_OK && stages->plan->programs && !stages->layers->landlock_abi)
		status = sb_fail(err, SB_E_UNSUPPORTED, 0,
				 "without Landlock nothing limits which programs are run");
	if (status == SB_OK && stages->layers->landlock_abi)
		status = sb_landlock_enter(stages->plan, stages->layers, true, err);
	else if (status == SB_OK)
		status = forbid_cores(err);
	if (status == SB_OK)
		status = sb_stages_prove_floor(stages, err);
	if (status == SB_OK)
		status = sb_filter_enter_held(stages->plan, stages->layers, &listener, err);
	if (status == SB_OK)
		status = sb_stages_drop_last(err);
	if (status == SB_OK) {
		int sent = send_listener(family->listener[1], listener);

		if (sent < 0)
			status = sb_fail(err, SB_E_SYSTEM, -sent, "cannot reach the supervisor");
	}
	if (listener >= 0)
		sb_auto_close(&listener);
	if (status == SB_OK)
		status = sb_stages_prove_broker(stages, err);
	return status;
}

static void command_main(struct family *family)
{
	const struct sb_birth *birth = family->birth;
	struct sb_error err;

	sb_auto_close(&family->lifeline[1]);
	sb_auto_close(&family->channel);
	/* if the performer dies before it has taken the listener, that must close with it: nobody
	 * would answer us */
	sb_auto_close(&family->listener[0]);
	/* without a pid namespace nothing else ends us with a performer that was killed */
	if (!family->init)
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	settle_process(family);
	if (confine_command(family, &err) != SB_OK)
		_exit(birth->failed(birth->context, &err, birth->stages->weak));
	_exit(birth->start(birth->context, birth->stages->layers, birth->stages->weak));
}

/*
 * A process that moves its future children to the pid namespace, makes the command there as
 * its own sibling, and is gone: so the performer is the command's parent without having left
 * for the namespace itself, and can still make threads.
 */
static int midwife_main(void *argument)
{
	struct family *family = argument;
	long pid;

	if (setns(family->pid_namespace, CLONE_NEWPID) != 0)
		_exit(1);
	pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		command_main(family);
	family->target = (pid_t)pid;
	_exit(pid > 0 ? 0 : 1);
}

static int make_command(struct family *family, struct sb_error *err)
{
	char *stack;
	int midwife, status = 0;

	if (!family->init) {
		family->target = fork();
		if (family->target == 0)
			command_main(family);
		return family->target > 0
			       ? SB_OK
			       : sb_fail(err, SB_E_SYSTEM, errno, "cannot start a process");
	}
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
		     -1, 0);
	if (stack == MAP_FAILED)
		return sb_no_memory(err);
	midwife = clone(midwife_main, stack + STACK,
			CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_VFORK | SIGCHLD, family);
	if (midwife > 0)
		waitpid(midwife, &status, 0);
	munmap(stack, STACK);
	if (midwife < 0 || status != 0)
		return sb_fail(err, SB_E_SYSTEM, 0, "cannot start a process in the pid namespace");
	return SB_OK;
}

/* --- PERFORMER --------------------------------------------------------------------------- */

/*
 * A terminal for the command, made where its own terminals are, so that it has a name there.
 * The asker gets the other side.  Standard input, output and error that are the caller's
 * terminal become the command's.
 */
static int make_terminal(struct family *family, struct sb_error *err)
{
	struct sb_wire_message message = {.kind = SB_WIRE_TERMINAL};
	SB_AUTO_FD int master = -1;
	int status;

	if (family->birth->tty < 0)
		return SB_OK;
	status = sb_terminal_pty(family->birth->tty, &master, &family->slave, err);
	if (status != SB_OK)
		return status;
	if (setsid() < 0 || ioctl(family->slave, TIOCSCTTY, 0) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot prepare the command's terminal");
	for (int fd = 0; fd <= 2; fd++)
		if (isatty(fd) && dup2(family->slave, fd) < 0)
			return sb_fail(err, SB_E_SYSTEM, errno,
				       "cannot prepare the command's terminal");
	if (sb_wire_send(family->channel, &message, master) < 0)
		return sb_fail(err, SB_E_SYSTEM, EPIPE, "cannot reach the supervisor");
	return SB_OK;
}

/* The command's descriptors are none of ours: who waits for their end would wait for us. */
static void let_go_of_stdio(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		dup2(null, fd);
	sb_auto_close(&null);
}

/*
 * The network by name, while we have the rights to set one up.  Where there is no namespace for it the
 * verdict says so (enforce/linux_confine.c).
 */
static int make_gate(struct family *family, struct sb_error *err)
{
	struct sb_layers *layers = family->birth->stages->layers;
	struct sb_wire_message message = {.kind = SB_WIRE_GATE};
	int ends[2], status;

	if (!family->birth->stages->plan->gate || !layers->net_namespace || layers->outer)
		return SB_OK;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot make a socket pair");
	sb_space_show();
	status = sb_gate_start(family->birth->policy, family->birth->proc, ends[0], &family->gate,
			       err);
	/* else it is waited for when the command is there */
	if (status == SB_OK && family->birth->stages->options->best_effort &&
	    sb_gate_await(&family->gate, err) != SB_OK) {
		close(ends[0]);
		close(ends[1]);
		return SB_OK; /* closed, which is said */
	}
	if (status == SB_OK && sb_wire_send(family->channel, &message, ends[1]) < 0)
		status = sb_fail(err, SB_E_SYSTEM, EPIPE, "cannot reach the supervisor");
	close(ends[0]);
	close(ends[1]);
	layers->gate = status == SB_OK;
	return status;
}

static int confine_performer(struct family *family, struct sb_error *err)
{
	struct sb_stages *stages = family->birth->stages;
	int status = sb_stages_enter(stages, err);

	if (status == SB_OK)
		status = make_gate(family, err);
	if (status == SB_OK)
		status = make_terminal(family, err);
	if (status != SB_OK)
		return status;
	/* if the asker dies, so do we, and with the lifeline everything else */
	if (stages->layers->mounts)
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	status = make_pid_namespace(family, err);
	if (status == SB_OK && !stages->layers->mounts && !stages->layers->outer &&
	    stages->layers->landlock_abi)
		stages->layers->spares = sb_spares_make(stages->plan);
	if (status == SB_OK)
		status = sb_stages_give_verdict(stages, err);
	if (status != SB_OK)
		return status;
	stages->layers->no_sight = !stages->layers->user_namespace &&
				   !sb_sys_has_capability(CAP_SYS_PTRACE);
	if (!family->init)
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (sb_sys_no_new_privs() < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot give up privileges");
	/* the first ABI lets nothing be renamed to another directory; mounts hold the same alone */
	if (stages->layers->landlock_abi > 1 ||
	    (stages->layers->landlock_abi && !stages->layers->mounts))
		status = sb_landlock_enter(stages->plan, stages->layers, false, err);
	return status;
}

/* The command is there already, and would only complain about us. */
static int fail_alone(const struct family *family, struct sb_error *err)
{
	const struct sb_birth *birth = family->birth;

	kill(family->target, SIGKILL);
	return birth->failed(birth->context, err, birth->stages->weak);
}

/*
 * Nothing could be decided about otherwise, and every call would be refused without a reason: Yama
 * (ptrace_scope 3, or 2 without capabilities in a user namespace of ours), SELinux's deny_ptrace.
 */
static bool can_read(const struct family *family)
{
	static const char byte = 'x';
	struct pollfd confined = {.fd = family->listener[0], .events = POLLIN};
	char copy;
	ssize_t got = sb_sys_read_memory(family->target, (uintptr_t)&byte, &copy, 1);

	/* A root without CAP_SYS_PTRACE, as in a container, is no match for a process that has
	 * capabilities (ptrace(2)).  The command gives up its own before it sends its listener, and
	 * executes nothing until we have answered it. */
	if (got == -EPERM || got == -EACCES) {
		while (poll(&confined, 1, -1) < 0 && errno == EINTR)
			;
		got = sb_sys_read_memory(family->target, (uintptr_t)&byte, &copy, 1);
	}
	/* a program that may be run but not read cannot be looked at; what it executes can */
	return (got != -EPERM && got != -EACCES) || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 1;
}

/* All that can be done while the command confines itself. */
static int prepare(struct family *family, struct sb_performer *performer, struct sb_error *err)
{
	struct sb_stages *stages = family->birth->stages;
	int status = sb_stages_prove_performer(stages, err);

	if (status != SB_OK)
		return status;
	status = sb_layers_hold_signals(stages->layers) ? sb_domain_begin(family->target) : 0;
	if (status == 0)
		status = sb_performer_prepare(performer);
	if (status < 0)
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot prepare the supervisor");
	if (!can_read(family)) {
		sb_fail(err, SB_E_UNSUPPORTED, 0,
			"cannot supervise the command: its memory cannot be read");
		return sb_hint(err,
			       "--doctor says why; --static runs it with the kernel layers only, "
			       "and asks nobody");
	}
	return family->gate && !stages->options->best_effort ? sb_gate_await(&family->gate, err)
							     : SB_OK;
}

static int performer_main(struct family *family)
{
	const struct sb_birth *birth = family->birth;
	struct sb_stages *stages = birth->stages;
	struct sb_wire_message message = {.kind = SB_WIRE_STARTED};
	struct sb_performer performer;
	struct sb_error err;
	struct sb_wire_message born = {.kind = SB_WIRE_BORN};
	int listener = -1, status, tty = -1;

	sb_wire_send(family->channel, &born, -1);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, family->listener) != 0) {
		sb_fail(&err, SB_E_SYSTEM, errno, "cannot make a socket pair");
		return birth->failed(birth->context, &err, stages->weak);
	}
	status = confine_performer(family, &err);
	if (status == SB_OK)
		status = make_command(family, &err);
	if (status != SB_OK)
		return birth->failed(birth->context, &err, stages->weak);
	/* to look at processes that do not want to be looked at; in our namespace, and inside our
	 * Landlock domain only */
	if (sb_sys_keep_capabilities(SB_CAPABILITY(CAP_SYS_PTRACE) |
				     sb_stages_filter_rights(stages->layers)) < 0)
		return OWN_FAILURE;
	if (family->slave >= 0 || birth->job_control)
		tty = fcntl(family->slave >= 0 ? family->slave : STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	sb_auto_close(&family->listener[1]);
	sb_auto_close(&family->pid_namespace);
	performer = (struct sb_performer){
		.policy = birth->policy,
		.grounds = birth->grounds,
		.plan = stages->plan,
		.layers = stages->layers,
		.listener = -1,
		.channel = family->channel,
		.proc = birth->proc,
		.lifeline = family->lifeline[1],
		.gate = family->gate,
		.tty = tty,
		.target = family->target,
		.init = family->init,
		.umask = family->umask,
		.keep_background = birth->keep_background,
	};
	/* What the caller had open stays for the command, not for us.  queues: who closes the last waits for a grace
	 * period of RCU, and that would be the command at execve() */
	sb_jail_keep_only((const int[]){family->listener[0], tty, family->channel, birth->proc,
					family->lifeline[1], sb_trace_fd(),
					sb_gate_fd(family->gate), stages->layers->spares,
					stages->layers->queues},
			  9);
	if (prepare(family, &performer, &err) != SB_OK)
		return fail_alone(family, &err);
	let_go_of_stdio();
	if (sb_wire_receive(family->listener[0], &message, NULL, &listener) < 0 || listener < 0) {
		/* it has said why, and gave the status that says so */
		waitpid(family->target, &status, 0);
		return WIFEXITED(status) ? WEXITSTATUS(status) : OWN_FAILURE;
	}
	message = (struct sb_wire_message){.kind = SB_WIRE_STARTED, .number = family->target};
	message.layers = *stages->layers;
	message.layers.seccomp = true;
	sb_wire_send(family->channel, &message, listener);
	sb_auto_close(&family->listener[0]);
	performer.listener = listener;
	return sb_performer_run(&performer);
}

int sb_birth(const struct sb_birth *birth, int *out_channel, pid_t *out_performer,
	     struct sb_error *err)
{
	struct family family = {.birth = birth,
				.channel = -1,
				.slave = -1,
				.listener = {-1, -1},
				.lifeline = {-1, -1},
				.ready = {-1, -1},
				.pid_namespace = -1};
	int ends[2];
	pid_t pid, parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot make a socket pair");
	family.umask = umask(0);
	umask(family.umask);
	sb_groups_note();
	pid = fork();
	if (pid < 0) {
		close(ends[0]);
		close(ends[1]);
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot start a process");
	}
	if (pid == 0) {
		close(ends[0]);
		family.channel = ends[1];
		if (getppid() != parent)
			_exit(OWN_FAILURE);
		_exit(performer_main(&family));
	}
	close(ends[1]);
	*out_channel = ends[0];
	*out_performer = pid;
	return SB_OK;
}
