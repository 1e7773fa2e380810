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
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "enforce/mounts_impl.h"
#include "path/path.h"
#include "sys/mount.h"
#include "sys/process.h"

#define CHILD_STACK (128 * 1024) /* a few PATH_MAX buffers deep */

static const int namespaces[NS_COUNT] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWNET};
static const char *const namespace_names[NS_COUNT] = {"user", "mount", "ipc", "network"};

/* Every id stays what it is; other users' files show as nobody's. */
static bool map_ids(struct sb_mount_job *job)
{
	return !sb_mount_failed(job, sb_sys_write_text(AT_FDCWD, "/proc/self/setgroups", "deny"),
				"map groups", NULL) &&
	       !sb_mount_failed(job,
				sb_sys_write_text(AT_FDCWD, "/proc/self/uid_map", job->uid_map),
				"map user ids", NULL) &&
	       !sb_mount_failed(job,
				sb_sys_write_text(AT_FDCWD, "/proc/self/gid_map", job->gid_map),
				"map group ids", NULL);
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

/*
 * SECURITY: fchmod(2) and its like ask the mount that a file was opened by, and the caller's terminal was opened by
 * one that is not read-only.  So its descriptors are opened anew, by the copy.
 *
 * Danger: a terminal that others may write to, and read what is typed there.
 * Price: O_NONBLOCK and O_APPEND are the run's own.  What cannot be opened stays as it was: that is another user's.
 * Held by: tests/enforce/terminals.py
 */
static void reopen_terminal(int tree)
{
	char copy[32];
	struct stat info, named;

	snprintf(copy, sizeof copy, "/proc/self/fd/%d", tree);
	for (int fd = 0; fd <= 2; fd++) {
		int flags = fcntl(fd, F_GETFL);
		SB_AUTO_FD int again = -1;

		if (flags < 0 || flags & O_PATH || fstat(fd, &info) != 0 ||
		    fstat(tree, &named) != 0 || info.st_dev != named.st_dev ||
		    info.st_ino != named.st_ino)
			continue;
		again = open(copy,
			     (flags & (O_ACCMODE | O_APPEND | O_NONBLOCK)) | O_NOCTTY | O_CLOEXEC);
		if (again >= 0)
			dup2(again, fd);
	}
}

/* Is /dev to be shown that a /dev of our own stands in for? */
static bool is_replaced(const struct sb_mount_job *job, const struct sb_mount_step *step)
{
	return step->kind == SB_MOUNT_SHOW && sb_mount_own_dev(job) &&
	       strcmp(step->path, "/dev") == 0;
}

static bool take_copies(struct sb_mount_job *job)
{
	if (job->plan->own_terminals && job->plan->caller_terminal)
		job->terminal = copy_terminal();
	/* which takes nothing from a device */
	if (job->terminal >= 0 && !sb_mount_failed(job, sb_sys_make_readonly(job->terminal),
						   "make read-only", "the terminal"))
		reopen_terminal(job->terminal);
	for (size_t i = 0; i < job->plan->mount_count; i++) {
		const struct sb_mount_step *step = &job->plan->mounts[i];

		if (step->kind != SB_MOUNT_KEEP && step->kind != SB_MOUNT_WRITABLE &&
		    step->kind != SB_MOUNT_SHOW)
			continue;
		if (is_replaced(job, step))
			continue;
		job->trees[i] = clone_at(step->path);
		if (sb_mount_failed(job, job->trees[i], "copy", step->path))
			return false;
		/* a device file that lies in a project is no more open than one in /dev */
		if (sb_mount_own_dev(job) && !sb_path_within("/dev", step->path) &&
		    sb_mount_failed(job, sb_sys_close_devices(job->trees[i]), "close devices in",
				    step->path))
			return false;
	}
	return true;
}

/*
 * In a new /dev/pts the caller's terminal has no name.  It gets that of the console, or of
 * another terminal that no run can use: ttyname(3) looks at every name in /dev.
 */
static bool show_terminal(struct sb_mount_job *job)
{
	static const char *const names[] = {"/dev/console", "/dev/tty0", "/dev/ttyS0"};
	int status = -ENOENT;

	for (size_t i = 0; i < sizeof names / sizeof names[0] && status == -ENOENT; i++)
		status = sb_mount_attach(job->terminal, names[i]);
	sb_auto_close(&job->terminal);
	return status == -ENOENT ||
	       !sb_mount_failed(job, status, "give the terminal a name in", "/dev");
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

static bool carry_out(struct sb_mount_job *job, size_t index)
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
		if (!sb_mount_own_dev(job))
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
	if (sb_mount_failed(job, *tree, "copy", step->path))
		return false;
	if (step->kind == SB_MOUNT_DEV &&
	    sb_mount_failed(job, sb_sys_open_devices(*tree), "open devices in", step->path))
		return false;
	if ((step->kind == SB_MOUNT_READONLY || step->kind == SB_MOUNT_KEEP ||
	     step->kind == SB_MOUNT_HIDE || step->kind == SB_MOUNT_DEV ||
	     (step->kind == SB_MOUNT_SHOW && !step->writable)) &&
	    sb_mount_failed(job, sb_sys_make_readonly(*tree), "make read-only", step->path))
		return false;
	if (step->kind == SB_MOUNT_TMPFS && job->plan->programs &&
	    sb_mount_failed(job, sb_sys_close_programs(*tree), "close programs in", step->path))
		return false;
	status = sb_mount_attach(*tree, step->path);
	if (status == -ENOENT && step->kind == SB_MOUNT_HIDE)
		status = 0; /* gone since the plan was made, as terminals go: nothing to hide */
	if (status >= 0 && step->kind == SB_MOUNT_HIDE && strcmp(step->path, "/") == 0)
		status = go_to_cover(*tree);
	close(*tree);
	*tree = -1;
	if (sb_mount_failed(job, status, "mount", step->path))
		return false;
	return step->kind != SB_MOUNT_TERMINALS || job->terminal < 0 || show_terminal(job);
}

static bool keep_namespaces(struct sb_mount_job *job)
{
	SB_AUTO_FD int self = sb_sys_open_self();

	for (int i = 0; i < NS_COUNT; i++) {
		if (!(job->flags & namespaces[i]))
			continue;
		job->ns[i] = sb_sys_open_namespace(self, namespaces[i]);
		if (sb_mount_failed(job, job->ns[i], "keep the namespaces", NULL))
			return false;
	}
	return true;
}

/* Only by an explicit rule for "/". */
static bool root_writable(const struct sb_plan *plan)
{
	return plan->node_count && plan->nodes[0].state == SB_STATE_WRITABLE;
}

static bool set_up(struct sb_mount_job *job)
{
	if ((job->flags & CLONE_NEWUSER) && !map_ids(job))
		return false;
	/* First of all: a copy taken earlier would stay in the host's group of mounts, and what
	 * is mounted on it would appear there. */
	if (sb_mount_failed(job, sb_sys_cut_off(), "cut off the mounts", NULL) ||
	    !take_copies(job) ||
	    sb_mount_failed(job,
			    sb_sys_settle_root(!root_writable(job->plan), sb_mount_own_dev(job)),
			    "make everything read-only", NULL) ||
	    !sb_mount_make_own(job))
		return false;
	for (size_t i = 0; i < job->plan->mount_count; i++)
		if (!carry_out(job, i))
			return false;
	return !(job->flags & CLONE_NEWNET) ||
	       !sb_mount_failed(job, sb_sys_loopback_up(), "bring up loopback", NULL);
}

/* Runs in the child, on our memory: no allocation, no stdio, no return. */
static int child_main(void *argument)
{
	_exit(set_up(argument) && keep_namespaces(argument) ? 0 : 1);
}

static void close_all(struct sb_mount_job *job)
{
	for (size_t i = 0; i < job->plan->mount_count; i++) {
		sb_auto_close(&job->trees[i]);
	}
	sb_auto_close(&job->terminal);
	for (int i = 0; i < NS_COUNT; i++) {
		sb_auto_close(&job->ns[i]);
	}
}

static void start_try(struct sb_mount_job *job, int flags)
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

static bool go_back(const struct sb_mount_job *job, const struct standpoint *from)
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
static bool try_here(struct sb_mount_job *job, int flags)
{
	start_try(job, flags);
	if (unshare(flags) != 0)
		sb_mount_failed(job, -errno, "make namespaces", NULL);
	else
		job->stuck = !set_up(job);
	return !job->failed_at;
}

/* The same, and after a failure it goes back; job->ns holds the old namespaces meanwhile. */
static bool try_and_return(struct sb_mount_job *job, int flags)
{
	SB_AUTO_FD int root = sb_sys_open_path("/");
	SB_AUTO_FD int cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct standpoint from = {root, cwd};

	start_try(job, flags);
	if (sb_mount_failed(job, root, "open", "/") ||
	    sb_mount_failed(job, cwd < 0 ? -errno : 0, "open", ".") || !keep_namespaces(job)) {
		close_all(job);
		return false;
	}
	if (unshare(flags) != 0)
		sb_mount_failed(job, -errno, "make namespaces", NULL);
	else if (!set_up(job))
		job->stuck = !go_back(job, &from);
	close_all(job);
	return !job->failed_at;
}

/* Run stages 1 to 4 in a child.  True: job->ns holds the finished namespaces. */
static bool try_in_child(struct sb_mount_job *job, int flags)
{
	char *stack;
	int pid, status = 0;

	start_try(job, flags);
	stack = mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return !sb_mount_failed(job, -errno, "get memory", NULL);
	/* No exit signal: a caller's SIGCHLD setting must neither matter nor notice. */
	pid = clone(child_main, stack + CHILD_STACK, CLONE_VM | CLONE_VFORK | CLONE_FILES | flags,
		    job);
	if (pid < 0)
		sb_mount_failed(job, -errno, "make namespaces", NULL);
	else if (waitpid(pid, &status, __WALL) != pid)
		sb_mount_failed(job, -errno, "wait for the set-up", NULL);
	else if (status != 0 && !job->failed_at)
		sb_mount_failed(job, -EINTR, "finish the set-up", NULL);
	munmap(stack, CHILD_STACK);
	if (job->failed_at)
		close_all(job);
	return !job->failed_at;
}

/* What the namespaces are made for, and whether the run can go on without. */
enum purpose { TO_LOOK, TO_ENTER, TO_ENTER_OR_END };

/*
 * Equal ways to the same mounts, best first.  With CAP_SYS_ADMIN no user namespace
 * is needed, and owners keep their names.  A network that is off can also be held
 * by the seccomp filter, so a missing network namespace must not cost the mounts.
 */
static bool try_all(struct sb_mount_job *job, bool with_network, enum purpose purpose,
		    struct sb_layers *layers)
{
	const int mounts = CLONE_NEWNS | CLONE_NEWIPC;
	const struct sb_view_made *own = &job->plan->made;
	bool done = false;

	for (int net = with_network || own->own_net ? 0 : CLONE_NEWNET; !done; net = 0) {
		if (sb_sys_has_capability(CAP_SYS_ADMIN))
			done = purpose == TO_LOOK ? try_in_child(job, mounts | net)
						  : try_and_return(job, mounts | net);
		if (!done && !job->stuck)
			done = purpose == TO_ENTER_OR_END && net == 0
				       ? try_here(job, mounts | CLONE_NEWUSER)
				       : try_in_child(job, mounts | net | CLONE_NEWUSER);
		/* a profile of a container may refuse unshare() and not clone() */
		if (!done && !job->stuck && purpose == TO_ENTER_OR_END && net == 0)
			done = try_in_child(job, sb_sys_has_capability(CAP_SYS_ADMIN)
							 ? mounts
							 : mounts | CLONE_NEWUSER);
		if (net == 0 || job->stuck)
			break;
	}
	layers->stuck = job->stuck;
	if (!done) {
		snprintf(layers->no_mounts, sizeof layers->no_mounts, "cannot %s%s%.60s: %s",
			 job->failed_at, job->failed_on ? " " : "",
			 job->failed_on ? job->failed_on : "", strerror(job->failed_errno));
		return false;
	}
	layers->mounts = true;
	layers->ipc_namespace = true;
	layers->net_namespace = (job->flags & CLONE_NEWNET) || own->own_net;
	layers->user_namespace = (job->flags & CLONE_NEWUSER) || own->own_ids;
	layers->own_dev = sb_mount_own_dev(job);
	return true;
}

static int new_job(const struct sb_plan *plan, struct sb_mount_job *job, struct sb_error *err)
{
	*job = (struct sb_mount_job){.plan = plan, .terminal = -1};
	job->trees = calloc(plan->mount_count + 1, sizeof *job->trees);
	if (!job->trees)
		return sb_no_memory(err);
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
	struct sb_mount_job job;
	int status = new_job(plan, &job, err);

	if (status != SB_OK)
		return status;
	if (plan->made.own_net && setns(plan->made.net, CLONE_NEWNET) != 0)
		status = sb_fail(err, SB_E_SYSTEM, errno, "cannot enter the sandbox's network");
	if (status == SB_OK &&
	    try_all(&job, plan->network, or_end ? TO_ENTER_OR_END : TO_ENTER, layers)) {
		for (int i = 0; i < NS_COUNT && status == SB_OK; i++)
			if (job.ns[i] >= 0 && setns(job.ns[i], namespaces[i]) != 0)
				status = sb_fail(err, SB_E_SYSTEM, errno,
						 "cannot enter the sandbox's %s namespace",
						 namespace_names[i]);
	}
	if (status == SB_OK)
		status = note_terminals(plan, layers, err);
	/* for Landlock to know; a static run would wait at execve() for its end, 10 us */
	if (status == SB_OK && layers->ipc_namespace && layers->supervised)
		layers->queues = sb_sys_new_queues();
	close_all(&job);
	free(job.trees);
	return status;
}

int sb_mounts_probe(bool with_network, struct sb_layers *layers, struct sb_error *err)
{
	struct sb_mount_step step = {.kind = SB_MOUNT_TMPFS, .path = "/dev", .is_dir = true};
	struct sb_plan plan = {.mounts = &step, .mount_count = 1};
	struct sb_mount_job job;
	int status = new_job(&plan, &job, err);

	if (status != SB_OK)
		return status;
	try_all(&job, with_network, TO_LOOK, layers);
	close_all(&job);
	free(job.trees);
	return SB_OK;
}
