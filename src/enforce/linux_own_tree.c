/*
 * linux_own_tree.c - a filesystem of our own: temp directories, what hides names, a /dev.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "enforce/mounts_impl.h"
#include "path/path.h"
#include "sys/mount.h"
#include "sys/process.h"

bool sb_mount_failed(struct sb_mount_job *job, int negative_errno, const char *step,
		     const char *path)
{
	if (negative_errno >= 0)
		return false;
	job->failed_at = step;
	job->failed_on = path;
	job->failed_errno = -negative_errno;
	return true;
}

int sb_mount_attach(int tree, const char *path)
{
	int fd = sb_sys_open_path(path), status;

	if (fd < 0)
		return fd;
	status = sb_sys_attach(tree, fd);
	close(fd);
	return status;
}

/* Make an empty directory or file at relative in a new filesystem, with its parents. */
static int make_place(int root, const char *relative, bool is_dir, mode_t mode, mode_t parent_mode)
{
	char path[PATH_MAX];
	size_t length = strlen(relative);
	int fd;

	if (length >= sizeof path)
		return -ENAMETOOLONG;
	memcpy(path, relative, length + 1);
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(root, path, parent_mode) != 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	if (is_dir)
		return mkdirat(root, path, mode) != 0 && errno != EEXIST ? -errno : 0;
	fd = openat(root, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode & 0666);
	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	close(fd);
	return 0;
}

/* A link with the same text as the one at path; its directories are there or made. */
static int make_link(int root, const char *relative, const char *path, mode_t parent_mode)
{
	char text[PATH_MAX], parent[PATH_MAX];
	ssize_t length = readlink(path, text, sizeof text);
	size_t end = strlen(relative);

	if (length < 0 || (size_t)length == sizeof text)
		return 0; /* gone, or no link any more: it leads nowhere */
	text[length] = '\0';
	while (end && relative[end] != '/')
		end--;
	if (end) {
		int status;

		if (end >= sizeof parent)
			return -ENAMETOOLONG;
		memcpy(parent, relative, end);
		parent[end] = '\0';
		status = make_place(root, parent, true, parent_mode, parent_mode);
		if (status < 0)
			return status;
	}
	return symlinkat(text, root, relative) != 0 && errno != EEXIST ? -errno : 0;
}

/* Places in the tree at root, which will lie at step->path, for all that is shown inside it. */
static bool make_places(struct sb_mount_job *job, int root, const struct sb_mount_step *step,
			mode_t mode)
{
	size_t skip = strlen(step->path) + (strcmp(step->path, "/") != 0);

	for (size_t i = 0; i < job->plan->mount_count; i++) {
		const struct sb_mount_step *shown = &job->plan->mounts[i];
		int status;

		if (!shown->inside || strcmp(shown->inside, step->path) != 0)
			continue;
		if (shown->kind == SB_MOUNT_LINK)
			status = make_link(root, shown->path + skip, shown->path, mode);
		else
			status = make_place(root, shown->path + skip, shown->is_dir,
					    shown->kind == SB_MOUNT_BLANK ? 0 : 0755, mode);
		if (sb_mount_failed(job, status, "make a place for", shown->path))
			return false;
	}
	return true;
}

/* Does it hide a name, with nothing to show inside?  All such are alike. */
static bool is_plain_cover(const struct sb_mount_job *job, const struct sb_mount_step *step)
{
	for (size_t i = 0; i < job->plan->mount_count; i++) {
		const struct sb_mount_step *shown = &job->plan->mounts[i];

		if (shown->inside && strcmp(shown->inside, step->path) == 0)
			return false;
	}
	return step->kind == SB_MOUNT_HIDE;
}

/* Of these there is one of each kind: nobody else sees our filesystem, so what is there is ours. */
static int new_plain_cover(int root, const char *name, bool is_dir)
{
	int status = is_dir ? mkdirat(root, name, 0) : mknodat(root, name, S_IFREG, 0);

	return status != 0 && errno != EEXIST ? -errno : 0;
}

/* What hides a directory with something to show inside: it may be passed through (x) but not listed. */
static int fill_cover(struct sb_mount_job *job, int dir, const struct sb_mount_step *step)
{
	return make_places(job, dir, step, 0111) ? 0 : -EIO;
}

/* An empty directory that everybody may write to, as /tmp is. */
static int fill_temp(struct sb_mount_job *job, int dir, const struct sb_mount_step *step)
{
	const char *wanted = job->plan->tmpdir_private;

	if (!make_places(job, dir, step, 0755))
		return -EIO;
	return wanted && sb_path_within(step->path, wanted)
		       ? make_place(dir, wanted + strlen(step->path) + 1, true, 0755, 0755)
		       : 0;
}

/* The numbers of a device; those of every machine are the kernel's (devices.txt): no look. */
static bool find_device(const char *name, const char *path, mode_t *out_mode, dev_t *out_number)
{
	static const struct {
		const char name[8];
		unsigned char major, minor;
	} usual[] = {{"null", 1, 3},    {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8},
		     {"urandom", 1, 9}, {"tty", 5, 0},  {"ptmx", 5, 2}};
	struct stat info;

	for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
		if (strcmp(usual[i].name, name) == 0) {
			*out_mode = S_IFCHR | 0666;
			*out_number = makedev(usual[i].major, usual[i].minor);
			return true;
		}
	}
	if (lstat(path, &info) != 0)
		return false;
	*out_mode = info.st_mode;
	*out_number = info.st_rdev;
	return true;
}

