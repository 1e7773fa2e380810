#include "base/write.h"
#include "files/linux_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/auto.h"
#include "files/linux_place.h"
#include "sys/beneath.h"

/* Names for as many writers at once in one directory; more take names of chance. */
#define SLOTS 8

/*
 * SECURITY: commands in the sandbox may not write under names that end like this, nor rename
 * or link to them: a row of src/guard/table.c.
 *
 * Danger: what lies there gets the name of the file that is written.  A command that opens the
 * temporary file of .git/config keeps a descriptor of .git/config; one that puts its own file
 * there chooses what .git/config holds.
 * Price: none but the name.  Held by: tests/unit/test_guard_names.c, tests/unit/test_files_gate.c
 */
#define SB_TEMPORARY_ENDING ".sandbash-write"

#define COPY_BYTES ((size_t)256 * 1024)
#define COPY_RANGE ((size_t)64 << 20) /* between two looks whether it was cancelled */
#define MAX_ATTRIBUTE (64 * 1024)     /* XATTR_SIZE_MAX, XATTR_LIST_MAX: xattr(7) */

struct temporary {
	int directory;
	int fd;
	struct sb_facts facts;
	char name[64];
};

bool sb_is_still(int directory, const char *name, const struct sb_facts *facts)
{
	struct sb_sys_file now;

	return sb_sys_look(directory, name, &now) == 0 && now.device == facts->device &&
	       now.inode == facts->inode;
}

static int look_at(int fd, struct sb_facts *out)
{
	struct sb_sys_file file;
	int status = sb_sys_look(fd, "", &file);

	if (status == 0)
		sb_disk_facts(&file, out);
	return status;
}

static int reopen(int object, int flags)
{
	char path[32];
	int fd;

	snprintf(path, sizeof path, "/proc/self/fd/%d", object);
	fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/*
 * A writer keeps its temporary file locked, so one without a lock was left by a writer that
 * died.  Remove it.  False: it is in use, or no file of ours.
 */
static bool sweep(int directory, const char *name)
{
	SB_AUTO_FD int object = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	SB_AUTO_FD int fd = -1;
	struct sb_facts facts = {0};

	if (object < 0)
		return errno == ENOENT;
	if (look_at(object, &facts) < 0 || facts.type != SB_FILES_FILE || facts.uid != geteuid())
		return false;
	fd = reopen(object, O_RDONLY);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0)
		return false;
	return !sb_is_still(directory, name, &facts) || unlinkat(directory, name, 0) == 0 ||
	       errno == ENOENT;
}

/*
 * 0: temporary is ours.  -EEXIST: another's.  Between making and locking it, a writer that
 * cleans up may take it for a leftover: then its name is gone, and we see that.
 */
