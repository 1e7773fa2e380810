#include "supervise/deputy.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys/notify.h"
#include "sys/process.h"

#define STACK (256 * 1024) /* as a server's */
#define IN_A_ROW 24        /* calls of one caller before the deputy is sent */
#define GAP_MS 8           /* a longer pause ends the row */
#define LOOK_MS 2          /* how often the server looks after it ... */
#define PATIENCE 2         /* ... how many looks without progress it takes ... */
#define QUIET 3            /* ... and how many without a request */
#define FIRST_PAUSE_MS 1000
#define LAST_PAUSE_MS 128000
#define COME_BACK SIGRTMAX /* does nothing but end the receiving call */

/*
 * SECURITY: the signal reaches the deputy in the receiving call, and nowhere else.
 *
 * Danger: while it hands a descriptor over, the kernel would take the call for answered, with none:
 * the caller's open() would give 0.
 * Price: two changes of a word in memory per request.
 * Held by: tests/supervise/storm.py, by chance only: no test can hit that moment at will.
 *
 * WAITING may become CALLED, by the server, which sends the signal and makes it WAITING again; and
 * BUSY, by the deputy, once it is not CALLED.
 */
enum state { BUSY, WAITING, CALLED };

struct sb_deputy {
	struct sb_deputy_place place;
	bool made, failed;
	bool out;     /* sent, and not known to be back */
	sem_t go;     /* to the deputy */
	int back;     /* eventfd: it is */
	bool revoked; /* it is to come back after what it is at */
	enum state state;
	unsigned called; /* signals sent so far */
	pid_t thread, caller;
	unsigned turn;
	/* the row so far, and when the next may be served by the deputy */
	pid_t last;
	unsigned in_a_row;
	int64_t last_ms, not_before_ms, pause_ms;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_asked_for(int listener)
{
	struct pollfd wait = {listener, POLLIN, 0};

	return poll(&wait, 1, 0) == 1 && wait.revents == POLLIN;
}

static bool change_state(struct sb_deputy *deputy, enum state from, enum state to)
{
	return __atomic_compare_exchange_n(&deputy->state, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/* It waits in the receiving call, which only a signal ends: poll() before would cost every call. */
static int receive(struct sb_deputy *deputy, struct seccomp_notif *out)
{
	unsigned called = __atomic_load_n(&deputy->called, __ATOMIC_ACQUIRE);
	int status;

	__atomic_store_n(&deputy->state, WAITING, __ATOMIC_RELEASE);
	status = sb_sys_notify_receive(deputy->place.performer->listener, out);
	while (!change_state(deputy, WAITING, BUSY))
		sched_yield();
	/* a signal that was sent is taken at the end of the next call at the latest */
	if (called != __atomic_load_n(&deputy->called, __ATOMIC_ACQUIRE))
		syscall(SYS_gettid);
	return status;
}

static void work(struct sb_deputy *deputy, struct sb_cwd *cwd)
{
	const struct sb_deputy_place *place = &deputy->place;
	struct seccomp_notif notification;
	pid_t caller = deputy->caller;
	bool more = true;

	while (more && caller == deputy->caller &&
	       !__atomic_load_n(&deputy->revoked, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(place->turn, __ATOMIC_ACQUIRE) == deputy->turn) {
		int status = receive(deputy, &notification);

		more = place->serve(place->context, cwd, &notification, status, &caller);
	}
}

static void ignore(int number)
{
	(void)number;
}

/* All signals are blocked in the threads of the performer. */
static bool listen_to_signal(void)
{
	const struct sigaction action = {.sa_handler = ignore}; /* no SA_RESTART */
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, COME_BACK);
	return sigaction(COME_BACK, &action, NULL) == 0 &&
	       pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0;
}

static void *deputy_main(void *argument)
{
	struct sb_deputy *deputy = argument;
	const struct sched_param none = {0};
	struct sb_cwd cwd = SB_CWD_NONE;
	const uint64_t one = 1;

	deputy->thread = (pid_t)syscall(SYS_gettid); /* read once we have been WAITING */
	/* not sched_setscheduler(): musl's does nothing */
	if (sb_broker_enter(deputy->place.broker) < 0 || !listen_to_signal() ||
	    syscall(SYS_sched_setscheduler, 0, SCHED_IDLE, &none) != 0)
		__atomic_store_n(&deputy->failed, true, __ATOMIC_RELEASE);
	for (;;) {
		while (sem_wait(&deputy->go) != 0)
			;
		if (!__atomic_load_n(&deputy->failed, __ATOMIC_ACQUIRE))
			work(deputy, &cwd);
		sb_cwd_forget(&cwd);
		if (write(deputy->back, &one, sizeof one) < 0)
			__atomic_store_n(&deputy->failed, true, __ATOMIC_RELEASE);
	}
	return NULL;
}

struct sb_deputy *sb_deputy_new(const struct sb_deputy_place *place)
{
	struct sb_deputy *deputy = calloc(1, sizeof *deputy);

	if (!deputy)
		return NULL;
	deputy->place = *place;
	deputy->pause_ms = FIRST_PAUSE_MS;
	deputy->back = -1;
	return deputy;
}

static bool make_thread(struct sb_deputy *deputy)
{
	deputy->made = true;
	deputy->back = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return deputy->back >= 0 && sem_init(&deputy->go, 0, 0) == 0 &&
	       sb_sys_start_own_thread(STACK, deputy_main, deputy);
}

/* Is it back, now or within this time? */
static bool is_back(struct sb_deputy *deputy, int timeout_ms)
{
	struct pollfd wait = {deputy->back, POLLIN, 0};
	uint64_t count;

	if (deputy->out && poll(&wait, 1, timeout_ms) == 1 &&
	    read(deputy->back, &count, sizeof count) == sizeof count)
		deputy->out = false;
	return !deputy->out;
}

/*
 * Should the signal come before the receiving call, the deputy stays there until the next look, which
 * sends another, or until the next request, serves that one, and comes back.
 */
static void call_back(struct sb_deputy *deputy)
{
	__atomic_store_n(&deputy->revoked, true, __ATOMIC_RELEASE);
	if (!change_state(deputy, WAITING, CALLED))
		return;
	__atomic_fetch_add(&deputy->called, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_tkill, deputy->thread, COME_BACK);
	__atomic_store_n(&deputy->state, WAITING, __ATOMIC_RELEASE);
}

bool sb_deputy_is_due(struct sb_deputy *deputy, pid_t caller)
{
	int64_t now;

	if (!deputy || __atomic_load_n(&deputy->failed, __ATOMIC_ACQUIRE) || !caller)
		return false;
	now = now_ms();
	if (caller != deputy->last || now - deputy->last_ms > GAP_MS)
		deputy->in_a_row = 0;
	deputy->last = caller;
	deputy->last_ms = now;
	if (++deputy->in_a_row < IN_A_ROW)
		return false;
	deputy->in_a_row = 0;
	if (!is_back(deputy, 0)) {
		call_back(deputy); /* the last signal may have come too early */
		return false;
	}
	return now >= deputy->not_before_ms;
}

/* The machine is busy: do not try again too soon. */
static void wait_longer(struct sb_deputy *deputy)
{
	deputy->not_before_ms = now_ms() + deputy->pause_ms;
	if (deputy->pause_ms < LAST_PAUSE_MS)
		deputy->pause_ms *= 2;
}

void sb_deputy_send(struct sb_deputy *deputy, pid_t caller, unsigned turn)
{
	const struct sb_deputy_place *place = &deputy->place;
	unsigned before = __atomic_load_n(place->requests, __ATOMIC_RELAXED), still = 0, quiet = 0;

	if (!deputy->made && !make_thread(deputy)) {
		__atomic_store_n(&deputy->failed, true, __ATOMIC_RELEASE);
		return;
	}
	deputy->caller = caller;
	deputy->turn = turn;
	deputy->out = true;
	__atomic_store_n(&deputy->revoked, false, __ATOMIC_RELEASE);
	sem_post(&deputy->go);
	while (!is_back(deputy, LOOK_MS)) {
		unsigned now = __atomic_load_n(place->requests, __ATOMIC_RELAXED);
		bool asked = __atomic_load_n(&deputy->state, __ATOMIC_ACQUIRE) == BUSY ||
			     is_asked_for(place->performer->listener);
		bool replaced = __atomic_load_n(place->turn, __ATOMIC_ACQUIRE) != turn;

		still = asked && now == before ? still + 1 : 0;
		quiet = !asked && now == before ? quiet + 1 : 0;
		before = now;
		if (still == PATIENCE || quiet >= QUIET || replaced)
			call_back(deputy);
		if (still == PATIENCE)
			wait_longer(deputy);
		if (still == PATIENCE || replaced)
			return;
	}
}
