#include "files/subtree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/list.h"
#include "files/content.h"
#include "files/entries.h"

#define LOOK_BYTES                                                                                 \
	((size_t)1 << 20) /* of a file whose contents matter; longer ones are asked about */

static bool is_covered(const struct sb_covered *covered, const struct sb_files_error *why,
		       const char *path)
{
	if (why->why != SB_FILES_WHY_GUARDED && why->why != SB_FILES_WHY_RULE)
		return covered->whys[why->op] & 1u << why->why;
	for (size_t i = 0; i < covered->count; i++)
		if (covered->paths[i][0] == '0' + (int)why->op &&
		    strcmp(covered->paths[i] + 1, path) == 0)
			return true;
	return false;
}

static int cover(struct sb_covered *covered, const struct sb_files_error *why, const char *path)
{
	char *entry;

	if (why->why != SB_FILES_WHY_GUARDED && why->why != SB_FILES_WHY_RULE) {
		covered->whys[why->op] |= 1u << why->why;
		return 0;
	}
	if (!SB_GROW(covered->paths, covered->count))
		return -ENOMEM;
	entry = malloc(strlen(path) + 2);
	if (!entry)
		return -ENOMEM;
	entry[0] = (char)('0' + (int)why->op);
	memcpy(entry + 1, path, strlen(path) + 1);
	covered->paths[covered->count++] = entry;
	return 0;
}

int sb_gate_covered(struct sb_job *job, const struct sb_intent *wish, const struct sb_place *place,
		    struct sb_covered *covered)
{
	struct sb_intent eased = *wish;
	struct sb_files_error why;
	struct sb_job quiet = {job->view, job->call, job->caller, &why};
	int status;

	eased.ignored_too = covered->whys[wish->op] & 1u << SB_FILES_WHY_IGNORED;
	switch (sb_gate_look(&quiet, &eased, place)) {
	case SB_ALLOW:
		sb_gate_allowed(job, &eased, place);
		return 0;
	case SB_ASK:
		if (is_covered(covered, &why, place->path))
			return 0;
		status = sb_gate(job, &eased, place);
		if (status == 0 && cover(covered, &why, place->path) < 0)
			status = sb_refuse_memory(job->err);
		return status;
	default:
		return sb_gate(job, &eased, place);
	}
}

/* --- a walk ------------------------------------------------------------------------------------ */

struct walk {
	struct sb_job *job;
	struct sb_covered *covered;
	size_t count, depth;
	bool counted; /* there were not too many when they were asked about */
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

/*
 * SECURITY: whoever writes the project makes trees as deep as paths allow, 2048 names.
 *
 * Danger: a place is 9 KiB, so recursion would run over the stack of a thread, or over all
 * descriptors of the process.  So places lie on the heap, and the depth has an end.
 * Price: deeper trees cannot be copied or removed in one call.
 * Held by: tests/unit/test_files_attacks.c
 */
static int each(struct walk *walk, const struct sb_place *directory, const struct sb_place *to,
		visit_entry visit)
{
	struct sb_files_backend *backend = walk->job->view->backend;
	SB_AUTO_FREE struct sb_place *entry = malloc(sizeof *entry);
	struct sb_entry_list names;
	int status;

	if (!entry)
		return sb_refuse_memory(walk->job->err);
	if (walk->depth >= SB_SUBTREE_DEPTH)
		return sb_refuse(walk->job->err, SB_FILES_TOO_LARGE, 0,
				 "'%s' is more than %d directories deep", directory->path,
				 SB_SUBTREE_DEPTH);
	walk->depth++;
	sb_entry_list_init(&names);
	status = backend->ops->list(backend, directory, false, gather, &names);
	if (status < 0)
		status = sb_refuse_errno(walk->job->err, status, "list", directory->path);
	for (size_t i = 0; i < names.count && status == 0; i++) {
		if (sb_job_cancelled(walk->job))
			status = -ECANCELED;
		else if (++walk->count > SB_SUBTREE_LIMIT && !walk->counted)
			status = -E2BIG;
		else
			status = backend->ops->enter(backend, directory, sb_entry_name(&names, i),
						     entry);
		if (status < 0) {
			status = sb_refuse_errno(walk->job->err, status, "go through",
						 directory->path);
			break;
		}
		if (entry->exists)
			status = visit(walk, entry, to);
		backend->ops->release(backend, entry);
	}
	sb_entry_list_done(&names);
	walk->depth--;
	return status;
}

/* --- removing ------------------------------------------------------------------------------------ */

static const struct sb_intent removal = {.op = SB_DELETE, .deed = SB_DEED_REMOVE};

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

int sb_subtree_may_remove(struct sb_job *job, const struct sb_place *place,
			  struct sb_covered *covered)
{
	struct walk walk = {.job = job, .covered = covered};

