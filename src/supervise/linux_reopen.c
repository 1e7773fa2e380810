#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "supervise/acts.h"
#include "supervise/approve.h"
#include "supervise/proc_name.h"
#include "sys/beneath.h"
#include "sys/process.h"

/* Open the directory part of path, through no link; name "." means path itself. */
static int open_directory(const char *path, const char *name)
{
	char directory[PATH_MAX];
	char *slash;

	memcpy(directory, path, strlen(path) + 1);
	if (strcmp(name, ".") != 0) {
		slash = strrchr(directory, '/');
		if (!slash)
			return -EACCES;
		slash[slash == directory] = '\0';
	}
	return sb_sys_open_path(directory);
}

static int open_named(int directory, const char *name)
{
	char plain[NAME_MAX + 2];
	int fd;

	memcpy(plain, name, sizeof plain);
	plain[strcspn(plain, "/")] = '\0';
	fd = openat(directory, plain, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool is_removed(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_nlink == 0;
}

/* Pipes and the like, and what was removed. */
static bool is_nameless(int fd, const char *path)
{
	struct stat info;

	return fstat(fd, &info) == 0 &&
	       (info.st_nlink == 0 || (!path[0] && !S_ISREG(info.st_mode) &&
				       !S_ISDIR(info.st_mode) && !S_ISLNK(info.st_mode)));
}

/*
 * A file that has no name any more is taken as it is: the command holds it open, and no name
 * can be changed through it.
 */
static int reopen_object(const struct sb_spot *theirs)
{
	if (is_nameless(theirs->object, theirs->path))
		return fcntl(theirs->object, F_DUPFD_CLOEXEC, 3);
	if (!theirs->path[0])
		return -EACCES;
	return sb_sys_open_path(theirs->path);
}

/* For answers, which go by directory: that of an object that came without one. */
static void find_directory(struct sb_spot *spot)
{
	const char *slash = strrchr(spot->path, '/');

	if (spot->directory >= 0 || !slash || !slash[1] || strlen(slash + 1) > NAME_MAX)
		return;
	spot->directory = open_directory(spot->path, "");
	if (spot->directory >= 0)
		memcpy(spot->name, slash + 1, strlen(slash + 1) + 1);
}

/* No empty, "." or ".." component: what is decided about is what is opened. */
static bool is_canonical_text(const char *path)
{
	for (const char *at = path; *at; at += strcspn(at, "/")) {
		size_t length;

		if (*at++ != '/')
			return false;
		length = strcspn(at, "/");
		if (length == 0 || strncmp(at, ".", length) == 0 || strncmp(at, "..", length) == 0)
			return false;
	}
	return true;
}

/* What is shown and decided about (path) must be what is acted on (directory and name). */
static bool name_fits(const struct sb_spot *theirs)
{
	const char *last = strrchr(theirs->path, '/');
	size_t length = strcspn(theirs->name, "/");

	if (theirs->name[length] == '/' && theirs->name[length + 1])
		return false;
	if (strcmp(theirs->name, ".") == 0)
		return true;
	return last && length && strlen(last + 1) == length &&
	       memcmp(last + 1, theirs->name, length) == 0;
}

int sb_reopen(const struct sb_spot *theirs, struct sb_spot *out)
{
	/* "." in a directory that was removed: that is the object, and has no better name */
	bool by_name = theirs->directory >= 0 &&
		       !(theirs->object >= 0 && strcmp(theirs->name, ".") == 0 &&
			 is_removed(theirs->object));

	*out = SB_SPOT_EMPTY;
	out->named_ns = sb_now_ns();
	/* whoever sends this may have been led astray: see that it is what it can be */
	if ((!by_name && theirs->object < 0) || (by_name && !name_fits(theirs)) ||
	    (theirs->path[0] && strcmp(theirs->path, "/") != 0 && !is_canonical_text(theirs->path)))
		return -EACCES;
	if (by_name)
		memcpy(out->name, theirs->name, sizeof out->name);
	memcpy(out->path, theirs->path, sizeof out->path);
	out->through_fd = theirs->through_fd;
	if (by_name) {
		out->directory = open_directory(theirs->path, theirs->name);
		/* another one: the command sees something else there than we do */
		if (out->directory < 0 || !sb_sys_same_file(out->directory, theirs->directory))
			return -EACCES;
		if (theirs->object >= 0)
			out->object = open_named(out->directory, out->name);
	} else if (theirs->object >= 0) {
		out->object = reopen_object(theirs);
	}
	if (theirs->object >= 0 &&
	    (out->object < 0 || !sb_sys_same_file(out->object, theirs->object) ||
	     fstat(out->object, &out->info) != 0))
		return -EACCES;
	if (theirs->object >= 0 && out->info.st_nlink > 0)
		find_directory(out);
	return 0;
}

int sb_reopen_hidden_socket(const char *path, struct sb_spot *out)
{
	*out = SB_SPOT_EMPTY;
	if (!is_canonical_text(path))
		return -EACCES;
	memcpy(out->path, path, strlen(path) + 1);
	find_directory(out);
	if (out->directory < 0)
		return -ENOENT;
	out->object = open_named(out->directory, out->name);
	if (out->object < 0)
		return out->object;
	if (fstat(out->object, &out->info) != 0 || !S_ISSOCK(out->info.st_mode))
		return -ECONNREFUSED;
	return 0;
}

static int may_change_names(const struct sb_spot *spot)
{
	struct stat directory, file;

	if (faccessat(spot->directory, ".", W_OK | X_OK, AT_EACCESS) != 0)
		return errno;
	/* in a sticky directory only owners remove or rename */
	if (fstat(spot->directory, &directory) == 0 && (directory.st_mode & S_ISVTX) &&
	    directory.st_uid != geteuid() &&
	    fstatat(spot->directory, spot->name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
	    file.st_uid != geteuid())
		return EPERM;
	return 0;
}

static int may_use(const struct sb_spot *file, int mode)
{
	char name[SB_PROC_NAME];

	sb_proc_self_fd(name, file->object);
	return faccessat(AT_FDCWD, name, mode, AT_EACCESS) != 0 ? errno : 0;
}

int sb_user_may(const struct sb_call *call, const struct sb_spot *file,
		const struct sb_spot *target)
{
	int error;

	switch (call->act) {
	case SB_ACT_OPEN:
		if (file->object < 0)
			return may_change_names(file);
		if (S_ISDIR(file->info.st_mode))
			return may_use(file, W_OK | X_OK);
		return may_use(file, (call->flags & O_ACCMODE) == O_RDWR ? R_OK | W_OK : W_OK);
	case SB_ACT_RENAME:
		error = may_change_names(file);
		return error ? error : may_change_names(target);
	case SB_ACT_LINK:
		return may_change_names(target);
	case SB_ACT_CHMOD:
	case SB_ACT_CHOWN:
	case SB_ACT_FLAGS:
		return file->info.st_uid == geteuid() ? 0 : EPERM;
	case SB_ACT_TIMES:
		if (file->info.st_uid == geteuid())
			return 0;
		return call->times[0].tv_nsec == UTIME_NOW && call->times[1].tv_nsec == UTIME_NOW
			       ? may_use(file, W_OK)
			       : EPERM;
	default:
		return call->act == SB_ACT_CLOSE ||
				       sb_act_has(call->act, SB_TRAIT_NAMES | SB_TRAIT_REMOVES)
			       ? may_change_names(file)
			       : may_use(file, W_OK);
	}
}

int sb_connect_for(const struct sb_wire_request *request, const struct sb_spot *file)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int flags = fcntl(request->socket, F_GETFL), error = 0;

	if (request->socket < 0 || flags < 0)
		return EACCES;
	if (request->call.act == SB_ACT_BIND)
		return sb_bind_at(&request->call, file, request->socket);
	snprintf(address.sun_path, sizeof address.sun_path, "self/fd/%d", file->object);
	/* a server that does not accept must not hold us; the flag is the command's, so put back */
	fcntl(request->socket, F_SETFL, flags | O_NONBLOCK);
	if (connect(request->socket, (const void *)&address, sizeof address) != 0)
		error = errno;
	fcntl(request->socket, F_SETFL, flags);
	return error;
}
