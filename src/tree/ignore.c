#include "tree/ignore.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"

struct sb_ignore_level {
	struct sb_ignore_level *parent;
	atomic_uint holders;
	struct sb_ignore_rules *rules;   /* .gitignore, or the global patterns at the top */
	struct sb_ignore_rules *exclude; /* .git/info/exclude */
	size_t base;                     /* where paths relative to the directory begin */
	bool repository;                 /* what lies above does not count, but for the top */
	size_t text_bytes;               /* of the rules here and in the levels above */
};

/*
 * Of all levels that count for one name.  Rules take up to fifty times their text, and whoever
 * writes the project can link one large .gitignore into each of a thousand nested directories.
 */
#define CHAIN_BYTES ((size_t)2 * SB_IGNORE_BYTES)

static struct sb_ignore_level *level_new(struct sb_ignore_level *parent)
{
	struct sb_ignore_level *level = calloc(1, sizeof(*level));

	if (!level)
		return NULL;
	atomic_init(&level->holders, 1);
	level->parent = parent ? sb_ignore_level_hold(parent) : NULL;
	level->text_bytes = parent ? parent->text_bytes : 0;
	return level;
}

struct sb_ignore_level *sb_ignore_level_hold(struct sb_ignore_level *level)
{
	atomic_fetch_add(&level->holders, 1);
	return level;
}

void sb_ignore_level_drop(struct sb_ignore_level *level)
{
	while (level && atomic_fetch_sub(&level->holders, 1) == 1) {
		struct sb_ignore_level *parent = level->parent;

		sb_ignore_rules_free(level->rules);
		sb_ignore_rules_free(level->exclude);
		free(level);
		level = parent;
	}
}

int sb_ignore_level_top(const char *global, size_t length, struct sb_ignore_level **out)
{
	struct sb_ignore_level *level = level_new(NULL);

	if (level && global)
		level->rules = sb_ignore_rules_new(global, length);
	if (!level || (global && !level->rules)) {
		sb_ignore_level_drop(level);
		return SB_E_NOMEM;
	}
	*out = level;
	return SB_OK;
}

/* ---- reading ---- */

static bool seen(const struct sb_search_source *source, const char *path)
{
	return !source->sight ||
	       source->sight(source->sight_context, path, SB_SEARCH_FILE) != SB_SIGHT_NONE;
}

/* Nothing is there, or a link, or something that is no file: git reads none of these. */
static bool counts_as_missing(int error)
{
	return error == -ENOENT || error == -ELOOP || error == -ENOTDIR || error == -EINVAL ||
	       error == -EISDIR || error == -ENXIO;
}

static int read_whole(const struct sb_search_source *source, sb_search_handle file,
		      struct sb_buf *text, int *out_errno)
{
	char chunk[4096];
	ssize_t got;

	while ((got = source->backend->read(source->context, file, chunk, sizeof(chunk))) > 0) {
		sb_buf_append(text, chunk, (size_t)got);
		if (sb_buf_failed(text))
			return SB_E_REFUSED;
	}
	*out_errno = (int)-got;
	return got < 0 ? SB_E_SYSTEM : SB_OK;
}

/* A level that is being made of a directory. */
struct entering {
	const struct sb_search_source *source;
	const struct sb_ignore_place *place;
	struct sb_ignore_level *level;
	int *out_errno;
};

/* directory/name into *out; NULL there when it is missing.  path is its name from the root. */
static int read_rules(const struct entering *entering, sb_search_handle directory, const char *name,
		      const char *path, struct sb_ignore_rules **out)
{
	const struct sb_search_source *source = entering->source;
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_IGNORE_BYTES);
	sb_search_handle file;
	int status;

	if (!seen(source, path))
		return SB_OK;
	status = source->backend->open_file(source->context, directory, name, &file);
	if (status < 0) {
		*entering->out_errno = -status;
		return counts_as_missing(status) ? SB_OK : SB_E_SYSTEM;
	}
	status = read_whole(source, file, &text, entering->out_errno);
	source->backend->close_file(source->context, file);
	if (status != SB_OK)
		return status;
	entering->level->text_bytes += text.length;
	if (entering->level->text_bytes > CHAIN_BYTES)
		return SB_E_REFUSED;
	*out = sb_ignore_rules_new(text.data, text.length);
	return *out ? SB_OK : SB_E_NOMEM;
}

