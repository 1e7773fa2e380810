#include "supervise/fast.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "enforce/linux_landlock.h"
#include "policy/fast.h"
#include "supervise/acts.h"
#include "supervise/domains.h"
#include "supervise/proc_name.h"

int sb_fast_open(struct sb_fast_roots *roots, const struct sb_policy *policy,
		 const struct sb_layers *layers)
{
	roots->count = 0;
	if (!sb_landlock_holds_fast(layers))
		return 0;
	for (size_t i = 0; i < sb_fast_count(policy) && roots->count < SB_FAST_ROOTS; i++) {
		const char *path = sb_fast_root(policy, i);
		int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd == -1 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
			return -errno;
		if (fd >= 0)
			roots->all[roots->count++] = (struct sb_fast_dir){
				.path = path, .length = strlen(path), .fd = fd, .seen = -1};
	}
	return 0;
}

/* --- the root ----------------------------------------------------------------------------- */

/*
 * Has the directory still the name it had?  Only who is outside can take it away (policy/fast.h),
 * and to see that a tick late is early enough; the command can remove it, which we are told.
 */
static bool is_in_place(struct sb_fast_dir *root, int proc)
{
	struct timespec tick;
	char path[PATH_MAX];
	long now, seen = __atomic_load_n(&root->seen, __ATOMIC_RELAXED);
	bool there;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &tick);
	now = (tick.tv_sec * 1000 + tick.tv_nsec / 1000000) * 2;
	if ((seen & ~1L) == now)
		return seen & 1;
	there = sb_descriptor_path(proc, root->fd, path, sizeof path) == 0 &&
		strcmp(path, root->path) == 0;
	__atomic_store_n(&root->seen, now | there, __ATOMIC_RELAXED);
	return there;
}

void sb_fast_removed(struct sb_fast_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++)
		__atomic_store_n(&roots->all[i].seen, -1, __ATOMIC_RELAXED);
}

static struct sb_fast_dir *root_of(struct sb_fast_roots *roots, const char *path, int proc)
{
	for (size_t i = 0; i < roots->count; i++) {
		struct sb_fast_dir *root = &roots->all[i];

		if (strncmp(path, root->path, root->length) == 0 && path[root->length] == '/')
			return is_in_place(root, proc) ? root : NULL;
	}
	return NULL;
}

/* --- the path ------------------------------------------------------------------------------- */

/* Nothing but names, one slash between two. */
static bool is_plain(const char *path)
{
	for (;; path++) {
		size_t length = strcspn(path, "/");

		if (!length || (length <= 2 && path[0] == '.' && (length == 1 || path[1] == '.')))
			return false;
		path += length;
		if (!*path)
			return true;
	}
}

/* "./" and "../" in front: there they mean what they say, since base is canonical. */
static const char *climb(char *base, size_t *length, const char *path)
{
	for (;;) {
		if (strncmp(path, "./", 2) == 0) {
			path += 2;
		} else if (strncmp(path, "../", 3) == 0) {
			path += 3;
			while (*length && base[--*length] != '/')
				;
			base[*length] = '\0';
		} else {
			return path;
		}
	}
}

/* The directory that a relative path starts in, into out; its length, or -1. */
static ssize_t name_start(const struct sb_caller *caller, int dirfd, char *out)
{
	const char *path;
	char name[SB_PROC_NAME];
	ssize_t length;

	if (dirfd == AT_FDCWD) {
		if (sb_resolve_cwd(caller, &path) < 0)
			return -1;
		length = (ssize_t)strlen(path);
		memcpy(out, path, (size_t)length + 1);
	} else {
		length = readlinkat(caller->proc, sb_proc_fd(name, caller->thread, dirfd), out,
				    PATH_MAX - 1);
		if (length < 0 || length == PATH_MAX - 1)
			return -1;
		out[length] = '\0';
	}
	return out[0] == '/' ? length : -1;
}

