#include "supervise/constrained.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "supervise/proc_name.h"
#include "sys/beneath.h"

#define SCOPED (RESOLVE_BENEATH | RESOLVE_IN_ROOT)
#define TRIES 40 /* files change places while we look: then give up */

/* Links in procfs that are no text would be ours.  A path that is kept in a place has none. */
static uint64_t without_magic(uint64_t resolve)
{
	return resolve & SCOPED ? resolve : resolve | RESOLVE_NO_MAGICLINKS;
}

/* The object a constrained path leads to, as the kernel finds it; or a negative errno. */
static int open_constrained(int start, const char *path, uint64_t flags, uint64_t resolve)
{
	return sb_sys_openat2(start, path, flags | O_PATH, without_magic(resolve));
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
	/* the current directory, which may be closed to its owner, has no part in an absolute one */
	return sb_resolve(caller, relative ? call->file.fd : AT_FDCWD, relative ? "." : "/",
			  SB_LOOKUP_FOLLOW, out);
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

/* Why we do not open this to read; 0: we do. */
static int why_not_ours(int object, const struct stat *info)
{
	if (sb_sys_is_procfs(object))
		return ENOSYS;
	if (S_ISREG(info->st_mode) || S_ISDIR(info->st_mode) || S_ISLNK(info->st_mode) ||
	    sb_is_harmless_device(info))
		return 0;
	return S_ISSOCK(info->st_mode) ? ENXIO : ENOSYS;
}

/* No constraints: as any open. */
static struct sb_outcome open_anywhere(const struct sb_caller *caller, const struct sb_call *call)
{
	struct sb_outcome outcome = {.fd = -1};
	struct sb_spot file;
	int status = sb_resolve(caller, call->file.fd, call->file.path,
				call->file.follow ? SB_LOOKUP_FOLLOW : SB_LOOKUP_NOFOLLOW, &file);

	if (status < 0) {
		outcome.error = -status;
		return outcome;
	}
	outcome.error = why_not_ours(file.object, &file.info);
	if (!outcome.error)
		outcome = sb_perform_read(call, &file);
	sb_spot_done(&file);
	return outcome;
}

/*
 * What the kernel has against a path, asked by us.  Where it leads through procfs, or by a link of
 * procfs that we do not follow, it may be there for the caller.
 */
static int explain(const struct sb_caller *caller, const struct sb_call *call, int start, int error)
{
	struct sb_spot file;

	if (error == ELOOP &&
	    (call->resolve & (SCOPED | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)))
		return error;
	if (error != ELOOP && error != ENOENT)
		return error;
	if (call->resolve & SCOPED)
		return sb_sys_is_procfs(start) ? ENOSYS : error;
	if (sb_resolve(caller, call->file.fd, call->file.path, SB_LOOKUP_FOLLOW, &file) < 0)
		return error;
	sb_spot_done(&file);
	return ENOSYS;
}

/* *out_swapped: another file had the name by then. */
static struct sb_outcome open_once(const struct sb_caller *caller, const struct sb_call *call,
				   bool *out_swapped)
{
	struct open_how how = {.flags = (uint64_t)(unsigned)call->flags,
			       .resolve = without_magic(call->resolve)};
	struct sb_outcome outcome = {.fd = -1};
	struct stat info, opened;
	struct sb_spot start;
	int object, status;

	*out_swapped = false;
	status = find_start(caller, call, &start);
	if (status < 0) {
		outcome.error = -status;
		return outcome;
	}
	object = open_constrained(start.object, call->file.path,
				  (uint64_t)(call->flags & (O_NOFOLLOW | O_DIRECTORY)),
				  call->resolve);
	if (object < 0)
		outcome.error = explain(caller, call, start.object, -object);
	else if (fstat(object, &info) != 0)
		outcome.error = errno;
	else
		outcome.error = why_not_ours(object, &info);
	if (object >= 0 && !outcome.error) {
		outcome.fd =
			(int)syscall(SYS_openat2, start.object, call->file.path, &how, sizeof how);
		outcome.error = outcome.fd < 0 ? errno : 0;
		if (outcome.fd >= 0 &&
		    (fstat(outcome.fd, &opened) != 0 || opened.st_ino != info.st_ino ||
		     opened.st_dev != info.st_dev)) {
			close(outcome.fd);
			outcome = (struct sb_outcome){.error = EACCES, .fd = -1};
			*out_swapped = true;
		}
	}
	if (object >= 0)
		close(object);
	sb_spot_done(&start);
	return outcome;
}

struct sb_outcome sb_open_constrained(const struct sb_caller *caller, const struct sb_call *call)
{
	struct sb_outcome outcome;
	bool swapped;

	if (!call->resolve)
		return open_anywhere(caller, call);
	for (int tries = TRIES; tries > 0; tries--) {
		outcome = open_once(caller, call, &swapped);
		if (!swapped)
			break;
	}
	return outcome;
}
