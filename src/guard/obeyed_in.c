/*
 * What in a directory is obeyed for where that lies: a view in which it has another name would not tell.
 */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
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

/* A name on the way, folded once for all rows. */
struct level {
	const char *name; /* up to the next slash */
	size_t length;
	struct sb_folded folded;
};

/* A name of a pattern. */
struct part {
	size_t width;
	struct sb_component component;
};

static void make_part(const char *pattern, struct part *out)
{
	*out = (struct part){.width = strcspn(pattern, "/")};
	sb_component_make(pattern, out->width, &out->component);
}

static bool fits(const struct sb_component *component, const struct level *level)
{
	switch (component->kind) {
	case SB_COMPONENT_ANY:
	case SB_COMPONENT_BENEATH:
		return true;
	case SB_COMPONENT_SUFFIX:
		return sb_component_ends(component, level->name, level->length);
	case SB_COMPONENT_NAME:
		return level->folded.length < SB_FOLD_MAX &&
		       level->folded.length == component->text.length &&
		       memcmp(level->folded.text, component->text.text, component->text.length) ==
			       0;
	case SB_COMPONENT_GIT:
		break;
	}
	return false;
}

/*
 * What of the pattern, which begins with first, is left where the levels have ended; NULL: they part before
 * that, or nothing is.
 */
static const char *rest_behind(const char *pattern, const struct part *first,
			       const struct level *level, const struct level *end)
{
	struct part next;

	for (const struct part *part = first;; part = &next) {
		if (part->component.kind == SB_COMPONENT_BENEATH)
			return pattern;
		if (!fits(&part->component, level) || !pattern[part->width])
			return NULL;
		pattern += part->width + 1;
		if (++level == end)
			return pattern;
		make_part(pattern, &next);
	}
}

/* The names of path, which is absolute; NULL: out of memory. */
static struct level *levels_of(const char *path, size_t *out_count)
{
	struct level *levels;
	size_t slashes = 0;

	for (const char *at = path; (at = strchr(at, '/')); at++)
		slashes++;
	levels = calloc(slashes + 1, sizeof *levels);
	*out_count = 0;
	while (levels && (path = strchr(path, '/'))) {
		struct level *level = &levels[(*out_count)++];

		level->name = ++path;
		level->length = strcspn(path, "/");
		sb_fold(level->name, level->length, &level->folded);
	}
	return levels;
}

/* With which letters a name of a pattern begins that could be one on the way. */
struct begins {
	bool with[UCHAR_MAX + 1];
};

static struct begins begins_of(const struct level *levels, size_t count)
{
	struct begins begins = {.with['*'] = true};

	for (size_t i = 0; i < count; i++)
		begins.with[(unsigned char)levels[i].folded.text[0]] = true;
	return begins;
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

/* Its patterns alone: the table made ready takes longer than all the rest of a worker's look. */
static int tell_rows(const struct telling *telling)
{
	size_t count, level_count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);
	SB_AUTO_FREE struct level *levels = levels_of(telling->directory, &level_count);
	int status = levels ? SB_OK : SB_E_NOMEM;
	struct begins begins = levels ? begins_of(levels, level_count) : (struct begins){0};

	for (size_t i = 0; i < count && status == SB_OK; i++) {
		const struct sb_guard_row *row = &rows[i];
		struct part first;

		if (!begins.with[(unsigned char)tolower((unsigned char)row->pattern[0])])
			continue;
		/* of the home directory's own extras have what is there */
		if (row->pattern[0] == '<' || !strchr(row->pattern, '/') ||
		    row->kind == SB_GUARD_ANYTHING ||
		    !sb_row_counts(row, telling->guard->options.protect_ignored))
			continue;
		make_part(row->pattern, &first);
		for (size_t from = 0; from < level_count && status == SB_OK; from++) {
			const char *rest = rest_behind(row->pattern, &first, levels + from,
						       levels + level_count);

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

/* Of what the machine obeys; of names that only begin alike all around them. */
static int tell_system(const struct telling *telling)
{
	const struct sb_system *system = &telling->guard->system;
	const char *named, *directory = telling->directory;
	const struct sb_guard_row *around = sb_system_row(system, directory, &named);
	size_t count, length = strlen(directory);
	const struct sb_guard_row *rows = sb_guard_system_rows(&count);
	int status = around ? tell_whole(telling, around) : SB_OK;

	for (size_t i = 0; system->counts && i < count && status == SB_OK; i++) {
		const char *pattern = rows[i].pattern;
		SB_AUTO_FREE char *path = NULL;

		if (strncmp(pattern, directory, length) != 0 ||
		    (length > 1 && pattern[length] != '/'))
			continue;
		path = strchr(pattern, '*') ? sb_path_parent(pattern) : strdup(pattern);
		status = path ? telling->tell(telling->context, path, NULL, &rows[i]) : SB_E_NOMEM;
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
	if (status == SB_OK)
		status = tell_system(&telling);
	return status == SB_OK ? tell_extras(&telling, tops) : status;
}
