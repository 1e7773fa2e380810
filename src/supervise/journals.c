#include "supervise/journals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/lock.h"
#include "guard/guard.h"
#include "supervise/proc_name.h"

#define MAX_KEPT 128 /* that are there at a time */

struct journal {
	int directory;
	dev_t device;
	ino_t inode; /* of the directory */
	char name[NAME_MAX + 1];
};

static struct {
	pthread_mutex_t lock;
	bool ended;
	size_t count;
	struct journal *all[MAX_KEPT];
	char beyond[PATH_MAX]; /* the first that there was no room for; "": none */
} journals = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void let_go(struct journal *journal)
{
	close(journal->directory);
	free(journal);
}

static bool is_there(const struct journal *journal)
{
	struct stat info;

	return fstatat(journal->directory, journal->name, &info, AT_SYMLINK_NOFOLLOW) == 0 ||
	       errno != ENOENT;
}

/* These under the lock. */

static bool is_kept(const struct stat *directory, const char *name)
{
	for (size_t i = 0; i < journals.count; i++)
		if (journals.all[i]->inode == directory->st_ino &&
		    journals.all[i]->device == directory->st_dev &&
		    strcmp(journals.all[i]->name, name) == 0)
			return true;
	return false;
}

static void drop_gone(void)
{
	size_t left = 0;

	for (size_t i = 0; i < journals.count; i++) {
		if (is_there(journals.all[i]))
			journals.all[left++] = journals.all[i];
		else
			let_go(journals.all[i]);
	}
	journals.count = left;
}

/* False: it is not kept. */
static bool keep(int directory, const char *name, size_t length)
{
	struct journal *journal;
	struct stat info;
	char copy[sizeof journal->name] = "";

	memcpy(copy, name, length);
	if (fstat(directory, &info) != 0)
		return false;
	if (is_kept(&info, copy))
		return true;
	if (journals.count == MAX_KEPT)
		drop_gone();
	journal = journals.count < MAX_KEPT ? calloc(1, sizeof *journal) : NULL;
	if (!journal)
		return false;
	journal->device = info.st_dev;
	journal->inode = info.st_ino;
	memcpy(journal->name, copy, sizeof copy);
	journal->directory = fcntl(directory, F_DUPFD_CLOEXEC, 3);
	if (journal->directory < 0) {
		free(journal);
		return false;
	}
	journals.all[journals.count++] = journal;
	return true;
}

void sb_journals_notice(int directory, const char *name, const char *path)
{
	size_t length = strcspn(name, "/");

	if (directory < 0 || length > NAME_MAX || !sb_guard_is_journal(name, length))
		return;
	SB_AUTO_LOCK(&journals.lock);
	if (!journals.ended && !keep(directory, name, length) && !journals.beyond[0])
		snprintf(journals.beyond, sizeof journals.beyond, "%s", path);
}

bool sb_journals_are_left(void)
{
	SB_AUTO_LOCK(&journals.lock);
	drop_gone();
	return journals.count > 0;
}

/* True: note is about the journal at path, whose bytes may be anything. */
static bool is_bad(const struct journal *journal, const char *path, char *note, size_t size)
{
	char first, tail[SB_GUARD_JOURNAL_TAIL];
	SB_AUTO_FD int fd = -1;
	struct stat info;
	off_t from;
	ssize_t got;

	/* a link SQLite does not follow here: O_NOFOLLOW since 3.31 */
	if (fstatat(journal->directory, journal->name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(info.st_mode))
		return false;
	snprintf(note, size, "is left behind, a journal of SQLite that cannot be looked at");
	/* no FIFO that has taken its place is waited for */
	fd = openat(journal->directory, journal->name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) != 0)
		return true;
	if (!S_ISREG(info.st_mode) || info.st_size == 0)
		return false;
	from = info.st_size > (off_t)sizeof tail ? info.st_size - (off_t)sizeof tail : 0;
	if (pread(fd, &first, 1, 0) != 1)
		return true;
	got = pread(fd, tail, sizeof tail, from);
	if (got < 0)
		return true;
	return sb_guard_journal_left(first, (struct sb_guard_bytes){tail, (size_t)got}, path, note,
				     size);
}

static bool find_path(int proc, const struct journal *journal, char *out, size_t size)
{
	char directory[PATH_MAX];

	/* a directory that is gone has nothing in it */
	return sb_descriptor_path(proc, journal->directory, directory, sizeof directory) >= 0 &&
	       (size_t)snprintf(out, size, "%s/%s", directory, journal->name) < size;
}

void sb_journals_end(int proc, void (*tell)(void *context, const char *path, const char *what),
		     void *context)
{
	char path[PATH_MAX + NAME_MAX + 2], note[SB_GUARD_NOTE];

	SB_AUTO_LOCK(&journals.lock);
	journals.ended = true;
	for (size_t i = 0; i < journals.count; i++) {
		if (find_path(proc, journals.all[i], path, sizeof path) &&
		    is_bad(journals.all[i], path, note, sizeof note))
			tell(context, path, note);
		let_go(journals.all[i]);
	}
	journals.count = 0;
	if (journals.beyond[0])
		tell(context, journals.beyond,
		     "and maybe others were not looked at: too many journals of SQLite are left behind");
	journals.beyond[0] = '\0';
}
