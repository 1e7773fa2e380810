#include "shell/outlook.h"

#include <string.h>

#include "base/hash.h"

enum kind { FILE_FOUND, PROGRAM_FOUND, UNKNOWN_FOUND };

struct sb_finding {
	struct sb_finding *next;
	enum kind kind;
	uint64_t hash;
	struct sb_preview_file file; /* path alone for all other kinds */
};

#define TEXT_MOST 400 /* of a word that is shown; what is longer is cut */

void sb_outlook_init(struct sb_outlook *outlook, struct sb_arena *arena)
{
	*outlook = (struct sb_outlook){.arena = arena};
	outlook->tail = &outlook->first;
}

static uint64_t hash_of(enum kind kind, const struct sb_preview_file *file)
{
	uint64_t hash = sb_fnv(SB_FNV + (uint64_t)kind * 8 + (uint64_t)file->act, file->path,
			       strlen(file->path));

	return hash ^ hash >> 29;
}

static bool is_same(const struct sb_finding *found, enum kind kind,
		    const struct sb_preview_file *file)
{
	return found->kind == kind && found->file.act == file->act &&
	       found->file.pattern == file->pattern &&
	       (found->file.certainty == SB_UNKNOWN) == (file->certainty == SB_UNKNOWN) &&
	       strcmp(found->file.path, file->path) == 0;
}

static bool grow(struct sb_outlook *outlook)
{
	size_t size = outlook->table_size ? outlook->table_size * 4 : 32;
	struct sb_finding **table = sb_arena_alloc(outlook->arena, size * sizeof *table);

	if (!table)
		return false;
	for (struct sb_finding *found = outlook->first; found; found = found->next) {
		size_t at = found->hash & (size - 1);

		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = found;
	}
	outlook->table = table;
	outlook->table_size = size;
	return true;
}

static void add(struct sb_outlook *outlook, enum kind kind, const struct sb_preview_file *file)
{
	uint64_t hash = hash_of(kind, file);
	struct sb_finding *found;
	size_t at;

	if (outlook->count * 2 >= outlook->table_size && !grow(outlook))
		return;
	at = hash & (outlook->table_size - 1);
	while ((found = outlook->table[at]) != NULL) {
		if (found->hash == hash && is_same(found, kind, file)) {
			if (file->certainty < found->file.certainty)
				found->file = *file;
			return;
		}
		at = (at + 1) & (outlook->table_size - 1);
	}
	found = sb_arena_alloc(outlook->arena, sizeof *found);
	if (!found)
		return;
	*found = (struct sb_finding){.kind = kind, .hash = hash, .file = *file};
	outlook->table[at] = found;
	*outlook->tail = found;
	outlook->tail = &found->next;
	outlook->count++;
	outlook->files += kind == FILE_FOUND;
	outlook->programs += kind == PROGRAM_FOUND;
	outlook->unknown += kind == UNKNOWN_FOUND;
}

void sb_outlook_file(struct sb_outlook *outlook, const struct sb_preview_file *file)
{
	add(outlook, FILE_FOUND, file);
}

void sb_outlook_program(struct sb_outlook *outlook, const char *name)
{
	const struct sb_preview_file file = {.path = name};

	add(outlook, PROGRAM_FOUND, &file);
}

void sb_outlook_unknown(struct sb_outlook *outlook, const char *text, size_t length)
{
	bool cut = length > TEXT_MOST;
	char *copy =
		sb_arena_copy(outlook->arena, text, (cut ? TEXT_MOST : length) + (cut ? 3 : 0));
	struct sb_preview_file file = {.path = copy};

	if (!copy)
		return;
	if (cut)
		memcpy(copy + TEXT_MOST, "...", 3);
	add(outlook, UNKNOWN_FOUND, &file);
}

void sb_outlook_network(struct sb_outlook *outlook, enum sb_preview_network network)
{
	outlook->online |= network == SB_PREVIEW_ONLINE;
	outlook->maybe_online |= network == SB_PREVIEW_NETWORK_POSSIBLE;
	outlook->unknown_network |= network == SB_PREVIEW_NETWORK_UNKNOWN;
}

bool sb_outlook_finish(const struct sb_outlook *outlook, struct sb_preview *out)
{
	struct sb_preview_file *files =
		sb_arena_alloc(outlook->arena, (outlook->files + 1) * sizeof *files);
	const char **programs =
		sb_arena_alloc(outlook->arena, (outlook->programs + 1) * sizeof *programs);
	const char **unknown =
		sb_arena_alloc(outlook->arena, (outlook->unknown + 1) * sizeof *unknown);

	if (!files || !programs || !unknown)
		return false;
	out->files = files;
	out->programs = programs;
	out->unknown = unknown;
	for (const struct sb_finding *found = outlook->first; found; found = found->next) {
		if (found->kind == FILE_FOUND)
			files[out->file_count++] = found->file;
		else if (found->kind == PROGRAM_FOUND)
			programs[out->program_count++] = found->file.path;
		else
			unknown[out->unknown_count++] = found->file.path;
	}
	out->network = outlook->online            ? SB_PREVIEW_ONLINE
		       : outlook->maybe_online    ? SB_PREVIEW_NETWORK_POSSIBLE
		       : outlook->unknown_network ? SB_PREVIEW_NETWORK_UNKNOWN
						  : SB_PREVIEW_OFFLINE;
	return true;
}
