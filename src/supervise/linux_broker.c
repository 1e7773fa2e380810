/*
 * linux_broker.c - one held call: copied, resolved, decided, done.
 *
 *   1. copy      everything out of the command's memory, once (call.h)
 *   2. resolve   to a directory of ours and a name in it (resolve.h)
 *   3. judge     what the policy says (judge.h)
 *   4. alive?    after the last look at the command, before the first effect
 *   5. perform   on our own descriptors (perform.h), and hand over the result
 *
 * Whatever step 3 does not simply allow goes to the asker instead.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/domains.h"
#include "supervise/judge.h"
#include "supervise/perform.h"
#include "supervise/performer.h"
#include "sys/notify.h"

#define MAX_WAITING 256        /* threads that wait for FIFOs and connections */
#define WAIT_STACK (96 * 1024) /* struct sb_call and two spots, and some */
#define RESTART 512            /* ERESTARTSYS: the kernel's own, turned into EINTR or a restart */
#define TRIES 8                /* names come and go while we look: then give up */
#define TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)
#define CHANGES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | TMPFILE_BIT)

int sb_broker_enter(const struct sb_broker *broker)
{
	/* umask and current directory belong to the filesystem part of a process: clone(2) */
	if (unshare(CLONE_FS) != 0 || fchdir(broker->performer->proc) != 0)
		return -errno;
	umask(broker->performer->umask);
	return 0;
}

void sb_broker_count(struct sb_broker *broker, enum sb_op op, bool allowed)
{
	__atomic_fetch_add(&broker->counters.seen[op], 1, __ATOMIC_RELAXED);
	if (allowed)
		__atomic_fetch_add(&broker->counters.allowed[op], 1, __ATOMIC_RELAXED);
}

void sb_broker_fail(const struct sb_broker *broker, const struct sb_call *call, int error)
{
	/* nothing to be done when the caller is gone by now */
	sb_sys_notify_fail(broker->performer->listener, call->id, error);
}

static void let_through(const struct sb_broker *broker, const struct sb_call *call)
{
	sb_sys_notify_continue(broker->performer->listener, call->id);
}

/* A field of /proc/THREAD/status, as a number in base. */
static long status_field(int proc, pid_t thread, const char *field, int base)
{
	char name[32], text[4096];
	const char *found;
	ssize_t length;
	SB_AUTO_FD int fd = -1;

	snprintf(name, sizeof name, "%d/status", thread);
	fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (length <= 0)
		return -1;
	text[length] = '\0';
	found = strstr(text, field);
	return found ? strtol(found + strlen(field), NULL, base) : -1;
}

mode_t sb_broker_umask(const struct sb_broker *broker, pid_t thread)
{
	long mask;

	if (!__atomic_load_n(&broker->umask_changed, __ATOMIC_ACQUIRE))
		return broker->performer->umask;
	mask = status_field(broker->performer->proc, thread, "\nUmask:\t", 8);
	return mask < 0 ? 077 : (mode_t)mask;
}

/* The thread's own (sb_broker_enter), and mostly the right one already. */
void sb_broker_set_umask(const struct sb_broker *broker, pid_t thread)
{
	static _Thread_local mode_t last = (mode_t)-1;
	mode_t mask = sb_broker_umask(broker, thread);

	if (mask != last)
		umask(mask);
	last = mask;
}

void sb_broker_forward(struct sb_broker *broker, const struct sb_call *call, struct sb_spot *file,
		       struct sb_spot *target, int socket)
{
	const struct sb_performer *performer = broker->performer;
	SB_AUTO_FREE struct sb_wire_request *request = malloc(sizeof *request);
	long process = status_field(performer->proc, call->thread, "\nTgid:\t", 10);

	if (!request || process < 0) {
		sb_broker_fail(broker, call, EACCES);
		return;
	}
	request->call = *call;
	request->process = (pid_t)process;
	request->umask = sb_broker_umask(broker, call->thread);
	request->file = *file;
	request->target = target ? *target : SB_SPOT_EMPTY;
	request->socket = socket;
	if (call->act == SB_ACT_RENAME)
		sb_resolve_distrust();
	/* no asker: nobody could say yes */
	if (sb_wire_send_request(performer->channel, request) < 0)
		sb_broker_fail(broker, call, EACCES);
}

