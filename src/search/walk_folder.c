#include "search/walk_folder.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"

enum {
	NAMES_BYTES = 64 * 1024 * 1024, /* of one directory: about two million names */
};

/* ---- life ---- */

struct sb_folder *sb_folder_new(const struct sb_search_source *source, const char *path,
				size_t depth, bool all_seen, struct sb_ignore_level *level)
{
	struct sb_folder *folder = calloc(1, sizeof(*folder));

	if (!folder)
		return NULL;
	atomic_init(&folder->holders, 1);
	folder->source = source;
	folder->path = strdup(path);
	folder->depth = depth;
	folder->all_seen = all_seen;
	folder->level = sb_ignore_level_hold(level);
	if (!folder->path) {
		sb_folder_drop(folder);
		return NULL;
	}
	return folder;
}

void sb_folder_hold(struct sb_folder *folder)
{
	atomic_fetch_add(&folder->holders, 1);
}

void sb_folder_drop(struct sb_folder *folder)
{
	if (!folder || atomic_fetch_sub(&folder->holders, 1) != 1)
		return;
	sb_folder_close(folder);
	sb_ignore_level_drop(folder->level);
	free(folder->path);
	free(folder);
}

int sb_folder_open(struct sb_folder *folder)
{
	int status = folder->source->backend->open_directory(folder->source->context, folder->path,
							     &folder->handle);

	folder->open = status >= 0;
	return status < 0 ? status : 0;
}

void sb_folder_close(struct sb_folder *folder)
{
	if (folder->open)
		folder->source->backend->close_directory(folder->source->context, folder->handle);
	folder->open = false;
}

char *sb_folder_path(const char *path, const char *name)
{
	size_t length = strlen(path), name_length = strlen(name);
	char *joined = malloc(length + name_length + 2), *at = joined;

	if (!joined)
		return NULL;
	if (length) {
		memcpy(at, path, length);
		at += length;
		*at++ = '/';
	}
	memcpy(at, name, name_length + 1);
	return joined;
}

/* ---- listing ---- */

struct listing {
	struct sb_buf text; /* kind, name, NUL; one after the other */
	size_t count;
	struct sb_ignore_place special; /* .gitignore and .git, if they are there */
};

static int listed(void *to, const char *name, enum sb_search_kind kind)
{
	struct listing *all = to;
	size_t length = strlen(name);

	if (name[0] == '.' && strcmp(name, ".gitignore") == 0)
		all->special.gitignore = true;
	else if (name[0] == '.' && strcmp(name, ".git") == 0)
		all->special.git = true;
	sb_buf_putc(&all->text, (char)kind);
	sb_buf_append(&all->text, name, length + 1);
	if (sb_buf_failed(&all->text))
		return -1;
	all->count++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct sb_folder_name *)a)->name,
		      ((const struct sb_folder_name *)b)->name);
}

static bool any_matches(const struct sb_glob *const *globs, size_t count, const char *path,
			bool directory)
{
	for (size_t i = 0; i < count; i++)
		if (sb_glob_match(globs[i], path, directory))
			return true;
	return false;
}

static bool may_hold(const struct sb_search_scope *scope, const char *path)
{
	for (size_t i = 0; i < scope->include_count; i++)
		if (sb_glob_may_hold(scope->includes[i], path))
			return true;
	return !scope->include_count;
}

/* By the name alone, before anything is looked up. */
static bool passed_over(const struct sb_search_scope *scope, const char *name)
{
	if (name[0] != '.')
		return false;
	return scope->flags & SB_SEARCH_VISIBLE ||
	       (!(scope->flags & SB_SEARCH_GIT) && strcmp(name, ".git") == 0);
}

