/*
 * Files by their words: where a path leads, and that something is done there.
 */
#include <string.h>

#include "base/words.h"
#include "shell/shell.h"

#define BY_MOST 200 /* of the words that are shown as responsible */

struct sb_field *sb_field_new(struct sb_shell *shell, enum sb_knowledge known, const char *text,
			      size_t length)
{
	struct sb_field *field = sb_arena_alloc(shell->arena, sizeof *field);

	if (!field)
		return NULL;
	field->known = known;
	field->text = sb_arena_copy(shell->arena, text, length);
	return field->text ? field : NULL;
}

bool sb_field_is(const struct sb_field *field, const char *text)
{
	return field && field->known == SB_KNOWN && strcmp(field->text, text) == 0;
}

bool sb_field_is_one(const struct sb_field *field, const char *words)
{
	return field && field->known == SB_KNOWN && sb_is_word(words, field->text);
}

static bool is_wild(char c)
{
	return c == '*' || c == '?' || c == '[' || c == '\\';
}

/* Bytes of text, escaped where the whole becomes a pattern. */
static char *put(char *out, const char *text, size_t length, bool escape)
{
	for (size_t i = 0; i < length; i++) {
		if (escape && is_wild(text[i]))
			*out++ = '\\';
		*out++ = text[i];
	}
	return out;
}

/* first + slash + second; what is a pattern makes all one. */
static struct sb_field *joined(struct sb_shell *shell, const struct sb_field *first,
			       size_t first_length, const char *slash,
			       const struct sb_field *second, size_t second_length)
{
	struct sb_field *field = sb_arena_alloc(shell->arena, sizeof *field);
	char *text = sb_arena_alloc(shell->arena, 2 * (first_length + second_length) + 8), *out;
	bool pattern = first->known == SB_PATTERN_KNOWN || second->known == SB_PATTERN_KNOWN;

	if (!field || !text)
		return NULL;
	*field = *first;
	field->next = NULL;
	field->text = text;
	if (first->known == SB_NOT_KNOWN || second->known == SB_NOT_KNOWN)
		field->known = SB_NOT_KNOWN, pattern = false;
	else
		field->known = pattern ? SB_PATTERN_KNOWN : SB_KNOWN;
	out = put(text, first->text, first_length, pattern && first->known == SB_KNOWN);
	out = put(out, slash, strlen(slash), false);
	out = put(out, second->text, second_length, pattern && second->known == SB_KNOWN);
	*out = '\0';
	return field;
}

static size_t without_slashes(const char *text)
{
	size_t length = strlen(text);

	while (length > 1 && text[length - 1] == '/')
		length--;
	return length;
}

struct sb_field *sb_field_into(struct sb_shell *shell, const struct sb_field *dir,
			       const struct sb_field *name)
{
	size_t length = without_slashes(name->text), start = length;
	struct sb_field last = *name;
	size_t dir_length = without_slashes(dir->text);

	while (start && name->text[start - 1] != '/')
		start--;
	if (name->known == SB_NOT_KNOWN)
		start = 0; /* written out, it is better than a part of it */
	last.text += start;
	length -= start;
	if (last.known == SB_KNOWN && ((length == 1 && last.text[0] == '.') ||
				       (length == 2 && memcmp(last.text, "..", 2) == 0)))
		last.known = SB_NOT_KNOWN;
	return joined(shell, dir, dir_length, dir->text[0] == '/' && dir_length == 1 ? "" : "/",
		      &last, length);
}

struct sb_field *sb_field_beneath(struct sb_shell *shell, const struct sb_field *dir)
{
	const struct sb_field all = {.text = "**", .known = SB_PATTERN_KNOWN};
	size_t length = without_slashes(dir->text);

	return joined(shell, dir, length, length == 1 && dir->text[0] == '/' ? "" : "/", &all, 2);
}

struct sb_field *sb_field_with(struct sb_shell *shell, const struct sb_field *field,
			       const char *text)
{
	const struct sb_field more = {.text = text, .known = SB_KNOWN};

	return joined(shell, field, strlen(field->text), "", &more, strlen(text));
}

struct sb_field *sb_field_like(struct sb_shell *shell, const struct sb_field *field,
			       const char *pattern)
{
	const struct sb_field more = {.text = pattern, .known = SB_PATTERN_KNOWN};

	return joined(shell, field, strlen(field->text), "", &more, strlen(pattern));
}

struct sb_field *sb_field_in_home(struct sb_shell *shell, const char *name)
{
	const char *text;
	bool known = sb_variable_get(shell, "HOME", 4, &text) == SB_KNOWN;
	const struct sb_field home = {.text = known ? text : "~",
				      .known = known ? SB_KNOWN : SB_NOT_KNOWN};

	return sb_field_with(shell, &home, name);
}

/* --- paths ------------------------------------------------------------------------------------- */

/* One component behind out; ".." takes one away. */
static char *step(char *start, char *out, const char *name, size_t length)
{
	if (!length || (length == 1 && *name == '.'))
		return out;
	if (length == 2 && memcmp(name, "..", 2) == 0) {
		if (out > start)
			while (*--out != '/')
				;
		return out;
	}
	*out++ = '/';
	memcpy(out, name, length);
	return out + length;
}

/* Does text go up from a directory that may be a link? */
static bool is_sure(const struct sb_shell *shell, const char *text)
{
	bool sure = *text != '/' && shell->state.physical;

	if (*text == '/')
		sure = true; /* the root is no link; any name behind it may be one */
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, "/");

		if (length == 2 && memcmp(at, "..", 2) == 0) {
			if (!sure)
				return false;
		} else if (length && !(length == 1 && *at == '.')) {
			sure = false;
		}
		at += length;
		at += strspn(at, "/");
	}
	return true;
}

