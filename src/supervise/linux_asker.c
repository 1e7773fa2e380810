/*
 * linux_asker.c - the supervisor's unconfined half: its loop and its record.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "consent/agreed.h"
#include "supervise/asker_impl.h"
#include "supervise/contacts.h"
#include "supervise/linger.h"
#include "supervise/owed.h"
#include "supervise/pending.h"
#include "supervise/spares.h"
#include "supervise/supervise.h"
#include "supervise/leftovers.h"
#include "supervise/trace.h"
#include "supervise/unseen.h"
#include "supervise/wire.h"
#include "sys/notify.h"
#include "sys/process.h"

/* How often a job in the background looks whether it has the terminal again: a shell sends no
 * SIGCONT to one that runs. */
#define FOREGROUND_MS 200

/* --- the record ------------------------------------------------------------------------- */

static int open_record(struct asker *asker, struct sb_error *err)
{
	const struct sb_supervision *supervision = asker->supervision;
	int status = sb_audit_open(supervision->home->state_dir, supervision->session_name,
				   &asker->approver.audit, err);

	if (status != SB_OK)
		asker->approver.audit = NULL;
	else
		sb_audit_of_worker(asker->approver.audit, supervision->worker);
	return status;
}

/*
 * All that can be done before the command is there, while the performer prepares it.  Not before
 * that runs: a new process often begins where its parent is, and waits until that waits.
 */
static void prepare_record(struct asker *asker)
{
	struct sb_error err;

	sb_record_hash(asker->supervision->policy, asker->policy_hash);
	if (!asker->approver.audit)
		open_record(asker, &err); /* if not, it is tried once more, and said */
}

/* What was said yes to before there was a record: --ask-first. */
static void record_agreed(struct asker *asker)
{
	const struct sb_agreed_list *agreed = asker->supervision->agreed;

	for (size_t i = 0; agreed && i < agreed->count; i++) {
		struct sb_event event = {.kind = SB_EVENT_ANSWER,
					 .op = sb_op_name(agreed->all[i].op),
					 .act = "ask first",
					 .path = agreed->all[i].path,
					 .answer = sb_answer_name(SB_ANSWER_ONCE),
					 .by = "terminal"};

		sb_approver_record(&asker->approver, &event);
	}
}

static void record_start(struct asker *asker, const struct sb_layers *layers)
{
	const struct sb_supervision *supervision = asker->supervision;
	const struct sb_event run = {.command = supervision->command,
				     .directory = sb_supervision_directory(supervision),
				     .policy_hash = asker->policy_hash};
	struct sb_error err;

	if ((!asker->approver.audit && open_record(asker, &err) != SB_OK) ||
	    sb_record_start(asker->approver.audit, run, supervision->policy, layers, &err) !=
		    SB_OK) {
		/* there was room for it a moment ago; it may have begun, and goes no further */
		if (supervision->require_audit) {
			*asker->err = err;
			asker->failure = err.code;
			asker->ended = true;
		} else {
			sb_approver_tell(&asker->approver, &err);
		}
	}
	if (asker->approver.audit)
		record_agreed(asker);
}

static void record_exit(struct asker *asker)
{
	struct sb_event event = {.kind = SB_EVENT_EXIT,
				 .has_status = true,
				 .status = WIFSIGNALED(asker->status)
						   ? 128 + WTERMSIG(asker->status)
						   : WEXITSTATUS(asker->status),
				 .counters = &asker->approver.counters};

	if (asker->started && asker->status >= 0)
		sb_approver_record(&asker->approver, &event);
	sb_audit_close(asker->approver.audit);
}

/* --- the loop ----------------------------------------------------------------------------- */

static void tell(const struct asker *asker, enum sb_wire_kind kind, int number)
{
	struct sb_wire_message message = {.kind = kind, .number = number};

	sb_wire_send(asker->channel, &message, -1);
}

static bool in_foreground(const struct asker *asker)
{
	return asker->tty >= 0 && tcgetpgrp(asker->tty) == getpgrp();
}

