/*
 * linux_mounts.c - everything read-only but the writable roots.
 *
 * The stages, each with what it takes away and what it must leave working:
 *   1. new namespaces, ids mapped to themselves  (nothing yet; needs no privilege)
 *   2. mounts are cut off from those outside; copies of what stays writable or visible
 *      are taken, while it still is
 *   3. everything is made read-only
 *   4. the plan's steps, parents first: private temp, writable roots, pins, read-only
 *      and hidden names
 *   5. the caller enters
 *
 * A process cannot leave a user namespace it made, and on some machines making one
 * works and mounting in it does not (Ubuntu's AppArmor rule).  So stages 1 to 4
 * run in a child that shares our memory and descriptors; it leaves the finished
 * namespaces as descriptors, and we enter only then.  A failure costs nothing.
 *
 * The child costs 50 us, and more on a busy machine.  So there is none where a failure
 * costs nothing anyway: with CAP_SYS_ADMIN no user namespace is needed, and we can go
 * back to the old namespaces; and a run that is refused without mounts needs no way back.
 */
#include "enforce/linux_mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "path/path.h"
#include "sys/mount.h"
#include "sys/process.h"

#define CHILD_STACK (128 * 1024) /* a few PATH_MAX buffers deep */

enum namespace_slot { NS_USER, NS_MOUNT, NS_IPC, NS_NET, NS_COUNT };

static const int namespaces[NS_COUNT] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWNET};
static const char *const namespace_names[NS_COUNT] = {"user", "mount", "ipc", "network"};

/* Shared with the child: what to do, and how it went. */
struct job {
	const struct sb_plan *plan;
	int *trees;   /* one per mount step; -1 when none is open */
	int terminal; /* a copy of the caller's, or -1 */
	int flags;    /* CLONE_NEW* */
	char uid_map[64], gid_map[64];
	int ns[NS_COUNT];
	const char *failed_at; /* a step in words; NULL: all done */
	const char *failed_on; /* the path, or NULL */
	int failed_errno;
	bool stuck; /* half way, in namespaces that we could not leave */
};

static bool failed(struct job *job, int negative_errno, const char *step, const char *path)
{
	if (negative_errno >= 0)
		return false;
	job->failed_at = step;
	job->failed_on = path;
	job->failed_errno = -negative_errno;
	return true;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), status = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		status = -errno;
	close(fd);
	return status;
}

/* Every id stays what it is; other users' files show as nobody's. */
static bool map_ids(struct job *job)
{
	return !failed(job, write_text("/proc/self/setgroups", "deny"), "map groups", NULL) &&
	       !failed(job, write_text("/proc/self/uid_map", job->uid_map), "map user ids", NULL) &&
	       !failed(job, write_text("/proc/self/gid_map", job->gid_map), "map group ids", NULL);
}

static int clone_at(const char *path)
{
	int fd = sb_sys_open_path(path), tree;

	if (fd < 0)
		return fd;
	tree = sb_sys_clone_tree(fd, "");
	close(fd);
	return tree;
}

static int attach_at(int tree, const char *path)
{
	int fd = sb_sys_open_path(path), status;

	if (fd < 0)
		return fd;
	status = sb_sys_attach(tree, fd);
	close(fd);
	return status;
}

/* Device files can be made in the first user namespace only. */
static bool own_dev(const struct job *job)
{
	return job->plan->own_dev && !(job->flags & CLONE_NEWUSER);
}

/* Major numbers of terminals in /dev/pts: the kernel's devices.txt. */
enum { PTS_FIRST = 136, PTS_LAST = 143 };

/*
 * The terminal that the command has from its caller, if it is one of /dev/pts: a descriptor is
 * of no mount of ours, so the name it was opened by has to lead there still.
 */
static int copy_terminal(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		char link[32], name[64];
		struct stat info, named;
		ssize_t length;
		int tree;

		/* by its number first: the name of a descriptor takes 15 us to learn */
		if (fstat(fd, &info) != 0 || !S_ISCHR(info.st_mode) ||
		    major(info.st_rdev) < PTS_FIRST || major(info.st_rdev) > PTS_LAST)
			continue;
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		length = readlink(link, name, sizeof name - 1);
		name[length > 0 ? length : 0] = '\0';
		if (!sb_path_within("/dev/pts", name))
			continue;
		tree = clone_at(name);
		if (tree < 0)
			continue;
		if (fstat(tree, &named) == 0 && named.st_dev == info.st_dev &&
		    named.st_ino == info.st_ino)
			return tree;
		close(tree);
	}
	return -1;
}