	return each(&walk, place, NULL, may_remove);
}

int sb_subtree_remove(struct sb_job *job, const struct sb_place *place, struct sb_covered *covered)
{
	struct walk walk = {.job = job, .covered = covered};
	int status = sb_subtree_may_remove(job, place, covered);

	return status < 0 ? status : each(&walk, place, NULL, remove_one);
}

/* --- moving ------------------------------------------------------------------------------------- */

/* What a rule says about this name by itself; that git ignores it, say, moves along. */
static int may_move(struct walk *walk, struct sb_place *entry, const struct sb_place *to)
{
	static const struct sb_intent wishes[] = {{.op = SB_READ}, {.op = SB_DELETE}};
	const struct sb_files *view = walk->job->view;
	char real[PATH_MAX];
	const char *path = sb_files_real(view, entry->path, real, NULL);
	int status = 0;

	for (size_t i = 0; i < 2 && status == 0; i++) {
		struct sb_decision decision = sb_decide(view->policy, wishes[i].op, path);

		if (decision.verdict != SB_ALLOW && decision.rule)
			status = sb_gate_covered(walk->job, &wishes[i], entry, walk->covered);
	}
	if (status == 0 && entry->facts.type == SB_FILES_DIRECTORY)
		status = each(walk, entry, to, may_move);
	return status;
}

int sb_subtree_may_move(struct sb_job *job, const struct sb_place *place,
			struct sb_covered *covered)
{
	struct walk walk = {.job = job, .covered = covered};

