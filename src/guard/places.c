/*
 * places.c - directories in which guarded names have their place.
 *
 * A table row is about a name in a directory.  Here the question is the other one: would a
 * directory, left without a guard, take the guard away from such a name?
 */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "guard/guard_impl.h"
#include "guard/named.h"
#include "path/path.h"

static bool is_same(const struct sb_folded *folded, const char *text, size_t length)
{
	struct sb_folded name;

	if (length != folded->length && sb_is_ascii(text, length))
		return false;
	sb_fold(text, length, &name);
	return name.length == folded->length && name.length != SB_FOLD_MAX &&
	       memcmp(name.text, folded->text, name.length) == 0;
}

static bool is_name(const struct sb_component *component, const char *text, size_t length)
{
	switch (component->kind) {
	case SB_COMPONENT_NAME:
		return is_same(&component->text, text, length);
	case SB_COMPONENT_SUFFIX:
		return sb_fold_ends(text, length, component->text.text, component->text.length);
	default: /* any directory may become git's */
		return true;
	}
}

/*
 * Does a pattern begin at this component of a path and go on beneath the path's end?  Directories
 * of any name do not count: one has to be called as the pattern says.
 */
static bool goes_on(const struct sb_pattern_row *pattern, const char *text)
{
	bool named = false;

	for (unsigned i = 0; i < pattern->count; i++) {
		size_t length = strcspn(text, "/");

		if (!*text || pattern->at[i].kind == SB_COMPONENT_BENEATH)
			return named;
		if (!is_name(&pattern->at[i], text, length))
			return false;
		named |= pattern->at[i].kind == SB_COMPONENT_NAME;
		text += length;
		text += *text == '/';
	}
	return false;
}

/* What the machine obeys at path or beneath it, or that it is git's. */
static const struct sb_guard_row *row_at(const struct sb_guard *guard, const char *path)
{
	SB_AUTO_FD int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct sb_guard_row *row;
	const char *named;

	row = sb_system_row(&guard->system, path, &named);
	if (!row)
		row = sb_system_beneath(&guard->system, path);
	if (row)
		return row;
	return directory >= 0 && sb_look_is_git(directory, "") ? sb_row_of_git(guard) : NULL;
}

const struct sb_guard_row *sb_guard_row_in(const struct sb_guard *guard, const char *path)
{
	const struct sb_table *table = sb_table_of(guard);
	const struct sb_guard_row *row;
	struct sb_folded git;

	sb_guard_need(guard);
	for (size_t i = 0; i < guard->extras.count; i++)
		if (sb_path_within(path, guard->extras.all[i].path) ||
		    sb_path_within(guard->extras.all[i].path, path))
			return guard->extras.all[i].row ? guard->extras.all[i].row
							: sb_row_of_git(guard);
	row = row_at(guard, path);
	if (row)
		return row;
	sb_fold(".git", 4, &git);
	for (const char *text = path; *text == '/'; text += strcspn(text, "/")) {
		text++;
		if (is_same(&git, text, strcspn(text, "/")))
			return sb_row_of_git(guard);
		for (size_t i = 0; *text && i < table->count; i++)
			if (table->rows[i].row->kind != SB_GUARD_ANYTHING &&
			    goes_on(&table->rows[i], text))
				return table->rows[i].row;
	}
	return NULL;
}

/* --- places of submodules --------------------------------------------------------------------- */

/* tools/bazel, hooks/x: directories with such names are everywhere, and in most of them is nothing of the kind. */
static bool begins_with_word(const struct sb_guard_row *row)
{
	return strchr("<*", row->pattern[0]) || islower((unsigned char)row->pattern[0]);
}

static const struct sb_guard_row *row_of_extras(const struct sb_guard *guard,
						const struct sb_extras *extras, const char *path)
{
	for (size_t i = 0; i < extras->count; i++) {
		const struct sb_extra *extra = &extras->all[i];

		/* with wild, of what is around path, it means names like that and no directories */
		if (extra->path[0] == '/' && (sb_path_within(path, extra->path) ||
					      (!extra->wild && sb_path_within(extra->path, path))))
			return sb_row_of_extra(guard, extra);
	}
	return NULL;
}

/* Where the names of the place begin: behind the project that holds it, which is where it is by the user's will. */
static const char *behind_project(const struct sb_guard *guard, const char *path)
{
	size_t longest = 0;

	for (const char *const *project = guard->options.projects; project && *project; project++)
		if (sb_path_within(*project, path) && strlen(*project) > longest)
			longest = strlen(*project);
	return path + longest;
}

