/*
 * The project's own file: which zones there are, and where they lie.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "config/file.h"
#include "path/path.h"
#include "zones/schema.h"
#include "zones/zones_impl.h"

#define DEFAULT_ROOT ".sandbox"

const char *const sb_project_files[] = {"golem-forge.config.yaml", "sandbash.yaml", NULL};

/* What has been read; paths are made when all of it is, since root may stand behind zones. */
struct reading {
	struct sb_project *project;
	const struct sb_yaml *root, *zones;
	unsigned direct;
	const struct sb_yaml *path; /* of the zone at hand, as are: */
	unsigned mode;
	enum sb_approval write, remove;
};

void sb_project_done(struct sb_project *project)
{
	free(project->directory);
	free(project->file);
	free(project->root);
	sb_zones_done(&project->zones);
	*project = (struct sb_project){0};
}

/* --- keys --------------------------------------------------------------------------------------- */

#define READING(member) offsetof(struct reading, member)

/* Whatever a worker's file says: of two the stricter counts. */
static const struct sb_key approval_keys[] = {
	{"write", SB_YAML_WORD, .at = READING(write), .words = SB_APPROVAL_WORDS},
	{"delete", SB_YAML_WORD, .at = READING(remove), .words = SB_APPROVAL_WORDS},
	{NULL}};

static const struct sb_key zone_keys[] = {
	{"path", SB_YAML_WORD, .at = READING(path)},
	{"mode", SB_YAML_WORD, .at = READING(mode), .words = SB_MODE_WORDS},
	{"approval", SB_YAML_MAP, .keys = approval_keys},
	{NULL}};

static const struct sb_key sandbox_keys[] = {
	{"mode", SB_YAML_WORD, .at = READING(direct), .words = "sandboxed direct"},
	{"root", SB_YAML_WORD, .at = READING(root)},
	{"zones", SB_YAML_MAP, .at = READING(zones)},
	{NULL}};

/* --- directories -------------------------------------------------------------------------------- */

/*
 * SECURITY: what a project's file names lies in the project.
 *
 * Danger: "../other", "~/.ssh", or a link in the project that leads there, and a worker has it as "/data".
 * Price: who wants to share a directory from elsewhere puts the project around it.
 * Held by: tests/unit/test_zones.c
 */
static int find_directory(const struct sb_schema *schema, const struct sb_yaml *value,
			  const char *base, const char *text, char **out)
{
	const struct reading *reading = schema->context;
	SB_AUTO_FREE char *path = NULL, *canonical = NULL;
	struct stat info;
	int status;

	if (text[0] == '/' || text[0] == '~')
		return sb_schema_fail(schema, value, "expected a path relative to '%s', found '%s'",
				      base, text);
	status = sb_path_absolute(text, base, NULL, &path, schema->err);
	if (status == SB_OK)
		status = sb_path_canonical(path, &canonical, NULL, schema->err);
	if (status != SB_OK)
		return status;
	if (!sb_path_within(base, canonical) ||
	    !sb_path_within(reading->project->directory, canonical))
		return sb_schema_fail(schema, value, "expected a directory in '%s', found '%s'",
				      base, canonical);
	if (stat(canonical, &info) == 0 && !S_ISDIR(info.st_mode))
		return sb_schema_fail(schema, value, "expected a directory, found a file at '%s'",
				      canonical);
	*out = sb_take_ptr(&canonical);
	return SB_OK;
}

/* Two names for one file would have two modes, and two approvals. */
static int check_overlap(const struct sb_schema *schema, const struct sb_yaml *value,
			 const char *path)
{
	const struct reading *reading = schema->context;
	const struct sb_zones *zones = &reading->project->zones;

	for (size_t i = 0; i < zones->count; i++)
		if (sb_path_within(zones->all[i].path, path) ||
		    sb_path_within(path, zones->all[i].path))
			return sb_schema_fail(
				schema, value,
				"expected a directory apart from that of '%s' in line "
				"%u, found '%s'",
				zones->all[i].name, zones->all[i].line, path);
	return SB_OK;
}

static int add_zone(const struct sb_schema *schema, const struct sb_yaml *entry)
{
	struct reading *reading = schema->context;
	struct sb_project *project = reading->project;
	struct sb_zone zone = {.line = entry->key_line, .column = entry->key_column};
	const struct sb_yaml *where;
	const char *expected;
	int status;

	if (sb_zone_check_name(entry->key, &expected) != SB_OK)
		return sb_yaml_fail(schema->err, schema->file, entry->key_line, entry->key_column,
				    "expected %s; found '%s'", expected, entry->key);
	reading->path = NULL;
	reading->mode = SB_ZONE_RO;
	reading->write = reading->remove = SB_PRE_APPROVED;
	status = sb_schema_read(schema, entry, zone_keys);
	where = reading->path ? reading->path : entry;
	if (status == SB_OK)
		status = find_directory(
			schema, where, project->direct ? project->directory : project->root,
			reading->path ? reading->path->text : entry->key, &zone.path);
	if (status == SB_OK)
		status = check_overlap(schema, where, zone.path);
	if (status != SB_OK) {
		free(zone.path);
		return status;
	}
	zone.mode = reading->mode;
	zone.write = reading->write;
	zone.remove = reading->remove;
	zone.name = strdup(entry->key);
	return sb_zones_add(&project->zones, zone, schema->err);
}

static int set_root(const struct sb_schema *schema)
{
	const struct reading *reading = schema->context;
	const struct sb_yaml nowhere = {.line = 1, .column = 1};

	return find_directory(
		schema, reading->root ? reading->root : &nowhere, reading->project->directory,
		reading->root ? reading->root->text : DEFAULT_ROOT, &reading->project->root);
}