/* The command was stopped: so are we, until somebody lets us go on. */
static void stop(const struct asker *asker)
{
	bool foreground;

	if (asker->terminal)
		sb_terminal_suspend(asker->terminal);
	else if (asker->tty >= 0)
		tcsetpgrp(asker->tty, getpgrp());
	raise(SIGSTOP);
	foreground = in_foreground(asker);
	if (asker->terminal && foreground)
		sb_terminal_resume(asker->terminal);
	else if (asker->terminal)
		sb_terminal_background(asker->terminal);
	tell(asker, SB_WIRE_CONTINUE, asker->terminal || foreground);
}

static void add_counters(struct sb_counters *counters, const struct sb_wire_counters *performed)
{
	for (int op = 0; op < SB_OP_COUNT; op++) {
		counters->seen[op] = performed->seen[op];
		counters->allowed[op] += performed->allowed[op]; /* to what we did ourselves */
	}
}

/* The command's terminal, before the command is there; a second one is none of ours. */
static void take_master(struct asker *asker, int *fd)
{
	if (*fd < 0 || !asker->own_terminal || asker->master >= 0 || asker->started)
		return;
	asker->master = sb_take_fd(fd);
	asker->approver.terminals[0] = sb_terminal_of_master(asker->master);
	asker->failure = sb_asker_open_terminal(asker, asker->err);
	asker->ended = asker->failure != SB_OK;
}

/* Before the command is there, as the terminal. */
static void take_gate(struct asker *asker, int *fd)
{
	if (*fd >= 0 && !asker->peers && !asker->started && asker->supervision->plan->gate)
		asker->peers = sb_peers_open(&asker->approver, sb_take_fd(fd));
}

static void hear(struct asker *asker)
{
	struct sb_wire_message message;
	struct sb_wire_request *request = asker->spare ? asker->spare : sb_wire_request_new();
	SB_AUTO_FD int fd = -1;
	int status = request ? sb_wire_receive(asker->channel, &message, request, &fd) : -ENOMEM;

	if (status < 0 && request)
		sb_wire_request_done(request);
	if (status == -EMFILE) {
		sb_pending_fail(&asker->approver, &request->call, EMFILE);
	} else if (status == -EBADMSG) {
		;                /* not one of ours: nothing it asks for is done */
	} else if (status < 0) { /* the performer is gone without a word of the command's end */
		asker->ended = true;
	} else if (message.kind == SB_WIRE_REQUEST) {
		sb_approve(&asker->approver, request);
		request = NULL;
	} else if (message.kind == SB_WIRE_NOTE) {
		sb_approver_note(&asker->approver, sb_wire_weight(&message), request->call.text);
	} else if (message.kind == SB_WIRE_UNSEEN && asker->supervision->plan->tells_hidden) {
		sb_unseen_heard(&asker->approver, &message, request->call.text);
	} else if (message.kind == SB_WIRE_ALLOWED && asker->supervision->plan->tells_allowed) {
		sb_allowed_heard(&asker->approver, &message, request->call.text);
	} else if (message.kind == SB_WIRE_HOST && asker->peers) {
		sb_contact_refused_inside(&asker->approver, message.init, request->call.text);
	} else if (message.kind == SB_WIRE_BORN && !asker->started) {
		prepare_record(asker);
	} else if (message.kind == SB_WIRE_TERMINAL) {
		take_master(asker, &fd);
	} else if (message.kind == SB_WIRE_GATE) {
		take_gate(asker, &fd);
	} else if (message.kind == SB_WIRE_STARTED && !asker->started) {
		asker->started = true;
		asker->approver.listener = sb_take_fd(&fd);
		if (message.layers.spares >= 0)
			sb_spares_begin(asker->supervision->policy, asker->supervision->plan);
		record_start(asker, &message.layers);
		asker->socket_ms = sb_now_ms() + OPEN_SOCKET_MS;
		if (asker->supervision->has_client) /* it is to hear the first question */
			sb_asker_open_socket(asker);
	} else if (message.kind == SB_WIRE_STOPPED) {
		stop(asker);
	} else if (message.kind == SB_WIRE_ENDED) {
		asker->status = message.number;
		asker->init = message.init;
		asker->ended = true;
		add_counters(&asker->approver.counters, &message.counters);
	}
	asker->spare = request;
}

