#include "supervise/spares.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/auto.h"
#include "enforce/linux_landlock.h"
#include "supervise/proc_name.h"
#include "sys/beneath.h"
#include "sys/directory.h"

#define DIRECTORIES "spares" /* in the state directory: one for each run */
#define MAX_BESIDE 64        /* directories that hold something hidden */

/* Of the asker; the first two are known before the performer is made. */
static struct {
	char base[PATH_MAX]; /* "": none are wanted */
	char name[32];
	bool begun, calm;
	int parking;    /* the directory in which those are that nobody uses */
	uint64_t mount; /* and what it lies on */
	const struct sb_policy *policy;
	const struct sb_plan *plan;
	struct {
		uint64_t inode; /* 0: there is none */
		bool used;
	} files[SB_SPARES];
	unsigned directories_used;
	struct sb_sys_identity beside[MAX_BESIDE];
	size_t beside_count;
} spares;

/* --- made and removed ------------------------------------------------------------------------ */

void sb_spares_name(const char *state_dir, const struct sb_plan *plan)
{
	uint64_t number;

	spares.base[0] = '\0';
	if (!sb_plan_makes_beside_hidden(plan) ||
	    getrandom(&number, sizeof number, 0) != sizeof number)
		return;
	snprintf(spares.name, sizeof spares.name, "%016llx", (unsigned long long)number);
	if (snprintf(spares.base, sizeof spares.base, "%s/" DIRECTORIES, state_dir) >=
	    (int)sizeof spares.base)
		spares.base[0] = '\0';
}

/* Those of a run that was killed with its supervisor: nobody holds the lock. */
static void sweep_others(int base)
{
	SB_EACH_ENTRY(dir, AT_FDCWD, spares.base, true) {
		const char *name = dir.entry->d_name;
		SB_AUTO_FD int one =
			openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (name[0] != '.' && one >= 0 && flock(one, LOCK_EX | LOCK_NB) == 0 &&
		    sb_sys_sweep(one) == 0)
			unlinkat(base, name, AT_REMOVEDIR);
	}
}