static void choose(const struct sb_folder *folder, const struct sb_folder_scope *in,
		   const char *path, size_t length, struct sb_folder_name *one)
{
	const struct sb_search_scope *scope = in->scope;
	const struct sb_search_source *source = folder->source;
	const char *relative = path + in->start_length;
	bool directory = one->kind == SB_SEARCH_DIRECTORY;
	enum sb_sight sight = SB_SIGHT_ALL;

	if (passed_over(scope, one->name) ||
	    any_matches(scope->excludes, scope->exclude_count, relative, directory))
		return;
	one->wanted = (one->kind & in->kinds) &&
		      (!scope->include_count ||
		       any_matches(scope->includes, scope->include_count, relative, directory));
	one->enter = directory && may_hold(scope, relative);
	if (!one->wanted && !one->enter)
		return;
	if (!(scope->flags & SB_SEARCH_IGNORED) &&
	    sb_ignore_level_says(folder->level, path, length, directory))
		sight = SB_SIGHT_NONE;
	else if (!folder->all_seen && source->sight)
		sight = source->sight(source->sight_context, path, one->kind);
	if (sight == SB_SIGHT_NONE)
		one->wanted = one->enter = false;
	one->all_seen = sight == SB_SIGHT_ALL;
}

static int choose_all(struct sb_folder *folder, const struct sb_folder_scope *scope,
		      struct listing *list, struct sb_folder_names *out)
{
	SB_AUTO_BUF struct sb_buf path = SB_BUF(NAMES_BYTES);
	size_t prefix;
	char *at = list->text.data;

	sb_buf_puts(&path, folder->path);
	if (path.length)
		sb_buf_putc(&path, '/');
	prefix = path.length;
	/* patterns may be costly, and a directory may hold a million names */
	for (size_t i = 0; i < list->count && !atomic_load(scope->stopped); i++) {
		struct sb_folder_name one = {.kind = (enum sb_search_kind) * at, .name = at + 1};
		size_t length = strlen(one.name);

		at += length + 2;
		path.length = prefix;
		sb_buf_append(&path, one.name, length);
		if (sb_buf_failed(&path))
			return SB_E_NOMEM;
		choose(folder, scope, path.data, path.length, &one);
		if (one.enter && folder->depth + 1 >= scope->max_depth) {
			one.enter = false;
			out->skipped++;
		}
		if (!one.wanted && !one.enter)
			continue;
		out->files += one.wanted && one.kind == SB_SEARCH_FILE;
		out->all[out->count++] = one;
	}
	return SB_OK;
}

/* A .gitignore that cannot be read or is too large is passed over, and counted. */
static int enter_level(struct sb_folder *folder, struct sb_ignore_place place,
		       struct sb_folder_names *out)
{
	struct sb_ignore_level *level;
	int status;

	place.directory = folder->handle;
	place.path = folder->path;
	status = sb_ignore_level_enter(folder->source, folder->level, &place, &level, NULL);
	if (status == SB_E_NOMEM)
		return status;
	if (status != SB_OK) {
		out->unreadable++;
		return SB_OK;
	}
	sb_ignore_level_drop(folder->level);
	folder->level = level;
	return SB_OK;
}

int sb_folder_list(struct sb_folder *folder, const struct sb_folder_scope *scope,
		   struct sb_folder_names *out)
{
	const struct sb_search_source *source = folder->source;
	struct listing list = {.text = SB_BUF(NAMES_BYTES)};
	struct sb_folder_names names = {0};
	int listing, status = SB_OK;

	listing = source->backend->list(source->context, folder->handle, listed, &list);
	if (listing != 0)
		names.unreadable++; /* what was read until then still counts */
	names.all = calloc(list.count + 1, sizeof(*names.all));
	if (!names.all)
		status = SB_E_NOMEM;
	if (status == SB_OK && !(scope->scope->flags & SB_SEARCH_IGNORED))
		status = enter_level(folder, list.special, &names);
	if (status == SB_OK)
		status = choose_all(folder, scope, &list, &names);
	if (status != SB_OK) {
		free(names.all);
		sb_buf_done(&list.text);
		return status;
	}
	qsort(names.all, names.count, sizeof(*names.all), by_name);
	list.text.failed = false; /* a listing cut at the limit is still one */
	names.text = list.count ? sb_buf_take(&list.text) : NULL;
	*out = names;
	return SB_OK;
}

void sb_folder_names_done(struct sb_folder_names *names)
{
	free(names->all);
	free(names->text);
	*names = (struct sb_folder_names){0};
}
