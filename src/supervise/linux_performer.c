#include "supervise/performer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "enforce/linux_seccomp.h"
#include "supervise/deputy.h"
#include "supervise/proc_name.h"
#include "supervise/linger.h"
#include "supervise/meaning.h"
#include "supervise/leftovers.h"
#include "sys/notify.h"
#include "sys/process.h"

#define SERVER_STACK (256 * 1024) /* two calls with their paths, and some */
#define TICK_MS 200               /* how often we look whether the server is stuck */
#define MAX_SERVERS 64

/*
 * One thread serves at a time: with two in the receiving ioctl every request would wake both.
 * turn says whose turn it is; a server that has been at one request for a whole tick (a hung
 * network filesystem) loses its turn to a new one, and ends when it comes back.
 */
struct crew {
	struct sb_broker broker;
	unsigned turn;     /* number of the thread that serves */
	unsigned requests; /* taken so far */
	bool busy;         /* with one of them */
	unsigned servers;  /* threads alive */
	sem_t begin;       /* the listener is there */
	struct sb_deputy *deputy;
};

struct server {
	struct crew *crew;
	unsigned turn;
};

/* The answer to a receiving call.  False: there will be no more requests. */
static bool serve_received(struct crew *crew, struct sb_cwd *cwd,
			   const struct seccomp_notif *notification, int status, pid_t *out_caller)
{
	int listener = crew->broker.performer->listener;

	*out_caller = 0;
	if (status == -EBADF || status == -EINVAL)
		return false;
	if (status < 0) {
		struct pollfd gone = {listener, POLLIN, 0};

		/* ENOENT: the caller was killed, or nobody is left to be held */
		return !(poll(&gone, 1, 0) == 1 && (gone.revents & POLLHUP));
	}
	*out_caller = (pid_t)notification->pid;
	sb_broker_serve(&crew->broker, cwd, notification);
	return true;
}

/* The server's own.  False: there will be no more, or it is another's turn. */
static bool serve_one(struct crew *crew, unsigned turn, struct sb_cwd *cwd, pid_t *out_caller)
{
	struct seccomp_notif notification;
	int status = sb_sys_notify_receive(crew->broker.performer->listener, &notification);
	bool more;

	__atomic_store_n(&crew->busy, true, __ATOMIC_RELEASE);
	more = serve_received(crew, cwd, &notification, status, out_caller);
	if (__atomic_load_n(&crew->turn, __ATOMIC_ACQUIRE) != turn)
		return false;
	__atomic_fetch_add(&crew->requests, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&crew->busy, false, __ATOMIC_RELEASE);
	return more;
}

static bool serve_as_deputy(void *context, struct sb_cwd *cwd,
			    const struct seccomp_notif *notification, int status, pid_t *out_caller)
{
	struct crew *crew = context;
	bool more = serve_received(crew, cwd, notification, status, out_caller);

	__atomic_fetch_add(&crew->requests, 1, __ATOMIC_RELAXED);
	return more;
}

static void *serve(void *argument)
{
	struct server server = *(struct server *)argument;
	struct crew *crew = server.crew;
	struct sb_cwd cwd = SB_CWD_NONE;
	pid_t caller;

	free(argument);
	if (sb_broker_enter(&crew->broker) < 0)
		_exit(1); /* nobody would answer: better all ends */
	while (sem_wait(&crew->begin) != 0)
		;
	sem_post(&crew->begin); /* for those that take over later */
	while (__atomic_load_n(&crew->turn, __ATOMIC_ACQUIRE) == server.turn &&
	       serve_one(crew, server.turn, &cwd, &caller))
		if (sb_deputy_is_due(crew->deputy, caller))
			sb_deputy_send(crew->deputy, caller, server.turn);
	sb_cwd_forget(&cwd);
	__atomic_fetch_sub(&crew->servers, 1, __ATOMIC_RELAXED);
	return NULL;
}

static bool start_server(struct crew *crew)
{
	struct server *server = malloc(sizeof *server);
	bool started;

	if (!server || __atomic_load_n(&crew->servers, __ATOMIC_RELAXED) >= MAX_SERVERS) {
		free(server);
		return false;
	}
	*server = (struct server){crew, crew->turn};
	__atomic_fetch_add(&crew->servers, 1, __ATOMIC_RELAXED);
	started = sb_sys_start_own_thread(SERVER_STACK, serve, server);
	if (!started) {
		__atomic_fetch_sub(&crew->servers, 1, __ATOMIC_RELAXED);
		free(server);
	}
	return started;
}

/* What was seen at the last look at the server. */
struct look {
	long when_ms;
	unsigned requests;
	bool busy;
};

