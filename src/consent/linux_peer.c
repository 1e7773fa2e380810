#include "consent/peer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/auto.h"

/* Linux 6.5; the headers of Debian 12 do not have it. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define GENERATIONS 4096 /* more parents than that is no family but a trick */

/* Read a file of /proc/PID whole; false: it is gone, hidden, or too long. */
static bool read_proc(pid_t process, const char *name, char *out, size_t size)
{
	char path[64];
	size_t length = 0;
	SB_AUTO_FD int fd = -1;

	if (process)
		snprintf(path, sizeof path, "/proc/%d/%s", process, name);
	else
		snprintf(path, sizeof path, "/proc/self/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && length < size - 1) {
		ssize_t got = read(fd, out + length, size - 1 - length);

		if (got < 0)
			return false;
		if (got == 0) {
			out[length] = '\0';
			return length > 0;
		}
		length += (size_t)got;
	}
	return false;
}

/* The line that begins with name; the program's name, in the first, has its newlines escaped. */
static const char *find_line(const char *text, const char *name)
{
	size_t length = strlen(name);

	while (text && strncmp(text, name, length) != 0) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? text + length : NULL;
}

bool sb_confinement_of(pid_t process, struct sb_confinement *out)
{
	char text[16 * 1024]; /* a person in many groups has a long line */
	const char *privileges, *mode, *filters, *numbers;

	if (!read_proc(process, "status", text, sizeof text))
		return false;
	privileges = find_line(text, "NoNewPrivs:");
	mode = find_line(text, "Seccomp:");
	filters = find_line(text, "Seccomp_filters:"); /* Linux 5.10 */
	numbers = find_line(text, "NSpid:");
	if (!privileges || !mode || !numbers)
		return false;
	*out = (struct sb_confinement){
		.no_new_privs = strtoul(privileges, NULL, 10) != 0,
		.filters = (unsigned)strtoul(filters ? filters : mode, NULL, 10),
	};
	/* one number for each namespace, from that of /proc inwards */
	for (const char *at = numbers; *at && *at != '\n'; at++)
		out->namespaces += *at == '\t';
	return true;
}

/* By a seccomp filter or no_new_privs; every run has both. */
static bool is_more_confined(const struct sb_confinement *a, const struct sb_confinement *than)
{
	return a->filters > than->filters || (a->no_new_privs && !than->no_new_privs);
}

/* 0: it has none.  -ENOENT, -EPERM, -EACCES: gone, or another user's and hidden (hidepid). */
static pid_t parent_of(pid_t process)
{
	char text[1024];
	const char *at;

	errno = 0;
	if (!read_proc(process, "stat", text, sizeof text))
		return errno ? -errno : -EIO;
	at = strrchr(text, ')'); /* the name before it may hold anything */
	if (!at || strlen(at) < 5)
		return -EIO;
	return (pid_t)strtol(at + 4, NULL, 10); /* ") S 123" */
}

static bool is_hidden(pid_t answer)
{
	return answer == -ENOENT || answer == -EPERM || answer == -EACCES;
}

/*
 * SECURITY: is process the calling one, or has it descended from it?  Doubt means yes.
 *
 * Danger: a parent that dies while we walk is replaced in its child by the next subreaper,
 * and its number may go to a stranger, whose parents lead past us.  So after each step the
 * child is looked at again: if it still has that parent, the parent lived while we read.
 * One that lives and is hidden from us is another user's, and between a process of the run
 * and us there are none.
 * Held by: tests/unit/test_socket.c, tests/cli/attach_inside.py
 */
static bool is_family(pid_t process)
{
	pid_t self = getpid();

	for (int generation = 0; generation < GENERATIONS; generation++) {
		pid_t parent, above;

		if (process == self)
			return true;
		parent = parent_of(process);
		if (parent < 0 || parent == self)
			return true;
		if (parent == 0)
			return false; /* the first process of all, or of this container */
		above = parent_of(parent);
		if (parent_of(process) != parent)
			return true;
		if (above < 0)
			return !is_hidden(above);
		process = parent;
	}
	return true;
}

/* The process that connected, pinned.  -1: it is gone. */
static int pin(int connection, pid_t process)
{
	int pidfd = -1;
	socklen_t length = sizeof pidfd;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0)
		return pidfd;
	/*
	 * Before Linux 6.5 the number may mean another process by now.  The messages it sends
	 * must come from that number too, so whoever connected is refused then.
	 */
	if (errno != ENOPROTOOPT)
		return -1;
	return (int)syscall(SYS_pidfd_open, process, 0);
}

