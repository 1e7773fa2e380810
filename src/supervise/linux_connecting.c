#include "supervise/connecting.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "supervise/performer.h"

#define MAX_CONNECTING 4096
#define LOOK_MS 20 /* how often we look whether they still wait */
#define LOOKS 64   /* ... so many of them at a time */
#define IDLE 50    /* looks at nobody, before it sleeps until it is woken */

static struct {
	pthread_mutex_t lock;
	int epoll, wake;
	bool started, asleep;
	struct sb_connecting *all[MAX_CONNECTING];
	size_t count;
} crowd = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void leave(struct sb_connecting *it)
{
	/* the command has the same socket open: closing ours ends no events */
	epoll_ctl(crowd.epoll, EPOLL_CTL_DEL, it->socket, NULL);
	pthread_mutex_lock(&crowd.lock);
	crowd.all[it->place] = crowd.all[--crowd.count];
	crowd.all[it->place]->place = it->place;
	pthread_mutex_unlock(&crowd.lock);
	it->finish(it);
}

/* Some of them, and the next ones next time. */
static void look_around(size_t *next)
{
	for (int i = 0; i < LOOKS; i++) {
		struct sb_connecting *it = NULL;

		pthread_mutex_lock(&crowd.lock);
		if (*next < crowd.count)
			it = crowd.all[(*next)++];
		pthread_mutex_unlock(&crowd.lock);
		if (!it) {
			*next = 0;
			return;
		}
		if (it->look(it, false)) {
			(*next)--; /* the last one has its place now */
			leave(it);
		}
	}
}

/* How long to wait: whoever comes while we sleep wakes us. */
static int pause_ms(int *idle)
{
	pthread_mutex_lock(&crowd.lock);
	*idle = crowd.count ? 0 : *idle + 1;
	crowd.asleep = *idle > IDLE;
	pthread_mutex_unlock(&crowd.lock);
	return *idle > IDLE ? -1 : LOOK_MS;
}

static void *wait_for_all(void *unused)
{
	int64_t looked_ms = sb_now_ms();
	size_t next = 0;
	int idle = 0;

	for (;;) {
		struct epoll_event events[LOOKS];
		int ready = epoll_wait(crowd.epoll, events, LOOKS, pause_ms(&idle));
		uint64_t woken;

		for (int i = 0; i < ready; i++) {
			struct sb_connecting *it = events[i].data.ptr;

			idle = 0;
			if (it && it->look(it, true))
				leave(it);
			else if (!it && read(crowd.wake, &woken, sizeof woken) < 0)
				continue;
		}
		if (sb_now_ms() - looked_ms >= LOOK_MS) {
			looked_ms = sb_now_ms();
			look_around(&next);
		}
	}
	return unused;
}

static bool start(struct sb_broker *broker)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (crowd.started)
		return true;
	crowd.epoll = epoll_create1(EPOLL_CLOEXEC);
	crowd.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	crowd.started = crowd.epoll >= 0 && crowd.wake >= 0 &&
			epoll_ctl(crowd.epoll, EPOLL_CTL_ADD, crowd.wake, &event) == 0 &&
			sb_broker_wait(broker, wait_for_all, NULL);
	if (!crowd.started) {
		close(crowd.epoll);
		close(crowd.wake);
	}
	return crowd.started;
}

bool sb_connecting_add(struct sb_broker *broker, struct sb_connecting *it)
{
	struct epoll_event event = {.events = EPOLLOUT, .data.ptr = it};
	const uint64_t one = 1;
	bool added, asleep = false;

	pthread_mutex_lock(&crowd.lock);
	added = start(broker) && crowd.count < MAX_CONNECTING;
	if (added) {
		it->place = crowd.count;
		crowd.all[crowd.count++] = it;
		asleep = crowd.asleep;
		crowd.asleep = false;
		/* under the lock: it may be over before this returns */
		added = epoll_ctl(crowd.epoll, EPOLL_CTL_ADD, it->socket, &event) == 0;
		crowd.count -= !added;
	}
	pthread_mutex_unlock(&crowd.lock);
	if (asleep && write(crowd.wake, &one, sizeof one) < 0)
		asleep = false; /* it is full: then it is awake */
	return added;
}
