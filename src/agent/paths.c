/*
 * paths.c - which files a tool of an agent would touch.
 */
#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"

typedef int (*visitor)(void *context, enum sb_touch touch, const char *path, struct sb_error *err);

/*
 * SECURITY: the agent opens the path after us, by its own reading of the text.
 *
 * Danger: claude takes blanks off both ends and brings the text into Unicode's form C, which
 * turns three other characters into ASCII; "~" is the home directory to some agents and a name to
 * others. A path that would be another one then is refused, or judged in both meanings. Price:
 * names that begin or end with a blank cannot be edited by the agent's own tools. Held by:
 * tests/cli/hook.py
 */
static bool reads_the_same(const char *path, size_t length)
{
	static const char *const folded[] = {"\xe2\x84\xaa", "\xcd\xbe", "\xe1\xbf\xaf"};
	size_t last = length;

	if (!length || !sb_utf8_plain(path, length) || path[0] == ' ')
		return false;
	/* the last character: back over the bytes that continue it */
	do
		last--;
	while (last && (path[last] & 0xc0) == 0x80);
	if (!sb_utf8_plain(path + last, length - last) || path[last] == ' ')
		return false;
	for (size_t i = 0; i < sizeof folded / sizeof folded[0]; i++)
		if (memmem(path, length, folded[i], strlen(folded[i])))
			return false;
	return true;
}

static int visit_path(enum sb_touch touch, const char *bytes, size_t length, visitor visit,
		      void *context, struct sb_error *err)
{
	SB_AUTO_FREE char *path = strndup(bytes, length);
	SB_AUTO_FREE char *plain = NULL;
	int status;

	if (!path)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	if (!reads_the_same(path, length)) {
		sb_fail(err, SB_E_INVALID, 0,
			"the path is empty, or agents would read it differently");
		return sb_hint(err, "no blanks or invisible characters at its ends");
	}
	status = visit(context, touch, path, err);
	if (status != SB_OK || path[0] != '~')
		return status;
	plain = malloc(length + 3);
	if (!plain)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	memcpy(plain, "./", 2);
	memcpy(plain + 2, path, length + 1);
	return visit(context, touch, plain, err);
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * The lines of a patch that name files.  Agents are generous about blanks around them, so we are,
 * too: a line of contents that looks like one of these is judged in addition, which can only
 * refuse.
 */
static int visit_patch(const char *patch, visitor visit, void *context, struct sb_error *err)
{
	static const struct {
		const char *words;
		enum sb_touch touch;
	} marks[] = {
		{"*** Add File:", SB_TOUCH_WRITE},
		{"*** Update File:", SB_TOUCH_WRITE},
		{"*** Delete File:", SB_TOUCH_REMOVE},
		{"*** Move to:", SB_TOUCH_WRITE},
	};
	const char *updated = NULL; /* what a move takes away */
	size_t updated_length = 0, count = 0;

	while (*patch) {
		const char *line = patch, *end = line + strcspn(line, "\n");

		patch = *end ? end + 1 : end;
		while (line < end && is_blank(*line))
			line++;
		while (end > line && is_blank(end[-1]))
			end--;
		for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
			size_t words = strlen(marks[i].words);
			const char *path = line + words;
			int status;

			if ((size_t)(end - line) < words ||
			    strncmp(line, marks[i].words, words) != 0)
				continue;
			while (path < end && is_blank(*path))
				path++;
			status = visit_path(marks[i].touch, path, (size_t)(end - path), visit,
					    context, err);
			if (status == SB_OK && i == 3 && updated)
				status = visit_path(SB_TOUCH_REMOVE, updated, updated_length, visit,
						    context, err);
			if (status != SB_OK)
				return status;
			if (i == 1) {
				updated = path;
				updated_length = (size_t)(end - path);
			}
			count++;
		}
	}
	return count ? SB_OK : sb_fail(err, SB_E_INVALID, 0, "the patch names no file");
}

int sb_tool_event_paths(const struct sb_tool_event *event, visitor visit, void *context,
			struct sb_error *err)
{
	switch (event->kind) {
	case SB_TOOL_READ:
		return event->text ? visit_path(SB_TOUCH_READ, event->text, strlen(event->text),
						visit, context, err)
				   : SB_OK;
	case SB_TOOL_WRITE:
		return visit_path(SB_TOUCH_WRITE, event->text, strlen(event->text), visit, context,
				  err);
	case SB_TOOL_PATCH:
		return visit_patch(event->text, visit, context, err);
	default:
		return SB_OK;
	}
}
