/*
 * linux_wait.c - waiting on a caller's behalf, in a thread of its own, so that others go on.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "supervise/perform.h"
#include "supervise/performer.h"
#include "supervise/thread.h"
#include "sys/notify.h"
#include "sys/process.h"

#define MAX_WAITING 256        /* threads that wait for FIFOs and connections */
#define WAIT_STACK (96 * 1024) /* struct sb_call and two spots, and some */

struct waiter {
	struct sb_broker *broker;
	void *(*work)(void *);
	void *argument;
};

static void *wait_main(void *argument)
{
	struct waiter waiter = *(struct waiter *)argument;

	free(argument);
	if (sb_broker_enter(waiter.broker) == 0)
		waiter.work(waiter.argument);
	__atomic_fetch_sub(&waiter.broker->waiting, 1, __ATOMIC_RELAXED);
	return NULL;
}

bool sb_broker_wait(struct sb_broker *broker, void *(*work)(void *), void *argument)
{
	struct waiter *waiter = malloc(sizeof *waiter);
	bool started = false;

	if (!waiter)
		return false;
	*waiter = (struct waiter){broker, work, argument};
	if (__atomic_add_fetch(&broker->waiting, 1, __ATOMIC_RELAXED) <= MAX_WAITING)
		started = sb_sys_start_own_thread(WAIT_STACK, wait_main, waiter);
	if (!started) {
		__atomic_fetch_sub(&broker->waiting, 1, __ATOMIC_RELAXED);
		free(waiter);
	}
	return started;
}

/*
 * A held call is not interrupted by signals (WAIT_KILLABLE_RECV), but one that waits for
 * somebody else natively is.  So whoever waits here looks for them, and answers as the kernel
 * does: it then runs the handler, and restarts the call or not, as the program asked.
 */
bool sb_broker_interrupted(const struct sb_broker *broker, const struct sb_call *call, int error)
{
	if (!sb_thread_has_signal(broker->performer->proc, call->thread))
		return false;
	sb_broker_fail(broker, call, error);
	return true;
}

struct fifo_wait {
	struct sb_broker *broker;
	struct sb_call call;
	struct sb_spot file;
};

static void *wait_for_reader(void *argument)
{
	struct fifo_wait *wait = argument;
	struct timespec pause = {0, 1000000};

	while (sb_sys_notify_alive(wait->broker->performer->listener, wait->call.id)) {
		struct sb_outcome outcome = sb_perform(&wait->call, &wait->file, NULL);

		if (!outcome.again) {
			if (!outcome.error)
				sb_broker_done(wait->broker, SB_MODIFY);
			sb_deliver(wait->broker->performer->listener, &wait->call, &wait->file,
				   NULL, &outcome);
			break;
		}
		if (sb_broker_interrupted(wait->broker, &wait->call, SB_RESTART))
			break;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 20000000)
			pause.tv_nsec *= 2;
	}
	sb_spot_done(&wait->file);
	free(wait);
	return NULL;
}

void sb_broker_wait_at_fifo(struct sb_broker *broker, const struct sb_call *call,
			    struct sb_spot *file)
{
	struct fifo_wait *wait = malloc(sizeof *wait);

	/* others are served meanwhile, whose current directory is another one */
	if (wait && sb_spot_own(file) == 0) {
		wait->broker = broker;
		wait->call = *call;
		wait->call.value = NULL;
		wait->file = *file;
		if (sb_broker_wait(broker, wait_for_reader, wait)) {
			*file = SB_SPOT_EMPTY; /* the thread's now */
			return;
		}
	}
	free(wait);
	sb_broker_fail(broker, call, ENOMEM);
}
