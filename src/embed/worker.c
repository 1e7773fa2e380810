#include "sandbash/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "embed/embed.h"
#include "path/path.h"
#include "zones/rules.h"
#include "files/seen.h"

struct sb_workshop {
	const struct sb_setup *setup; /* the sandbox's */
	struct sb_files_backend *backend;
	struct sb_project project;
};

struct sb_worker_view {
	const struct sb_workshop *workshop;
	struct sb_worker worker;
	struct sb_zones has;
	struct sb_files_options options;
	struct sb_files_backend *seen;
	struct sb_files *files;
};

/* --- a project ------------------------------------------------------------------------------------ */

/* Which directory is meant: in a project of the sandbox, whose rules are about that. */
static int find_directory(const struct sb_setup *setup, const char *given, char **out,
			  struct sb_error *err)
{
	SB_AUTO_FREE char *absolute = NULL;
	int status;

	if (!given) {
		*out = strdup(setup->projects[0]);
		return *out ? SB_OK : sb_no_memory(err);
	}
	status = sb_path_absolute(given, setup->home.cwd, setup->home.home, &absolute, err);
	if (status == SB_OK)
		status = sb_path_canonical(absolute, out, NULL, err);
	if (status != SB_OK)
		return status;
	for (size_t i = 0; setup->projects[i]; i++)
		if (sb_path_within(setup->projects[i], *out))
			return SB_OK;
	status = sb_fail(err, SB_E_REFUSED, 0, "'%s' is in no project of the sandbox", *out);
	free(*out);
	return status;
}

int sb_workshop_open(struct sb_sandbox *sandbox, const char *directory,
		     struct sb_files_backend *backend, struct sb_workshop **out,
		     struct sb_error *err)
{
	struct sb_workshop *workshop = calloc(1, sizeof *workshop);
	SB_AUTO_FREE char *path = NULL;
	int status;

	if (!workshop)
		return sb_no_memory(err);
	workshop->backend = backend;
	status = sb_sandbox_setup_files(sandbox, &workshop->setup, err);
	if (status == SB_OK)
		status = find_directory(workshop->setup, directory, &path, err);
	if (status == SB_OK)
		status = sb_project_load(path, &workshop->project, err);
	if (status == SB_OK)
		*out = workshop;
	else
		free(workshop);
	return status;
}

void sb_workshop_close(struct sb_workshop *workshop)
{
	if (!workshop)
		return;
	sb_project_done(&workshop->project);
	free(workshop);
}

const char *sb_workshop_zone(const struct sb_workshop *workshop, size_t i)
{
	const struct sb_zones *zones = &workshop->project.zones;

	return i < zones->count ? zones->all[i].name : NULL;
}

/* --- a worker ------------------------------------------------------------------------------------- */

/* What it has is known: open it. */
static int see(struct sb_worker_view *view, struct sb_error *err)
{
	const struct sb_setup *setup = view->workshop->setup;
	SB_AUTO_FREE struct sb_files_error *why = calloc(1, sizeof *why);
	int status = why ? sb_zones_see(&view->has, view->workshop->backend, &view->seen, err)
			 : sb_no_memory(err);

	if (status != SB_OK)
		return status;
	view->options.backend = view->seen;
	if (sb_files_open(setup->policy, sb_files_mapped_roots(view->seen), &view->options,
			  &view->files, why) == 0)
		return SB_OK;
	return sb_fail(err, why->sys_errno ? SB_E_SYSTEM : SB_E_INVALID, why->sys_errno, "%s",
		       why->person);
}

static int open_worker(const struct sb_workshop *workshop, const struct sb_worker_view *parent,
		       const char *file, const struct sb_files_options *options,
		       struct sb_worker_view **out, struct sb_error *err)
{
	struct sb_worker_view *view = calloc(1, sizeof *view);
	int status;

	if (!view)
		return sb_no_memory(err);
	view->workshop = workshop;
	view->options = *options;
	status = sb_worker_load(file, &view->worker, err);
	if (status == SB_OK)
		status = sb_worker_grant(&view->worker,
					 parent ? &parent->has : &workshop->project.zones,
					 parent ? &parent->worker : NULL, &view->has, err);
	if (status == SB_OK) {
		sb_zones_tighten(&view->has, workshop->setup->policy);
		status = see(view, err);
	}
	if (status == SB_OK)
		*out = view;
	else
		sb_worker_close(view);
	return status;
}