static bool has_file(const struct sb_search_source *source, sb_search_handle directory,
		     const char *name)
{
	sb_search_handle file;

	if (source->backend->open_file(source->context, directory, name, &file) < 0)
		return false;
	source->backend->close_file(source->context, file);
	return true;
}

static bool begins_with_gitdir(const struct sb_search_source *source, sb_search_handle directory)
{
	static const char word[] = "gitdir: ";
	char start[sizeof(word) - 1];
	sb_search_handle file;
	ssize_t got;

	if (source->backend->open_file(source->context, directory, ".git", &file) < 0)
		return false;
	got = source->backend->read(source->context, file, start, sizeof(start));
	source->backend->close_file(source->context, file);
	return got == (ssize_t)sizeof(start) && memcmp(start, word, sizeof(start)) == 0;
}

/* A directory counts as .git when HEAD and objects are in it, so that an empty one hides nothing. */
static int look_into_git(const struct entering *entering)
{
	const struct sb_search_source *source = entering->source;
	struct sb_ignore_level *level = entering->level;
	const char *path = entering->place->path;
	const struct sb_search_backend *backend = source->backend;
	SB_AUTO_BUF struct sb_buf name = SB_BUF((size_t)2 * PATH_MAX);
	sb_search_handle inside;
	size_t length;
	int status = SB_OK;

	sb_buf_printf(&name, "%s%s.git", path, *path ? "/" : "");
	if (sb_buf_failed(&name))
		return SB_OK;
	length = name.length;
	if (backend->open_directory(source->context, name.data, &inside) < 0) {
		level->repository = begins_with_gitdir(source, entering->place->directory);
		return SB_OK;
	}
	level->repository = source->one_repository || has_file(source, inside, "HEAD");
	backend->close_directory(source->context, inside);
	sb_buf_puts(&name, "/objects");
	if (!source->one_repository) {
		if (!level->repository ||
		    backend->open_directory(source->context, name.data, &inside) < 0) {
			level->repository = false;
			return SB_OK;
		}
		backend->close_directory(source->context, inside);
	}
	name.length = length;
	name.data[length] = '\0';
	sb_buf_puts(&name, "/info");
	if (backend->open_directory(source->context, name.data, &inside) < 0)
		return SB_OK;
	sb_buf_puts(&name, "/exclude");
	status = read_rules(entering, inside, "exclude", name.data, &level->exclude);
	backend->close_directory(source->context, inside);
	return status;
}

int sb_ignore_level_enter(const struct sb_search_source *source, struct sb_ignore_level *parent,
			  const struct sb_ignore_place *place, struct sb_ignore_level **out,
			  int *out_errno)
{
	bool git = place->git && (!source->one_repository || !*place->path);
	struct entering entering = {source, place};
	const char *path = place->path;
	struct sb_ignore_level *level;
	int ignored = 0, status = SB_OK;

	if (!place->gitignore && !git) {
		*out = sb_ignore_level_hold(parent);
		return SB_OK;
	}
	level = level_new(parent);
	if (!level)
		return SB_E_NOMEM;
	entering.level = level;
	entering.out_errno = out_errno ? out_errno : &ignored;
	level->base = *path ? strlen(path) + 1 : 0;
	if (place->gitignore) {
		SB_AUTO_BUF struct sb_buf name = SB_BUF((size_t)2 * PATH_MAX);

		sb_buf_printf(&name, "%s%s.gitignore", path, *path ? "/" : "");
		status = read_rules(&entering, place->directory, ".gitignore", name.data,
				    &level->rules);
	}
	if (git && status == SB_OK)
		status = look_into_git(&entering);
	if (status == SB_OK && !level->rules && !level->repository) {
		sb_ignore_level_drop(level);
		level = sb_ignore_level_hold(parent);
	} else if (status != SB_OK) {
		sb_ignore_level_drop(level);
		return status;
	}
	*out = level;
	return SB_OK;
}

/* ---- asking ---- */

bool sb_ignore_level_says(const struct sb_ignore_level *level, const char *path, size_t length,
			  bool directory)
{
	const struct sb_ignore_level *top = level;
	enum sb_ignore_said said = SB_IGNORE_NOTHING;
	size_t base = 0;

	for (; level->parent && said == SB_IGNORE_NOTHING; level = level->parent) {
		if (level->rules)
			said = sb_ignore_rules_ask(level->rules, path + level->base,
						   length - level->base, directory);
		if (level->repository) {
			base = level->base;
			break;
		}
	}
	if (said == SB_IGNORE_NOTHING && level->exclude)
		said = sb_ignore_rules_ask(level->exclude, path + base, length - base, directory);
	while (top->parent)
		top = top->parent;
	if (said == SB_IGNORE_NOTHING && top->rules)
		said = sb_ignore_rules_ask(top->rules, path + base, length - base, directory);
	return said == SB_IGNORE_YES;
}

