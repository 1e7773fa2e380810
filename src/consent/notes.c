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

bool sb_notes_add(struct sb_notes *notes, const char *line)
{
	char safe[SB_NOTE_SIZE];
	uint64_t hash;

	sb_escape_line(safe, sizeof safe, line);
	hash = hash_of(safe);
	for (size_t i = 0; i < notes->known_count; i++)
		if (notes->known[i] == hash)
			return false;
	if (notes->known_count == SB_NOTES_KNOWN)
		return false;
	notes->known[notes->known_count++] = hash;
	if (notes->count < SB_NOTES_MAX && (notes->lines[notes->count] = strdup(safe)))
		notes->count++;
	else
		notes->beyond++;
	return true;
}

void sb_notes_done(struct sb_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->lines[i]);
	*notes = (struct sb_notes){0};
}

void sb_notes_text(const struct sb_notes *notes, struct sb_buf *out)
{
	if (!notes->count && !notes->beyond)
		return;
	sb_buf_puts(out, "sandbash: done without a question, but look at it:\n");
	for (size_t i = 0; i < notes->count; i++)
		sb_buf_printf(out, "  %s\n", notes->lines[i]);
	if (notes->beyond)
		sb_buf_printf(out, "  and %zu%s more\n", notes->beyond,
			      notes->known_count == SB_NOTES_KNOWN ? " or" : "");
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