int sb_worker_open(struct sb_workshop *workshop, const char *file,
		   const struct sb_files_options *files, struct sb_worker_view **out,
		   struct sb_error *err)
{
	const struct sb_home *home = &workshop->setup->home;
	struct sb_files_options options = {0};

	if (files)
		memcpy(&options, files,
		       files->size < sizeof options ? files->size : sizeof options);
	options.size = sizeof options;
	options.home = home->home;
	options.git_settings = (const char *const *)home->git_settings;
	options.config_home = home->xdg_config;
	options.data_home = home->xdg_data;
	options.cache_home = home->xdg_cache;
	options.state_home = home->xdg_state;
	options.account_home = sb_home_of_account(home);
	options.ignored = SB_FILES_ALLOW; /* the file says what asks; .sandbox is mostly ignored */
	return open_worker(workshop, NULL, file, &options, out, err);
}

int sb_worker_delegate(const struct sb_worker_view *parent, const char *file,
		       struct sb_worker_view **out, struct sb_error *err)
{
	return open_worker(parent->workshop, parent, file, &parent->options, out, err);
}

void sb_worker_close(struct sb_worker_view *view)
{
	if (!view)
		return;
	sb_files_close(view->files);
	sb_files_backend_free(view->seen);
	sb_zones_done(&view->has);
	sb_worker_done(&view->worker);
	free(view);
}

const char *sb_worker_name(const struct sb_worker_view *view)
{
	return view->worker.name;
}

const char *sb_worker_text(const struct sb_worker_view *view)
{
	return view->worker.text;
}

bool sb_worker_needs_container(const struct sb_worker_view *view)
{
	return view->worker.isolation == SB_ISOLATION_CONTAINER;
}

enum sb_zone_access sb_worker_access(const struct sb_worker_view *view, const char *zone)
{
	const struct sb_zone *found = sb_zones_find(&view->has, zone);

	return !found                      ? SB_ZONE_ACCESS_NONE
	       : found->mode == SB_ZONE_RW ? SB_ZONE_ACCESS_RW
					   : SB_ZONE_ACCESS_RO;
}

const char *sb_worker_zone(const struct sb_worker_view *view, size_t i)
{
	return i < view->has.count ? view->has.all[i].name : NULL;
}

struct sb_files *sb_worker_files(const struct sb_worker_view *view)
{
	return view->files;
}

/* --- its files -------------------------------------------------------------------------------------- */

int sb_worker_read(const struct sb_worker_view *view, const char *path, struct sb_files_text *out,
		   struct sb_files_error *err)
{
	const struct sb_files_read_request request = {
		.size = sizeof request, .path = path, .raw = true};

	return sb_files_read(view->files, NULL, &request, out, err);
}

int sb_worker_write(const struct sb_worker_view *view, const char *path, const char *data,
		    size_t length, struct sb_files_error *err)
{
	const struct sb_files_write_request request = {.size = sizeof request,
						       .path = path,
						       .data = data,
						       .length = length,
						       .raw = true,
						       .parents = true};
	SB_AUTO(sb_files_change_done) struct sb_files_change change = {0};

	return sb_files_write(view->files, NULL, &request, &change, err);
}

int sb_worker_delete(const struct sb_worker_view *view, const char *path,
		     struct sb_files_error *err)
{
	return sb_files_delete(view->files, NULL, path, false, err);
}

int sb_worker_exists(const struct sb_worker_view *view, const char *path, bool *out_exists,
		     struct sb_files_error *err)
{
	return sb_files_exists(view->files, NULL, path, out_exists, err);
}

int sb_worker_list(const struct sb_worker_view *view, const char *path,
		   struct sb_files_entries *out, struct sb_files_error *err)
{
	const struct sb_files_list_request request = {.size = sizeof request, .path = path};

	return sb_files_list(view->files, NULL, &request, out, err);
}

int sb_worker_stat(const struct sb_worker_view *view, const char *path, struct sb_files_info *out,
		   struct sb_files_error *err)
{
	return sb_files_stat(view->files, NULL, path, true, out, err);
}

int sb_worker_mkdir(const struct sb_worker_view *view, const char *path, struct sb_files_error *err)
{
	return sb_files_mkdir(view->files, NULL, path, true, NULL, err);
}
