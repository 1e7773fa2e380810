#include "base/list.h"
#include "enforce/linux_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/auto.h"
#include "enforce/plan.h"
#include "sys/directory.h"
#include "sys/process.h"

#define MOST_LOW 256 /* descriptors that are looked for at once */
#define FEW_LOW 32   /* and first */
#define TERMINALS 5  /* devices.txt: /dev/tty, */
#define MASTERS 2    /* and /dev/ptmx */

static const char *const stdio_names[] = {"standard input", "standard output", "standard error"};

static bool is_named(int fd, const int *keep, size_t keep_count)
{
	for (size_t i = 0; i < keep_count; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

static int note_file(struct sb_fds *fds, int fd, struct sb_error *err)
{
	if (!SB_GROW(fds->files, fds->count))
		return sb_no_memory(err);
	fds->files[fds->count++] = fd;
	return SB_OK;
}

static bool is_read_only_file(int flags, const struct stat *info)
{
	return S_ISREG(info->st_mode) && (flags & O_ACCMODE) == O_RDONLY;
}

/* Where does a socket lead that is not the one way it looks like?  NULL: nowhere. */
static const char *where_it_leads(int fd, const struct sb_plan *plan)
{
	int family = sb_sys_socket_option(fd, SO_DOMAIN), type = sb_sys_socket_option(fd, SO_TYPE);
	struct sockaddr_storage peer;
	socklen_t length = sizeof peer;

	if (family == AF_INET ||
	    family == AF_INET6) /* any can be taken from its peer and connected to another */
		return plan->gate       ? "a network socket, which leads around the rules for hosts"
		       : !plan->network ? "a network socket, and the network is off"
					: NULL;
	if (type != SOCK_STREAM && !(type == SOCK_SEQPACKET && family == AF_UNIX))
		return family == AF_UNIX ? "a datagram socket, which leads out of the sandbox"
					 : "a socket that leads out of the sandbox";
	if (getpeername(fd, (struct sockaddr *)&peer, &length) != 0 &&
	    sb_sys_socket_option(fd, SO_ACCEPTCONN) != 1)
		return "a socket without a connection, which leads out of the sandbox";
	return NULL;
}

static int check_socket(int fd, const struct sb_plan *plan, struct sb_error *err)
{
	const char *where;
	struct stat info;

	if (fstat(fd, &info) != 0 || !S_ISSOCK(info.st_mode))
		return SB_OK;
	where = where_it_leads(fd, plan);
	if (!where)
		return SB_OK;
	if (fd <= 2)
		sb_fail(err, SB_E_REFUSED, 0, "%s is %s", stdio_names[fd], where);
	else
		sb_fail(err, SB_E_REFUSED, 0, "descriptor %d is %s", fd, where);
	return sb_hint(err, "use a pipe, or a connected stream socket");
}

/* How the kernel calls it: "anon_inode:[io_uring]", "mnt:[4026531841]", or a path. */
static bool has_path(int fd)
{
	char link[40], first = '\0';

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return readlink(link, &first, 1) != 1 || first == '/';
}

/*
 * SECURITY: no standard stream is a handle on something outside.
 *
 * Danger: a pidfd signals a process, an io_uring ring does its owner's calls, a userfaultfd answers another's faults, a
 * namespace can be entered, and the master of a terminal types there.
 * Price: none is known; who means it passes it with --keep-fd.
 * Held by: tests/enforce/fds.py
 */
static const char *what_it_handles(int fd, const struct stat *info)
{
	if (S_ISCHR(info->st_mode) && info->st_rdev == makedev(TERMINALS, MASTERS))
		return "the other side of a terminal, which types there";
	if ((S_ISREG(info->st_mode) || !(info->st_mode & S_IFMT)) && !has_path(fd))
		return "no file, but a handle on something outside the sandbox";
	return NULL;
}

static int check_handle(int fd, const struct stat *info, struct sb_error *err)
{
	const char *what = what_it_handles(fd, info);

	if (!what)
		return SB_OK;
	sb_fail(err, SB_E_REFUSED, 0, "%s is %s", stdio_names[fd], what);
	return sb_hint(err, "redirect it from a file or /dev/null");
}

/* Nobody means to write to it; who started us may just have opened it so. */
static bool is_writable_input(int fd, int flags, const struct stat *info)
{
	return fd == 0 && S_ISREG(info->st_mode) && (flags & O_ACCMODE) != O_RDONLY;
}

static int settle_stdio(struct sb_fds *fds, const struct sb_plan *plan, struct sb_error *err)
{
	for (int fd = 0; fd <= 2; fd++) {
		int flags = fcntl(fd, F_GETFL);
		struct stat info;

		if (flags < 0 || fstat(fd, &info) != 0)
			continue; /* closed: the command sees it closed */
		if ((flags & O_PATH) || S_ISDIR(info.st_mode)) {
			sb_fail(err, SB_E_REFUSED, 0,
				"%s is a directory, which leads out of the sandbox",
				stdio_names[fd]);
			return sb_hint(err, "redirect it from a file or /dev/null");
		}
		if (check_socket(fd, plan, err) != SB_OK)
			return SB_E_REFUSED;
		if (check_handle(fd, &info, err) != SB_OK)
			return SB_E_REFUSED;
		if ((is_read_only_file(flags, &info) || is_writable_input(fd, flags, &info)) &&
		    note_file(fds, fd, err) != SB_OK)
			return SB_E_NOMEM;
	}
	return SB_OK;
}

/* Our own descriptors are close-on-exec; whatever is not came from the caller. */
static bool is_inherited(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags >= 0 && !(flags & FD_CLOEXEC);
}

static int settle_one(int fd, struct sb_fds *fds, struct sb_error *err)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat info;

	if (!fds->only_named && flags >= 0 && fstat(fd, &info) == 0 && !(flags & O_PATH)) {
		if (S_ISFIFO(info.st_mode))
			return SB_OK;
		if (is_read_only_file(flags, &info))
			return note_file(fds, fd, err);
	}
	close(fd);
	return SB_OK;
}

/* What the caller gave us and nobody named: decide about it. */
static int settle_inherited(int fd, const int *keep, size_t keep_count, struct sb_fds *fds,
			    struct sb_error *err)
{
	if (!is_inherited(fd) || is_named(fd, keep, keep_count))
		return SB_OK;
	return settle_one(fd, fds, err);
}

/*
 * Most programs are started with few descriptors, all of them low.  How many there are the
 * kernel says since Linux 6.2 (proc_pid_fd(5): the size of the directory); whoever has found
 * as many need not list them, which takes several times as long.  One poll() finds them: it says
 * which are not open, or were opened with O_PATH (open(2)), as some of our own are.  False: that is not
 * known, or some are higher.
 */
static bool find_low(struct pollfd fds[static MOST_LOW])
{
	struct stat info;

	if (stat("/proc/self/fd", &info) != 0 || info.st_size <= 0 || info.st_size > MOST_LOW)
		return false;
	for (int fd = 0; fd < MOST_LOW; fd++)
		fds[fd] = (struct pollfd){.fd = fd, .revents = POLLNVAL};
	/* mostly all are among the first, and each that is asked for takes its time */
	for (int first = 0, most = FEW_LOW, found = 0; first < MOST_LOW;
	     first = most, most = MOST_LOW) {
		if (poll(fds + first, (nfds_t)(most - first), 0) < 0)
			return false;
		for (int fd = first; fd < most; fd++)
			found += !(fds[fd].revents & POLLNVAL);
		/* our own, until there are as many as there should be */
		for (int fd = first; fd < FEW_LOW && found < info.st_size; fd++)
			if (fds[fd].revents & POLLNVAL && fcntl(fd, F_GETFD) >= 0) {
				fds[fd].revents = 0;
				found++;
			}
		if (found == info.st_size)
			return true;
	}
	return false;
}

static int settle_low(const struct pollfd low[static MOST_LOW], const int *keep, size_t keep_count,
		      struct sb_fds *fds, struct sb_error *err)
{
	int status = SB_OK;

	for (int fd = 3; fd < MOST_LOW && status == SB_OK; fd++)
		if (!(low[fd].revents & POLLNVAL))
			status = settle_inherited(fd, keep, keep_count, fds, err);
	return status;
}

static int settle_listed(const int *keep, size_t keep_count, struct sb_fds *fds,
			 struct sb_error *err)
{
	struct sb_sys_dir dir;
	const struct dirent64 *entry;
	int listing = sb_sys_dir_open(&dir, "/proc/self/fd"), status = SB_OK;

	if (listing < 0)
		return sb_fail(err, SB_E_SYSTEM, -listing, "cannot list the open descriptors");
	while (status == SB_OK && (entry = sb_sys_dir_next(&dir))) {
		char *end;
		long fd = strtol(entry->d_name, &end, 10);

		if (*end || end == entry->d_name || fd <= 2 || fd == listing || fd > INT_MAX)
			continue;
		status = settle_inherited((int)fd, keep, keep_count, fds, err);
	}
	if (status == SB_OK && dir.error) /* there may be more of them */
		status = sb_fail(err, SB_E_SYSTEM, dir.error, "cannot list the open descriptors");
	sb_sys_dir_close(&dir);
	return status;
}

int sb_fds_settle(const int *keep, size_t keep_count, const struct sb_plan *plan,
		  struct sb_fds *out, struct sb_error *err)
{
	struct pollfd low[MOST_LOW];
	struct sb_fds fds = {.only_named = plan->view};
	int status = settle_stdio(&fds, plan, err);

	for (size_t i = 0; i < keep_count && status == SB_OK; i++)
		status = fcntl(keep[i], F_GETFD) < 0 ? sb_fail(err, SB_E_MISSING, EBADF,
							       "descriptor %d is not open", keep[i])
						     : check_socket(keep[i], plan, err);
	if (status == SB_OK)
		status = find_low(low) ? settle_low(low, keep, keep_count, &fds, err)
				       : settle_listed(keep, keep_count, &fds, err);
	if (status != SB_OK) {
		sb_fds_done(&fds);
		return status;
	}
	*out = fds;
	return SB_OK;
}

/* The same file, through our mounts, by its name; -1: it has none, or that is another's. */
static int open_again(int old, const char *path)
{
	SB_AUTO_FD int fresh = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat before, after;

	if (fresh < 0 || fstat(old, &before) != 0 || fstat(fresh, &after) != 0 ||
	    before.st_dev != after.st_dev || before.st_ino != after.st_ino)
		return -1;
	return sb_take_fd(&fresh);
}

/* Somebody's scratch, which has no name any more. */
static bool is_scratch(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_nlink == 0;
}

/* A file of outside that is open for writing, and has no name here: what can be read stays so. */
static int open_for_reading(int old, int flags)
{
	char link[40];
	int fresh = -1;

	snprintf(link, sizeof link, "/proc/self/fd/%d", old);
	if ((flags & O_ACCMODE) == O_RDWR)
		fresh = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fresh >= 0 ? fresh : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void sb_fds_reopen(const struct sb_fds *fds, const struct sb_plan *plan, bool mounts)
{
	for (size_t i = 0; i < fds->count; i++) {
		int old = fds->files[i], flags = fcntl(old, F_GETFL);
		bool writable = (flags & O_ACCMODE) != O_RDONLY;
		char link[40], path[PATH_MAX];
		ssize_t length;
		SB_AUTO_FD int fresh = -1;
		bool same;

		snprintf(link, sizeof link, "/proc/self/fd/%d", old);
		length = readlink(link, path, sizeof path - 1);
		if (length <= 0 || path[0] != '/' || (!mounts && !writable))
			continue;
		path[length] = '\0';
		if (old <= 2 && sb_plan_state_at(plan, path) == SB_STATE_WRITABLE)
			continue;
		fresh = open_again(old, path);
		if (fresh < 0 && writable) {
			if (is_scratch(old))
				continue;
			fresh = open_for_reading(old, flags);
		}
		same = fresh >= 0 && lseek(fresh, lseek(old, 0, SEEK_CUR), SEEK_SET) >= 0 &&
		       fcntl(fresh, F_SETFL, flags) >= 0;
		if (fresh >= 0 && (same || writable))
			dup2(fresh, old);
		else if (writable)
			close(old); /* rather none than one to write to */
	}
}

void sb_fds_done(struct sb_fds *fds)
{
	free(fds->files);
	*fds = (struct sb_fds){0};
}
