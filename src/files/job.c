/*
 * job.c - one call under way, and what it works on.
 */
#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/lock.h"
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

const char *sb_files_real(const struct sb_files *view, const char *path, char out[PATH_MAX],
			  const struct sb_rule **out_bound)
{
	struct sb_files_backend *backend = view->backend;
	const struct sb_rule *bound = backend->ops->real ? backend->ops->real(backend, path, out)
							 : NULL;

	if (out_bound)
		*out_bound = bound;
	return bound ? out : path;
}

bool sb_job_cancelled(const struct sb_job *job)
{
	return job->caller && job->caller->cancel && atomic_load(job->caller->cancel);
}

int sb_files_replace(struct sb_files *view, struct sb_place *place,
		     const struct sb_replacement *with)
{
	uint64_t hash = sb_fnv(SB_FNV, place->path, strlen(place->path));
	SB_AUTO_LOCK(&view->stripes[hash % SB_FILES_STRIPES]);
	return view->backend->ops->replace(view->backend, place, with);
}

bool sb_files_has_wildcard(const struct sb_policy *policy, unsigned ops)
{
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);

		for (int op = 0; op < SB_OP_COUNT; op++)
			if (ops & 1u << op && rule->access.verdict[op] != SB_ALLOW &&
			    strpbrk(rule->pattern, "*?[\\"))
				return true;
	}
	return false;
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
