#include "consent/notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

static uint64_t hash_of(const char *line)
{
	uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

	for (; *line; line++)
		hash = (hash ^ (unsigned char)*line) * UINT64_C(1099511628211);
	return hash;
}

static bool is_known(const struct sb_notes *notes, const char *line)
{
	uint64_t hash = hash_of(line);

	for (size_t i = 0; i < notes->known_count; i++)
		if (notes->known[i] == hash)
			return true;
	for (size_t i = 0; i < notes->count; i++)
		if (strcmp(notes->lines[i], line) == 0)
			return true;
	return false;
}

/* How deep the path is that the line begins with; 0: it begins with none. */
static size_t depth(const char *line)
{
	size_t count = 0;

	if (*line == '\'')
		for (line++; *line && *line != '\''; line++)
			count += *line == '/';
	return count;
}

/* Keep it, in place of one from deeper if need be.  False: it is only counted. */
static bool keep(struct sb_notes *notes, const char *line)
{
	size_t worst = 0;
	char *copy;

	if (notes->count < SB_NOTES_MAX) {
		notes->lines[notes->count] = strdup(line);
		notes->count += notes->lines[notes->count] != NULL;
		return true;
	}
	notes->beyond++;
	for (size_t i = 1; i < notes->count; i++)
		if (depth(notes->lines[i]) >= depth(notes->lines[worst]))
			worst = i;
	if (depth(line) >= depth(notes->lines[worst]) || !(copy = strdup(line)))
		return false;
	free(notes->lines[worst]);
	notes->lines[worst] = copy;
	return true;
}

bool sb_notes_add(struct sb_notes *notes, const char *line)
{
	char safe[SB_NOTE_SIZE];
	bool full = notes->known_count == SB_NOTES_KNOWN;

	sb_escape_line(safe, sizeof safe, line);
	if (is_known(notes, safe))
		return false;
	if (!full)
		notes->known[notes->known_count++] = hash_of(safe);
	return keep(notes, safe) || !full;
}

void sb_notes_done(struct sb_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->lines[i]);
	/* not all of it: most runs have not touched the pages of known */
	notes->count = notes->beyond = notes->known_count = 0;
}

void sb_notes_text(const struct sb_notes *notes, struct sb_buf *out)
{
	if (!notes->count && !notes->beyond)
		return;
	sb_buf_puts(out, "sandbash: done without a question, but look at it:\n");
	for (size_t i = 0; i < notes->count; i++)
		sb_buf_printf(out, "  %s\n", notes->lines[i]);
	if (notes->beyond)
		sb_buf_printf(out, "  and %zu more\n", notes->beyond);
}

void sb_notes_json(const struct sb_notes *notes, struct sb_json *json)
{
	sb_json_key(json, "notes");
	sb_json_open(json, '[');
	for (size_t i = 0; i < notes->count; i++)
		sb_json_string(json, notes->lines[i]);
	sb_json_close(json, ']');
	sb_json_pair_int(json, "notes_not_listed", (long)notes->beyond);
}
