/*
 * linux_asker.c - the supervisor's unconfined half: its loop, and what it does on request.
 */
#include "supervise/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/approve.h"
#include "supervise/birth.h"
#include "supervise/wire.h"
#include "sys/notify.h"
#include "sys/process.h"

#define OWN_FAILURE 125

struct asker {
	const struct sb_supervision *supervision;
	struct sb_approver approver;
	int channel;
	int signals;
	int tty; /* the caller's terminal that the command was given, or -1 */
	pid_t performer;
	bool started, ended;
	int status; /* the command's, as waitpid() gives it */
};

static void tell(const struct asker *asker, enum sb_wire_kind kind, int number)
{
	struct sb_wire_message message = {.kind = kind, .number = number};

	sb_wire_send(asker->channel, &message, -1);
}

/* The command was stopped: so are we, until somebody lets us go on. */
static void stop(const struct asker *asker)
{
	bool foreground;

	raise(SIGSTOP);
	foreground = asker->tty >= 0 && tcgetpgrp(asker->tty) == getpgrp();
	tell(asker, SB_WIRE_CONTINUE, foreground);
}

static void hear(struct asker *asker)
{
	struct sb_wire_message message;
	SB_AUTO_FREE struct sb_wire_request *request = malloc(sizeof *request);
	int listener = -1, status = request ? sb_wire_receive(asker->channel, &message, request,
							      &listener)
					    : -ENOMEM;

	if (status == -EBADMSG && request) { /* not one of ours: nothing it asks for is done */
		sb_wire_request_done(request);
		return;
	}
	if (status < 0) { /* the performer is gone without a word of the command's end */
		asker->ended = true;
		return;
	}
	switch (message.kind) {
	case SB_WIRE_STARTED:
		asker->started = true;
		asker->approver.listener = listener;
		asker->approver.layers = message.layers;
		break;
	case SB_WIRE_REQUEST:
		sb_approve(&asker->approver, request);
		sb_wire_request_done(request);
		break;
	case SB_WIRE_STOPPED:
		stop(asker);
		break;
	case SB_WIRE_ENDED:
		asker->status = message.number;
		asker->ended = true;
		break;
	default:
		break;
	}
}

static void pass_on(const struct asker *asker)
{
	struct signalfd_siginfo info;

	while (read(asker->signals, &info, sizeof info) == sizeof info) {
		int signal = (int)info.ssi_signo;

		if (signal != SIGCHLD && signal != SIGCONT && signal != SIGWINCH)
			tell(asker, SB_WIRE_SIGNAL, signal);
	}
}

static void loop(struct asker *asker)
{
	while (!asker->ended) {
		struct pollfd wait[2] = {{asker->channel, POLLIN, 0}, {asker->signals, POLLIN, 0}};

		if (poll(wait, 2, -1) < 0 && errno != EINTR)
			break;
		if (wait[1].revents)
			pass_on(asker);
		if (wait[0].revents)
			hear(asker);
	}
}

/* Wait for everything that is left of the run; what the performer exited with. */
static int reap(const struct asker *asker)
{
	int status, performer = OWN_FAILURE << 8;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR)
		if (pid == asker->performer)
			performer = status;
	return performer;
}

/* Signals we pass on wait in a descriptor; the others keep what the caller gave them. */
static void block_signals(sigset_t *out_saved, int *out_signals)
{
	sigset_t passed;

	sigfillset(&passed);
	for (size_t i = 0; i < 9; i++)
		sigdelset(&passed, (const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP,
						 SIGSYS, SIGKILL, SIGSTOP}[i]);
	sigprocmask(SIG_BLOCK, &passed, out_saved);
	*out_signals = signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK);
}

int sb_supervise_possible(struct sb_error *err)
{
	int status = sb_sys_listener_probe();

	if (status == 0)
		return SB_OK;
	if (status == -EBUSY)
		sb_fail(err, SB_E_UNSUPPORTED, 0,
			"cannot supervise the command: another program supervises this one already");
	else
		sb_fail(err, SB_E_UNSUPPORTED, -status,
			"cannot supervise the command: the kernel does not hold system calls");
	return sb_hint(err, "--static runs it with the kernel layers only, and asks nobody");
}

int sb_supervise(const struct sb_supervision *supervision, int *out_status, struct sb_error *err)
{
	static struct sb_weaknesses weak; /* large; nothing else runs here */
	static struct asker asker;
	struct sb_layers layers;
	struct sb_stages stages = {.plan = supervision->plan,
				   .options = supervision->confine,
				   .layers = &layers,
				   .weak = &weak,
				   .supervised = true};
	struct sigaction child;
	sigset_t saved;
	SB_AUTO_FD int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct sb_birth birth = {
		.policy = supervision->policy,
		.stages = &stages,
		.proc = proc,
		.slave = -1,
		.keep_background = supervision->keep_background,
		.saved_mask = &saved,
		.failed = supervision->failed,
		.start = supervision->start,
		.context = supervision->context,
	};
	int status;

	asker = (struct asker){
		.supervision = supervision, .channel = -1, .tty = -1, .status = -1};
	if (proc < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot open /proc");
	status = sb_stages_begin(&stages, err);
	if (status != SB_OK)
		return status;
	sigaction(SIGCHLD, NULL, &child);
	birth.child_ignored = child.sa_handler == SIG_IGN;
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	block_signals(&saved, &asker.signals);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	birth.job_control = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
	if (birth.job_control)
		asker.tty = STDIN_FILENO;
	status = sb_birth(&birth, &asker.channel, &asker.performer, err);
	if (status != SB_OK)
		return status;
	/* as root: what is done outside on approval needs no more than root's own files */
	if (sb_sys_drop_capabilities() < 0 || fchdir(proc) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot give up privileges");
	asker.approver = (struct sb_approver){
		.policy = supervision->policy, .proc = proc, .listener = -1};
	loop(&asker);
	if (asker.tty >= 0)
		tcsetpgrp(asker.tty, getpgrp());
	if (asker.approver.listener >= 0)
		close(asker.approver.listener);
	close(asker.channel);
	status = reap(&asker);
	if (asker.started && asker.status < 0)
		return sb_fail(err, SB_E_SYSTEM, 0, "the supervisor died; the command was ended");
	*out_status = asker.started ? asker.status : status;
	return SB_OK;
}
