/*
 * A git directory counts for a work tree: what its settings name there is run from then on.
 *
 * SECURITY: who is obeyed, and where, is known at the start or found when it comes about.
 *
 * Danger: core.hooksPath=.githooks or core.fsmonitor=tools/x means another file in each work tree.  A tree
 * that was nobody's may have it, when a .git file, a directory called .git or core.worktree makes it
 * a work tree.  And what one run takes away (a .git that is renamed) the next one does not know.
 * Price: at the start a look into each directory above a project, and at the worktrees and submodules that git
 * itself keeps lists of; nothing is searched for.  A git directory that names something beside it, or
 * has hooks, asks when it is renamed.
 * Held by: tests/supervise/obeyed.py
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/list.h"
#include "guard/guard_impl.h"
#include "guard/named.h"
#include "guard/read.h"
#include "guard/repository.h"
#include "path/path.h"
#include "sys/directory.h"

#define MAX_PARENTS 64
#define MAX_DEPTH 6 /* of the name of a submodule */
/*
 * SECURITY: with more of them nobody knows what is dangerous, and all is.
 *
 * Danger: a run makes as many directories, and the next one does not look at what matters.
 * Price: a microsecond for a directory, some ten for a repository.
 * Held by: tests/supervise/obeyed.py
 */
#define MAX_TREES                                                                                  \
	4096 /* worktrees, and submodules, of one repository; repositories right in a project */
#define MAX_BENEATH 65536 /* directories right in a project */

/* --- at the start ------------------------------------------------------------------------------------ */

struct search {
	const struct sb_guard_options *options;
	struct sb_extras *out;
	int left;
};

/* Takes given, which may be NULL. */
static int add_tree(struct search *search, const struct sb_repository *repository, char *given)
{
	const struct sb_guard_options *options = search->options;
	SB_AUTO_FREE char *top = given;

	if (!top || (options->in_guarded_root && !options->in_guarded_root(options->context, top)))
		return SB_OK;
	return sb_extras_named(repository, top, options->home, false, search->out);
}

/* The work tree of own, COMMON/worktrees/ID, by its file gitdir. */
static char *tree_of_linked(const char *own)
{
	SB_AUTO_FREE char *dot_git = sb_read_path(own, "gitdir", "");

	return dot_git ? sb_path_parent(dot_git) : NULL;
}

typedef int (*visit_fn)(struct search *search, const char *common, const char *path, int depth);

/* Each directory in parent/name. */
static int visit(struct search *search, const char *parent, const char *name, int depth,
		 visit_fn each)
{
	SB_AUTO_FREE char *list = sb_path_join(parent, name);
	int status = list ? SB_OK : SB_E_NOMEM;

	SB_EACH_ENTRY(dir, AT_FDCWD, list, status == SB_OK) {
		SB_AUTO_FREE char *path = NULL;

		if (dir.entry->d_name[0] == '.' || !S_ISDIR(sb_look_kind(dir.fd, dir.entry)))
			continue;
		if (search->left-- <= 0)
			return SB_E_REFUSED;
		path = sb_path_join(list, dir.entry->d_name);
		status = path ? each(search, parent, path, depth) : SB_E_NOMEM;
	}
	return status;
}

static int add_linked(struct search *search, const char *common, const char *path, int depth)
{
	struct sb_repository repository = {.own = (char *)path, .common = (char *)common};

	(void)depth;
	return add_tree(search, &repository, tree_of_linked(path));
}

/* A submodule "a/b" is in modules/a/b, and has submodules of its own in modules/a/b/modules. */
static int add_module(struct search *search, const char *common, const char *path, int depth)
{
	struct sb_repository repository = {.own = (char *)path, .common = (char *)path};
	SB_AUTO_FREE char *config = sb_path_join(path, "config");
	struct stat info;
	int status;

	(void)common;
	if (!config || depth == 0)
		return config ? SB_OK : SB_E_NOMEM;
	if (lstat(config, &info) != 0)
		return visit(search, path, "", depth - 1, add_module);
	status = add_tree(search, &repository, sb_read_work_tree(path, false));
	return status == SB_OK ? visit(search, path, "modules", depth - 1, add_module) : status;
}

/* Where else the repository of top counts. */
static int add_others(struct search *search, const struct sb_repository *repository,
		      const char *top)
{
	bool hooks = false;
	int status = sb_repository_has_hooks_path(repository, top, &hooks);

	search->left = MAX_TREES;
	if (status == SB_OK && hooks) /* programs are known by SB_EXTRA_AT_WORKTREES */
		status = visit(search, repository->common, "worktrees", 0, add_linked);
	search->left = MAX_TREES;
	return status == SB_OK ? visit(search, repository->common, "modules", MAX_DEPTH, add_module)
			       : status;
}

