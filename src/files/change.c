/*
 * change.c - names come and go: delete, move, copy, mkdir.
 */
#include <errno.h>

#include "files/content.h"
#include "files/subtree.h"
#include "path/path.h"

static bool is_root(const struct sb_files *view, const char *path)
{
	for (size_t i = 0; i < view->root_count; i++)
		if (sb_path_within(path, view->roots[i].path))
			return true;
	return false;
}

/* A name that can be taken away: not "/" or "..", and no project. */
static int check_removable(struct sb_job *job, const struct sb_place *place, const char *verb)
{
	if (job->view->backend->ops->real && is_root(job->view, place->path))
		return sb_refuse(job->err, SB_FILES_READ_ONLY, 0, "/ is read-only");
	if (!place->name[0])
		return sb_refuse(job->err, SB_FILES_INVALID_ARGUMENT, 0,
				 "cannot %s '%s': give its name, not '.' or '..'", verb,
				 place->path);
	if (is_root(job->view, place->path))
		return sb_refuse(job->err, SB_FILES_INVALID_ARGUMENT, 0,
				 "cannot %s '%s': a project is in it", verb, place->path);
	return 0;
}

/* --- delete ------------------------------------------------------------------------------------ */

static int delete_place(struct sb_job *job, const struct sb_place *place, bool recursive,
			struct sb_covered *covered)
{
	struct sb_files_backend *backend = job->view->backend;
	const struct sb_intent wish = {.op = SB_DELETE,
				       .deed = SB_DEED_REMOVE,
				       .tree = recursive && sb_place_is_directory(place)};
	const struct sb_intent look = {.op = SB_READ};
	int status = place->exists ? check_removable(job, place, "remove") : 0;

	if (status == 0)
		status = place->exists ? sb_gate_covered(job, &wish, place, covered)
				       : sb_gate(job, &look, place);
	if (status == 0)
		status = sb_job_must_exist(job, place, "remove");
	if (status == 0 && wish.tree)
		status = sb_subtree_remove(job, place, covered);
	if (status == 0) {
		status = backend->ops->remove(backend, place);
		if (status < 0)
			status = sb_refuse_errno(job->err, status, "remove", place->path);
	}
	return status;
}

int sb_files_delete(struct sb_files *view, const struct sb_files_caller *caller, const char *path,
		    bool recursive, struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_DELETE, caller, err};
	struct sb_covered covered = {0};
	struct sb_place place;
	struct sb_whole whole = {.place = &place};
	int status = sb_job_find(&job, path, 0, &place);

	if (status < 0)
		return status;
	if (recursive)
		job.whole = &whole;
	status = delete_place(&job, &place, recursive, &covered);
	sb_seal_done(&whole.seal);
	sb_covered_done(&covered);
	sb_job_release(&job, &place);
	return status;
}

/* --- move and copy ----------------------------------------------------------------------------- */

/* Two ends of one act. */
struct pair {
	struct sb_job *job;
	struct sb_place from, to;
	bool replace;
	struct sb_covered covered;
	struct sb_whole whole; /* of from */
};

static int find_pair(struct pair *pair, const char *from, const char *to, unsigned flags)
{
	int status = sb_job_find(pair->job, from, flags, &pair->from);

	if (status < 0)
		return status;
	status = sb_job_find(pair->job, to, flags, &pair->to);
	if (status < 0) {
		sb_job_release(pair->job, &pair->from);
		return status;
	}
	pair->whole.place = &pair->from;
	pair->job->whole = &pair->whole;
	pair->job->said = &pair->covered;
	return 0;
}

static void release_pair(struct pair *pair)
{
	sb_job_release(pair->job, &pair->from);
	sb_job_release(pair->job, &pair->to);
	sb_covered_done(&pair->covered);
	sb_seal_done(&pair->whole.seal);
}

/* Does the target fit?  Called when both ends have passed the gate. */
static int check_target(struct pair *pair, const char *verb)
{
	struct sb_files_error *err = pair->job->err;
	const struct sb_place *from = &pair->from, *to = &pair->to;

	if (to->error)
		return sb_refuse_errno(err, to->error, verb, to->path);
	if (!to->name[0] || (to->exists && !pair->replace))
		return sb_refuse_errno(err, EEXIST, verb, to->path);
	if (sb_place_is_directory(to))
		return sb_refuse_errno(err, EISDIR, verb, to->path);
	if (to->exists && sb_place_is_directory(from))
		return sb_refuse_errno(err, ENOTDIR, verb, to->path);
	if (to->must_be_directory && !sb_place_is_directory(from))
		return sb_refuse_errno(err, ENOTDIR, verb, to->path);
	if (sb_place_is_directory(from) && sb_path_within(from->path, to->path))
		return sb_refuse(err, SB_FILES_INVALID_ARGUMENT, 0, "cannot %s '%s' into itself",
				 verb, from->path);
	return 0;
}

