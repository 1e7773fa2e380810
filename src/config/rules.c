#include "config/rules.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "path/path.h"
#include "path/pattern.h"

/* Where the first component with a wildcard begins; the end of text when there is none. */
static const char *first_glob(const char *text)
{
	const char *start = text;

	for (;;) {
		size_t length = strcspn(start, "/");
		SB_AUTO_FREE char *part = strndup(start, length);

		if (!part || sb_pattern_is_glob(part))
			return start;
		if (start[length] == '\0')
			return start + length;
		start += length + 1;
	}
}

/* The literal front of a pattern as a plain path: backslashes removed. */
static char *unescape(const char *text, size_t length)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(2 * PATH_MAX);

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\' && i + 1 < length)
			i++;
		sb_buf_putc(&out, text[i]);
	}
	return sb_buf_take(&out);
}

/* Remember the written name too when the last component is a link. */
static int note_link(const char *path, const char *canonical, struct sb_resolved *resolved,
		     struct sb_error *err)
{
	SB_AUTO_FREE char *itself = NULL;
	int status = sb_path_canonical_parent(path, &itself, err);

	if (status != SB_OK || strcmp(itself, canonical) == 0)
		return status;
	resolved->link = sb_pattern_escape(itself);
	return resolved->link ? SB_OK : sb_no_memory(err);
}

/* Remember the way there, unless it is the plain one. */
static int note_way(const char *path, const char *canonical, struct sb_resolved *resolved,
		    struct sb_error *err)
{
	if (strcmp(path, canonical) == 0)
		return SB_OK;
	resolved->written = strdup(path);
	return resolved->written ? SB_OK : sb_no_memory(err);
}

/* Does the link lie in one of roots, and what it leads to in none that has the link? */
static bool leads_out(const char *const *roots, const char *link, const char *target)
{
	for (size_t i = 0; link && roots && roots[i]; i++)
		if (sb_path_within(roots[i], link) && sb_path_within(roots[i], target))
			return false;
	return link != NULL;
}

static int resolve_literal(const char *path, const char *const *roots, struct sb_resolved *resolved,
			   struct sb_error *err)
{
	SB_AUTO_FREE char *canonical = NULL;
	int status = sb_path_canonical_through(path, roots, &canonical, &resolved->missing,
					       &resolved->through, err);

	if (status != SB_OK)
		return status;
	resolved->leads_out = leads_out(roots, resolved->through, canonical);
	resolved->pattern = sb_pattern_escape(canonical);
	if (!resolved->pattern)
		return sb_no_memory(err);
	status = note_link(path, canonical, resolved, err);
	if (status == SB_OK)
		status = note_way(path, canonical, resolved, err);
	resolved->path = sb_take_ptr(&canonical);
	return status;
}

static int resolve_glob(const char *front, const char *glob, const char *const *roots,
			struct sb_resolved *resolved, struct sb_error *err)
{
	SB_AUTO_FREE char *canonical = NULL, *escaped = NULL, *joined = NULL;
	struct sb_pattern pattern;
	int status =
		sb_path_canonical_through(front, roots, &canonical, NULL, &resolved->through, err);

	if (status != SB_OK)
		return status;
	resolved->leads_out = leads_out(roots, resolved->through, canonical);
	status = note_way(front, canonical, resolved, err);
	if (status != SB_OK)
		return status;
	escaped = sb_pattern_escape(canonical);
	joined = escaped ? sb_path_join(escaped, glob) : NULL;
	if (!joined)
		return sb_no_memory(err);
	status = sb_pattern_parse(joined, &pattern, err);
	if (status != SB_OK)
		return status;
	resolved->pattern = strdup(pattern.text);
	resolved->is_glob = true;
	sb_pattern_done(&pattern);
	return resolved->pattern ? SB_OK : sb_no_memory(err);
}

static int resolve(const struct sb_rule_base *base, const char *text, struct sb_resolved *resolved,
		   struct sb_error *err)
{
	SB_AUTO_FREE char *absolute = NULL, *front = NULL;
	const char *glob;
	int status;

	if (text[0] == '\0')
		return sb_fail(err, SB_E_INVALID, 0, "the path is empty");
	if ((base->may_be_literal || base->is_literal) && strpbrk(text, "*?[\\")) {
		SB_AUTO_FREE char *as_it_stands = NULL;

		status = sb_path_expand(text, base->directory, base->home, &as_it_stands, err);
		if (status != SB_OK)
			return status;
		if (base->is_literal || sb_path_exists(as_it_stands))
			return resolve_literal(as_it_stands, base->roots, resolved, err);
	}
	glob = first_glob(text);
	front = unescape(text, (size_t)(glob - text));
	if (!front)
		return sb_fail(err, SB_E_INVALID, 0, "the path is too long");
	if (front[0])
		status = sb_path_expand(front, base->directory, base->home, &absolute, err);
	else
		status = (absolute = strdup(base->directory)) ? SB_OK : sb_no_memory(err);
	if (status != SB_OK)
		return status;
	return *glob ? resolve_glob(absolute, glob, base->roots, resolved, err)
		     : resolve_literal(absolute, base->roots, resolved, err);
}

int sb_rule_resolve(const struct sb_rule_base *base, const char *text, struct sb_resolved *out,
		    struct sb_error *err)
{
	struct sb_resolved resolved = {0};
	int status = resolve(base, text, &resolved, err);

	if (status != SB_OK) {
		sb_resolved_done(&resolved);
		return status;
	}
	*out = resolved;
	return SB_OK;
}

void sb_resolved_done(struct sb_resolved *resolved)
{
	if (!resolved)
		return;
	free(resolved->pattern);
	free(resolved->path);
	free(resolved->link);
	free(resolved->through);
	free(resolved->written);
	*resolved = (struct sb_resolved){0};
}
