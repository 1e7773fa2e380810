#include "supervise/land.h"
#include "supervise/proc_name.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/perform.h"
#include "supervise/spares.h"
#include "sys/beneath.h"

#define TRIES 16

static size_t long_bytes; /* of those longer than SB_LAND_MAX */

static bool reserve(size_t length)
{
	if (length <= SB_LAND_MAX ||
	    __atomic_add_fetch(&long_bytes, length, __ATOMIC_RELAXED) <= SB_LAND_MAX_ALL)
		return true;
	__atomic_fetch_sub(&long_bytes, length, __ATOMIC_RELAXED);
	return false;
}

static void release(size_t length)
{
	if (length > SB_LAND_MAX)
		__atomic_fetch_sub(&long_bytes, length, __ATOMIC_RELAXED);
}

/*
 * One block of memory is kept for the next that needs such a one: every git command lands an index,
 * and to get fresh memory for it from the kernel takes longer than to read it.
 */
#define KEPT_STEP (64u * 1024)

static struct {
	pthread_mutex_t lock; /* whoever does not get it at once does without */
	char *data;
	size_t room;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static char *take_memory(size_t *room)
{
	char *data = NULL;

	if (*room < KEPT_STEP)
		return malloc(*room);
	*room = (*room + KEPT_STEP - 1) / KEPT_STEP * KEPT_STEP;
	if (pthread_mutex_trylock(&kept.lock) == 0) {
		if (kept.room >= *room) {
			data = kept.data;
			*room = kept.room;
			kept.data = NULL;
			kept.room = 0;
		}
		pthread_mutex_unlock(&kept.lock);
	}
	return data ? data : malloc(*room);
}

static void give_memory(char *data, size_t room)
{
	if (room >= KEPT_STEP && room <= SB_LAND_MAX && pthread_mutex_trylock(&kept.lock) == 0) {
		char *smaller = data;

		if (room > kept.room) {
			smaller = kept.data;
			kept.data = data;
			kept.room = room;
		}
		data = smaller;
		pthread_mutex_unlock(&kept.lock);
	}
	free(data);
}

void sb_bytes_done(struct sb_bytes *bytes)
{
	release(bytes->room);
	give_memory(bytes->data, bytes->room);
	*bytes = (struct sb_bytes){0};
}

struct sb_guard_bytes sb_bytes_seen(const struct sb_bytes *bytes)
{
	return (struct sb_guard_bytes){bytes->data, bytes->length};
}

size_t sb_land_limit(enum sb_guard_kind kind)
{
	size_t limit = sb_guard_limit(kind);

	return limit > SB_LAND_MAX ? limit : SB_LAND_MAX;
}

static int read_all(int fd, size_t limit, struct sb_bytes *out)
{
	struct sb_bytes got = {0};
	struct stat info;

	if (fstat(fd, &info) != 0)
		return -errno;
	if (!S_ISREG(info.st_mode))
		return -EINVAL;
	if ((uintmax_t)info.st_size > limit)
		return -EFBIG;
	/* as long as it is now; whoever makes it longer meanwhile does so in vain */
	got.room = (size_t)info.st_size + 1;
	got.data = take_memory(&got.room);
	if (!got.data)
		return -ENOMEM;
	if (!reserve(got.room)) {
		give_memory(got.data, got.room);
		return -ENOMEM;
	}
	while (got.length < (size_t)info.st_size) {
		ssize_t part = pread(fd, got.data + got.length, (size_t)info.st_size - got.length,
				     (off_t)got.length);

		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0) {
			int error = errno;

			sb_bytes_done(&got);
			return -error;
		}
		if (part == 0)
			break;
		got.length += (size_t)part;
	}
	got.data[got.length] = '\0';
	*out = got;
	return 0;
}

