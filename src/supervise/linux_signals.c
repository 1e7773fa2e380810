/*
 * linux_signals.c - signals of the command, where the kernel would let them out.
 *
 * With a pid namespace nobody outside can be named, and Landlock knows since ABI 6 who is outside.
 * Where neither is, every call that sends a signal is held.  To the caller's own process the kernel
 * sends it; all others are sent from here, to a process that is pinned by a descriptor while it is
 * looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/domains.h"
#include "supervise/owed.h"
#include "supervise/performer.h"
#include "supervise/thread.h"
#include "sys/directory.h"
#include "sys/notify.h"
#include "sys/process.h"

#define LAST_SIGNAL 64

struct shot {
	const struct sb_performer *performer;
	uint64_t id;  /* of the held call */
	pid_t thread; /* that calls */
	pid_t own;    /* its process */
	int number;
	siginfo_t *info; /* NULL: what kill() says */
	siginfo_t told;  /* what it points to */
	int self;        /* the caller's process, to be signalled after the answer; -1: it is not */
};

static pid_t process_of(const struct sb_performer *performer, pid_t thread)
{
	return (pid_t)sb_thread_process(performer->proc, thread);
}

/*
 * SECURITY: only processes of the run are signalled.
 *
 * Danger: a number may be another's by the time that the signal is sent.  So the process is pinned
 * first, then looked at, then signalled by that descriptor: whatever has the number meanwhile, a
 * process that is gone gets nothing.
 * Price: who is told who sent the signal (si_pid) is told our number.
 * Held by: tests/enforce/processes.py
 */
static int shoot(struct shot *shot, pid_t target)
{
	pid_t process = process_of(shot->performer, target);
	SB_AUTO_FD int pinned = process > 0 ? sb_sys_open_process(process) : -ESRCH;

	if (pinned < 0)
		return ESRCH;
	if (!sb_domain_reaches(shot->thread, process))
		return EPERM;
	if (!sb_sys_notify_alive(shot->performer->listener, shot->id))
		return ESRCH; /* the caller was somebody else */
	/* where the signal would end this very call, and that begin again (owed.h) */
	if (process == shot->own && sb_owed_interrupts()) {
		if (shot->self < 0)
			shot->self = sb_take_fd(&pinned);
		return 0;
	}
	return -sb_sys_signal_process(pinned, shot->number, shot->info);
}

/* Which of all processes: those of a group, or (0) all but the caller's. */
static int shoot_group(struct shot *shot, pid_t group)
{
	struct sb_sys_dir dir;
	const struct dirent64 *entry;
	int sent = 0, error = ESRCH;
	SB_AUTO_FD int fd = openat(shot->performer->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return EPERM;
	sb_sys_dir_init(&dir, fd);
	while ((entry = sb_sys_dir_next(&dir))) {
		pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);
		int status;

		if (process <= 0 || process == shot->own || (group && getpgid(process) != group))
			continue;
		status = shoot(shot, process);
		sent += status == 0;
		if (status == EPERM && group)
			error = EPERM; /* a group that is not the run's is there, and closed */
	}
	/* the caller last: it may end by it, and we would not know for whom we act */
	if (group && getpgid(shot->own) == group)
		sent += shoot(shot, shot->own) == 0;
	return sent ? 0 : error;
}

static int shoot_as_kill(struct shot *shot, pid_t target)
{
	if (target > 0)
		return shoot(shot, target);
	if (target == INT_MIN)
		return ESRCH;
	return shoot_group(shot, target == -1 ? 0 : target ? -target : getpgid(shot->own));
}

/*
 * tkill(), by which musl signals threads.  To a process of the run other than the caller's it is
 * sent as a whole: a thread cannot be pinned before Linux 6.9.
 */
static int shoot_thread(struct shot *shot, pid_t thread)
{
	if (process_of(shot->performer, thread) != shot->own)
		return shoot(shot, thread);
	if (!sb_sys_notify_alive(shot->performer->listener, shot->id))
		return ESRCH;
	return syscall(SYS_tgkill, shot->own, thread, shot->number) != 0 ? errno : 0;
}

/* What the caller wants to be told along; the kernel's rules: rt_sigqueueinfo(2). */
static int take_info(struct shot *shot, uint64_t address)
{
	siginfo_t *out = &shot->told;

	if (sb_sys_read_memory(shot->thread, address, out, sizeof *out) != sizeof *out)
		return EFAULT;
	if (out->si_code >= 0 || out->si_code == SI_TKILL)
		return EPERM;
	out->si_signo = shot->number;
	shot->info = out;
	return 0;
}

static int shoot_by_descriptor(struct shot *shot, const __u64 *args)
{
	pid_t target = sb_thread_pidfd(shot->performer->proc, shot->thread, (int)args[0]);
	int error = 0;

	if (target == 0)
		return EBADF;
	if (args[3])
		return EINVAL;
	if (args[2])
		error = take_info(shot, args[2]);
	return error ? error : target < 0 ? ESRCH : shoot(shot, target);
}

/* -1: the kernel shall do it, as what it is told in registers cannot lead elsewhere. */
static int serve(struct shot *shot, int number, const __u64 *args)
{
	pid_t first = (pid_t)args[0];
	int error;

	shot->number = (int)args[number == SYS_tgkill || number == SYS_rt_tgsigqueueinfo ? 2 : 1];
	if (shot->number < 0 || shot->number > LAST_SIGNAL)
		return EINVAL;
	switch (number) {
	case SYS_kill:
		return first == shot->own ? -1 : shoot_as_kill(shot, first);
	case SYS_tkill:
		return first == shot->thread ? -1 : first <= 0 ? EINVAL : shoot_thread(shot, first);
	case SYS_pidfd_send_signal:
		return shoot_by_descriptor(shot, args);
	case SYS_tgkill:
		/* no other process has a thread with both numbers while the caller waits here */
		return first == shot->own ? -1 : first <= 0 ? EINVAL : shoot(shot, first);
	default:
		if (first == shot->own)
			return -1;
		error = take_info(shot, args[number == SYS_rt_sigqueueinfo ? 2 : 3]);
		return error ? error : first <= 0 ? ESRCH : shoot(shot, first);
	}
}

bool sb_broker_signal(const struct sb_broker *broker, const struct seccomp_notif *notification)
{
	const struct sb_performer *performer = broker->performer;
	struct shot shot = {.performer = performer,
			    .id = notification->id,
			    .thread = (pid_t)notification->pid,
			    .self = -1,
			    .own = process_of(performer, (pid_t)notification->pid)};
	int error;

	switch (notification->data.nr) {
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
	case SYS_rt_sigqueueinfo:
	case SYS_rt_tgsigqueueinfo:
	case SYS_pidfd_send_signal:
		break;
	default:
		return false;
	}
	error = shot.own > 0 ? serve(&shot, notification->data.nr, notification->data.args) : ESRCH;
	if (error < 0)
		sb_sys_notify_continue(performer->listener, notification->id);
	else if (error)
		sb_sys_notify_fail(performer->listener, notification->id, error);
	else
		sb_sys_notify_return(performer->listener, notification->id, 0);
	if (shot.self >= 0) {
		sb_sys_signal_process(shot.self, shot.number, shot.info);
		close(shot.self);
	}
	return true;
}
