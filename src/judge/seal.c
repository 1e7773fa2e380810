#include "judge/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/list.h"
#include "base/words.h"
#include "sys/directory.h"

#define MAX_DEPTH 128 /* a descriptor each; what is large is not on the stack of a thread */
#define READ_BYTES (64 * 1024)
#define PAUSE_NS                                                                                   \
	20000000 /* a tick of the clock that files' times are read from, at most 10 ms, and more */
#define TRIES 4
#define FEW 4096 /* names that may be gone through again and again */

/* What file systems keep no fractions of a second for has changed within this. */
#define COARSE_NS INT64_C(2000000000)

struct walk;

/* One name; info is its own.  Nonzero ends the walk, which returns it. */
typedef int (*visit_name)(struct walk *walk, int directory, const char *name,
			  const struct stat *info);

struct walk {
	visit_name visit;
	const struct sb_seal_skip *skip; /* or NULL */
	struct sb_seal *seal;
	char path[PATH_MAX];
	char bytes[READ_BYTES];
	struct timespec now; /* when it began */
	sb_seal_copy copy;
	void *context;
};

static bool is_skipped(const struct sb_seal_skip *skip, bool top, const char *name,
		       const struct stat *info)
{
	if (top && skip->name && strcmp(skip->name, name) == 0)
		return true;
	return info->st_dev == skip->device &&
	       (info->st_ino == skip->inodes[0] || info->st_ino == skip->inodes[1]);
}

static int walk_in(struct walk *walk, int directory, size_t end, unsigned depth);

static int walk_at(struct walk *walk, int directory, const char *name, size_t end, unsigned depth)
{
	int length =
		snprintf(walk->path + end, sizeof walk->path - end, "%s%s", end ? "/" : "", name);
	SB_AUTO_FD int next = -1;
	struct stat info;
	int status;

	if (length < 0 || (size_t)length >= sizeof walk->path - end)
		return -ENAMETOOLONG;
	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return -errno;
	if (walk->skip && is_skipped(walk->skip, !end, name, &info))
		return 0;
	status = walk->visit(walk, directory, name, &info);
	if (status != 0 || !S_ISDIR(info.st_mode))
		return status;
	if (depth == 0)
		return -E2BIG;
	next = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return next < 0 ? -errno : walk_in(walk, next, end + (size_t)length, depth - 1);
}

static int walk_in(struct walk *walk, int directory, size_t end, unsigned depth)
{
	SB_AUTO_FREE struct sb_sys_dir *dir = malloc(sizeof *dir);
	const struct dirent64 *entry;
	int status = 0;

	if (!dir)
		return -ENOMEM;
	sb_sys_dir_init(dir, directory);
	while (status == 0 && (entry = sb_sys_dir_next(dir)))
		if (!sb_is_dots(entry->d_name))
			status = walk_at(walk, directory, entry->d_name, end, depth);
	walk->path[end] = '\0';
	return status == 0 && dir->error ? -EIO : status;
}

/* --- one entry ----------------------------------------------------------------------------------- */

static void add_number(struct sb_sha256 *sum, uint64_t number)
{
	sb_sha256_add(sum, &number, sizeof number);
}

/* Everything that is said of an entry begins with where it is and what kind of thing. */
static void begin(struct sb_sha256 *sum, const char *path, mode_t mode, char how)
{
	sb_sha256_init(sum);
	sb_sha256_add(sum, path, strlen(path) + 1);
	add_number(sum, mode);
	sb_sha256_add(sum, &how, 1);
}

/* A number may be given to another file, but not at an earlier time. */
static void add_identity(struct sb_sha256 *sum, const struct stat *info)
{
	add_number(sum, info->st_dev);
	add_number(sum, info->st_ino);
	add_number(sum, (uint64_t)info->st_size);
	add_number(sum, (uint64_t)info->st_mtim.tv_sec);
	add_number(sum, (uint64_t)info->st_mtim.tv_nsec);
	add_number(sum, (uint64_t)info->st_ctim.tv_sec);
	add_number(sum, (uint64_t)info->st_ctim.tv_nsec);
}

static struct sb_seal_entry end(struct sb_sha256 *sum)
{
	struct sb_seal_entry entry;
	char hex[SB_SHA256_HEX];

	sb_sha256_end(sum, hex);
	for (size_t i = 0; i < sizeof entry.sum; i++) {
		char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		entry.sum[i] = (unsigned char)strtoul(pair, NULL, 16);
	}
	return entry;
}

static int keep(struct walk *walk, struct sb_sha256 *sum)
{
	struct sb_seal *seal = walk->seal;

	if (seal->count == SB_SEAL_NAMES)
		return -E2BIG;
	if (!SB_GROW(seal->entries, seal->count))
		return -ENOMEM;
	seal->entries[seal->count++] = end(sum);
	return 0;
}