/* The repository of top, which is beneath a project or around it. */
static int add_repository(struct search *search, const struct sb_repository *repository,
			  const char *top)
{
	int status = sb_extras_named(repository, top, search->options->home, false, search->out);

	return status == SB_OK ? add_others(search, repository, top) : status;
}

/* Those right in a project; of deeper ones submodules alone are known. */
static int add_beneath(struct search *search, const char *project)
{
	int status = SB_OK, left = MAX_BENEATH, trees = MAX_TREES;

	SB_EACH_ENTRY(dir, AT_FDCWD, project, status == SB_OK) {
		const struct dirent64 *entry = dir.entry;
		SB_AUTO_FREE char *top = NULL;
		char name[NAME_MAX + sizeof "/.git"];
		SB_AUTO(sb_repository_done) struct sb_repository repository = {0};
		struct stat info;

		if (entry->d_name[0] == '.' || !S_ISDIR(sb_look_kind(dir.fd, entry)))
			continue;
		if (left-- <= 0 || trees <= 0)
			return SB_E_REFUSED;
		snprintf(name, sizeof name, "%s/.git", entry->d_name);
		if (fstatat(dir.fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		trees--;
		top = sb_path_join(project, entry->d_name);
		if (!top || !sb_repository_find(top, &repository)) {
			status = top ? SB_OK : SB_E_NOMEM;
			continue;
		}
		status = add_repository(search, &repository, top);
	}
	return status;
}

int sb_obeyed_find(const char *project, const struct sb_guard_options *options,
		   struct sb_extras *out)
{
	struct search search = {options, out, 0};
	SB_AUTO_FREE char *top = strdup(project);
	int status = top ? add_beneath(&search, project) : SB_E_NOMEM;

	for (int left = MAX_PARENTS; status == SB_OK && left && top[0]; left--) {
		struct sb_repository repository;

		if (sb_repository_find(top, &repository)) {
			/* of a project others have seen to what it names: found.c */
			if (sb_list_has(options->projects, top)) {
				status = add_others(&search, &repository, top);
			} else {
				status = sb_extras_links(top, false, NULL, out);
				if (status == SB_OK)
					status = add_repository(&search, &repository, top);
			}
			sb_repository_done(&repository);
		}
		*strrchr(top, '/') = '\0';
	}
	return status;
}

/* --- when it comes about ----------------------------------------------------------------------------- */

/* Could the run have made it? */
static bool is_within_reach(const struct sb_guard *guard, const char *path)
{
	const struct sb_guard_options *options = &guard->options;

	return !options->in_guarded_root || options->in_guarded_root(options->context, path) ||
	       (options->is_unguarded && options->is_unguarded(options->context, path));
}

/* Unknown counts as yes. */
static bool is_there(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

bool sb_obeyed_asks(const struct sb_guard *guard, const struct sb_repository *repository,
		    const char *top, const struct sb_moving *moving, struct sb_guard_answer *out)
{
	const char *home = guard->options.home;
	struct sb_extras named = {0}, always = {0};
	bool found = sb_extras_named(repository, top, home, true, &named) != SB_OK;

	/* what does not hang on the work tree was obeyed all the time */
	if (!found && named.count && !moving && sb_look_was_obeyed(guard, repository->common))
		found = sb_extras_named(repository, "/", home, true, &always) != SB_OK;
	for (size_t i = 0; i < named.count; i++) {
		const char *one = named.all[i].path;
		bool inside = moving && sb_path_within(moving->path, one);
		const char *rest =
			inside && one[strlen(moving->path)] ? one + strlen(moving->path) + 1 : ".";

		/* those that the run began with were guarded all the time */
		if (*one != '/' || sb_extras_have(guard, one) || sb_extras_know(&always, one) ||
		    !is_within_reach(guard, one))
			continue;
		if (inside ? !moving->known && sb_look_leads_to(moving->directory, rest)
			   : is_there(one))
			found |= sb_look_found(guard, out, sb_row_of_extra(guard, &named.all[i]),
					       one, 0, NULL);
	}
	sb_extras_done(&named);
	sb_extras_done(&always);
	return found;
}

bool sb_obeyed_by_user(const struct sb_guard *guard, const char *top, struct sb_guard_answer *out)
{
	SB_AUTO_FD int directory = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool found = false;

	if (directory < 0 && (errno == ENOENT || errno == ENOTDIR))
		return false;
	for (size_t i = 0; i < guard->extras.count; i++) {
		const struct sb_extra *extra = &guard->extras.all[i];
		SB_AUTO_FREE char *path = NULL;

		if (extra->kind != SB_EXTRA_AT_TOPS)
			continue;
		path = sb_path_join(top, extra->path);
		if (!path)
			return true;
		if (!sb_extras_have(guard, path) && sb_look_leads_to(directory, extra->path))
			found |= sb_look_found(guard, out, sb_row_of_extra(guard, extra), path, 0,
					       NULL);
	}
	return found;
}

/* Has the directory that is length bytes of path a .git that the extra counts for?  Unknown counts as yes. */
static bool is_top(const struct sb_extra *extra, const char *path, size_t length)
{
	char dot_git[PATH_MAX];
	struct stat info;

	if (extra->kind == SB_EXTRA_ANYWHERE)
		return true;
	if (snprintf(dot_git, sizeof dot_git, "%.*s/.git", (int)length, path) >=
	    (int)sizeof dot_git)
		return true;
	if (lstat(dot_git, &info) != 0)
		return errno != ENOENT && errno != ENOTDIR;
	return extra->kind == SB_EXTRA_AT_TOPS || !S_ISDIR(info.st_mode);
}

/* Does path end in "/" and the first size bytes of the extra's?  Then *out_top is how much is before. */
static bool ends_in(const char *path, const struct sb_extra *extra, size_t size, size_t *out_top)
{
	size_t length = strlen(path);

	if (length <= size || path[length - size - 1] != '/' ||
	    memcmp(path + length - size, extra->path, size) != 0)
		return false;
	*out_top = length - size - 1;
	return true;
}

static bool is_at_top(const struct sb_extra *extra)
{
	return extra->kind == SB_EXTRA_AT_TOPS || extra->kind == SB_EXTRA_AT_WORKTREES;
}

static bool is_relative(const struct sb_extra *extra)
{
	return is_at_top(extra) || extra->kind == SB_EXTRA_ANYWHERE;
}

const struct sb_extra *sb_obeyed_program(const struct sb_guard *guard, const char *path)
{
	for (size_t i = 0; i < guard->extras.count; i++) {
		const struct sb_extra *extra = &guard->extras.all[i];
		size_t top;

		if (is_at_top(extra) && ends_in(path, extra, strlen(extra->path), &top) &&
		    is_top(extra, path, top))
			return extra;
	}
	return NULL;
}

bool sb_obeyed_beneath(const struct sb_guard *guard, int directory, const char *path,
		       struct sb_guard_answer *out)
{
	bool found = false;

	for (size_t i = 0; i < guard->extras.count; i++) {
		const struct sb_extra *extra = &guard->extras.all[i];
		size_t top;

		if (!is_relative(extra))
			continue;
		for (const char *slash = extra->path; (slash = strchr(slash, '/')); slash++) {
			if (!ends_in(path, extra, (size_t)(slash - extra->path), &top) ||
			    !is_top(extra, path, top))
				continue;
			out->looked |= SB_LOOKED_INTO;
			if (sb_look_leads_to(directory, slash + 1))
				found |= sb_look_found(guard, out, sb_row_of_extra(guard, extra),
						       path, 0, slash + 1);
		}
	}
	return found;
}

const struct sb_extra *sb_obeyed_link(const struct sb_guard *guard, const char *path)
{
	for (size_t i = 0; i < guard->extras.count; i++) {
		const struct sb_extra *extra = &guard->extras.all[i];
		const char *end = extra->path;
		size_t top;

		while (is_relative(extra) && *end) {
			end += strcspn(end, "/");
			if (ends_in(path, extra, (size_t)(end - extra->path), &top) &&
			    is_top(extra, path, top))
				return extra;
			end += *end == '/';
		}
	}
	return NULL;
}

/* The target of a .git file with this text that is in directory.  NULL: nobody can tell, or none. */
static char *target_of(const char *directory, const char *text)
{
	return strncmp(text, "gitdir: ", 8) == 0 ? sb_read_from(directory, text + 8) : NULL;
}

/* A .git file, as it stands there by now, without its end of line. */
static bool read_dot_git(int directory, char *text, size_t size)
{
	SB_AUTO_FD int fd =
		openat(directory, ".git", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	return length > 0;
}

/* Its git directory moves along: a way out of the tree leads elsewhere. */
static bool moved_with_git(const struct sb_guard *guard, const char *source, int directory,
			   const char *path, struct sb_guard_answer *out)
{
	struct sb_moving moving = {directory, path, true};
	SB_AUTO_FREE char *from = sb_path_join(source, ".git"), *to = sb_path_join(path, ".git");
	struct sb_repository repository = {.own = from, .common = from, .becomes = to};

	return !from || !to || sb_obeyed_asks(guard, &repository, path, &moving, out);
}

bool sb_obeyed_moved(const struct sb_guard *guard, const char *source, int directory,
		     const char *path, struct sb_guard_answer *out)
{
	struct sb_moving moving = {directory, path, false};
	SB_AUTO_FREE char *before = NULL, *after = NULL;
	SB_AUTO(sb_repository_done) struct sb_repository repository = {0};
	char text[PATH_MAX];
	struct stat info;

	if (directory < 0 || fstatat(directory, ".git", &info, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	if (S_ISDIR(info.st_mode))
		return moved_with_git(guard, source, directory, path, out);
	if (!S_ISREG(info.st_mode) || !read_dot_git(directory, text, sizeof text))
		return false;
	/* where it leads from its old place is told by the text alone: nothing may be there any more */
	before = target_of(source, text);
	after = target_of(path, text);
	if (!after || !sb_repository_at(after, &repository))
		return false;
	moving.known = before && strcmp(before, after) == 0;
	if (!moving.known)
		out->looked |= SB_LOOKED_INTO;
	return sb_obeyed_asks(guard, &repository, path, &moving, out);
}

/* --- when it ends ------------------------------------------------------------------------------------ */

static bool has_hooks(const struct sb_guard *guard, int directory, const char *path,
		      struct sb_guard_answer *out)
{
	const struct sb_table *table = sb_table_of(guard);
	bool found = false;

	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].at[0].kind == SB_COMPONENT_GIT &&
		    (table->rows[i].row->flags & SB_GUARD_IF_EXECUTABLE))
			found |= sb_look_inside(guard, directory, path, &table->rows[i], 1, out);
	return found;
}

/* Is there a directory called .git in top, or in one on the way from there to path, which is beneath it? */
static bool has_git_around(const char *top, const char *path)
{
	SB_AUTO_FREE char *around = strdup(path);
	size_t length = strlen(top);

	while (around && strlen(around) > length) {
		SB_AUTO_FREE char *dot_git = NULL;
		struct stat info;

		*strrchr(around, '/') = '\0';
		dot_git = sb_path_join(around, ".git");
		if (!dot_git || (lstat(dot_git, &info) == 0 && S_ISDIR(info.st_mode)))
			return true;
	}
	return !around;
}

/*
 * SECURITY: a checkout leaves its place, or is closed, with files that its own settings name.
 *
 * Danger: they are known by where it lay when the run began.  Elsewhere nobody guards them, and the next run, which does
 * not find them, changes them and puts the checkout back.
 * Price: moving such a checkout asks.  Hooks are found everywhere by their names, and count for nothing here.
 * Held by: tests/supervise/obeyed.py
 */
bool sb_obeyed_goes_along(const struct sb_guard *guard, const char *path,
			  struct sb_guard_answer *out)
{
	bool found = false;

	for (size_t i = 0; i < guard->extras.count; i++) {
		const struct sb_extra *extra = &guard->extras.all[i];

		if (extra->row ||
		    (extra->kind != SB_EXTRA_HOOK && extra->kind != SB_EXTRA_CONFIG) ||
		    !sb_path_within(path, extra->path) || strcmp(path, extra->path) == 0 ||
		    !has_git_around(path, extra->path))
			continue;
		found |= sb_look_found(guard, out, sb_row_of_extra(guard, extra), extra->path, 0,
				       NULL);
	}
	return found;
}

bool sb_obeyed_leaves(const struct sb_guard *guard, const struct sb_guard_place *place,
		      struct sb_guard_answer *out)
{
	struct sb_repository repository = {.own = (char *)place->path,
					   .common = (char *)place->path};
	SB_AUTO_FREE char *top = sb_path_parent(place->path);
	SB_AUTO_FD int directory = place->directory < 0
					   ? -1
					   : openat(place->directory, place->name,
						    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	SB_AUTO(sb_extras_done) struct sb_extras named = {0};
	bool found;

	/* one that cannot be entered says nothing now, and is looked at where it arrives */
	if (directory < 0 || !top || faccessat(directory, ".", X_OK, 0) != 0 ||
	    !sb_look_is_git(directory, ""))
		return false;
	found = sb_place_is_git_root(place->path) && has_hooks(guard, directory, place->path, out);
	if (sb_extras_named(&repository, top, guard->options.home, true, &named) != SB_OK)
		found = true;
	for (size_t i = 0; i < named.count; i++)
		if (named.all[i].path[0] == '/' && is_within_reach(guard, named.all[i].path) &&
		    !sb_path_within(place->path, named.all[i].path))
			found |= sb_look_found(guard, out, sb_row_of_extra(guard, &named.all[i]),
					       named.all[i].path, 0, NULL);
	return found;
}
