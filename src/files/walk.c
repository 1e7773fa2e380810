#include "files/walk.h"

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
#include "files/walk_folder.h"

enum {
	OPEN_FOLDERS = 128, /* kept open for files that wait; more are opened anew */
	BATCH_FILES = 64,   /* of one directory, looked into by one worker */
	BATCH_NAMES = 4096,
	BACKLOG_BYTES =
		32 * 1024 * 1024, /* done and not delivered, since something before is not */
	STACK_BYTES = 512 * 1024,
	POLL_MS = 20, /* how soon a cancelled search ends */
};

struct item {
	char *name;
	enum sb_search_kind kind;
	void *visited;
};

enum work_state { WORK_WAITS, WORK_TAKEN, WORK_DONE };

/* A piece of the list: a directory to list, or names in one directory. */
struct work {
	struct work *next, *previous;
	enum work_state state;
	struct sb_folder *folder; /* of the names, or the directory itself */
	struct item *items;       /* NULL: a directory */
	size_t count;
	char *text;   /* holds the names */
	size_t bytes; /* that wait for delivery */
	bool opener;  /* needs the folder's handle */
};

struct sb_walk {
	const struct sb_search_source *source;
	const struct sb_walk_visitor *visitor;
	struct sb_folder_scope scope;
	unsigned workers;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t more;  /* for workers: something waits, or it is over */
	pthread_cond_t front; /* for the caller: the front is done, or it is over */
	struct work ends;     /* the list is a ring through this */
	size_t backlog;       /* bytes done and not delivered */
	struct sb_search_end end;
	atomic_bool nomem;

	atomic_bool stopped;
	atomic_uint open_folders;
	atomic_uint_fast64_t unreadable;
};

struct worker {
	struct sb_walk *walk;
	unsigned number;
	pthread_t thread;
};

/* ---- the list ---- */

static void insert_before(struct work *place, struct work *work)
{
	work->next = place;
	work->previous = place->previous;
	place->previous->next = work;
	place->previous = work;
}

static void unlink_work(struct work *work)
{
	work->previous->next = work->next;
	work->next->previous = work->previous;
}

static void close_folder(struct sb_walk *walk, struct sb_folder *folder)
{
	if (!folder->open)
		return;
	sb_folder_close(folder);
	atomic_fetch_sub(&walk->open_folders, 1);
}

static void release_opener(struct sb_walk *walk, struct work *work)
{
	if (work->opener && atomic_fetch_sub(&work->folder->openers, 1) == 1)
		close_folder(walk, work->folder);
	work->opener = false;
}

static void work_free(struct sb_walk *walk, struct work *work)
{
	if (!work)
		return;
	for (size_t i = 0; i < work->count; i++)
		if (work->items[i].visited)
			walk->visitor->discard(work->items[i].visited);
	release_opener(walk, work);
	sb_folder_drop(work->folder);
	free(work->items);
	free(work->text);
	free(work);
}

static struct work *work_new(struct sb_folder *folder, size_t names)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work)
		return NULL;
	sb_folder_hold(folder);
	work->folder = folder;
	work->items = names ? calloc(names, sizeof(*work->items)) : NULL;
	if (names && !work->items) {
		sb_folder_drop(folder);
		free(work);
		return NULL;
	}
	return work;
}

/* ---- a directory becomes what is in it ---- */

struct cut { /* the list that takes a directory's place */
	struct sb_walk *walk;
	struct sb_folder *folder;
	struct work first; /* a ring of its own */
};

static bool add_names(struct cut *cut, const struct sb_folder_name *from, size_t count)
{
	size_t bytes = 0, wanted = 0;
	struct work *work;
	char *at;

	for (size_t i = 0; i < count; i++) {
		wanted += from[i].wanted;
		bytes += from[i].wanted ? strlen(from[i].name) + 1 : 0;
	}
	if (!wanted)
		return true;
	work = work_new(cut->folder, wanted);
	at = work ? work->text = malloc(bytes) : NULL;
	if (!at) {
		work_free(cut->walk, work);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(from[i].name) + 1;

		if (!from[i].wanted)
			continue;
		memcpy(at, from[i].name, length);
		work->items[work->count++] = (struct item){.name = at, .kind = from[i].kind};
		at += length;
	}
	work->state = cut->walk->visitor->visit ? WORK_WAITS : WORK_DONE;
	if (work->state == WORK_DONE) {
		work->bytes = bytes + wanted * sizeof(*work->items);
	} else {
		work->opener = true;
		atomic_fetch_add(&cut->folder->openers, 1);
	}
	insert_before(&cut->first, work);
	return true;
}

