/*
 * zones.c - --zones: what a project offers to workers, a worker to those that it calls, or what one of them would have.
 */
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "cli/worker.h"
#include "path/path.h"
#include "zones/rules.h"

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

/* Who is asked there: as far as the project says, or of a worker, what holds.  What is ro is written by nobody. */
static void print_approval(const struct sb_zone *zone, bool holds, struct sb_buf *out)
{
	if (zone->mode == SB_ZONE_RW && (holds || zone->write || zone->remove))
		sb_buf_printf(out, " (write %s, delete %s)", sb_approval_name(zone->write),
			      sb_approval_name(zone->remove));
}

static void print_zones(const struct offer *offer, struct sb_buf *out)
{
	const struct sb_project *project = &offer->project;
	const struct sb_zones *zones = offered(offer);
	bool inside = sb_around_is_there();

	for (size_t i = 0; i < zones->count; i++) {
		const struct sb_zone *zone = &zones->all[i];

		sb_buf_printf(out, "/%-16s %s  ", zone->name, sb_zone_mode_name(zone->mode));
		sb_escape_puts_name(out, zone->path);
		if (!sb_path_exists(zone->path)) /* the first run of a worker makes it */
			sb_buf_puts(out, " (not there yet)");
		print_approval(zone, offer->worker.name || inside, out);
		sb_buf_putc(out, '\n');
	}
	if (!zones->count)
		sb_buf_puts(out, "none\n");
	if (inside)
		return;
	sb_buf_puts(out, "(");
	if (offer->worker.name)
		sb_escape_puts_name(out, offer->worker.file);
	else if (project->file)
		sb_escape_puts_name(out, project->file);
	else
		sb_buf_printf(out, "the default: there is no %s and no %s here",
			      sb_project_files[0], sb_project_files[1]);
	sb_buf_puts(out, ")\n");
}

void sb_zone_json(const struct sb_zone *zone, bool path, struct sb_json *json)
{
	sb_json_open(json, '{');
	sb_json_pair(json, "name", zone->name);
	sb_json_pair(json, "mode", sb_zone_mode_name(zone->mode));
	sb_json_pair(json, "write", sb_approval_name(zone->write));
	sb_json_pair(json, "delete", sb_approval_name(zone->remove));
	if (path)
		sb_json_pair(json, "path", zone->path);
	sb_json_close(json, '}');
}

static void print_zones_json(const struct offer *offer, struct sb_buf *out)
{
	const struct sb_project *project = &offer->project;
	const struct sb_zones *zones = offered(offer);
	struct sb_json json = sb_json_object(out);

	sb_json_pair(&json, "project", project->directory);
	sb_json_pair(&json, "file", project->file);
	sb_json_pair(&json, "mode", project->direct ? "direct" : "sandboxed");
	sb_json_pair(&json, "root", project->direct ? NULL : project->root);
	if (offer->worker.name) {
		sb_json_pair(&json, "worker", offer->worker.name);
		sb_json_pair(&json, "isolation", sb_isolation_name(offer->worker.isolation));
	}
	sb_json_open_at(&json, "zones", '[');
	for (size_t i = 0; i < zones->count; i++)
		sb_zone_json(&zones->all[i], true, &json);
	sb_json_close(&json, ']');
	sb_json_close(&json, '}');
}

static void offer_done(struct offer *offer)
{
	sb_zones_done(&offer->has);
	sb_worker_done(&offer->worker);
	sb_project_done(&offer->project);
}

/* In the world of a worker there is no project: what it has is what it can offer to those that it calls. */
static int load_around(struct sb_around *around, struct sb_project *out)
{
	struct sb_error err;
	int status = sb_around_find(around, &err);

	*out = (struct sb_project){
		.directory = strdup("/"), .root = strdup("/"), .zones = around->has};
	return status == SB_OK ? 0 : sb_report(&err);
}

/* What the first project of this command line says, or the worker around us; 0 or an exit status. */
int sb_zones_offered(const struct sb_command_line *line, struct sb_around *around,
		     struct sb_project *out)
{
	SB_AUTO_FREE char *top = NULL;
	SB_AUTO_SETUP struct sb_setup setup = {0};
	struct sb_error err;
	int status;

	*around = (struct sb_around){0};
	if (sb_around_is_there())
		return load_around(around, out);
	status = sb_set_up(line, true, &setup);
	if (status)
		return status;
	status = sb_project_find(setup.projects[0], setup.home.home, &top, &err);
	if (status == SB_OK)
		status = sb_project_load(top, out, &err);
	return status == SB_OK ? 0 : sb_report(&err);
}

/* What --worker would have of it, by what the user's own rules leave. */
static int load_worker(const struct sb_command_line *line, const struct sb_around *around,
		       struct offer *offer)
{
	const struct sb_worker *caller = around->worker.name ? &around->worker : NULL;
	SB_AUTO_SETUP struct sb_setup setup = {0};
	struct sb_error err;
	int status = sb_set_up(line, true, &setup);

	if (status)
		return status;
	status = sb_worker_load(line->worker, &offer->worker, &err);
	if (status == SB_OK)
		status = sb_worker_grant(&offer->worker, &offer->project.zones, caller, &offer->has,
					 &err);
	if (status == SB_OK)
		sb_zones_tighten(&offer->has, setup.policy);
	return status == SB_OK ? 0 : sb_report(&err);
}

int sb_cli_zones(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct offer offer = {0};
	struct sb_around around;
	int status = sb_zones_offered(line, &around, &offer.project);

	if (status)
		return status;
	if (line->worker)
		status = load_worker(line, &around, &offer);
	if (!status && line->json)
		print_zones_json(&offer, &out);
	else if (!status)
		print_zones(&offer, &out);
	offer_done(&offer);
	return status ? status : sb_print(&out);
}