static int make(struct temporary *temporary, mode_t mode)
{
	int status;

	temporary->fd = openat(temporary->directory, temporary->name,
			       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (temporary->fd < 0)
		return -errno;
	status = look_at(temporary->fd, &temporary->facts);
	/* where there are no locks (some network filesystems) nobody else gets one either */
	if (status == 0 && flock(temporary->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		status = -EEXIST;
	if (status == 0 && !sb_is_still(temporary->directory, temporary->name, &temporary->facts))
		status = -EEXIST;
	if (status < 0) {
		close(temporary->fd);
		temporary->fd = -1;
	}
	return status;
}

static int take_slot(struct temporary *temporary, mode_t mode)
{
	unsigned long chance;
	int status;

	for (unsigned slot = 0; slot < SLOTS; slot++) {
		snprintf(temporary->name, sizeof temporary->name, ".%u" SB_TEMPORARY_ENDING, slot);
		for (int tries = 0; tries < 3; tries++) {
			status = make(temporary, mode);
			if (status != -EEXIST)
				return status;
			if (!sweep(temporary->directory, temporary->name))
				break;
		}
	}
	if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance)
		return -EAGAIN;
	snprintf(temporary->name, sizeof temporary->name, ".%lx" SB_TEMPORARY_ENDING, chance);
	return make(temporary, mode);
}

static size_t smaller(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

static bool is_cancelled(const struct sb_replacement *with)
{
	return with->cancel && atomic_load(with->cancel);
}

/*
 * Where both are on one filesystem the kernel copies, or shares the blocks: copy_file_range(2).
 * As much as there was when it was opened: somebody may append faster than we copy.
 */
static int copy_all(const struct sb_replacement *with, int to)
{
	SB_AUTO_FREE char *chunk = NULL;
	int from = with->source->fd;
	uint64_t left = with->source->bytes;
	off_t at = 0;
	ssize_t got = 1;

	while (left && got > 0 && !is_cancelled(with)) {
		got = copy_file_range(from, &at, to, NULL, smaller(left, COPY_RANGE), 0);
		left -= got > 0 ? (uint64_t)got : 0;
	}
	if (got >= 0)
		return is_cancelled(with) ? -ECANCELED : 0;
	chunk = malloc(COPY_BYTES);
	if (!chunk)
		return -ENOMEM;
	while (left && (got = pread(from, chunk, smaller(left, COPY_BYTES), at)) > 0) {
		int status = is_cancelled(with) ? -ECANCELED : sb_write_all(to, chunk, (size_t)got);

		if (status < 0)
			return status;
		at += got;
		left -= (uint64_t)got;
	}
	return got < 0 ? -errno : 0;
}

/* Those that say how contents were may not survive contents; the kernel drops it on a write, too. */
static bool is_kept(const char *name)
{
	return strcmp(name, "security.capability") != 0 && strncmp(name, "security.ima", 12) != 0 &&
	       strncmp(name, "security.evm", 12) != 0;
}

/* Labels of security modules and trusted.* are the system's to give: as far as it lets us. */
static bool must_be_kept(const char *name)
{
	return strncmp(name, "user.", 5) == 0 || strncmp(name, "system.", 7) == 0;
}

static int copy_attribute(const char *from, int to, const char *name, char *value)
{
	ssize_t length = getxattr(from, name, value, MAX_ATTRIBUTE);

	if (length < 0)
		return errno == ENODATA || !must_be_kept(name) ? 0 : -errno;
	if (fsetxattr(to, name, value, (size_t)length, 0) == 0 || !must_be_kept(name))
		return 0;
	return -errno;
}

static int copy_attributes(int object, int to)
{
	SB_AUTO_FREE char *names = NULL;
	char from[32];
	ssize_t length;
	int status = 0;

	/* fgetxattr() takes no O_PATH descriptor */
	snprintf(from, sizeof from, "/proc/self/fd/%d", object);
	length = listxattr(from, NULL, 0);
	if (length <= 0)
		return length == 0 || errno == ENOTSUP ? 0 : -errno;
	names = malloc(2 * MAX_ATTRIBUTE);
	if (!names)
		return -ENOMEM;
	length = listxattr(from, names, MAX_ATTRIBUTE);
	if (length < 0)
		return -errno;
	for (const char *name = names; status == 0 && name < names + length;
	     name += strlen(name) + 1)
		if (is_kept(name))
			status = copy_attribute(from, to, name, names + MAX_ATTRIBUTE);
	return status;
}

/*
 * The old file's owner, attributes and mode, in this order: chown(2) drops bits of the mode,
 * and the mode is the mask of an ACL.  setuid and setgid go, as they do when a file is
 * written in place.
 */
static int keep(const struct sb_place *old, struct temporary *temporary)
{
	const struct sb_facts *was = &old->facts, *is = &temporary->facts;
	int status;

	if ((was->uid != is->uid || was->gid != is->gid) &&
	    fchown(temporary->fd, was->uid, was->gid) != 0)
		return -errno;
	status = copy_attributes(old->object, temporary->fd);
	if (status < 0)
		return status;
	return fchmod(temporary->fd, was->mode & 01777) == 0 ? 0 : -errno;
}

/* A rename needs no right to the file itself; somebody who made it read-only meant it. */
static int check_writable(int object)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", object);
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? 0 : -errno;
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Is there still what was decided about, and was its text not changed meanwhile? */
static int check_still(const struct sb_place *place, const struct temporary *temporary,
		       bool unchanged)
{
	struct sb_sys_file now;

	if (!sb_place_is_named(place))
		return -ESTALE;
	if (!sb_is_still(place->directory, temporary->name, &temporary->facts))
		return -ESTALE;
	if (!place->exists)
		return 0;
	if (sb_sys_look(place->directory, place->name, &now) < 0 ||
	    now.device != place->facts.device || now.inode != place->facts.inode)
		return -ESTALE;
	if (unchanged &&
	    (now.bytes != place->facts.bytes || !is_same_time(&now.changed, &place->facts.changed)))
		return -ESTALE;
	return 0;
}

static int put(const struct sb_place *place, const struct temporary *temporary)
{
	int directory = place->directory, status;

	if (place->exists)
		return renameat(directory, temporary->name, directory, place->name) == 0 ? 0
											 : -errno;
	status =
		sb_sys_rename(directory, temporary->name, directory, place->name, RENAME_NOREPLACE);
	if (status == -EINVAL || status == -ENOSYS) { /* a filesystem that cannot */
		if (linkat(directory, temporary->name, directory, place->name, 0) != 0)
			return -errno;
		return unlinkat(directory, temporary->name, 0) == 0 ? 0 : -errno;
	}
	return status == -EEXIST ? -ESTALE : status;
}

static int fill(struct sb_place *place, struct temporary *temporary,
		const struct sb_replacement *with)
{
	int status = with->source ? copy_all(with, temporary->fd)
				  : sb_write_all(temporary->fd, with->data, with->length);

	if (status == 0 && place->exists)
		status = keep(place, temporary);
	if (status == 0 && with->sync && fsync(temporary->fd) != 0 && errno != EINVAL)
		status = -errno;
	if (status == 0)
		status = check_still(place, temporary, with->unchanged);
	return status == 0 && with->check ? with->check(with->context) : status;
}

int sb_replace_file(struct sb_place *place, const struct sb_replacement *with)
{
	struct temporary temporary = {.directory = place->directory, .fd = -1};
	int status = place->exists ? check_writable(place->object) : 0;

	if (status < 0)
		return status;
	/* of a new file the kernel makes the mode: umask, or the directory's default ACL */
	status = take_slot(&temporary, place->exists ? 0600 : with->mode);
	if (status < 0)
		return status;
	status = fill(place, &temporary, with);
	if (status == 0)
		status = put(place, &temporary);
	if (status < 0) {
		if (sb_is_still(temporary.directory, temporary.name, &temporary.facts))
			unlinkat(temporary.directory, temporary.name, 0);
	} else if (!sb_is_still(place->directory, place->name, &temporary.facts)) {
		/* the name of the temporary file was given to another in the last moment */
		status = -ESTALE;
	}
	close(temporary.fd);
	return status;
}
