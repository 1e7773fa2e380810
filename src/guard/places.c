/*
 * places.c - directories in which guarded names have their place.
 *
 * A table row is about a name in a directory.  Here the question is the other one: would a
 * directory, left without a guard, take the guard away from such a name?
 */
#include <fcntl.h>
#include <string.h>

#include "base/auto.h"
#include "guard/guard_impl.h"
#include "path/path.h"

static bool is_same(const struct sb_folded *folded, const char *text, size_t length)
{
	struct sb_folded name;

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

const struct sb_guard_row *sb_guard_row_in(const struct sb_guard *guard, const char *path)
{
	const struct sb_table *table = sb_table_of(guard);
	SB_AUTO_FD int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct sb_folded git;

	sb_guard_need(guard);
	for (size_t i = 0; i < guard->extras.count; i++)
		if (sb_path_within(path, guard->extras.all[i].path) ||
		    sb_path_within(guard->extras.all[i].path, path))
			return guard->extras.all[i].row ? guard->extras.all[i].row
							: sb_row_of_git(guard);
	if (directory >= 0 && sb_look_is_git(directory, ""))
		return sb_row_of_git(guard);
	sb_fold(".git", 4, &git);
	for (const char *text = path; *text == '/'; text += strcspn(text, "/")) {
		text++;
		if (is_same(&git, text, strcspn(text, "/")))
			return sb_row_of_git(guard);
		for (size_t i = 0; *text && i < table->count; i++)
			if (goes_on(&table->rows[i], text))
				return table->rows[i].row;
	}
	return NULL;
}