int sb_bytes_read(int fd, size_t limit, struct sb_bytes *out)
{
	char name[SB_PROC_NAME];
	SB_AUTO_FD int own = -1;

	sb_proc_self_fd(name, fd);
	own = openat(AT_FDCWD, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return own < 0 ? -errno : read_all(own, limit, out);
}

/* The regular file with this name; O_PATH.  -ENOENT; -EINVAL: it is something else, as info says. */
static int find_named(int directory, const char *name, struct stat *info)
{
	SB_AUTO_FD int object = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (object < 0 || fstat(object, info) != 0)
		return -errno;
	return S_ISREG(info->st_mode) ? sb_take_fd(&object) : -EINVAL;
}

int sb_bytes_read_named(int directory, const char *name, size_t limit, struct sb_bytes *out,
			struct stat *info)
{
	struct stat found = {0};
	SB_AUTO_FD int object = find_named(directory, name, &found);

	*out = (struct sb_bytes){0};
	if (info)
		*info = found;
	if (object < 0)
		return object == -ENOENT ? 0 : object;
	return sb_bytes_read(object, limit, out);
}

/* --- making a file ------------------------------------------------------------------------ */

static int write_all(int fd, const struct sb_bytes *bytes)
{
	for (size_t done = 0; done < bytes->length;) {
		ssize_t part = write(fd, bytes->data + done, bytes->length - done);

		if (part < 0 && errno != EINTR)
			return -errno;
		if (part > 0)
			done += (size_t)part;
	}
	return 0;
}

static int copy_all(int to, int from)
{
	ssize_t part;

	while ((part = sendfile(to, from, NULL, 1 << 30)) != 0)
		if (part < 0 && errno != EINTR)
			return -errno;
	return 0;
}

static int dress(int fd, const struct sb_landing *landing)
{
	struct stat info;

	if (fstat(fd, &info) != 0)
		return -errno;
	/* a directory with the setgid bit gives its group; what cannot be kept is not ours */
	if ((info.st_uid != landing->owner || info.st_gid != landing->group) &&
	    fchown(fd, landing->owner, landing->group) != 0 && info.st_gid != landing->group)
		(void)!fchown(fd, (uid_t)-1, landing->group);
	/* mostly it has the mode already: the performer may not be able to change any */
	if ((info.st_mode & 07777) != (landing->mode & 01777) &&
	    fchmod(fd, landing->mode & 01777) != 0)
		return -errno;
	if (landing->times && futimens(fd, landing->times) != 0)
		return -errno;
	return 0;
}

static void invent_name(char *out, size_t size)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof number, 0) != sizeof number)
		number = (uint64_t)getpid();
	/* a guarded name (guard/table.c): another run must not open it, or it holds what lands */
	snprintf(out, size, ".%016llx.sandbash-write", (unsigned long long)number);
}

/* With this very mode, whatever the umask. */
static int open_exactly(int directory, const char *name, int flags, mode_t mode)
{
	mode_t mask = umask(0);
	int fd = openat(directory, name, flags | O_WRONLY | O_CLOEXEC, mode & 01777), error = errno;

	umask(mask);
	errno = error;
	return fd;
}

static int fill(int fd, const struct sb_landing *landing)
{
	int status = landing->bytes ? write_all(fd, landing->bytes)
				    : copy_all(fd, *landing->copy_of);

	return status == 0 ? dress(fd, landing) : status;
}

