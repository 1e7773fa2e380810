/*
 * find_backend.c - the files of a view as the search engine sees them: the disk, or another backend.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/find_source.h"

struct open_file {
	struct sb_stream stream;
	uint64_t at;
};

static struct sb_files_backend *backend_of(const struct sb_find *find)
{
	return find->view->backend;
}

/* Mounted inside a root, or no files at all: as the search of a disk leaves them out. */
static bool is_beyond(const struct sb_find *find, const struct sb_place *place)
{
	const struct sb_root *root = sb_files_root_of(find->view, place->path);

	return place->facts.procfs || (find->view->options.mounts == SB_FILES_ASK && root &&
				       root->mount != place->facts.mount);
}

/* Name by name from the root, no link followed. */
static int backend_open_directory(void *context, const char *path, sb_search_handle *out)
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
	if (status == 0 && is_beyond(find, at))
		status = -EXDEV;
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

static int backend_list(void *context, sb_search_handle directory, sb_search_listed listed,
			void *to)
{
	struct sb_files_backend *backend = backend_of(context);
	struct hand_on on = {listed, to};

	return backend->ops->list(backend, (struct sb_place *)directory, false, hand_on, &on);
}

static void backend_close_directory(void *context, sb_search_handle directory)
{
	struct sb_files_backend *backend = backend_of(context);

	backend->ops->release(backend, (struct sb_place *)directory);
	free((struct sb_place *)directory);
}

static int backend_open_file(void *context, sb_search_handle directory, const char *name,
			     sb_search_handle *out)
{
	struct sb_files_backend *backend = backend_of(context);
	struct open_file *file = calloc(1, sizeof *file);
	struct sb_place place;
	int status = file ? backend->ops->enter(backend, (struct sb_place *)directory, name, &place)
			  : -ENOMEM;

	if (status == 0) {
		status = !place.exists ? -ENOENT
			 : is_beyond(context, &place)
				 ? -EXDEV
				 : backend->ops->open(backend, &place, &file->stream);
		backend->ops->release(backend, &place);
	}
	if (status < 0) {
		free(file);
		return status;
	}
	*out = (sb_search_handle)file;
	return 0;
}

static ssize_t backend_read(void *context, sb_search_handle handle, void *into, size_t length)
{
	struct sb_files_backend *backend = backend_of(context);
	struct open_file *file = (struct open_file *)handle;
	ssize_t got = backend->ops->read(backend, &file->stream, into, length, file->at);

	if (got > 0)
		file->at += (uint64_t)got;
	return got;
}

static void backend_close_file(void *context, sb_search_handle handle)
{
	struct sb_files_backend *backend = backend_of(context);

	backend->ops->close(backend, &((struct open_file *)handle)->stream);
	free((struct open_file *)handle);
}

static const struct sb_search_backend backend_source = {
	.open_directory = backend_open_directory,
	.list = backend_list,
	.close_directory = backend_close_directory,
	.open_file = backend_open_file,
	.read = backend_read,
	.close_file = backend_close_file,
};

void sb_find_use_backend(struct sb_find *find, int directory)
{
	const struct sb_files *view = find->view;

	if (view->options.backend) {
		find->source.backend = &backend_source;
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
	sb_find_use_backend(out, root->directory);
}