	if (sb_policy_mode(job->view->policy) == SB_MODE_DANGER_FULL_ACCESS ||
	    !sb_files_has_wildcard(job->view->policy, 1u << SB_READ | 1u << SB_DELETE))
		return 0; /* those without wildcards were found by sb_decide_beneath() */
	return each(&walk, place, NULL, may_move);
}

/* --- copying -------------------------------------------------------------------------------------- */

/* A file that is copied piece by piece. */
struct entry {
	struct sb_job *job;
	const struct sb_place *from;
	const struct sb_stream *stream;
};

static int is_still_sealed(const void *context)
{
	const struct entry *entry = context;

	return sb_gate_entry(entry->job, entry->from, entry->stream, NULL, 0, NULL) < 0 ? -ESTALE
											: 0;
}

/* Of what was sealed by its bytes, these are compared. */
static size_t looks_at(const struct sb_job *job)
{
	return job->whole && job->whole->sealed && job->whole->seal.by_bytes ? SB_SEAL_BYTES
									     : LOOK_BYTES;
}

int sb_copy_file(struct sb_job *job, const struct sb_place *from, struct sb_place *to)
{
	struct sb_files_backend *backend = job->view->backend;
	struct sb_replacement with = {.sync = !job->view->options.no_sync,
				      .mode = from->facts.mode & 0777,
				      .cancel = job->caller ? job->caller->cancel : NULL};
	const size_t limit = looks_at(job);
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(limit);
	SB_AUTO_BUF struct sb_buf old = SB_BUF(LOOK_BYTES);
	struct sb_stream stream;
	const struct entry entry = {job, from, &stream};
	int status = to->exists ? sb_content_check(job, to, "write") : 0;

	if (status == 0)
		status = sb_content_check(job, from, "read");
	if (status < 0)
		return status;
	status = backend->ops->open(backend, from, &stream);
	if (status < 0)
		return sb_refuse_errno(job->err, status, "read", from->path);
	if (stream.bytes <= limit) {
		status = sb_content_stream(job, from, &stream, limit, &bytes);
		with.data = bytes.data;
		with.length = bytes.length;
	} else {
		with.source = &stream;
		with.check = is_still_sealed;
		with.context = &entry;
	}
	if (status == 0)
		status = sb_gate_entry(job, from, &stream, with.data, with.length, NULL);
	if (status == 0 && to->exists && to->facts.bytes <= LOOK_BYTES &&
	    !sb_gate_hides(job->view, to->path))
		status = sb_content_bytes(job, to, LOOK_BYTES, &old);
	if (status == 0)
		status = sb_gate_content(
			job, to, from,
			(struct sb_guard_bytes){to->exists ? old.data : NULL, old.length},
			(struct sb_guard_bytes){with.length <= LOOK_BYTES ? with.data : NULL,
						with.source ? stream.bytes : with.length});
	if (status == 0) {
		status = sb_files_replace(job->view, to, &with);
		if (status < 0)
			status = sb_refuse_errno(job->err, status, "write", to->path);
	}
	backend->ops->close(backend, &stream);
	return status;
}

static int copy_link(struct sb_job *job, const struct sb_place *from, const struct sb_place *to)
{
	struct sb_files_backend *backend = job->view->backend;
	char target[PATH_MAX];
	int status = backend->ops->read_link(backend, from, target, sizeof target);

	if (status == 0) {
		int entry = sb_gate_entry(job, from, NULL, NULL, 0, target);

		if (entry < 0)
			return entry;
		status = backend->ops->make_link(backend, to, target);
	}
	return status < 0 ? sb_refuse_errno(job->err, status, "copy link", from->path) : 0;
}

/* Where a link leads, as somebody is shown it. */
static int read_target(struct sb_job *job, const struct sb_place *link, char **out)
{
	struct sb_files_backend *backend = job->view->backend;
	int status;

	*out = malloc(PATH_MAX);
	status = *out ? backend->ops->read_link(backend, link, *out, PATH_MAX) : -ENOMEM;
	return status < 0 ? sb_refuse_errno(job->err, status, "read link", link->path) : 0;
}

/* Both ends of one entry by their names. */
static int gate_both(struct walk *walk, const struct sb_place *entry, const struct sb_place *there)
{
	const struct sb_intent look = {.op = SB_READ};
	struct sb_intent wish = {.op = SB_CREATE,
				 .content_later = true,
				 .deed = entry->facts.type == SB_FILES_DIRECTORY ? SB_DEED_MKDIR
					 : entry->facts.type == SB_FILES_LINK    ? SB_DEED_SYMLINK
										 : SB_DEED_WRITE,
				 .other = entry};
	SB_AUTO_FREE char *target = NULL; /* not on the stack: see each() */
	int status = sb_gate_covered(walk->job, &look, entry, walk->covered);

	if (status == 0 && entry->facts.type == SB_FILES_LINK)
		status = read_target(walk->job, entry, &target);
	wish.leads_to = target;
	return status < 0 ? status : sb_gate_covered(walk->job, &wish, there, walk->covered);
}

/* Where entry will be: beside it there will be what is beside it here. */
static int look_ahead(const struct walk *walk, const struct sb_place *entry,
		      const struct sb_place *to, struct sb_place *out)
{
	size_t head = strlen(to->path), tail = strlen(entry->name);

	*out = SB_PLACE_EMPTY;
	if (head + tail + 2 > sizeof out->path)
		return sb_refuse_errno(walk->job->err, ENAMETOOLONG, "copy to", to->path);
	out->directory = entry->directory;
	out->facts = to->facts;
	out->ahead = true;
	memcpy(out->name, entry->name, tail + 1);
	memcpy(out->path, to->path, head);
	out->path[head] = '/';
	memcpy(out->path + head + 1, entry->name, tail + 1);
	return 0;
}

/* What lands where contents are looked at.  Others need not be read twice. */
static int may_land(struct sb_job *job, const struct sb_place *from, const struct sb_place *to)
{
	struct sb_files_backend *backend = job->view->backend;
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(LOOK_BYTES);
	struct sb_stream stream;
	int status = sb_gate_checks(job->view, to) ? sb_content_check(job, from, "read") : 1;

	if (status != 0)
		return status < 0 ? status : 0;
	status = backend->ops->open(backend, from, &stream);
	if (status < 0)
		return sb_refuse_errno(job->err, status, "read", from->path);
	if (stream.bytes <= LOOK_BYTES)
		status = sb_content_stream(job, from, &stream, LOOK_BYTES, &bytes);
	if (status == 0)
		status = sb_gate_content(
			job, to, from, (struct sb_guard_bytes){0},
			(struct sb_guard_bytes){stream.bytes <= LOOK_BYTES ? bytes.data : NULL,
						stream.bytes <= LOOK_BYTES ? bytes.length
									   : stream.bytes});
	backend->ops->close(backend, &stream);
	return status;
}

static int may_copy(struct walk *walk, struct sb_place *entry, const struct sb_place *to)
{
	SB_AUTO_FREE struct sb_place *there = malloc(sizeof *there);
	int status = there ? look_ahead(walk, entry, to, there) : sb_refuse_memory(walk->job->err);

	if (status == 0)
		status = gate_both(walk, entry, there);
	if (status < 0)
		return status;
	switch (entry->facts.type) {
	case SB_FILES_FILE:
		return may_land(walk->job, entry, there);
	case SB_FILES_DIRECTORY:
		return each(walk, entry, there, may_copy);
	case SB_FILES_LINK:
		return 0;
	default:
		return sb_content_check(walk->job, entry, "copy");
	}
}

/*
 * SECURITY: all of a copy is asked about before any of it is made.
 *
 * Danger: a call that stops half way leaves a tree that nobody wanted, and cannot be repeated with the
 * answer: its target is there by then.
 * Price: the tree is gone through twice, and files with guarded names are read twice.
 * Held by: tests/mcp/guarded.py, tests/unit/test_files_gate.c
 */
int sb_subtree_may_copy(struct sb_job *job, const struct sb_place *from, const struct sb_place *to,
			struct sb_covered *covered)
{
	struct walk walk = {.job = job, .covered = covered};
	struct sb_files_caller quiet;
	struct sb_job ahead = *job;

