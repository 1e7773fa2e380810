/*
 * walk_begin.c - where a walk begins: a directory, or one file; and what git ignores above it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "search/walk_work.h"

static int cannot_start(const char *start, int error, struct sb_error *err)
{
	if (error == ENOENT || error == ENOTDIR || error == ELOOP)
		return sb_fail(err, SB_E_MISSING, error, "cannot search '%s'", start);
	return sb_fail(err, SB_E_SYSTEM, error, "cannot search '%s'", start);
}

struct looked_for {
	const char *name;
	enum sb_search_kind kind;
};

static int is_it(void *to, const char *name, enum sb_search_kind kind)
{
	struct looked_for *it = to;

	if (strcmp(name, it->name) != 0)
		return 0;
	it->kind = kind;
	return 1;
}

/* A negative errno unless the folder, open, has a regular file of that name.  Opens nothing. */
static int has_file(const struct sb_folder *folder, const char *name)
{
	const struct sb_search_source *source = folder->source;
	struct looked_for it = {.name = name};
	int status = source->backend->list(source->context, folder->handle, is_it, &it);

	if (status < 0)
		return status;
	return !it.kind ? -ENOENT : it.kind == SB_SEARCH_FILE ? 0 : -ELOOP;
}

/* The start is one file: work as if its directory had nothing else. */
static int begin_with_file(struct sb_walk *walk, const char *start, struct sb_ignore_level *level,
			   struct sb_error *err)
{
	const char *slash = strrchr(start, '/');
	SB_AUTO_FREE char *parent = strndup(start, slash ? (size_t)(slash - start) : 0);
	struct sb_folder *folder = parent ? sb_folder_new(walk->source, parent, 0, false, level)
					  : NULL;
	struct sb_folder_name name = {.name = (char *)(slash ? slash + 1 : start),
				      .kind = SB_SEARCH_FILE,
				      .wanted = true};
	struct sb_work_cut cut = {.walk = walk, .folder = folder};
	int status;

	cut.first.next = cut.first.previous = &cut.first;
	if (!folder || !sb_work_add_names(&cut, &name, 1)) {
		sb_folder_drop(folder);
		return sb_no_memory(err);
	}
	status = sb_folder_open(folder);
	if (status == 0) {
		atomic_fetch_add(&walk->open_folders, 1);
		status = has_file(folder, name.name);
	}
	sb_folder_drop(folder); /* the work holds it */
	if (status < 0) {
		sb_work_drop_all(walk, &cut.first);
		return cannot_start(start, -status, err);
	}
	walk->end.files = 1;
	walk->ends.next = cut.first.next;
	walk->ends.previous = cut.first.previous;
	walk->ends.next->previous = walk->ends.previous->next = &walk->ends;
	return SB_OK;
}

static bool is_seen(const struct sb_search_source *source, const char *path,
		    enum sb_search_kind kind, bool *out_all)
{
	enum sb_sight sight = source->sight ? source->sight(source->sight_context, path, kind)
					    : SB_SIGHT_ALL;

	*out_all = sight == SB_SIGHT_ALL;
	return sight != SB_SIGHT_NONE;
}

static int begin_with_directory(struct sb_walk *walk, const char *start,
				struct sb_ignore_level *level, bool all_seen, struct sb_error *err)
{
	struct sb_folder *folder = sb_folder_new(walk->source, start, 0, all_seen, level);
	struct sb_work *work = folder ? sb_work_new(folder, 0) : NULL;

	sb_folder_drop(folder);
	if (!work)
		return sb_no_memory(err);
	sb_work_insert(&walk->ends, work);
	return SB_OK;
}

/* What counts above the start; the start's own level is read when it is listed. */
static int levels_above(const struct sb_walk *walk, const char *start, struct sb_ignore_level **out)
{
	const struct sb_search_scope *scope = walk->scope.scope;
	const char *slash = strrchr(start, '/');
	SB_AUTO_FREE char *parent = strndup(start, slash ? (size_t)(slash - start) : 0);
	struct sb_ignore_level *top;
	int status = sb_ignore_level_top(scope->global_ignore, scope->global_ignore_length, &top);

	if (status != SB_OK || !parent)
		return SB_E_NOMEM;
	if (!*start || (scope->flags & SB_SEARCH_IGNORED) ||
	    sb_ignore_level_reach(walk->source, top, parent, out, NULL) != SB_OK)
		*out = sb_ignore_level_hold(top);
	sb_ignore_level_drop(top);
	return SB_OK;
}

int sb_walk_begin(struct sb_walk *walk, const char *start, struct sb_error *err)
{
	const struct sb_search_source *source = walk->source;
	struct sb_ignore_level *level = NULL;
	sb_search_handle handle;
	bool all = false;
	int opened, status;

	if (!is_seen(source, start, SB_SEARCH_DIRECTORY, &all))
		return cannot_start(start, ENOENT, err);
	opened = source->backend->open_directory(source->context, start, &handle);
	if (opened < 0 && (opened != -ENOTDIR || !walk->visitor->visit || !*start))
		return cannot_start(start, -opened, err);
	if (opened < 0 && !is_seen(source, start, SB_SEARCH_FILE, &all))
		return cannot_start(start, ENOENT, err);
	if (levels_above(walk, start, &level) != SB_OK) {
		status = sb_no_memory(err);
	} else if (opened < 0) {
		status = begin_with_file(walk, start, level, err);
	} else {
		status = begin_with_directory(walk, start, level, all, err);
	}
	if (opened >= 0)
		source->backend->close_directory(source->context, handle);
	sb_ignore_level_drop(level);
	return status;
}
