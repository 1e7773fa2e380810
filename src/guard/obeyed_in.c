/*
 * What in a directory is obeyed for where that lies: a view in which it has another name would not tell.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "guard/guard_impl.h"
#include "path/path.h"

struct telling {
	const struct sb_guard *guard;
	const char *directory; /* canonical */
	sb_guard_tell_obeyed *tell;
	void *context;
};

/* All names in the directory. */
static int tell_whole(const struct telling *telling, const struct sb_guard_row *row)
{
	return telling->tell(telling->context, telling->directory, NULL, row);
}

/* --- by names on the way there ------------------------------------------------------------------- */

static bool fits(const char *pattern, size_t width, const char *name, size_t length)
{
	struct sb_component component = {0};
	struct sb_folded folded;

	sb_component_make(pattern, width, &component);
	switch (component.kind) {
	case SB_COMPONENT_ANY:
	case SB_COMPONENT_BENEATH:
		return true;
	case SB_COMPONENT_SUFFIX:
		return sb_component_ends(&component, name, length);
	case SB_COMPONENT_NAME:
		sb_fold(name, length, &folded);
		return folded.length < SB_FOLD_MAX && folded.length == component.text.length &&
		       memcmp(folded.text, component.text.text, folded.length) == 0;
	case SB_COMPONENT_GIT:
		break;
	}
	return false;
}

/* What of the pattern is left where path has ended; NULL: they part before that, or nothing is. */
static const char *rest_behind(const char *pattern, const char *path)
{
	for (;;) {
		size_t width = strcspn(pattern, "/"), length = strcspn(path, "/");

		if (width == 2 && memcmp(pattern, "**", 2) == 0)
			return pattern;
		if (!fits(pattern, width, path, length) || !pattern[width])
			return NULL;
		pattern += width + 1;
		path += length;
		if (!*path++)
			return pattern;
	}
}

/* As far as it is certain: behind a star that is not the last name everything counts. */
static int tell_rest(const struct telling *telling, const char *rest,
		     const struct sb_guard_row *row)
{
	const char *star = strchr(rest, '*');
	size_t sure = strlen(rest);
	const char *wild = NULL;
	SB_AUTO_FREE char *part = NULL, *path = NULL;

	if (star) {
		while (star > rest && star[-1] != '/')
			star--;
		sure = star > rest ? (size_t)(star - rest) - 1 : 0;
		wild = strchr(star, '/') || strcmp(star, "**") == 0 ? NULL : star;
	}
	part = strndup(rest, sure);
	path = !part  ? NULL
	       : sure ? sb_path_join(telling->directory, part)
		      : strdup(telling->directory);
	return path ? telling->tell(telling->context, path, wild, row) : SB_E_NOMEM;
}

static int tell_rows(const struct telling *telling)
{
	const struct sb_table *table = sb_table_of(telling->guard);
	int status = SB_OK;

	for (size_t i = 0; i < table->count && status == SB_OK; i++) {
		const struct sb_guard_row *row = table->rows[i].row;
		const char *from = telling->directory;

		/* of the home directory's own extras have what is there */
		if (row->pattern[0] == '<' || !strchr(row->pattern, '/') ||
		    row->kind == SB_GUARD_ANYTHING || (row->flags & SB_GUARD_IN_HOME))
			continue;
		while (status == SB_OK && (from = strchr(from, '/'))) {
			const char *rest;

			from++;
			rest = rest_behind(row->pattern, from);
			if (rest)
				status = tell_rest(telling, rest, row);
		}
	}
	return status;
}

/* --- by what settings and links lead there --------------------------------------------------------- */

/* At path, canonical. */
static int tell_named(const struct telling *telling, const struct sb_extra *extra, const char *path)
{
	const struct sb_guard_row *row = extra->row ? extra->row : sb_row_of_git(telling->guard);

	if (sb_path_within(telling->directory, path))
		return telling->tell(telling->context, path, extra->wild, row);
	/* a file cannot be around a directory; "*.json" means none beneath it */
	return !*path || (sb_path_within(path, telling->directory) && !extra->wild)
		       ? tell_whole(telling, row)
		       : SB_OK;
}

static int tell_extras(const struct telling *telling, const char *const *tops)
{
	int status = SB_OK;

	for (size_t i = 0; i < telling->guard->extras.count && status == SB_OK; i++) {
		const struct sb_extra *extra = &telling->guard->extras.all[i];

		if (extra->path[0] == '/' || !extra->path[0])
			status = tell_named(telling, extra, extra->path);
		for (const char *const *top = tops;
		     extra->path[0] && extra->path[0] != '/' && *top && status == SB_OK; top++) {
			SB_AUTO_FREE char *path = sb_path_join(*top, extra->path);

			status = path ? tell_named(telling, extra, path) : SB_E_NOMEM;
		}
	}
	return status;
}

/* --- in a git directory --------------------------------------------------------------------------- */

/* One that is a git directory itself is known by what is in it, whatever its name is. */
static bool is_in_git(const char *directory)
{
	SB_AUTO_FREE char *around = strdup(directory);
	char *slash;

	for (const char *name = directory; (name = strchr(name, '/'));) {
		name++;
		if (sb_fold_is_git(name, strcspn(name, "/")))
			return true;
	}
	while (around && (slash = strrchr(around, '/')) && slash > around) {
		SB_AUTO_FD int fd = -1;

		*slash = '\0';
		fd = open(around, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 || sb_look_is_git(fd, ""))
			return true;
	}
	return !around;
}

int sb_guard_obeyed_in(const struct sb_guard *guard, const char *directory, const char *const *tops,
		       sb_guard_tell_obeyed *tell, void *context)
{
	const struct telling telling = {guard, directory, tell, context};
	int status;

	sb_guard_need(guard);
	if (is_in_git(directory))
		return tell_whole(&telling, sb_row_of_git(guard));
	status = tell_rows(&telling);
	return status == SB_OK ? tell_extras(&telling, tops) : status;
}
