#include "supervise/permits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void drop(struct sb_permits *permits, size_t i)
{
	free(permits->all[i].path);
	memmove(permits->all + i, permits->all + i + 1,
		(--permits->count - i) * sizeof *permits->all);
}

void sb_permits_done(struct sb_permits *permits)
{
	while (permits->count)
		drop(permits, permits->count - 1);
}

void sb_permits_add(struct sb_permits *permits, uint64_t id, const struct sb_judged *lands)
{
	struct sb_permit permit = {.id = id, .rule = lands->decision.rule};
	struct stat info;

	if (!id || fstat(lands->site->directory, &info) != 0)
		return;
	permit.device = info.st_dev;
	permit.directory = info.st_ino;
	permit.path = strdup(lands->site->path);
	if (!permit.path)
		return;
	if (permits->count == SB_PERMITS_MAX)
		drop(permits, 0);
	permits->all[permits->count++] = permit;
}

/*
 * SECURITY: a yes before the bytes are known is for one name.
 *
 * Danger: between the yes and the close the directory may get another name, where the same
 * last name is run by somebody else, or somebody may have put another directory in its place.
 * So directory, whole path and the rule that asked must all be those of the question.
 * Price: a renamed directory means a second question.
 * Held by: tests/supervise/noticed.py
 */
static bool is_for(const struct sb_permit *permit, const struct sb_judged *lands)
{
	struct stat info;

	return permit->rule == lands->decision.rule &&
	       strcmp(permit->path, lands->site->path) == 0 &&
	       fstat(lands->site->directory, &info) == 0 && info.st_dev == permit->device &&
	       info.st_ino == permit->directory;
}

bool sb_permits_take(struct sb_permits *permits, uint64_t id, const struct sb_judged *lands)
{
	for (size_t i = 0; id && i < permits->count; i++)
		if (permits->all[i].id == id) {
			bool fits = is_for(&permits->all[i], lands);

			drop(permits, i);
			return fits;
		}
	return false;
}