/* Where a link leads that gets another name; NULL: it is none. */
static const char *read_link(const struct pair *pair, char out[PATH_MAX])
{
	struct sb_files_backend *backend = pair->job->view->backend;

	return pair->from.exists && pair->from.facts.type == SB_FILES_LINK &&
			       backend->ops->read_link(backend, &pair->from, out, PATH_MAX) == 0
		       ? out
		       : NULL;
}

static int gate_target(struct pair *pair, enum sb_deed deed)
{
	const struct sb_intent look = {.op = SB_READ};
	char target[PATH_MAX];
	struct sb_intent wish = {.op = pair->to.exists ? SB_MODIFY : SB_CREATE,
				 .deed = deed,
				 .tree = sb_place_is_directory(&pair->from),
				 .content_later = true,
				 .other = &pair->from,
				 .leads_to = read_link(pair, target)};

	return pair->to.error ? sb_gate(pair->job, &look, &pair->to)
			      : sb_gate_covered(pair->job, &wish, &pair->to, &pair->covered);
}

static int copy_over(struct pair *pair)
{
	struct sb_files_backend *backend = pair->job->view->backend;
	char target[PATH_MAX];
	int status;

	switch (pair->from.facts.type) {
	case SB_FILES_FILE:
		return sb_copy_file(pair->job, &pair->from, &pair->to);
	case SB_FILES_DIRECTORY:
		status = sb_subtree_may_copy(pair->job, &pair->from, &pair->to, &pair->covered);
		if (status < 0)
			return status;
		status = backend->ops->mkdir(backend, &pair->to, pair->from.facts.mode & 0777);
		if (status == 0)
			return sb_subtree_copy(pair->job, &pair->from, &pair->to, &pair->covered);
		break;
	case SB_FILES_LINK:
		status = backend->ops->read_link(backend, &pair->from, target, sizeof target);
		if (status == 0)
			status = backend->ops->make_link(backend, &pair->to, target);
		break;
	default:
		return sb_content_check(pair->job, &pair->from, "copy");
	}
	return status < 0 ? sb_refuse_errno(pair->job->err, status, "copy to", pair->to.path) : 0;
}

/* By copying: another filesystem, or a name where only fresh files may land. */
static int move_by_copy(struct pair *pair)
{
	int status = sb_place_is_directory(&pair->from)
			     ? sb_subtree_may_remove(pair->job, &pair->from, &pair->covered)
			     : 0;

	if (status == 0)
		status = copy_over(pair);
	return status < 0 ? status : delete_place(pair->job, &pair->from, true, &pair->covered);
}

/* Is it a rule that keeps this from being read?  Other questions the move itself has asked. */
static bool is_rule_bound(const struct sb_job *job, const struct sb_intent *wish,
			  const struct sb_place *place)
{
	struct sb_files_error why = {.why = SB_FILES_WHY_NO_RULE};
	struct sb_job quiet = {job->view, job->call, job->caller, &why};

	return sb_gate_look(&quiet, wish, place) != SB_ALLOW && why.why == SB_FILES_WHY_RULE;
}

static int move_pair(struct pair *pair)
{
	struct sb_job *job = pair->job;
	struct sb_files_backend *backend = job->view->backend;
	const struct sb_intent look = {.op = SB_READ};
	const struct sb_intent away = {.op = SB_DELETE,
				       .deed = SB_DEED_RENAME,
				       .tree = sb_place_is_directory(&pair->from),
				       .other = &pair->to};
	/* what may not be read gets no name under which it may */
	const struct sb_intent taken = {.op = SB_READ, .tree = sb_place_is_directory(&pair->from)};
	int status = pair->from.exists ? check_removable(job, &pair->from, "move") : 0;

	if (status == 0 && pair->from.exists)
		status = sb_gate_covered(job, &away, &pair->from, &pair->covered);
	else if (status == 0)
		status = sb_gate(job, &look, &pair->from);
	if (status == 0)
		status = sb_job_must_exist(job, &pair->from, "move");
	if (status == 0 && is_rule_bound(job, &taken, &pair->from))
		status = sb_gate_covered(job, &taken, &pair->from, &pair->covered);
	if (status == 0 && sb_place_is_directory(&pair->from))
		status = sb_subtree_may_move(job, &pair->from, &pair->covered);
	if (status == 0)
		status = gate_target(pair, SB_DEED_RENAME);
	if (status == 0)
		status = check_target(pair, "move to");
	if (status < 0)
		return status;
	if (sb_gate_crosses(job->view, &pair->from, &pair->to) &&
	    pair->from.facts.type != SB_FILES_FILE)
		return sb_refuse(
			job->err, SB_FILES_UNSUPPORTED, 0,
			"cannot move '%s': a fast directory is like a disk of its own, and "
			"stays where it is",
			pair->from.path);
	if (pair->from.facts.type == SB_FILES_FILE &&
	    (sb_gate_checks(job->view, &pair->to) ||
	     sb_gate_crosses(job->view, &pair->from, &pair->to)))
		return move_by_copy(pair);
	status = pair->whole.sealed
			 ? backend->ops->rename_sealed(backend, &pair->from, &pair->to,
						       &pair->whole.seal)
			 : backend->ops->rename(backend, &pair->from, &pair->to, pair->replace);
	if (status == -EXDEV)
		return move_by_copy(pair);
	return status < 0 ? sb_refuse_errno(job->err, status, "move to", pair->to.path) : 0;
}

