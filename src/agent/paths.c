/*
 * paths.c - which files a tool of an agent would touch.
 */
#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/words.h"
#include "tree/braces.h"

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
		return sb_no_memory(err);
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
		return sb_no_memory(err);
	memcpy(plain, "./", 2);
	memcpy(plain + 2, path, length + 1);
	return visit(context, touch, plain, err);
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* --- patches -------------------------------------------------------------------------------- */

/* How long a line's end is that some programs know and others take for a character; 0: none. */
static size_t soft_end(const char *at, const char *end)
{
	static const char *const wide[] = {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};

	if ((unsigned char)*at < ' ' && *at != '\t')
		return 1;
	for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
		if ((size_t)(end - at) >= strlen(wide[i]) &&
		    memcmp(at, wide[i], strlen(wide[i])) == 0)
			return strlen(wide[i]);
	return 0;
}

static bool is_all_blank(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	return at == end;
}

static bool is_words(const char *at, const char *end, const char *words)
{
	size_t length = strlen(words);

	return (size_t)(end - at) >= length && memcmp(at, words, length) == 0 &&
	       is_all_blank(at + length, end);
}

/* A line of a file's, with its sign, or one that no agent could take for a header. */
static bool is_contents(const char *line, const char *end)
{
	return line == end || memchr("+- ", *line, 3) ||
	       (end - line >= 2 && memcmp(line, "@@", 2) == 0) ||
	       !memmem(line, (size_t)(end - line), "***", 3);
}

struct patch {
	visitor visit;
	void *context;
	const char *updated; /* what a move takes away */
	size_t updated_length;
	size_t count; /* of files that were named */
};

/* One header, if there is one from at on; what is behind it, up to end, belongs to its line. */
static int visit_header(struct patch *patch, const char *at, const char *end, bool *out_found,
			struct sb_error *err)
{
	static const struct {
		const char *words;
		enum sb_touch touch;
		bool updates, moves;
	} marks[] = {
		{"*** Add File:", SB_TOUCH_WRITE},
		{"*** Update File:", SB_TOUCH_WRITE, .updates = true},
		{"*** Delete File:", SB_TOUCH_REMOVE},
		{"*** Move to:", SB_TOUCH_WRITE, .moves = true},
	};

	while (at < end && (*at == ' ' || *at == '\t' || (unsigned char)*at >= 0x7f))
		at++;
	while (end > at && is_blank(end[-1]))
		end--;
	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
		size_t words = strlen(marks[i].words);
		const char *path = at + words;
		int status;

		if ((size_t)(end - at) < words || memcmp(at, marks[i].words, words) != 0)
			continue;
		while (path < end && is_blank(*path))
			path++;
		for (const char *c = path; c < end; c++)
			if (soft_end(c, end))
				return sb_fail(err, SB_E_INVALID, 0,
					       "a line of the patch that names a file may end in "
					       "the middle");
		status = visit_path(marks[i].touch, path, (size_t)(end - path), patch->visit,
				    patch->context, err);
		if (status == SB_OK && marks[i].moves && patch->updated)
			status = visit_path(SB_TOUCH_REMOVE, patch->updated, patch->updated_length,
					    patch->visit, patch->context, err);
		if (marks[i].updates) {
			patch->updated = path;
			patch->updated_length = (size_t)(end - path);
		}
		patch->count++;
		*out_found = true;
		return status;
	}
	return SB_OK;
}

/*
 * SECURITY: the agent looks for the headers of a patch after us, by its own idea of a blank.
 *
 * Danger: codex takes all blanks of Unicode off a line before it looks whether it is a header, opencode
 * those of JavaScript; what we take for contents then names a file.  So whatever is not ASCII may be
 * a blank, and a line may begin wherever some program ends one: a header there is judged as
 * well, which can only refuse.  And a line that is no contents by its first character, has "***" in it and is no
 * header in the known form is refused. Price: contents that hold a whole header count as one.
 * Held by: tests/cli/hook.py
 */
static int visit_line(struct patch *patch, const char *line, const char *end, struct sb_error *err)
{
	static const char *const frame[] = {"*** Begin Patch", "*** End Patch", "*** End of File"};
	const char *at = line;
	bool found = false, known = is_contents(line, end);
	int status = visit_header(patch, line, end, &found, err);

	while (at < end && is_blank(*at))
		at++;
	known |= found;
	for (size_t i = 0; i < sizeof frame / sizeof frame[0]; i++)
		known |= is_words(at, end, frame[i]);
	if (status == SB_OK && !known) {
		sb_fail(err, SB_E_INVALID, 0, "the patch has a line with '***' that is no header");
		return sb_hint(err, "lines of a file begin with '+', '-' or ' '");
	}
	for (at = line; at < end && status == SB_OK; at++) {
		size_t length = soft_end(at, end);

		if (length)
			status = visit_header(patch, at + length, end, &found, err);
	}
	return status;
}