/*
 * Who is a container's first process inherits the orphans of everybody in it ("docker exec"), and
 * nobody else waits for them.  The performer's end is left for reap().
 */
static void reap_strangers(const struct asker *asker)
{
	siginfo_t ended = {0};

	while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
	       ended.si_pid > 0 && ended.si_pid != asker->performer) {
		waitpid(ended.si_pid, NULL, __WALL);
		ended.si_pid = 0;
	}
}

static void take_signals(struct asker *asker)
{
	struct signalfd_siginfo info;

	while (read(asker->signals, &info, sizeof info) == sizeof info) {
		int signal = (int)info.ssi_signo;

		/* a record of ours was too long for the limit on files: an error, and not the
		 * command's */
		if (signal == SIGXFSZ && info.ssi_pid == (uint32_t)getpid())
			continue;
		if (signal == SIGCHLD && getpid() == 1)
			reap_strangers(asker);
		if (signal == SIGWINCH && asker->terminal)
			sb_terminal_resized(asker->terminal);
		else if (signal != SIGCHLD && signal != SIGCONT && signal != SIGWINCH &&
			 signal != SIGTTOU && signal != SIGTTIN && signal != SIGPIPE)
			tell(asker, SB_WIRE_SIGNAL, signal);
	}
}

static int shorter(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

static void loop(struct asker *asker)
{
	while (!asker->ended) {
		struct pollfd wait[2 + SB_TERMINAL_FDS + SB_SOCKET_FDS + SB_PEERS_FDS] = {
			{asker->channel, POLLIN, 0}, {asker->signals, POLLIN, 0}};
		size_t count = 2, others, peers;
		int timeout = shorter(sb_approver_timeout_ms(&asker->approver),
				      sb_asker_socket_timeout_ms(asker));

		if (asker->terminal && sb_terminal_in_background(asker->terminal)) {
			timeout = shorter(timeout, FOREGROUND_MS);
			if (in_foreground(asker))
				sb_terminal_resume(asker->terminal);
		}
		if (asker->terminal) {
			count += sb_terminal_poll(asker->terminal, wait + 2);
			timeout = shorter(timeout, sb_terminal_timeout_ms(asker->terminal));
		}
		others = count;
		if (asker->socket)
			count += sb_socket_poll(asker->socket, wait + others);
		peers = count;
		if (asker->peers) {
			count += sb_peers_poll(asker->peers, wait + peers);
			timeout = shorter(timeout, sb_peers_timeout_ms(asker->peers));
		}
		if (poll(wait, count, timeout) < 0 && errno != EINTR)
			break;
		if (wait[1].revents)
			take_signals(asker);
		if (asker->terminal)
			sb_terminal_handle(asker->terminal, wait + 2, others - 2);
		if (asker->terminal && sb_terminal_gone(asker->terminal) && asker->master >= 0) {
			close(asker->master); /* hangs up the command */
			asker->master = -1;
			sb_terminal_close(asker->terminal);
			asker->terminal = NULL;
		}
		sb_asker_tend_socket(asker, wait + others, peers - others);
		if (asker->peers && count > peers) {
			sb_peers_handle(asker->peers, wait + peers, count - peers);
			sb_peers_tick(asker->peers);
		}
		if (wait[0].revents)
			hear(asker);
		if (asker->approver.pending || asker->approver.waiting)
			sb_approver_tick(&asker->approver);
		sb_approver_tell_standing(&asker->approver, asker->socket);
	}
}

/*
 * It ends beside the performer, and not before everybody of its namespace was waited for: also those
 * who were the performer's children (clone(2), CLONE_PARENT) and are ours now.
 */
static void await_init(pid_t init)
{
	pid_t pid;

	do {
		pid = waitpid(-1, NULL, __WALL);
	} while (pid < 0 ? errno == EINTR : pid != init);
}

/* Whoever waits for us is not to wait until the mounts of a worker's view are taken apart. */
static void leave_view(const struct asker *asker)
{
	int space = -1;

	if (asker->supervision->plan->view)
		space = openat(asker->approver.proc, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (space >= 0)
		sb_sys_close_later(&space, 1);
}

/*
 * What the performer exited with; it has ended everything else before.  If it was killed, at whatever
 * moment, that is ours to do: what it leaves we adopt.  Other children are the caller's, from before it
 * became sandbash.
 */
static int reap(const struct asker *asker)
{
	int status = 0;

	if (asker->started && asker->status < 0)
		kill(asker->performer, SIGKILL);
	while (waitpid(asker->performer, &status, __WALL) < 0 && errno == EINTR)
		;
	if ((asker->started && asker->status < 0) || WIFSIGNALED(status))
		sb_sys_end_children(asker->approver.proc);
	else if (asker->init > 0)
		await_init(asker->init);
	sb_leftovers_remove();
	sb_spares_end();
	leave_view(asker);
	return status;
}

/* Signals we pass on wait in a descriptor; the others keep what the caller gave them. */
static void block_signals(sigset_t *out_saved, int *out_signals)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
	sigset_t passed;

	sigfillset(&passed);
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		sigdelset(&passed, own[i]);
	/* not sigprocmask(): musl's leaves out the signals that it uses itself */
	sigemptyset(out_saved);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &passed, out_saved, NSIG / 8);
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

/* --- the life of a run ------------------------------------------------------------------------ */

/* Standard input and output are the command's: who waits for their end must not wait for us. */
static void let_go_of_stdio(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		if (null > STDERR_FILENO)
			close(null);
	}
}

