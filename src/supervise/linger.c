#include "supervise/linger.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/journals.h"
#include "supervise/proc_name.h"
#include "supervise/land.h"
#include "supervise/resolve.h"

#define MAX_KEPT 64 /* rebases that one run has begun; of more it is told at once */

struct kept {
	int directory;
	dev_t device;
	ino_t inode;
	char name[NAME_MAX + 1];
	struct sb_guard_bytes old; /* what was there before the first; malloc'ed, or NULL */
};

static struct {
	pthread_mutex_t lock;
	bool ended;
	size_t count;
	struct kept *all[MAX_KEPT];
} lingering = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool sb_linger_watches(void)
{
	return !__atomic_load_n(&lingering.ended, __ATOMIC_ACQUIRE);
}

bool sb_linger_has_some(void)
{
	return __atomic_load_n(&lingering.count, __ATOMIC_ACQUIRE) > 0 || sb_journals_are_left();
}

/* Under the lock. */
static bool is_kept(const struct stat *directory, const char *name)
{
	for (size_t i = 0; i < lingering.count; i++)
		if (lingering.all[i]->inode == directory->st_ino &&
		    lingering.all[i]->device == directory->st_dev &&
		    strcmp(lingering.all[i]->name, name) == 0)
			return true;
	return false;
}

/* Under the lock.  False: it is not kept. */
static bool keep(const struct sb_site *site, struct sb_guard_bytes old)
{
	struct kept *kept;
	struct stat info;
	char name[sizeof kept->name];
	int length = snprintf(name, sizeof name, "%.*s", (int)strcspn(site->name, "/"), site->name);

	if (site->directory < 0 || length < 0 || (size_t)length >= sizeof name ||
	    fstat(site->directory, &info) != 0)
		return false;
	if (is_kept(&info, name))
		return true;
	kept = lingering.count < MAX_KEPT ? calloc(1, sizeof *kept) : NULL;
	if (!kept)
		return false;
	kept->directory = fcntl(site->directory, F_DUPFD_CLOEXEC, 3);
	kept->device = info.st_dev;
	kept->inode = info.st_ino;
	memcpy(kept->name, name, sizeof name);
	if (old.bytes && old.length) {
		char *copy = malloc(old.length);

		if (copy) /* else all of it is news */
			memcpy(copy, old.bytes, old.length);
		kept->old = (struct sb_guard_bytes){copy, copy ? old.length : 0};
	}
	if (kept->directory < 0) {
		free((char *)kept->old.bytes);
		free(kept);
		return false;
	}
	lingering.all[lingering.count] = kept;
	__atomic_fetch_add(&lingering.count, 1, __ATOMIC_RELEASE);
	return true;
}

static void keep_or_tell(const struct sb_telling *telling, const struct sb_judgement *judgement,
			 struct sb_guard_bytes old)
{
	const struct sb_site *site = judgement->lands->site;
	bool is_done;

	pthread_mutex_lock(&lingering.lock);
	is_done = !lingering.ended && keep(site, old);
	pthread_mutex_unlock(&lingering.lock);
	if (!is_done)
		sb_tell_at(telling, site->path, judgement->lingers);
}

void sb_linger_landed(const struct sb_telling *telling, const struct sb_judgement *judgement,
		      struct sb_guard_bytes old)
{
	if (judgement->lingers[0])
		keep_or_tell(telling, judgement, old);
	if (judgement->note[0])
		telling->note(telling->context, SB_NOTE_LANDED, judgement->note);
}

static void tell_if_left(const struct sb_telling *telling, int proc, const struct kept *kept)
{
	char path[PATH_MAX], whole[PATH_MAX + NAME_MAX + 2], note[SB_GUARD_DETAIL];
	struct sb_bytes now = {0};

	/* a directory that is gone has nothing in it */
	if (sb_descriptor_path(proc, kept->directory, path, sizeof path) < 0)
		return;
	snprintf(whole, sizeof whole, "%s/%s", path, kept->name);
	if (sb_bytes_read_named(kept->directory, kept->name, SB_LAND_MAX, &now, NULL) < 0)
		sb_tell_at(telling, whole, "cannot be looked at any more");
	else if (now.data && sb_guard_left(kept->old, sb_bytes_seen(&now), note, sizeof note))
		sb_tell_at(telling, whole, note);
	sb_bytes_done(&now);
}

static void tell_journal(void *context, const char *path, const char *what)
{
	sb_tell_at(context, path, what);
}

void sb_linger_end(const struct sb_telling *telling, int proc)
{
	sb_journals_end(proc, tell_journal, (void *)telling);
	pthread_mutex_lock(&lingering.lock);
	__atomic_store_n(&lingering.ended, true, __ATOMIC_RELEASE);
	for (size_t i = 0; i < lingering.count; i++) {
		tell_if_left(telling, proc, lingering.all[i]);
		close(lingering.all[i]->directory);
		free((char *)lingering.all[i]->old.bytes);
		free(lingering.all[i]);
	}
	lingering.count = 0;
	pthread_mutex_unlock(&lingering.lock);
}
