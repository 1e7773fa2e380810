/*
 * linux_disk.c - the real filesystem, on descriptors.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/words.h"
#include "files/linux_replace.h"
#include "files/linux_place.h"
#include "judge/hold.h"
#include "judge/seal.h"
#include "sys/beneath.h"

#define ENTRY_BYTES (32 * 1024) /* of names per getdents64(2), as glibc's readdir() has it */

static void disk_free(struct sb_files_backend *self)
{
	(void)self;
}

static int disk_open_root(struct sb_files_backend *self, const char *path, struct sb_root *out)
{
	char name[PATH_MAX];
	struct sb_sys_file file = {0};
	SB_AUTO_FD int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs info;
	int status;

	(void)self;
	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &info) != 0 || info.f_type == PROC_SUPER_MAGIC)
		return -EXDEV;
	status = sb_place_kernel_name(fd, name);
	if (status == 0)
		status = sb_sys_look(fd, "", &file);
	if (status < 0)
		return status;
	out->path = strdup(name);
	if (!out->path)
		return -ENOMEM;
	out->mount = file.mount;
	out->node = NULL;
	out->directory = sb_take_fd(&fd);
	return 0;
}

static void disk_close_root(struct sb_files_backend *self, struct sb_root *root)
{
	(void)self;
	if (root->path)
		close(root->directory);
	free(root->path);
	root->path = NULL;
}

static int disk_resolve(struct sb_files_backend *self, const struct sb_root *start,
			const char *path, unsigned flags, struct sb_place *out)
{
	(void)self;
	return sb_place_find(start, path, flags, out);
}

static int disk_enter(struct sb_files_backend *self, const struct sb_place *dir, const char *name,
		      struct sb_place *out)
{
	char path[PATH_MAX];
	int status = sb_place_kernel_name(dir->object, path);

	(void)self;
	*out = SB_PLACE_EMPTY;
	if (status < 0)
		return status;
	status = sb_place_join(out, path, name);
	if (status < 0 || strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(out->name, name, strlen(name) + 1);
	out->directory = fcntl(dir->object, F_DUPFD_CLOEXEC, 0);
	if (out->directory < 0)
		return -errno;
	status = sb_place_look(out);
	if (status < 0)
		sb_place_release(out);
	return status;
}

static void disk_release(struct sb_files_backend *self, struct sb_place *place)
{
	(void)self;
	sb_place_release(place);
}

static int disk_confirm(struct sb_files_backend *self, const struct sb_place *place)
{
	(void)self;
	if (!sb_place_is_named(place))
		return -ESTALE;
	return place->directory < 0 || !place->exists ||
			       sb_is_still(place->directory, place->name, &place->facts)
		       ? 0
		       : -ESTALE;
}

static int disk_refresh(struct sb_files_backend *self, struct sb_place *place)
{
	(void)self;
	return place->directory < 0 ? 0 : sb_place_look(place);
}

static int disk_open(struct sb_files_backend *self, const struct sb_place *place,
		     struct sb_stream *out)
{
	char path[32];
	int fd;