/* A complete file; *temporary is its name where it could not be made without one, or "". */
static int make(const struct sb_landing *landing, int directory, char *temporary, size_t size)
{
	int fd = open_exactly(directory, ".", O_TMPFILE, landing->mode), status;

	temporary[0] = '\0';
	if (fd < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	for (int tries = 0; fd < 0 && tries < TRIES; tries++) { /* the filesystem cannot */
		invent_name(temporary, size);
		fd = open_exactly(directory, temporary, O_CREAT | O_EXCL, landing->mode);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	if (fd < 0)
		return -EEXIST;
	status = fill(fd, landing);
	if (status < 0) {
		if (temporary[0])
			unlinkat(directory, temporary, 0);
		close(fd);
		return status;
	}
	return fd;
}

/* Give the file this name, which must be free. */
static int link_to(int fd, int directory, const char *name)
{
	char self[SB_PROC_NAME];

	sb_proc_self_fd(self, fd);
	return linkat(AT_FDCWD, self, directory, name, AT_SYMLINK_FOLLOW) != 0 ? -errno : 0;
}

/* In a file that the command can read there (spares.h); -ENOTSUP: there is none. */
static int land_spare(const struct sb_landing *landing, bool replace)
{
	int number, status;
	SB_AUTO_FD int fd = sb_spare_take(landing->directory, landing->name, O_WRONLY, &number);

	if (fd < 0)
		return fd;
	status = fill(fd, landing);
	if (status == 0)
		status = sb_spare_put(number, landing->directory, landing->name, replace);
	if (status == 0)
		sb_perform_made(landing->directory, landing->name);
	else if (landing->copy_of && lseek(*landing->copy_of, 0, SEEK_SET) != 0)
		return -errno;
	return status;
}

/* In place of what has the name, unless it may not be replaced. */
static int land_fresh(const struct sb_landing *landing, bool replace)
{
	char temporary[64];
	SB_AUTO_FD int fd = make(landing, landing->directory, temporary, sizeof temporary);
	int status;

	if (fd < 0)
		return fd;
	if (!temporary[0]) {
		status = link_to(fd, landing->directory, landing->name);
		if (status == 0)
			sb_perform_made(landing->directory, landing->name);
		if (status != -EEXIST || !replace)
			return status;
		do {
			invent_name(temporary, sizeof temporary);
			status = link_to(fd, landing->directory, temporary);
		} while (status == -EEXIST);
		if (status < 0)
			return status;
	}
	if (syscall(SYS_renameat2, landing->directory, temporary, landing->directory, landing->name,
		    replace ? 0 : RENAME_NOREPLACE) == 0) {
		sb_perform_made(landing->directory, landing->name);
		return 0;
	}
	status = -errno;
	unlinkat(landing->directory, temporary, 0);
	return status;
}

static int land(const struct sb_landing *landing, bool replace)
{
	int status = land_spare(landing, replace);

	return status == -ENOTSUP ? land_fresh(landing, replace) : status;
}

int sb_land(const struct sb_landing *landing)
{
	return land(landing, true);
}

void sb_land_take_back(const struct sb_landing *landing, const struct sb_bytes *old)
{
	struct sb_landing back = *landing;

	back.bytes = old;
	/* better nothing than what must not be there */
	if (!old->data || sb_land(&back) < 0)
		unlinkat(landing->directory, landing->name, 0);
}

/* --- rename and link ----------------------------------------------------------------------- */

static int read_old(const struct sb_spot *target, enum sb_guard_kind kind, struct sb_source *out,
		    struct stat *there)
{
	SB_AUTO_FD int object = find_named(target->directory, target->name, there);

	if (object < 0)
		return object == -ENOENT ? 0 : object;
	if (sb_guard_compares(kind, sb_bytes_seen(&out->bytes)))
		return sb_bytes_read(object, sb_land_limit(kind), &out->old);
	out->unread = true;
	out->old_file = sb_take_fd(&object);
	return 0;
}

int sb_source_read(const struct sb_call *call, const struct sb_spot *file,
		   const struct sb_spot *target, enum sb_guard_kind kind, struct sb_source *out)
{
	const size_t limit = sb_land_limit(kind);
	struct stat there = {0};
	int status;

	*out = (struct sb_source){0};
	if (call->act == SB_ACT_RENAME) {
		status = sb_bytes_read_named(file->directory, file->name, limit, &out->bytes,
					     &out->info);
		if (status == 0 && !out->bytes.data)
			status = -ENOENT;
	} else {
		out->info = file->info;
		status = sb_bytes_read(file->object, limit, &out->bytes);
	}
	if (status == 0) {
		status = read_old(target, kind, out, &there);
		/* a link there is replaced, and counts as no contents */
		if (status < 0 && S_ISLNK(there.st_mode))
			status = 0;
		else if (status < 0 && S_ISDIR(there.st_mode))
			status = -EISDIR;
		if (status == 0 && S_ISREG(there.st_mode) && there.st_ino == out->info.st_ino &&
		    there.st_dev == out->info.st_dev)
			status = -EALREADY;
	}
	if (status < 0)
		sb_source_done(out);
	return status;
}

/* Could this user remove the file from there?  Asked before its copy lands elsewhere. */
static int may_remove(int directory, const struct stat *file)
{
	struct stat info;

	if (faccessat(directory, ".", W_OK | X_OK, AT_EACCESS) != 0 || fstat(directory, &info) != 0)
		return -errno;
	if ((info.st_mode & S_ISVTX) && geteuid() != info.st_uid && geteuid() != file->st_uid)
		return -EPERM;
	return 0;
}

static int are_on_one_mount(int a, int b)
{
	struct sb_sys_identity first, second;

	if (sb_sys_identify(a, "", &first) < 0 || sb_sys_identify(b, "", &second) < 0)
		return -EACCES;
	return first.device == second.device && first.mount == second.mount ? 0 : -EXDEV;
}

/*
 * SECURITY: what lands never has a name that the command could open it by.
 *
 * Danger: the name of the source is an ordinary one.  Had the copy it even for a moment, before it is
 * renamed, another thread or run could open it for writing and write on when it is guarded.
 * Price: killed in the middle, the source is still there beside what has landed.
 * Held by: tests/supervise/two_runs.py
 */
static int land_renamed(const struct sb_landing *landing, const struct sb_source *source,
			const struct sb_spot *file, unsigned flags)
{
	int status = are_on_one_mount(file->directory, landing->directory);
	struct stat info;

	if (status == 0)
		status = may_remove(file->directory, &source->info);
	if (status == 0)
		status = land(landing, !(flags & RENAME_NOREPLACE));
	if (status < 0)
		return status;
	/* somebody may have put another one there meanwhile, which stays */
	if (fstatat(file->directory, file->name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	    info.st_ino == source->info.st_ino && info.st_dev == source->info.st_dev)
		sb_spare_unlink(file->directory, file->name);
	return 0;
}

static struct sb_landing landing_at(const struct sb_spot *spot, const struct sb_source *source,
				    struct timespec times[2])
{
	times[0] = source->info.st_atim;
	times[1] = source->info.st_mtim;
	return (struct sb_landing){.directory = spot->directory,
				   .name = spot->name,
				   .bytes = &source->bytes,
				   .mode = source->info.st_mode,
				   .owner = source->info.st_uid,
				   .group = source->info.st_gid,
				   .times = times};
}

void sb_source_take_back(const struct sb_call *call, const struct sb_source *source,
			 const struct sb_spot *file, const struct sb_spot *target)
{
	struct timespec times[2];
	const struct sb_landing there = landing_at(target, source, times);

	if (call->act == SB_ACT_RENAME) {
		const struct sb_landing here = landing_at(file, source, times);

		sb_land(&here);
	}
	if (source->unread) {
		struct sb_bytes old = {0};

		sb_bytes_read(source->old_file, SB_GUARD_MAX_INDEX, &old);
		sb_land_take_back(&there, &old);
		sb_bytes_done(&old);
	} else {
		sb_land_take_back(&there, &source->old);
	}
}

int sb_source_land(const struct sb_call *call, const struct sb_source *source,
		   const struct sb_spot *file, const struct sb_spot *target)
{
	struct timespec times[2];
	const struct sb_landing landing = landing_at(target, source, times);

	return call->act == SB_ACT_RENAME
		       ? land_renamed(&landing, source, file, (unsigned)call->flags)
		       : sb_land(&landing);
}

void sb_source_done(struct sb_source *source)
{
	sb_bytes_done(&source->bytes);
	sb_bytes_done(&source->old);
	if (source->unread)
		close(source->old_file);
	source->unread = false;
}