/* Is /dev to be shown that a /dev of our own stands in for? */
static bool is_replaced(const struct job *job, const struct sb_mount_step *step)
{
	return step->kind == SB_MOUNT_SHOW && own_dev(job) && strcmp(step->path, "/dev") == 0;
}

static bool take_copies(struct job *job)
{
	if (job->plan->own_terminals && job->plan->caller_terminal)
		job->terminal = copy_terminal();
	for (size_t i = 0; i < job->plan->mount_count; i++) {
		const struct sb_mount_step *step = &job->plan->mounts[i];

		if (step->kind != SB_MOUNT_KEEP && step->kind != SB_MOUNT_WRITABLE &&
		    step->kind != SB_MOUNT_SHOW)
			continue;
		if (is_replaced(job, step))
			continue;
		job->trees[i] = clone_at(step->path);
		if (failed(job, job->trees[i], "copy", step->path))
			return false;
		/* a device file that lies in a project is no more open than one in /dev */
		if (own_dev(job) && !sb_path_within("/dev", step->path) &&
		    failed(job, sb_sys_close_devices(job->trees[i]), "close devices in",
			   step->path))
			return false;
	}
	return true;
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
static bool make_places(struct job *job, int root, const struct sb_mount_step *step, mode_t mode)
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
		if (failed(job, status, "make a place for", shown->path))
			return false;
	}
	return true;
}

/* Does it hide a name, with nothing to show inside?  All such are alike. */
static bool is_plain_cover(const struct job *job, const struct sb_mount_step *step)
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
static int new_cover(struct job *job, int root, const char *name, const struct sb_mount_step *step)
{
	bool places_made;
	int fd;

	if (mkdirat(root, name, 0700) != 0)
		return -errno;
	fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	places_made = make_places(job, fd, step, 0111);
	if (fchmod(fd, step->has_shown ? 0111 : 0) != 0)
		places_made = false;
	close(fd);
	return places_made ? 0 : -EIO;
}

/* An empty directory that everybody may write to, as /tmp is. */
static int new_temp(struct job *job, int root, const char *name, const struct sb_mount_step *step)
{
	const char *wanted = job->plan->tmpdir_private;
	int fd, status = 0;

	if (mkdirat(root, name, 0700) != 0)
		return -errno;
	fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!make_places(job, fd, step, 0755))
		status = -EIO;
	else if (wanted && sb_path_within(step->path, wanted))
		status = make_place(fd, wanted + strlen(step->path) + 1, true, 0755, 0755);
	if (status == 0 && fchmod(fd, 01777) != 0)
		status = -errno;
	close(fd);
	return status;
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
static int fill_dev(struct job *job, int dir, const struct sb_mount_step *dev)
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

static int new_dev(struct job *job, int root, const char *name, const struct sb_mount_step *step)
{
	int fd, status;

	if (mkdirat(root, name, 0700) != 0)
		return -errno;
	fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	status = fill_dev(job, fd, step);
	if (status == 0 && fchmod(fd, 0755) != 0)
		status = -errno;
	close(fd);
	return status;
}

/* What a step needs in our own filesystem; NULL: nothing. */
typedef int (*own_maker)(struct job *job, int root, const char *name,
			 const struct sb_mount_step *step);