const char *sb_path_of(struct sb_shell *shell, const char *text, bool *out_sure)
{
	const char *base = *text == '/' ? "" : shell->state.directory;
	char *start, *out;

	*out_sure = is_sure(shell, text);
	if (!base || !*text)
		return NULL;
	start = out = sb_arena_alloc(shell->arena, strlen(base) + strlen(text) + 3);
	if (!start)
		return NULL;
	for (int i = 0; i < 2; i++)
		for (const char *at = i ? text : base; *at;) {
			size_t length = strcspn(at, "/");

			out = step(start, out, at, length);
			at += length;
			at += *at == '/';
		}
	if (out == start)
		*out++ = '/';
	*out = '\0';
	return start;
}

void sb_directory_enter(struct sb_shell *shell, const struct sb_field *field)
{
	struct sb_shell_state *state = &shell->state;
	bool sure;

	state->directory = field->known == SB_KNOWN ? sb_path_of(shell, field->text, &sure) : NULL;
	state->strays = *field->text != '/' && (state->strays || state->stayed);
	state->stayed = NULL;
}

void sb_directory_doubt(struct sb_shell *shell, const char *before)
{
	shell->state.strays |= shell->state.stayed || !before;
	shell->state.stayed = before;
}

/* What is written there is in no file. */
static bool is_no_file(const char *path)
{
	return sb_text_begins(path, "/dev/fd/") ||
	       (sb_text_begins(path, "/dev/") &&
		sb_is_word("null zero full random urandom tty stdout stderr stdin", path + 5));
}

/* --- telling ------------------------------------------------------------------------------------ */

static const char *words_of(struct sb_shell *shell, const struct sb_field *field)
{
	const char *text = field->word ? field->word->text : field->text;
	size_t length = field->word ? field->word->length : strlen(text);
	size_t name = shell->name ? strlen(shell->name) : 0;
	char *by;

	if (length > BY_MOST)
		length = BY_MOST;
	by = sb_arena_alloc(shell->arena, name + length + 2);
	if (!by)
		return "";
	if (name) {
		memcpy(by, shell->name, name);
		by[name++] = ' ';
	}
	memcpy(by + name, text, length);
	return by;
}

/* A pattern's directory is no pattern: escaped, it becomes a part of one. */
static const char *pattern_path(struct sb_shell *shell, const struct sb_field *field)
{
	const char *base = shell->state.directory;
	struct sb_field dir = {.text = base, .known = SB_KNOWN};
	const char *text = field->text;
	bool sure;

	if (*text != '/') {
		if (!base)
			return NULL;
		while (sb_text_begins(text, "./"))
			text += 2;
		struct sb_field rest = *field, *whole;

		rest.text = text;
		whole = joined(shell, &dir, strcmp(base, "/") ? strlen(base) : 0, "/", &rest,
			       strlen(text));
		text = whole ? whole->text : NULL;
	}
	return text ? sb_path_of(shell, text, &sure) : NULL;
}

/* The same name where it is if a cd failed. */
static void touch_elsewhere(struct sb_shell *shell, enum sb_preview_act act,
			    const struct sb_field *field, enum sb_certainty at_best)
{
	struct sb_shell_state *state = &shell->state, before = *state;

	if (*field->text == '/' || !*field->text || !state->directory)
		return;
	state->directory = state->stayed;
	state->stayed = NULL;
	state->strays = false;
	if (state->directory)
		sb_file_touch(shell, act, field, at_best == SB_CERTAIN ? SB_POSSIBLE : at_best);
	state->directory = NULL;
	if (before.strays)
		sb_file_touch(shell, act, field, SB_UNKNOWN);
	*state = before;
}

void sb_file_touch(struct sb_shell *shell, enum sb_preview_act act, const struct sb_field *field,
		   enum sb_certainty at_best)
{
	struct sb_preview_file file = {.act = act, .certainty = at_best};
	bool sure = true;

	if (shell->silent || !field)
		return;
	if (field->known == SB_KNOWN)
		file.path = sb_path_of(shell, field->text, &sure);
	else if (field->known == SB_PATTERN_KNOWN)
		file.path = pattern_path(shell, field);
	file.pattern = file.path && field->known == SB_PATTERN_KNOWN;
	if (file.path && is_no_file(file.path))
		return;
	if (file.path && sb_text_begins(file.path, "/dev/tcp/"))
		sb_network(shell, SB_PREVIEW_ONLINE);
	if (file.certainty == SB_CERTAIN && (shell->state.maybe || !sure || file.pattern))
		file.certainty = SB_POSSIBLE;
	if (!file.path) {
		if (field->known == SB_KNOWN && !*field->text)
			return; /* no file has no name */
		file.certainty = SB_UNKNOWN;
		file.path = field->text;
	}
	file.by = words_of(shell, field);
	sb_outlook_file(shell->outlook, &file);
	if (shell->state.stayed || shell->state.strays)
		touch_elsewhere(shell, act, field, at_best);
}

void sb_unknown(struct sb_shell *shell, const char *text, size_t length)
{
	if (!shell->silent)
		sb_outlook_unknown(shell->outlook, text, length);
}

void sb_unknown_word(struct sb_shell *shell, const struct sb_field *field)
{
	if (field->word)
		sb_unknown(shell, field->word->text, field->word->length);
	else
		sb_unknown(shell, field->text, strlen(field->text));
}

void sb_network(struct sb_shell *shell, enum sb_preview_network network)
{
	if (shell->silent)
		return;
	if (network == SB_PREVIEW_ONLINE && shell->state.maybe)
		network = SB_PREVIEW_NETWORK_POSSIBLE;
	sb_outlook_network(shell->outlook, network);
}