static int visit_patch(const char *text, visitor visit, void *context, struct sb_error *err)
{
	struct patch patch = {.visit = visit, .context = context};
	struct sb_text_lines line = sb_text_lines(text, strlen(text));
	int status = SB_OK;

	while (status == SB_OK && sb_next_line(&line))
		status = visit_line(&patch, line.text, line.text + line.length, err);
	if (status != SB_OK)
		return status;
	return patch.count ? SB_OK : sb_fail(err, SB_E_INVALID, 0, "the patch names no file");
}

/* --- searching ------------------------------------------------------------------------------ */

enum { ALTERNATIVES = 256, PATTERN_BYTES = 4096 };

/* How much of a pattern names a directory, without its last slash; 0: it begins in the base. */
static size_t literal_length(const char *pattern)
{
	size_t name = 0;

	for (size_t at = 0; pattern[at] && !strchr("*?[]{}()!@+|\\", pattern[at]); at++)
		if (pattern[at] == '/')
			name = at + 1;
	while (name > 1 && pattern[name - 1] == '/')
		name--;
	return name;
}

/* A pattern without braces: the directory that it begins in, taken from base or from "/". */
static int visit_alternative(const char *base, const char *pattern, visitor visit, void *context,
			     struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf plain = SB_BUF(PATTERN_BYTES);
	SB_AUTO_BUF struct sb_buf under = SB_BUF(2UL * PATTERN_BYTES);
	size_t length = literal_length(pattern);
	int status = SB_OK;

	for (const char *at = pattern + length; *at; at++)
		if (*at != '\\')
			sb_buf_putc(&plain, *at);
	if (plain.length && strstr(plain.data, "..")) {
		sb_fail(err, SB_E_INVALID, 0, "where the pattern leads cannot be told");
		return sb_hint(err, "'..' only at its beginning; or name the directory instead");
	}
	if (pattern[0] == '/' || pattern[0] == '~')
		status = visit_path(SB_TOUCH_SEARCH, pattern, length ? length : strlen(pattern),
				    visit, context, err);
	/* to some tools, "/x" is in the directory that they look through */
	sb_buf_puts(&under, base);
	if (length) {
		sb_buf_putc(&under, '/');
		sb_buf_append(&under, pattern, length);
	}
	if (sb_buf_failed(&under) || sb_buf_failed(&plain))
		return sb_fail(err, SB_E_INVALID, 0, "the path is too long");
	return status == SB_OK
		       ? visit_path(SB_TOUCH_SEARCH, under.data, under.length, visit, context, err)
		       : status;
}

static int visit_pattern(const struct sb_tool_event *event, size_t value, const char *base,
			 visitor visit, void *context, struct sb_error *err)
{
	SB_AUTO_FREE char *pattern = sb_json_text_string(&event->doc, value);
	struct sb_braces braces = {0};
	int status;

	if (!pattern)
		return sb_fail(err, SB_E_INVALID, 0, "a pattern of the tool's is no text");
	status = sb_braces_expand(pattern, ALTERNATIVES, PATTERN_BYTES, &braces, err);
	for (size_t i = 0; i < braces.count && status == SB_OK; i++)
		status = visit_alternative(base, braces.all[i], visit, context, err);
	sb_braces_done(&braces);
	return status;
}

/* What a tool shows that looks through a directory: all of it, or what its patterns choose. */
static int visit_search(const struct sb_tool_event *event, visitor visit, void *context,
			struct sb_error *err)
{
	const struct sb_tool_search *search = &event->search;
	const struct sb_json_place *values = event->doc.values;
	const char *base = event->text ? event->text : ".";
	bool chosen = false;
	int status = SB_OK;

	for (size_t i = 0; i < SB_TOOL_PATTERNS && search->patterns[i] && status == SB_OK; i++) {
		size_t found = sb_json_text_member(&event->doc, event->input, search->patterns[i]);
		bool list = found && values[found].kind == '[';
		size_t value = list ? values[found].first : found;

		if (found && values[found].kind == 'n')
			continue;
		for (; value && status == SB_OK; value = list ? values[value].next : 0) {
			status = visit_pattern(event, value, base, visit, context, err);
			chosen = true;
		}
	}
	if (status != SB_OK)
		return status;
	return visit_path(search->chooses && chosen ? SB_TOUCH_READ : SB_TOUCH_SEARCH, base,
			  strlen(base), visit, context, err);
}

/* --- tools ---------------------------------------------------------------------------------- */

int sb_tool_event_paths(const struct sb_tool_event *event, visitor visit, void *context,
			struct sb_error *err)
{
	switch (event->kind) {
	case SB_TOOL_READ:
		if (event->search.looks)
			return visit_search(event, visit, context, err);
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
