#include "supervise/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/lock.h"
#include "supervise/proc_name.h"
#include "sys/directory.h"

void sb_kept_init(struct sb_kept *kept)
{
	pthread_mutex_init(&kept->lock, NULL);
	for (size_t i = 0; i < SB_KEPT_MAX; i++)
		kept->sockets[i].fd = -1;
}

static uint64_t inode_of(int socket)
{
	struct stat info;

	return fstat(socket, &info) == 0 ? info.st_ino : 0;
}

static struct sb_kept_socket *find(struct sb_kept *kept, uint64_t inode)
{
	for (size_t i = 0; inode && i < SB_KEPT_MAX; i++)
		if (kept->sockets[i].inode == inode)
			return &kept->sockets[i];
	return NULL;
}

static void drop(struct sb_kept_socket *socket)
{
	sb_auto_close(&socket->fd);
}

void sb_kept_add(struct sb_kept *kept, int socket)
{
	uint64_t inode = inode_of(socket);
	struct sb_kept_socket *at;

	SB_AUTO_LOCK(&kept->lock);
	at = find(kept, inode); /* of one that was dropped and is gone */
	if (!at) {
		at = &kept->sockets[kept->next];
		kept->next = (kept->next + 1) % SB_KEPT_MAX;
	}
	drop(at);
	*at = (struct sb_kept_socket){inode, fcntl(socket, F_DUPFD_CLOEXEC, 3)};
}

int sb_kept_take(struct sb_kept *kept, int proc, pid_t thread, int number)
{
	char name[SB_PROC_NAME];
	const struct sb_kept_socket *found;
	struct stat info;
	int taken = -EACCES;

	sb_proc_fd(name, thread, number);
	if (fstatat(proc, name, &info, 0) != 0)
		return -EBADF;
	if (!S_ISSOCK(info.st_mode))
		return -ENOTSOCK;
	SB_AUTO_LOCK(&kept->lock);
	found = find(kept, info.st_ino);
	if (found && found->fd >= 0)
		taken = fcntl(found->fd, F_DUPFD_CLOEXEC, 3);
	else if (found)
		taken = -EISCONN;
	if (taken == -1)
		taken = -errno;
	return taken;
}

void sb_kept_drop(struct sb_kept *kept, int socket)
{
	struct sb_kept_socket *found;

	SB_AUTO_LOCK(&kept->lock);
	found = find(kept, inode_of(socket));
	if (found)
		drop(found);
}

static bool is_number(const char *name)
{
	return name[0] && strspn(name, "0123456789") == strlen(name);
}

/* Mark what this process has. */
static void mark_those_of(const struct sb_kept *kept, int proc, const char *process, bool *alive)
{
	char name[NAME_MAX + sizeof "/fd"], link[64];

	snprintf(name, sizeof name, "%s/fd", process);
	SB_EACH_ENTRY(fds, proc, name, true) { /* none of another user's, or gone */
		ssize_t length = readlinkat(fds.fd, fds.entry->d_name, link, sizeof link - 1);
		unsigned long long inode;

		link[length > 0 ? length : 0] = '\0';
		/* NOLINTNEXTLINE(cert-err34-c): the kernel's own text */
		if (sscanf(link, "socket:[%llu]", &inode) != 1)
			continue;
		for (size_t i = 0; i < SB_KEPT_MAX; i++)
			if (kept->sockets[i].inode == inode)
				alive[i] = true;
	}
}

void sb_kept_sweep(struct sb_kept *kept, int proc)
{
	bool alive[SB_KEPT_MAX] = {false};
	struct sb_sys_dir dir;
	const struct dirent64 *entry;
	char own[16];
	SB_AUTO_FD int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	snprintf(own, sizeof own, "%d", getpid());
	sb_sys_dir_init(&dir, fd);
	SB_AUTO_LOCK(&kept->lock);
	while ((entry = sb_sys_dir_next(&dir)))
		if (is_number(entry->d_name) && strcmp(entry->d_name, own) != 0)
			mark_those_of(kept, proc, entry->d_name, alive);
	for (size_t i = 0; i < SB_KEPT_MAX; i++)
		if (!alive[i])
			drop(&kept->sockets[i]);
}
