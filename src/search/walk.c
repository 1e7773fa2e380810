#include "search/walk.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "search/walk_work.h"

enum {
	BACKLOG_BYTES =
		32 * 1024 * 1024, /* done and not delivered, since something before is not */
	STACK_BYTES = 512 * 1024,
	POLL_MS = 20, /* how soon a cancelled search ends */
};

struct worker {
	struct sb_walk *walk;
	unsigned number;
	pthread_t thread;
};

/* ---- files ---- */

static void visit_items(struct sb_walk *walk, struct sb_work *work, unsigned worker,
			sb_search_handle directory)
{
	SB_AUTO_BUF struct sb_buf path = SB_BUF((size_t)16 * 1024 * 1024);
	size_t prefix;

	sb_buf_puts(&path, work->folder->path);
	if (path.length)
		sb_buf_putc(&path, '/');
	prefix = path.length;
	for (size_t i = 0; i < work->count && !sb_walk_stopped(walk); i++) {
		struct sb_work_item *item = &work->items[i];
		size_t bytes = 0;

		path.length = prefix;
		sb_buf_puts(&path, item->name);
		item->visited = walk->visitor->visit(
			walk->visitor->context, walk, worker,
			&(struct sb_walk_file){path.data, item->name, directory}, &bytes);
		work->bytes += bytes;
	}
}

static void look_into(struct sb_walk *walk, struct sb_work *work, unsigned worker)
{
	const struct sb_search_source *source = walk->source;
	sb_search_handle directory = work->folder->handle;
	bool mine = !work->folder->open;
	bool anything = false;

	if (mine &&
	    source->backend->open_directory(source->context, work->folder->path, &directory) < 0) {
		atomic_fetch_add(&walk->unreadable, work->count);
	} else {
		visit_items(walk, work, worker, directory);
		if (mine)
			source->backend->close_directory(source->context, directory);
	}
	sb_work_release_opener(walk, work);
	for (size_t i = 0; i < work->count; i++)
		anything |= work->items[i].visited != NULL;

	pthread_mutex_lock(&walk->lock);
	work->state = SB_WORK_DONE;
	walk->backlog += work->bytes;
	if (!anything)
		sb_work_unlink(work);
	pthread_cond_signal(&walk->front);
	pthread_mutex_unlock(&walk->lock);
	if (!anything)
		sb_work_free(walk, work);
}

/* ---- workers ---- */

/* The first piece that waits; NULL: none, or too much is done already.  With the lock held. */
static struct sb_work *take(struct sb_walk *walk)
{
	struct sb_work *work = walk->ends.next;

	/* Someone must always be free to work at the front: all else waits for that. */
	if (walk->backlog > BACKLOG_BYTES && work->state != SB_WORK_WAITS)
		return NULL;
	while (work != &walk->ends && work->state != SB_WORK_WAITS)
		work = work->next;
	if (work == &walk->ends)
		return NULL;
	work->state = SB_WORK_TAKEN;
	return work;
}

static void *run_worker(void *argument)
{
	struct worker *worker = argument;
	struct sb_walk *walk = worker->walk;
	struct sb_work *work;

	pthread_mutex_lock(&walk->lock);
	while (!sb_walk_stopped(walk) && walk->ends.next != &walk->ends) {
		work = take(walk);
		if (!work) {
			pthread_cond_wait(&walk->more, &walk->lock);
			continue;
		}
		pthread_mutex_unlock(&walk->lock);
		if (work->items)
			look_into(walk, work, worker->number);
		else
			sb_walk_list_directory(walk, work);
		pthread_mutex_lock(&walk->lock);
	}
	/* The list is empty, or it is over: the others need to know. */
	pthread_cond_broadcast(&walk->more);
	pthread_cond_signal(&walk->front);
	pthread_mutex_unlock(&walk->lock);
	return NULL;
}

unsigned sb_walk_workers(const struct sb_search_scope *scope)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned count = scope->threads   ? scope->threads
			 : processors > 2 ? (unsigned)processors
					  : 2;

	return count < SB_WALK_WORKERS ? count : SB_WALK_WORKERS;
}

bool sb_walk_stopped(const struct sb_walk *walk)
{
	return atomic_load_explicit(&walk->stopped, memory_order_relaxed);
}

void sb_walk_unreadable(struct sb_walk *walk)
{
	atomic_fetch_add(&walk->unreadable, 1);
}

/* ---- the caller's thread ---- */

static void deliver(struct sb_walk *walk, struct sb_work *work)
{
	const struct sb_walk_visitor *visitor = walk->visitor;
	bool stopped = false;

	for (size_t i = 0; i < work->count && !stopped; i++) {
		struct sb_work_item *item = &work->items[i];
		SB_AUTO_FREE char *path = NULL;

		if (visitor->visit && !item->visited)
			continue;
		path = sb_folder_path(work->folder->path, item->name);
		if (!path) {
			walk->nomem = true;
			stopped = true;
			continue;
		}
		stopped = !visitor->deliver(visitor->context, path, item->kind,
					    sb_take_ptr(&item->visited));
	}
	if (stopped)
		sb_walk_stop(walk, SB_SEARCH_LIMIT);
}

