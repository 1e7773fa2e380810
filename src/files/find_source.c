#include "files/find_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/content.h"
#include "path/path.h"

/* --- sight -------------------------------------------------------------------------------------- */

static enum sb_sight sight(void *context, const char *path, enum sb_search_kind kind)
{
	const struct sb_find *find = context;
	const struct sb_policy *policy = find->view->policy;
	char whole[2 * PATH_MAX], real[PATH_MAX];
	size_t length = (size_t)snprintf(whole, sizeof whole, "%s%s%s",
					 find->base[1] || !*path ? find->base : "",
					 *path ? "/" : "", path);

	if (length >= PATH_MAX)
		return SB_SIGHT_NONE;
	if (sb_gate_read(find->view, whole) != SB_ALLOW)
		return SB_SIGHT_NONE;
	if (kind == SB_SEARCH_DIRECTORY && !find->globs_hide &&
	    sb_decide_beneath(policy, SB_READ, sb_files_real(find->view, whole, real, NULL))
			    .verdict == SB_ALLOW)
		return SB_SIGHT_ALL;
	return SB_SIGHT_THIS;
}

/* --- opening ------------------------------------------------------------------------------------ */

/* Outside the projects a file is looked for in its directory, a directory is itself the root. */
static int split(struct sb_find *find)
{
	const char *path = find->place.path;
	bool file = find->place.facts.type != SB_FILES_DIRECTORY;
	char *parent;

	if (find->root) {
		size_t length = strlen(find->root->path);

		memcpy(find->base, find->root->path, length + 1);
		path += length == 1 ? 0 : length;
		path += *path == '/';
		memcpy(find->start, path, strlen(path) + 1);
		sb_find_use_backend(find, find->root->directory);
		return 0;
	}
	parent = file ? sb_path_parent(path) : strdup(path);
	if (!parent)
		return -ENOMEM;
	memcpy(find->base, parent, strlen(parent) + 1);
	free(parent);
	if (file)
		memcpy(find->start, find->place.name, strlen(find->place.name) + 1);
	sb_find_use_backend(find, file ? find->place.directory : find->place.object);
	return 0;
}

int sb_find_open(struct sb_job *job, const char *path, struct sb_find *out)
{
	const struct sb_intent wish = {.op = SB_READ};
	int status;

	*out = (struct sb_find){.job = job, .view = job->view};
	status = sb_job_find(job, path ? path : job->view->roots[0].path, SB_RESOLVE_FOLLOW,
			     &out->place);
	if (status < 0)
		return status;
	status = sb_gate(job, &wish, &out->place);
	if (status == 0)
		status = sb_job_must_exist(job, &out->place, "search");
	if (status == 0 && out->place.facts.type == SB_FILES_OTHER)
		status = sb_content_check(job, &out->place, "search");
	if (status == 0) {
		out->root = sb_files_root_of(job->view, out->place.path);
		/* beyond a mount point the engine would not go by itself */
		if (out->root && out->root->mount != out->place.facts.mount)
			out->root = NULL;
		/* rules with wildcards mean names anywhere: where one hides, all are looked at */
		out->globs_hide = sb_files_has_wildcard(job->view->policy, 1u << SB_READ);
		out->source.sight = sight;
		out->source.sight_context = out;
		if (split(out) < 0)
			status = sb_refuse_memory(job->err);
	}
	if (status < 0)
		sb_job_release(job, &out->place);
	return status;
}

void sb_find_close(struct sb_find *find)
{
	sb_job_release(find->job, &find->place);
}

const char *sb_find_relative(const struct sb_find *find, const char *path)
{
	size_t length = strlen(find->start);

	if (length && strncmp(path, find->start, length) == 0) {
		path += length;
		path += *path == '/';
	}
	return path;
}

int sb_find_fail(struct sb_find *find, const struct sb_error *why)
{
	enum sb_files_code code = why->code == SB_E_INVALID   ? SB_FILES_INVALID_PATTERN
				  : why->code == SB_E_MISSING ? SB_FILES_NOT_FOUND
				  : why->code == SB_E_NOMEM   ? SB_FILES_NO_MEMORY
							      : SB_FILES_SYSTEM;

	if (why->sys_errno == EACCES || why->sys_errno == EPERM)
		return sb_refuse_errno(find->job->err, why->sys_errno, "search", find->place.path);
	return sb_refuse(find->job->err, code, why->sys_errno, "%s", why->message);
}
