/*
 * job.c - one call under way: what its paths mean.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "files/view.h"
#include "path/path.h"

const struct sb_root *sb_files_root_of(const struct sb_files *view, const char *path)
{
	const struct sb_root *best = NULL;

	for (size_t i = 0; i < view->root_count; i++) {
		const struct sb_root *root = &view->roots[i];

		if (sb_path_within(root->path, path) &&
		    (!best || strlen(root->path) > strlen(best->path)))
			best = root;
	}
	return best;
}

bool sb_job_cancelled(const struct sb_job *job)
{
	return job->caller && job->caller->cancel && atomic_load(job->caller->cancel);
}

pthread_mutex_t *sb_files_stripe(struct sb_files *view, const char *path)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619u;
	return &view->stripes[hash % SB_FILES_STRIPES];
}

/* "~" and "~/x" mean the home directory, if there is one; "~x" is a name like any. */
static const char *expand_home(const struct sb_job *job, const char *path, char **out)
{
	const char *home = job->view->options.home;

	if (!home || path[0] != '~' || (path[1] && path[1] != '/'))
		return path;
	*out = path[1] ? sb_path_join(home, path + 2) : strdup(home);
	return *out;
}

int sb_job_find(struct sb_job *job, const char *path, unsigned flags, struct sb_place *out)
{
	struct sb_files *view = job->view;
	SB_AUTO_FREE char *expanded = NULL;
	const char *meant = path ? expand_home(job, path, &expanded) : "";
	const struct sb_root *start;
	int status;

	if (!meant)
		return sb_refuse(job->err, SB_FILES_NO_MEMORY, 0, "out of memory");
	if (!*meant)
		return sb_refuse(job->err, SB_FILES_INVALID_ARGUMENT, 0, "the path is empty");
	if (sb_job_cancelled(job))
		return sb_refuse(job->err, SB_FILES_CANCELLED, 0, "the call was cancelled");
	start = meant[0] == '/' ? sb_files_root_of(view, meant) : &view->roots[0];
	status = view->backend->ops->resolve(view->backend, start, meant, flags, out);
	if (status < 0)
		return sb_refuse_errno(job->err, status, "find", path);
	out->given = path;
	return 0;
}

void sb_job_release(struct sb_job *job, struct sb_place *place)
{
	job->view->backend->ops->release(job->view->backend, place);
}

int sb_job_must_exist(struct sb_job *job, const struct sb_place *place, const char *verb)
{
	if (place->error)
		return sb_refuse_errno(job->err, place->error, verb, place->path);
	if (!place->exists)
		return sb_refuse_errno(job->err, ENOENT, verb, place->path);
	if (place->must_be_directory && place->facts.type != SB_FILES_DIRECTORY)
		return sb_refuse_errno(job->err, ENOTDIR, verb, place->path);
	return 0;
}

static const char *const call_names[] = {"read",  "write", "edit", "delete", "move", "copy",
					 "mkdir", "list",  "tree", "stat",   "glob", "grep"};

const char *sb_files_call_name(enum sb_files_call call)
{
	return call_names[call];
}

const char *sb_files_type_name(enum sb_files_type type)
{
	static const char *const names[] = {"file", "directory", "link", "other"};

	return names[type];
}

int sb_place_last(const struct sb_place *place, char out[PATH_MAX])
{
	size_t head = strlen(place->path), tail = strlen(place->rest);

	if (head + tail + 2 > PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(out, place->path, head);
	out[head] = '/';
	memcpy(out + head + 1, place->rest, tail + 1);
	return 0;
}