static bool add_directory(struct cut *cut, const struct sb_folder_name *name)
{
	SB_AUTO_FREE char *path = sb_folder_path(cut->folder->path, name->name);
	struct sb_folder *folder =
		path ? sb_folder_new(cut->walk->source, path, cut->folder->depth + 1,
				     cut->folder->all_seen || name->all_seen, cut->folder->level)
		     : NULL;
	struct work *work = folder ? work_new(folder, 0) : NULL;

	sb_folder_drop(folder); /* the work holds it */
	if (work)
		insert_before(&cut->first, work);
	return work != NULL;
}

static size_t batch_size(const struct sb_walk *walk, size_t files)
{
	size_t share = files / ((size_t)walk->workers * 4) + 1;

	if (!walk->visitor->visit)
		return BATCH_NAMES;
	return share < BATCH_FILES ? share : BATCH_FILES;
}

static bool cut_up(struct cut *cut, const struct sb_folder_names *names)
{
	size_t batch = batch_size(cut->walk, names->files), from = 0;

	for (size_t i = 0; i < names->count; i++) {
		bool enter = names->all[i].enter;

		/* A directory's own name comes before what is in it. */
		if (enter || i + 1 - from == batch) {
			if (!add_names(cut, names->all + from, i + 1 - from))
				return false;
			from = i + 1;
		}
		if (enter && !add_directory(cut, &names->all[i]))
			return false;
	}
	return add_names(cut, names->all + from, names->count - from);
}

static void drop_ring(struct sb_walk *walk, struct work *ring)
{
	while (ring->next != ring) {
		struct work *work = ring->next;

		unlink_work(work);
		work_free(walk, work);
	}
}

/* Put the new list in the place of the directory, whose work ends. */
static void replace(struct sb_walk *walk, struct work *directory, struct work *ring,
		    const struct sb_folder_names *names)
{
	pthread_mutex_lock(&walk->lock);
	for (struct work *work = ring->next; work != ring; work = work->next)
		walk->backlog += work->bytes;
	if (ring->next != ring) {
		ring->next->previous = directory->previous;
		directory->previous->next = ring->next;
		ring->previous->next = directory;
		directory->previous = ring->previous;
	}
	unlink_work(directory);
	walk->end.directories++;
	walk->end.skipped += names->skipped;
	walk->end.files += names->files;
	pthread_cond_broadcast(&walk->more);
	pthread_cond_signal(&walk->front);
	pthread_mutex_unlock(&walk->lock);
}

static void list_directory(struct sb_walk *walk, struct work *directory)
{
	struct cut cut = {.walk = walk, .folder = directory->folder};
	struct sb_folder_names names = {0};
	bool fine = true;
	int status;

	cut.first.next = cut.first.previous = &cut.first;
	if (sb_folder_open(cut.folder) < 0) {
		names.unreadable = 1;
	} else {
		atomic_fetch_add(&walk->open_folders, 1);
		status = sb_folder_list(cut.folder, &walk->scope, &names);
		fine = status == SB_OK && cut_up(&cut, &names);
	}
	if (!fine) {
		drop_ring(walk, &cut.first);
		walk->nomem = true;
		sb_walk_stop(walk, SB_SEARCH_DONE);
	}
	atomic_fetch_add(&walk->unreadable, names.unreadable);
	if (!atomic_load(&cut.folder->openers) || atomic_load(&walk->open_folders) > OPEN_FOLDERS)
		close_folder(walk, cut.folder);
	replace(walk, directory, &cut.first, &names);
	work_free(walk, directory);
	sb_folder_names_done(&names);
}

/* ---- files ---- */

static void visit_items(struct sb_walk *walk, struct work *work, unsigned worker,
			sb_search_handle directory)
{
	SB_AUTO_BUF struct sb_buf path = SB_BUF((size_t)16 * 1024 * 1024);
	size_t prefix;

	sb_buf_puts(&path, work->folder->path);
	if (path.length)
		sb_buf_putc(&path, '/');
	prefix = path.length;
	for (size_t i = 0; i < work->count && !sb_walk_stopped(walk); i++) {
		struct item *item = &work->items[i];
		size_t bytes = 0;

		path.length = prefix;
		sb_buf_puts(&path, item->name);
		item->visited = walk->visitor->visit(
			walk->visitor->context, walk, worker,
			&(struct sb_walk_file){path.data, item->name, directory}, &bytes);
		work->bytes += bytes;
	}
}

