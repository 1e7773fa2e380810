#include "search/walk.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/clock.h"
#include "search/walk_work.h"

enum {
	BACKLOG_BYTES =
		32 * 1024 * 1024, /* done and not delivered, since something before is not */
	STACK_BYTES = 512 * 1024,
	POLL_NS = 20 * 1000 * 1000, /* how soon a cancelled search ends */
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

/* Has the caller or the clock had enough? */
static bool over(struct sb_walk *walk, uint64_t began_ns)
{
	const struct sb_search_scope *scope = walk->scope.scope;

	if (scope->cancel && atomic_load_explicit(scope->cancel, memory_order_relaxed))
		sb_walk_stop(walk, SB_SEARCH_CANCELLED);
	else if (scope->timeout_ms &&
		 sb_now_ns() - began_ns >= scope->timeout_ms * UINT64_C(1000000))
		sb_walk_stop(walk, SB_SEARCH_TIMEOUT);
	return sb_walk_stopped(walk);
}

static void wait_for_front(struct sb_walk *walk)
{
	uint64_t until = sb_now_ns() + POLL_NS;

	pthread_cond_timedwait(&walk->front, &walk->lock,
			       &(struct timespec){.tv_sec = (time_t)(until / 1000000000),
						  .tv_nsec = (long)(until % 1000000000)});
}

static void deliver_all(struct sb_walk *walk, uint64_t began_ns)
{
	while (!over(walk, began_ns)) {
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
	uint64_t began_ns = sb_now_ns();
	unsigned started = start_workers(walk, workers);

	if (!started)
		return sb_fail(err, SB_E_SYSTEM, EAGAIN, "cannot start a thread to search with");
	deliver_all(walk, began_ns);
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

/* ---- where it begins: a directory, or one file; and what git ignores above it ---- */

static int cannot_start(const char *start, int error, struct sb_error *err)
{
	if (error == ENOENT || error == ENOTDIR || error == ELOOP)
		return sb_fail(err, SB_E_MISSING, error, "cannot search '%s'", start);
	return sb_fail(err, SB_E_SYSTEM, error, "cannot search '%s'", start);
}

struct looked_for {
	const char *name;
	enum sb_search_kind kind;
};

static int is_it(void *to, const char *name, enum sb_search_kind kind)
{
	struct looked_for *it = to;

	if (strcmp(name, it->name) != 0)
		return 0;
	it->kind = kind;
	return 1;
}

/* A negative errno unless the folder, open, has a regular file of that name.  Opens nothing. */
static int has_file(const struct sb_folder *folder, const char *name)
{
	const struct sb_search_source *source = folder->source;
	struct looked_for it = {.name = name};
	int status = source->backend->list(source->context, folder->handle, is_it, &it);

	if (status < 0)
		return status;
	return !it.kind ? -ENOENT : it.kind == SB_SEARCH_FILE ? 0 : -ELOOP;
}

/* The start is one file: work as if its directory had nothing else. */
static int begin_with_file(struct sb_walk *walk, const char *start, struct sb_ignore_level *level,
			   struct sb_error *err)
{
	const char *slash = strrchr(start, '/');
	SB_AUTO_FREE char *parent = strndup(start, slash ? (size_t)(slash - start) : 0);
	struct sb_folder *folder = parent ? sb_folder_new(walk->source, parent, 0, false, level)
					  : NULL;
	struct sb_folder_name name = {.name = (char *)(slash ? slash + 1 : start),
				      .kind = SB_SEARCH_FILE,
				      .wanted = true};
	struct sb_work_cut cut = {.walk = walk, .folder = folder};
	int status;

	cut.first.next = cut.first.previous = &cut.first;
	if (!folder || !sb_work_add_names(&cut, &name, 1)) {
		sb_folder_drop(folder);
		return sb_no_memory(err);
	}
	status = sb_folder_open(folder);
	if (status == 0) {
		atomic_fetch_add(&walk->open_folders, 1);
		status = has_file(folder, name.name);
	}
	sb_folder_drop(folder); /* the work holds it */
	if (status < 0) {
		sb_work_drop_all(walk, &cut.first);
		return cannot_start(start, -status, err);
	}
	walk->end.files = 1;
	walk->ends.next = cut.first.next;
	walk->ends.previous = cut.first.previous;
	walk->ends.next->previous = walk->ends.previous->next = &walk->ends;
	return SB_OK;
}

static bool is_seen(const struct sb_search_source *source, const char *path,
		    enum sb_search_kind kind, bool *out_all)
{
	enum sb_sight sight = source->sight ? source->sight(source->sight_context, path, kind)
					    : SB_SIGHT_ALL;

	*out_all = sight == SB_SIGHT_ALL;
	return sight != SB_SIGHT_NONE;
}

static int begin_with_directory(struct sb_walk *walk, const char *start,
				struct sb_ignore_level *level, bool all_seen, struct sb_error *err)
{
	struct sb_folder *folder = sb_folder_new(walk->source, start, 0, all_seen, level);
	struct sb_work *work = folder ? sb_work_new(folder, 0) : NULL;

	sb_folder_drop(folder);
	if (!work)
		return sb_no_memory(err);
	sb_work_insert(&walk->ends, work);
	return SB_OK;
}

/* What counts above the start; the start's own level is read when it is listed. */
static int levels_above(const struct sb_walk *walk, const char *start, struct sb_ignore_level **out)
{
	const struct sb_search_scope *scope = walk->scope.scope;
	const char *slash = strrchr(start, '/');
	SB_AUTO_FREE char *parent = strndup(start, slash ? (size_t)(slash - start) : 0);
	struct sb_ignore_level *top;
	int status = sb_ignore_level_top(scope->global_ignore, scope->global_ignore_length, &top);

	if (status != SB_OK || !parent)
		return SB_E_NOMEM;
	if (!*start || (scope->flags & SB_SEARCH_IGNORED) ||
	    sb_ignore_level_reach(walk->source, top, parent, out, NULL) != SB_OK)
		*out = sb_ignore_level_hold(top);
	sb_ignore_level_drop(top);
	return SB_OK;
}

/* Put the first work where the walk begins.  SB_E_MISSING, SB_E_SYSTEM, SB_E_NOMEM. */
static int begin(struct sb_walk *walk, const char *start, struct sb_error *err)
{
	const struct sb_search_source *source = walk->source;
	struct sb_ignore_level *level = NULL;
	sb_search_handle handle;
	bool all = false;
	int opened, status;

	if (!is_seen(source, start, SB_SEARCH_DIRECTORY, &all))
		return cannot_start(start, ENOENT, err);
	opened = source->backend->open_directory(source->context, start, &handle);
	if (opened < 0 && (opened != -ENOTDIR || !walk->visitor->visit || !*start))
		return cannot_start(start, -opened, err);
	if (opened < 0 && !is_seen(source, start, SB_SEARCH_FILE, &all))
		return cannot_start(start, ENOENT, err);
	if (levels_above(walk, start, &level) != SB_OK) {
		status = sb_no_memory(err);
	} else if (opened < 0) {
		status = begin_with_file(walk, start, level, err);
	} else {
		status = begin_with_directory(walk, start, level, all, err);
	}
	if (opened >= 0)
		source->backend->close_directory(source->context, handle);
	sb_ignore_level_drop(level);
	return status;
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
	status = begin(&walk, start, err);
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

/* ---- glob ---- */

/* Names have no contents to look into: the walk's own choice is the result. */
struct glob_search {
	const struct sb_glob_query *query;
	sb_glob_found found;
	void *to;
	uint64_t results;
};

static bool deliver_name(void *context, const char *path, enum sb_search_kind kind, void *visited)
{
	struct glob_search *search = context;

	(void)visited;
	/* One more than was asked for: now it is known that there are more. */
	if (search->query->max_results && search->results == search->query->max_results)
		return false;
	search->results++;
	return search->found(search->to, path, kind);
}

int sb_search_glob(const struct sb_search_source *source, const struct sb_glob_query *query,
		   sb_glob_found found, void *to, struct sb_search_end *out_end,
		   struct sb_error *err)
{
	struct glob_search search = {.query = query, .found = found, .to = to};
	struct sb_walk_visitor visitor = {
		.context = &search,
		.kinds = query->kinds ? query->kinds : SB_SEARCH_FILE | SB_SEARCH_LINK,
		.deliver = deliver_name,
	};
	struct sb_search_end end = {0};
	int status;

	if (query->size != sizeof(*query))
		status = sb_fail(err, SB_E_INVALID, 0, "a query of another version");
	else
		status = sb_walk(source, &query->scope, &visitor, &end, err);
	end.results = search.results;
	if (out_end)
		*out_end = end;
	return status;
}