struct deadline {
	bool set;
	struct timespec at;
};

static bool passed(const struct deadline *deadline, const struct timespec *now)
{
	return deadline->set &&
	       (now->tv_sec > deadline->at.tv_sec ||
		(now->tv_sec == deadline->at.tv_sec && now->tv_nsec >= deadline->at.tv_nsec));
}

static struct timespec later(struct timespec time, unsigned ms)
{
	time.tv_sec += ms / 1000;
	time.tv_nsec += (long)(ms % 1000) * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000;
	}
	return time;
}

/* Has the caller or the clock had enough? */
static bool over(struct sb_walk *walk, const struct deadline *deadline)
{
	const struct sb_search_scope *scope = walk->scope.scope;
	struct timespec now;

	if (scope->cancel && atomic_load_explicit(scope->cancel, memory_order_relaxed)) {
		sb_walk_stop(walk, SB_SEARCH_CANCELLED);
	} else if (deadline->set) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (passed(deadline, &now))
			sb_walk_stop(walk, SB_SEARCH_TIMEOUT);
	}
	return sb_walk_stopped(walk);
}

static void wait_for_front(struct sb_walk *walk)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	now = later(now, POLL_MS);
	pthread_cond_timedwait(&walk->front, &walk->lock, &now);
}

static void deliver_all(struct sb_walk *walk, const struct deadline *deadline)
{
	while (!over(walk, deadline)) {
		struct sb_work *work;

		pthread_mutex_lock(&walk->lock);
		work = walk->ends.next;
		if (work == &walk->ends) {
			pthread_mutex_unlock(&walk->lock);
			return;
		}
		if (work->state != SB_WORK_DONE) {
			wait_for_front(walk);
			pthread_mutex_unlock(&walk->lock);
			continue;
		}
		sb_work_unlink(work);
		walk->backlog -= work->bytes;
		pthread_cond_broadcast(&walk->more);
		pthread_mutex_unlock(&walk->lock);
		deliver(walk, work);
		sb_work_free(walk, work);
	}
}

/* Signals are for the program's own threads. */
static unsigned start_workers(struct sb_walk *walk, struct worker *workers)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	unsigned started = 0;

	sigfillset(&all);
	if (pthread_attr_init(&attributes) != 0)
		return 0;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (started < walk->workers) {
		struct worker *worker = &workers[started];

		*worker = (struct worker){.walk = walk, .number = started};
		if (pthread_create(&worker->thread, &attributes, run_worker, worker) != 0)
			break;
		started++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return started;
}

static int run(struct sb_walk *walk, struct sb_error *err)
{
	struct worker workers[SB_WALK_WORKERS];
	struct deadline deadline = {.set = walk->scope.scope->timeout_ms > 0};
	unsigned started;

	clock_gettime(CLOCK_MONOTONIC, &deadline.at);
	deadline.at = later(deadline.at, walk->scope.scope->timeout_ms);
	started = start_workers(walk, workers);
	if (!started)
		return sb_fail(err, SB_E_SYSTEM, EAGAIN, "cannot start a thread to search with");
	deliver_all(walk, &deadline);
	for (unsigned i = 0; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	if (walk->nomem)
		return sb_no_memory(err);
	return SB_OK;
}

static void init(struct sb_walk *walk)
{
	pthread_condattr_t monotonic;

	walk->ends.next = walk->ends.previous = &walk->ends;
	walk->ends.state = SB_WORK_TAKEN;
	pthread_mutex_init(&walk->lock, NULL);
	pthread_cond_init(&walk->more, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&walk->front, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

int sb_walk(const struct sb_search_source *source, const struct sb_search_scope *scope,
	    const struct sb_walk_visitor *visitor, struct sb_search_end *out_end,
	    struct sb_error *err)
{
	const char *start = scope->start ? scope->start : "";
	struct sb_walk walk = {
		.source = source,
		.visitor = visitor,
		.workers = sb_walk_workers(scope),
		.scope = {.scope = scope,
			  .kinds = visitor->kinds,
			  .start_length = *start ? strlen(start) + 1 : 0,
			  .max_depth = scope->max_depth ? scope->max_depth : SB_SEARCH_DEPTH},
	};
	int status;

	init(&walk);
	walk.scope.stopped = &walk.stopped;
	status = sb_walk_begin(&walk, start, err);
	if (status == SB_OK)
		status = run(&walk, err);
	sb_work_drop_all(&walk, &walk.ends);
	walk.end.unreadable = atomic_load(&walk.unreadable);
	*out_end = walk.end;
	pthread_cond_destroy(&walk.front);
	pthread_cond_destroy(&walk.more);
	pthread_mutex_destroy(&walk.lock);
	return status;
}