const struct sb_guard_row *sb_guard_row_of_checkout(const struct sb_guard *guard, const char *path)
{
	const struct sb_table *table = sb_table_of(guard);
	const struct sb_guard_row *row;
	struct sb_extras late;

	sb_guard_need(guard);
	late = sb_named_late(guard);
	row = row_of_extras(guard, &guard->extras, path);
	if (!row)
		row = row_of_extras(guard, &late, path);
	if (!row)
		row = row_at(guard, path);
	for (const char *text = behind_project(guard, path); !row && *text == '/';
	     text += strcspn(text, "/")) {
		text++;
		if (sb_fold_is_git(text, strcspn(text, "/")))
			row = sb_row_of_git(guard);
		for (size_t i = 0; !row && *text && i < table->count; i++)
			if (table->rows[i].row->kind != SB_GUARD_ANYTHING &&
			    !begins_with_word(table->rows[i].row) && goes_on(&table->rows[i], text))
				row = table->rows[i].row;
	}
	return row;
}

bool sb_guard_is_holder(const struct sb_guard *guard, int directory, const char *path)
{
	const char *home = guard->options.home, *slash = strrchr(path, '/');
	const struct sb_guard_place place = {directory, path, slash ? slash + 1 : path, S_IFDIR};
	struct sb_guard_answer answer;

	/* a link in its place would be asked about */
	return home &&
	       (sb_path_within(path, home) ||
		(sb_path_within(home, path) &&
		 sb_guard_judge(guard, SB_GUARD_SYMLINK, &place, &answer) != SB_GUARD_PLAIN));
}

/* --- what a rule has to name ---------------------------------------------------------------- */

/* Is the directory, all of path up to end, git's by its name: .git, NAME.git, .git/modules/NAME? */
static bool is_git_by_name(const char *path, const char *name, const char *end)
{
	char directory[PATH_MAX];

	if (sb_fold_ends(name, (size_t)(end - name), ".git", 4))
		return true;
	if ((size_t)(end - path) >= sizeof directory)
		return false;
	memcpy(directory, path, (size_t)(end - path));
	directory[end - path] = '\0';
	return sb_place_is_git_root(directory);
}

/* Has path, from the component at text on, the names of the pattern?  It may end before the pattern does. */
static bool has_names(const struct sb_pattern_row *pattern, const char *path, const char *text)
{
	for (unsigned i = 0; i < pattern->count; i++) {
		const struct sb_component *component = &pattern->at[i];
		size_t length = strcspn(text, "/");

		if (!*text || component->kind == SB_COMPONENT_BENEATH)
			return true;
		if (component->kind == SB_COMPONENT_GIT ? !is_git_by_name(path, text, text + length)
							: !is_name(component, text, length))
			return false;
		text += length;
		text += *text == '/';
	}
	return !*text;
}

unsigned sb_guard_shared_names(const struct sb_guard_row *row)
{
	static const struct {
		const char *start;
		unsigned names;
	} shared[] = {{".config/", 1},
		      {".local/share/", 2},
		      {".local/state/", 2},
		      {".local/", 1},
		      {".cache/", 1}};

	if (row->flags & SB_GUARD_INNER) { /* all but the last before the stars */
		unsigned names = 0;

		for (const char *at = row->pattern;
		     (at = strchr(at, '/')) && strcmp(at, "/**") != 0; at++)
			names++;
		return names;
	}
	for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
		if (strncmp(row->pattern, shared[i].start, strlen(shared[i].start)) == 0)
			return shared[i].names;
	return 0;
}

/*
 * How many of the pattern's first names are no reason to take a rule for one about the pattern: directories
 * in which everybody keeps settings, and words that any directory may be called by: tools, worktrees.
 */
static unsigned count_common(const struct sb_pattern_row *pattern)
{
	unsigned words = sb_guard_shared_names(pattern->row);

	if (words)
		return words;
	while (words + 1 < pattern->count && pattern->at[words].kind != SB_COMPONENT_GIT &&
	       pattern->at[words].text.text[0] != '.')
		words++;
	return words;
}

size_t sb_guard_holder(const struct sb_guard *guard, const struct sb_guard_row *row,
		       const char *path)
{
	const struct sb_table *table = sb_table_of(guard);
	const struct sb_pattern_row *pattern = table->rows, *end = pattern + table->count;
	const char *text = path + strlen(path);

	while (pattern < end && pattern->row != row)
		pattern++;
	/* from the innermost on: the longest is the strictest */
	while (pattern < end && text > path) {
		while (text > path && text[-1] != '/')
			text--;
		if (has_names(pattern, path, text)) {
			for (unsigned left = count_common(pattern); left && *text; left--) {
				text += strcspn(text, "/");
				text += *text == '/';
			}
			return (size_t)(text - path) - (*text != '\0');
		}
		text -= text > path;
	}
	return strlen(path);
}

bool sb_guard_passes_caches(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "/");
		struct sb_folded name;

		sb_fold(text, length, &name);
		if (name.length == strlen(SB_GUARD_CACHES) &&
		    memcmp(name.text, SB_GUARD_CACHES, name.length) == 0)
			return true;
		text += length;
		text += strspn(text, "/");
	}
	return false;
}