static bool make_all(int parking, const struct sb_plan *plan)
{
	char name[SB_SPARE_NAME];

	for (int i = 0; i < SB_SPARES; i++) {
		int fd = openat(parking, sb_spare_name(name, i),
				O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		if (fd < 0)
			return false;
		close(fd);
	}
	for (size_t i = 0; i < plan->absent_count && i < SB_SPARE_DIRECTORIES; i++)
		if (mkdirat(parking, sb_spare_name(name, SB_SPARES + (int)i), 0700) != 0)
			return false;
	return true;
}

int sb_spares_make(const struct sb_plan *plan)
{
	SB_AUTO_FD int base = -1;
	SB_AUTO_FD int parking = -1;

	if (!spares.base[0])
		return -1;
	if (mkdir(spares.base, 0700) != 0 && errno != EEXIST)
		return -1;
	base = open(spares.base, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (base < 0)
		return -1;
	sweep_others(base);
	if (mkdirat(base, spares.name, 0700) != 0)
		return -1;
	parking = openat(base, spares.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (parking < 0 || flock(parking, LOCK_EX | LOCK_NB) != 0 || !make_all(parking, plan))
		return -1; /* what is there the asker removes at the end */
	return sb_take_fd(&parking);
}

void sb_spares_end(void)
{
	SB_AUTO_FD int base = -1;
	SB_AUTO_FD int parking = -1;

	if (spares.begun)
		close(spares.parking);
	spares.begun = false;
	if (!spares.base[0])
		return;
	base = open(spares.base, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (base >= 0)
		parking =
			openat(base, spares.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (parking >= 0 && sb_sys_sweep(parking) == 0)
		unlinkat(base, spares.name, AT_REMOVEDIR);
	if (base >= 0)
		rmdir(spares.base); /* unless other runs have some */
}

/* --- where they are wanted ---------------------------------------------------------------------- */

/* New files in it are the user's own, with nothing from the directory. */
static bool is_simple(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && !(info.st_mode & S_ISGID) &&
	       getxattr(path, "system.posix_acl_default", NULL, 0) < 0;
}

static bool is_listed(const struct sb_sys_identity *one)
{
	for (size_t i = 0; i < spares.beside_count; i++)
		if (spares.beside[i].inode == one->inode &&
		    spares.beside[i].device == one->device && spares.beside[i].mount == one->mount)
			return true;
	return false;
}

/* The directories around something hidden, as far as a rename leads there. */
static void note_around(const char *hidden)
{
	char path[PATH_MAX];
	char *slash;

	if (snprintf(path, sizeof path, "%s", hidden) >= (int)sizeof path)
		return;
	while ((slash = strrchr(path, '/')) && slash != path) {
		struct sb_sys_identity one;

		*slash = '\0';
		if (sb_sys_identify(AT_FDCWD, path, &one) < 0 || one.mount != spares.mount)
			continue;
		if (is_listed(&one) || spares.beside_count == MAX_BESIDE)
			return;
		if (is_simple(path))
			spares.beside[spares.beside_count++] = one;
	}
}

void sb_spares_begin(const struct sb_policy *policy, const struct sb_plan *plan)
{
	char path[PATH_MAX + sizeof spares.name + 1], name[SB_SPARE_NAME];
	struct sb_sys_identity place;
	SB_AUTO_FD int parking = -1;

	if (!spares.base[0])
		return;
	snprintf(path, sizeof path, "%s/%s", spares.base, spares.name);
	parking = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (parking < 0 || sb_sys_identify(parking, "", &place) < 0)
		return;
	spares.mount = place.mount;
	for (int i = 0; i < SB_SPARES; i++) {
		struct sb_sys_file info;

		if (sb_sys_look(parking, sb_spare_name(name, i), &info) == 0)
			spares.files[i].inode = info.inode;
	}
	for (size_t i = 0; i < plan->node_count; i++)
		if (sb_plan_hides_content(&plan->nodes[i]))
			note_around(plan->nodes[i].path);
	spares.policy = policy;
	spares.plan = plan;
	spares.parking = sb_take_fd(&parking);
	spares.begun = true;
}

void sb_spares_calm(bool calm)
{
	spares.calm = calm;
}

static bool is_beside_hidden(int directory)
{
	struct sb_sys_identity one;

	return spares.begun && sb_sys_identify(directory, "", &one) == 0 && is_listed(&one);
}

/* What is hidden at this name must not become readable by what it is made of. */
static bool is_shown(int directory, const char *name)
{
	char self[SB_PROC_NAME], path[PATH_MAX + NAME_MAX + 2];
	ssize_t length = readlink(sb_proc_self_fd(self, directory), path, PATH_MAX);

	if (length <= 0 || length == PATH_MAX || strlen(name) > NAME_MAX || strchr(name, '/'))
		return false;
	snprintf(path + length, sizeof path - (size_t)length, "/%s", name);
	return sb_decide(spares.policy, SB_READ, path).verdict == SB_ALLOW;
}

/* --- taken ------------------------------------------------------------------------------------ */

/* What was set by the run beside its contents is none of the next file's. */
static bool has_attributes(int fd)
{
	char names[1024];
	ssize_t length = flistxattr(fd, names, sizeof names);

	if (length < 0)
		return errno != EOPNOTSUPP;
	for (ssize_t at = 0; at < length; at += (ssize_t)strlen(names + at) + 1)
		if (strncmp(names + at, "security.", 9) != 0)
			return true;
	return false;
}

/*
 * SECURITY: a file that was used is used again only if nobody has it open.
 *
 * Danger: whoever could still write to it would write to what has landed under a guarded name, and whoever
 * reads an old version of a file would find a new one in the middle.  A write lease is granted only to the one
 * descriptor there is, and while no other maps it (fcntl(2)).  O_PATH descriptors do not count, and need not: who opens
 * one again is judged by the name that it has then, and to the performer Landlock grants nothing but reading here.
 * Held by: tests/supervise/beside_hidden.py
 */
static bool is_nobodys(int fd)
{
	/* should somebody open it just now, a signal that is ignored by default */
	return fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0 &&
	       fcntl(fd, F_SETLEASE, F_UNLCK) == 0 && !has_attributes(fd);
}

static int open_spare(int number, int flags)
{
	const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
	const bool used = spares.files[number].used;
	char name[SB_SPARE_NAME];
	struct sb_sys_file info;
	SB_AUTO_FD int fd = -1;

	sb_spare_name(name, number);
	if (!spares.files[number].inode || (used && !spares.calm) ||
	    sb_sys_look(spares.parking, name, &info) < 0 ||
	    info.inode != spares.files[number].inode || info.links != 1 || info.uid != geteuid() ||
	    info.gid != getegid())
		return -1;
	if (used && fchmodat(spares.parking, name, 0600, 0) != 0)
		return -1;
	fd = openat(spares.parking, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || (used && (!is_nobodys(fd) || ftruncate(fd, 0) != 0)) ||
	    futimens(fd, now) != 0)
		return -1;
	return openat(spares.parking, name, flags | O_NOFOLLOW | O_CLOEXEC);
}

int sb_spare_take(int directory, const char *name, int flags, int *out_number)
{
	if (!is_beside_hidden(directory) || !is_shown(directory, name))
		return -ENOTSUP;
	for (int i = 0; i < SB_SPARES; i++) {
		int fd = open_spare(i, flags);

		if (fd < 0)
			continue;
		spares.files[i].used = true;
		*out_number = i;
		return fd;
	}
	return -ENOTSUP;
}

/* --- given back -------------------------------------------------------------------------------- */

/* Is it one of them that has this name, and is about to lose it?  Then it has one more; -1: it is not. */
static int keep(int directory, const char *name)
{
	char own[SB_SPARE_NAME];
	struct sb_sys_file info, kept;

	if (!is_beside_hidden(directory) || sb_sys_look(directory, name, &info) < 0 ||
	    !S_ISREG(info.mode) || info.links != 1)
		return -1;
	for (int i = 0; i < SB_SPARES; i++) {
		if (spares.files[i].inode != info.inode)
			continue;
		sb_spare_name(own, i);
		if (linkat(directory, name, spares.parking, own, 0) != 0)
			return -1;
		/* somebody outside may have put another one there meanwhile */
		if (sb_sys_look(spares.parking, own, &kept) == 0 && kept.inode == info.inode &&
		    kept.device == info.device)
			return i;
		unlinkat(spares.parking, own, 0);
	}
	return -1;
}

/* It stays if it has lost its other name. */
static void settle(int number)
{
	char own[SB_SPARE_NAME];
	struct sb_sys_file info;
	int error = errno;

	if (number >= 0 && sb_sys_look(spares.parking, sb_spare_name(own, number), &info) == 0 &&
	    info.links != 1)
		unlinkat(spares.parking, own, 0);
	errno = error;
}

int sb_spare_unlink(int directory, const char *name)
{
	int kept = keep(directory, name), result = unlinkat(directory, name, 0);

	settle(kept);
	return result;
}

int sb_spare_rename(int from_directory, const char *from, int directory, const char *name,
		    unsigned flags)
{
	int kept = flags ? -1 : keep(directory, name);
	int status = sb_sys_rename(from_directory, from, directory, name, flags);

	settle(kept);
	errno = -status;
	return status < 0 ? -1 : 0;
}

int sb_spare_put(int number, int directory, const char *name, bool replace)
{
	char own[SB_SPARE_NAME];
	int kept = replace ? keep(directory, name) : -1;
	int status = sb_sys_rename(spares.parking, sb_spare_name(own, number), directory, name,
				   replace ? 0 : RENAME_NOREPLACE);

	settle(kept);
	return status == -EXDEV || status == -EINVAL || status == -ENOSYS ? -ENOTSUP : status;
}

int sb_spare_create(int directory, const char *name, int flags, mode_t mode)
{
	mode_t mask;
	int number, fd, status;

	if (!spares.begun || (mode & 07000) || (flags & (O_DIRECTORY | O_PATH)) ||
	    faccessat(directory, name, F_OK, 0) == 0)
		return -ENOTSUP;
	fd = sb_spare_take(directory, name, flags & ~(O_CREAT | O_EXCL | O_TRUNC), &number);
	if (fd < 0)
		return fd;
	mask = umask(0);
	umask(mask);
	status = fchmod(fd, mode & ~mask) == 0 ? sb_spare_put(number, directory, name, false)
					       : -ENOTSUP;
	if (status < 0)
		close(fd);
	return status < 0 ? status : fd;
}

static bool is_absent(const char *path)
{
	for (size_t i = 0; i < spares.plan->absent_count; i++)
		if (strcmp(spares.plan->absent[i], path) == 0)
			return true;
	return false;
}

int sb_spare_mkdir(int directory, const char *name, const char *path, mode_t mode)
{
	char own[SB_SPARE_NAME];
	mode_t mask;
	int status;

	if (!is_beside_hidden(directory) || !is_shown(directory, name) || (mode & 07000) ||
	    !is_absent(path) || spares.directories_used == SB_SPARE_DIRECTORIES)
		return -ENOTSUP;
	sb_spare_name(own, SB_SPARES + (int)spares.directories_used);
	mask = umask(0);
	umask(mask);
	if (fchmodat(spares.parking, own, mode & ~mask, 0) != 0)
		return -ENOTSUP;
	status = sb_sys_rename(spares.parking, own, directory, name, RENAME_NOREPLACE);
	if (status == 0)
		spares.directories_used++;
	return status == 0 || status == -EEXIST ? status : -ENOTSUP;
}
