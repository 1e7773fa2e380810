/*
 * SECURITY: a line leads to the objects of a repository whose names are guarded, and so does every line there.
 *
 * Danger: git follows alternates of alternates, five deep, and asks the repository around the objects for its
 * branches ("git --git-dir=OBJECTS/.. for-each-ref"), with that one's config.  One that nobody guards, in a fast
 * root or in the run's own temporary directory, would have whatever config and further alternates the
 * run gives it: to a push of private objects, say.
 * Price: git clone --shared of a repository in a fast root asks.
 * Held by: tests/supervise/git_alternates.py
 */
#include "guard/git_forms.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/words.h"
#include "guard/guard_impl.h"
#include "guard/read.h"
#include "path/path.h"

#define MAX_DEPTH 5 /* as git */
#define MAX_BYTES (64 * 1024)

static bool is_harmless(const struct sb_guard *guard, const char *objects, const char *line,
			size_t length, unsigned depth);

static bool are_harmless(const struct sb_guard *guard, const char *objects, unsigned depth)
{
	SB_AUTO_FREE char *file = sb_path_join(objects, "info/alternates");
	size_t length = 0;
	SB_AUTO_FREE char *text = file ? sb_read_text(file, MAX_BYTES, &length) : NULL;
	struct sb_text_lines line = sb_text_lines(text, length);
	struct stat info;

	if (!text) /* none; or one that cannot be read */
		return file && lstat(file, &info) != 0 && (errno == ENOENT || errno == ENOTDIR);
	while (sb_next_line(&line))
		if (!is_harmless(guard, objects, line.text, line.length, depth))
			return false;
	return true;
}

/* The objects of a git directory, by its name or by what is in it: there alternates are guarded. */
static bool is_guarded(const struct sb_guard *guard, const char *from, const char *path,
		       unsigned depth)
{
	const struct sb_guard_options *options = &guard->options;
	SB_AUTO_FREE char *objects = NULL;
	const char *name;
	int missing = 0;

	if (sb_path_canonical(path, &objects, &missing, NULL) != SB_OK || missing)
		return false;
	name = strrchr(objects, '/');
	return name && strcmp(name, "/objects") == 0 && sb_place_is_gits(objects) &&
	       options->in_guarded_root && options->in_guarded_root(options->context, objects) &&
	       (!options->is_private || !options->is_private(options->context, objects) ||
		options->is_private(options->context, from)) &&
	       are_harmless(guard, objects, depth);
}

static bool is_harmless(const struct sb_guard *guard, const char *objects, const char *line,
			size_t length, unsigned depth)
{
	SB_AUTO_FREE char *text = strndup(line, length), *as_text = NULL, *as_way = NULL;

	if (length == 0 || *line == '#')
		return true;
	if (!text || *line == '"' || *line == '~' || depth == 0 || sb_guard_passes_caches(text))
		return false; /* a quoted one is left to a person */
	/* git removes "x/.." by text, others by what x is */
	return sb_path_absolute(text, objects, NULL, &as_text, NULL) == SB_OK &&
	       sb_path_expand(text, objects, NULL, &as_way, NULL) == SB_OK &&
	       is_guarded(guard, objects, as_text, depth - 1) &&
	       (strcmp(as_text, as_way) == 0 || is_guarded(guard, objects, as_way, depth - 1));
}

bool sb_git_alternate_is_harmless(const struct sb_guard *guard, const char *file, const char *line,
				  size_t length)
{
	SB_AUTO_FREE char *info = sb_path_parent(file),
			  *objects = info ? sb_path_parent(info) : NULL;

	return objects && is_harmless(guard, objects, line, length, MAX_DEPTH);
}
