/*
 * A worker's file: front matter between two lines of "---", and free text.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "config/file.h"
#include "path/path.h"
#include "zones/schema.h"
#include "zones/zones_impl.h"

#define ENDING ".worker"

void sb_worker_done(struct sb_worker *worker)
{
	free(worker->file);
	free(worker->name);
	free(worker->description);
	free(worker->text);
	sb_zones_done(&worker->declared);
	sb_list_free(worker->commands);
	sb_list_free(worker->workers);
	*worker = (struct sb_worker){0};
}

static int keep(const struct sb_schema *schema, const struct sb_yaml *value, char **out)
{
	free(*out);
	*out = strdup(value->text);
	return *out ? SB_OK : sb_no_memory(schema->err);
}

/* --- of one zone ---------------------------------------------------------------------------------- */

/* Written apart, so that what a key sets is one thing. */
struct declaring {
	struct sb_worker *worker;
	struct sb_zone zone;
};

static int read_zone_name(const struct sb_schema *schema, const struct sb_yaml *value)
{
	struct declaring *declaring = schema->context;
	const struct sb_zone *first = sb_zones_find(&declaring->worker->declared, value->text);
	const char *expected;

	if (sb_zone_check_name(value->text, &expected) != SB_OK)
		return sb_schema_fail(schema, value, "expected %s; found '%s'", expected,
				      value->text);
	if (first)
		return sb_schema_fail(schema, value,
				      "expected each name once; '%s' is in line %u already",
				      value->text, first->line);
	declaring->zone.line = value->line;
	declaring->zone.column = value->column;
	return keep(schema, value, &declaring->zone.name);
}

#define ZONE(member) offsetof(struct declaring, zone.member)
static const struct sb_key approval_keys[] = {
	{"write", SB_YAML_WORD, .at = ZONE(write), .words = SB_APPROVAL_WORDS},
	{"delete", SB_YAML_WORD, .at = ZONE(remove), .words = SB_APPROVAL_WORDS},
	{NULL}};

static int add_zone(const struct sb_schema *schema, const struct sb_yaml *item)
{
	static const struct sb_key keys[] = {
		{"name", SB_YAML_WORD, read_zone_name},
		{"mode", SB_YAML_WORD, .at = ZONE(mode), .words = SB_MODE_WORDS},
		{"approval", SB_YAML_MAP, .keys = approval_keys},
		{NULL}};
	struct declaring declaring = {
		.worker = schema->context,
		.zone = {.mode = SB_ZONE_RO, .write = SB_APPROVAL_ASK, .remove = SB_APPROVAL_ASK},
	};
	const struct sb_schema own = {schema->file, &declaring, schema->err};
	int status = sb_schema_read(&own, item, keys);

	if (status == SB_OK && !declaring.zone.name)
		status = sb_schema_fail(schema, item, "expected a 'name' here");
	if (status != SB_OK) {
		free(declaring.zone.name);
		return status;
	}
	return sb_zones_add(&declaring.worker->declared, declaring.zone, schema->err);
}

/* --- of the worker -------------------------------------------------------------------------------- */

static int read_zones(const struct sb_schema *schema, const struct sb_yaml *value)
{
	int status = SB_OK;

	for (size_t i = 0; i < value->count && status == SB_OK; i++)
		status = add_zone(schema, &value->items[i]);
	return status;
}

static const struct sb_key sandbox_keys[] = {{"zones", SB_YAML_LIST, read_zones}, {NULL}};

static int read_name(const struct sb_schema *schema, const struct sb_yaml *value)
{
	struct sb_worker *worker = schema->context;

	if (!*value->text)
		return sb_schema_fail(schema, value, "expected a name");
	return keep(schema, value, &worker->name);
}

static int read_description(const struct sb_schema *schema, const struct sb_yaml *value)
{
	struct sb_worker *worker = schema->context;

	return keep(schema, value, &worker->description);
}

/* How, or of whom the files are that it reads. */
static int read_isolation(const struct sb_schema *schema, const struct sb_yaml *value)
{
	static const char words[] = "container downloaded user-provided zones own collaborators";
	struct sb_worker *worker = schema->context;
	unsigned which = 0;
	int status = sb_schema_choose(schema, value, words, &which);

	worker->isolation = which < 3 ? SB_ISOLATION_CONTAINER : SB_ISOLATION_ZONES;
	return status;
}

static int read_network(const struct sb_schema *schema, const struct sb_yaml *value)
{
	struct sb_worker *worker = schema->context;
	unsigned which = 0;
	int status = sb_schema_choose(schema, value, "off on false true", &which);

	worker->network = which & 1;
	return status;
}

static int read_commands(const struct sb_schema *schema, const struct sb_yaml *value)
{
	struct sb_worker *worker = schema->context;
	int status = sb_schema_words(schema, value, &worker->commands);

	for (size_t i = 0; status == SB_OK && i < value->count; i++) {
		const char *text = value->items[i].text;

		if (*text != '/' && strchr(text, '/'))
			return sb_schema_fail(
				schema, &value->items[i],
				"expected a program's name or an absolute path, found '%s'", text);
	}
	return status;
}

