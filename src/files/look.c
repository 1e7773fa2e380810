/*
 * look.c - what is there: stat, exists, list, tree.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "files/entries.h"
#include "files/subtree.h"
#include "files/view.h"

static const struct sb_intent look_wish = {.op = SB_READ};

static int find_to_look(struct sb_job *job, const char *path, unsigned flags, struct sb_place *out)
{
	int status = sb_job_find(job, path, flags, out);

	if (status < 0)
		return status;
	status = sb_gate(job, &look_wish, out);
	if (status < 0)
		sb_job_release(job, out);
	return status;
}

int sb_files_stat(struct sb_files *view, const struct sb_files_caller *caller, const char *path,
		  bool follow, struct sb_files_info *out, struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_STAT, caller, err};
	struct sb_place place;
	int status = find_to_look(&job, path, follow ? SB_RESOLVE_FOLLOW : 0, &place);

	if (status < 0)
		return status;
	status = sb_job_must_exist(&job, &place, "look at");
	if (status == 0) {
		const struct sb_facts *facts = &place.facts;

		*out = (struct sb_files_info){
			.type = facts->type,
			.bytes = facts->bytes,
			.mode = facts->mode,
			.uid = facts->uid,
			.gid = facts->gid,
			.links = facts->links,
			.modified = facts->modified,
			.accessed = facts->accessed,
			.changed = facts->changed,
			.born = facts->born,
			.access = sb_gate_access(view, &place),
		};
		memcpy(out->path, place.path, sizeof out->path);
	}
	sb_job_release(&job, &place);
	return status;
}

int sb_files_exists(struct sb_files *view, const struct sb_files_caller *caller, const char *path,
		    bool *out_exists, struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_STAT, caller, err};
	struct sb_place place;
	int status = find_to_look(&job, path, SB_RESOLVE_FOLLOW, &place);

	if (status < 0)
		return status;
	if (place.error && place.error != ENOENT && place.error != ENOTDIR)
		status = sb_refuse_errno(err, place.error, "look at", place.path);
	else
		*out_exists = !place.error && place.exists &&
			      (!place.must_be_directory || place.facts.type == SB_FILES_DIRECTORY);
	sb_job_release(&job, &place);
	return status;
}

int sb_files_check(struct sb_files *view, enum sb_op op, const char *path,
		   enum sb_verdict *out_verdict, bool *out_checked, struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_STAT, NULL, err};
	struct sb_place place;
	int status = sb_job_find(
		&job, path, SB_RESOLVE_PARENTS | (op == SB_DELETE ? 0 : SB_RESOLVE_FOLLOW), &place);

	if (status < 0)
		return status;
	*out_verdict = sb_gate_tell(&job, op, &place, out_checked);
	sb_job_release(&job, &place);
	return 0;
}

int sb_files_locate(struct sb_files *view, const char *path, bool follow, char out_path[PATH_MAX],
		    char out_relative[PATH_MAX], struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_STAT, NULL, err};
	const struct sb_root *root;
	struct sb_place place;
	int status = sb_job_find(&job, path, follow ? SB_RESOLVE_FOLLOW : 0, &place);
	size_t skip;

	if (status < 0)
		return status;
	root = sb_files_root_of(view, place.path);
	memcpy(out_path, place.path, strlen(place.path) + 1);
	out_relative[0] = '\0';
	if (root && strcmp(root->path, place.path) == 0) {
		memcpy(out_relative, ".", 2);
	} else if (root) {
		skip = strlen(root->path);
		skip += place.path[skip] == '/'; /* the root "/" has its slash already */
		memcpy(out_relative, place.path + skip, strlen(place.path + skip) + 1);
	}
	sb_job_release(&job, &place);
	return 0;
}

/* --- list and tree ----------------------------------------------------------------------------- */

struct listing {
	struct sb_job *job;
	const struct sb_files_list_request *request;
	struct sb_entry_list list; /* of the result */
	size_t limit;
	bool truncated;
	/* of the name that is looked at; so much of it is the directory's, with its slash */
	size_t directory;
	char path[PATH_MAX + NAME_MAX + 2];
	char *relative; /* of a tree: the way from its top, PATH_MAX */
};