/* The path from "/", into out (PATH_MAX bytes); *out_one_name: it is a name where it starts. */
static bool spell_out(const struct sb_caller *caller, const struct sb_named *named, char *out,
		      bool *out_one_name)
{
	const char *path = named->path;
	size_t length, rest;
	ssize_t start;

	*out_one_name = false;
	if (named->by_descriptor || !path[0])
		return false;
	if (path[0] == '/') {
		length = strlen(path);
		memcpy(out, path, length + 1); /* it came in a buffer of that size */
		return is_plain(path + 1);
	}
	start = name_start(caller, named->fd, out);
	if (start < 0)
		return false;
	length = start == 1 ? 0 : (size_t)start; /* "/" */
	path = climb(out, &length, path);
	rest = strlen(path);
	if (!is_plain(path) || length + rest + 2 > PATH_MAX)
		return false;
	*out_one_name = path == named->path && !strchr(path, '/');
	out[length] = '/';
	memcpy(out + length + 1, path, rest + 1);
	return true;
}

enum finding { LEADS_OUT, IS_THERE, IS_MISSING };

/* Is there a link on the way from the root, or at the end of it where that is followed? */
static enum finding look(int root, const char *path, bool follow)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW),
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					  RESOLVE_NO_MAGICLINKS};
	long fd = syscall(SYS_openat2, root, path, &how, sizeof how);

	if (fd >= 0) {
		close((int)fd);
		return IS_THERE;
	}
	/* what the kernel has against it, it will say again */
	return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ENAMETOOLONG
		       ? IS_MISSING
		       : LEADS_OUT;
}

/* Does a path lie in a fast root for certain?  follow: a link in the last place is. */
static enum finding find(struct sb_fast_roots *roots, const struct sb_caller *caller,
			 const struct sb_named *named, bool follow)
{
	const struct sb_fast_dir *root;
	char path[PATH_MAX];
	bool one_name;

	if (!spell_out(caller, named, path, &one_name))
		return LEADS_OUT;
	root = root_of(roots, path, caller->proc);
	if (!root)
		return LEADS_OUT;
	if (one_name && !follow) /* the directory has a name without links: there are none */
		return IS_THERE;
	return look(root->fd, path + root->length + 1, follow);
}

/* --- the call -------------------------------------------------------------------------------- */

/*
 * Opens that Landlock rules: those that write.  It would not look at O_TRUNC without, and not at
 * O_CREAT of what is there.
 */
static bool opens_to_write(const struct sb_call *call)
{
	int access = call->flags & O_ACCMODE;

	return (access == O_WRONLY || access == O_RDWR) &&
	       !(call->flags & (O_PATH | O_DIRECTORY | SB_TMPFILE_BIT));
}

static bool follows(const struct sb_call *call)
{
	if (call->act == SB_ACT_OPEN && (call->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return false;
	return call->file.follow;
}

static bool is_nested(const struct sb_caller *caller)
{
	const struct sb_domain *domain;

	return !sb_domain_of(caller->thread, &domain) || domain;
}

bool sb_fast_lets_through(struct sb_fast_roots *roots, const struct sb_caller *caller,
			  const struct sb_call *call, enum sb_op *out_op)
{
	enum finding found;

	switch (call->act) {
	case SB_ACT_OPEN:
		if (!opens_to_write(call))
			return false;
		break;
	case SB_ACT_RENAME:
		if (call->flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE))
			return false;
		break;
	case SB_ACT_LINK: /* whose descriptor it was counts then, and we opened some */
		if (call->flags & AT_EMPTY_PATH)
			return false;
		break;
	case SB_ACT_MKDIR:
	case SB_ACT_SYMLINK:
	case SB_ACT_UNLINK:
	case SB_ACT_RMDIR:
	case SB_ACT_ACCESS: /* changes nothing, and the kernel's answer is the right one there */
		break;
	default:
		return false;
	}
	if (call->target_error || is_nested(caller))
		return false;
	found = find(roots, caller, &call->file, follows(call));
	if (found == LEADS_OUT)
		return false;
	if (sb_call_is_two(call)) {
		if (find(roots, caller, &call->target, false) == LEADS_OUT)
			return false;
		sb_resolve_renamed();
	}
	if (call->act == SB_ACT_UNLINK || call->act == SB_ACT_RMDIR || call->act == SB_ACT_RENAME)
		*out_op = SB_DELETE;
	else if (call->act == SB_ACT_ACCESS ||
		 (call->act == SB_ACT_OPEN && found == IS_THERE && follows(call)))
		*out_op = SB_MODIFY;
	else
		*out_op = SB_CREATE;
	return true;
}