/* Paths are seen from the file that names them. */
static int read_workers(const struct sb_schema *schema, const struct sb_yaml *value)
{
	struct sb_worker *worker = schema->context;
	SB_AUTO_FREE char *directory = sb_path_parent(worker->file);
	int status = directory ? sb_schema_words(schema, value, &worker->workers)
			       : sb_no_memory(schema->err);

	for (size_t i = 0; status == SB_OK && worker->workers[i]; i++) {
		char *whole = NULL;

		status = sb_path_absolute(worker->workers[i], directory, NULL, &whole, schema->err);
		if (status == SB_OK) {
			free(worker->workers[i]);
			worker->workers[i] = whole;
		}
	}
	return status;
}

/* --- the file --------------------------------------------------------------------------------------- */

/* Is there a line of "---" at text?  *out_next: behind it.  That lines end in CR LF is told by who reads them. */
static bool is_fence(const char *text, const char **out_next)
{
	size_t length = strcspn(text, "\n");

	*out_next = text + length + (text[length] == '\n');
	return strncmp(text, "---", 3) == 0 && strspn(text + 3, " \t\r") == length - 3;
}

struct front {
	const char *text;
	size_t length;
	unsigned line;    /* its first one */
	const char *rest; /* behind the second fence */
};

/* The front matter; before it comments and empty lines may stand. */
static int find_front(const char *file, const char *text, struct front *out, struct sb_error *err)
{
	const char *next;

	out->line = 2;
	for (; !is_fence(text, &next); text = next, out->line++)
		if (!*text || (*text != '#' && text[strspn(text, " \t\r")] != '\n'))
			return sb_yaml_fail(err, file, out->line - 1, 1, "expected a line '---'");
	out->text = next;
	for (const char *line = next; *line; line = next)
		if (is_fence(line, &next)) {
			out->length = (size_t)(line - out->text);
			out->rest = next;
			return SB_OK;
		}
	return sb_yaml_fail(err, file, out->line - 1, 1,
			    "expected a second line '---' behind the settings");
}

/* "formatter", of .../formatter.worker */
static char *name_of(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	size_t length = strlen(name), ending = strlen(ENDING);

	if (length > ending && strcmp(name + length - ending, ENDING) == 0)
		length -= ending;
	return strndup(name, length);
}

static int read_front(struct sb_worker *out, const struct front *front, struct sb_error *err)
{
	static const struct sb_key keys[] = {{"name", SB_YAML_WORD, read_name},
					     {"description", SB_YAML_WORD, read_description},
					     {"sandbox", SB_YAML_MAP, .keys = sandbox_keys},
					     {"isolation", SB_YAML_WORD, read_isolation},
					     {"network", SB_YAML_WORD, read_network},
					     {"commands", SB_YAML_LIST, read_commands},
					     {"workers", SB_YAML_LIST, read_workers},
					     {NULL}};
	const struct sb_schema schema = {out->file, out, err};
	SB_AUTO(sb_yaml_done) struct sb_yaml document = {0};
	int status =
		sb_yaml_parse(out->file, front->line, front->text, front->length, &document, err);

	return status == SB_OK ? sb_schema_read(&schema, &document, keys) : status;
}

static int fail_missing(const char *file, struct sb_error *err)
{
	SB_AUTO_FREE char *whole = NULL;

	sb_fail(err, SB_E_MISSING, 0, "there is no worker '%s'", file);
	if (asprintf(&whole, "%s" ENDING, file) > 0 && access(whole, F_OK) == 0)
		sb_hint(err, "'%s' is there", whole);
	return SB_E_MISSING;
}

static int read_file(struct sb_worker *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	struct front front = {0};
	bool found;
	int status = sb_config_read(out->file, &text, &found, err);

	if (status == SB_OK && !found)
		status = fail_missing(out->file, err);
	if (status == SB_OK && strlen(text.data) != text.length)
		status = sb_fail(err, SB_E_INVALID, 0, "%s: expected text, found a NUL byte",
				 out->file);
	if (status == SB_OK)
		status = find_front(out->file, text.data, &front, err);
	if (status == SB_OK)
		status = read_front(out, &front, err);
	if (status != SB_OK)
		return status;
	if (!out->name)
		out->name = name_of(out->file);
	out->text = strdup(front.rest);
	return out->name && out->text ? SB_OK : sb_no_memory(err);
}

int sb_worker_load(const char *file, struct sb_worker *out, struct sb_error *err)
{
	SB_AUTO_FREE char *cwd = file[0] == '/' ? NULL : getcwd(NULL, 0), *whole = NULL;
	int status;

	*out = (struct sb_worker){0};
	status = sb_path_absolute(file, cwd ? cwd : "/", NULL, &whole, err);
	if (status == SB_OK)
		status = sb_path_canonical(whole, &out->file, NULL, err);
	if (status == SB_OK)
		status = read_file(out, err);
	if (status != SB_OK)
		sb_worker_done(out);
	return status;
}