/*
 * May somebody write to it who has opened it before?  A read lease is granted only while no descriptor and
 * no mapping of the file can write (fcntl(2), F_SETLEASE); of another's file it is not, and what
 * this user cannot write none of its processes has open so.
 */
static bool may_be_written(int fd, const struct stat *info)
{
	char name[32];

	/* should somebody outside open it just now, a signal that is ignored by default */
	if (fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
		return false;
	if (info->st_uid == geteuid())
		return true;
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	return faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) == 0;
}

static int add_bytes(struct walk *walk, struct sb_sha256 *sum, int fd, uint64_t *left)
{
	off_t at = 0;
	ssize_t got;

	while ((got = pread(fd, walk->bytes, sizeof walk->bytes, at)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if ((uint64_t)got > *left)
			return -EFBIG;
		*left -= (uint64_t)got;
		at += got;
		sb_sha256_add(sum, walk->bytes, (size_t)got);
	}
	return 0;
}

static int seal_file(struct walk *walk, int directory, const char *name, const struct stat *info)
{
	SB_AUTO_FD int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct sb_seal *seal = walk->seal;
	uint64_t left = SB_SEAL_BYTES - seal->bytes;
	struct sb_sha256 sum;
	struct stat now;
	int status = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &now) != 0 || now.st_ino != info->st_ino || now.st_dev != info->st_dev)
		return -ESTALE;
	seal->linked += info->st_nlink > 1;
	if (may_be_written(fd, info)) {
		if (!seal->open++)
			snprintf(seal->first, sizeof seal->first, "%s", name);
		seal->bytes += (uint64_t)info->st_size;
		begin(&sum, walk->path, info->st_mode, 'w');
	} else if (seal->by_bytes) {
		begin(&sum, walk->path, info->st_mode, 'b');
		if ((uint64_t)info->st_size > left)
			return -EFBIG;
		status = add_bytes(walk, &sum, fd, &left);
		seal->bytes = SB_SEAL_BYTES - left;
	} else {
		seal->bytes += (uint64_t)info->st_size;
		begin(&sum, walk->path, info->st_mode, 'i');
		add_identity(&sum, info);
	}
	return status < 0 ? status : keep(walk, &sum);
}

/* Does a link, so many directories down, lead out of what is sealed?  What other links do is told of these. */
static bool leads_out(const char *path, const char *target)
{
	long depth = 0;

	if (*target == '/')
		return true;
	for (; (path = strchr(path, '/')); path++)
		depth++;
	while (*target && depth >= 0) {
		size_t length = strcspn(target, "/");

		if (length == 2 && memcmp(target, "..", 2) == 0)
			depth--;
		else if (length && !(length == 1 && *target == '.'))
			depth++;
		target += length + (target[length] == '/');
	}
	return depth < 0;
}

static void tell_link(struct walk *walk, const char *target)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_SEAL_LINK);
	struct sb_seal *seal = walk->seal;

	if (!leads_out(walk->path, target) || seal->leading++ >= SB_SEAL_LINKS)
		return;
	sb_buf_putc(&text, '\'');
	sb_escape_value(&text, walk->path, strlen(walk->path), SB_SEAL_LINK / 2 - 8);
	sb_buf_puts(&text, "' -> '");
	sb_escape_value(&text, target, strlen(target), SB_SEAL_LINK / 2 - 8);
	sb_buf_putc(&text, '\'');
	snprintf(seal->links[seal->leading - 1], SB_SEAL_LINK, "%s",
		 sb_buf_failed(&text) ? "?" : text.data);
}

static int seal_link(struct walk *walk, int directory, const char *name, const struct stat *info)
{
	ssize_t length = readlinkat(directory, name, walk->bytes, sizeof walk->bytes - 1);
	struct sb_sha256 sum;

	if (length < 0)
		return -errno;
	walk->bytes[length] = '\0';
	tell_link(walk, walk->bytes);
	begin(&sum, walk->path, S_IFLNK, 'l');
	sb_sha256_add(&sum, walk->bytes, (size_t)length);
	if (!walk->seal->by_bytes)
		add_identity(&sum, info);
	return keep(walk, &sum);
}

static bool is_young(const struct walk *walk, const struct stat *info)
{
	const struct timespec *then = &info->st_ctim;
	int64_t age = ((int64_t)walk->now.tv_sec - then->tv_sec) * 1000000000 + walk->now.tv_nsec -
		      then->tv_nsec;

	/* times far ahead are those of a server whose clock is wrong */
	return age > -COARSE_NS && age < (then->tv_nsec ? PAUSE_NS : COARSE_NS);
}