static own_maker maker_of(const struct job *job, const struct sb_mount_step *step)
{
	switch (step->kind) {
	case SB_MOUNT_HIDE:
		return new_cover;
	case SB_MOUNT_TMPFS:
		return new_temp;
	case SB_MOUNT_DEV:
		return own_dev(job) ? new_dev : NULL;
	default:
		return NULL;
	}
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
static bool make_one(struct job *job, int root, size_t index, own_maker make)
{
	const struct sb_mount_step *step = &job->plan->mounts[index];
	bool plain = is_plain_cover(job, step);
	char name[32];
	int status;

	if (plain)
		snprintf(name, sizeof name, "%s", step->is_dir ? "directory" : "file");
	else
		snprintf(name, sizeof name, "%zu", index);
	status = plain ? new_plain_cover(root, name, step->is_dir) : make(job, root, name, step);
	if (failed(job, status, "prepare", step->path))
		return false;
	job->trees[index] = sb_sys_clone_tree(root, name);
	return !failed(job, job->trees[index], "prepare", step->path);
}

/* Private temp directories, whatever hides a name, and a /dev: all in one filesystem of our own. */
static bool make_own(struct job *job)
{
	const struct sb_plan *plan = job->plan;
	const char *place = place_of_own(plan), *passing = place ? place : "/proc";
	bool done = true;
	int root = -1;

	for (size_t i = 0; i < plan->mount_count && done; i++) {
		own_maker make = maker_of(job, &plan->mounts[i]);

		if (!make)
			continue;
		if (root < 0) {
			root = sb_sys_new_tmpfs("0755");
			if (failed(job, root, "make a filesystem", NULL))
				return false;
			done = !failed(job, attach_at(root, passing), "mount on", passing);
		}
		done = done && make_one(job, root, i, make);
	}
	if (root < 0)
		return done;
	close(root);
	/* nothing private will cover it there */
	if (!place && failed(job, sb_sys_detach(passing), "uncover", passing))
		done = false;
	return done;
}

/*
 * In a new /dev/pts the caller's terminal has no name.  It gets that of the console, or of
 * another terminal that no run can use: ttyname(3) looks at every name in /dev.
 */
static bool show_terminal(struct job *job)
{
	static const char *const names[] = {"/dev/console", "/dev/tty0", "/dev/ttyS0"};
	int status = sb_sys_make_readonly(job->terminal); /* which takes nothing from a device */

	if (status >= 0)
		status = -ENOENT;
	for (size_t i = 0; i < sizeof names / sizeof names[0] && status == -ENOENT; i++)
		status = attach_at(job->terminal, names[i]);
	close(job->terminal);
	job->terminal = -1;
	return status == -ENOENT || !failed(job, status, "give the terminal a name in", "/dev");
}

/*
 * Where a rule hides "/", what covers it becomes the root: a process goes on from its own root
 * whatever is mounted on that.  Who enters the namespace later finds the cover there by itself
 * (setns(2) takes the topmost mount).  What it covers can be reached by no path.
 */
static int go_to_cover(int tree)
{
	return fchdir(tree) != 0 || chroot(".") != 0 ? -errno : 0;
}

static bool carry_out(struct job *job, size_t index)
{
	const struct sb_mount_step *step = &job->plan->mounts[index];
	int *tree = &job->trees[index], status;

	if (is_replaced(job, step))
		return true;
	switch (step->kind) {
	case SB_MOUNT_BLANK:  /* made with what hides it */
	case SB_MOUNT_LINK:   /* the same */
	case SB_MOUNT_DEVICE: /* made with /dev */
		return true;
	case SB_MOUNT_DEV:
		if (!own_dev(job))
			return true;
		break;
	case SB_MOUNT_TERMINALS:
		*tree = sb_sys_new_devpts();
		break;
	case SB_MOUNT_PIN:
	case SB_MOUNT_READONLY:
		*tree = clone_at(step->path);
		break;
	default: /* taken before everything became read-only */
		break;
	}
	if (failed(job, *tree, "copy", step->path))
		return false;
	if (step->kind == SB_MOUNT_DEV &&
	    failed(job, sb_sys_open_devices(*tree), "open devices in", step->path))
		return false;
	if ((step->kind == SB_MOUNT_READONLY || step->kind == SB_MOUNT_KEEP ||
	     step->kind == SB_MOUNT_HIDE || step->kind == SB_MOUNT_DEV ||
	     (step->kind == SB_MOUNT_SHOW && !step->writable)) &&
	    failed(job, sb_sys_make_readonly(*tree), "make read-only", step->path))
		return false;
	status = attach_at(*tree, step->path);
	if (status == -ENOENT && step->kind == SB_MOUNT_HIDE)
		status = 0; /* gone since the plan was made, as terminals go: nothing to hide */
	if (status >= 0 && step->kind == SB_MOUNT_HIDE && strcmp(step->path, "/") == 0)
		status = go_to_cover(*tree);
	close(*tree);
	*tree = -1;
	if (failed(job, status, "mount", step->path))
		return false;
	return step->kind != SB_MOUNT_TERMINALS || job->terminal < 0 || show_terminal(job);
}

static bool keep_namespaces(struct job *job)
{
	SB_AUTO_FD int self = sb_sys_open_self();

	for (int i = 0; i < NS_COUNT; i++) {
		if (!(job->flags & namespaces[i]))
			continue;
		job->ns[i] = sb_sys_open_namespace(self, namespaces[i]);
		if (failed(job, job->ns[i], "keep the namespaces", NULL))
			return false;
	}
	return true;
}

/* Only by an explicit rule for "/". */
static bool root_writable(const struct sb_plan *plan)
{
	return plan->node_count && plan->nodes[0].state == SB_STATE_WRITABLE;
}

static bool set_up(struct job *job)
{
	if ((job->flags & CLONE_NEWUSER) && !map_ids(job))
		return false;
	/* First of all: a copy taken earlier would stay in the host's group of mounts, and what
	 * is mounted on it would appear there. */
	if (failed(job, sb_sys_cut_off(), "cut off the mounts", NULL) || !take_copies(job) ||
	    failed(job, sb_sys_settle_root(!root_writable(job->plan), own_dev(job)),
		   "make everything read-only", NULL) ||
	    !make_own(job))
		return false;
	for (size_t i = 0; i < job->plan->mount_count; i++)
		if (!carry_out(job, i))
			return false;
	return !(job->flags & CLONE_NEWNET) ||
	       !failed(job, sb_sys_loopback_up(), "bring up loopback", NULL);
}

/* Runs in the child, on our memory: no allocation, no stdio, no return. */
static int child_main(void *argument)
{
	_exit(set_up(argument) && keep_namespaces(argument) ? 0 : 1);
}

static void close_all(struct job *job)
{
	for (size_t i = 0; i < job->plan->mount_count; i++) {
		if (job->trees[i] >= 0)
			close(job->trees[i]);
		job->trees[i] = -1;
	}
	if (job->terminal >= 0)
		close(job->terminal);
	job->terminal = -1;
	for (int i = 0; i < NS_COUNT; i++) {
		if (job->ns[i] >= 0)
			close(job->ns[i]);
		job->ns[i] = -1;
	}
}

static void start_try(struct job *job, int flags)
{
	job->flags = flags;
	job->failed_at = job->failed_on = NULL;
	for (int i = 0; i < NS_COUNT; i++)
		job->ns[i] = -1;
}

/* Where we stand, to come back to: entering a mount namespace leads to its root. */
struct standpoint {
	int root, cwd;
};

static bool go_back(const struct job *job, const struct standpoint *from)
{
	for (int i = 0; i < NS_COUNT; i++)
		if (job->ns[i] >= 0 && setns(job->ns[i], namespaces[i]) != 0)
			return false;
	return fchdir(from->root) == 0 && chroot(".") == 0 && fchdir(from->cwd) == 0;
}

/*
 * Stages 1 to 5 in this process.  False: nothing has happened to it, or job->stuck says
 * that it is in the new namespaces and must not go on.
 */
static bool try_here(struct job *job, int flags)
{
	start_try(job, flags);
	if (unshare(flags) != 0)
		failed(job, -errno, "make namespaces", NULL);
	else
		job->stuck = !set_up(job);
	return !job->failed_at;
}

/* The same, and after a failure it goes back; job->ns holds the old namespaces meanwhile. */
static bool try_and_return(struct job *job, int flags)
{
	SB_AUTO_FD int root = sb_sys_open_path("/");
	SB_AUTO_FD int cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct standpoint from = {root, cwd};

	start_try(job, flags);
	if (failed(job, root, "open", "/") || failed(job, cwd < 0 ? -errno : 0, "open", ".") ||
	    !keep_namespaces(job)) {
		close_all(job);
		return false;
	}
	if (unshare(flags) != 0)
		failed(job, -errno, "make namespaces", NULL);
	else if (!set_up(job))
		job->stuck = !go_back(job, &from);
	close_all(job);
	return !job->failed_at;
}

/* Run stages 1 to 4 in a child.  True: job->ns holds the finished namespaces. */
static bool try_in_child(struct job *job, int flags)
{
	char *stack;
	int pid, status = 0;

	start_try(job, flags);
	stack = mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return !failed(job, -errno, "get memory", NULL);
	/* No exit signal: a caller's SIGCHLD setting must neither matter nor notice. */
	pid = clone(child_main, stack + CHILD_STACK, CLONE_VM | CLONE_VFORK | CLONE_FILES | flags,
		    job);
	if (pid < 0)
		failed(job, -errno, "make namespaces", NULL);
	else if (waitpid(pid, &status, __WALL) != pid)
		failed(job, -errno, "wait for the set-up", NULL);
	else if (status != 0 && !job->failed_at)
		failed(job, -EINTR, "finish the set-up", NULL);
	munmap(stack, CHILD_STACK);
	if (job->failed_at)
		close_all(job);
	return !job->failed_at;
}

static void explain(const struct job *job, struct sb_layers *layers)
{
	snprintf(layers->no_mounts, sizeof layers->no_mounts, "cannot %s%s%.60s: %s",
		 job->failed_at, job->failed_on ? " " : "", job->failed_on ? job->failed_on : "",
		 strerror(job->failed_errno));
}

/* What the namespaces are made for, and whether the run can go on without. */
enum purpose { TO_LOOK, TO_ENTER, TO_ENTER_OR_END };

/*
 * Equal ways to the same mounts, best first.  With CAP_SYS_ADMIN no user namespace
 * is needed, and owners keep their names.  A network that is off can also be held
 * by the seccomp filter, so a missing network namespace must not cost the mounts.
 */
static bool try_all(struct job *job, bool with_network, enum purpose purpose,
		    struct sb_layers *layers)
{
	const int mounts = CLONE_NEWNS | CLONE_NEWIPC;
	bool done = false;

	for (int net = with_network ? 0 : CLONE_NEWNET; !done; net = 0) {
		if (sb_sys_has_capability(CAP_SYS_ADMIN))
			done = purpose == TO_LOOK ? try_in_child(job, mounts | net)
						  : try_and_return(job, mounts | net);
		if (!done && !job->stuck)
			done = purpose == TO_ENTER_OR_END && net == 0
				       ? try_here(job, mounts | CLONE_NEWUSER)
				       : try_in_child(job, mounts | net | CLONE_NEWUSER);
		if (net == 0 || job->stuck)
			break;
	}
	layers->stuck = job->stuck;
	if (!done) {
		explain(job, layers);
		return false;
	}
	layers->mounts = true;
	layers->ipc_namespace = true;
	layers->net_namespace = job->flags & CLONE_NEWNET;
	layers->user_namespace = job->flags & CLONE_NEWUSER;
	layers->own_dev = own_dev(job);
	return true;
}

static int new_job(const struct sb_plan *plan, struct job *job, struct sb_error *err)
{
	*job = (struct job){.plan = plan, .terminal = -1};
	job->trees = calloc(plan->mount_count + 1, sizeof *job->trees);
	if (!job->trees)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	for (size_t i = 0; i < plan->mount_count; i++)
		job->trees[i] = -1;
	snprintf(job->uid_map, sizeof job->uid_map, "%u %u 1", geteuid(), geteuid());
	snprintf(job->gid_map, sizeof job->gid_map, "%u %u 1", getegid(), getegid());
	return SB_OK;
}

/* Which filesystem the run's terminals are of, for whoever has to tell them from others. */
static int note_terminals(const struct sb_plan *plan, struct sb_layers *layers,
			  struct sb_error *err)
{
	struct stat info;

	if (!layers->mounts || !plan->own_terminals)
		return SB_OK;
	if (stat("/dev/pts", &info) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot look at the terminals");
	layers->terminals = info.st_dev;
	return SB_OK;
}

/* Whoever needs no user namespace is not restricted in them. */
static bool are_namespaces_restricted(void)
{
	SB_AUTO_FD int ubuntu = -1;
	char restricted = '0';

	if (sb_sys_has_capability(CAP_SYS_ADMIN))
		return false;
	ubuntu = open("/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
		      O_RDONLY | O_CLOEXEC);
	return ubuntu >= 0 && read(ubuntu, &restricted, 1) == 1 && restricted != '0';
}

bool sb_mounts_are_doubtful(void)
{
	return sb_sys_mounts_filtered() || are_namespaces_restricted();
}

int sb_mounts_enter(const struct sb_plan *plan, bool or_end, struct sb_layers *layers,
		    struct sb_error *err)
{
	struct job job;
	int status = new_job(plan, &job, err);

	if (status != SB_OK)
		return status;
	if (try_all(&job, plan->network, or_end ? TO_ENTER_OR_END : TO_ENTER, layers)) {
		for (int i = 0; i < NS_COUNT && status == SB_OK; i++)
			if (job.ns[i] >= 0 && setns(job.ns[i], namespaces[i]) != 0)
				status = sb_fail(err, SB_E_SYSTEM, errno,
						 "cannot enter the sandbox's %s namespace",
						 namespace_names[i]);
	}
	if (status == SB_OK)
		status = note_terminals(plan, layers, err);
	close_all(&job);
	free(job.trees);
	return status;
}

int sb_mounts_probe(bool with_network, struct sb_layers *layers, struct sb_error *err)
{
	struct sb_mount_step step = {.kind = SB_MOUNT_TMPFS, .path = "/dev", .is_dir = true};
	struct sb_plan plan = {.mounts = &step, .mount_count = 1};
	struct job job;
	int status = new_job(&plan, &job, err);

	if (status != SB_OK)
		return status;
	try_all(&job, with_network, TO_LOOK, layers);
	close_all(&job);
	free(job.trees);
	return SB_OK;
}
