#include "sys/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/directory.h"

#define MAX_DEPTH 65536 /* trees deeper than PATH_MAX are made by accident often enough */

struct level {
	dev_t device;
	ino_t inode;
};

static bool is_at(int directory, const struct level *level)
{
	struct stat info;

	return fstat(directory, &info) == 0 && info.st_dev == level->device &&
	       info.st_ino == level->inode;
}

/* For changes, whatever its mode was; its owner may do so.  A negative errno. */
static int enter(int directory, const char *name, struct level *out)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int below = openat(directory, name, flags);
	struct stat info;

	if (below < 0 && errno == EACCES &&
	    fchmodat(directory, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0)
		below = openat(directory, name, flags);
	if (below < 0)
		return -errno;
	fstat(below, &info); /* of what is open it cannot fail */
	if ((info.st_mode & S_IRWXU) != S_IRWXU)
		fchmod(below, S_IRWXU);
	*out = (struct level){info.st_dev, info.st_ino};
	return below;
}

/*
 * Remove what can be removed at once; stops at a directory that holds something, and enters it.  A descriptor,
 * 0 when nothing is left, or a negative errno.
 */
static int clear(int directory, struct level *out_below)
{
	struct sb_sys_dir names;
	const struct dirent64 *entry;

	if (lseek(directory, 0, SEEK_SET) != 0)
		return -errno;
	sb_sys_dir_init(&names, directory);
	while ((entry = sb_sys_dir_next(&names))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(directory, entry->d_name, 0) == 0 ||
		    unlinkat(directory, entry->d_name, AT_REMOVEDIR) == 0)
			continue;
		if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES)
			return -errno;
		return enter(directory, entry->d_name, out_below);
	}
	return -names.error;
}

/* The directory at levels[depth], by steps from the one at levels[0]. */
static int sweep(int directory, struct level *levels)
{
	struct level left = {0};
	size_t depth = 0;

	for (;;) {
		struct level below = {0};
		int next = clear(directory, &below);

		if (next < 0 || (next == 0 && depth == 0))
			return close(directory), next;
		if (next > 0 && (++depth == MAX_DEPTH || memcmp(&below, &left, sizeof left) == 0))
			return close(next), close(directory), -ENOTEMPTY;
		if (next > 0) {
			levels[depth] = below;
		} else {
			left = levels[depth--];
			next = openat(directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		}
		close(directory);
		if (next < 0 || !is_at(next, &levels[depth]))
			return next < 0 ? -errno : (close(next), -ESTALE);
		directory = next;
	}
}

/* Of a directory that nobody may search no name leads to its mode, not even ".". */
static bool open_up(int directory)
{
	char name[32];

	snprintf(name, sizeof name, "/proc/self/fd/%d", directory);
	return chmod(name, S_IRWXU) == 0;
}

int sb_sys_sweep(int directory)
{
	const size_t size = MAX_DEPTH * sizeof(struct level);
	struct level *levels = mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int status = -ENOMEM;
	int top;

	if (levels == MAP_FAILED)
		return status;
	top = enter(directory, ".", &levels[0]);
	if (top == -EACCES && open_up(directory))
		top = enter(directory, ".", &levels[0]);
	status = top < 0 ? top : sweep(top, levels);
	munmap(levels, size);
	return status;
}