static void begin_node(const struct sb_seal *seal, struct sb_sha256 *sum, const char *path,
		       const struct stat *info)
{
	begin(sum, path, info->st_mode, 'n');
	add_number(sum, info->st_rdev);
	if (!seal->by_bytes)
		add_identity(sum, info);
}

static int seal_name(struct walk *walk, int directory, const char *name, const struct stat *info)
{
	struct sb_seal *seal = walk->seal;
	struct sb_sha256 sum;

	if (S_ISDIR(info->st_mode))
		seal->directories++;
	else
		seal->files++;
	if (!seal->by_bytes)
		seal->young |= is_young(walk, info);
	if (S_ISREG(info->st_mode))
		return seal_file(walk, directory, name, info);
	if (S_ISLNK(info->st_mode))
		return seal_link(walk, directory, name, info);
	begin_node(seal, &sum, walk->path, info);
	return keep(walk, &sum);
}

/* --- all of them --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct sb_seal_entry));
}

/* Directories are listed in any order.  The sealed one's own times change when it is put on hold. */
static void finish(struct sb_seal *seal, const struct stat *root)
{
	struct sb_sha256 sum;

	if (seal->count)
		qsort(seal->entries, seal->count, sizeof *seal->entries, compare);
	begin(&sum, "", root->st_mode, seal->whole ? 'a' : 'p');
	add_number(&sum, root->st_dev);
	add_number(&sum, root->st_ino);
	add_number(&sum, seal->count);
	if (seal->count)
		sb_sha256_add(&sum, seal->entries, seal->count * sizeof *seal->entries);
	sb_sha256_end(&sum, seal->sum);
}

static int seal_all(int directory, const struct sb_seal_skip *skip, struct sb_seal *seal)
{
	struct walk *walk = calloc(1, sizeof *walk);
	int status;

	if (!walk)
		return -ENOMEM;
	walk->visit = seal_name;
	walk->skip = skip;
	walk->seal = seal;
	clock_gettime(CLOCK_REALTIME, &walk->now);
	status = walk_in(walk, directory, 0, MAX_DEPTH);
	free(walk);
	return status;
}

static bool take(int directory, const char *name, const struct sb_seal_skip *skip, bool by_bytes,
		 struct sb_seal *out)
{
	SB_AUTO_FD int fd =
		openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat root = {0};
	int status = fd < 0 || fstat(fd, &root) != 0 ? -errno : 0;

	*out = (struct sb_seal){.by_bytes = by_bytes};
	if (status == 0)
		status = seal_all(fd, skip, out);
	if (status == -EFBIG && by_bytes) {
		sb_seal_done(out);
		return false;
	}
	out->whole = status == 0;
	/* what changes while it is looked at is nothing that a yes could be for */
	out->young |= status == -ESTALE || status == -ENOENT;
	if (!out->whole) {
		free(out->entries);
		out->entries = NULL;
		out->count = 0;
	}
	finish(out, &root);
	return true;
}

void sb_seal_take(int directory, const char *name, const struct sb_seal_skip *skip,
		  struct sb_seal *out)
{
	static const struct timespec pause = {0, PAUSE_NS};
	bool by_bytes = true;

	for (int tries = TRIES;; tries--) {
		if (!take(directory, name, skip, by_bytes, out)) {
			by_bytes = false;
			take(directory, name, skip, false, out);
		}
		/* who has just closed it may still be at it: perform.h, sb_deliver_settle() */
		if (tries == 1 || !(out->young || out->open) || out->count > FEW)
			return;
		sb_seal_done(out);
		nanosleep(&pause, NULL);
	}
}

void sb_seal_done(struct sb_seal *seal)
{
	free(seal->entries);
	*seal = (struct sb_seal){0};
}

bool sb_seal_holds(const struct sb_seal *shown, const struct sb_seal *now)
{
	return !shown->young && shown->sum[0] && strcmp(shown->sum, now->sum) == 0;
}

static bool has(const struct sb_seal *seal, struct sb_sha256 *sum)
{
	struct sb_seal_entry wanted = end(sum);

	return seal->count && bsearch(&wanted, seal->entries, seal->count, sizeof wanted, compare);
}

bool sb_seal_has_file(const struct sb_seal *seal, const char *path, int fd, const void *data,
		      size_t length)
{
	struct sb_sha256 open, sum;
	struct stat info;

	if (fstat(fd, &info) != 0)
		return false;
	/* of one that is written to all the time the person was told that */
	begin(&open, path, info.st_mode, 'w');
	begin(&sum, path, info.st_mode, seal->by_bytes ? 'b' : 'i');
	if (!seal->by_bytes)
		add_identity(&sum, &info);
	else if (data)
		sb_sha256_add(&sum, data, length);
	else
		return false;
	return has(seal, &sum) || has(seal, &open);
}