/* Enter the directory whose path is the first length bytes of path. */
static int enter_prefix(const struct sb_search_source *source, struct sb_ignore_level **level,
			const char *path, size_t length, int *out_errno)
{
	SB_AUTO_FREE char *directory = strndup(path, length);
	struct sb_ignore_level *next;
	sb_search_handle handle;
	int status;

	if (!directory)
		return SB_E_NOMEM;
	status = source->backend->open_directory(source->context, directory, &handle);
	if (status < 0) {
		*out_errno = -status;
		return counts_as_missing(status) ? SB_E_MISSING : SB_E_SYSTEM;
	}
	status = sb_ignore_level_enter(source, *level,
				       &(struct sb_ignore_place){handle, directory, true, true},
				       &next, out_errno);
	source->backend->close_directory(source->context, handle);
	if (status != SB_OK)
		return status;
	sb_ignore_level_drop(*level);
	*level = next;
	return SB_OK;
}

int sb_ignore_level_reach(const struct sb_search_source *source, struct sb_ignore_level *top,
			  const char *path, struct sb_ignore_level **out, int *out_errno)
{
	struct sb_ignore_level *level = sb_ignore_level_hold(top);
	const char *at = path;
	int ignored = 0, status;
	int *error = out_errno ? out_errno : &ignored;

	status = enter_prefix(source, &level, path, 0, error);
	while (status == SB_OK && *at) {
		at += strcspn(at, "/");
		status = enter_prefix(source, &level, path, (size_t)(at - path), error);
		at += *at == '/';
	}
	if (status != SB_OK) {
		sb_ignore_level_drop(level);
		return status;
	}
	*out = level;
	return SB_OK;
}

/* A parent that is ignored settles it: git does not look inside. */
static int check_along(const struct sb_search_source *source, struct sb_ignore_level **level,
		       const char *path, bool directory, bool *out_ignored, int *out_errno)
{
	int status = enter_prefix(source, level, path, 0, out_errno);

	for (const char *at = path; status == SB_OK; at++) {
		size_t length;

		at += strcspn(at, "/");
		length = (size_t)(at - path);
		*out_ignored = sb_ignore_level_says(*level, path, length, *at || directory);
		if (*out_ignored || !*at)
			return SB_OK;
		status = enter_prefix(source, level, path, length, out_errno);
		if (status == SB_E_MISSING) {
			/* Not there yet: nothing beneath it adds a rule, those above still count. */
			status = SB_OK;
		}
	}
	return status;
}

static bool is_plain_path(const char *path)
{
	if (*path == '/')
		return false;
	while (*path) {
		size_t length = strcspn(path, "/");

		if (!length || (length == 1 && *path == '.') ||
		    (length == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += length;
		if (*path && !*++path)
			return false;
	}
	return true;
}

int sb_ignore_check(const struct sb_search_source *source, const char *path, bool directory,
		    const char *global_ignore, bool *out_ignored, struct sb_error *err)
{
	struct sb_ignore_level *level = NULL;
	bool ignored = false;
	int status, error = 0;

	if (!is_plain_path(path))
		return sb_fail(err, SB_E_INVALID, 0, "'%s' is no path beneath the root", path);
	if (!*path) {
		*out_ignored = false;
		return SB_OK;
	}
	status = sb_ignore_level_top(global_ignore, global_ignore ? strlen(global_ignore) : 0,
				     &level);
	if (status == SB_OK)
		status = check_along(source, &level, path, directory, &ignored, &error);
	sb_ignore_level_drop(level);
	switch (status) {
	case SB_OK:
		*out_ignored = ignored;
		return SB_OK;
	case SB_E_REFUSED:
		return sb_fail(err, SB_E_REFUSED, 0, "a .gitignore above '%s' is too large", path);
	case SB_E_NOMEM:
		return sb_no_memory(err);
	case SB_E_MISSING:
		return sb_fail(err, SB_E_MISSING, error, "the root is not there");
	default:
		return sb_fail(err, SB_E_SYSTEM, error,
			       "cannot read the .gitignore files above '%s'", path);
	}
}
