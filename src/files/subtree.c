#include "files/subtree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/content.h"
#include "files/entries.h"

#define LOOK_BYTES                                                                                 \
	((size_t)1 << 20) /* of a file whose contents matter; longer ones are asked about */

void sb_covered_done(struct sb_covered *covered)
{
	for (size_t i = 0; i < covered->count; i++)
		free(covered->paths[i]);
	free(covered->paths);
	*covered = (struct sb_covered){0};
}

static bool is_covered(const struct sb_covered *covered, const struct sb_files_error *why,
		       const char *path)
{
	if (why->why != SB_FILES_WHY_GUARDED && why->why != SB_FILES_WHY_RULE)
		return covered->whys & 1u << why->why;
	for (size_t i = 0; i < covered->count; i++)
		if (strcmp(covered->paths[i], path) == 0)
			return true;
	return false;
}

static int cover(struct sb_covered *covered, const struct sb_files_error *why, const char *path)
{
	char **grown;

	if (why->why != SB_FILES_WHY_GUARDED && why->why != SB_FILES_WHY_RULE) {
		covered->whys |= 1u << why->why;
		return 0;
	}
	grown = reallocarray(covered->paths, covered->count + 1, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	covered->paths = grown;
	grown[covered->count] = strdup(path);
	return grown[covered->count] ? (covered->count++, 0) : -ENOMEM;
}

int sb_gate_covered(struct sb_job *job, const struct sb_wish *wish, const struct sb_place *place,
		    struct sb_covered *covered)
{
	struct sb_wish eased = *wish;
	struct sb_files_error why;
	struct sb_job quiet = {job->view, job->call, job->caller, &why};
	int status;

	eased.ignored_too = covered->whys & 1u << SB_FILES_WHY_IGNORED;
	switch (sb_gate_look(&quiet, &eased, place)) {
	case SB_ALLOW:
		return 0;
	case SB_ASK:
		if (is_covered(covered, &why, place->path))
			return 0;
		status = sb_gate(job, &eased, place);
		if (status == 0 && cover(covered, &why, place->path) < 0)
			status = sb_refuse(job->err, SB_FILES_NO_MEMORY, 0, "out of memory");
		return status;
	default:
		return sb_gate(job, &eased, place);
	}
}

/* --- a walk ------------------------------------------------------------------------------------ */

struct walk {
	struct sb_job *job;
	struct sb_covered *covered;
	size_t count;
};

static int gather(void *context, const struct sb_found *found)
{
	struct sb_entry_list *names = context;

	if (names->count >= SB_SUBTREE_LIMIT)
		return -E2BIG;
	return sb_entry_list_add(names, found, 0);
}

/* What to do with one entry; directories are entered by it. */
typedef int (*visit_entry)(struct walk *walk, struct sb_place *entry, const struct sb_place *to);

static int each(struct walk *walk, const struct sb_place *directory, const struct sb_place *to,
		visit_entry visit)
{
	struct sb_files_backend *backend = walk->job->view->backend;
	struct sb_entry_list names;
	int status;

	sb_entry_list_init(&names);
	status = backend->ops->list(backend, directory, false, gather, &names);
	if (status < 0)
		status = sb_refuse_errno(walk->job->err, status, "list", directory->path);
	for (size_t i = 0; i < names.count && status == 0; i++) {
		struct sb_place entry;

		if (sb_job_cancelled(walk->job))
			status = -ECANCELED;
		else if (++walk->count > SB_SUBTREE_LIMIT)
			status = -E2BIG;
		else
			status = backend->ops->enter(backend, directory, sb_entry_name(&names, i),
						     &entry);
		if (status < 0) {
			status = sb_refuse_errno(walk->job->err, status, "go through",
						 directory->path);
			break;
		}
		if (entry.exists)
			status = visit(walk, &entry, to);
		backend->ops->release(backend, &entry);
	}
	sb_entry_list_done(&names);
	return status;
}

/* --- removing ------------------------------------------------------------------------------------ */

static const struct sb_wish removal = {.op = SB_DELETE, .act = SB_ACT_REMOVE};

static int may_remove(struct walk *walk, struct sb_place *entry, const struct sb_place *to)
{
	int status = sb_gate_covered(walk->job, &removal, entry, walk->covered);

	if (status == 0 && entry->facts.type == SB_FILES_DIRECTORY)
		status = each(walk, entry, to, may_remove);
	return status;
}

static int remove_one(struct walk *walk, struct sb_place *entry, const struct sb_place *to)
{
	struct sb_files_backend *backend = walk->job->view->backend;
	int status = sb_gate_covered(walk->job, &removal, entry, walk->covered);

	if (status == 0 && entry->facts.type == SB_FILES_DIRECTORY)
		status = each(walk, entry, to, remove_one);
	if (status < 0)
		return status;
	status = backend->ops->remove(backend, entry);
	return status < 0 ? sb_refuse_errno(walk->job->err, status, "remove", entry->path) : 0;
}

int sb_subtree_remove(struct sb_job *job, const struct sb_place *place, struct sb_covered *covered)
{
	struct walk walk = {.job = job, .covered = covered};
	int status = each(&walk, place, NULL, may_remove);

	walk.count = 0;
	return status < 0 ? status : each(&walk, place, NULL, remove_one);
}

/* --- copying -------------------------------------------------------------------------------------- */

static int replace_with(struct sb_job *job, struct sb_place *to, const struct sb_replacement *with)
{
	struct sb_files *view = job->view;
	pthread_mutex_t *stripe = sb_files_stripe(view, to->path);
	int status;

	pthread_mutex_lock(stripe);
	status = view->backend->ops->replace(view->backend, to, with);
	pthread_mutex_unlock(stripe);
	return status < 0 ? sb_refuse_errno(job->err, status, "write", to->path) : 0;
}

int sb_copy_file(struct sb_job *job, const struct sb_place *from, struct sb_place *to)
{
	struct sb_files_backend *backend = job->view->backend;
	struct sb_replacement with = {.sync = !job->view->options.no_sync,
				      .mode = from->facts.mode & 0777};
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(LOOK_BYTES);
	SB_AUTO_BUF struct sb_buf old = SB_BUF(LOOK_BYTES);
	struct sb_stream stream;
	int status = to->exists ? sb_content_check(job, to, "write") : 0;

	if (status == 0)
		status = sb_content_check(job, from, "read");
	if (status < 0)
		return status;
	status = backend->ops->open(backend, from, &stream);
	if (status < 0)
		return sb_refuse_errno(job->err, status, "read", from->path);
	if (stream.bytes <= LOOK_BYTES) {
		status = sb_content_stream(job, from, &stream, LOOK_BYTES, &bytes);
		with.data = bytes.data;
		with.length = bytes.length;
	} else {
		with.source = &stream;
	}
	if (status == 0 && to->exists && to->facts.bytes <= LOOK_BYTES &&
	    !sb_gate_hides(job->view, to->path))
		status = sb_content_bytes(job, to, LOOK_BYTES, &old);
	if (status == 0)
		status = sb_gate_content(job, to, to->exists ? old.data : NULL, old.length,
					 with.data, with.source ? stream.bytes : with.length);
	if (status == 0)
		status = replace_with(job, to, &with);
	backend->ops->close(backend, &stream);
	return status;
}

static int copy_link(struct sb_job *job, const struct sb_place *from, const struct sb_place *to)
{
	struct sb_files_backend *backend = job->view->backend;
	char target[PATH_MAX];
	int status = backend->ops->read_link(backend, from, target, sizeof target);

	if (status == 0)
		status = backend->ops->make_link(backend, to, target);
	return status < 0 ? sb_refuse_errno(job->err, status, "copy link", from->path) : 0;
}

static int copy_one(struct walk *walk, struct sb_place *entry, const struct sb_place *to);

static int copy_entry(struct walk *walk, const struct sb_place *entry, struct sb_place *there)
{
	struct sb_files_backend *backend = walk->job->view->backend;
	int status;

	switch (entry->facts.type) {
	case SB_FILES_FILE:
		return sb_copy_file(walk->job, entry, there);
	case SB_FILES_LINK:
		return copy_link(walk->job, entry, there);
	case SB_FILES_DIRECTORY:
		status = backend->ops->mkdir(backend, there, entry->facts.mode & 0777);
		if (status < 0)
			return sb_refuse_errno(walk->job->err, status, "make directory",
					       there->path);
		return each(walk, entry, there, copy_one);
	default:
		return sb_refuse(walk->job->err, SB_FILES_NOT_A_FILE, 0,
				 "cannot copy '%s': it is a FIFO, a device or a socket",
				 entry->path);
	}
}

static int copy_one(struct walk *walk, struct sb_place *entry, const struct sb_place *to)
{
	struct sb_files_backend *backend = walk->job->view->backend;
	const struct sb_wish look = {.op = SB_READ};
	struct sb_wish wish = {.op = SB_CREATE,
			       .content_later = true,
			       .act = entry->facts.type == SB_FILES_DIRECTORY ? SB_ACT_PUT_DIRECTORY
				      : entry->facts.type == SB_FILES_LINK    ? SB_ACT_PUT_LINK
									      : SB_ACT_PUT_FILE};
	struct sb_place there;
	int status = sb_gate_covered(walk->job, &look, entry, walk->covered);

	if (status < 0)
		return status;
	status = backend->ops->enter(backend, to, entry->name, &there);
	if (status < 0)
		return sb_refuse_errno(walk->job->err, status, "copy to", to->path);
	if (there.exists)
		status = sb_refuse_errno(walk->job->err, EEXIST, "copy to", there.path);
	if (status == 0)
		status = sb_gate_covered(walk->job, &wish, &there, walk->covered);
	if (status == 0)
		status = copy_entry(walk, entry, &there);
	backend->ops->release(backend, &there);
	return status;
}

int sb_subtree_copy(struct sb_job *job, const struct sb_place *from, const struct sb_place *to,
		    struct sb_covered *covered)
{
	struct walk walk = {.job = job, .covered = covered};

	return each(&walk, from, to, copy_one);
}
