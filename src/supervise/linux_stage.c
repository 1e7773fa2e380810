#include "supervise/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/lock.h"
#include "enforce/linux_seccomp.h"
#include "supervise/owed.h"
#include "supervise/perform.h"
#include "supervise/proc_name.h"
#include "supervise/stage_impl.h"
#include "supervise/thread.h"
#include "sys/directory.h"
#include "sys/notify.h"

#define LOOK_MS 5      /* how soon a file lands whose writer did not close it where we look */
#define MAX_STAGES 256 /* at a time, in the whole run */
#define MAX_NUMBERS 1024
#define SETTLE_MS 100 /* for what the asker has to land */

struct sb_stage_waiting {
	struct sb_stage_waiting *next;
	struct sb_call call;
	struct sb_spot file;
};

int sb_staging_init(struct sb_staging *staging)
{
	*staging = (struct sb_staging){.base = sb_staging_base()};
	pthread_mutex_init(&staging->lock, NULL);
	pthread_mutex_init(&staging->sweeping, NULL);
	staging->nudge = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return staging->nudge < 0 ? -errno : 0;
}

/* --- the caller's descriptors ----------------------------------------------------------------- */

/* What the caller has open as number; false: nothing. */
static bool look_at(const struct sb_broker *broker, pid_t thread, unsigned number, struct stat *out)
{
	char name[SB_PROC_NAME];

	sb_proc_fd(name, thread, number);
	return fstatat(broker->performer->proc, name, out, 0) == 0;
}

/* Was its closing refused?  The caller is done with it; but what is still being asked about it has.  Under the lock. */
static bool is_spent(const struct sb_broker *broker, const struct stat *info)
{
	for (size_t i = 0; i < SB_STAGING_SPENT; i++) {
		const struct sb_spent *spent = &broker->staging.spent[i];

		if (spent->call && spent->inode == info->st_ino && spent->device == info->st_dev)
			return !sb_sys_notify_alive(broker->performer->listener, spent->call);
	}
	return false;
}

/* Under the lock. */
static void spend(struct sb_staging *staging, const struct sb_call *call,
		  const struct sb_stage *stage)
{
	staging->spent[staging->spent_next++ % SB_STAGING_SPENT] =
		(struct sb_spent){call->id, stage->device, stage->inode};
}

/* A free number, in the range whose closing is held as long as there is one; or -EMFILE. */
static int find_number(const struct sb_broker *broker, pid_t thread)
{
	const struct sb_staging *staging = &broker->staging;
	struct rlimit limit;
	struct stat info;

	if (!staging->base || prlimit(thread, RLIMIT_NOFILE, NULL, &limit) != 0)
		return -EMFILE;
	for (unsigned number = staging->base;
	     number < limit.rlim_cur && number < staging->base + MAX_NUMBERS; number++)
		if (!look_at(broker, thread, number, &info) || is_spent(broker, &info))
			return (int)number;
	return -EMFILE;
}

/* Under the lock. */
static struct sb_stage *find_stage(const struct sb_staging *staging, const struct stat *info)
{
	struct sb_stage *stage = staging->stages;

	while (stage && (stage->inode != info->st_ino || stage->device != info->st_dev))
		stage = stage->next;
	return stage;
}

static void take_out(struct sb_staging *staging, const struct sb_stage *stage)
{
	struct sb_stage **link = &staging->stages;

	while (*link && *link != stage)
		link = &(*link)->next;
	if (*link) {
		*link = stage->next;
		__atomic_fetch_sub(&staging->count, 1, __ATOMIC_RELEASE);
	}
}

static void nudge(const struct sb_staging *staging)
{
	uint64_t one = 1;

	(void)!write(staging->nudge, &one, sizeof one);
}

/* --- opening ------------------------------------------------------------------------------------ */

/* What the kernel would say to this user: for a staged file it is not asked. */
static int may_open(const struct sb_call *call, const struct sb_spot *file)
{
	int mode = (call->flags & O_ACCMODE) == O_RDONLY ? R_OK : 0;
	char name[SB_PROC_NAME];

	if (file->object < 0)
		return faccessat(file->directory, ".", W_OK | X_OK, AT_EACCESS) != 0 ? errno : 0;
	if ((call->flags & O_ACCMODE) == O_RDWR)
		mode = R_OK | W_OK;
	if ((call->flags & O_ACCMODE) == O_WRONLY || (call->flags & O_TRUNC))
		mode |= W_OK;
	sb_proc_self_fd(name, file->object);
	return faccessat(AT_FDCWD, name, mode, AT_EACCESS) != 0 ? errno : 0;
}