/* Names of one directory, before they are sorted. */
struct gathering {
	struct listing *listing;
	struct sb_entry_list list;
};

#define ENOUGH 1 /* of a callback: stop, there are more */

static int gather(void *context, const struct sb_found *found)
{
	struct gathering *gathering = context;
	struct listing *listing = gathering->listing;
	size_t length = strnlen(found->name, NAME_MAX);

	if (gathering->list.count >= listing->limit)
		return ENOUGH;
	if (gathering->list.count % 1024 == 1023 && sb_job_cancelled(listing->job))
		return -ECANCELED;
	memcpy(listing->path + listing->directory, found->name, length);
	listing->path[listing->directory + length] = '\0';
	if (sb_gate_hides(listing->job->view, listing->path))
		return 0;
	return sb_entry_list_add(&gathering->list, found, 0);
}

/* All names in place, sorted, into list (to be released). */
static int gather_sorted(struct listing *listing, const struct sb_place *place,
			 struct sb_entry_list *out)
{
	struct sb_files_backend *backend = listing->job->view->backend;
	struct gathering gathering = {.listing = listing};
	enum sb_files_sort sort = listing->request->sort;
	bool details = listing->request->details || sort != SB_FILES_BY_NAME;
	int status;

	listing->directory = strlen(place->path);
	memcpy(listing->path, place->path, listing->directory);
	if (place->path[1])
		listing->path[listing->directory++] = '/';
	sb_entry_list_init(&gathering.list);
	status = backend->ops->list(backend, place, details, gather, &gathering);
	if (status == ENOUGH) {
		listing->truncated = true;
		status = 0;
	}
	if (status < 0) {
		sb_entry_list_done(&gathering.list);
		return status;
	}
	sb_entry_list_sort(&gathering.list, sort);
	*out = gathering.list;
	return 0;
}

static int fail_list(struct sb_job *job, int error, const char *path)
{
	return sb_refuse_errno(job->err, error, "list", path);
}

/* Find the directory, let it through the gate, prepare the listing. */
static int begin(struct sb_job *job, const struct sb_files_list_request *request,
		 struct listing *listing, struct sb_place *place)
{
	size_t limit = job->view->options.entry_limit;
	int status = find_to_look(job, request->path, SB_RESOLVE_FOLLOW, place);

	if (status < 0)
		return status;
	status = sb_job_must_exist(job, place, "list");
	if (status == 0 && place->facts.type != SB_FILES_DIRECTORY)
		status = fail_list(job, ENOTDIR, place->path);
	if (status < 0) {
		sb_job_release(job, place);
		return status;
	}
	*listing = (struct listing){.job = job, .request = request};
	listing->limit = request->limit && request->limit < limit ? request->limit : limit;
	sb_entry_list_init(&listing->list);
	return 0;
}

static int end(struct listing *listing, struct sb_place *place, int status,
	       struct sb_files_entries *out)
{
	struct sb_job *job = listing->job;
	struct sb_files_entries entries = {0};

	if (status == 0)
		status = sb_entry_list_finish(&listing->list, &entries);
	if (status < 0) {
		status = fail_list(job, status, place->path);
	} else {
		entries.truncated = listing->truncated;
		memcpy(entries.path, place->path, sizeof entries.path);
		*out = entries;
		status = 0;
	}
	sb_entry_list_done(&listing->list);
	sb_job_release(job, place);
	return status;
}

int sb_files_list(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_list_request *request, struct sb_files_entries *out,
		  struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_LIST, caller, err};
	struct listing listing;
	struct sb_place place;
	int status = begin(&job, request, &listing, &place);

	if (status < 0)
		return status;
	status = gather_sorted(&listing, &place, &listing.list);
	return end(&listing, &place, status, out);
}

static int add_directory(struct listing *listing, const struct sb_place *place, size_t length,
			 uint32_t depth);

