#include "supervise/links.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/lock.h"
#include "supervise/land.h"
#include "supervise/proc_name.h"
#include "sys/beneath.h"

/* Links that were made in this run, by file.  A table with open addressing. */
struct entry {
	dev_t device;
	ino_t inode;
	unsigned long count;  /* 0: free, or all gone again */
	bool foreign;         /* it had names from before when one of these was made */
	struct timespec born; /* 0: not kept here */
	bool used;
};

static struct {
	pthread_mutex_t lock;
	struct entry *entries;
	size_t size, used; /* size is a power of two */
	size_t live; /* those with a count: mostly none for long, git's objects for a moment */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Where a file is, or belongs; NULL: there is no table yet. */
static struct entry *find(struct entry *entries, size_t size, dev_t device, ino_t inode)
{
	size_t at =
		(size_t)(((uint64_t)inode ^ (uint64_t)device << 32) * 0x9e3779b97f4a7c15u >> 20);

	if (!size)
		return NULL;
	for (;; at++) {
		struct entry *entry = &entries[at & (size - 1)];

		if (!entry->used || (entry->inode == inode && entry->device == device))
			return entry;
	}
}

/* Those without a count are forgotten when it gets too full: a long run makes millions. */
static bool make_room(void)
{
	size_t size = 1024;
	struct entry *grown;

	if (table.used * 2 < table.size)
		return true;
	while (size < 4 * table.live)
		size *= 2;
	grown = calloc(size, sizeof *grown);
	if (!grown)
		return false;
	table.used = 0;
	for (size_t i = 0; i < table.size; i++) {
		const struct entry *old = &table.entries[i];

		if (!old->used || !old->count)
			continue;
		*find(grown, size, old->device, old->inode) = *old;
		table.used++;
	}
	free(table.entries);
	table.entries = grown;
	table.size = size;
	return true;
}

static struct timespec born(const struct sb_spot *file)
{
	struct sb_sys_file info;

	return sb_sys_look(file->object, "", &info) == 0 ? info.born : (struct timespec){0};
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

void sb_links_made(const struct sb_spot *file)
{
	const struct stat *info = &file->info;
	struct timespec when = born(file);
	struct entry *entry;

	if (!S_ISREG(info->st_mode))
		return;
	SB_AUTO_LOCK(&table.lock);
	if (make_room()) { /* else the link stays unknown: such a file is copied */
		entry = find(table.entries, table.size, info->st_dev, info->st_ino);
		if (!entry->used || !is_same_time(entry->born, when)) {
			table.used += !entry->used;
			table.live -= entry->used && entry->count;
			*entry = (struct entry){.device = info->st_dev,
						.inode = info->st_ino,
						.born = when,
						.used = true};
		}
		entry->foreign = entry->foreign || info->st_nlink > 1 + entry->count;
		if (info->st_nlink) /* else it is its first name */
			table.live += !entry->count++;
	}
}

static struct entry *known(dev_t device, ino_t inode)
{
	struct entry *entry = find(table.entries, table.size, device, inode);

	return entry && entry->used ? entry : NULL;
}

struct sb_leaving sb_links_look(int directory, const char *name)
{
	struct stat info;

	if (!__atomic_load_n(&table.live, __ATOMIC_RELAXED) ||
	    fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
		return (struct sb_leaving){false, 0, 0};
	return (struct sb_leaving){true, info.st_dev, info.st_ino};
}

/* Whichever of its names it was: counting too few is safe. */
void sb_links_left(const struct sb_leaving *leaving)
{
	struct entry *entry;

	if (!leaving->counts)
		return;
	SB_AUTO_LOCK(&table.lock);
	entry = known(leaving->device, leaving->inode);
	if (entry && entry->count)
		table.live -= !--entry->count;
}

/* Somebody else may have removed one of ours since: then the number of names says nothing. */
static bool has_only_ours(const struct sb_spot *file, struct timespec when)
{
	const struct entry *entry;

	SB_AUTO_LOCK(&table.lock);
	entry = known(file->info.st_dev, file->info.st_ino);
	return entry && is_same_time(entry->born, when) && !entry->foreign &&
	       file->info.st_nlink <= 1 + entry->count;
}

bool sb_links_foreign(const struct sb_spot *file)
{
	return S_ISREG(file->info.st_mode) && file->info.st_nlink > 1 &&
	       !has_only_ours(file, born(file));
}

/* Here it is the number of the file alone that tells: it must be this one, and not one from before. */
bool sb_links_are_ours(const struct sb_spot *file)
{
	struct timespec when = born(file);

	return S_ISREG(file->info.st_mode) && when.tv_sec && has_only_ours(file, when);
}

int sb_links_break(struct sb_spot *spot)
{
	struct sb_landing landing = {.directory = spot->directory,
				     .name = spot->name,
				     .mode = spot->info.st_mode,
				     .owner = spot->info.st_uid,
				     .group = spot->info.st_gid};
	SB_AUTO_FD int from = -1;
	char name[SB_PROC_NAME];
	int status, object;

	if (spot->directory < 0)
		return -EACCES; /* named by a descriptor: there is no name to give a copy to */
	sb_proc_self_fd(name, spot->object);
	/* the caller must be allowed to write to it, and we to read it */
	if (faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) != 0)
		return -errno;
	from = openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return -errno;
	landing.copy_of = &from;
	status = sb_land(&landing);
	if (status < 0)
		return status;
	object = openat(spot->directory, spot->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (object < 0)
		return -errno;
	close(spot->object);
	spot->object = object;
	return fstat(object, &spot->info) != 0 ? -errno : 0;
}