/* Is the server at the same request as a tick ago? */
static void relieve(struct crew *crew, struct look *last)
{
	struct look look = {sb_now_ms(), __atomic_load_n(&crew->requests, __ATOMIC_RELAXED),
			    __atomic_load_n(&crew->busy, __ATOMIC_ACQUIRE)};
	bool stuck = look.busy && last->busy && look.requests == last->requests;

	if (look.when_ms - last->when_ms < TICK_MS)
		return;
	*last = look;
	if (!stuck)
		return;
	last->busy = false;
	__atomic_store_n(&crew->busy, false, __ATOMIC_RELEASE);
	__atomic_fetch_add(&crew->turn, 1, __ATOMIC_RELEASE);
	if (!start_server(crew)) /* then the stuck one has to go on */
		__atomic_fetch_sub(&crew->turn, 1, __ATOMIC_RELEASE);
}

/* Without it INIT ends, and with INIT the whole namespace. */
static void cut_lifeline(struct sb_performer *performer)
{
	sb_auto_close(&performer->lifeline);
}

static void end_all(struct sb_performer *performer)
{
	cut_lifeline(performer);
	if (performer->init) {
		pid_t pid;

		/* INIT is not gone before the command, our child too, has been waited for */
		do {
			pid = waitpid(-1, NULL, __WALL);
		} while (pid > 0 ? pid != performer->init : errno == EINTR);
		performer->init = 0;
	}
	sb_sys_end_children(performer->proc);
}

static void put_in_foreground(const struct sb_performer *performer)
{
	if (performer->tty >= 0)
		tcsetpgrp(performer->tty, performer->target);
}

/*
 * As a shell does when a job stops.  Else a new size of the window would be signalled to the
 * stopped command, and vim, say, that finds SIGWINCH beside SIGCONT does not take the
 * alternate screen again.
 */
static void take_foreground(const struct sb_performer *performer)
{
	if (performer->tty >= 0)
		tcsetpgrp(performer->tty, getpgrp());
}

static struct crew crew; /* the threads outlive every function's frame */

/* Wait until no process under the filter is left. */
static void await_background(const struct sb_performer *performer)
{
	struct pollfd wait = {performer->listener, 0, 0};
	int ready;

	do {
		int staged_ms = sb_staging_wait_ms(&crew.broker.staging);

		ready = poll(&wait, 1, staged_ms < 0 ? TICK_MS : staged_ms);
		sb_stage_sweep(&crew.broker);
	} while (ready == 0 || (ready < 0 && errno == EINTR));
}

/* What the asker says.  False: it is gone. */
static bool obey(struct sb_performer *performer, bool *finish)
{
	struct sb_wire_message message;

	if (sb_wire_receive(performer->channel, &message, NULL, NULL) < 0)
		return false;
	switch (message.kind) {
	case SB_WIRE_SIGNAL:
		kill(performer->target, message.number);
		break;
	case SB_WIRE_CONTINUE:
		put_in_foreground(performer);
		kill(-performer->target, SIGCONT);
		break;
	case SB_WIRE_FINISH:
		*finish = true;
		break;
	case SB_WIRE_STAGE:
		sb_stage_granted(&crew.broker, message.id, message.number == 1);
		break;
	default:
		break;
	}
	return true;
}

/* True: the command has ended, with *status. */
static bool reap(struct sb_performer *performer, int *status)
{
	bool ended = false;
	int one;
	pid_t pid;

	while ((pid = waitpid(-1, &one, WNOHANG | WUNTRACED | __WALL)) > 0) {
		struct sb_wire_message stopped = {.kind = SB_WIRE_STOPPED};

		if (pid == performer->init) /* somebody ended it: nobody has to wait for it */
			performer->init = 0;
		if (pid != performer->target)
			continue;
		if (WIFSTOPPED(one)) {
			take_foreground(performer);
			stopped.number = WSTOPSIG(one);
			sb_wire_send(performer->channel, &stopped, -1);
		} else {
			*status = one;
			ended = true;
		}
	}
	return ended;
}

static int children = -1; /* descriptor: one of ours has ended or stopped */
static int space = -1;    /* descriptor: our mount namespace */

/* Which temporary directories the run has for itself: those that the plan has put a mount on. */
static void note_temp(const struct sb_performer *performer)
{
	const struct sb_plan *plan = performer->plan;
	struct stat info;

	if (!performer->layers->mounts)
		sb_own_temp_share(performer->grounds->own_temp, performer->policy);
	for (size_t i = 0; performer->layers->mounts && i < plan->node_count; i++)
		if (plan->nodes[i].temp && stat(plan->nodes[i].path, &info) == 0)
			sb_own_temp_keep(performer->grounds->own_temp, plan->nodes[i].path,
					 info.st_dev);
}

