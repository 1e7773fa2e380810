#include "judge/ignored.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/words.h"
#include "judge/judge_impl.h"
#include "sys/beneath.h"
#include "sys/directory.h"
#include "tree/ignore.h"

#define MAX_ENTRIES 20000 /* of a directory that is looked through; with more a person is asked */
#define MAX_DEPTH 64

static bool is_after(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

void sb_ignored_begin(struct sb_ignored *ignored)
{
	struct timespec stamp;

	/*
	 * A stamp is what the coarse clock shows, or later since Linux 6.13, and never later
	 * than the fine one.  So old ones are not after this moment, and new ones are.
	 */
	clock_gettime(CLOCK_REALTIME, &ignored->since);
	do {
		nanosleep(&(struct timespec){.tv_nsec = 500 * 1000}, NULL);
		clock_gettime(CLOCK_REALTIME_COARSE, &stamp);
	} while (!is_after(&stamp, &ignored->since));
	ignored->on = true;
}

/* --- old and new ------------------------------------------------------------------------ */

/* Unknown counts as old. */
static bool is_old(const struct sb_ignored *ignored, int fd)
{
	struct sb_sys_file file;

	return ignored->all_old || sb_sys_look(fd, "", &file) < 0 ||
	       !is_after(&file.born, &ignored->since);
}

/* Nothing there: false. */
static bool is_old_at(const struct sb_ignored *ignored, int directory, const char *name)
{
	SB_AUTO_FD int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && is_old(ignored, fd);
}

static bool is_old_site(const struct sb_ignored *ignored, const struct sb_site *site)
{
	if (site->object >= 0)
		return is_old(ignored, site->object);
	return site->directory >= 0 ? is_old_at(ignored, site->directory, site->name)
				    : is_old_at(ignored, AT_FDCWD, site->path);
}

/* --- reading rules ---------------------------------------------------------------------- */

/*
 * A backend of its own: the performer's /proc is not the one that the disk backend of the
 * file tools needs.  Names are the kernel's, and nobody renames while a call is judged.
 */
static int open_directory(void *context, const char *path, sb_search_handle *out)
{
	const int *root = context;
	int fd = openat(*root, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	*out = fd;
	return fd < 0 ? -errno : 0;
}

static int open_file(void *context, sb_search_handle directory, const char *name,
		     sb_search_handle *out)
{
	SB_AUTO_FD int fd =
		openat((int)directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	(void)context;
	if (fd < 0 || fstat(fd, &info) != 0)
		return -errno;
	if (!S_ISREG(info.st_mode))
		return -EINVAL;
	*out = sb_take_fd(&fd);
	return 0;
}

static ssize_t read_file(void *context, sb_search_handle file, void *into, size_t length)
{
	ssize_t got = read((int)file, into, length);

	(void)context;
	return got < 0 ? -errno : got;
}

static void close_handle(void *context, sb_search_handle handle)
{
	(void)context;
	close((int)handle);
}

static const struct sb_search_backend backend = {
	.open_directory = open_directory,
	.close_directory = close_handle,
	.open_file = open_file,
	.read = read_file,
	.close_file = close_handle,
};

/* --- whose rules count ------------------------------------------------------------------ */

/* A directory whose rules count for a path, open as the root of a source. */
struct top {
	char path[PATH_MAX];
	int root;
	struct sb_search_source source;
};

static bool open_top(const char *path, size_t length, struct top *top)
{
	memcpy(top->path, path, length);
	top->path[length] = '\0';
	if (!length)
		memcpy(top->path, "/", 2);
	top->root = open(top->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	top->source = (struct sb_search_source){
		.backend = &backend, .context = &top->root, .one_repository = true};
	return top->root >= 0;
}

static const char *beneath(const struct top *top, const char *path)
{
	path += top->path[1] ? strlen(top->path) : 0;
	return path + (*path == '/');
}

/* What git keeps for itself is in no work tree. */
static bool is_gits(const char *path)
{
	for (const char *at = strstr(path, "/.git"); at; at = strstr(at + 1, "/.git"))
		if (!at[5] || at[5] == '/')
			return true;
	return false;
}

static size_t parent_length(const char *path, size_t length)
{
	while (length && path[length - 1] != '/')
		length--;
	return length ? length - 1 : 0;
}

static bool may_create_at(const struct sb_policy *policy, const char *path, size_t length)
{
	char directory[PATH_MAX];

	if (!length)
		return false;
	memcpy(directory, path, length);
	directory[length] = '\0';
	return sb_decide(policy, SB_CREATE, directory).verdict == SB_ALLOW;
}

static bool has_old_git(const struct sb_ignored *ignored, const char *path, size_t length)
{
	char name[PATH_MAX + 8];

	snprintf(name, sizeof name, "%.*s/.git", (int)length, path);
	return is_old_at(ignored, AT_FDCWD, name);
}

typedef struct sb_decision (*ask_top)(void *context, struct top *top);

/*
 * Ask about each repository that path is in, from the inside out as far as the run may write,
 * and one step further; without any, the writable root itself counts as one.
 */
static struct sb_decision ask_all(const struct sb_ignored *ignored, const struct sb_policy *policy,
				  const char *path, struct sb_decision decision, ask_top ask,
				  void *context)
{
	size_t length = strlen(path), writable = 0;
	bool found = false;
	struct top top;

	while (length && decision.verdict == SB_ALLOW) {
		bool ours;

		length = parent_length(path, length);
		ours = may_create_at(policy, path, length);
		if (ours)
			writable = length;
		else if (found)
			break;
		if (!has_old_git(ignored, path, length))
			continue;
		found = true;
		if (open_top(path, length, &top)) {
			decision = sb_stricter(decision, ask(context, &top));
			close(top.root);
		}
		if (!ours)
			break;
	}
	if (!found && writable && decision.verdict == SB_ALLOW && open_top(path, writable, &top)) {
		decision = sb_stricter(decision, ask(context, &top));
		close(top.root);
	}
	return decision;
}

/* --- one name --------------------------------------------------------------------------- */

struct name {
	const struct sb_policy *policy;
	enum sb_op op;
	const char *path;
	bool directory;
};

static struct sb_decision ask_name(void *context, struct top *top)
{
	const struct name *name = context;
	bool ignored = true;

	if (sb_ignore_check(&top->source, beneath(top, name->path), name->directory, NULL, &ignored,
			    NULL) == SB_OK &&
	    !ignored)
		return (struct sb_decision){SB_ALLOW, NULL};
	/* what cannot be told counts as ignored */
	return sb_decide_ignored(name->policy, name->op, name->path, top->path);
}

/* --- a directory with all that is in it --------------------------------------------------- */

struct tree {
	struct name name; /* the directory; first, so that ask_name() may be asked about it */
	const struct sb_ignored *ignored;
	unsigned left; /* entries that may still be looked at */
};

/* One directory of the tree. */
struct folder {
	int fd;
	const char *path; /* from the top */
	struct sb_ignore_level *level;
};

/* Does a rule allow to change it? */
static bool is_opened(const struct tree *tree, const struct top *top, const char *path)
{
	char whole[2 * PATH_MAX];

	snprintf(whole, sizeof whole, "%s/%s", top->path[1] ? top->path : "", path);
	return sb_decide_ignored(tree->name.policy, tree->name.op, whole, top->path).verdict ==
	       SB_ALLOW;
}

static bool holds_ignored(struct tree *tree, struct top *top, int parent, const char *name,
			  const char *path, int depth);

/* Is this entry old and ignored, or does it hold what is? */
static bool look_at_entry(struct tree *tree, struct top *top, const struct folder *folder,
			  const char *name, int depth)
{
	SB_AUTO_FREE char *path = NULL;
	bool directory;
	struct stat info;

	if (!tree->left-- ||
	    asprintf(&path, "%s%s%s", folder->path, *folder->path ? "/" : "", name) < 0)
		return true;
	if (strcmp(name, ".git") == 0)
		return false;
	if (fstatat(folder->fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return errno != ENOENT;
	directory = S_ISDIR(info.st_mode);
	if (sb_ignore_level_says(folder->level, path, strlen(path), directory))
		return is_old_at(tree->ignored, folder->fd, name) && !is_opened(tree, top, path);
	return directory && holds_ignored(tree, top, folder->fd, name, path, depth);
}

/* Is anything old and ignored beneath path, a directory that is not ignored itself? */
static bool holds_ignored(struct tree *tree, struct top *top, int parent, const char *name,
			  const char *path, int depth)
{
	SB_AUTO_FD int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct sb_ignore_level *start = NULL;
	struct folder folder = {fd, path, NULL};
	const struct dirent64 *entry;
	struct sb_sys_dir *dir = malloc(sizeof *dir); /* too large for many on a stack */
	bool found = fd < 0 || !dir || !depth || sb_ignore_level_top(NULL, 0, &start) != SB_OK ||
		     sb_ignore_level_reach(&top->source, start, path, &folder.level, NULL) != SB_OK;

	if (!found) {
		sb_sys_dir_init(dir, fd);
		while (!found && (entry = sb_sys_dir_next(dir)))
			found = !sb_is_dots(entry->d_name) &&
				look_at_entry(tree, top, &folder, entry->d_name, depth - 1);
		found = found || dir->error != 0;
	}
	free(dir);
	sb_ignore_level_drop(folder.level);
	sb_ignore_level_drop(start);
	return found;
}

static struct sb_decision ask_tree(void *context, struct top *top)
{
	struct tree *tree = context;
	struct sb_decision decision = ask_name(&tree->name, top);

	const char *path = beneath(top, tree->name.path);

	if (decision.verdict != SB_ALLOW ||
	    !holds_ignored(tree, top, top->root, *path ? path : ".", path, MAX_DEPTH))
		return decision;
	return sb_decide_ignored(tree->name.policy, tree->name.op, tree->name.path, top->path);
}

/* --- the question ------------------------------------------------------------------------- */

static bool is_directory(const struct sb_site *site)
{
	struct stat info;

	if (site->mode)
		return S_ISDIR(site->mode);
	return site->directory >= 0 &&
	       fstatat(site->directory, site->name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(info.st_mode);
}

/* Where there is no disk there are no repositories either: the tree is one. */
static struct sb_decision ask_off_disk(const struct sb_ignored *ignored, const struct name *name,
				       struct sb_decision decision)
{
	const char *root = ignored->off_disk(ignored->context, name->path, name->directory);

	return root ? sb_decide_ignored(name->policy, name->op, name->path, root) : decision;
}

bool sb_ignored_asks(const struct sb_ignored *ignored, const struct sb_policy *policy,
		     enum sb_op op, const struct sb_site *site, bool moved,
		     struct sb_decision *decision)
{
	struct tree tree = {{policy, op, site->path, moved}, ignored, MAX_ENTRIES};

	if (!ignored->on || (op != SB_MODIFY && op != SB_DELETE) || site->path[0] != '/' ||
	    site->in_proc || is_gits(site->path))
		return false;
	if (!moved)
		tree.name.directory = is_directory(site);
	if (ignored->off_disk)
		*decision = ask_off_disk(ignored, &tree.name, *decision);
	else if (site->whole && is_old_site(ignored, site)) /* nobody knows what git says of it */
		*decision = sb_decide_ignored(policy, op, site->path, site->path);
	else if (is_old_site(ignored, site))
		/* what counts as old wherever it lies loses nothing with the name of its directory */
		*decision = ask_all(ignored, policy, site->path, *decision,
				    moved && !ignored->all_old ? ask_tree : ask_name, &tree);
	return decision->verdict != SB_ALLOW;
}
