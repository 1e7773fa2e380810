/*
 * linux_cwd.c - the current directory of whoever called last, and when it has to be looked up anew.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "supervise/proc_name.h"
#include "supervise/resolve.h"
#include "supervise/thread.h"

#define FRESH_NS 500000

static unsigned renames; /* of directories, so far */

void sb_resolve_renamed(void)
{
	__atomic_fetch_add(&renames, 1, __ATOMIC_RELEASE);
}

static bool is_name_fresh(const struct sb_cwd *cwd, uint64_t now_ns)
{
	return now_ns - cwd->named_ns < FRESH_NS &&
	       cwd->renames == __atomic_load_n(&renames, __ATOMIC_ACQUIRE);
}

static unsigned moves; /* changes of a current directory, so far */
static bool shared;    /* one of them was that of several threads */

void sb_resolve_moving(int proc, pid_t thread)
{
	if (!__atomic_load_n(&shared, __ATOMIC_RELAXED) && !sb_thread_is_alone(proc, thread))
		__atomic_store_n(&shared, true, __ATOMIC_RELEASE);
	__atomic_fetch_add(&moves, 1, __ATOMIC_ACQ_REL);
}

/* Who moves does so after we know of it and before the next call: threads do one thing at a time. */
static bool has_stayed(const struct sb_caller *caller, uint64_t now_ns)
{
	const struct sb_cwd *cwd = caller->cwd;

	return cwd->fd >= 0 && cwd->thread == caller->thread &&
	       now_ns - cwd->looked_ns < FRESH_NS &&
	       cwd->moves == __atomic_load_n(&moves, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&shared, __ATOMIC_ACQUIRE);
}

void sb_cwd_forget(struct sb_cwd *cwd)
{
	sb_auto_close(&cwd->fd);
	cwd->thread = 0;
	cwd->settled = false;
}

void sb_cwd_next(struct sb_cwd *cwd)
{
	cwd->settled = false;
}

static bool is_same(const struct sb_sys_identity *a, const struct sb_sys_identity *b)
{
	return a->inode == b->inode && a->device == b->device && a->mount == b->mount;
}

/* Have the caller's in cwd->fd. */
static int look_at_cwd(const struct sb_caller *caller, bool moved)
{
	struct sb_cwd *cwd = caller->cwd;
	struct sb_sys_identity identity;
	char name[SB_PROC_NAME];
	int fd;

	sb_proc_cwd(name, caller->thread);
	/* who has moved may be in another one with the same numbers: some file systems have such */
	if (cwd->fd >= 0 && !moved && sb_sys_identify(caller->proc, name, &identity) == 0 &&
	    is_same(&identity, &cwd->identity))
		return 0;
	fd = openat(caller->proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (sb_sys_identify(fd, "", &identity) < 0) {
		close(fd);
		return -EACCES;
	}
	sb_auto_close(&cwd->fd);
	cwd->fd = fd;
	cwd->identity = identity;
	cwd->named_ns = 0;
	return 0;
}

/*
 * SECURITY: a call has one current directory.
 *
 * Danger: another thread of the caller changes it between the look-ups of two paths.  The second would
 * close the directory that the first has borrowed, and its number would be another one's: judged
 * in one place, done in another.
 * Held by: tests/supervise/storm.py, "chdir"
 */
int sb_cwd_find(const struct sb_caller *caller)
{
	struct sb_cwd *cwd = caller->cwd;
	unsigned seen = __atomic_load_n(&moves, __ATOMIC_ACQUIRE);
	uint64_t now_ns;
	int status;

	if (cwd->settled)
		return cwd->fd;
	now_ns = sb_now_ns();
	if (!has_stayed(caller, now_ns)) {
		cwd->thread = 0; /* should that fail, nobody's is known */
		status = look_at_cwd(caller, cwd->moves != seen);
		if (status < 0)
			return status;
		cwd->thread = caller->thread;
		cwd->looked_ns = now_ns;
		cwd->moves = seen;
	}
	cwd->settled = true;
	return cwd->fd;
}

int sb_cwd_name(const struct sb_caller *caller)
{
	struct sb_cwd *cwd = caller->cwd;
	unsigned seen = __atomic_load_n(&renames, __ATOMIC_ACQUIRE);
	uint64_t now_ns = sb_now_ns();
	int status;

	if (is_name_fresh(cwd, now_ns))
		return 0;
	cwd->named_ns = 0; /* should that fail, no name is known */
	status = sb_descriptor_path(caller->proc, cwd->fd, cwd->path, sizeof cwd->path);
	if (status == 0) {
		cwd->named_ns = now_ns;
		cwd->renames = seen;
	}
	return status;
}

int sb_resolve_cwd(const struct sb_caller *caller, const char **out)
{
	int fd = sb_cwd_find(caller), status = fd < 0 ? fd : sb_cwd_name(caller);

	*out = caller->cwd->path;
	return status < 0 ? status : fd;
}
