/*
 * linux_bind.c - a unix socket gets its name where that was decided about, and remembers the text
 * that its program gave: getsockname(2) is what servers print, hand on and remove at their end.
 *
 * The kernel keeps the text of bind().  A plain name is bound in the directory itself.  A longer
 * path the kernel has to look up once more, so it is checked what came of it.  Where that cannot be
 * checked, or the path means something else to us (/proc/self), the text is one of ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "judge/sockets.h"
#include "supervise/perform.h"
#include "supervise/proc_name.h"
#include "sys/beneath.h"
#include "sys/unix_diag.h"

#define PATH_AT offsetof(struct sockaddr_un, sun_path)
#define PATH_SIZE (sizeof((struct sockaddr_un *)0)->sun_path)

static int bind_as_given(const struct sb_call *call, int socket)
{
	return bind(socket, (const void *)&call->address, call->address_length) != 0 ? errno : 0;
}

/* Through our descriptor: never anywhere else, but the socket remembers this text. */
static int bind_by_descriptor(const struct sb_spot *file, int socket)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int length = snprintf(address.sun_path, sizeof address.sun_path, "self/fd/%d/%s",
			      file->directory, file->name);

	if (length >= (int)sizeof address.sun_path)
		return ENAMETOOLONG;
	return bind(socket, (const void *)&address, sizeof address) != 0 ? errno : 0;
}

/* The text of the address; *out_name is its last name.  False: it is none that we could bind by. */
static bool take_text(const struct sb_call *call, char *text, const char **out_name)
{
	size_t length = call->address_length > PATH_AT ? call->address_length - PATH_AT : 0;
	const char *slash;

	if (length == 0 || length > PATH_SIZE)
		return false;
	memcpy(text, ((const struct sockaddr_un *)&call->address)->sun_path, length);
	text[length] = '\0';
	slash = strrchr(text, '/');
	*out_name = slash ? slash + 1 : text;
	return **out_name;
}

/* The directory that the text leads to from here. */
static int open_parent(const char *text, const char *name)
{
	char parent[PATH_SIZE + 1];

	snprintf(parent, sizeof parent, "%.*s", (int)(name - text), text);
	return open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_node(int directory, const char *name, uint32_t inode)
{
	struct stat info;

	return fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISSOCK(info.st_mode) && (uint32_t)info.st_ino == inode;
}

/*
 * SECURITY: a socket that was bound by text has its file in the directory that was decided about.
 *
 * Danger: a directory of the path is replaced by a link after it was resolved (in a fast root, or
 * by a second run), and the socket gets a name that has to be asked about: a program outside that
 * looks for its server there would talk to the command.  So the kernel is asked which inode it
 * made (unix_diag); one that is not the one in our directory never takes a connection again: a
 * socket that was shut down refuses them, whether it listens already or will.  Its file is removed
 * if it can still be found.  All that is left is a name where the performer may write anyway.
 * Price: two questions to the kernel for a bind() with directories in its path.
 * Held by: tests/supervise/everyday.py, "a path that changes under bind"
 */
static int bind_by_text(const struct sb_call *call, const struct sb_spot *file, int socket,
			const char *text, const char *name)
{
	uint32_t inode = 0;
	int error = bind_as_given(call, socket);
	SB_AUTO_FD int elsewhere = -1;

	if (error)
		return error;
	if (sb_sys_unix_bound(socket, &inode) == 0 && is_node(file->directory, file->name, inode))
		return 0;
	shutdown(socket, SHUT_RDWR);
	elsewhere = open_parent(text, name);
	if (elsewhere >= 0 && is_node(elsewhere, name, inode))
		unlinkat(elsewhere, name, 0);
	return ENOENT;
}

/* Stand where the caller does, in our own mounts: the asker's are others than the caller's. */
static bool go_to_caller(pid_t thread)
{
	char link[SB_PROC_NAME], path[PATH_MAX];
	ssize_t length;

	sb_proc_cwd(link, thread);
	length = readlink(link, path, sizeof path - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	return path[0] == '/' && chdir(path) == 0;
}

/* From the caller's current directory.  -1: the text does not lead to file's, or nobody can tell. */
static int bind_from_there(const struct sb_call *call, const struct sb_spot *file, int socket,
			   const char *text, const char *name)
{
	SB_AUTO_FD int parent = open_parent(text, name);
	uint32_t inode;

	if (parent < 0 || !sb_sys_same_file(parent, file->directory) ||
	    sb_sys_unix_bound(socket, &inode) != -ENODATA)
		return -1;
	return bind_by_text(call, file, socket, text, name);
}

static int bind_at(const struct sb_call *call, const struct sb_spot *file, int socket)
{
	SB_AUTO_FD int back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char text[PATH_SIZE + 1];
	const char *name;
	int error = -1;

	if (back < 0)
		return errno;
	if (!take_text(call, text, &name) || strcmp(name, file->name) != 0)
		return bind_by_descriptor(file, socket);
	if (name == text)
		error = fchdir(file->directory) != 0 ? errno : bind_as_given(call, socket);
	else if (text[0] == '/' || go_to_caller(call->thread))
		error = bind_from_there(call, file, socket, text, name);
	if (fchdir(back) != 0)
		return errno;
	return error < 0 ? bind_by_descriptor(file, socket) : error;
}

static struct sb_own_sockets *own_sockets;

void sb_bind_note(struct sb_own_sockets *own)
{
	own_sockets = own;
}

/*
 * SECURITY: the file that is noted as the run's is the one that was made.
 *
 * Danger: before we look, the name gets another socket, a service's that lay beside it, and the run would connect
 * there.  So the kernel says which file it was; where it does not (another network namespace), one that was there
 * before cannot be meant.
 * Price: a question to the kernel per bind().
 * Held by: nothing; the moment is too short to be met.
 */
static bool is_made(int socket, const struct sb_sys_file *info, const struct timespec *before)
{
	uint32_t inode;

	if (!S_ISSOCK(info->mode))
		return false;
	if (sb_sys_unix_bound(socket, &inode) == 0)
		return (uint32_t)info->inode == inode;
	return info->born.tv_sec != before->tv_sec ? info->born.tv_sec > before->tv_sec
						   : info->born.tv_nsec >= before->tv_nsec;
}

int sb_bind_at(const struct sb_call *call, const struct sb_spot *file, int socket)
{
	struct timespec before;
	struct sb_sys_file info;
	int error;

	clock_gettime(CLOCK_REALTIME_COARSE, &before); /* which is that of file systems */
	error = bind_at(call, file, socket);
	if (!error && own_sockets && sb_sys_look(file->directory, file->name, &info) == 0 &&
	    is_made(socket, &info, &before))
		sb_own_sockets_bound(own_sockets, &info);
	return error;
}