bool sb_seal_has_link(const struct sb_seal *seal, const char *path, int link, const char *target)
{
	struct sb_sha256 sum;
	struct stat info;

	if (fstat(link, &info) != 0)
		return false;
	begin(&sum, path, S_IFLNK, 'l');
	sb_sha256_add(&sum, target, strlen(target));
	if (!seal->by_bytes)
		add_identity(&sum, &info);
	return has(seal, &sum);
}

bool sb_seal_has_node(const struct sb_seal *seal, const char *path, int node)
{
	struct sb_sha256 sum;
	struct stat info;

	if (fstat(node, &info) != 0)
		return false;
	begin_node(seal, &sum, path, &info);
	return has(seal, &sum);
}

/* --- names elsewhere ------------------------------------------------------------------------------ */

static int unshare_name(struct walk *walk, int directory, const char *name, const struct stat *info)
{
	return S_ISREG(info->st_mode) && info->st_nlink > 1
		       ? walk->copy(walk->context, directory, name)
		       : 0;
}

/* A name that is replaced while its directory is read may come twice, which is once too often at worst. */
int sb_seal_unshare(int directory, const char *name, sb_seal_copy copy, void *context)
{
	SB_AUTO_FD int fd =
		openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct walk *walk = fd < 0 ? NULL : calloc(1, sizeof *walk);
	int status;

	if (!walk)
		return fd < 0 ? -errno : -ENOMEM;
	walk->visit = unshare_name;
	walk->copy = copy;
	walk->context = context;
	status = walk_in(walk, fd, 0, MAX_DEPTH);
	free(walk);
	return status;
}

/* --- in words ------------------------------------------------------------------------------------- */

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

const char *sb_seal_words(const struct sb_seal *seal, char out[SB_SEAL_WORDS])
{
	size_t at = 0;

	if (!seal->files && !seal->directories && seal->whole) {
		snprintf(out, SB_SEAL_WORDS, "nothing");
		return out;
	}
	if (!seal->whole)
		at += (size_t)snprintf(out, SB_SEAL_WORDS, "at least ");
	at += (size_t)snprintf(out + at, SB_SEAL_WORDS - at, "%zu file%s", seal->files,
			       plural(seal->files));
	if (seal->directories)
		at += (size_t)snprintf(out + at, SB_SEAL_WORDS - at, " in %zu director%s",
				       seal->directories, seal->directories == 1 ? "y" : "ies");
	snprintf(out + at, SB_SEAL_WORDS - at, ", %llu byte%s", (unsigned long long)seal->bytes,
		 plural((size_t)seal->bytes));
	return out;
}

size_t sb_seal_links(const struct sb_seal *seal,
		     char out[SB_SEAL_LINKS + 1][SB_SEAL_LINK + sizeof SB_SEAL_LINK_SAYS])
{
	size_t count = 0;

	while (count < seal->leading && count < SB_SEAL_LINKS) {
		snprintf(out[count], sizeof out[count], SB_SEAL_LINK_SAYS "%s", seal->links[count]);
		count++;
	}
	if (seal->leading > SB_SEAL_LINKS)
		snprintf(out[count++], sizeof out[0], "%zu more links in it lead out",
			 seal->leading - SB_SEAL_LINKS);
	return count;
}

size_t sb_seal_notes(const struct sb_seal *seal, char out[SB_SEAL_NOTES][SB_SEAL_NOTE])
{
	size_t count = 0;

	if (!seal->whole)
		snprintf(out[count++], SB_SEAL_NOTE,
			 "not all of it can be looked through: a yes is to whatever is in it");
	if (seal->whole && seal->open) {
		SB_AUTO_BUF struct sb_buf name = SB_BUF(4 * NAME_MAX + 64);

		sb_escape_name(&name, seal->first, strlen(seal->first));
		snprintf(out[count++], SB_SEAL_NOTE,
			 seal->open == 1
				 ? "'%s' may still be written to: a yes is to whatever that is"
				 : "'%s' and others may still be written to: a yes is to whatever "
				   "that is",
			 sb_buf_failed(&name) ? "?" : name.data);
	}
	if (seal->whole && seal->linked && !seal->by_bytes)
		snprintf(out[count++], SB_SEAL_NOTE,
			 "%zu file%s in it can be written to by other names, later as well",
			 seal->linked, plural(seal->linked));
	return count;
}