/* A /dev with the devices that rules open, places for what is mounted in it, and links. */
static int fill_dev(struct sb_mount_job *job, int dir, const struct sb_mount_step *dev)
{
	static const struct {
		const char *name, *target;
	} links[] = {{"fd", "/proc/self/fd"},
		     {"stdin", "/proc/self/fd/0"},
		     {"stdout", "/proc/self/fd/1"},
		     {"stderr", "/proc/self/fd/2"}};
	mode_t mask = umask(0); /* else a device would need another call for its mode */
	int status = 0;

	for (size_t i = 0; i < sizeof links / sizeof links[0] && status == 0; i++)
		status = symlinkat(links[i].target, dir, links[i].name) != 0 ? -errno : 0;
	for (size_t i = 0; i < job->plan->mount_count && status == 0; i++) {
		const struct sb_mount_step *step = &job->plan->mounts[i];
		const char *name = step->path + strlen(dev->path) + 1;
		mode_t mode;
		dev_t number;

		if (!step->inside || strcmp(step->inside, dev->path) != 0)
			continue;
		if (step->kind != SB_MOUNT_DEVICE)
			status = make_place(dir, name, step->is_dir, 0755, 0755);
		else if (!find_device(name, step->path, &mode, &number) ||
			 mknodat(dir, name, mode, number) != 0)
			status = -errno;
	}
	if (status == 0 && faccessat(dir, "ptmx", F_OK, 0) != 0 &&
	    symlinkat("pts/ptmx", dir, "ptmx") != 0)
		status = -errno;
	if (status == 0 && job->terminal >= 0)
		status = make_place(dir, "console", false, 0600, 0755);
	umask(mask);
	return status;
}

/* Fills the directory that a step needs in our own filesystem; NULL: it needs none. */
typedef int (*own_filler)(struct sb_mount_job *job, int dir, const struct sb_mount_step *step);

static own_filler filler_of(const struct sb_mount_job *job, const struct sb_mount_step *step,
			    mode_t *out_mode)
{
	switch (step->kind) {
	case SB_MOUNT_HIDE:
		*out_mode = step->has_shown ? 0111 : 0;
		return fill_cover;
	case SB_MOUNT_TMPFS:
		*out_mode = 01777;
		return fill_temp;
	case SB_MOUNT_DEV:
		*out_mode = 0755;
		return sb_mount_own_dev(job) ? fill_dev : NULL;
	default:
		return NULL;
	}
}

static int new_directory(struct sb_mount_job *job, int root, const char *name,
			 const struct sb_mount_step *step)
{
	mode_t mode = 0;
	own_filler fill = filler_of(job, step, &mode);
	int fd, status;

	if (mkdirat(root, name, 0700) != 0)
		return -errno;
	fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	status = fill(job, fd, step);
	if (status == 0 && fchmod(fd, mode) != 0)
		status = -errno;
	close(fd);
	return status;
}

/*
 * Where the root of our own filesystem lies: beneath the first private directory, which
 * will cover it.  It has to lie somewhere.  Before Linux 6.15 copies can only be taken of
 * what is mounted; and what is not would be torn down as soon as its descriptor is
 * closed, which waits for all processors (20 us of a launch).
 */
static const char *place_of_own(const struct sb_plan *plan)
{
	for (size_t i = 0; i < plan->mount_count; i++)
		if (plan->mounts[i].kind == SB_MOUNT_TMPFS)
			return plan->mounts[i].path;
	return NULL;
}

/* One directory or file of our own filesystem, and a copy of it to mount. */
static bool make_one(struct sb_mount_job *job, int root, size_t index)
{
	const struct sb_mount_step *step = &job->plan->mounts[index];
	bool plain = is_plain_cover(job, step);
	char name[32];
	int status;

	if (plain)
		snprintf(name, sizeof name, "%s", step->is_dir ? "directory" : "file");
	else
		snprintf(name, sizeof name, "%zu", index);
	status = plain ? new_plain_cover(root, name, step->is_dir)
		       : new_directory(job, root, name, step);
	if (sb_mount_failed(job, status, "prepare", step->path))
		return false;
	job->trees[index] = sb_sys_clone_tree(root, name);
	return !sb_mount_failed(job, job->trees[index], "prepare", step->path);
}

bool sb_mount_make_own(struct sb_mount_job *job)
{
	const struct sb_plan *plan = job->plan;
	const char *place = place_of_own(plan), *passing = place ? place : "/proc";
	bool done = true;
	int root = -1;

	for (size_t i = 0; i < plan->mount_count && done; i++) {
		mode_t mode;

		if (!filler_of(job, &plan->mounts[i], &mode))
			continue;
		if (root < 0) {
			root = sb_sys_new_tmpfs("0755");
			if (sb_mount_failed(job, root, "make a filesystem", NULL))
				return false;
			done = !sb_mount_failed(job, sb_mount_attach(root, passing), "mount on",
						passing);
		}
		done = done && make_one(job, root, i);
	}
	if (root < 0)
		return done;
	close(root);
	/* nothing private will cover it there */
	if (!place && sb_mount_failed(job, sb_sys_detach(passing), "uncover", passing))
		done = false;
	return done;
}
