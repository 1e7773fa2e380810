#include "supervise/abstract.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/lock.h"
#include "supervise/domains.h"
#include "supervise/proc_name.h"
#include "supervise/thread.h"
#include "sys/directory.h"

#define MAX_BOUND 256 /* names at a time; most runs have none */
#define NAME_AT offsetof(struct sockaddr_un, sun_path)

struct bound {
	struct sockaddr_un address;
	socklen_t length; /* 0: none */
	ino_t inode;      /* of the socket */
	pid_t thread;     /* that bound it; who has it may be another by now */
	const struct sb_domain *domain;
};

static struct {
	pthread_mutex_t lock; /* of: */
	struct bound all[MAX_BOUND];
	unsigned next;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sb_abstract_bound(const struct sb_call *call, int socket)
{
	struct bound bound = {.length = sizeof bound.address, .thread = call->thread};
	struct stat info;

	/* not the address of the call: without a name the kernel finds one */
	if (getsockname(socket, (struct sockaddr *)&bound.address, &bound.length) != 0 ||
	    bound.address.sun_family != AF_UNIX || bound.length <= NAME_AT ||
	    bound.address.sun_path[0] != '\0' || fstat(socket, &info) != 0 ||
	    !sb_domain_of(call->thread, &bound.domain))
		return;
	bound.inode = info.st_ino;
	SB_AUTO_LOCK(&table.lock);
	table.all[table.next++ % MAX_BOUND] = bound;
}

/* The last that got the name. */
static bool find(const struct sb_call *call, struct bound *out)
{
	const struct sb_domain *domain;
	bool found = false;

	if (!sb_domain_of(call->thread, &domain))
		return false;
	SB_AUTO_LOCK(&table.lock);
	for (unsigned i = 0; i < MAX_BOUND && !found; i++) {
		const struct bound *bound = &table.all[(table.next - 1 - i) % MAX_BOUND];

		found = bound->length && bound->length == call->address_length &&
			memcmp(&bound->address, &call->address, bound->length) == 0 &&
			sb_domain_is_within(bound->domain, domain);
		if (found)
			*out = *bound;
	}
	return found;
}

/* A copy of this process's descriptor of the socket, if it has one. */
static int take_from(int proc, pid_t process, ino_t inode)
{
	char name[SB_PROC_NAME], wanted[48], link[48];

	snprintf(wanted, sizeof wanted, "socket:[%llu]", (unsigned long long)inode);
	snprintf(name, sizeof name, "%d/fd", process);
	SB_EACH_ENTRY(fds, proc, name, true) {
		const char *fd = fds.entry->d_name;
		ssize_t length = readlinkat(fds.fd, fd, link, sizeof link - 1);
		int number = (int)strtol(fd, NULL, 10), taken;
		struct stat info;

		if (length <= 0)
			continue;
		link[length] = '\0';
		if (strcmp(link, wanted) != 0)
			continue;
		taken = sb_thread_take_descriptor(proc, process, number);
		/* the number may be another file's by now */
		if (taken >= 0 && fstat(taken, &info) == 0 && S_ISSOCK(info.st_mode) &&
		    info.st_ino == inode)
			return taken;
		sb_auto_close(&taken);
	}
	return -ENOENT;
}

/*
 * SECURITY: a connection by an abstract name ends at a socket that the run itself has bound.
 *
 * Danger: the run closes its socket, a service outside gets the name, and the connect that was
 * decided about leads there.  So a copy of the run's socket is held until the connect is made: as
 * long as anybody has it the name is its own.  It is found by its inode, in a process whose
 * descriptors we may copy at all.
 * Price: a look through the descriptors of who bound it, or of everybody; and nothing of the kind
 * where descriptors cannot be copied (Docker).
 * Held by: tests/enforce/sockets.py
 */
int sb_abstract_pin(int proc, const struct sb_call *call)
{
	struct bound bound;
	int taken;

	if (!find(call, &bound))
		return -ECONNREFUSED;
	taken = take_from(proc, bound.thread, bound.inode);
	if (taken >= 0)
		return taken;
	SB_EACH_ENTRY(processes, proc, ".", taken < 0) {
		pid_t process = (pid_t)strtol(processes.entry->d_name, NULL, 10);

		if (process > 0)
			taken = take_from(proc, process, bound.inode);
	}
	return taken < 0 ? -ECONNREFUSED : taken;
}
