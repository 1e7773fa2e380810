/*
 * linux_view_programs.c - where only some programs may be run, the others are not there.
 *
 * SECURITY: a program that is not on the list cannot be executed, nor loaded by one that is.
 *
 * Danger: Landlock's right to execute must be given to the dynamic loader, which then runs what it is told, and
 * that needs the right to read only.  So the directories for programs hold nothing else, and what is writable or
 * the project's is mounted noexec: of such files no code can be mapped either (mmap(2), EPERM).  memfd_create(2),
 * whose files are on no mount that could be, is refused (enforce/linux_seccomp.c).
 * The loader by itself is refused by the broker, which a race can get around: then programs that lie among libraries
 * (/usr/lib) are held by nothing.
 * Price: helpers of a program have to be listed, too.
 * Held by: tests/cli/worker.py
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "enforce/view_impl.h"
#include "path/path.h"
#include "sys/mount.h"

static const char *const places[] = {
	"/usr/bin",       "/usr/sbin",    "/usr/local/bin", "/usr/local/sbin",
	"/usr/local/lib", "/usr/libexec", "/usr/games",     "/usr/local/games",
	"/usr/src",       "/bin",         "/sbin"};

#define HOPS 40 /* links in a row: as the kernel has it */

static bool make_way(struct sb_view_job *job, int directory, const char *rest)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s", rest);
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(directory, path, 0755) != 0 && errno != EEXIST)
			return !sb_view_failed(job, -errno, "make", "a program's directory");
		*slash = '/';
	}
	return true;
}

/* An empty file or directory for what will be mounted there, or a link as it is. */
static bool make_entry(struct sb_view_job *job, int directory, const char *path, const char *rest)
{
	char text[PATH_MAX];
	struct stat info;
	int status = 0;

	if (!make_way(job, directory, rest) || lstat(path, &info) != 0)
		return !job->step;
	if (S_ISLNK(info.st_mode)) {
		ssize_t length = readlink(path, text, sizeof text - 1);

		text[length < 0 ? 0 : length] = '\0';
		status = symlinkat(text, directory, rest);
	} else if (S_ISDIR(info.st_mode)) {
		status = mkdirat(directory, rest, 0755);
	} else {
		status = mknodat(directory, rest, S_IFREG | 0644, 0);
	}
	return !sb_view_failed(job, status != 0 && errno != EEXIST ? -errno : 0, "make",
			       "a program's place");
}

/* path, and all that its last name leads to by links, as far as it lies in place. */
static bool follow(struct sb_view_job *job, const char *path, const char *place,
		   bool (*each)(struct sb_view_job *, int, const char *, const char *), int at)
{
	char now[PATH_MAX], text[PATH_MAX];

	snprintf(now, sizeof now, "%s", path);
	for (int hop = 0; hop < HOPS; hop++) {
		SB_AUTO_FREE char *next = NULL, *whole = NULL, *directory = NULL;
		ssize_t length;

		/* links in its directories are those of the system: /bin to usr/bin */
		if (sb_path_canonical_parent(now, &whole, NULL) != SB_OK)
			return true;
		directory = sb_path_parent(whole);
		if (!directory)
			return true;
		if (sb_path_within(place, whole) && strcmp(place, whole) != 0 &&
		    !each(job, at, whole, whole + strlen(place) + 1))
			return false;
		length = readlink(whole, text, sizeof text - 1);
		if (length <= 0)
			return true;
		text[length] = '\0';
		if (sb_path_absolute(text, directory, NULL, &next, NULL) != SB_OK)
			return true;
		snprintf(now, sizeof now, "%s", next);
	}
	return true;
}

static bool mount_entry(struct sb_view_job *job, int directory, const char *path, const char *rest)
{
	SB_AUTO_FD int place = openat(directory, rest, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	SB_AUTO_FD int tree = -1;
	struct stat info;

	if (lstat(path, &info) != 0 || S_ISLNK(info.st_mode))
		return true;
	tree = sb_sys_clone_tree(AT_FDCWD, path);
	return !sb_view_failed(job, place < 0 ? -errno : 0, "open", "a program's place") &&
	       !sb_view_failed(job, tree, "copy", "a program") &&
	       !sb_view_failed(job, sb_sys_make_readonly(tree), "close", "a program") &&
	       !sb_view_failed(job, sb_sys_attach(tree, place), "mount", "a program");
}

/* A directory of the old root, still reachable by its path, in the new one: what of it may be run. */
static bool keep(struct sb_view_job *job, const char *place)
{
	SB_AUTO_FD int tree = -1;
	struct stat info;

	if (lstat(place, &info) != 0 || !S_ISDIR(info.st_mode))
		return true;
	tree = sb_sys_new_tmpfs("0755");
	if (sb_view_failed(job, tree, "make a filesystem", ""))
		return false;
	for (size_t i = 0; job->view->programs[i]; i++)
		if (!follow(job, job->view->programs[i], place, make_entry, tree))
			return false;
	if (sb_view_failed(job, sb_sys_make_readonly(tree), "close", place) ||
	    !sb_view_attach(job, tree, place + 1))
		return false;
	for (size_t i = 0; job->view->programs[i]; i++)
		if (!follow(job, job->view->programs[i], place, mount_entry, tree))
			return false;
	return true;
}

bool sb_view_keep_programs(struct sb_view_job *job)
{
	for (size_t i = 0; i < SB_COUNT(places); i++)
		if (!keep(job, places[i]))
			return false;
	return true;
}
