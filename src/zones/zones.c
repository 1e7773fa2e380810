#include "base/words.h"
#include "zones/zones_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define MAX_NAME 64

const char *sb_zone_mode_name(enum sb_zone_mode mode)
{
	return mode == SB_ZONE_RW ? "rw" : "ro";
}

const char *sb_approval_name(enum sb_approval approval)
{
	static const char *const names[] = {"preApproved", "ask", "blocked"};

	return names[approval];
}

const char *sb_isolation_name(enum sb_isolation isolation)
{
	return isolation == SB_ISOLATION_ZONES ? "zones" : "container";
}

static void zone_done(struct sb_zone *zone)
{
	free(zone->name);
	free(zone->path);
	for (size_t i = 0; i < zone->part_count; i++) {
		free(zone->parts[i].pattern);
		free(zone->parts[i].origin);
	}
	free(zone->parts);
}

void sb_zones_done(struct sb_zones *zones)
{
	for (size_t i = 0; i < zones->count; i++)
		zone_done(&zones->all[i]);
	free(zones->all);
	*zones = (struct sb_zones){0};
}

const struct sb_zone *sb_zones_find(const struct sb_zones *zones, const char *name)
{
	for (size_t i = 0; i < zones->count; i++)
		if (strcmp(zones->all[i].name, name) == 0)
			return &zones->all[i];
	return NULL;
}

int sb_zones_add(struct sb_zones *zones, struct sb_zone zone, struct sb_error *err)
{
	struct sb_zone *grown = NULL;
	size_t at = 0;

	if (zone.name)
		grown = realloc(zones->all, (zones->count + 1) * sizeof *grown);
	if (!grown) {
		zone_done(&zone);
		return sb_no_memory(err);
	}
	zones->all = grown;
	while (at < zones->count && strcmp(grown[at].name, zone.name) < 0)
		at++;
	memmove(&grown[at + 1], &grown[at], (zones->count - at) * sizeof *grown);
	grown[at] = zone;
	zones->count++;
	return SB_OK;
}

/*
 * Names that programs find something else at, in the world that a worker sees or in any other: a zone of this
 * name would stand in for the system.
 */
static bool is_of_system(const char *name)
{
	return sb_is_word("bin boot dev etc home media mnt opt proc root run sbin srv sys tmp usr "
			  "var libx32",
			  name) ||
	       (strncmp(name, "lib", 3) == 0 && (!name[3] || isdigit((unsigned char)name[3])));
}

int sb_zone_check_name(const char *name, const char **out_expected)
{
	size_t length = strlen(name);

	*out_expected = NULL;
	if (!length || length > MAX_NAME || !isalnum((unsigned char)name[0]))
		*out_expected =
			"a name of at most 64 letters, digits, '-', '_' and '.', a letter or "
			"digit first";
	for (size_t i = 0; i < length && !*out_expected; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
			*out_expected = "a name of letters, digits, '-', '_' and '.'";
	if (!*out_expected && is_of_system(name))
		*out_expected = "a name that is no system directory's";
	return *out_expected ? SB_E_INVALID : SB_OK;
}

/* --- what a worker gets ------------------------------------------------------------------------ */

static enum sb_approval stricter(enum sb_approval a, enum sb_approval b)
{
	return a > b ? a : b;
}

/* "FILE:LINE:COLUMN: ", or nothing where no file says it */
static int refuse(const struct sb_worker *worker, const struct sb_zone *wanted,
		  struct sb_error *err, const char *what)
{
	return sb_fail(err, SB_E_REFUSED, 0, "%s:%u:%u: %s: %s", worker->file, wanted->line,
		       wanted->column, wanted->name, what);
}

static int tell_names(const struct sb_zones *has, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf names = SB_BUF(sizeof err->hint);

	for (size_t i = 0; i < has->count; i++)
		sb_buf_printf(&names, "%s%s", i ? ", " : "", has->all[i].name);
	if (names.length)
		sb_hint(err, "it has %s", names.data);
	return SB_E_REFUSED;
}

static int grant(const struct sb_worker *worker, const struct sb_zone *wanted,
		 const struct sb_zones *has, const struct sb_worker *parent, struct sb_zones *out,
		 struct sb_error *err)
{
	const struct sb_zone *zone = sb_zones_find(has, wanted->name);
	struct sb_zone got = {.mode = wanted->mode, .line = wanted->line, .column = wanted->column};

	if (!zone && parent)
		return refuse(worker, wanted, err,
			      wanted->mode == SB_ZONE_RW
				      ? "Child requests 'rw' but parent does not have it"
				      : "Child requests 'ro' but parent does not have it");
	if (!zone) {
		refuse(worker, wanted, err, "the project has no zone of this name");
		return tell_names(has, err);
	}
	if (wanted->mode > zone->mode)
		return refuse(worker, wanted, err,
			      parent ? "Child requests 'rw' but parent only has 'ro'"
				     : "the worker requests 'rw' but the project only has 'ro'");
	got.name = strdup(zone->name);
	got.path = strdup(zone->path);
	if (!got.path) {
		free(got.name);
		got.name = NULL;
	}
	got.write = stricter(wanted->write, zone->write);
	got.remove = stricter(wanted->remove, zone->remove);
	return sb_zones_add(out, got, err);
}

static bool has_word(char *const *words, const char *word)
{
	for (; words && *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

/* What is no directory: the network, and which programs may be run. */
static int check_rest(const struct sb_worker *worker, const struct sb_worker *parent,
		      struct sb_error *err)
{
	if (worker->network && !parent->network)
		return sb_fail(err, SB_E_REFUSED, 0,
			       "%s: Child requests the network but parent does not have it",
			       worker->file);
	if (parent->commands && !worker->commands)
		return sb_fail(err, SB_E_REFUSED, 0,
			       "%s: Child requests every command but parent only has some",
			       worker->file);
	for (size_t i = 0; parent->commands && worker->commands[i]; i++)
		if (!has_word(parent->commands, worker->commands[i]))
			return sb_fail(
				err, SB_E_REFUSED, 0,
				"%s: Child requests the command '%s' but parent does not have it",
				worker->file, worker->commands[i]);
	return SB_OK;
}

int sb_worker_grant(const struct sb_worker *worker, const struct sb_zones *has,
		    const struct sb_worker *parent, struct sb_zones *out, struct sb_error *err)
{
	int status = parent ? check_rest(worker, parent, err) : SB_OK;

	*out = (struct sb_zones){0};
	for (size_t i = 0; i < worker->declared.count && status == SB_OK; i++)
		status = grant(worker, &worker->declared.all[i], has, parent, out, err);
	if (status != SB_OK)
		sb_zones_done(out);
	return status;
}
