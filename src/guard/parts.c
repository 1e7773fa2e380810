/*
 * What git needs outside a checkout whose data lies elsewhere.
 *
 * SECURITY: .git is a file of the project, so a run may have written it.  It opens nothing
 * unless what it names names the checkout in return, in files that the run cannot write:
 * worktrees/ID/gitdir, or core.worktree of a submodule.
 * Held by: tests/unit/test_guard_parts.c
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/list.h"
#include "guard/guard.h"
#include "guard/read.h"
#include "guard/repository.h"
#include "path/path.h"

/* Of the common directory, for a linked worktree.  What its guarded names hold is checked. */
static const struct {
	const char *name;
	bool directory;
	bool checked; /* only where a guard looks at what is written */
	const char *why;
} needed[] = {
	{"objects", true, false, "commits and contents"},
	{"refs", true, false, "branches and tags"},
	{"logs", true, false, "history of branches"},
	{"info", true, false, "lists that git gc keeps"},
	{"worktrees", true, true, "git worktree add and remove"},
	{"rr-cache", true, false, "remembered merges"},
	{"packed-refs", false, false, "branches and tags"},
	{"packed-refs.lock", false, false, "branches and tags"},
	{"packed-refs.new", false, false, "branches and tags"},
	{"shallow", false, false, "how far back history goes"},
	{"shallow.lock", false, false, "how far back history goes"},
	{"HEAD.lock", false, false, "git gc looks at the history of HEAD"},
	{"gc.pid", false, false, "one git gc at a time"},
	{"gc.pid.lock", false, false, "one git gc at a time"},
	{"gc.log", false, false, "what git gc said"},
	{"gc.log.lock", false, false, "what git gc said"},
	{"config", false, true, "remotes and branches"},
	{"config.lock", false, true, "remotes and branches"},
};

static bool same_file(const char *a, const char *b)
{
	struct stat first, second;

	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

/* Does own/gitdir name the project's .git? */
static bool points_back(const struct sb_repository *repository, const char *project)
{
	SB_AUTO_FREE char *mine = sb_path_join(project, ".git");
	SB_AUTO_FREE char *there = sb_read_path(repository->own, "gitdir", "");

	return there && mine && same_file(there, mine);
}

static bool works_on(const struct sb_repository *repository, const char *project)
{
	SB_AUTO_FREE char *there = sb_read_work_tree(repository->own, true);

	return there && same_file(there, project);
}

/* Git's own layout: COMMON/worktrees/ID.  Anything else is not what git made. */
static bool is_worktree_of(const char *own, const char *common)
{
	SB_AUTO_FREE char *parent = sb_path_parent(own);
	SB_AUTO_FREE char *worktrees = sb_path_join(common, "worktrees");

	return parent && worktrees && strcmp(parent, worktrees) == 0;
}

static int add(struct sb_guard_parts *out, const char *directory, const char *name,
	       bool is_directory, bool checked, const char *why)
{
	char *path = *name ? sb_path_join(directory, name) : strdup(directory);

	if (!path || !SB_GROW(out->all, out->count)) {
		free(path);
		return SB_E_NOMEM;
	}
	out->all[out->count++] = (struct sb_guard_part){path, is_directory, checked, why};
	return SB_OK;
}

static int add_worktree(const struct sb_repository *repository, struct sb_guard_parts *out)
{
	int status = add(out, repository->own, "", true, false, "state of this worktree");

	for (size_t i = 0; i < sizeof needed / sizeof needed[0] && status == SB_OK; i++)
		status = add(out, repository->common, needed[i].name, needed[i].directory,
			     needed[i].checked, needed[i].why);
	return status;
}

int sb_guard_parts_find(const char *project, struct sb_guard_parts *out, struct sb_error *err)
{
	struct sb_repository repository;
	int status = SB_OK;

	*out = (struct sb_guard_parts){0};
	if (!sb_repository_find(project, &repository))
		return SB_OK;
	if (repository.is_file && !sb_path_within(project, repository.common)) {
		if (repository.is_linked && points_back(&repository, project) &&
		    is_worktree_of(repository.own, repository.common))
			status = add_worktree(&repository, out);
		else if (!repository.is_linked && works_on(&repository, project))
			status = add(out, repository.own, "", true, false,
				     "git data of this submodule");
	}
	if (status == SB_OK && out->count)
		out->repository = sb_take_ptr(&repository.common);
	sb_repository_done(&repository);
	if (status == SB_OK)
		return SB_OK;
	sb_guard_parts_done(out);
	return sb_no_memory(err);
}

void sb_guard_parts_done(struct sb_guard_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		free(parts->all[i].path);
	free(parts->all);
	free(parts->repository);
	*parts = (struct sb_guard_parts){0};
}
