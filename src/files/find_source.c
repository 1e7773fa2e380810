#include "files/find_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "path/path.h"

/* --- the backend in memory, as the engine sees one ------------------------------------------- */

struct memory_file {
	struct sb_stream stream;
	uint64_t at;
};

static struct sb_files_backend *backend_of(const struct sb_find *find)
{
	return find->view->backend;
}

/* Name by name from the root, no link followed. */
static int memory_open_directory(void *context, const char *path, sb_search_handle *out)
{
	const struct sb_find *find = context;
	struct sb_files_backend *backend = backend_of(find);
	struct sb_place *at = malloc(sizeof *at), next;
	int status = at ? backend->ops->resolve(backend, NULL, find->base, SB_RESOLVE_FOLLOW, at)
			: -ENOMEM;

	if (status < 0) {
		free(at);
		return status;
	}
	for (size_t length; status == 0 && *path; path += length, path += *path == '/') {
		char name[NAME_MAX + 1];

		length = strcspn(path, "/");
		if (length > NAME_MAX) {
			status = -ENAMETOOLONG;
			break;
		}
		memcpy(name, path, length);
		name[length] = '\0';
		status = backend->ops->enter(backend, at, name, &next);
		if (status < 0)
			break;
		backend->ops->release(backend, at);
		*at = next;
		if (!at->exists || at->facts.type != SB_FILES_DIRECTORY)
			status = at->exists ? -ENOTDIR : -ENOENT;
	}
	if (status == 0 && (!at->exists || at->facts.type != SB_FILES_DIRECTORY))
		status = -ENOTDIR;
	if (status < 0) {
		backend->ops->release(backend, at);
		free(at);
		return status;
	}
	*out = (sb_search_handle)at;
	return 0;
}

static enum sb_search_kind kind_of(enum sb_files_type type)
{
	static const enum sb_search_kind kinds[] = {SB_SEARCH_FILE, SB_SEARCH_DIRECTORY,
						    SB_SEARCH_LINK, SB_SEARCH_OTHER};

	return kinds[type];
}

struct hand_on {
	sb_search_listed listed;
	void *to;
};

static int hand_on(void *context, const struct sb_found *found)
{
	const struct hand_on *on = context;

	return on->listed(on->to, found->name, kind_of(found->type));
}

static int memory_list(void *context, sb_search_handle directory, sb_search_listed listed, void *to)
{
	struct sb_files_backend *backend = backend_of(context);
	struct hand_on on = {listed, to};

	return backend->ops->list(backend, (struct sb_place *)directory, false, hand_on, &on);
}

static void memory_close_directory(void *context, sb_search_handle directory)
{
	struct sb_files_backend *backend = backend_of(context);

	backend->ops->release(backend, (struct sb_place *)directory);
	free((struct sb_place *)directory);
}

static int memory_open_file(void *context, sb_search_handle directory, const char *name,
			    sb_search_handle *out)
{
	struct sb_files_backend *backend = backend_of(context);
	struct memory_file *file = calloc(1, sizeof *file);
	struct sb_place place;
	int status = file ? backend->ops->enter(backend, (struct sb_place *)directory, name, &place)
			  : -ENOMEM;

	if (status == 0) {
		status = place.exists ? backend->ops->open(backend, &place, &file->stream)
				      : -ENOENT;
		backend->ops->release(backend, &place);
	}
	if (status < 0) {
		free(file);
		return status;
	}
	*out = (sb_search_handle)file;
	return 0;
}

static ssize_t memory_read(void *context, sb_search_handle handle, void *into, size_t length)
{
	struct sb_files_backend *backend = backend_of(context);
	struct memory_file *file = (struct memory_file *)handle;
	ssize_t got = backend->ops->read(backend, &file->stream, into, length, file->at);

	if (got > 0)
		file->at += (uint64_t)got;
	return got;
}

static void memory_close_file(void *context, sb_search_handle handle)
{
	struct sb_files_backend *backend = backend_of(context);

	backend->ops->close(backend, &((struct memory_file *)handle)->stream);
	free((struct memory_file *)handle);
}

static const struct sb_search_backend memory_backend = {
	.open_directory = memory_open_directory,
	.list = memory_list,
	.close_directory = memory_close_directory,
	.open_file = memory_open_file,
	.read = memory_read,
	.close_file = memory_close_file,
};

/* --- sight -------------------------------------------------------------------------------------- */

static enum sb_sight sight(void *context, const char *path, enum sb_search_kind kind)
{
	const struct sb_find *find = context;
	const struct sb_policy *policy = find->view->policy;
	char whole[2 * PATH_MAX];
	size_t length = (size_t)snprintf(whole, sizeof whole, "%s%s%s",
					 find->base[1] || !*path ? find->base : "",
					 *path ? "/" : "", path);

	if (length >= PATH_MAX)
		return SB_SIGHT_NONE;
	if (sb_judge_read(&find->view->grounds, whole) != SB_ALLOW)
		return SB_SIGHT_NONE;
	if (kind == SB_SEARCH_DIRECTORY && !find->globs_hide &&
	    sb_decide_beneath(policy, SB_READ, whole).verdict == SB_ALLOW)
		return SB_SIGHT_ALL;
	return SB_SIGHT_THIS;
}

/* Rules with wildcards mean names anywhere: where one hides, every name must be looked at. */
static bool has_hiding_glob(const struct sb_policy *policy)
{
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);

		if (rule->access.verdict[SB_READ] != SB_ALLOW && strpbrk(rule->pattern, "*?[\\"))
			return true;
	}
	return false;
}

/* --- opening ------------------------------------------------------------------------------------ */

static void use_backend(struct sb_find *find, int directory)
{
	const struct sb_files *view = find->view;

	if (view->options.backend) {
		find->source.backend = &memory_backend;
		find->source.context = find;
		return;
	}
	find->disk = (struct sb_search_disk){.root = directory,
					     .one_mount = view->options.mounts == SB_FILES_ASK,
					     .one_link = view->options.hard_links == SB_FILES_ASK};
	find->source.backend = &sb_search_disk_backend;
	find->source.context = &find->disk;
}

void sb_find_root(const struct sb_files *view, const struct sb_root *root, struct sb_find *out)
{
	*out = (struct sb_find){.view = view, .root = root, .place = SB_PLACE_EMPTY};
	memcpy(out->base, root->path, strlen(root->path) + 1);
	use_backend(out, root->directory);
}

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
		use_backend(find, find->root->directory);
		return 0;
	}
	parent = file ? sb_path_parent(path) : strdup(path);
	if (!parent)
		return -ENOMEM;
	memcpy(find->base, parent, strlen(parent) + 1);
	free(parent);
	if (file)
		memcpy(find->start, find->place.name, strlen(find->place.name) + 1);
	use_backend(find, file ? find->place.directory : find->place.object);
	return 0;
}

int sb_find_open(struct sb_job *job, const char *path, struct sb_find *out)
{
	const struct sb_wish wish = {.op = SB_READ};
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
		status = sb_refuse(job->err, SB_FILES_NOT_A_FILE, 0,
				   "cannot search '%s': it is a FIFO, a device or a socket",
				   out->place.path);
	if (status == 0) {
		out->root = sb_files_root_of(job->view, out->place.path);
		/* beyond a mount point the engine would not go by itself */
		if (out->root && out->root->mount != out->place.facts.mount)
			out->root = NULL;
		out->globs_hide = has_hiding_glob(job->view->policy);
		out->source.sight = sight;
		out->source.sight_context = out;
		if (split(out) < 0)
			status = sb_refuse(job->err, SB_FILES_NO_MEMORY, 0, "out of memory");
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
