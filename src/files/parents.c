#include <errno.h>
#include <string.h>

#include "files/view.h"

int sb_parents_gate(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place,
		    struct sb_parents *out)
{
	struct sb_intent deep = *wish;
	struct sb_job quiet = {job->view, job->call, job->caller, NULL};
	int status = sb_place_last(place, out->path);

	if (status < 0)
		return sb_refuse_errno(job->err, status, "make", place->path);
	deep.beneath = out->path;
	out->asked = sb_gate_look(&quiet, &deep, place) == SB_ASK;
	return sb_gate(job, &deep, place);
}

/* Whoever said yes to the last name was told what would be made; not what guards find there. */
int sb_parents_pass(struct sb_job *job, const struct sb_parents *parents,
		    const struct sb_intent *wish, const struct sb_place *place)
{
	struct sb_files_error why;
	struct sb_job quiet = {job->view, job->call, job->caller, &why};

	if (parents->asked && sb_gate_look(&quiet, wish, place) == SB_ASK &&
	    why.why != SB_FILES_WHY_GUARDED &&
	    (why.why != SB_FILES_WHY_RULE || strcmp(parents->path, place->path) == 0))
		return 0;
	return sb_gate(job, wish, place);
}

/* The directory at place is there; go on to name in it. */
static int go_down(struct sb_job *job, struct sb_place *place)
{
	struct sb_files_backend *backend = job->view->backend;
	char name[PATH_MAX], *slash;
	struct sb_place next;
	int status;

	memcpy(name, place->rest, sizeof name);
	slash = strchr(name, '/');
	if (slash)
		*slash = '\0';
	status = backend->ops->enter(backend, place, name, &next);
	if (status < 0)
		return status;
	if (slash)
		memcpy(next.rest, slash + 1, strlen(slash + 1) + 1);
	next.must_be_directory = place->must_be_directory;
	backend->ops->release(backend, place);
	*place = next;
	return 0;
}

int sb_parents_make(struct sb_job *job, const struct sb_parents *parents, struct sb_place *place)
{
	struct sb_files_backend *backend = job->view->backend;
	const struct sb_intent wish = {.op = SB_CREATE, .deed = SB_DEED_MKDIR};

	while (*place->rest) {
		int status = place->exists ? 0 : sb_parents_pass(job, parents, &wish, place);

		if (status < 0)
			return status;
		if (!place->exists)
			status = backend->ops->mkdir(backend, place, 0777);
		if (status == -EEXIST) /* somebody was faster; a link there is not followed */
			status = backend->ops->refresh(backend, place);
		if (status == 0 && place->facts.type != SB_FILES_DIRECTORY)
			status = -ENOTDIR;
		if (status == 0)
			status = go_down(job, place);
		if (status < 0)
			return sb_refuse_errno(job->err, status, "make directory", place->path);
	}
	return 0;
}
