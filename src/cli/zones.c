/*
 * zones.c - --zones and --worker-check: what a project offers to workers, and what each of them would have.
 */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "cli/worker.h"
#include "path/path.h"
#include "zones/rules.h"
#include "zones/schema.h"

#define MAX_CHAIN 64 /* of workers that call each other */

/* --- --zones --------------------------------------------------------------------------------------- */

/* What a project offers, or with --worker what that one has. */
struct offer {
	struct sb_project project;
	struct sb_worker worker; /* no name: the project's */
	struct sb_zones has;     /* the worker's */
};

static const struct sb_zones *offered(const struct offer *offer)
{
	return offer->worker.name ? &offer->has : &offer->project.zones;
}

static void print_zones(const struct offer *offer, struct sb_buf *out)
{
	const struct sb_project *project = &offer->project;
	const struct sb_zones *zones = offered(offer);

	for (size_t i = 0; i < zones->count; i++) {
		const struct sb_zone *zone = &zones->all[i];

		sb_buf_printf(out, "/%-16s %s  ", zone->name, sb_zone_mode_name(zone->mode));
		if (offer->worker.name && zone->mode == SB_ZONE_RW)
			sb_buf_printf(out, "write %s, delete %s  ", sb_approval_name(zone->write),
				      sb_approval_name(zone->remove));
		sb_escape_name(out, zone->path, strlen(zone->path));
		sb_buf_putc(out, '\n');
	}
	if (!zones->count)
		sb_buf_puts(out, "none\n");
	sb_buf_puts(out, "(");
	if (offer->worker.name)
		sb_escape_name(out, offer->worker.file, strlen(offer->worker.file));
	else if (project->file)
		sb_escape_name(out, project->file, strlen(project->file));
	else
		sb_buf_printf(out, "the default: there is no %s and no %s here",
			      sb_project_files[0], sb_project_files[1]);
	sb_buf_puts(out, ")\n");
}

static void print_zone_json(struct sb_json *json, const struct sb_zone *zone, bool of_worker)
{
	sb_json_open(json, '{');
	sb_json_pair(json, "name", zone->name);
	sb_json_pair(json, "mode", sb_zone_mode_name(zone->mode));
	if (of_worker) {
		sb_json_pair(json, "write", sb_approval_name(zone->write));
		sb_json_pair(json, "delete", sb_approval_name(zone->remove));
	}
	sb_json_pair(json, "path", zone->path);
	sb_json_close(json, '}');
}

static void print_zones_json(const struct offer *offer, struct sb_buf *out)
{
	const struct sb_project *project = &offer->project;
	const struct sb_zones *zones = offered(offer);
	struct sb_json json;

	sb_json_init(&json, out);
	sb_json_open(&json, '{');
	sb_json_pair(&json, "project", project->directory);
	sb_json_pair(&json, "file", project->file);
	sb_json_pair(&json, "mode", project->direct ? "direct" : "sandboxed");
	sb_json_pair(&json, "root", project->direct ? NULL : project->root);
	if (offer->worker.name) {
		sb_json_pair(&json, "worker", offer->worker.name);
		sb_json_pair(&json, "isolation", sb_isolation_name(offer->worker.isolation));
	}
	sb_json_key(&json, "zones");
	sb_json_open(&json, '[');
	for (size_t i = 0; i < zones->count; i++)
		print_zone_json(&json, &zones->all[i], offer->worker.name != NULL);
	sb_json_close(&json, ']');
	sb_json_close(&json, '}');
}

static void offer_done(struct offer *offer)
{
	sb_zones_done(&offer->has);
	sb_worker_done(&offer->worker);
	sb_project_done(&offer->project);
}

/* What the first project of this command line says, and the worker; 0 or an exit status. */
static int load_offer(const struct sb_command_line *line, struct offer *out)
{
	struct sb_setup setup;
	struct sb_error err;
	int status = sb_set_up(line, true, &setup);

	*out = (struct offer){0};
	if (status)
		return status;
	status = sb_project_load(setup.projects[0], &out->project, &err);
	if (status == SB_OK && line->worker)
		status = sb_worker_load(line->worker, &out->worker, &err);
	if (status == SB_OK && line->worker)
		status = sb_worker_grant(&out->worker, &out->project.zones, NULL, &out->has, &err);
	if (status == SB_OK)
		sb_zones_tighten(&out->has, setup.policy);
	sb_setup_done(&setup);
	if (status == SB_OK)
		return 0;
	offer_done(out);
	return sb_report(&err);
}

