#include "config/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/write.h"
#include "path/path.h"

int sb_config_read(const char *path, struct sb_buf *out, bool *out_found, struct sb_error *err)
{
	SB_AUTO_FD int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat info;
	char chunk[8192];
	ssize_t got;

	*out_found = false;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return SB_OK;
	if (fd < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot read '%s'", path);
	if (fstat(fd, &info) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot read '%s'", path);
	if (!S_ISREG(info.st_mode))
		return sb_fail(err, SB_E_INVALID, 0, "'%s' is not a regular file", path);
	while ((got = read(fd, chunk, sizeof chunk)) != 0) {
		if (got < 0)
			return sb_fail(err, SB_E_SYSTEM, errno, "cannot read '%s'", path);
		sb_buf_append(out, chunk, (size_t)got);
	}
	if (sb_buf_failed(out))
		return sb_fail(err, SB_E_INVALID, 0, "'%s' is larger than %zu bytes", path,
			       out->limit);
	*out_found = true;
	return SB_OK;
}

static int changes_refused(struct sb_error *err, int error, const char *path)
{
	return sb_fail(err, SB_E_SYSTEM, error, "cannot change '%s'", path);
}

int sb_config_make_dirs(const char *dir, unsigned mode, struct sb_error *err)
{
	return sb_make_dirs(dir, mode, "change", err);
}

#define LOCK_WAIT_MS 5000
#define LOCK_PAUSE_MS 20

/*
 * A command in a sandbox can read the directory, so it can lock it, too, and for ever: whoever
 * waits here (the supervisor itself, when a person answers "always") must not wait with it.
 */
static int lock_soon(int fd)
{
	const struct timespec pause = {0, LOCK_PAUSE_MS * 1000000L};

	for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; waited += LOCK_PAUSE_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (waited >= LOCK_WAIT_MS)
			return -EWOULDBLOCK;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int sb_config_lock(const char *path, int *out_fd, struct sb_error *err)
{
	SB_AUTO_FREE char *dir = sb_path_parent(path);
	SB_AUTO_FD int fd = -1;
	int status;

	if (!dir)
		return sb_no_memory(err);
	status = sb_config_make_dirs(dir, 0700, err);
	if (status != SB_OK)
		return status;
	/* The directory itself is the lock: nothing is left behind. */
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	status = fd < 0 ? -errno : lock_soon(fd);
	if (status == -EWOULDBLOCK) {
		sb_fail(err, SB_E_SYSTEM, -status, "cannot lock '%s'", dir);
		return sb_hint(err, "another program holds it: see 'lsof %s', end it and try again",
			       dir);
	}
	if (status < 0)
		return sb_fail(err, SB_E_SYSTEM, -status, "cannot lock '%s'", dir);
	*out_fd = sb_take_fd(&fd);
	return SB_OK;
}

/* Fill the temporary file and make sure that it is on disk before it gets the name. */
static int finish(int fd, mode_t mode, const char *bytes, size_t length)
{
	int status = sb_write_all(fd, bytes, length);

	if (status == 0 && fchmod(fd, mode) != 0)
		status = -errno;
	if (status == 0 && fsync(fd) != 0)
		status = -errno;
	return status;
}

#define TEMPORARY ".sandbash-new."

/* A killed sandbash may have left its temporary file; whoever holds the lock clears it. */
static void clear_leftovers(const char *dir_path)
{
	DIR *dir = opendir(dir_path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strncmp(entry->d_name, TEMPORARY, strlen(TEMPORARY)) == 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

int sb_config_replace(const char *path, const char *bytes, size_t length, struct sb_error *err)
{
	SB_AUTO_FREE char *real = NULL, *dir = NULL, *temporary = NULL;
	SB_AUTO_FD int fd = -1;
	SB_AUTO_FD int dir_fd = -1;
	struct stat info;
	mode_t mode = 0600;
	int status;

	status = sb_path_canonical(path, &real, NULL, err);
	if (status != SB_OK)
		return status;
	dir = sb_path_parent(real);
	temporary = dir ? sb_path_join(dir, TEMPORARY "XXXXXX") : NULL;
	if (!temporary)
		return sb_no_memory(err);
	clear_leftovers(dir);
	if (stat(real, &info) == 0)
		mode = info.st_mode & 07777;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return changes_refused(err, errno, path);
	status = finish(fd, mode, bytes, length);
	if (status == 0 && rename(temporary, real) != 0)
		status = -errno;
	if (status != 0) {
		unlink(temporary);
		return changes_refused(err, -status, path);
	}
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd >= 0)
		fsync(dir_fd); /* best effort: the rename itself is already atomic */
	return SB_OK;
}
