#include "files/linux_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/words.h"
#include "files/steps.h"
#include "path/path.h"
#include "sys/beneath.h"

#define DELETED " (deleted)"

/* The walk so far. */
struct walk {
	unsigned flags;
	int at; /* the directory we stand in, O_PATH, ours */
	struct sb_steps steps;
};

static int open_path(int directory, const char *name, int flags)
{
	int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

static enum sb_files_type type_of(uint32_t mode)
{
	return S_ISREG(mode)   ? SB_FILES_FILE
	       : S_ISDIR(mode) ? SB_FILES_DIRECTORY
	       : S_ISLNK(mode) ? SB_FILES_LINK
			       : SB_FILES_OTHER;
}

void sb_disk_facts(const struct sb_sys_file *file, struct sb_facts *out)
{
	*out = (struct sb_facts){
		.type = type_of(file->mode),
		.bytes = file->bytes,
		.mode = file->mode & 07777,
		.special = file->mode & S_IFMT,
		.uid = file->uid,
		.gid = file->gid,
		.links = file->links,
		.device = file->device,
		.inode = file->inode,
		.mount = file->mount,
		.modified = file->modified,
		.accessed = file->accessed,
		.changed = file->changed,
		.born = file->born,
	};
}

/*
 * SECURITY: whatever lies on a /proc is known for it, wherever it is mounted and however it
 * was reached.
 *
 * Danger: reading it tells what other processes hold, our own environment first.
 * Price: a call for what is on no block device; /proc never is.
 * Held by: tests/unit/test_files_attacks.c
 */
static int look_at(int fd, struct sb_facts *out)
{
	struct sb_sys_file file;
	int status = sb_sys_look(fd, "", &file);

	if (status < 0)
		return status;
	sb_disk_facts(&file, out);
	out->procfs = file.device >> 32 == 0 && sb_sys_is_procfs(fd); /* the major number */
	return 0;
}

/*
 * The kernel marks the name of what was removed, but a file may be called like that as well;
 * the count of links tells.  A directory has none once it is removed.
 */
static bool is_gone(int fd, const char *name, size_t length)
{
	size_t mark = strlen(DELETED);
	struct stat info;

	return length > mark && strcmp(name + length - mark, DELETED) == 0 &&
	       (fstat(fd, &info) != 0 || info.st_nlink == 0);
}

bool sb_place_is_named(const struct sb_place *place)
{
	char held[PATH_MAX];
	size_t length;

	if (sb_place_kernel_name(place->directory >= 0 ? place->directory : place->object, held) <
	    0)
		return false;
	if (place->directory < 0)
		return strcmp(held, place->path) == 0;
	length = held[1] ? strlen(held) : 0;
	return strncmp(held, place->path, length) == 0 && place->path[length] == '/' &&
	       strcmp(place->path + length + 1, place->name) == 0;
}

int sb_place_kernel_name(int fd, char out[PATH_MAX])
{
	char link[32];
	ssize_t length;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, out, PATH_MAX);
	if (length < 0)
		return -errno;
	if (length >= PATH_MAX)
		return -ENAMETOOLONG;
	out[length] = '\0';
	/* "(unreachable)/..." and "pipe:[...]" are no paths to decide about */
	if (out[0] != '/' || is_gone(fd, out, (size_t)length))
		return -ESTALE;
	return 0;
}

int sb_place_join(struct sb_place *out, const char *directory, const char *name)
{
	size_t head = strcmp(directory, "/") == 0 ? 0 : strlen(directory), tail = strlen(name);

	if (head + 1 + tail >= PATH_MAX)
		return -ENAMETOOLONG;
	memmove(out->path, directory, head);
	out->path[head] = '/';
	memcpy(out->path + head + 1, name, tail + 1);
	return 0;
}

