#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "tree/braces.h"
#include "search/search.h"
#include "tree/wildcard.h"

enum { PATTERN_BYTES = 4096, ALTERNATIVES = 1024 };

struct alternative {
	struct sb_wildcard *wildcard; /* NULL: matches nothing */
	bool directory;               /* ended in "/" */
	bool name;                    /* is about the last name of a path alone */
};

struct sb_glob {
	struct alternative *all;
	size_t count;
	bool negated;
};

enum shape { SHAPE_FINE, SHAPE_ABSOLUTE, SHAPE_CLIMBS };

/* Remove "." components, doubled slashes and the last slash, in place. */
static enum shape tidy(char *text, bool *out_directory)
{
	char *to = text, *at = text;

	if (*at == '/')
		return SHAPE_ABSOLUTE;
	*out_directory = false;
	while (*at) {
		size_t length = strcspn(at, "/");

		if (length == 2 && memcmp(at, "..", 2) == 0)
			return SHAPE_CLIMBS;
		if (length && !(length == 1 && *at == '.')) {
			if (to > text)
				*to++ = '/';
			memmove(to, at, length);
			to += length;
		}
		at += length;
		*out_directory = *at == '/';
		at += *at == '/';
	}
	*to = '\0';
	return SHAPE_FINE;
}

static int compile(char *text, unsigned flags, struct alternative *out, struct sb_error *err)
{
	bool as_minimatch = flags & SB_GLOB_MINIMATCH;
	enum shape shape = tidy(text, &out->directory);

	if (shape != SHAPE_FINE && !as_minimatch) {
		sb_fail(err, SB_E_INVALID, 0, "the pattern '%s' %s", text,
			shape == SHAPE_ABSOLUTE ? "begins with '/'" : "has a '..' in it");
		return sb_hint(err, "patterns are relative to the directory that is searched");
	}
	/* What the reference server does with these: no relative path matches them. */
	if (as_minimatch && (shape != SHAPE_FINE || out->directory))
		return SB_OK;
	out->name = (flags & SB_GLOB_NAME) && !strchr(text, '/');
	out->wildcard = sb_wildcard_new(text, strlen(text),
					flags & SB_GLOB_NOCASE ? SB_WILDCARD_NOCASE : 0);
	return out->wildcard ? SB_OK : sb_no_memory(err);
}

static int compile_all(struct sb_glob *glob, const char *pattern, unsigned flags,
		       struct sb_error *err)
{
	struct sb_braces braces = {0};
	int status = sb_braces_expand(pattern, ALTERNATIVES, PATTERN_BYTES, &braces, err);

	if (status != SB_OK)
		return status;
	glob->all = calloc(braces.count, sizeof(*glob->all));
	if (!glob->all)
		status = sb_no_memory(err);
	for (size_t i = 0; i < braces.count && status == SB_OK; i++)
		status = compile(braces.all[i], flags, &glob->all[glob->count++], err);
	sb_braces_done(&braces);
	return status;
}

int sb_glob_new(const char *pattern, unsigned flags, struct sb_glob **out, struct sb_error *err)
{
	struct sb_glob *glob = calloc(1, sizeof(*glob));
	bool comment = false;
	int status = SB_OK;

	if (!glob)
		return sb_no_memory(err);
	if (flags & SB_GLOB_MINIMATCH) {
		comment = *pattern == '#';
		for (; *pattern == '!'; pattern++)
			glob->negated = !glob->negated;
	}
	if (!comment)
		status = compile_all(glob, pattern, flags, err);
	if (status != SB_OK) {
		sb_glob_free(glob);
		return status;
	}
	*out = glob;
	return SB_OK;
}

void sb_glob_free(struct sb_glob *glob)
{
	if (!glob)
		return;
	for (size_t i = 0; i < glob->count; i++)
		sb_wildcard_free(glob->all[i].wildcard);
	free(glob->all);
	free(glob);
}

bool sb_glob_match(const struct sb_glob *glob, const char *path, bool directory)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < glob->count; i++) {
		const struct alternative *one = &glob->all[i];
		const char *text = one->name ? name : path;

		if (one->wildcard && (directory || !one->directory) &&
		    sb_wildcard_match(one->wildcard, text, strlen(text)))
			return !glob->negated;
	}
	return glob->negated;
}

bool sb_glob_may_hold(const struct sb_glob *glob, const char *directory)
{
	char prefix[PATH_MAX + 1];
	size_t length = strlen(directory);

	if (glob->negated || !length || length >= PATH_MAX)
		return true;
	memcpy(prefix, directory, length);
	prefix[length++] = '/';
	for (size_t i = 0; i < glob->count; i++)
		if (glob->all[i].wildcard &&
		    (glob->all[i].name ||
		     sb_wildcard_begins(glob->all[i].wildcard, prefix, length)))
			return true;
	return false;
}