int sb_cli_zones(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct offer offer;
	int status = load_offer(line, &offer);

	if (status)
		return status;
	if (line->json)
		print_zones_json(&offer, &out);
	else
		print_zones(&offer, &out);
	offer_done(&offer);
	return sb_print(&out);
}

/* --- --worker-check ---------------------------------------------------------------------------------- */

struct checking {
	struct sb_buf *out;
	int status; /* of the first mistake */
	const char *chain[MAX_CHAIN];
	unsigned depth;
};

static void print_access(const struct sb_worker *worker, const struct sb_zones *has,
			 struct checking *checking)
{
	struct sb_buf *out = checking->out;

	sb_buf_printf(out, "%*s", 2 * (int)checking->depth, "");
	sb_escape_append(out, worker->name, strlen(worker->name));
	sb_buf_printf(out, ": %s%s", sb_isolation_name(worker->isolation),
		      worker->network ? ", network" : "");
	for (size_t i = 0; i < has->count; i++) {
		const struct sb_zone *zone = &has->all[i];

		sb_buf_printf(out, ", /%s %s", zone->name, sb_zone_mode_name(zone->mode));
		if (zone->mode == SB_ZONE_RW)
			sb_buf_printf(out, " (write %s, delete %s)", sb_approval_name(zone->write),
				      sb_approval_name(zone->remove));
	}
	sb_buf_puts(out, has->count ? "" : ", no files");
	for (size_t i = 0; worker->commands && worker->commands[i]; i++) {
		sb_buf_puts(out, i ? " " : ", commands ");
		sb_escape_name(out, worker->commands[i], strlen(worker->commands[i]));
	}
	sb_buf_puts(out, worker->commands && !worker->commands[0] ? ", no commands\n" : "\n");
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

/*
 * The worker at files[0], called by one that has so much (parent NULL: by the user); files[1], if there is one, and
 * all that its file names are called by it.
 */
static void check_worker(struct checking *checking, char *const *files, const struct sb_zones *has,
			 const struct sb_worker *parent)
{
	struct sb_run programs = {0};
	struct sb_worker worker;
	struct sb_zones gets;
	struct sb_error err;

	if (checking->depth == MAX_CHAIN) {
		sb_fail(&err, SB_E_INVALID, 0, "%s: %d workers call one another", files[0],
			MAX_CHAIN);
		complain(checking, &err);
		return;
	}
	if (sb_worker_load(files[0], &worker, &err) != SB_OK) {
		complain(checking, &err);
		return;
	}
	if (sb_worker_grant(&worker, has, parent, &gets, &err) != SB_OK) {
		if (parent && !err.hint[0])
			sb_hint(&err, "it is called by '%s'; each FILE is, by the one before",
				parent->name);
		complain(checking, &err);
		sb_worker_done(&worker);
		return;
	}
	if (sb_worker_programs(&worker, &programs, &err) != SB_OK)
		complain(checking, &err);
	sb_words_free(programs.programs);
	print_access(&worker, &gets, checking);
	checking->chain[checking->depth++] = worker.file;
	if (files[1])
		check_worker(checking, files + 1, &gets, &worker);
	for (size_t i = 0; worker.workers && worker.workers[i]; i++) {
		char *const one[] = {worker.workers[i], NULL};

		if (!is_in_chain(checking, one[0])) /* whoever calls himself gets no more by it */
			check_worker(checking, one, &gets, &worker);
	}
	checking->depth--;
	sb_zones_done(&gets);
	sb_worker_done(&worker);
}

int sb_cli_worker_check(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct checking checking = {.out = &out};
	size_t count = 0;
	SB_AUTO_FREE char **files = NULL;
	struct offer offer;
	int status = load_offer(line, &offer);

	if (status)
		return status;
	while (line->command[count])
		count++;
	files = calloc(count + 2, sizeof *files);
	if (files) {
		files[0] = (char *)line->action_value;
		memcpy(files + 1, line->command, count * sizeof *files);
		check_worker(&checking, files, &offer.project.zones, NULL);
	}
	offer_done(&offer);
	status = sb_print(&out);
	return !files ? SB_EXIT_FAILURE : checking.status ? checking.status : status;
}
