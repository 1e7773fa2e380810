/*
 * linux_view.c - the steps, each with what it needs of those before it:
 *   1. namespaces, ids mapped to themselves; mounts are cut off from those outside; one thread begins to make the
 *      network (linux_view_net.c), another does what follows up to 4, while ours looks at what is outside
 *   2. an empty filesystem, on a directory that nobody needs: it has to be mounted somewhere
 *   3. directories, small files and links in it
 *   4. copies of mounts, attached there
 *   5. pivot_root(2): it is the root, and what was the root is on top of it, where no path leads
 *   6. the network is there; what was the root is gone
 * The last step waits for all processors (namespace_unlock(), synchronize_rcu_expedited()): 0.05 ms, and 0.2 while one of
 * them makes a network.
 */
#include "enforce/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "enforce/view_impl.h"
#include "sys/mount.h"
#include "sys/process.h"

/* The system's own, as directories or as links to those in /usr. */
static const char *const system_names[] = {"usr",   "bin",   "sbin",   "lib",
					   "lib32", "lib64", "libx32", "libo32"};

/* With CAP_SYS_ADMIN no user namespace is needed, and owners keep their names. */
static bool make_namespaces(struct sb_view_job *job, struct sb_view_made *made)
{
	unsigned uid = geteuid(), gid = getegid();
	char map[64];

	made->own_ids = !sb_sys_has_capability(CAP_SYS_ADMIN);
	if (unshare(CLONE_NEWNS | (made->own_ids ? CLONE_NEWUSER : 0)) != 0)
		return !sb_view_failed(job, -errno, "make namespaces", "");
	if (made->own_ids) {
		if (sb_view_failed(job, sb_sys_write_text(AT_FDCWD, "/proc/self/setgroups", "deny"),
				   "map", "groups"))
			return false;
		snprintf(map, sizeof map, "%u %u 1", uid, uid);
		if (sb_view_failed(job, sb_sys_write_text(AT_FDCWD, "/proc/self/uid_map", map),
				   "map", "user ids"))
			return false;
		snprintf(map, sizeof map, "%u %u 1", gid, gid);
		if (sb_view_failed(job, sb_sys_write_text(AT_FDCWD, "/proc/self/gid_map", map),
				   "map", "group ids"))
			return false;
	}
	return !sb_view_failed(job, sb_sys_cut_off(), "cut off the mounts", "");
}

static bool show_system(struct sb_view_job *job)
{
	for (size_t i = 0; i < SB_COUNT(system_names); i++) {
		char path[16], text[PATH_MAX];
		struct stat info;
		ssize_t length;

		snprintf(path, sizeof path, "/%s", system_names[i]);
		if (lstat(path, &info) != 0)
			continue;
		if (S_ISLNK(info.st_mode)) {
			length = readlink(path, text, sizeof text - 1);
			text[length < 0 ? 0 : length] = '\0';
			if (length < 0 || symlinkat(text, job->root, path + 1) != 0)
				return !sb_view_failed(job, -errno, "make", path);
		} else if (!sb_view_mkdir(job, path + 1, 0755) ||
			   !sb_view_show(job, path, path + 1)) {
			return false;
		}
	}
	return true;
}

static bool show_devices(struct sb_view_job *job)
{
	static const char *const devices[] = {"dev/null",   "dev/zero",    "dev/full",
					      "dev/random", "dev/urandom", "dev/tty"};
	static const char *const links[][2] = {{"dev/ptmx", "pts/ptmx"},
					       {"dev/fd", "/proc/self/fd"},
					       {"dev/stdin", "/proc/self/fd/0"},
					       {"dev/stdout", "/proc/self/fd/1"},
					       {"dev/stderr", "/proc/self/fd/2"}};

	if (!sb_view_mkdir(job, "dev", 0755) || !sb_view_mkdir(job, "dev/pts", 0755) ||
	    !sb_view_mkdir(job, "dev/shm", 01777))
		return false;
	for (size_t i = 0; i < SB_COUNT(links); i++)
		if (symlinkat(links[i][1], job->root, links[i][0]) != 0)
			return !sb_view_failed(job, -errno, "make", links[i][0]);
	for (size_t i = 0; i < SB_COUNT(devices); i++) {
		char path[16];
		SB_AUTO_FD int tree = -1;

		snprintf(path, sizeof path, "/%s", devices[i]);
		tree = sb_sys_clone_tree(AT_FDCWD, path);
		if (sb_view_failed(job, tree, "copy", devices[i]) ||
		    !sb_view_put(job, devices[i], "", 0) || !sb_view_attach(job, tree, devices[i]))
			return false;
	}
	return true;
}

/*
 * A copy can only be made of what is mounted in our own namespace, and a descriptor from before is not: its name once
 * more, and it has to be the same directory.
 */
static int copy_dir(const struct sb_view_dir *dir)
{
	SB_AUTO_FD int fd = sb_sys_open_path(dir->path);
	struct stat now, before;

	if (fd < 0)
		return fd;
	if (fstat(fd, &now) != 0 || fstat(dir->fd, &before) != 0)
		return -errno;
	return now.st_dev == before.st_dev && now.st_ino == before.st_ino
		       ? sb_sys_clone_tree(fd, "")
		       : -ESTALE;
}