static void init_asker(struct asker *asker, const struct sb_supervision *supervision, int proc)
{
	*asker = (struct asker){.supervision = supervision,
				.master = -1,
				.channel = -1,
				.signals = -1,
				.tty = -1,
				.status = -1};
	asker->approver = (struct sb_approver){
		.policy = supervision->policy,
		.grounds = &asker->grounds,
		.channel = -1,
		.home = supervision->home,
		.project = supervision->title ? supervision->title : supervision->projects[0],
		.worker = supervision->worker,
		.agreed = supervision->agreed,
		.asking = sb_asker_asking(asker),
		.timeout_ms = supervision->ask_timeout_ms,
		.summary = supervision->summary,
		.session = supervision->session,
		.sockets = supervision->sockets,
		.socket_count = supervision->socket_count,
		.variable = supervision->variable,
		.proc = proc,
		.listener = -1,
	};
}

static int make_judge(struct asker *asker, struct sb_error *err)
{
	const struct sb_supervision *supervision = asker->supervision;
	const struct sb_guard_home home = {supervision->home->home,
					   (const char *const *)supervision->home->git_settings,
					   sb_home_others(supervision->home),
					   supervision->plan->view, supervision->plan->shadowed};
	int status = sb_grounds_guard_later(supervision->policy, supervision->projects, &home,
					    &asker->guard, err);

	if (status != SB_OK)
		return status;
	sb_grounds_init(&asker->grounds, supervision->policy, asker->guard);
	asker->grounds.watches = sb_linger_watches;
	asker->grounds.view = supervision->plan->view;
	asker->grounds.shadowed = supervision->plan->shadowed;
	asker->grounds.own_temp = sb_own_temp_new();
	asker->grounds.own_sockets = sb_own_sockets_new();
	if (!asker->grounds.own_temp || !asker->grounds.own_sockets)
		return sb_fail(err, SB_E_NOMEM, errno, "out of memory");
	return SB_OK;
}