/* Where nothing is said: downloads, and what is worked on. */
static int add_defaults(const struct sb_schema *schema)
{
	static const char *const names[] = {"cache", "workspace"};
	struct sb_project *out = ((const struct reading *)schema->context)->project;
	const struct sb_yaml nowhere = {.line = 1, .column = 1};
	int status = SB_OK;

	for (size_t i = 0; i < sizeof names / sizeof names[0] && status == SB_OK; i++) {
		struct sb_zone zone = {.mode = SB_ZONE_RW};

		status = find_directory(schema, &nowhere, out->root, names[i], &zone.path);
		if (status != SB_OK)
			break;
		zone.name = strdup(names[i]);
		status = sb_zones_add(&out->zones, zone, schema->err);
	}
	return status;
}

/* --- the file ----------------------------------------------------------------------------------- */

static int read_text(const struct sb_buf *text, struct sb_project *out, struct sb_error *err)
{
	static const struct sb_key keys[] = {{"sandbox", SB_YAML_MAP, .keys = sandbox_keys},
					     {NULL}};
	struct reading reading = {.project = out};
	const struct sb_schema schema = {out->file, &reading, err};
	SB_AUTO(sb_yaml_done) struct sb_yaml document = {0};
	int status = sb_yaml_parse(out->file, 1, text->data, text->length, &document, err);

	if (status != SB_OK)
		return status;
	status = strcmp(strrchr(out->file, '/') + 1, sb_project_files[0]) == 0 &&
				 sb_yaml_get(&document, "sandbox")
			 ? sb_schema_read(&schema, sb_yaml_get(&document, "sandbox"), sandbox_keys)
			 : sb_schema_read(&schema, &document, keys);
	out->direct = reading.direct;
	if (status == SB_OK)
		status = set_root(&schema);
	if (status == SB_OK && !reading.zones && !out->direct)
		status = add_defaults(&schema);
	for (size_t i = 0; reading.zones && i < reading.zones->count && status == SB_OK; i++)
		status = add_zone(&schema, &reading.zones->items[i]);
	return status;
}

static int use_defaults(struct sb_project *out, struct sb_error *err)
{
	struct reading reading = {.project = out};
	const struct sb_schema schema = {out->directory, &reading, err};
	int status = set_root(&schema);

	return status == SB_OK ? add_defaults(&schema) : status;
}

/* The one that is there, and what is in it; out->file stays NULL if none is. */
static int find_file(struct sb_project *out, struct sb_buf *text, struct sb_error *err)
{
	for (size_t i = 0; sb_project_files[i]; i++) {
		SB_AUTO_FREE char *path = sb_path_join(out->directory, sb_project_files[i]);
		SB_AUTO_BUF struct sb_buf own = SB_BUF(SB_CONFIG_LIMIT);
		bool found = false;
		int status = path ? sb_config_read(path, &own, &found, err) : sb_no_memory(err);

		if (status != SB_OK)
			return status;
		if (found && out->file)
			return sb_fail(err, SB_E_CONFLICT, 0,
				       "both '%s' and '%s' are there: which counts?", out->file,
				       path);
		if (found) {
			out->file = sb_take_ptr(&path);
			sb_buf_append(text, own.data, own.length);
		}
	}
	return sb_buf_failed(text) ? sb_no_memory(err) : SB_OK;
}

int sb_project_load(const char *directory, struct sb_project *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	int status;

	*out = (struct sb_project){.directory = strdup(directory)};
	if (!out->directory)
		return sb_no_memory(err);
	status = find_file(out, &text, err);
	if (status == SB_OK)
		status = out->file ? read_text(&text, out, err) : use_defaults(out, err);
	if (status != SB_OK)
		sb_project_done(out);
	return status;
}

/* --- where it is ----------------------------------------------------------------------------------- */

static bool has_file(const char *directory)
{
	for (size_t i = 0; sb_project_files[i]; i++) {
		SB_AUTO_FREE char *path = sb_path_join(directory, sb_project_files[i]);
		struct stat info;

		if (path && lstat(path, &info) == 0)
			return true;
	}
	return false;
}

/*
 * SECURITY: a project's file is looked for upward in directories of one owner alone.
 *
 * Danger: who may write to a directory above, as to /tmp, would say there what workers get in a project that is not his.
 * Price: where somebody else could have put it, it has to be named by starting there.
 * Held by: tests/unit/test_zones.c
 */
int sb_project_find(const char *directory, const char *home, char **out, struct sb_error *err)
{
	SB_AUTO_FREE char *at = strdup(directory);
	struct stat first, info;

	if (!at)
		return sb_no_memory(err);
	if (stat(at, &first) != 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot look at '%s'", at);
	while (!has_file(at)) {
		char *parent = sb_path_parent(at);

		/* neither the home directory nor what is around it is a project */
		if (!parent || sb_path_within(parent, home) || stat(parent, &info) != 0 ||
		    info.st_dev != first.st_dev) {
			free(parent);
			free(at);
			at = strdup(directory);
			break;
		}
		free(at);
		at = parent;
		if ((info.st_uid != first.st_uid || (info.st_mode & S_IWOTH)) && has_file(at)) {
			sb_fail(err, SB_E_REFUSED, 0,
				"the project's file in '%s' may be somebody else's", at);
			return sb_hint(err, "start there if it is meant");
		}
	}
	*out = sb_take_ptr(&at);
	return *out ? SB_OK : sb_no_memory(err);
}
