/*
 * resolve.c - what the paths of a call mean.
 */
#include <string.h>

#include "base/auto.h"
#include "files/foreign.h"
#include "path/path.h"

/* "~" and "~/x" mean the home directory, if there is one; "~x" is a name like any. */
static const char *expand_home(const struct sb_job *job, const char *path, char **out)
{
	const char *home = job->view->options.home;

	/* who sees directories by other names has no home among them */
	if (!home || path[0] != '~' || (path[1] && path[1] != '/') || job->view->backend->ops->real)
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
		return sb_refuse_memory(job->err);
	if (!*meant)
		return sb_refuse(job->err, SB_FILES_INVALID_ARGUMENT, 0, "the path is empty");
	if (sb_job_cancelled(job))
		return sb_refuse(job->err, SB_FILES_CANCELLED, 0, "the call was cancelled");
	start = meant[0] == '/' ? sb_files_root_of(view, meant) : &view->roots[0];
	status = view->backend->ops->resolve(view->backend, start, meant, flags, out);
	if (status < 0)
		return sb_refuse_errno(job->err, status, "find", path);
	out->given = path;
	if ((!out->exists || out->error) && sb_files_root_of(view, out->path)) {
		status = sb_job_refuse_foreign(job, meant);
		if (status < 0)
			sb_job_release(job, out);
	}
	return status;
}