static void answer(const struct sb_broker *broker, const struct sb_call *call,
		   const struct sb_spot *file, struct sb_outcome *outcome)
{
	sb_deliver(broker->performer->listener, call, file, outcome);
}

/* --- waiting on a caller's behalf ----------------------------------------------------- */

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
	pthread_attr_t attributes;
	pthread_t thread;
	bool started = false;

	if (!waiter)
		return false;
	*waiter = (struct waiter){broker, work, argument};
	if (__atomic_add_fetch(&broker->waiting, 1, __ATOMIC_RELAXED) <= MAX_WAITING) {
		pthread_attr_init(&attributes);
		pthread_attr_setstacksize(&attributes, WAIT_STACK);
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
		started = pthread_create(&thread, &attributes, wait_main, waiter) == 0;
		pthread_attr_destroy(&attributes);
	}
	if (!started) {
		__atomic_fetch_sub(&broker->waiting, 1, __ATOMIC_RELAXED);
		free(waiter);
	}
	return started;
}

/* A field of /proc/THREAD/status that is a set of signals. */
static uint64_t signal_set(const char *status, const char *field)
{
	const char *found = strstr(status, field);

	return found ? strtoull(found + strlen(field), NULL, 16) : 0;
}

/*
 * A held call is not interrupted by signals (WAIT_KILLABLE_RECV), but one that waits for
 * somebody else natively is.  So whoever waits here looks for them, and answers as the kernel
 * does: it then runs the handler, and restarts the call or not, as the program asked.
 */
bool sb_broker_interrupted(const struct sb_broker *broker, const struct sb_call *call)
{
	char name[32], text[4096];
	ssize_t length;
	uint64_t pending;
	SB_AUTO_FD int fd = -1;

	snprintf(name, sizeof name, "%d/status", call->thread);
	fd = openat(broker->performer->proc, name, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	pending = signal_set(text, "\nSigPnd:\t") | signal_set(text, "\nShdPnd:\t");
	pending &= ~signal_set(text, "\nSigBlk:\t") & ~signal_set(text, "\nSigIgn:\t");
	if (!pending)
		return false;
	sb_broker_fail(broker, call, RESTART);
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
			answer(wait->broker, &wait->call, &wait->file, &outcome);
			break;
		}
		if (sb_broker_interrupted(wait->broker, &wait->call))
			break;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 20000000)
			pause.tv_nsec *= 2;
	}
	sb_spot_done(&wait->file);
	free(wait);
	return NULL;
}

static void wait_at_fifo(struct sb_broker *broker, const struct sb_call *call, struct sb_spot *file)
{
	struct fifo_wait *wait = malloc(sizeof *wait);

	if (wait) {
		wait->broker = broker;
		wait->call = *call;
		wait->call.value = NULL;
		wait->file = *file;
		if (sb_broker_wait(broker, wait_for_reader, wait)) {
			*file = SB_SPOT_EMPTY; /* the thread's now */
			return;
		}
		free(wait);
	}
	sb_broker_fail(broker, call, EAGAIN);
}

/*
 * Has the caller no number left for a descriptor?  The kernel minds that before the path, so
 * it is asked when an open has failed otherwise.
 */
static bool is_table_full(const struct sb_broker *broker, pid_t thread)
{
	int proc = broker->performer->proc;
	struct rlimit limit;
	char name[48], target[8];
	size_t count = 0;
	DIR *dir;
	int fd;

	if (prlimit(thread, RLIMIT_NOFILE, NULL, &limit) != 0 || limit.rlim_cur > INT_MAX)
		return false;
	if (limit.rlim_cur == 0)
		return true;
	snprintf(name, sizeof name, "%d/fd/%d", thread, (int)limit.rlim_cur - 1);
	if (readlinkat(proc, name, target, sizeof target) < 0)
		return false; /* the last one is free */
	snprintf(name, sizeof name, "%d/fd", thread);
	fd = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir) {
		const struct dirent *entry = readdir(dir);

		if (!entry)
			break;
		if (entry->d_name[0] != '.' && strtoul(entry->d_name, NULL, 10) < limit.rlim_cur)
			count++;
	}
	if (dir)
		closedir(dir);
	return count >= limit.rlim_cur;
}