int sb_place_look(struct sb_place *place)
{
	int fd = open_path(place->directory, place->name, 0);

	if (place->object >= 0)
		close(place->object);
	place->object = -1;
	place->exists = false;
	if (fd == -ENOENT)
		return look_at(place->directory, &place->facts);
	if (fd < 0)
		return fd;
	place->object = fd;
	place->exists = true;
	return look_at(fd, &place->facts);
}

void sb_place_release(struct sb_place *place)
{
	if (place->directory >= 0)
		close(place->directory);
	if (place->object >= 0)
		close(place->object);
	place->directory = place->object = -1;
}

/* Is this something that the kernel, not the path, should answer for?  Out of descriptors. */
static bool is_our_trouble(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

/* name, in the directory where we stand; object is what is there, or -1. */
static int arrive(struct walk *walk, const char *name, int object, struct sb_place *out)
{
	char directory[PATH_MAX];
	int status;

	out->directory = walk->at;
	out->object = object;
	out->exists = object >= 0;
	out->must_be_directory = walk->steps.slash;
	walk->at = -1;
	memcpy(out->name, name, strlen(name) + 1);
	status = look_at(object >= 0 ? object : out->directory, &out->facts);
	if (status == 0)
		status = sb_place_kernel_name(out->directory, directory);
	if (status == 0)
		status = sb_place_join(out, directory, name);
	return status;
}

/* The directory where we stand is meant itself. */
static int arrive_here(struct walk *walk, struct sb_place *out)
{
	int status;

	out->object = walk->at;
	out->exists = true;
	out->must_be_directory = true;
	walk->at = -1;
	status = look_at(out->object, &out->facts);
	return status < 0 ? status : sb_place_kernel_name(out->object, out->path);
}

/* No further than name, in the directory where we stand. */
static int fail_at(struct walk *walk, const char *name, int error, struct sb_place *out)
{
	char directory[PATH_MAX];
	int status;

	if (is_our_trouble(error))
		return error;
	out->error = -error;
	status = look_at(walk->at, &out->facts);
	if (status == 0)
		status = sb_place_kernel_name(walk->at, directory);
	if (status < 0)
		return status;
	if (!*name || sb_place_join(out, directory, name) < 0)
		memcpy(out->path, directory, sizeof directory);
	return 0;
}

/* What is missing is missing with all that was wanted in it: that is what the call was about. */
static int fail_missing(struct walk *walk, const char *name, struct sb_place *out)
{
	int status = fail_at(walk, name, -ENOENT, out);
	char missing[PATH_MAX];

	memcpy(missing, out->path, sizeof missing);
	if (status == 0 && sb_steps_keep(&walk->steps, out->rest) && *out->rest &&
	    sb_place_join(out, missing, out->rest) < 0)
		memcpy(out->path, missing, sizeof missing);
	out->rest[0] = '\0';
	return status;
}

static void move_to(struct walk *walk, int fd)
{
	close(walk->at);
	walk->at = fd;
}

/* Put the target of a link in front of what is left.  Links of /proc are none to follow. */
static int follow(struct walk *walk, int link)
{
	char target[PATH_MAX];
	ssize_t length;
	int status;

	if (sb_sys_is_procfs(link))
		return -EXDEV;
	length = readlinkat(link, "", target, sizeof target - 1);
	if (length < 0)
		return -errno;
	status = sb_steps_follow(&walk->steps, target, (size_t)length);
	if (status == 0 && target[0] == '/') {
		int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (root < 0)
			return -errno;
		move_to(walk, root);
	}
	return status;
}

/* One name forward.  1: go on; 0: arrived, or out->error says why not. */
static int step(struct walk *walk, struct sb_place *out)
{
	char name[NAME_MAX + 1] = "";
	struct sb_facts facts = {0};
	bool last = false;
	int status = sb_steps_next(&walk->steps, name, &last);
	SB_AUTO_FD int object = -1;

	if (status < 0)
		return fail_at(walk, "", status, out);
	if (status == 0)
		return arrive_here(walk, out);
	if (sb_is_dots(name)) {
		int up = open_path(walk->at, name, O_DIRECTORY);

		if (up < 0)
			return fail_at(walk, name, up, out);
		move_to(walk, up);
		return last ? arrive_here(walk, out) : 1;
	}
	object = open_path(walk->at, name, 0);
	if (object == -ENOENT && !last && sb_steps_cancel(&walk->steps))
		return 1;
	if (object == -ENOENT && (last || (walk->flags & SB_RESOLVE_PARENTS))) {
		if (!sb_steps_keep(&walk->steps, out->rest))
			return fail_at(walk, name, -ENOENT, out);
		return arrive(walk, name, -1, out);
	}
	if (object == -ENOENT)
		return fail_missing(walk, name, out);
	if (object < 0)
		return fail_at(walk, name, object, out);
	status = look_at(object, &facts);
	if (status < 0)
		return status;
	if (facts.type == SB_FILES_LINK &&
	    (!last || walk->steps.slash || (walk->flags & SB_RESOLVE_FOLLOW))) {
		status = follow(walk, object);
		return status < 0 ? fail_at(walk, name, status, out) : 1;
	}
	if (last) {
		int found = sb_take_fd(&object);

		return arrive(walk, name, found, out);
	}
	if (facts.type != SB_FILES_DIRECTORY)
		return fail_at(walk, name, -ENOTDIR, out);
	move_to(walk, sb_take_fd(&object));
	return 1;
}

static int walk_from(int start, const char *path, unsigned flags, struct sb_place *out)
{
	struct walk walk;
	int status = 1;

	walk.flags = flags;
	if (sb_steps_init(&walk.steps, path) < 0)
		return -ENAMETOOLONG;
	walk.at = start >= 0 ? open_path(start, ".", O_DIRECTORY)
			     : open_path(AT_FDCWD, "/", O_DIRECTORY);
	if (walk.at < 0)
		return walk.at;
	while (status > 0)
		status = step(&walk, out);
	if (walk.at >= 0)
		close(walk.at);
	return status;
}

/*
 * The common case: names beneath the start, the kernel resolves all but the last, which is
 * no link.  1: it is not that simple; walk.
 */
static int find_beneath(const struct sb_root *start, const char *path, unsigned flags,
			struct sb_place *out)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	uint64_t resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
	char directory[PATH_MAX];
	size_t length = slash ? (size_t)(slash - path) : 0;
	struct walk walk;
	int object;

	if (!*name || sb_is_dots(name) || strlen(name) > NAME_MAX)
		return 1;
	walk.flags = flags;
	walk.steps.slash = false;
	memcpy(directory, path, length);
	memcpy(directory + length, length ? "" : ".", length ? 1 : 2);
	walk.at = sb_sys_openat2(start->directory, directory, O_PATH | O_DIRECTORY, resolve);
	if (walk.at < 0)
		return 1;
	object = open_path(walk.at, name, 0);
	if (object < 0 && object != -ENOENT) {
		close(walk.at);
		return 1;
	}
	if (object >= 0 && (flags & SB_RESOLVE_FOLLOW)) {
		struct stat info;

		if (fstat(object, &info) != 0 || S_ISLNK(info.st_mode)) {
			close(object);
			close(walk.at);
			return 1;
		}
	}
	return arrive(&walk, name, object < 0 ? -1 : object, out);
}

int sb_place_find(const struct sb_root *start, const char *path, unsigned flags,
		  struct sb_place *out)
{
	int status = 1;

	*out = SB_PLACE_EMPTY;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (path[0] == '/' && start && sb_path_within(start->path, path)) {
		path += strcmp(start->path, "/") == 0 ? 0 : strlen(start->path);
		path += strspn(path, "/");
	} else if (path[0] == '/') {
		start = NULL;
	}
	if (start)
		status = find_beneath(start, path, flags, out);
	if (status > 0)
		status = walk_from(start ? start->directory : -1, path, flags, out);
	if (status < 0)
		sb_place_release(out);
	return status;
}
