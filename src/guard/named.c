/*
 * What a git config, or a link at a guarded name, leads to.
 */
#include <limits.h>
#include <string.h>

#include "base/auto.h"
#include "guard/named.h"
#include "path/path.h"

const struct sb_guard_row *sb_row_named(const struct sb_guard *guard, const char *pattern)
{
	const struct sb_table *table = sb_table_of(guard);

	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->rows[i].row->pattern, pattern) == 0)
			return table->rows[i].row;
	return sb_row_of_git(guard);
}

const struct sb_guard_row *sb_row_of_extra(const struct sb_guard *guard,
					   const struct sb_extra *extra)
{
	if (extra->row)
		return extra->row;
	return sb_row_named(guard,
			    extra->kind == SB_EXTRA_CONFIG ? "<git>/config" : "<git>/hooks/*");
}

/* Does it count for what is beneath its path? */
static bool has_inside(const struct sb_extra *extra)
{
	return extra->kind == SB_EXTRA_HOOKS || extra->kind == SB_EXTRA_ROW;
}

/* Is name, which may have a directory in it, what it means of what is beneath its path? */
static bool means_inside(const struct sb_extra *extra, const char *name)
{
	struct sb_component component = {0};

	if (!has_inside(extra) || !extra->wild)
		return has_inside(extra);
	sb_component_make(extra->wild, strlen(extra->wild), &component);
	return !strchr(name, '/') && (component.kind == SB_COMPONENT_ANY ||
				      sb_component_ends(&component, name, strlen(name)));
}

/*
 * Is path what a git config names: a hook, or an included file; or what a link leads to?  A sample is none of the
 * hooks in a directory of them; one that a hook leads to, or a setting names, is run like any other file.
 */
static const struct sb_extra *extra_of(const struct sb_guard *guard, const struct sb_extras *extras,
				       const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	for (size_t i = 0; i < extras->count; i++) {
		const struct sb_extra *extra = &extras->all[i];
		size_t length = strlen(extra->path);

		if (strncmp(path, extra->path, length) != 0)
			continue;
		if (path[length] == '\0' && extra->kind != SB_EXTRA_HOOKS && !extra->wild)
			return extra;
		if (path[length] == '/' && means_inside(extra, path + length + 1) &&
		    !sb_look_is_sample(sb_row_of_extra(guard, extra), name, strlen(name)))
			return extra;
	}
	return NULL;
}

const struct sb_extra *sb_named_beneath(const struct sb_extras *extras, const char *path)
{
	for (size_t i = 0; i < extras->count; i++)
		if (sb_path_within(path, extras->all[i].path))
			return &extras->all[i];
	return NULL;
}

struct sb_extras sb_named_late(const struct sb_guard *guard)
{
	struct sb_late *late = __atomic_load_n(&guard->late, __ATOMIC_ACQUIRE);

	return (struct sb_extras){
		.all = late ? late->all : NULL,
		.count = late ? __atomic_load_n(&late->count, __ATOMIC_ACQUIRE) : 0,
	};
}

static const struct sb_extra *known_of(const struct sb_guard *guard, const char *path)
{
	const struct sb_extra *extra = extra_of(guard, &guard->extras, path);
	const struct sb_extras late = sb_named_late(guard);

	return extra ? extra : extra_of(guard, &late, path);
}

static const struct sb_extra *known_beneath(const struct sb_guard *guard, const char *path)
{
	const struct sb_extra *extra = sb_named_beneath(&guard->extras, path);
	const struct sb_extras late = sb_named_late(guard);

	return extra ? extra : sb_named_beneath(&late, path);
}

/* The same where the run began: what is said about it holds for as long as the guard. */
const struct sb_guard_row *sb_named_row(const struct sb_guard *guard, const char *path,
					struct sb_guard_answer *out)
{
	const struct sb_extra *extra = known_of(guard, path);

	if (!extra)
		return sb_system_row(&guard->system, path, &out->named);
	if (extra->row) /* a rule that is about it alone opens it; or one for all that a link leads to */
		out->named = extra->among ? path : extra->path;
	else
		out->named = NULL;
	return sb_row_of_extra(guard, extra);
}

bool sb_extras_have(const struct sb_guard *guard, const char *path)
{
	return known_of(guard, path) || known_beneath(guard, path);
}

const struct sb_extra *sb_named_anywhere(const struct sb_guard *guard, const char *path,
					 size_t length)
{
	for (size_t i = 0; i < guard->extras.count; i++) {
		const struct sb_extra *extra = &guard->extras.all[i];
		size_t size = strlen(extra->path);

		if (extra->kind == SB_EXTRA_ANYWHERE && length > size &&
		    path[length - size - 1] == '/' &&
		    memcmp(path + length - size, extra->path, size) == 0)
			return extra;
	}
	return NULL;
}

/* What the repositories around a name say of it, or, if it is to be a link, of what lies beneath. */
static const struct sb_guard_row *row_around(const struct sb_guard *guard,
					     const struct sb_stand *stand, bool link)
{
	SB_AUTO_FREE char *directory = strndup(stand->place->path, stand->directory_length);
	SB_AUTO(sb_extras_done) struct sb_extras around = {0};
	const struct sb_guard_row *row;
	const struct sb_extra *extra;

	if (!directory || sb_extras_around(guard, directory, &around) != SB_OK) {
		row = sb_row_of_git(guard); /* out of memory: ask */
	} else {
		extra = link ? sb_named_beneath(&around, stand->place->path)
			     : extra_of(guard, &around, stand->place->path);
		row = extra ? sb_row_of_extra(guard, extra) : NULL;
	}
	return row;
}

const struct sb_guard_row *sb_named_hook(const struct sb_guard *guard, const struct sb_stand *stand)
{
	const struct sb_guard_row *row = row_around(guard, stand, false);
	const struct sb_extra *extra =
		row ? NULL : sb_named_anywhere(guard, stand->place->path, stand->directory_length);

	return extra ? sb_row_of_extra(guard, extra) : row;
}

/* A place whose name is longer than a path may be, and is cut (supervise/deep.h): git finds nothing there. */
static bool is_too_deep(const char *path)
{
	for (size_t length; *path; path += length + (path[length] == '/')) {
		length = strcspn(path, "/");
		if (length > NAME_MAX)
			return true;
	}
	return false;
}

/*
 * SECURITY: a link in the place of a directory of hooks, or of one on the way there.
 *
 * Danger: the files behind it have other names, which nobody guards: "hk/pre-commit" is nothing, and a hook
 * once .githooks leads to hk.  Which worktrees and repositories there are when a link is made nobody knew when the
 * run began.
 * Price: a walk to the repositories around for every link.
 * Held by: tests/supervise/obeyed.py
 */
const struct sb_guard_row *sb_named_link(const struct sb_guard *guard, const struct sb_stand *stand)
{
	const struct sb_extra *extra = known_beneath(guard, stand->place->path);

	const struct sb_guard_row *row = sb_system_beneath(&guard->system, stand->place->path);

	if (extra)
		return sb_row_of_extra(guard, extra);
	return row || is_too_deep(stand->place->path) ? row : row_around(guard, stand, true);
}
