#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "cli/worker.h"
#include "config/file.h"
#include "enforce/inside.h"
#include "enforce/view.h"
#include "path/path.h"
#include "policy/access.h"
#include "policy/builtin.h"
#include "zones/rules.h"

struct calling {
	struct sb_worker parent; /* as far as it bounds others */
	struct sb_zones parent_has;
	size_t command_count;
	struct sb_worker child;
	struct sb_zones has;
};

static int out_of_memory(struct sb_error *err)
{
	return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
}

/*
 * SECURITY: what a parent has is asked of the supervisor, for this very process.
 *
 * Danger: whatever a worker hands to its child (variables, files, descriptors) it can write itself, and would write
 * that it has more.
 * Price: three held calls for each directory.  The names come from a file that the view holds read-only.
 * Held by: tests/cli/worker_delegation.py
 */
static int add_actual(struct calling *calling, const char *path, struct sb_error *err)
{
	enum sb_verdict modify = sb_inside_verdict(SB_MODIFY, path);
	enum sb_verdict create = sb_inside_verdict(SB_CREATE, path);
	enum sb_verdict remove = sb_inside_verdict(SB_DELETE, path);
	struct sb_zone zone = {.write = (enum sb_approval)(modify > create ? modify : create),
			       .remove = (enum sb_approval)remove};

	if (sb_inside_verdict(SB_READ, path) != SB_ALLOW)
		return SB_OK;
	zone.mode = zone.write == SB_APPROVAL_BLOCKED && zone.remove == SB_APPROVAL_BLOCKED
			    ? SB_ZONE_RO
			    : SB_ZONE_RW;
	zone.path = strdup(path);
	zone.name = zone.path ? strdup(path + 1) : NULL;
	return sb_zones_add(&calling->parent_has, zone, err);
}

static int add_command(struct calling *calling, const char *name, struct sb_error *err)
{
	char **grown =
		reallocarray(calling->parent.commands, calling->command_count + 2, sizeof *grown);

	if (!grown)
		return out_of_memory(err);
	calling->parent.commands = grown;
	grown[calling->command_count] = strdup(name);
	grown[calling->command_count + 1] = NULL;
	return grown[calling->command_count++] ? SB_OK : out_of_memory(err);
}

static int read_note(struct calling *calling, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	bool found = false;
	int status = sb_config_read(SB_VIEW_NOTE, &text, &found, err);

	if (status == SB_OK && !found)
		return sb_fail(err, SB_E_UNSUPPORTED, 0,
			       "inside another run there is no world of its own for a worker");
	for (char *line = text.data, *end; status == SB_OK && line && *line; line = end + 1) {
		end = line + strcspn(line, "\n");
		if (!*end)
			break;
		*end = '\0';
		if (*line == '/')
			status = add_actual(calling, line, err);
		else if (strcmp(line, "network") == 0)
			/* an error is clearer; that there is none the layers around us hold */
			calling->parent.network = getenv("SANDBASH_NETWORK_DISABLED") == NULL;
		else if (strncmp(line, "command ", 8) == 0)
			status = add_command(calling, line + 8, err);
	}
	return status;
}

/* What the caller has and the child does not is not there for it. */
static int hide_rest(const struct calling *calling, struct sb_policy *policy, struct sb_error *err)
{
	struct sb_rule rule = {.access = sb_access_deny,
			       .tier = SB_TIER_DIRECTORY,
			       .origin = "the worker does not have it"};
	int status = SB_OK;

	for (size_t i = 0; i < calling->parent_has.count && status == SB_OK; i++) {
		if (sb_zones_find(&calling->has, calling->parent_has.all[i].name))
			continue;
		rule.pattern = calling->parent_has.all[i].path;
		status = sb_policy_add(policy, &rule, err);
	}
	return status;
}

static int make_policy(const struct calling *calling, struct sb_setup *setup, struct sb_error *err)
{
	const struct sb_surroundings place = {.projects = (const char *const *)setup->projects,
					      .uid = getuid(),
					      .existing_only = true,
					      .guarded = true};
	int status;

	setup->policy = sb_policy_new();
	if (!setup->policy)
		return out_of_memory(err);
	sb_policy_set(setup->policy, SB_SETTING_WORKERS, SB_WORKERS_ASK);
	if (!calling->child.network)
		sb_policy_set(setup->policy, SB_SETTING_NETWORK, SB_NETWORK_OFF);
	status = sb_zones_rules(setup->policy, &calling->has, SB_ZONE_SEEN, err);
	if (status == SB_OK)
		status = hide_rest(calling, setup->policy, err);
	if (status == SB_OK)
		status = sb_builtin_add(setup->policy, &place, err);
	return status == SB_OK ? sb_policy_seal(setup->policy, err) : status;
}

/* Where the caller stands, if the child may be there. */
static int settle_home(const struct calling *calling, struct sb_home *home, struct sb_error *err)
{
	SB_AUTO_FREE char *cwd = getcwd(NULL, 0);
	bool stays = false;

	for (size_t i = 0; cwd && i < calling->has.count; i++)
		stays |= sb_path_within(calling->has.all[i].path, cwd);
	home->cwd = stays ? sb_take_ptr(&cwd) : strdup("/");
	home->home = strdup("/home");
	if (!home->cwd || !home->home)
		return out_of_memory(err);
	return chdir(home->cwd) == 0 && setenv("PWD", home->cwd, 1) == 0
		       ? SB_OK
		       : sb_fail(err, SB_E_SYSTEM, 0, "cannot enter '%s'", home->cwd);
}

int sb_worker_prepare_nested(const struct sb_command_line *line, struct sb_run *run,
			     struct sb_error *err)
{
	/* not freed: the process becomes the command */
	static struct calling calling;
	struct sb_plan_view view = {0};
	struct sb_plan_request request = {.view = &view};
	struct sb_setup *setup = &run->setup;
	int status = read_note(&calling, err);

	if (status == SB_OK)
		status = sb_worker_load(line->worker, &calling.child, err);
	if (status == SB_OK)
		status = sb_worker_grant(&calling.child, &calling.parent_has, &calling.parent,
					 &calling.has, err);
	if (status == SB_OK)
		status = sb_worker_programs(&calling.child, run, err);
	if (status == SB_OK)
		status = settle_home(&calling, &setup->home, err);
	if (status == SB_OK)
		status = sb_worker_projects(&calling.has, SB_ZONE_SEEN, setup, err);
	if (status == SB_OK)
		status = make_policy(&calling, setup, err);
	if (status == SB_OK)
		status = sb_worker_command(line, run, err);
	if (status != SB_OK)
		return status;
	view.programs = (const char *const *)run->programs;
	request.cwd = setup->home.cwd;
	request.projects = (const char *const *)setup->projects;
	return sb_plan_make(setup->policy, &request, &run->plan, err);
}
