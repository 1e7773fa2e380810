/*
 * memory_source.h - a small tree in memory as the source of a search.
 *
 * For tests of what a search makes of names and contents; the disk has tests of its own.
 */
#ifndef UNIT_MEMORY_SOURCE_H
#define UNIT_MEMORY_SOURCE_H

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "search/search.h"

struct memory_file {
	const char *path; /* directories are what stands before a slash */
	const char *text;
	size_t length; /* 0: text is a string */
};

struct memory_tree {
	const struct memory_file *files;
	size_t count;
	atomic_uint open; /* handles; 0 after a search */
};

struct memory_handle {
	const struct memory_file *file;
	char path[512];
	size_t at;
};

static inline bool memory_is_beneath(const char *directory, const char *path)
{
	size_t length = strlen(directory);

	return !length || (strncmp(directory, path, length) == 0 && path[length] == '/');
}

static inline int memory_open(struct memory_tree *tree, const char *path,
			      const struct memory_file *file, sb_search_handle *out)
{
	struct memory_handle *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return -ENOMEM;
	strncpy(handle->path, path, sizeof(handle->path) - 1);
	handle->file = file;
	atomic_fetch_add(&tree->open, 1);
	*out = (sb_search_handle)handle;
	return 0;
}

static inline int memory_open_directory(void *context, const char *path, sb_search_handle *out)
{
	struct memory_tree *tree = context;

	for (size_t i = 0; i < tree->count; i++) {
		if (memory_is_beneath(path, tree->files[i].path))
			return memory_open(tree, path, NULL, out);
		if (strcmp(path, tree->files[i].path) == 0)
			return -ENOTDIR;
	}
	return -ENOENT;
}

static inline int memory_list(void *context, sb_search_handle directory, sb_search_listed listed,
			      void *to)
{
	struct memory_tree *tree = context;
	const char *path = ((struct memory_handle *)directory)->path;
	size_t skip = *path ? strlen(path) + 1 : 0;
	char last[256] = "";

	for (size_t i = tree->count; i-- > 0;) { /* backwards: the walk must sort */
		const char *rest = tree->files[i].path + skip;
		size_t length = memory_is_beneath(path, tree->files[i].path) ? strcspn(rest, "/")
									     : 0;
		char name[256] = "";
		int status;

		memcpy(name, rest, length);
		if (!length || strcmp(name, last) == 0)
			continue;
		memcpy(last, name, sizeof(last));
		status = listed(to, name, rest[length] ? SB_SEARCH_DIRECTORY : SB_SEARCH_FILE);
		if (status)
			return status;
	}
	return 0;
}

static inline int memory_open_file(void *context, sb_search_handle directory, const char *name,
				   sb_search_handle *out)
{
	struct memory_tree *tree = context;
	const char *path = ((struct memory_handle *)directory)->path;
	size_t skip = *path ? strlen(path) + 1 : 0;

	for (size_t i = 0; i < tree->count; i++)
		if (memory_is_beneath(path, tree->files[i].path) &&
		    strcmp(tree->files[i].path + skip, name) == 0)
			return memory_open(tree, name, &tree->files[i], out);
	return -ENOENT;
}

/* In pieces of odd sizes, as a slow disk might. */
static inline ssize_t memory_read(void *context, sb_search_handle file, void *into, size_t length)
{
	struct memory_handle *handle = (struct memory_handle *)file;
	size_t all = handle->file->length ? handle->file->length : strlen(handle->file->text);
	size_t left = all - handle->at, some = left < 4097 ? left : 4097;

	(void)context;
	some = some < length ? some : length;
	memcpy(into, handle->file->text + handle->at, some);
	handle->at += some;
	return (ssize_t)some;
}

static inline void memory_close(void *context, sb_search_handle handle)
{
	struct memory_tree *tree = context;

	atomic_fetch_sub(&tree->open, 1);
	free((void *)handle);
}

static const struct sb_search_backend memory_backend = {
	.open_directory = memory_open_directory,
	.list = memory_list,
	.close_directory = memory_close,
	.open_file = memory_open_file,
	.read = memory_read,
	.close_file = memory_close,
};

#endif
