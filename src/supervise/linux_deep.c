#include "base/words.h"
#include "supervise/deep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/proc_name.h"
#include "supervise/resolve.h"
#include "sys/directory.h"

#define DEEP_MAX (256 * 1024) /* of the whole name: what one call may cost */
#define LAST 1200             /* of the cut path: room for four long names, the guard knows three */
#define GAP (NAME_MAX + 2)    /* no name is as long */

/* Names are put in front of each other. */
struct whole {
	char *bytes;
	size_t size, start; /* it begins at start and goes to the end */
};

static bool put_before(struct whole *whole, const char *text, size_t length)
{
	size_t used = whole->size - whole->start;

	if (length > whole->start) {
		size_t size = whole->size * 2 + length;
		char *bytes = size <= DEEP_MAX ? malloc(size) : NULL;

		if (!bytes)
			return false;
		memcpy(bytes + size - used, whole->bytes + whole->start, used);
		free(whole->bytes);
		*whole = (struct whole){bytes, size, size - used};
	}
	whole->start -= length;
	memcpy(whole->bytes + whole->start, text, length);
	return true;
}

static bool is_at(int parent, const char *name, const struct stat *wanted)
{
	struct stat info;

	return fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       info.st_ino == wanted->st_ino && info.st_dev == wanted->st_dev;
}

/* What a directory is called in its parent.  Where file systems are joined, entries have other numbers. */
static int find_name(int parent, const struct stat *wanted, bool any, char out[NAME_MAX + 1])
{
	SB_AUTO_FD int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent64 *entry;
	struct sb_sys_dir dir;

	if (fd < 0)
		return -errno;
	sb_sys_dir_init(&dir, fd);
	while ((entry = sb_sys_dir_next(&dir))) {
		if ((!any && entry->d_ino != wanted->st_ino) || sb_is_dots(entry->d_name) ||
		    !is_at(parent, entry->d_name, wanted))
			continue;
		if (strlen(entry->d_name) > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(out, entry->d_name, strlen(entry->d_name) + 1);
		return 0;
	}
	return dir.error ? -dir.error : -ENOENT;
}

/* One step up: *at becomes its parent, its name comes in front of the others. */
static int climb(int *at, struct whole *whole)
{
	SB_AUTO_FD int parent = openat(*at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[NAME_MAX + 1];
	struct stat info;
	int status;

	if (parent < 0 || fstat(*at, &info) != 0)
		return errno == ENOTDIR ? -ENAMETOOLONG : -errno;
	status = find_name(parent, &info, false, name);
	if (status == -ENOENT)
		status = find_name(parent, &info, true, name);
	if (status < 0)
		return status;
	if (!put_before(whole, name, strlen(name)) || !put_before(whole, "/", 1))
		return -ENAMETOOLONG;
	close(*at);
	*at = sb_take_fd(&parent);
	return 0;
}

int sb_deep_name(int proc, int fd, const char *name, char **out)
{
	SB_AUTO_FD int at = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct whole whole = {malloc(2 * PATH_MAX), 2 * PATH_MAX, 2 * PATH_MAX - 1};
	bool named = name[0] && strcmp(name, ".") != 0;
	char near[PATH_MAX];
	int status = at < 0 ? (errno == ENOTDIR ? -ENAMETOOLONG : -errno) : 0;

	if (!whole.bytes)
		return -ENOMEM;
	whole.bytes[whole.start] = '\0';
	if (status == 0 && named &&
	    !(put_before(&whole, name, strlen(name)) && put_before(&whole, "/", 1)))
		status = -ENAMETOOLONG;
	while (status == 0) {
		status = sb_descriptor_path(proc, at, near, sizeof near);
		if (status != -ENAMETOOLONG)
			break;
		status = climb(&at, &whole);
	}
	if (status == 0 && !put_before(&whole, near, strlen(near)))
		status = -ENAMETOOLONG;
	if (status == 0) {
		memmove(whole.bytes, whole.bytes + whole.start, whole.size - whole.start);
		*out = whole.bytes;
	} else {
		free(whole.bytes);
	}
	return status;
}

void sb_deep_cut(const char *whole, char out[PATH_MAX])
{
	size_t first = PATH_MAX - 1 - LAST - GAP - 1, last = strlen(whole) - LAST;

	while (whole[first] != '/') /* before the last name that is kept whole */
		first--;
	while (whole[last] != '/')
		last++;
	memcpy(out, whole, first);
	out[first] = '/';
	memset(out + first + 1, '.', GAP);
	memcpy(out + first + 1 + GAP, whole + last, strlen(whole + last) + 1);
}
