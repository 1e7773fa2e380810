#include "files/subtree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
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
		return covered->whys[why->op] & 1u << why->why;
	for (size_t i = 0; i < covered->count; i++)
		if (covered->paths[i][0] == '0' + (int)why->op &&
		    strcmp(covered->paths[i] + 1, path) == 0)
			return true;
	return false;
}

static int cover(struct sb_covered *covered, const struct sb_files_error *why, const char *path)
{
	char **grown, *entry;

	if (why->why != SB_FILES_WHY_GUARDED && why->why != SB_FILES_WHY_RULE) {
		covered->whys[why->op] |= 1u << why->why;
		return 0;
	}
	grown = reallocarray(covered->paths, covered->count + 1, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	covered->paths = grown;
	entry = malloc(strlen(path) + 2);
	if (!entry)
		return -ENOMEM;
	entry[0] = (char)('0' + (int)why->op);
	memcpy(entry + 1, path, strlen(path) + 1);
	grown[covered->count++] = entry;
	return 0;
}

int sb_gate_covered(struct sb_job *job, const struct sb_wish *wish, const struct sb_place *place,
		    struct sb_covered *covered)
{
	struct sb_wish eased = *wish;
	struct sb_files_error why;
	struct sb_job quiet = {job->view, job->call, job->caller, &why};
	int status;

	eased.ignored_too = covered->whys[wish->op] & 1u << SB_FILES_WHY_IGNORED;
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
	size_t count, depth;
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
		return sb_refuse(walk->job->err, SB_FILES_NO_MEMORY, 0, "out of memory");
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
		else if (++walk->count > SB_SUBTREE_LIMIT)
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

static const struct sb_wish removal = {.op = SB_DELETE, .deed = SB_DEED_REMOVE};

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

/* --- moving ------------------------------------------------------------------------------------- */

/* What a rule says about this name by itself; that git ignores it, say, moves along. */
static int may_move(struct walk *walk, struct sb_place *entry, const struct sb_place *to)
{
	static const struct sb_wish wishes[] = {{.op = SB_READ}, {.op = SB_DELETE}};
	const struct sb_policy *policy = walk->job->view->policy;
	int status = 0;

	for (size_t i = 0; i < 2 && status == 0; i++) {
		struct sb_decision decision = sb_decide(policy, wishes[i].op, entry->path);

		if (decision.verdict != SB_ALLOW && decision.rule)
			status = sb_gate_covered(walk->job, &wishes[i], entry, walk->covered);
	}
	if (status == 0 && entry->facts.type == SB_FILES_DIRECTORY)
		status = each(walk, entry, to, may_move);
	return status;
}

/* Those without wildcards were found by sb_decide_beneath(). */
static bool has_wildcard_rule(const struct sb_policy *policy)
{
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);

		if ((rule->access.verdict[SB_READ] != SB_ALLOW ||
		     rule->access.verdict[SB_DELETE] != SB_ALLOW) &&
		    strpbrk(rule->pattern, "*?[\\"))
			return true;
	}
	return false;
}

int sb_subtree_may_move(struct sb_job *job, const struct sb_place *place,
			struct sb_covered *covered)
{
	struct walk walk = {.job = job, .covered = covered};

	if (sb_policy_mode(job->view->policy) == SB_MODE_DANGER_FULL_ACCESS ||
	    !has_wildcard_rule(job->view->policy))
		return 0;
	return each(&walk, place, NULL, may_move);
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
				      .mode = from->facts.mode & 0777,
				      .cancel = job->caller ? job->caller->cancel : NULL};
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
			       .deed = entry->facts.type == SB_FILES_DIRECTORY ? SB_DEED_MKDIR
				       : entry->facts.type == SB_FILES_LINK    ? SB_DEED_SYMLINK
									       : SB_DEED_WRITE};
	SB_AUTO_FREE struct sb_place *there = malloc(sizeof *there);
	int status = there ? sb_gate_covered(walk->job, &look, entry, walk->covered)
			   : sb_refuse(walk->job->err, SB_FILES_NO_MEMORY, 0, "out of memory");

	if (status < 0)
		return status;
	status = backend->ops->enter(backend, to, entry->name, there);
	if (status < 0)
		return sb_refuse_errno(walk->job->err, status, "copy to", to->path);
	if (there->exists)
		status = sb_refuse_errno(walk->job->err, EEXIST, "copy to", there->path);
	if (status == 0)
		status = sb_gate_covered(walk->job, &wish, there, walk->covered);
	if (status == 0)
		status = copy_entry(walk, entry, there);
	backend->ops->release(backend, there);
	return status;
}

int sb_subtree_copy(struct sb_job *job, const struct sb_place *from, const struct sb_place *to,
		    struct sb_covered *covered)
{
	struct walk walk = {.job = job, .covered = covered};

	return each(&walk, from, to, copy_one);
}
