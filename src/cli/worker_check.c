/*
 * worker_check.c - --worker-check: what workers would have that call one another, and where that fails.
 */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/list.h"
#include "cli/cli.h"
#include "cli/worker.h"

#define MAX_CHAIN 64 /* of workers that call each other */

struct checking {
	struct sb_buf *out;
	struct sb_json json; /* of --json */
	bool as_json;
	int status; /* of the first mistake */
	const char *chain[MAX_CHAIN];
	unsigned depth;
};

static void print_access(const struct sb_worker *worker, const struct sb_zones *has,
			 struct checking *checking)
{
	struct sb_buf *out = checking->out;

	sb_buf_printf(out, "%*s", 2 * (int)checking->depth, "");
	sb_escape_puts(out, worker->name);
	sb_buf_printf(out, ": %s%s", sb_isolation_name(worker->isolation),
		      worker->network ? ", network" : "");
	for (size_t i = 0; i < has->count; i++) {
		const struct sb_zone *zone = &has->all[i];

		sb_buf_printf(out, ", /%s %s", zone->name, sb_zone_mode_name(zone->mode));
		if (zone->mode == SB_ZONE_RW)
			sb_buf_printf(out, " (write %s, delete %s)", sb_approval_name(zone->write),
				      sb_approval_name(zone->remove));
	}
	if (!has->count)
		sb_buf_puts(out, ", no files");
	for (size_t i = 0; worker->commands && worker->commands[i]; i++) {
		sb_buf_puts(out, i ? " " : ", commands ");
		sb_escape_puts_name(out, worker->commands[i]);
	}
	sb_buf_puts(out, worker->commands && !worker->commands[0] ? ", no commands\n" : "\n");
}

/* An object, still open: whom it calls comes last. */
static void print_json(const struct sb_worker *worker, const struct sb_zones *has,
		       struct checking *checking)
{
	struct sb_json *json = &checking->json;

	sb_json_pair(json, "name", worker->name);
	sb_json_pair(json, "isolation", sb_isolation_name(worker->isolation));
	sb_json_pair_bool(json, "network", worker->network);
	if (worker->commands) {
		sb_json_open_at(json, "commands", '[');
		for (size_t i = 0; worker->commands[i]; i++)
			sb_json_bytes(json, worker->commands[i], strlen(worker->commands[i]));
		sb_json_close(json, ']');
	}
	sb_json_open_at(json, "zones", '[');
	for (size_t i = 0; i < has->count; i++)
		sb_zone_json(&has->all[i], false, json);
	sb_json_close(json, ']');
	sb_json_open_at(json, "calls", '[');
}

static void complain(struct checking *checking, const struct sb_error *err)
{
	int status = sb_report(err);

	if (!checking->status)
		checking->status = status;
}

static bool is_in_chain(const struct checking *checking, const char *file)
{
	for (unsigned i = 0; i < checking->depth; i++)
		if (strcmp(checking->chain[i], file) == 0)
			return true;
	return false;
}

struct found {
	struct sb_worker worker;
	struct sb_zones gets;
};

/* What it would have, and whether its programs are there: as the run does it. */
static int look(const struct checking *checking, const char *file, const struct sb_zones *has,
		const struct sb_worker *parent, struct found *out, struct sb_error *err)
{
	struct sb_run run = {0};
	int status = checking->depth < MAX_CHAIN
			     ? sb_worker_load(file, &out->worker, err)
			     : sb_fail(err, SB_E_INVALID, 0, "%s: %d workers call one another",
				       file, MAX_CHAIN);

	if (status != SB_OK)
		return status;
	status = sb_worker_grant(&out->worker, has, parent, &out->gets, err);
	if (status != SB_OK && parent && !err->hint[0])
		sb_hint(err, "it is called by '%s'; each FILE is, by the one before", parent->name);
	if (status == SB_OK) {
		status = sb_worker_programs(&out->worker, &run, err);
		sb_list_free(run.programs);
		if (status != SB_OK)
			sb_zones_done(&out->gets);
	}
	if (status != SB_OK)
		sb_worker_done(&out->worker);
	return status;
}

/*
 * The worker at files[0], called by one that has so much (parent NULL: by the user); files[1], if there is one, and
 * all that its file names are called by it.
 */
static void check_worker(struct checking *checking, char *const *files, const struct sb_zones *has,
			 const struct sb_worker *parent)
{
	struct sb_json *json = checking->as_json ? &checking->json : NULL;
	struct found found;
	struct sb_error err;

	if (json) {
		sb_json_open(json, '{');
		sb_json_pair(json, "file", files[0]);
	}
	if (look(checking, files[0], has, parent, &found, &err) != SB_OK) {
		complain(checking, &err);
		if (json) {
			sb_json_pair(json, "error", err.message);
			sb_json_close(json, '}');
		}
		return;
	}
	(json ? print_json : print_access)(&found.worker, &found.gets, checking);
	checking->chain[checking->depth++] = found.worker.file;
	if (files[1])
		check_worker(checking, files + 1, &found.gets, &found.worker);
	for (size_t i = 0; found.worker.workers && found.worker.workers[i]; i++) {
		char *const one[] = {found.worker.workers[i], NULL};

		if (!is_in_chain(checking, one[0])) /* whoever calls himself gets no more by it */
			check_worker(checking, one, &found.gets, &found.worker);
	}
	if (json) {
		sb_json_close(json, ']');
		sb_json_close(json, '}');
	}
	checking->depth--;
	sb_zones_done(&found.gets);
	sb_worker_done(&found.worker);
}

/* The first one, by the name that its caller would say. */
static bool find_first(const struct sb_around *around, const char *file, struct checking *checking,
		       char **out)
{
	const char *found = file;
	struct sb_error err;

	if (around->worker.name && sb_around_called(around, file, &found, &err) != SB_OK) {
		complain(checking, &err);
		return false;
	}
	*out = (char *)found;
	return true;
}

int sb_cli_worker_check(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct checking checking = {.out = &out, .as_json = line->json};
	size_t count = sb_list_count(line->command);
	SB_AUTO_FREE char **files = NULL;
	struct sb_project project;
	struct sb_around around;
	int status = sb_zones_offered(line, &around, &project);

	if (status)
		return status;
	files = calloc(count + 2, sizeof *files);
	if (files) {
		memcpy(files + 1, line->command, count * sizeof *files);
		sb_json_init(&checking.json, &out);
		if (find_first(&around, line->action_value, &checking, &files[0]))
			check_worker(&checking, files, &project.zones,
				     around.worker.name ? &around.worker : NULL);
	}
	sb_project_done(&project);
	status = sb_print(&out);
	return !files ? SB_EXIT_FAILURE : checking.status ? checking.status : status;
}