bool sb_peer_alive(const struct sb_pinned *peer)
{
	struct pollfd wait = {.fd = peer->pidfd, .events = POLLIN};

	return poll(&wait, 1, 0) == 0;
}

void sb_peer_done(struct sb_pinned *peer)
{
	sb_auto_close(&peer->pidfd);
	peer->pidfd = -1;
}

static const char *refusal(const struct sb_pinned *peer, const struct sb_confinement *own)
{
	struct sb_confinement theirs;

	if (!sb_confinement_of(peer->process, &theirs))
		return "it cannot be told who you are";
	if (is_family(peer->process))
		return "a process inside the run cannot answer for it";
	if (theirs.namespaces > own->namespaces)
		return "you are in another pid namespace";
	if (is_more_confined(&theirs, own))
		return "you are in a sandbox yourself, and it is not";
	return NULL;
}

const char *sb_peer_refusal(int connection, const struct sb_confinement *own, struct sb_pinned *out)
{
	struct ucred who = {.pid = 0};
	socklen_t length = sizeof who;
	struct sb_pinned peer = {.pidfd = -1};
	const char *why;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &length) != 0 || who.pid <= 0)
		return "it cannot be told who you are";
	if (who.uid != getuid() && who.uid != 0)
		return "the run is another user's";
	peer.process = who.pid;
	peer.pidfd = pin(connection, who.pid);
	if (peer.pidfd < 0)
		return "it cannot be told who you are";
	why = refusal(&peer, own);
	/* what we read was about this process only if it lives still */
	if (!why && !sb_peer_alive(&peer))
		why = "it cannot be told who you are";
	if (why)
		sb_peer_done(&peer);
	else
		*out = peer;
	return why;
}

/* --- terminals ------------------------------------------------------------------------------------- */

/* /dev/ptmx: the other side of any terminal in /dev/pts. */
#define MASTER makedev(5, 2)

/* What is looked for among the descriptors of a process. */
struct wanted {
	dev_t device;
	dev_t filesystem; /* of a terminal in /dev/pts; else 0 */
	bool is_master;   /* then of this terminal: */
	unsigned number;
};

/* Which terminal a master is of: "tty-index" of its fdinfo (Linux 4.14). */
static bool is_master_of(pid_t process, const char *fd, unsigned number)
{
	static const char field[] = "tty-index:";
	char name[32], text[512];
	const char *found;

	snprintf(name, sizeof name, "fdinfo/%.16s", fd);
	if (!read_proc(process, name, text, sizeof text))
		return false;
	found = strstr(text, field);
	return found && strtoul(found + strlen(field), NULL, 10) == number;
}

static bool has_open(pid_t process, const struct wanted *wanted)
{
	char name[32];
	const struct dirent *entry;
	bool found = false;
	SB_AUTO_DIR DIR *dir = NULL;

	snprintf(name, sizeof name, "/proc/%d/fd", process);
	dir = opendir(name);
	while (dir && !found && (entry = readdir(dir))) {
		struct stat info;

		found = fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 &&
			S_ISCHR(info.st_mode) && info.st_rdev == wanted->device &&
			(!wanted->filesystem || info.st_dev == wanted->filesystem) &&
			(!wanted->is_master ||
			 is_master_of(process, entry->d_name, wanted->number));
	}
	return found;
}

/* The first process that is more confined than we are and has it open; 0: none. */
static pid_t find_holder(const struct wanted *wanted, bool family_only)
{
	struct sb_confinement own, theirs;
	const struct dirent *entry;
	pid_t found = 0;
	SB_AUTO_DIR DIR *dir = opendir("/proc");

	if (!dir || !sb_confinement_of(0, &own))
		return 0;
	while (!found && (entry = readdir(dir))) {
		pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);

		if (process > 0 && sb_confinement_of(process, &theirs) &&
		    is_more_confined(&theirs, &own) && has_open(process, wanted) &&
		    (!family_only || is_family(process)))
			found = process;
	}
	return found;
}

/*
 * A run has a /dev/pts of its own, with numbers of its own: its "pts/0" has the same device number
 * as ours, and lies in another filesystem.  (Elsewhere such a device cannot be opened.)
 */
static bool is_in_pts(dev_t device)
{
	return major(device) >= 136 && major(device) <= 143;
}

pid_t sb_terminal_held_inside(const struct stat *terminal)
{
	struct wanted wanted = {.device = terminal->st_rdev};

	if (is_in_pts(terminal->st_rdev))
		wanted.filesystem = terminal->st_dev;
	return find_holder(&wanted, false);
}

bool sb_terminal_made_inside(unsigned number)
{
	return find_holder(&(struct wanted){.device = MASTER, .is_master = true, .number = number},
			   true) != 0;
}
