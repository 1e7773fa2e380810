#include "base/words.h"
#include "supervise/proc_name.h"
#include "supervise/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "supervise/deep.h"
#include "supervise/thread.h"

#define MAX_LINKS 40 /* MAXSYMLINKS of the kernel: path_resolution(7) */

/* The walk so far. */
struct walk {
	const struct sb_caller *caller;
	enum sb_lookup lookup;
	int at;                  /* the directory we stand in, O_PATH, owned unless ... */
	bool borrowed;           /* ... it is the caller's cwd->fd */
	bool own_proc;           /* at lies in the caller's own directory of /proc */
	unsigned links;          /* followed so far */
	char rest[2 * PATH_MAX]; /* what is still to be walked */
};

static bool may_be_missing(enum sb_lookup lookup)
{
	return lookup == SB_LOOKUP_CREATE || lookup == SB_LOOKUP_CREATE_NOFOLLOW;
}

static bool follows(enum sb_lookup lookup)
{
	return lookup == SB_LOOKUP_FOLLOW || lookup == SB_LOOKUP_CREATE ||
	       lookup == SB_LOOKUP_SOCKET;
}

static int open_at(int directory, const char *name, int flags)
{
	int fd = openat(directory, name, flags | O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int copy_of(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return copy < 0 ? -errno : copy;
}

/* Not all of it: the rest is 8 KB, which most walks have no use for. */
static void begin(struct walk *walk, const struct sb_caller *caller, enum sb_lookup lookup, int at)
{
	walk->caller = caller;
	walk->lookup = lookup;
	walk->at = at;
	walk->borrowed = walk->own_proc = false;
	walk->links = 0;
}

static void move_to(struct walk *walk, int fd)
{
	close(walk->at);
	walk->at = fd;
}

/*
 * The caller's own directory: our "self" would be another process, or nobody.  "self" is the
 * process, whose first thread may have other descriptors and another directory: proc(5).
 */
static int enter_self(struct walk *walk, const char *self)
{
	const struct sb_caller *caller = walk->caller;
	long number = strcmp(self, "self") == 0 ? sb_thread_process(caller->proc, caller->thread)
						: caller->thread;
	char name[SB_PROC_NAME];
	int fd;

	if (number <= 0)
		return -ENOENT;
	snprintf(name, sizeof name, "%ld", number);
	fd = open_at(walk->caller->proc, name, O_DIRECTORY);
	if (fd < 0)
		return fd;
	move_to(walk, fd);
	walk->own_proc = true;
	return 0;
}

/* The name of the directory that a spot lies in. */
static int name_directory(const struct sb_caller *caller, struct sb_spot *out)
{
	int status;

	if (!out->borrowed) {
		out->named_ns = sb_now_ns();
		return sb_descriptor_path(caller->proc, out->directory, out->path,
					  sizeof out->path);
	}
	status = sb_cwd_name(caller);
	out->named_ns = caller->cwd->named_ns;
	if (status == 0)
		memcpy(out->path, caller->cwd->path, strlen(caller->cwd->path) + 1);
	return status;
}

/* Its directory or the name itself is too deep: deep.h. */
static int name_deep(const struct sb_caller *caller, int directory, const char *name,
		     struct sb_spot *out)
{
	int status;

	out->named_ns = sb_now_ns();
	status = sb_deep_name(caller->proc, directory, name, &out->whole);
	if (status == 0)
		sb_deep_cut(out->whole, out->path);
	return status;
}

/* The end of the walk: name in the directory where we stand, and what is there (or -1). */
static int arrive(struct walk *walk, const char *name, bool slash, int object, struct sb_spot *out)
{
	size_t length = strlen(name);
	int status;

	out->directory = walk->at;
	out->borrowed = walk->borrowed; /* at once: who cleans up after an error must know */
	walk->at = -1;
	out->object = object;
	if (object >= 0 && fstat(object, &out->info) != 0)
		return -errno;
	memcpy(out->name, name, length);
	if (slash && length <= NAME_MAX)
		out->name[length++] = '/';
	out->name[length] = '\0';
	status = name_directory(walk->caller, out);
	if (status == -ENAMETOOLONG)
		return name_deep(walk->caller, out->directory, name, out);
	if (status < 0)
		return status;
	out->in_proc = (walk->own_proc || strncmp(out->path, "/proc", 5) == 0) &&
		       sb_is_procfs(out->directory);
	/* ".." stands here only as a name to make or remove, which the kernel never does */
	if (sb_is_dots(name))
		return 0;
	length = strcmp(out->path, "/") == 0 ? 0 : strlen(out->path);
	if (length + strlen(name) + 2 > sizeof out->path)
		return name_deep(walk->caller, out->directory, name, out);
	out->path[length] = '/';
	memcpy(out->path + length + 1, name, strlen(name) + 1);
	return 0;
}

/* As d_path() of the kernel marks it; but a file may just be called so. */
static bool is_marked_deleted(const char *path)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(path);

	return length >= sizeof mark - 1 && strcmp(path + length - (sizeof mark - 1), mark) == 0;
}

bool sb_path_is_gone(const char *path, nlink_t links)
{
	return links == 0 && is_marked_deleted(path);
}

/* It was removed where it had been opened, and is still there under another name. */
static bool is_lost(const struct sb_spot *spot)
{
	struct stat info;

	return spot->info.st_nlink > 0 && is_marked_deleted(spot->path) &&
	       (fstatat(AT_FDCWD, spot->path, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
		info.st_ino != spot->info.st_ino || info.st_dev != spot->info.st_dev);
}

/*
 * SECURITY: without a name are pipes and the like, whose type says so, and what was removed.
 *
 * Danger: nothing is decided about them, since they have nothing to protect.  A file whose name is
 * longer than a path may be would be a guarded one in a deep directory, which gets its old
 * name back once a link to it is made.  Of a directory that name can be found, of a file not.
 * Price: such files cannot be changed by a descriptor.
 * Held by: tests/supervise/nameless.py
 */
static int name_object(const struct sb_caller *caller, struct sb_spot *spot)
{
	mode_t mode = spot->info.st_mode;
	bool named = (S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode)) && spot->info.st_nlink > 0;
	int status;

	spot->named_ns = sb_now_ns();
	status = sb_descriptor_path(caller->proc, spot->object, spot->path, sizeof spot->path);
	if (status == -ENODATA && !named) {
		spot->path[0] = '\0';
		return 0;
	}
	if (status == -ENAMETOOLONG && S_ISDIR(mode))
		return name_deep(caller, spot->object, "", spot);
	if (status == 0)
		spot->lost = is_lost(spot);
	return status;
}

/* Nothing but the moment changes: copies of a spot share its whole name. */
static int renew_deep(int proc, struct sb_spot *spot)
{
	SB_AUTO_FREE char *now = NULL;
	uint64_t started_ns = sb_now_ns();
	char name[NAME_MAX + 2];
	int status;

	memcpy(name, spot->name, sizeof name);
	name[strcspn(name, "/")] = '\0';
	status = sb_deep_name(proc, spot->directory >= 0 ? spot->directory : spot->object,
			      spot->directory >= 0 ? name : "", &now);
	if (status < 0)
		return status;
	if (strcmp(now, spot->whole) != 0)
		return -EACCES;
	spot->named_ns = started_ns;
	return 0;
}

int sb_spot_renew(int proc, struct sb_spot *spot)
{
	size_t length, name = strcspn(spot->name, "/"); /* without a slash behind it */
	struct stat info;
	int status;

	if (spot->directory < 0 && !spot->path[0])
		return 0; /* it has none */
	if (spot->whole)
		return renew_deep(proc, spot);
	spot->named_ns = sb_now_ns();
	if (spot->directory < 0)
		return sb_descriptor_path(proc, spot->object, spot->path, sizeof spot->path);
	status = sb_descriptor_path(proc, spot->directory, spot->path, sizeof spot->path);
	if (status < 0)
		return status;
	if (fstat(spot->directory, &info) != 0 || sb_path_is_gone(spot->path, info.st_nlink))
		return -ENOENT;
	if (strcmp(spot->name, ".") == 0)
		return 0;
	length = strcmp(spot->path, "/") == 0 ? 0 : strlen(spot->path);
	if (length + name + 2 > sizeof spot->path)
		return -ENAMETOOLONG;
	spot->path[length] = '/';
	memcpy(spot->path + length + 1, spot->name, name);
	spot->path[length + 1 + name] = '\0';
	return 0;
}

/* The end of the walk at something that has no name of its own: a magic link's target. */
static int arrive_at_object(struct walk *walk, int object, struct sb_spot *out)
{
	out->object = object;
	if (fstat(object, &out->info) != 0)
		return -errno;
	return name_object(walk->caller, out);
}

/* Put a link's text in front of what is left; the rest begins with "/" or is empty. */
static int prepend(struct walk *walk, const char *text, const char *after)
{
	size_t length = strlen(text), left = strlen(after);

	if (length + left + 1 > sizeof walk->rest)
		return -ENAMETOOLONG;
	memmove(walk->rest + length, after, left + 1);
	memcpy(walk->rest, text, length);
	return 0;
}

static int follow_text(struct walk *walk, int link, const char *after)
{
	char text[PATH_MAX];
	ssize_t length = readlinkat(link, "", text, sizeof text - 1);
	int status;

	if (length < 0)
		return -errno;
	if (length == 0)
		return -ENOENT;
	text[length] = '\0';
	status = prepend(walk, text, after);
	if (status < 0 || text[0] != '/')
		return status;
	status = open_at(AT_FDCWD, "/", O_DIRECTORY);
	if (status < 0)
		return status;
	move_to(walk, status);
	walk->own_proc = false;
	return 0;
}

/* A link whose target is not its text: /proc/PID/fd/N, cwd, root, exe. */
static bool is_magic(const struct walk *walk, const char *name)
{
	int fd;

	if (!sb_is_procfs(walk->at))
		return false;
	fd = sb_sys_openat2(walk->at, name, O_PATH, RESOLVE_NO_MAGICLINKS);
	sb_auto_close(&fd);
	return fd == -ELOOP;
}

static int jump(struct walk *walk, const char *name, bool last, bool slash, struct sb_spot *out)
{
	int object = open_at(walk->at, name, 0);
	struct stat info;
	char *end;

	if (object < 0)
		return object;
	if ((!last || slash) && (fstat(object, &info) != 0 || !S_ISDIR(info.st_mode))) {
		close(object);
		return -ENOTDIR;
	}
	if (last) {
		long number = strtol(name, &end, 10);

		if (walk->own_proc && !*end && end != name) {
			out->through_fd = true;
			out->fd_number = (int)number;
		}
		return arrive_at_object(walk, object, out);
	}
	move_to(walk, object);
	walk->own_proc = false;
	return 0;
}

/* A name that is too long stays too long: the kernel says so when it is its turn. */
static void take_name(char *out, const char *from, size_t length)
{
	if (length > NAME_MAX + 1)
		length = NAME_MAX + 1;
	memcpy(out, from, length);
	out[length] = '\0';
}

/* What lies beyond, taken by its text. */
static void guess(const struct walk *walk, const char *name, const char *after, struct sb_spot *out)
{
	size_t length;

	if (sb_descriptor_path(walk->caller->proc, walk->at, out->path, sizeof out->path) < 0 ||
	    strlen(out->path) + strlen(name) + strlen(after) + 2 > sizeof out->path) {
		out->path[0] = '\0';
		return;
	}
	length = strcmp(out->path, "/") == 0 ? 0 : strlen(out->path);
	out->path[length++] = '/';
	memcpy(out->path + length, name, strlen(name) + 1);
	memcpy(out->path + length + strlen(name), after, strlen(after) + 1);
}

static int end_at(struct walk *walk, const char *name, bool slash, int object, struct sb_spot *out)
{
	int status = arrive(walk, name, slash, object, out);

	return status < 0 ? status : 1;
}

/* Make one step.  1: arrived; 0: go on; else a negative errno. */
static int step(struct walk *walk, struct sb_spot *out)
{
	char name[NAME_MAX + 2];
	const char *from = walk->rest + strspn(walk->rest, "/"), *after;
	size_t length = strcspn(from, "/");
	bool last, slash, follow;
	struct stat info;
	int next, status;

	take_name(name, from, length);
	after = from + length;
	slash = *after == '/';
	last = !after[strspn(after, "/")];
	if (length == 0) { /* "/" alone, or a link to it */
		next = walk->lookup == SB_LOOKUP_NAME ? -1 : copy_of(walk->at);
		if (next < 0 && walk->lookup != SB_LOOKUP_NAME)
			return next;
		return end_at(walk, ".", false, next, out);
	}
	if (last && walk->lookup == SB_LOOKUP_NAME)
		return end_at(walk, name, slash, -1, out);
	if ((strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0) &&
	    (!last || follows(walk->lookup)) && sb_is_procfs(walk->at)) {
		status = enter_self(walk, name);
		memmove(walk->rest, after, strlen(after) + 1);
		return status;
	}
	if (last && slash && may_be_missing(walk->lookup)) /* O_CREAT makes no directories */
		return faccessat(walk->at, ".", X_OK, AT_EACCESS) != 0 ? -EACCES : -EISDIR;
	next = open_at(walk->at, name, O_NOFOLLOW);
	if (next == -ENOENT && last && may_be_missing(walk->lookup))
		return end_at(walk, name, slash, -1, out);
	if (next < 0) {
		if (walk->lookup == SB_LOOKUP_SOCKET)
			guess(walk, name, after, out);
		return next;
	}
	if (fstat(next, &info) != 0) {
		close(next);
		return -errno;
	}
	follow = !last || slash || follows(walk->lookup);
	if (S_ISLNK(info.st_mode) && follow) {
		if (++walk->links > MAX_LINKS)
			status = -ELOOP;
		else if (is_magic(walk, name)) {
			status = jump(walk, name, last, slash, out);
			if (status == 0 && last)
				status = 1;
			else if (status == 0)
				memmove(walk->rest, after, strlen(after) + 1);
		} else
			status = follow_text(walk, next, after);
		close(next);
		return status;
	}
	if ((!last || slash) && !S_ISDIR(info.st_mode)) {
		close(next);
		return -ENOTDIR;
	}
	if (last) {
		/* "." and ".." are names of directories that have a better one */
		if (sb_is_dots(name)) {
			move_to(walk, next);
			next = copy_of(walk->at); /* "." in it may not be ours to look up */
			if (next < 0)
				return next;
			memcpy(name, ".", 2);
			slash = false;
		}
		return end_at(walk, name, slash, next, out);
	}
	walk->own_proc = walk->own_proc && sb_is_procfs(next);
	move_to(walk, next);
	memmove(walk->rest, after, strlen(after) + 1);
	return 0;
}

static int walk_from(const struct sb_caller *caller, int *start, const char *path,
		     enum sb_lookup lookup, struct sb_spot *out)
{
	struct walk walk;
	int status = 0;

	begin(&walk, caller, lookup, sb_take_fd(start));
	memcpy(walk.rest, path, strlen(path) + 1);
	while (status == 0)
		status = step(&walk, out);
	sb_auto_close(&walk.at);
	return status < 0 ? status : 0;
}

/* The directory a relative path starts in. */
static int open_start(const struct sb_caller *caller, int dirfd, const char *path)
{
	char name[SB_PROC_NAME];
	int fd;

	if (path[0] == '/')
		return open_at(AT_FDCWD, "/", O_DIRECTORY);
	if (dirfd == AT_FDCWD)
		sb_proc_cwd(name, caller->thread);
	else
		sb_proc_fd(name, caller->thread, dirfd);
	fd = open_at(caller->proc, name, O_DIRECTORY);
	return fd == -ENOENT && dirfd != AT_FDCWD ? -EBADF : fd;
}

/* Where the last name of path begins; slashes behind it do not count. */
static size_t last_name(const char *path, size_t length)
{
	while (length && path[length - 1] == '/')
		length--;
	while (length && path[length - 1] != '/')
		length--;
	return length;
}

static void leave(struct walk *walk)
{
	if (!walk->borrowed)
		close(walk->at);
	walk->at = -1;
}

/* Let the walk go on from where the quick one stands; start is the caller's if borrowed. */
static void give_back(int *start, bool borrowed, const struct walk *walk)
{
	if (!borrowed && *start >= 0)
		close(*start);
	*start = walk->borrowed ? copy_of(walk->at) : walk->at;
}

/*
 * The common case in few calls: no link on the way to the last name, which is a plain one.
 * Returns 1 when the walk has to be made step by step.
 */
static int resolve_quickly(const struct sb_caller *caller, int *start, bool borrowed,
			   const char *path, enum sb_lookup lookup, struct sb_spot *out)
{
	size_t length = strlen(path), split = last_name(path, length);
	char directory[PATH_MAX], name[NAME_MAX + 2];
	struct walk walk;
	size_t name_length = strcspn(path + split, "/");
	bool slash = path[split + name_length] == '/';
	int object = -1;

	if (name_length == 0)
		return 1;
	take_name(name, path + split, name_length);
	if (sb_is_dots(name))
		return 1;
	begin(&walk, caller, lookup, -1);
	if (split > 0 && strspn(path, "/") < split) {
		memcpy(directory, path, split);
		directory[split] = '\0';
		walk.at = sb_sys_openat2(*start, directory, O_PATH | O_DIRECTORY,
					 RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
		if (walk.at == -ELOOP || walk.at == -ENOSYS)
			return 1;
		if (walk.at < 0)
			return walk.at;
	} else {
		walk.borrowed = borrowed;
		walk.at = borrowed ? *start : sb_take_fd(start);
	}
	if (slash && may_be_missing(lookup)) {
		give_back(start, borrowed, &walk);
		return 2;
	}
	if (lookup != SB_LOOKUP_NAME) {
		struct stat info;

		object = open_at(walk.at, name, O_NOFOLLOW);
		if (object < 0 && !(object == -ENOENT && may_be_missing(lookup))) {
			leave(&walk);
			return object;
		}
		if (object >= 0 && (fstat(object, &info) != 0 || S_ISLNK(info.st_mode)) &&
		    (slash || follows(lookup))) {
			close(object);
			give_back(start, borrowed, &walk);
			return 2; /* from here on */
		}
		if (object >= 0 && slash && !S_ISDIR(info.st_mode)) {
			close(object);
			leave(&walk);
			return -ENOTDIR;
		}
	}
	return arrive(&walk, name, slash, object, out);
}

static bool is_plain_name(const char *name)
{
	return *name && !strchr(name, '/') && strlen(name) <= NAME_MAX && !sb_is_dots(name);
}

bool sb_resolve_beside(const struct sb_spot *first, const char *first_path, const char *path,
		       struct sb_spot *out)
{
	size_t split = last_name(first_path, strlen(first_path)), kept = strlen(first->path);
	const char *first_name = first_path + split, *name = path + split;

	if (first->whole || strncmp(first_path, path, split) != 0 || !is_plain_name(first_name) ||
	    !is_plain_name(name) || first->directory < 0 || strcmp(first->name, first_name) != 0 ||
	    kept <= strlen(first_name))
		return false;
	kept -= strlen(first_name);
	if (first->path[kept - 1] != '/' || strcmp(first->path + kept, first_name) != 0 ||
	    kept + strlen(name) >= sizeof out->path)
		return false;
	sb_spot_clear(out);
	out->directory = first->borrowed ? first->directory : copy_of(first->directory);
	if (out->directory < 0)
		return false;
	out->borrowed = first->borrowed;
	out->in_proc = first->in_proc;
	out->named_ns = first->named_ns;
	memcpy(out->name, name, strlen(name) + 1);
	memcpy(out->path, first->path, kept);
	memcpy(out->path + kept, name, strlen(name) + 1);
	return true;
}

int sb_resolve(const struct sb_caller *caller, int dirfd, const char *path, enum sb_lookup lookup,
	       struct sb_spot *out)
{
	bool borrowed = caller->cwd && dirfd == AT_FDCWD && path[0] != '/';
	SB_AUTO_FD int start = -1;
	int from, status = 1;

	sb_spot_clear(out);
	if (!path[0])
		return -ENOENT;
	/* tar and cp -a change modes by such a name; walking there takes thirty calls */
	from = lookup == SB_LOOKUP_FOLLOW && sb_callers_have_procfs() ? sb_proc_named_fd(path) : -1;
	if (from >= 0 && sb_thread_is_alone(caller->proc, caller->thread) &&
	    sb_resolve_descriptor(caller, from, out) == 0)
		return 0;
	from = borrowed ? sb_cwd_find(caller) : open_start(caller, dirfd, path);
	if (from < 0)
		return from;
	if (!borrowed)
		start = from;
	if (lookup != SB_LOOKUP_SOCKET) {
		status = resolve_quickly(caller, borrowed ? &from : &start, borrowed, path, lookup,
					 out);
		if (borrowed && status == 2)
			start = from;
	}
	if (borrowed && status == 1)
		start = copy_of(from);
	if (status > 0 && start < 0)
		return start;
	if (status == 1)
		status = walk_from(caller, &start, path, lookup, out);
	else if (status == 2)
		status = walk_from(caller, &start, path + last_name(path, strlen(path)), lookup,
				   out);
	if (status < 0)
		sb_spot_done(out);
	return status == -ENODATA ? -EACCES : status;
}

int sb_resolve_descriptor(const struct sb_caller *caller, int number, struct sb_spot *out)
{
	char name[SB_PROC_NAME];
	int fd, status;

	sb_spot_clear(out);
	if (number == AT_FDCWD)
		sb_proc_cwd(name, caller->thread);
	else
		sb_proc_fd(name, caller->thread, number);
	fd = open_at(caller->proc, name, 0);
	if (fd < 0)
		return fd == -ENOENT ? -EBADF : fd;
	out->object = fd;
	out->through_fd = true;
	out->fd_number = number;
	status = fstat(fd, &out->info) != 0 ? -errno : name_object(caller, out);
	if (status < 0)
		sb_spot_done(out);
	return status == -ENODATA ? -EACCES : status;
}

void sb_spot_done(struct sb_spot *spot)
{
	if (spot->directory >= 0 && !spot->borrowed)
		close(spot->directory);
	sb_auto_close(&spot->object);
	free(spot->whole);
	spot->whole = NULL;
	spot->directory = spot->object = -1;
}

int sb_spot_own(struct sb_spot *spot)
{
	int copy = spot->borrowed ? copy_of(spot->directory) : spot->directory;

	if (spot->borrowed && copy < 0)
		return copy;
	spot->directory = copy;
	spot->borrowed = false;
	return 0;
}