/* Device files in there work no more than elsewhere; nor do programs, where it is said which may be run. */
static bool show_dirs(struct sb_view_job *job)
{
	for (size_t i = 0; i < job->view->dir_count; i++) {
		const struct sb_view_dir *dir = &job->view->dirs[i];
		SB_AUTO_FD int tree = copy_dir(dir);

		if (sb_view_failed(job, tree, "copy", dir->name) ||
		    sb_view_failed(job, sb_sys_close_devices(tree), "close", dir->name) ||
		    (!dir->writable &&
		     sb_view_failed(job, sb_sys_make_readonly(tree), "close", dir->name)) ||
		    (job->view->programs &&
		     sb_view_failed(job, sb_sys_close_programs(tree), "close", dir->name)) ||
		    !sb_view_mkdir(job, dir->name, 0755) || !sb_view_attach(job, tree, dir->name))
			return false;
	}
	return true;
}

static bool fill(struct sb_view_job *job, int proc)
{
	return sb_view_mkdir(job, "tmp", 01777) && sb_view_mkdir(job, "var", 0755) &&
	       sb_view_mkdir(job, "var/tmp", 01777) && show_system(job) && sb_view_make_etc(job) &&
	       show_devices(job) && show_dirs(job) &&
	       (!job->view->programs || sb_view_keep_programs(job)) &&
	       sb_view_mkdir(job, "proc", 0555) && sb_view_attach(job, proc, "proc");
}

/* The old root is mounted upon the new one for a moment: pivot_root(2), "pivot_root(".", ".")". */
static bool pivot(struct sb_view_job *job)
{
	int status = 0;

	if (fchdir(job->root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || chdir("/") != 0)
		status = -errno;
	return !sb_view_failed(job, status, "change the root", "");
}

/* On a directory that nobody needs while others look around. */
static int mount_somewhere(int root)
{
	static const char *const places[] = {"/proc/self/task", "/proc/fs", "/proc/driver"};
	int status = 0;

	for (size_t i = 0; i < SB_COUNT(places); i++) {
		SB_AUTO_FD int place = open(places[i], O_PATH | O_DIRECTORY | O_CLOEXEC);

		status = place < 0 ? -errno : sb_sys_attach(root, place);
		if (status == 0)
			break;
	}
	return status;
}

#define BUILDER_STACK (512 * 1024)

static void *build(void *argument)
{
	struct sb_view_begun *begun = argument;
	struct sb_view_job *job = &begun->job;

	job->root = sb_sys_new_tmpfs("0755");
	(void)(sb_view_failed(job, job->root, "make a filesystem", "") ||
	       sb_view_failed(job, mount_somewhere(job->root), "mount", "/") ||
	       fill(job, begun->proc));
	return NULL;
}

static int fail(const struct sb_view_job *job, struct sb_error *err)
{
	sb_fail(err, SB_E_UNSUPPORTED, job->error,
		"this machine cannot show a worker its own files only: cannot %s%s%s", job->step,
		*job->name ? " " : "", job->name);
	return sb_hint(err, "sandbash --doctor says what is missing; --best-effort hides the "
			    "rest by rules instead");
}

int sb_view_begin(const struct sb_view *view, struct sb_view_begun **out, struct sb_error *err)
{
	struct sb_view_begun *begun = calloc(1, sizeof *begun);
	struct sb_view_job *job;

	if (!begun)
		return sb_no_memory(err);
	*out = begun; /* as long as the process lives, if this fails */
	job = &begun->job;
	*job = (struct sb_view_job){.view = view, .root = -1};
	if (!make_namespaces(job, &begun->made))
		return fail(job, err);
	begun->proc = sb_sys_clone_tree(AT_FDCWD, "/proc");
	if (sb_view_failed(job, begun->proc, "copy", "/proc"))
		return fail(job, err);
	begun->mask = umask(0); /* all threads have one */
	begun->net = sb_view_net_begin(!view->network, begun->proc);
	sb_work_begin(&begun->builder, build, begun, BUILDER_STACK);
	return SB_OK;
}

int sb_view_enter(struct sb_view_begun *begun, const char *note, struct sb_error *err)
{
	struct sb_view_job *job = &begun->job;
	bool entered;

	if (!sb_work_done(&begun->builder))
		build(begun);
	entered = !job->step && sb_view_put(job, &SB_VIEW_NOTE[1], note, strlen(note)) &&
		  pivot(job);
	close(job->root);
	umask(begun->mask);
	return entered ? SB_OK : fail(job, err);
}

int sb_view_settle(struct sb_view_begun *begun, struct sb_view_made *out, struct sb_error *err)
{
	struct sb_view_job job = {.root = -1};

	sb_view_net_end(begun->net, &begun->made);
	close(begun->proc);
	/* umount(2) takes what is on top of the root, where every other path begins beneath it */
	if (sb_view_failed(&job, sb_sys_detach("/"), "leave", "/"))
		return fail(&job, err);
	*out = begun->made;
	free(begun);
	return SB_OK;
}