	/* notes are for what has landed */
	if (job->caller && job->caller->size >= sizeof quiet) {
		quiet = *job->caller;
		quiet.note = NULL;
		ahead.caller = &quiet;
	}
	walk.job = &ahead;
	return each(&walk, from, to, may_copy);
}

/* entry's place in to, which was made.  Must be released. */
static int enter_copy(struct walk *walk, const struct sb_place *entry, const struct sb_place *to,
		      struct sb_place *out)
{
	struct sb_files_backend *backend = walk->job->view->backend;
	int status = backend->ops->enter(backend, to, entry->name, out);

	return status < 0 ? sb_refuse_errno(walk->job->err, status, "copy to", to->path) : 0;
}

static int fill_one(struct walk *walk, struct sb_place *entry, struct sb_place *there)
{
	int status;

	if (there->exists)
		return sb_refuse_errno(walk->job->err, EEXIST, "copy to", there->path);
	status = gate_both(walk, entry, there);
	if (status < 0)
		return status;
	switch (entry->facts.type) {
	case SB_FILES_FILE:
		return sb_copy_file(walk->job, entry, there);
	case SB_FILES_LINK:
		return copy_link(walk->job, entry, there);
	case SB_FILES_DIRECTORY:
		status = sb_gate_entry(walk->job, entry, NULL, NULL, 0, NULL);
		if (status < 0)
			return status;
		status = walk->job->view->backend->ops->mkdir(walk->job->view->backend, there,
							      entry->facts.mode & 0777);
		return status < 0 ? sb_refuse_errno(walk->job->err, status, "make directory",
						    there->path)
				  : 0;
	default:
		return sb_content_check(walk->job, entry, "copy");
	}
}

/* Directories first: a git directory is one as soon as it was when it was asked about. */
static int make_one(struct walk *walk, struct sb_place *entry, const struct sb_place *to)
{
	SB_AUTO_FREE struct sb_place *there = NULL;
	int status;

	if (!sb_place_is_directory(entry))
		return 0;
	there = malloc(sizeof *there);
	if (!there)
		return sb_refuse_memory(walk->job->err);
	status = enter_copy(walk, entry, to, there);
	if (status < 0)
		return status;
	status = fill_one(walk, entry, there);
	walk->job->view->backend->ops->release(walk->job->view->backend, there);
	return status;
}

static int copy_all(struct walk *walk, const struct sb_place *from, const struct sb_place *to);

static int copy_one(struct walk *walk, struct sb_place *entry, const struct sb_place *to)
{
	SB_AUTO_FREE struct sb_place *there = malloc(sizeof *there);
	int status = there ? enter_copy(walk, entry, to, there) : sb_refuse_memory(walk->job->err);

	if (status < 0)
		return status;
	if (sb_place_is_directory(entry) && sb_place_is_directory(there))
		status = copy_all(walk, entry, there);
	else
		status = fill_one(walk, entry, there);
	walk->job->view->backend->ops->release(walk->job->view->backend, there);
	return status;
}

static int copy_all(struct walk *walk, const struct sb_place *from, const struct sb_place *to)
{
	int status = each(walk, from, to, make_one);

	return status < 0 ? status : each(walk, from, to, copy_one);
}

int sb_subtree_copy(struct sb_job *job, const struct sb_place *from, const struct sb_place *to,
		    struct sb_covered *covered)
{
	struct walk walk = {.job = job, .covered = covered, .counted = true};

	return copy_all(&walk, from, to);
}