/* After the performer is born: what only the asker does. */
static int settle(struct asker *asker, struct sb_error *err)
{
	sb_guard_look(asker->guard); /* the performer waits for it at its first change */
	let_go_of_stdio();
	sb_sys_raise_files();
	/* as root: what is done outside on approval needs no more than root's own files */
	sb_perform_note(asker->grounds.own_temp);
	sb_bind_note(asker->grounds.own_sockets);
	sb_owed_is_asker();
	if (sb_sys_keep_capabilities(0) < 0 || fchdir(asker->approver.proc) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot give up privileges");
	return SB_OK;
}

static void note_change(void *context, const char *line)
{
	sb_approver_note(context, SB_NOTE_GRAVE, line);
}

/* Has anything been done at all?  Most short commands change nothing, and need no look at the end. */
static bool may_have_changed(const struct asker *asker)
{
	const struct sb_counters *counters = &asker->approver.counters;

	/* gone without a word, or with others that go on */
	if (asker->status < 0 || asker->supervision->keep_background)
		return true;
	for (int op = 0; op < SB_OP_COUNT; op++)
		if (op != SB_READ && (counters->allowed[op] || counters->approved[op]))
			return true;
	return false;
}

static void finish(struct asker *asker)
{
	const struct sb_telling telling = {asker->supervision->policy, sb_approver_note,
					   &asker->approver};

	sb_linger_end(&telling, asker->approver.proc);
	if (asker->guard && may_have_changed(asker))
		sb_guard_changes(asker->guard, note_change, &asker->approver);
	if (asker->terminal)
		sb_terminal_drain(asker->terminal);
	if (asker->started && asker->supervision->left)
		asker->supervision->left(asker->supervision->context,
					 asker->terminal ? sb_terminal_modes(asker->terminal)
							 : NULL);
	if (asker->terminal) {
		sb_terminal_close(asker->terminal);
	} else if (asker->tty >= 0) {
		tcsetpgrp(asker->tty, getpgrp());
	}
	sb_peers_close(asker->peers);
	asker->peers = NULL;
	sb_socket_close(asker->socket);
	sb_approver_done(&asker->approver);
	sb_guard_free(asker->guard);
	sb_auto_close(&asker->approver.listener);
	close(asker->channel);
	sb_wire_request_free(asker->spare);
	asker->spare = NULL;
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
	/* not O_PATH: poll() does not see such (enforce/linux_fds.c) */
	SB_AUTO_FD int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sb_birth birth = {
		.policy = supervision->policy,
		.grounds = &asker.grounds,
		.stages = &stages,
		.proc = proc,
		.tty = -1,
		.keep_background = supervision->keep_background,
		.saved_mask = &saved,
		.failed = supervision->failed,
		.start = supervision->start,
		.context = supervision->context,
	};
	int status, performer;

	init_asker(&asker, supervision, proc);
	if (supervision->has_trace)
		sb_trace_begin(supervision->trace);
	if (proc < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot open /proc");
	status = sb_stages_begin(&stages, err);
	if (status == SB_OK && sb_owed_begin(layers.interrupts, proc) < 0)
		status = sb_fail(err, SB_E_NOMEM, errno, "out of memory");
	if (status == SB_OK)
		status = sb_approver_init(&asker.approver, err);
	if (status == SB_OK)
		status = make_judge(&asker, err);
	if (status == SB_OK && supervision->require_audit)
		status = open_record(&asker, err);
	if (status == SB_OK && supervision->require_audit)
		status = sb_audit_reserve(asker.approver.audit, err);
	if (status != SB_OK)
		sb_audit_close(asker.approver.audit);
	if (status != SB_OK)
		return status;
	sb_asker_take_terminal(&asker, &birth);
	sb_asker_note_terminals(&asker);
	sigaction(SIGCHLD, NULL, &child);
	birth.child_ignored = child.sa_handler == SIG_IGN;
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	block_signals(&saved, &asker.signals);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	sb_spares_name(supervision->home->state_dir, supervision->plan);
	status = sb_leftovers_begin() ? sb_birth(&birth, &asker.channel, &asker.performer, err)
				      : sb_no_memory(err);
	if (status != SB_OK)
		return status;
	asker.approver.channel = asker.channel;
	asker.err = err;
	status = settle(&asker, err);
	if (status == SB_OK) {
		loop(&asker);
		status = asker.failure;
	}
	finish(&asker);
	record_exit(&asker); /* while the performer ends everything */
	performer = reap(&asker);
	if (status != SB_OK)
		return status;
	if (asker.started && asker.status < 0)
		return sb_fail(err, SB_E_SYSTEM, 0, "the supervisor died; the command was ended");
	*out_status = asker.started ? asker.status : performer;
	return SB_OK;
}
