#include "supervise/constrained.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The object a constrained path leads to, as the kernel finds it; or a negative errno. */
static int open_constrained(int start, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = flags | O_PATH | O_CLOEXEC,
			       .resolve = resolve | RESOLVE_NO_MAGICLINKS};
	long fd = syscall(SYS_openat2, start, path, &how, sizeof how);

	return fd < 0 ? -errno : (int)fd;
}

/* path's last name in its directory; the name may be missing, or a link that leads nowhere. */
static int find_name(const struct sb_caller *caller, int start, const char *path, uint64_t resolve,
		     struct sb_spot *out)
{
	char directory[PATH_MAX] = ".";
	size_t end = strlen(path), begin, at;
	bool slash = end && path[end - 1] == '/';
	int status;

	while (end && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/';)
		begin--;
	if (begin) {
		memcpy(directory, path, begin);
		directory[begin] = '\0';
	}
	out->directory = open_constrained(start, directory, O_DIRECTORY, resolve);
	if (out->directory < 0)
		return out->directory;
	if (slash || begin == end)
		return -EISDIR;
	/* too long stays too long: the kernel says so when it is its turn */
	if (end - begin > NAME_MAX)
		end = begin + NAME_MAX + 1;
	memcpy(out->name, path + begin, end - begin);
	out->name[end - begin] = '\0';
	status = sb_descriptor_path(caller->proc, out->directory, out->path, sizeof out->path);
	at = strcmp(out->path, "/") == 0 ? 0 : strlen(out->path);
	if (status == 0 && at + strlen(out->name) + 2 > sizeof out->path)
		status = -ENAMETOOLONG;
	if (status < 0)
		return status;
	out->path[at] = '/';
	memcpy(out->path + at + 1, out->name, strlen(out->name) + 1);
	return 0;
}

/* Does path end in "." or "..", or is it nothing but slashes?  Those are there already. */
static bool ends_in_dots(const char *path)
{
	size_t end = strlen(path), begin;

	while (end && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/';)
		begin--;
	return begin == end || (path[begin] == '.' &&
				(end - begin == 1 || (end - begin == 2 && path[begin + 1] == '.')));
}

/* Put what a link says in place of the last name of path. */
static int replace_last(char *path, size_t size, const struct sb_spot *link)
{
	char text[PATH_MAX];
	ssize_t length = readlinkat(link->directory, link->name, text, sizeof text - 1);
	char *slash = strrchr(path, '/');
	size_t keep = slash ? (size_t)(slash - path) + 1 : 0;

	if (length < 0)
		return -errno;
	text[length] = '\0';
	if (text[0] == '/')
		keep = 0;
	if (keep + (size_t)length + 1 > size)
		return -ENAMETOOLONG;
	memcpy(path + keep, text, (size_t)length + 1);
	return 0;
}

/* Where openat2() starts: an absolute path does so too when it is kept in a root of its own. */
static int find_start(const struct sb_caller *caller, const struct sb_call *call,
		      struct sb_spot *out)
{
	bool relative = call->file.path[0] != '/' || (call->resolve & RESOLVE_IN_ROOT);

	*out = SB_SPOT_EMPTY;
	if (!call->file.path[0])
		return -ENOENT;
	return sb_resolve(caller, relative ? call->file.fd : AT_FDCWD, ".", SB_LOOKUP_FOLLOW, out);
}

int sb_resolve_constrained(const struct sb_caller *caller, const struct sb_call *call,
			   struct sb_spot *out)
{
	char path[PATH_MAX];
	struct sb_spot start;
	int status = find_start(caller, call, &start);

	*out = SB_SPOT_EMPTY;
	if (status < 0)
		return status;
	memcpy(path, call->file.path, sizeof path);
	if ((call->flags & O_CREAT) && ends_in_dots(path)) { /* found first, and then too much */
		out->object = open_constrained(start.object, path, 0, call->resolve);
		status = out->object < 0 ? out->object : call->flags & O_EXCL ? -EEXIST : -EISDIR;
		goto found;
	}
	for (int links = 0;; links++) {
		struct stat info;

		/* a slash behind the name, or behind what a link says: O_CREAT makes no directories */
		if ((call->flags & O_CREAT) &&
		    ((call->flags & O_EXCL) || path[strlen(path) - 1] == '/')) {
			status = find_name(caller, start.object, path, call->resolve, out);
			goto found;
		}
		status = open_constrained(start.object, path, call->file.follow ? 0 : O_NOFOLLOW,
					  call->resolve);
		if ((status != -ENOENT && status != -ENOTDIR) || !(call->flags & O_CREAT))
			break;
		status = find_name(caller, start.object, path, call->resolve, out);
		if (status < 0 ||
		    fstatat(out->directory, out->name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISLNK(info.st_mode) || (call->flags & O_EXCL) || !call->file.follow)
			goto found;
		status = links < 40 ? replace_last(path, sizeof path, out) : -ELOOP;
		sb_spot_done(out);
		if (status < 0)
			goto found;
	}
	if (status >= 0) {
		int object = status;

		/* with a name where the last one is meant itself, else by what it is */
		status = call->file.follow
				 ? -EISDIR
				 : find_name(caller, start.object, path, call->resolve, out);
		if (status < 0)
			sb_spot_done(out);
		out->object = object;
		out->named_ns = sb_now_ns();
		status = fstat(object, &out->info) != 0
				 ? -errno
				 : sb_descriptor_path(caller->proc, object, out->path,
						      sizeof out->path);
	}
found:
	sb_spot_done(&start);
	if (status < 0)
		sb_spot_done(out);
	return status == -ENODATA ? -EACCES : status;
}

struct sb_outcome sb_open_constrained(const struct sb_caller *caller, const struct sb_call *call,
				      bool *native)
{
	struct open_how how = {.flags = (uint64_t)(unsigned)call->flags,
			       .resolve = call->resolve | RESOLVE_NO_MAGICLINKS};
	struct sb_outcome outcome = {.fd = -1};
	struct stat info, opened;
	struct sb_spot start;
	int object, status = find_start(caller, call, &start);

	*native = false;
	if (status < 0) {
		outcome.error = -status;
		return outcome;
	}
	object = open_constrained(start.object, call->file.path,
				  (uint64_t)(call->flags & (O_NOFOLLOW | O_DIRECTORY)),
				  call->resolve);
	/*
	 * Devices, FIFOs and magic links are the kernel's: opened by us they would wait in us or
	 * be ours.  Its second look at the flags can gain nothing, since Landlock refuses writes.
	 */
	if (object == -ELOOP || object == -ENOENT ||
	    (object >= 0 &&
	     (fstat(object, &info) != 0 || !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))))) {
		*native = true;
	} else if (object < 0) {
		outcome.error = -object;
	} else {
		outcome.fd =
			(int)syscall(SYS_openat2, start.object, call->file.path, &how, sizeof how);
		outcome.error = outcome.fd < 0 ? errno : 0;
		if (outcome.fd >= 0 &&
		    (fstat(outcome.fd, &opened) != 0 || opened.st_ino != info.st_ino ||
		     opened.st_dev != info.st_dev)) { /* another file by now */
			close(outcome.fd);
			outcome = (struct sb_outcome){.error = EAGAIN, .fd = -1};
		}
	}
	if (object >= 0)
		close(object);
	sb_spot_done(&start);
	return outcome;
}
