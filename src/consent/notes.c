#include "consent/notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/hash.h"

static bool is_in(const struct sb_note *lines, size_t count, const char *line)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(lines[i].text, line) == 0)
			return true;
	return false;
}

static bool is_known(const struct sb_notes *notes, const char *line)
{
	uint64_t hash = sb_fnv(SB_FNV, line, strlen(line));

	for (size_t i = 0; i < notes->known_count; i++)
		if (notes->known[i] == hash)
			return true;
	return is_in(notes->grave, notes->grave_count, line) ||
	       is_in(notes->lines, notes->count, line);
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

/* Does the one say less than the other? */
static bool is_less(const struct sb_note *a, const struct sb_note *b)
{
	return a->weight != b->weight ? a->weight < b->weight : depth(a->text) > depth(b->text);
}

/* Keep it, in place of one that says less if need be.  False: it is only counted. */
static bool keep(struct sb_notes *notes, enum sb_note_weight weight, const char *line)
{
	bool grave = weight == SB_NOTE_GRAVE;
	struct sb_note *lines = grave ? notes->grave : notes->lines, *worst = lines;
	size_t *count = grave ? &notes->grave_count : &notes->count;
	struct sb_note note = {strdup(line), weight};

	if (!note.text) {
		notes->beyond++;
		return false;
	}
	if (*count < (grave ? SB_NOTES_GRAVE : SB_NOTES_MAX)) {
		lines[(*count)++] = note;
		return true;
	}
	notes->beyond++;
	for (size_t i = 1; i < *count; i++)
		if (!is_less(worst, &lines[i]))
			worst = &lines[i];
	if (!is_less(worst, &note)) {
		free(note.text);
		return false;
	}
	free(worst->text);
	*worst = note;
	return true;
}

bool sb_notes_add(struct sb_notes *notes, enum sb_note_weight weight, const char *line)
{
	char safe[SB_NOTE_SIZE];
	bool full = notes->known_count == SB_NOTES_KNOWN;

	sb_escape_line(safe, sizeof safe, line);
	if (is_known(notes, safe))
		return false;
	if (!full)
		notes->known[notes->known_count++] = sb_fnv(SB_FNV, safe, strlen(safe));
	return keep(notes, weight, safe) || !full;
}

void sb_notes_done(struct sb_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->lines[i].text);
	for (size_t i = 0; i < notes->grave_count; i++)
		free(notes->grave[i].text);
	/* not all of it: most runs have not touched the pages of known */
	notes->count = notes->grave_count = notes->beyond = notes->known_count = 0;
}

/* The gravest first, else as they came. */
static void each(const struct sb_notes *notes, void (*put)(void *out, const char *line), void *out)
{
	for (size_t i = 0; i < notes->grave_count; i++)
		put(out, notes->grave[i].text);
	for (int weight = SB_NOTE_LANDED; weight >= SB_NOTE_TOLD; weight--)
		for (size_t i = 0; i < notes->count; i++)
			if ((int)notes->lines[i].weight == weight)
				put(out, notes->lines[i].text);
}

static void put_line(void *out, const char *line)
{
	sb_buf_printf(out, "  %s\n", line);
}

static void put_string(void *out, const char *line)
{
	sb_json_string(out, line);
}

void sb_notes_text(const struct sb_notes *notes, struct sb_buf *out)
{
	if (!notes->count && !notes->grave_count && !notes->beyond)
		return;
	sb_buf_puts(out, "sandbash: done without a question, but look at it:\n");
	each(notes, put_line, out);
	if (notes->beyond)
		sb_buf_printf(out, "  and %zu more\n", notes->beyond);
}

void sb_notes_json(const struct sb_notes *notes, struct sb_json *json)
{
	sb_json_open_at(json, "notes", '[');
	each(notes, put_string, json);
	sb_json_close(json, ']');
	sb_json_pair_int(json, "notes_not_listed", (long)notes->beyond);
}