/* The kernel's own answer, not a refusal of ours. */
static void answer_error(const struct sb_broker *broker, const struct sb_call *call, int error)
{
	if (call->act == SB_ACT_OPEN && call->file.path[0] && is_table_full(broker, call->thread))
		error = EMFILE;
	sb_broker_fail(broker, call, error);
}

/* --- opening ------------------------------------------------------------------------------ */

/* The object a constrained path leads to, as the kernel finds it; or a negative errno. */
static int open_constrained(int start, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = flags | O_PATH | O_CLOEXEC,
			       .resolve = resolve | RESOLVE_NO_MAGICLINKS};
	long fd = syscall(SYS_openat2, start, path, &how, sizeof how);

	return fd < 0 ? -errno : (int)fd;
}

/* path's last name in its directory; the name may be missing, or a link that leads nowhere. */
static int find_name(const struct sb_caller *caller, int start, const char *path, uint64_t resolve,
		     struct sb_spot *out)
{
	char directory[PATH_MAX] = ".";
	size_t end = strlen(path), begin, at;
	bool slash = end && path[end - 1] == '/';
	int status;

	while (end && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/';)
		begin--;
	if (begin) {
		memcpy(directory, path, begin);
		directory[begin] = '\0';
	}
	out->directory = open_constrained(start, directory, O_DIRECTORY, resolve);
	if (out->directory < 0)
		return out->directory;
	if (slash || begin == end)
		return -EISDIR;
	if (end - begin > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(out->name, path + begin, end - begin);
	out->name[end - begin] = '\0';
	status = sb_descriptor_path(caller->proc, out->directory, out->path, sizeof out->path);
	at = strcmp(out->path, "/") == 0 ? 0 : strlen(out->path);
	if (status == 0 && at + strlen(out->name) + 2 > sizeof out->path)
		status = -ENAMETOOLONG;
	if (status < 0)
		return status;
	out->path[at] = '/';
	memcpy(out->path + at + 1, out->name, strlen(out->name) + 1);
	return 0;
}

/* Put what a link says in place of the last name of path. */
static int replace_last(char *path, size_t size, const struct sb_spot *link)
{
	char text[PATH_MAX];
	ssize_t length = readlinkat(link->directory, link->name, text, sizeof text - 1);
	char *slash = strrchr(path, '/');
	size_t keep = slash ? (size_t)(slash - path) + 1 : 0;

	if (length < 0)
		return -errno;
	text[length] = '\0';
	if (text[0] == '/')
		keep = 0;
	if (keep + (size_t)length + 1 > size)
		return -ENAMETOOLONG;
	memcpy(path + keep, text, (size_t)length + 1);
	return 0;
}

/* Where openat2() starts: an absolute path does so too when it is kept in a root of its own. */
static int find_start(const struct sb_caller *caller, const struct sb_call *call,
		      struct sb_spot *out)
{
	bool relative = call->file.path[0] != '/' || (call->resolve & RESOLVE_IN_ROOT);

	*out = SB_SPOT_EMPTY;
	if (!call->file.path[0])
		return -ENOENT;
	return sb_resolve(caller, relative ? call->file.fd : AT_FDCWD, ".", SB_LOOKUP_FOLLOW, out);
}

/* Where openat2() may go is for the kernel to check, against the caller's own directory. */
static int resolve_constrained(const struct sb_caller *caller, const struct sb_call *call,
			       struct sb_spot *out)
{
	char path[PATH_MAX];
	struct sb_spot start;
	int status = find_start(caller, call, &start);

	*out = SB_SPOT_EMPTY;
	if (status < 0)
		return status;
	memcpy(path, call->file.path, sizeof path);
	if ((call->flags & O_CREAT) && ((call->flags & O_EXCL) || path[strlen(path) - 1] == '/')) {
		status = find_name(caller, start.object, path, call->resolve, out);
		goto found;
	}
	for (int links = 0;; links++) {
		struct stat info;

		status = open_constrained(start.object, path, call->file.follow ? 0 : O_NOFOLLOW,
					  call->resolve);
		if (status != -ENOENT || !(call->flags & O_CREAT))
			break;
		status = find_name(caller, start.object, path, call->resolve, out);
		if (status < 0 ||
		    fstatat(out->directory, out->name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISLNK(info.st_mode) || (call->flags & O_EXCL) || !call->file.follow)
			goto found;
		status = links < 40 ? replace_last(path, sizeof path, out) : -ELOOP;
		sb_spot_done(out);
		if (status < 0)
			goto found;
	}
	if (status >= 0) {
		int object = status;

		/* with a name where the last one is meant itself, else by what it is */
		status = call->file.follow
				 ? -EISDIR
				 : find_name(caller, start.object, path, call->resolve, out);
		if (status < 0)
			sb_spot_done(out);
		out->object = object;
		status = fstat(object, &out->info) != 0
				 ? -errno
				 : sb_descriptor_path(caller->proc, object, out->path,
						      sizeof out->path);
	}
found:
	sb_spot_done(&start);
	if (status < 0)
		sb_spot_done(out);
	return status;
}

/* openat2() is held whatever it wants, since its flags are in memory.  This one only reads. */
static void open_to_read(const struct sb_broker *broker, const struct sb_call *call)
{
	const struct sb_caller caller = {call->thread, broker->performer->proc, NULL};
	struct open_how how = {.flags = (uint64_t)(unsigned)call->flags,
			       .resolve = call->resolve | RESOLVE_NO_MAGICLINKS};
	struct sb_outcome outcome = {.fd = -1};
	struct stat info, opened;
	struct sb_spot start;
	int object, status = find_start(&caller, call, &start);

	if (status < 0) {
		answer_error(broker, call, -status);
		return;
	}
	object = open_constrained(start.object, call->file.path,
				  (uint64_t)(call->flags & (O_NOFOLLOW | O_DIRECTORY)),
				  call->resolve);
	/*
	 * Devices, FIFOs and magic links are the kernel's: opened by us they would wait in us or
	 * be ours.  Its second look at the flags can gain nothing, since Landlock refuses writes.
	 */
	if (object == -ELOOP || object == -ENOENT ||
	    (object >= 0 &&
	     (fstat(object, &info) != 0 || !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))))) {
		let_through(broker, call);
	} else if (object < 0) {
		answer_error(broker, call, -object);
	} else {
		outcome.fd =
			(int)syscall(SYS_openat2, start.object, call->file.path, &how, sizeof how);
		outcome.error = outcome.fd < 0 ? errno : 0;
		if (outcome.fd >= 0 &&
		    (fstat(outcome.fd, &opened) != 0 || opened.st_ino != info.st_ino ||
		     opened.st_dev != info.st_dev)) { /* another file by now */
			close(outcome.fd);
			outcome = (struct sb_outcome){.error = EAGAIN, .fd = -1};
		}
		answer(broker, call, NULL, &outcome);
	}
	if (object >= 0)
		close(object);
	sb_spot_done(&start);
}

int sb_broker_flags_of(const struct sb_broker *broker, pid_t thread, int number)
{
	char name[48], text[256];
	const char *found;
	ssize_t length;
	SB_AUTO_FD int fd = -1;

	snprintf(name, sizeof name, "%d/fdinfo/%d", thread, number);
	fd = openat(broker->performer->proc, name, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (length <= 0)
		return O_PATH;
	text[length] = '\0';
	found = strstr(text, "flags:\t");
	return found ? (int)strtol(found + strlen("flags:\t"), NULL, 8) : O_PATH;
}

/*
 * SECURITY: a descriptor the caller has open for writing may be opened again by its name in
 * /proc (/dev/stdout does that).
 *
 * Danger: the caller may put another file at that number while we look.  So a copy of the
 * very descriptor says both how it is open and that it is the file we are about to open.
 * Price: without pidfd_getfd (some containers) such an open is decided by path alone.
 * Held by: tests/enforce/fds.py
 */
static bool holds_already(const struct sb_call *call, const struct sb_spot *file)
{
	int has, wants = call->flags & O_ACCMODE;
	struct stat info;
	SB_AUTO_FD int fd = -1;

	if (!file->through_fd)
		return false;
	fd = sb_sys_take_descriptor(call->thread, file->fd_number);
	has = fd < 0 ? -1 : fcntl(fd, F_GETFL);
	if (has < 0 || (has & O_PATH) || fstat(fd, &info) != 0 ||
	    info.st_dev != file->info.st_dev || info.st_ino != file->info.st_ino)
		return false;
	return (has & O_ACCMODE) == O_RDWR || ((has & O_ACCMODE) == O_WRONLY && wants == O_WRONLY);
}

/* --- one call ------------------------------------------------------------------------------- */

/*
 * The policy allows it, and yet we could not: it lies where this process has no right to
 * change anything (a rule for something that did not exist at the start).
 */
static bool is_out_of_reach(const struct sb_performer *performer, const struct sb_call *call,
			    const struct sb_judgement *judgement, int error)
{
	if (error != EROFS && error != EACCES && error != EPERM && error != EXDEV)
		return false;
	if (call->act == SB_ACT_ACCESS && error != EROFS)
		return false;
	for (size_t i = 0; i < judgement->count; i++) {
		const char *path = judgement->all[i].spot->path;

		if (path[0] && sb_plan_state_at(performer->plan, path) != SB_STATE_WRITABLE)
			return true;
	}
	return false;
}

static int resolve_named(const struct sb_broker *broker, struct sb_cwd *cwd,
			 const struct sb_call *call, const struct sb_named *named,
			 enum sb_lookup lookup, struct sb_spot *out)
{
	const struct sb_caller caller = {call->thread, broker->performer->proc, cwd};

	if (named->by_descriptor) {
		int status = sb_resolve_descriptor(&caller, named->fd, out);

		if (status == 0 && named->open_only &&
		    (sb_broker_flags_of(broker, call->thread, named->fd) & O_PATH)) {
			sb_spot_done(out);
			return -EBADF;
		}
		return status;
	}
	if (call->resolve && named == &call->file)
		return resolve_constrained(&caller, call, out);
	return sb_resolve(&caller, named->fd, named->path, lookup, out);
}

bool sb_broker_inner_allows(const struct sb_call *call, const struct sb_spot *file,
			    const struct sb_spot *target)
{
	const struct sb_domain *domain;

	if (!sb_domain_of(call->thread, &domain))
		return false;
	for (; domain; domain = domain->outer) {
		struct sb_judgement judgement;

		sb_judge(domain->policy, call, file, target, &judgement);
		if (judgement.strictest->decision.verdict != SB_ALLOW)
			return false;
	}
	return true;
}

/* A name is looked up in a directory that can be searched, and only then minded otherwise. */
static bool may_search(const struct sb_spot *file)
{
	return file->directory < 0 || faccessat(file->directory, ".", X_OK, AT_EACCESS) == 0;
}

/* Names in procfs: switches are for Landlock to refuse, which it does; the rest is as it is. */
static void answer_in_proc(const struct sb_broker *broker, const struct sb_call *call,
			   const struct sb_spot *file, const struct sb_spot *target)
{
	int error = target->directory >= 0 && !may_search(file)
			    ? EACCES
			    : sb_perform_precheck(call, file, target);

	if (!error)
		error = sb_perform_postcheck(call, file);
	if (!error && call->act == SB_ACT_LINK && !target->in_proc)
		error = EXDEV;
	if (call->act == SB_ACT_OPEN)
		let_through(broker, call);
	else if (error)
		sb_broker_fail(broker, call, error);
	else if (call->act == SB_ACT_TRUNCATE || call->act == SB_ACT_ACCESS)
		sb_broker_fail(broker, call, EACCES);
	else if (sb_act_is_metadata(call->act) || call->act == SB_ACT_UNLINK ||
		 call->act == SB_ACT_RMDIR)
		sb_broker_fail(broker, call, EPERM);
	else
		sb_broker_fail(broker, call, ENOENT);
}

/* Longer than the caller may make files: the signal and the answer that the kernel gives. */
static bool is_too_long(const struct sb_call *call, const struct sb_spot *file)
{
	struct rlimit limit;
	char name[32];

	if (call->act != SB_ACT_TRUNCATE || !S_ISREG(file->info.st_mode) ||
	    call->length <= file->info.st_size ||
	    prlimit(call->thread, RLIMIT_FSIZE, NULL, &limit) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY || (rlim_t)call->length <= limit.rlim_cur)
		return false;
	snprintf(name, sizeof name, "self/fd/%d", file->object);
	if (faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) != 0)
		return false;
	syscall(SYS_tkill, call->thread, SIGXFSZ);
	return true;
}

/* True: answered.  False: the name changed meanwhile, look again. */
static bool attempt(struct sb_broker *broker, struct sb_cwd *cwd, const struct sb_call *call)
{
	const struct sb_performer *performer = broker->performer;
	bool two = call->act == SB_ACT_RENAME || call->act == SB_ACT_LINK;
	struct sb_spot file, target = SB_SPOT_EMPTY;
	struct sb_judgement judgement;
	struct sb_outcome outcome;
	bool answered = true, inner, allowed, metadata = sb_act_is_metadata(call->act);
	int status = resolve_named(broker, cwd, call, &call->file, sb_perform_lookup(call), &file);

	if (status == 0 && two) {
		status = call->target_error ? -call->target_error
					    : resolve_named(broker, cwd, call, &call->target,
							    SB_LOOKUP_NAME, &target);
		/* the first path's last directory must be searchable before the second counts */
		if (status < 0 && !may_search(&file))
			status = -EACCES;
		if (status < 0)
			sb_spot_done(&file);
	}
	if (status < 0) {
		answer_error(broker, call, -status);
		return true;
	}
	if (sb_perform_is_native(call, &file)) {
		/* without write access Landlock would not look at O_TRUNC */
		if ((call->flags & O_ACCMODE) == O_RDONLY && (call->flags & O_TRUNC))
			sb_broker_fail(broker, call, EACCES);
		else
			let_through(broker, call);
		goto out;
	}
	inner = sb_broker_inner_allows(call, &file, two ? &target : NULL);
	sb_judge(performer->policy, call, &file, two ? &target : NULL, &judgement);
	allowed = inner && judgement.strictest->decision.verdict == SB_ALLOW;
	if (!allowed && inner && call->act == SB_ACT_OPEN && holds_already(call, &file))
		allowed = true;
	sb_broker_count(broker, judgement.strictest->op, allowed);
	if (!allowed && (file.in_proc || target.in_proc)) {
		answer_in_proc(broker, call, &file, &target);
		goto out;
	}
	if (!allowed) {
		int error = two && !may_search(&file) ? EACCES
						      : sb_perform_precheck(call, &file, &target);

		if (error) {
			answer_error(broker, call, error);
			goto out;
		}
	}
	if (!inner) {
		sb_broker_fail(broker, call, metadata ? EPERM : EACCES);
		goto out;
	}
	/* without mounts nothing but the asker may touch metadata: linux_seccomp.c */
	if (!allowed || (metadata && !performer->layers->mounts)) {
		sb_broker_forward(broker, call, &file, &target, -1);
		goto out;
	}
	sb_broker_set_umask(broker, call->thread);
	if (!sb_sys_notify_alive(performer->listener, call->id))
		goto out;
	if (is_too_long(call, &file)) {
		sb_broker_fail(broker, call, EFBIG);
		goto out;
	}
	outcome = sb_perform(call, &file, &target);
	if (call->act == SB_ACT_RENAME)
		sb_resolve_renamed();
	if (outcome.again) {
		wait_at_fifo(broker, call, &file);
	} else if (outcome.error == EEXIST && call->act == SB_ACT_OPEN && !(call->flags & O_EXCL)) {
		answered = false;
	} else if (outcome.error && is_out_of_reach(performer, call, &judgement, outcome.error)) {
		sb_broker_forward(broker, call, &file, &target, -1);
	} else if (outcome.error) {
		answer_error(broker, call, outcome.error);
	} else {
		answer(broker, call, &file, &outcome);
	}
out:
	sb_spot_done(&file);
	sb_spot_done(&target);
	return answered;
}

/*
 * SECURITY: a program inside cannot put a Landlock layer on itself, unless it is a nested
 * sandbash that has told us its rules.
 *
 * Danger: its own layer would not bind us, who act for it: it would believe itself confined
 * and reach, through us, everything this run may change (KERNEL facts, M, "Nested").
 * Price: such programs see a kernel without Landlock.
 * Held by: tests/enforce/nested.py
 */
static void allow_own_landlock(const struct sb_broker *broker, const struct sb_call *call)
{
	const struct sb_domain *domain;

	if (sb_domain_of(call->thread, &domain) && domain)
		let_through(broker, call);
	else
		sb_broker_fail(broker, call, EOPNOTSUPP);
}

static void enter_domain(const struct sb_broker *broker, const struct sb_call *call)
{
	int status = sb_domain_enter(call->thread, call->value, call->value_length);

	if (status < 0)
		sb_broker_fail(broker, call, -status);
	else
		sb_sys_notify_return(broker->performer->listener, call->id, 0);
}

static bool answered_at_once(struct sb_broker *broker, const struct sb_call *call)
{
	switch (call->act) {
	case SB_ACT_UMASK:
		__atomic_store_n(&broker->umask_changed, true, __ATOMIC_RELEASE);
		let_through(broker, call);
		return true;
	case SB_ACT_LANDLOCK:
		allow_own_landlock(broker, call);
		return true;
	case SB_ACT_REGISTER:
		enter_domain(broker, call);
		return true;
	case SB_ACT_TIMES:
		if (call->flags) /* both times stay: the kernel does not even look at the path */
			sb_sys_notify_return(broker->performer->listener, call->id, 0);
		return call->flags;
	case SB_ACT_OPEN:
		/* no access to contents at all; and such a descriptor cannot be handed over */
		if (call->flags & O_PATH)
			let_through(broker, call);
		else if (!(call->flags & CHANGES))
			open_to_read(broker, call);
		return (call->flags & O_PATH) || !(call->flags & CHANGES);
	default:
		return false;
	}
}

/*
 * Most opens with O_CREAT make a new file.  If the rules allow that and changing an old one,
 * try it at once: O_EXCL tells whether it is new.  False: look closer.
 */
static bool created_at_once(struct sb_broker *broker, struct sb_cwd *cwd,
			    const struct sb_call *call)
{
	const struct sb_performer *performer = broker->performer;
	const struct sb_domain *domain;
	struct sb_outcome outcome = {.error = EEXIST, .fd = -1};
	struct sb_spot file;

	if (call->act != SB_ACT_OPEN || call->resolve ||
	    (call->flags & (O_CREAT | O_EXCL)) != O_CREAT ||
	    resolve_named(broker, cwd, call, &call->file, SB_LOOKUP_NAME, &file) < 0)
		return false;
	if (sb_decide(performer->policy, SB_CREATE, file.path).verdict == SB_ALLOW &&
	    sb_decide(performer->policy, SB_MODIFY, file.path).verdict == SB_ALLOW &&
	    sb_domain_of(call->thread, &domain) && !domain) {
		sb_broker_set_umask(broker, call->thread);
		if (sb_sys_notify_alive(performer->listener, call->id))
			outcome = sb_perform(call, &file, NULL);
	}
	if (!outcome.error) {
		sb_broker_count(broker, SB_CREATE, true);
		answer(broker, call, &file, &outcome);
	}
	sb_spot_done(&file);
	return !outcome.error;
}

void sb_broker_serve(struct sb_broker *broker, struct sb_cwd *cwd,
		     const struct seccomp_notif *notification)
{
	struct sb_call call;
	int status = sb_call_decode(notification, &call), tries = TRIES;

	if (status < 0) {
		sb_broker_fail(broker, &call, -status);
	} else if (call.act == SB_ACT_CONNECT || call.act == SB_ACT_BIND) {
		sb_broker_socket(broker, &call);
	} else if (!answered_at_once(broker, &call) && !created_at_once(broker, cwd, &call)) {
		while (!attempt(broker, cwd, &call))
			if (--tries == 0) {
				sb_broker_fail(broker, &call, EAGAIN);
				break;
			}
	}
	sb_call_done(&call);
}