/*
 * error: what the kernel would say to this user, or 0.  asks, permitted: the asker has looked at
 * it, and a person has said yes.
 */
static void open_unless(struct sb_broker *broker, const struct sb_call *call,
			const struct sb_spot *file, int error, bool asks, bool permitted)
{
	struct sb_staging *staging = &broker->staging;
	int listener = broker->performer->listener, status, number, fd = -1;
	struct sb_stage *stage = NULL;

	if (file->directory < 0)
		error = EACCES;
	if (error) {
		sb_broker_fail(broker, call, error);
		return;
	}
	if (__atomic_load_n(&staging->count, __ATOMIC_RELAXED) >= MAX_STAGES) {
		sb_broker_fail(broker, call, ENFILE);
		return;
	}
	status = sb_stage_make(broker, call, file, &stage, &fd);
	if (status < 0) {
		sb_broker_fail(broker, call, -status);
		return;
	}
	stage->process = (pid_t)sb_thread_process(broker->performer->proc, call->thread);
	stage->asks = asks;
	stage->permit = permitted ? call->id : 0;
	pthread_mutex_lock(&staging->lock);
	number = find_number(broker, call->thread);
	/* says so if nobody waits for it any more: then nothing lands */
	status = number < 0 ? number
			    : sb_sys_notify_replace(listener, call->id, fd, number,
						    call->flags & O_CLOEXEC);
	close(fd); /* from here on the caller's is the only one */
	if (status >= 0) {
		stage->next = staging->stages;
		staging->stages = stage;
		__atomic_fetch_add(&staging->count, 1, __ATOMIC_RELEASE);
		/* who did not hear of it will open another, and this one must not land */
		if (!sb_owed_say(listener, call, number)) {
			take_out(staging, stage);
			status = -ENOENT;
		}
	}
	pthread_mutex_unlock(&staging->lock);
	if (status >= 0) {
		nudge(staging);
	} else {
		sb_stage_free(stage);
		sb_broker_fail(broker, call, -status);
	}
}

static void waiting_free(struct sb_stage_waiting *waiting)
{
	if (!waiting)
		return;
	sb_spot_done(&waiting->file);
	free(waiting);
}

/* Forget those that the asker has refused, or that are gone.  Under the lock. */
static void prune_waiting(struct sb_broker *broker)
{
	struct sb_stage_waiting **link = &broker->staging.waiting;

	while (*link) {
		struct sb_stage_waiting *waiting = *link;

		if (sb_sys_notify_alive(broker->performer->listener, waiting->call.id)) {
			link = &waiting->next;
			continue;
		}
		*link = waiting->next;
		waiting_free(waiting);
	}
}

/* --- what nobody writes to any more --------------------------------------------------------------- */

/* Land what has lost its last writer; nobody waits for an answer.  False: the asker does, or refuses. */
static bool land_orphan(struct sb_broker *broker, struct sb_stage *stage)
{
	struct sb_call call = {.act = SB_ACT_CLOSE, .replaces = true, .first = 1};
	bool landed = sb_stage_land(broker, &call, stage);

	sb_stage_free(stage);
	return landed;
}

/* Under the lock; linked by next, those that were opened first before others. */
static struct sb_stage *take_orphans(struct sb_staging *staging)
{
	struct sb_stage **link = &staging->stages, *done = NULL;

	while (*link) {
		struct sb_stage *stage = *link;

		if (sb_stage_has_writers(stage)) {
			link = &stage->next;
			continue;
		}
		take_out(staging, stage);
		stage->next = done;
		done = stage;
	}
	return done;
}

static struct sb_left look_before(const struct sb_stage *stage)
{
	struct sb_left left = {.until_ms = sb_now_ms() + SETTLE_MS};
	struct stat info;