static bool is_root(const struct sb_files *view, const char *path)
{
	const struct sb_root *root = sb_files_root_of(view, path);

	return root && strcmp(root->path, path) == 0;
}

/* May and can we look into this one?  Else it is named, and cut. */
static int descend(struct listing *listing, const struct sb_place *place, const char *name,
		   size_t length, uint32_t depth, bool *out_cut)
{
	struct sb_files *view = listing->job->view;
	SB_AUTO_FREE struct sb_place *next = NULL; /* a stack would not hold one per level */
	int status;

	*out_cut = true;
	if (depth + 1 >= SB_SUBTREE_DEPTH ||
	    (listing->request->max_depth && depth + 1 >= listing->request->max_depth))
		return 0;
	next = malloc(sizeof *next);
	if (!next)
		return -ENOMEM;
	status = view->backend->ops->enter(view->backend, place, name, next);
	if (status < 0) /* gone, or its path is too long to decide about */
		return status == -ENOMEM || status == -EMFILE ? status : 0;
	if (next->exists && next->facts.type == SB_FILES_DIRECTORY && !next->facts.procfs &&
	    sb_gate_read(view, next->path) == SB_ALLOW &&
	    (next->facts.mount == place->facts.mount || view->options.mounts == SB_FILES_ALLOW ||
	     is_root(view, next->path))) {
		status = add_directory(listing, next, length, depth + 1);
		*out_cut = status == -EACCES;
		if (status == -EACCES || status == -ENOENT)
			status = 0;
	}
	view->backend->ops->release(view->backend, next);
	return status;
}

static int add_one(struct listing *listing, const struct sb_place *place,
		   const struct sb_entry_list *names, size_t i, size_t length, uint32_t depth)
{
	char *relative = listing->relative;
	const struct sb_files_list_request *request = listing->request;
	const struct sb_entry_item *item = &names->items[i];
	const char *name = sb_entry_name(names, i);
	struct sb_found found = {.name = name, .type = item->entry.type};
	size_t size = strlen(name), here = listing->list.count;
	bool cut = false;
	int status;

	if (length + size + 2 > PATH_MAX)
		return 0;
	if (length)
		relative[length++] = '/';
	memcpy(relative + length, name, size + 1);
	length += size;
	if (request->keep && !request->keep(request->context, relative, item->entry.type))
		return 0;
	if (here >= listing->limit) {
		listing->truncated = true;
		return ENOUGH;
	}
	found.facts.bytes = item->entry.bytes;
	found.facts.modified = item->entry.modified;
	found.target = item->target_at ? names->text.data + item->target_at : NULL;
	status = sb_entry_list_add(&listing->list, &found, depth);
	if (status == 0 && item->entry.type == SB_FILES_DIRECTORY)
		status = descend(listing, place, name, length, depth, &cut);
	if (status >= 0)
		listing->list.items[here].entry.cut =
			cut || (status == ENOUGH && item->entry.type == SB_FILES_DIRECTORY);
	return status;
}

static int add_directory(struct listing *listing, const struct sb_place *place, size_t length,
			 uint32_t depth)
{
	struct sb_entry_list names;
	int status = gather_sorted(listing, place, &names);

	if (status < 0)
		return status;
	for (size_t i = 0; i < names.count && status == 0; i++) {
		status = add_one(listing, place, &names, i, length, depth);
		if (status == 0 && sb_job_cancelled(listing->job))
			status = -ECANCELED;
	}
	sb_entry_list_done(&names);
	return status;
}

int sb_files_tree(struct sb_files *view, const struct sb_files_caller *caller,
		  const struct sb_files_list_request *request, struct sb_files_entries *out,
		  struct sb_files_error *err)
{
	struct sb_job job = {view, SB_FILES_TREE, caller, err};
	char relative[PATH_MAX] = "";
	struct listing listing;
	struct sb_place place;
	int status = begin(&job, request, &listing, &place);

	if (status < 0)
		return status;
	listing.relative = relative;
	status = add_directory(&listing, &place, 0, 0);
	return end(&listing, &place, status == ENOUGH ? 0 : status, out);
}