int sb_performer_prepare(struct sb_performer *performer)
{
	char name[PATH_MAX];
	sigset_t signals;
	int status = sb_staging_init(&crew.broker.staging);

	/* who cannot learn a file's name would refuse everything, without a word */
	if (status == 0)
		status = sb_descriptor_paths_begin(performer->proc);
	if (status == 0)
		status = sb_descriptor_path(performer->proc, performer->proc, name, sizeof name);
	if (status < 0)
		return status;
	/* while nothing is closed to it, as chmod(2) will be to us */
	if ((!performer->layers->mounts || !performer->layers->ipc_namespace) &&
	    !sb_leftovers_guard())
		return -EAGAIN;
	note_temp(performer);
	sb_perform_note(performer->grounds->own_temp);
	sb_bind_note(performer->grounds->own_sockets);
	sb_sys_read_memory_by(performer->proc);
	crew.broker.performer = performer;
	if (performer->layers->no_copies)
		sb_kept_init(&crew.broker.kept);
	pthread_mutex_init(&crew.broker.notes_lock, NULL);
	status = sb_fast_open(&crew.broker.fast, performer->policy, performer->layers);
	if (status < 0)
		return status;
	sb_sys_raise_files();
	sigfillset(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL); /* the threads inherit that */
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	children = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	space = performer->layers->mounts
			? openat(performer->proc, "self/ns/mnt", O_RDONLY | O_CLOEXEC)
			: -1;
	if (children < 0 || fchdir(performer->proc) != 0)
		return -errno;
	if (sb_filter_enter_performer(performer->layers, NULL) != SB_OK ||
	    sb_sys_keep_capabilities(SB_CAPABILITY(CAP_SYS_PTRACE)) < 0)
		return -EPERM;
	sem_init(&crew.begin, 0, 0);
	crew.deputy = sb_deputy_new(&(struct sb_deputy_place){.performer = performer,
							      .turn = &crew.turn,
							      .requests = &crew.requests,
							      .broker = &crew.broker,
							      .serve = serve_as_deputy,
							      .context = &crew});
	return start_server(&crew) ? 0 : -EAGAIN;
}

int sb_performer_run(struct sb_performer *performer)
{
	struct sb_wire_message ended = {.kind = SB_WIRE_ENDED};
	struct look last = {sb_now_ms(), 0, false};
	struct sb_telling telling;
	bool alive = true, finish = false, over;

	sb_sys_notify_sync(performer->listener, true);
	/* signals from before: the command, which waits for its first answer, is to begin with them */
	while (alive && !finish && poll(&(struct pollfd){performer->channel, POLLIN, 0}, 1, 0) > 0)
		alive = obey(performer, &finish);
	sem_post(&crew.begin);
	over = reap(performer, &ended.number); /* before the descriptor was there */
	while (alive && !over && !finish) {
		struct sb_staging *staging = &crew.broker.staging;
		struct pollfd wait[3] = {{children, POLLIN, 0},
					 {performer->channel, POLLIN, 0},
					 {staging->nudge, POLLIN, 0}};
		int staged_ms = sb_staging_wait_ms(staging);
		struct signalfd_siginfo info;

		if (poll(wait, 3, staged_ms < 0 ? TICK_MS : staged_ms) < 0 && errno != EINTR)
			break;
		if (wait[2].revents)
			(void)!read(staging->nudge, &(uint64_t){0}, sizeof(uint64_t));
		else if (staged_ms >= 0)
			sb_stage_sweep(&crew.broker);
		if (wait[0].revents) {
			while (read(children, &info, sizeof info) > 0)
				;
			over = reap(performer, &ended.number);
		}
		if (wait[1].revents)
			alive = obey(performer, &finish);
		relieve(&crew, &last);
	}
	sb_stage_sweep(&crew.broker); /* what it had open when it ended */
	if ((sb_staging_wait_ms(&crew.broker.staging) >= 0 || sb_linger_has_some()) &&
	    !performer->keep_background) {
		end_all(performer); /* and what those have that it leaves */
		sb_stage_sweep(&crew.broker);
	}
	telling = sb_broker_telling(&crew.broker);
	sb_linger_end(&telling, performer->proc);
	if (over && alive) {
		ended.init = performer->init;
		ended.counters = crew.broker.counters;
		sb_wire_send(performer->channel, &ended, -1);
		if (performer->keep_background)
			await_background(performer);
	}
	close(performer->listener);
	/* neither we nor INIT, for whom the asker waits, are to wait until the kernel has taken apart what was mounted */
	sb_sys_close_later((const int[]){space, performer->layers->queues}, 2);
	if (ended.init)
		cut_lifeline(performer); /* both of us end at once */
	else
		end_all(performer);
	sb_acts_finish();
	return 0;
}
