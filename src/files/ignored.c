/*
 * ignored.c - does git ignore what is about to be changed (P8)?
 *
 * The rules are read anew each time, through the descriptor of the root; nothing is run.
 * git's index is not read: a tracked file that a pattern names counts as ignored, and is asked
 * about once too often.
 */
#include <string.h>

#include "files/find_source.h"
#include "files/guards.h"

/* All of it is in sight: rules that are hidden from the agent hold for it all the same. */
bool sb_guards_ignored(const struct sb_files *view, const struct sb_root *root,
		       const struct sb_place *place)
{
	const char *path = place->path + (strcmp(root->path, "/") == 0 ? 0 : strlen(root->path));
	bool directory = place->facts.type == SB_FILES_DIRECTORY, ignored = true;
	struct sb_find find;

	path += *path == '/';
	if (!*path)
		return false;
	sb_find_root(view, root, &find);
	if (sb_ignore_check(&find.source, path, directory, NULL, 0, &ignored, NULL) < 0)
		return true;
	return ignored;
}