	(void)self;
	/* opening a FIFO waits, opening a device may do anything: only what was looked at */
	if (place->object < 0 || place->facts.type != SB_FILES_FILE || place->facts.procfs)
		return -EINVAL;
	snprintf(path, sizeof path, "/proc/self/fd/%d", place->object);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	*out = (struct sb_stream){.fd = fd, .bytes = place->facts.bytes};
	return 0;
}

static ssize_t disk_read(struct sb_files_backend *self, struct sb_stream *stream, void *data,
			 size_t size, uint64_t offset)
{
	ssize_t got;

	(void)self;
	do
		got = pread(stream->fd, data, size, (off_t)offset);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static void disk_close(struct sb_files_backend *self, struct sb_stream *stream)
{
	(void)self;
	close(stream->fd);
}

static int disk_replace(struct sb_files_backend *self, struct sb_place *place,
			const struct sb_replacement *with)
{
	(void)self;
	return sb_replace_file(place, with);
}

static int disk_remove(struct sb_files_backend *self, const struct sb_place *place)
{
	bool directory = place->facts.type == SB_FILES_DIRECTORY;

	if (disk_confirm(self, place) < 0)
		return -ESTALE;
	return unlinkat(place->directory, place->name, directory ? AT_REMOVEDIR : 0) == 0 ? 0
											  : -errno;
}

/*
 * On a filesystem that knows no flags.  A directory can be put only in the place of an empty
 * one, so nothing is lost if one appears after the look.
 */
static int rename_to_free_name(const struct sb_place *from, const struct sb_place *to)
{
	struct sb_sys_file there;

	if (from->facts.type == SB_FILES_DIRECTORY) {
		if (sb_sys_look(to->directory, to->name, &there) != -ENOENT)
			return -EEXIST;
		return sb_sys_rename(from->directory, from->name, to->directory, to->name, 0);
	}
	if (linkat(from->directory, from->name, to->directory, to->name, 0) != 0)
		return -errno;
	return unlinkat(from->directory, from->name, 0) == 0 ? 0 : -errno;
}

static int disk_rename(struct sb_files_backend *self, const struct sb_place *from,
		       const struct sb_place *to, bool replace)
{
	int status;

	if (disk_confirm(self, from) < 0 || disk_confirm(self, to) < 0)
		return -ESTALE;
	/* what came to be there meanwhile nobody has decided about */
	if (!to->exists)
		replace = false;
	status = sb_sys_rename(from->directory, from->name, to->directory, to->name,
			       replace ? 0 : RENAME_NOREPLACE);
	if ((status == -EINVAL || status == -ENOSYS) && !replace)
		status = rename_to_free_name(from, to);
	/* a name is all that a rename knows: what has moved must be what was decided about */
	if (status == 0 && !sb_is_still(to->directory, to->name, &from->facts)) {
		sb_hold_end(to->directory, to->name, from->directory, from->name);
		return -ESTALE;
	}
	return status;
}

/* A file with other names gets a copy of its own, in its place. */
static int disk_unshare(void *context, int directory, const char *name)
{
	struct sb_files_backend *self = context;
	const struct sb_place holder = {.directory = -1, .object = directory};
	struct sb_replacement with = {0};
	struct sb_stream stream;
	SB_AUTO_FREE struct sb_place *place = malloc(sizeof *place);
	int status = place ? disk_enter(self, &holder, name, place) : -ENOMEM;

	if (status < 0)
		return status;
	status = disk_open(self, place, &stream);
	if (status == 0) {
		with.source = &stream;
		status = sb_replace_file(place, &with);
		disk_close(self, &stream);
	}
	sb_place_release(place);
	return status;
}

/* What is on hold is what was shown. */
static bool is_as_sealed(struct sb_files_backend *self, int directory, const char *name,
			 const struct sb_seal *seal)
{
	struct sb_seal now;
	bool same;

	if (seal->whole && seal->by_bytes &&
	    sb_seal_unshare(directory, name, disk_unshare, self) < 0)
		return false;
	sb_seal_take(directory, name, NULL, &now);
	same = sb_seal_holds(seal, &now);
	sb_seal_done(&now);
	return same;
}

static int disk_rename_sealed(struct sb_files_backend *self, const struct sb_place *from,
			      const struct sb_place *to, const struct sb_seal *seal)
{
	char held[SB_HOLD_NAME];
	int error;

	if (disk_confirm(self, from) < 0 || disk_confirm(self, to) < 0)
		return -ESTALE;
	error = sb_hold_put(from->directory, from->name, from->directory, held);
	if (error)
		return -error;
	sb_hold_settle();
	error = ESTALE;
	if (is_as_sealed(self, from->directory, held, seal) && disk_confirm(self, to) == 0)
		error = sb_hold_end(from->directory, held, to->directory, to->name);
	if (error)
		sb_hold_end(from->directory, held, from->directory, from->name);
	return -error;
}

static int disk_mkdir(struct sb_files_backend *self, struct sb_place *place, uint32_t mode)
{
	int status;

	if (disk_confirm(self, place) < 0)
		return -ESTALE;
	if (mkdirat(place->directory, place->name, mode) != 0)
		return -errno;
	status = sb_place_look(place);
	if (status < 0)
		return status;
	return place->exists && place->facts.type == SB_FILES_DIRECTORY ? 0 : -ESTALE;
}

static int disk_read_link(struct sb_files_backend *self, const struct sb_place *place, char *out,
			  size_t size)
{
	ssize_t length = readlinkat(place->object, "", out, size);

	(void)self;
	if (length < 0)
		return -errno;
	if ((size_t)length >= size)
		return -ENAMETOOLONG;
	out[length] = '\0';
	return 0;
}

static int disk_make_link(struct sb_files_backend *self, const struct sb_place *place,
			  const char *target)
{
	if (disk_confirm(self, place) < 0)
		return -ESTALE;
	return symlinkat(target, place->directory, place->name) == 0 ? 0 : -errno;
}

static enum sb_files_type type_of(unsigned char kind)
{
	return kind == DT_REG   ? SB_FILES_FILE
	       : kind == DT_DIR ? SB_FILES_DIRECTORY
	       : kind == DT_LNK ? SB_FILES_LINK
				: SB_FILES_OTHER;
}

static int give_name(int fd, const struct dirent64 *entry, bool details, sb_found_name found,
		     void *context)
{
	struct sb_found one = {.name = entry->d_name, .type = type_of(entry->d_type)};
	struct sb_sys_file file;
	char target[PATH_MAX];
	ssize_t length;

	if (details || entry->d_type == DT_UNKNOWN) {
		int status = sb_sys_look(fd, entry->d_name, &file);

		if (status == -ENOENT) /* removed since it was listed */
			return 0;
		if (status < 0)
			return status;
		sb_disk_facts(&file, &one.facts);
		one.type = one.facts.type;
	}
	if (details && one.type == SB_FILES_LINK) {
		length = readlinkat(fd, entry->d_name, target, sizeof target - 1);
		if (length >= 0) {
			target[length] = '\0';
			one.target = target;
		}
	}
	return found(context, &one);
}

static int disk_list(struct sb_files_backend *self, const struct sb_place *place, bool details,
		     sb_found_name found, void *context)
{
	SB_AUTO_FD int fd = openat(place->object, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SB_AUTO_FREE char *entries = NULL;
	int status = 0;

	(void)self;
	if (fd < 0)
		return -errno;
	entries = malloc(ENTRY_BYTES);
	if (!entries)
		return -ENOMEM;
	while (status == 0) {
		ssize_t got = getdents64(fd, (void *)entries, ENTRY_BYTES);

		if (got <= 0)
			return got < 0 ? -errno : 0;
		for (ssize_t at = 0; at < got && status == 0;) {
			const struct dirent64 *entry = (const struct dirent64 *)(entries + at);

			at += entry->d_reclen;
			if (!sb_is_dots(entry->d_name))
				status = give_name(fd, entry, details, found, context);
		}
	}
	return status;
}

static const struct sb_backend_ops disk_ops = {
	.free = disk_free,
	.open_root = disk_open_root,
	.close_root = disk_close_root,
	.resolve = disk_resolve,
	.enter = disk_enter,
	.release = disk_release,
	.confirm = disk_confirm,
	.refresh = disk_refresh,
	.open = disk_open,
	.read = disk_read,
	.close = disk_close,
	.replace = disk_replace,
	.remove = disk_remove,
	.rename = disk_rename,
	.rename_sealed = disk_rename_sealed,
	.mkdir = disk_mkdir,
	.read_link = disk_read_link,
	.make_link = disk_make_link,
	.list = disk_list,
};

struct sb_files_backend *sb_files_disk(void)
{
	static struct sb_files_backend disk = {.ops = &disk_ops};
	struct statfs info;

	/* every decision is about a name that /proc/self/fd tells */
	if (statfs("/proc/self/fd", &info) != 0 || info.f_type != PROC_SUPER_MAGIC)
		return NULL;
	return &disk;
}