	memcpy(left.name, stage->place.name, sizeof left.name);
	if (fstatat(stage->place.directory, left.name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
		left.device = info.st_dev;
		left.inode = info.st_ino;
	}
	return left;
}

/* Did any land? */
static bool sweep(struct sb_broker *broker)
{
	struct sb_staging *staging = &broker->staging;
	struct sb_stage *stage;
	bool landed = false;

	pthread_mutex_lock(&staging->sweeping);
	pthread_mutex_lock(&staging->lock);
	stage = take_orphans(staging);
	prune_waiting(broker);
	pthread_mutex_unlock(&staging->lock);
	while (stage) {
		struct sb_stage *next = stage->next;
		struct sb_left left = look_before(stage);

		if (land_orphan(broker, stage))
			landed = true;
		else
			staging->left[staging->left_next++ % SB_STAGING_LEFT] = left;
		stage = next;
	}
	pthread_mutex_unlock(&staging->sweeping);
	return landed;
}

void sb_stage_sweep(struct sb_broker *broker)
{
	if (__atomic_load_n(&broker->staging.count, __ATOMIC_ACQUIRE))
		sweep(broker);
}

/* If what has the name now is another file than object, that is it. */
static void take_new(struct sb_spot *file)
{
	SB_AUTO_FD int object =
		openat(file->directory, file->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;

	if (object < 0 || fstat(object, &info) != 0 || !S_ISREG(info.st_mode) ||
	    (file->object >= 0 && info.st_ino == file->info.st_ino &&
	     info.st_dev == file->info.st_dev))
		return;
	sb_auto_close(&file->object);
	file->object = sb_take_fd(&object);
	file->info = info;
}

/*
 * What programs that have ended wrote lands before the next one begins: `python3 x >>.env; echo y >>.env` has both, and
 * an empty file of the first is not what stays.  Where the asker lands them, it gets a moment.
 */
static void settle(struct sb_broker *broker, struct sb_spot *file)
{
	struct sb_staging *staging = &broker->staging;
	bool landed = sweep(broker);

	if (file->directory < 0)
		return;
	for (size_t i = 0; i < SB_STAGING_LEFT; i++) {
		struct sb_left left;
		struct stat info = {0};

		pthread_mutex_lock(&staging->sweeping);
		left = staging->left[i];
		pthread_mutex_unlock(&staging->sweeping);
		if (strcmp(left.name, file->name) != 0)
			continue;
		landed = true;
		while (sb_now_ms() < left.until_ms &&
		       (fstatat(file->directory, file->name, &info, AT_SYMLINK_NOFOLLOW) != 0
				? left.inode == 0
				: info.st_ino == left.inode && info.st_dev == left.device))
			nanosleep(&(struct timespec){0, 500000}, NULL);
	}
	if (landed)
		take_new(file);
}

/* Until the asker has answered.  False: it cannot be kept, and has been refused. */
static bool keep_waiting(struct sb_broker *broker, const struct sb_call *call,
			 const struct sb_spot *file)
{
	struct sb_staging *staging = &broker->staging;
	struct sb_stage_waiting *waiting = malloc(sizeof *waiting);

	if (!waiting || file->directory < 0 || sb_stage_copy_place(file, &waiting->file) < 0) {
		free(waiting);
		sb_broker_fail(broker, call, EACCES);
		return false;
	}
	waiting->call = *call;
	waiting->call.value = NULL;
	waiting->file.info = file->info;
	if (file->object >= 0)
		waiting->file.object = fcntl(file->object, F_DUPFD_CLOEXEC, 3);
	SB_AUTO_LOCK(&staging->lock);
	prune_waiting(broker);
	waiting->next = staging->waiting;
	staging->waiting = waiting;
	return true;
}

void sb_stage_ask(struct sb_broker *broker, const struct sb_call *call, struct sb_spot *file)
{
	if (keep_waiting(broker, call, file))
		sb_broker_forward(broker, call, file, NULL, -1);
}

void sb_stage_open(struct sb_broker *broker, const struct sb_call *call, struct sb_spot *file)
{
	int error;

	settle(broker, file);
	error = may_open(call, file);
	if ((call->flags & O_CREAT) && (call->flags & O_EXCL) && file->object >= 0)
		error = EEXIST; /* it has landed meanwhile */

	/* a rule opens a name in a directory that is closed: whether this user could make it the asker sees */
	if (error == EROFS)
		sb_stage_ask(broker, call, file);
	else
		open_unless(broker, call, file, error, false, false);
}

/* A copy of a descriptor may be made: from now on nobody is asked about this file. */
static void share_granted(struct sb_broker *broker, const struct sb_stage_waiting *waiting,
			  bool permitted)
{
	struct sb_call call = waiting->call;
	struct sb_stage *stage;

	pthread_mutex_lock(&broker->staging.lock);
	stage = find_stage(&broker->staging, &waiting->file.info);
	if (stage && permitted)
		stage->permit = call.id;
	else if (stage)
		stage->asks =
			false; /* there are harmless contents: the question shows the others */
	pthread_mutex_unlock(&broker->staging.lock);
	call.shares = false;
	sb_stage_close(broker, &call);
}

void sb_stage_granted(struct sb_broker *broker, uint64_t id, bool permitted)
{
	struct sb_staging *staging = &broker->staging;
	struct sb_stage_waiting **link = &staging->waiting, *waiting;

	pthread_mutex_lock(&staging->lock);
	while (*link && (*link)->call.id != id)
		link = &(*link)->next;
	waiting = *link;
	if (waiting)
		*link = waiting->next;
	pthread_mutex_unlock(&staging->lock);
	if (!waiting)
		return;
	/* that this user could do it the asker has seen, in a view that is not read-only */
	if (!sb_sys_notify_alive(broker->performer->listener, id))
		;
	else if (waiting->call.act == SB_ACT_CLOSE)
		share_granted(broker, waiting, permitted);
	else {
		settle(broker, &waiting->file);
		open_unless(broker, &waiting->call, &waiting->file, 0, true, permitted);
	}
	waiting_free(waiting);
}

/* --- closing -------------------------------------------------------------------------------------- */

/* Descriptors of one process that are about to be closed. */
struct closing {
	pid_t process; /* thread group */
	unsigned first, last;
};

static bool is_closing(const struct closing *closing, pid_t process, unsigned long number)
{
	return process == closing->process && number >= closing->first && number <= closing->last;
}

/* Does this process have the file open, but for what it is about to close?  */
static bool holds(const struct sb_broker *broker, const struct sb_stage *stage, pid_t process,
		  const struct closing *closing)
{
	char name[SB_PROC_NAME];
	struct stat info;
	bool found = false;

	snprintf(name, sizeof name, "%d/fd", process);
	/* those outside the sandbox cannot be looked at, and hold nothing of it */
	SB_EACH_ENTRY(fds, broker->performer->proc, name, !found) {
		const char *fd = fds.entry->d_name;
		char *end;
		unsigned long number = strtoul(fd, &end, 10);

		found = end != fd && !*end && !is_closing(closing, process, number) &&
			fstatat(fds.fd, fd, &info, 0) == 0 && info.st_ino == stage->inode &&
			info.st_dev == stage->device;
	}
	return found;
}

/*
 * Is this the last descriptor of all?  A lease would not tell: the kernel lets go of a file
 * that is closed, or replaced, only when the caller goes on.  So all processes of the run are
 * looked at; that takes a millisecond, and such files are few.
 */
static bool is_last(const struct sb_broker *broker, const struct sb_stage *stage,
		    const struct closing *closing)
{
	bool found = holds(broker, stage, closing->process, closing);

	if (found)
		return false;
	SB_EACH_ENTRY(processes, broker->performer->proc, ".", !found) {
		char *end;
		long process = strtol(processes.entry->d_name, &end, 10);

		found = process > 0 && !*end && process != closing->process &&
			process != getpid() && holds(broker, stage, (pid_t)process, closing);
	}
	return !found;
}

/* Is one of the descriptors that are about to be closed this file? */
static bool closes(const struct sb_broker *broker, const struct sb_call *call,
		   const struct sb_stage *stage)
{
	struct closing none = {0, 1, 0};
	struct stat info;

	if (call->first != call->last) /* a range: look whether it has any */
		return holds(broker, stage, call->thread, &none);
	return look_at(broker, call->thread, call->first, &info) && info.st_ino == stage->inode &&
	       info.st_dev == stage->device;
}

/* Take out the stages that this call closes for good; linked by next. */
static struct sb_stage *take_closed(struct sb_broker *broker, const struct sb_call *call)
{
	struct sb_staging *staging = &broker->staging;
	struct closing closing = {(pid_t)sb_thread_process(broker->performer->proc, call->thread),
				  call->first, call->last};
	struct sb_stage **link = &staging->stages, *done = NULL;

	SB_AUTO_LOCK(&staging->lock);
	while (*link) {
		struct sb_stage *stage = *link;

		/* the last look says whether the others were at the caller */
		if (!closes(broker, call, stage) || !is_last(broker, stage, &closing) ||
		    !sb_sys_notify_alive(broker->performer->listener, call->id)) {
			link = &stage->next;
			continue;
		}
		take_out(staging, stage);
		spend(staging, call, stage);
		stage->next = done;
		done = stage;
	}
	return done;
}

/* The file that this call makes a further descriptor of, if that has to be asked.  Under the lock. */
static const struct sb_stage *shared_stage(const struct sb_broker *broker,
					   const struct sb_call *call, struct stat *out)
{
	const struct sb_stage *stage = NULL;

	if (look_at(broker, call->thread, call->shared, out))
		stage = find_stage(&broker->staging, out);
	return stage && stage->asks && !stage->permit ? stage : NULL;
}

/*
 * SECURITY: whoever makes a copy of a descriptor is asked before, where every content asks.
 *
 * Danger: none to what lands, which is asked about when it does.  But shells put a redirection
 * at number 1 and let go of it without a look at the answer, so what comes after "&&" would go
 * on as if the file had been written.
 * Price: nobody sees the bytes beforehand.
 * Held by: tests/supervise/noticed.py
 *
 * Another thread may put another file at the number until the kernel goes on: that one is asked
 * about in its turn.
 */
static bool asks_to_share(struct sb_broker *broker, const struct sb_call *call)
{
	struct sb_spot place = SB_SPOT_EMPTY;
	SB_AUTO_FREE struct sb_call *open = NULL;
	const struct sb_stage *stage;
	struct stat memory;
	pid_t process = 0;

	pthread_mutex_lock(&broker->staging.lock);
	stage = shared_stage(broker, call, &memory);
	open = stage ? malloc(sizeof *open) : NULL;
	if (open && sb_stage_copy_place(&stage->place, &place) == 0) {
		*open = *call;
		open->act = SB_ACT_OPEN;
		open->flags = O_WRONLY;
		open->mode = stage->mode;
		process = stage->process;
	}
	pthread_mutex_unlock(&broker->staging.lock);
	if (!stage)
		return false;
	place.info = memory; /* by which it is found again */
	if (!open || place.directory < 0 || !sb_stage_find_place(broker, &place)) {
		sb_broker_fail(broker, call, EACCES);
	} else if (keep_waiting(broker, call, &place)) {
		place.object = openat(place.directory, place.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (place.object >= 0 && fstat(place.object, &place.info) != 0)
			place.info = (struct stat){0};
		sb_broker_forward_for(broker, open, process, &place, NULL, -1);
	}
	sb_spot_done(&place);
	return true;
}

void sb_stage_close(struct sb_broker *broker, const struct sb_call *call)
{
	struct sb_stage *stage = NULL;
	bool answered = false;

	if (call->shares && __atomic_load_n(&broker->staging.count, __ATOMIC_ACQUIRE) &&
	    asks_to_share(broker, call))
		return;
	if (__atomic_load_n(&broker->staging.count, __ATOMIC_ACQUIRE) && call->first <= call->last)
		stage = take_closed(broker, call);
	while (stage && stage->next) { /* a whole range: only one of them can be waited for */
		struct sb_stage *first = stage;

		stage = stage->next;
		land_orphan(broker, first);
	}
	if (stage) {
		struct sb_call copy = *call;

		answered = !sb_stage_land(broker, &copy, stage);
		sb_stage_free(stage);
	}
	/* Only numbers, and nothing in memory.  Whatever is at them by now is closed or replaced as
	 * anywhere; a staged file that was closed so is found by sb_stage_sweep(). */
	if (!answered)
		sb_sys_notify_continue(broker->performer->listener, call->id);
}

int sb_staging_wait_ms(const struct sb_staging *staging)
{
	return __atomic_load_n(&staging->count, __ATOMIC_ACQUIRE) ? LOOK_MS : -1;
}

/* --- modes ------------------------------------------------------------------------------------------ */

bool sb_stage_metadata(struct sb_broker *broker, const struct sb_call *call,
		       const struct sb_spot *file)
{
	struct sb_staging *staging = &broker->staging;
	struct sb_stage *stage;
	int error = 0;

	if (!call->file.by_descriptor || !__atomic_load_n(&staging->count, __ATOMIC_ACQUIRE) ||
	    file->object < 0 || !sb_sys_notify_alive(broker->performer->listener, call->id))
		return false;
	pthread_mutex_lock(&staging->lock);
	stage = find_stage(staging, &file->info);
	if (stage && call->act == SB_ACT_CHMOD) {
		stage->mode = call->mode & 01777;
		(void)!fchmod(stage->reader, stage->mode & 0777);
	} else if (stage && call->act == SB_ACT_CHOWN) {
		if ((call->owner != (uid_t)-1 && call->owner != stage->owner) ||
		    (call->group != (gid_t)-1 && call->group != stage->group))
			error = EPERM;
	} else if (stage && call->act != SB_ACT_TIMES) {
		error = EOPNOTSUPP; /* attributes */
	}
	pthread_mutex_unlock(&staging->lock);
	if (!stage)
		return false;
	if (error)
		sb_broker_fail(broker, call, error);
	else
		sb_sys_notify_return(broker->performer->listener, call->id, 0);
	return true;
}