int sb_files_move(struct sb_files *view, const struct sb_files_caller *caller, const char *from,
		  const char *to, bool replace, struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_MOVE, caller, err};
	struct pair pair = {.job = &job, .replace = replace};
	int status = find_pair(&pair, from, to, 0);

	if (status < 0)
		return status;
	status = move_pair(&pair);
	release_pair(&pair);
	return status;
}

int sb_files_copy(struct sb_files *view, const struct sb_files_caller *caller, const char *from,
		  const char *to, unsigned how, struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_COPY, caller, err};
	const struct sb_intent look = {.op = SB_READ};
	struct pair pair = {.job = &job, .replace = how & SB_FILES_REPLACE};
	int status = find_pair(&pair, from, to, SB_RESOLVE_FOLLOW);

	if (status < 0)
		return status;
	status = sb_gate_covered(&job, &look, &pair.from, &pair.covered);
	if (status == 0)
		status = sb_job_must_exist(&job, &pair.from, "copy");
	if (status == 0 && sb_place_is_directory(&pair.from) && !(how & SB_FILES_RECURSIVE))
		status = sb_refuse_errno(err, EISDIR, "copy", pair.from.path);
	if (status == 0)
		status = gate_target(&pair, sb_place_is_directory(&pair.from) ? SB_DEED_MKDIR
									      : SB_DEED_WRITE);
	if (status == 0)
		status = check_target(&pair, "copy to");
	if (status == 0)
		status = copy_over(&pair);
	release_pair(&pair);
	return status;
}

/* --- mkdir -------------------------------------------------------------------------------------- */

static int mkdir_place(struct sb_job *job, struct sb_place *place, bool parents, bool *out_created)
{
	struct sb_files_backend *backend = job->view->backend;
	const struct sb_intent wish = {.op = SB_CREATE, .deed = SB_DEED_MKDIR};
	const struct sb_intent look = {.op = SB_READ};
	struct sb_parents above = {0};
	int status;

	if (place->error || place->exists) {
		status = sb_gate(job, &look, place);
		if (status < 0)
			return status;
		if (sb_place_is_directory(place) && parents) {
			*out_created = false;
			return 0;
		}
		return sb_refuse_errno(job->err, place->error ? place->error : EEXIST,
				       "make directory", place->path);
	}
	if (*place->rest) {
		status = sb_parents_gate(job, &wish, place, &above);
		if (status == 0)
			status = sb_parents_make(job, &above, place);
	} else {
		status = sb_gate(job, &wish, place);
	}
	if (status < 0)
		return status;
	status = backend->ops->mkdir(backend, place, 0777);
	*out_created = status == 0;
	if (status == -EEXIST && parents && backend->ops->refresh(backend, place) == 0 &&
	    sb_place_is_directory(place))
		status = 0; /* somebody was faster */
	return status < 0 ? sb_refuse_errno(job->err, status, "make directory", place->path) : 0;
}

int sb_files_mkdir(struct sb_files *view, const struct sb_files_caller *caller, const char *path,
		   bool parents, bool *out_created, struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_MKDIR, caller, err};
	struct sb_place place;
	bool created = false;
	int status = sb_job_find(&job, path, SB_RESOLVE_FOLLOW | (parents ? SB_RESOLVE_PARENTS : 0),
				 &place);

	if (status < 0)
		return status;
	status = mkdir_place(&job, &place, parents, &created);
	sb_job_release(&job, &place);
	if (status == 0 && out_created)
		*out_created = created;
	return status;
}