static void look_into(struct sb_walk *walk, struct work *work, unsigned worker)
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
	release_opener(walk, work);
	for (size_t i = 0; i < work->count; i++)
		anything |= work->items[i].visited != NULL;

	pthread_mutex_lock(&walk->lock);
	work->state = WORK_DONE;
	walk->backlog += work->bytes;
	if (!anything)
		unlink_work(work);
	pthread_cond_signal(&walk->front);
	pthread_mutex_unlock(&walk->lock);
	if (!anything)
		work_free(walk, work);
}

/* ---- workers ---- */

/* The first piece that waits; NULL: none, or too much is done already.  With the lock held. */
static struct work *take(struct sb_walk *walk)
{
	struct work *work = walk->ends.next;

	/* Someone must always be free to work at the front: all else waits for that. */
	if (walk->backlog > BACKLOG_BYTES && work->state != WORK_WAITS)
		return NULL;
	while (work != &walk->ends && work->state != WORK_WAITS)
		work = work->next;
	if (work == &walk->ends)
		return NULL;
	work->state = WORK_TAKEN;
	return work;
}

static void *run_worker(void *argument)
{
	struct worker *worker = argument;
	struct sb_walk *walk = worker->walk;
	struct work *work;

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
			list_directory(walk, work);
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

/* The first reason counts. */
void sb_walk_stop(struct sb_walk *walk, enum sb_search_why why)
{
	pthread_mutex_lock(&walk->lock);
	if (!atomic_exchange(&walk->stopped, true))
		walk->end.why = why;
	pthread_cond_broadcast(&walk->more);
	pthread_cond_signal(&walk->front);
	pthread_mutex_unlock(&walk->lock);
}

void sb_walk_unreadable(struct sb_walk *walk)
{
	atomic_fetch_add(&walk->unreadable, 1);
}

/* ---- the caller's thread ---- */

static void deliver(struct sb_walk *walk, struct work *work)
{
	const struct sb_walk_visitor *visitor = walk->visitor;
	bool stopped = false;

	for (size_t i = 0; i < work->count && !stopped; i++) {
		struct item *item = &work->items[i];
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

	if (scope->cancel && __atomic_load_n(scope->cancel, __ATOMIC_RELAXED)) {
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
		struct work *work;

		pthread_mutex_lock(&walk->lock);
		work = walk->ends.next;
		if (work == &walk->ends) {
			pthread_mutex_unlock(&walk->lock);
			return;
		}
		if (work->state != WORK_DONE) {
			wait_for_front(walk);
			pthread_mutex_unlock(&walk->lock);
			continue;
		}
		unlink_work(work);
		walk->backlog -= work->bytes;
		pthread_cond_broadcast(&walk->more);
		pthread_mutex_unlock(&walk->lock);
		deliver(walk, work);
		work_free(walk, work);
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
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	return SB_OK;
}

/* ---- where it begins ---- */

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
	struct cut cut = {.walk = walk, .folder = folder};
	int status;

	cut.first.next = cut.first.previous = &cut.first;
	if (!folder || !add_names(&cut, &name, 1)) {
		sb_folder_drop(folder);
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	}
	status = sb_folder_open(folder);
	if (status == 0) {
		atomic_fetch_add(&walk->open_folders, 1);
		status = has_file(folder, name.name);
	}
	sb_folder_drop(folder); /* the work holds it */
	if (status < 0) {
		drop_ring(walk, &cut.first);
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
	struct work *work = folder ? work_new(folder, 0) : NULL;

	sb_folder_drop(folder);
	if (!work)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	insert_before(&walk->ends, work);
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
		status = sb_fail(err, SB_E_NOMEM, 0, "out of memory");
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

static void init(struct sb_walk *walk)
{
	pthread_condattr_t monotonic;

	walk->ends.next = walk->ends.previous = &walk->ends;
	walk->ends.state = WORK_TAKEN;
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
	status = begin(&walk, start, err);
	if (status == SB_OK)
		status = run(&walk, err);
	drop_ring(&walk, &walk.ends);
	walk.end.unreadable = atomic_load(&walk.unreadable);
	*out_end = walk.end;
	pthread_cond_destroy(&walk.front);
	pthread_cond_destroy(&walk.more);
	pthread_mutex_destroy(&walk.lock);
	return status;
}
