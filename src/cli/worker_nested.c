#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "cli/worker.h"
#include "config/file.h"
#include "path/path.h"
#include "policy/access.h"
#include "policy/builtin.h"
#include "zones/rules.h"

struct calling {
	struct sb_around around;
	struct sb_worker child;
	struct sb_zones has;
	char *temp; /* of the child's own; NULL: none could be made */
};

/* Places that everybody in this world shares. */
static const char *const shared[] = {"/tmp", "/var/tmp", "/dev/shm"};

/* What the caller keeps there is not the child's to see: it gets a directory in it. */
static int make_temp(struct calling *calling, struct sb_error *err)
{
	SB_AUTO_FREE char *pattern =
		sb_path_join(calling->around.temp ? calling->around.temp : "/tmp", "worker-XXXXXX");

	if (!pattern)
		return sb_no_memory(err);
	if (mkdtemp(pattern))
		calling->temp = sb_take_ptr(&pattern);
	if (!calling->temp)
		return unsetenv("TMPDIR") == 0 ? SB_OK : sb_no_memory(err);
	return setenv("TMPDIR", calling->temp, 1) == 0 && setenv("HOME", calling->temp, 1) == 0
		       ? SB_OK
		       : sb_no_memory(err);
}

static int add_temp(const struct calling *calling, struct sb_policy *policy, struct sb_error *err)
{
	struct sb_rule rule = {.access = sb_access_deny,
			       .tier = SB_TIER_DIRECTORY,
			       .origin = "the caller's temporary files"};
	int status = SB_OK;

	for (size_t i = 0; i < sizeof shared / sizeof shared[0] && status == SB_OK; i++) {
		rule.pattern = shared[i];
		status = sb_policy_add(policy, &rule, err);
	}
	rule.access = sb_access_write;
	rule.pattern = calling->temp;
	rule.origin = "temporary files";
	return status == SB_OK && calling->temp ? sb_policy_add(policy, &rule, err) : status;
}

/* What the caller has and the child does not is not there for it. */
static int hide_rest(const struct calling *calling, struct sb_policy *policy, struct sb_error *err)
{
	struct sb_rule rule = {.access = sb_access_deny,
			       .tier = SB_TIER_DIRECTORY,
			       .origin = "the worker does not have it"};
	int status = SB_OK;

	for (size_t i = 0; i < calling->around.has.count && status == SB_OK; i++) {
		if (sb_zones_find(&calling->has, calling->around.has.all[i].name))
			continue;
		rule.pattern = calling->around.has.all[i].path;
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
		return sb_no_memory(err);
	sb_policy_set(setup->policy, SB_SETTING_WORKERS, SB_WORKERS_ASK);
	if (!calling->child.network)
		sb_policy_set(setup->policy, SB_SETTING_NETWORK, SB_NETWORK_OFF);
	status = sb_zones_rules(setup->policy, &calling->has, SB_ZONE_SEEN, err);
	if (status == SB_OK)
		status = hide_rest(calling, setup->policy, err);
	if (status == SB_OK)
		status = add_temp(calling, setup->policy, err);
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
	home->home = strdup("/home"); /* of nobody */
	if (!home->cwd || !home->home)
		return sb_no_memory(err);
	return chdir(home->cwd) == 0 && setenv("PWD", home->cwd, 1) == 0
		       ? SB_OK
		       : sb_fail(err, SB_E_SYSTEM, 0, "cannot enter '%s'", home->cwd);
}

/* What the supervisor is told of it, and tells whom it calls. */
static int make_note(const struct calling *calling, struct sb_run *run, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf note = SB_BUF(SB_CONFIG_LIMIT);

	sb_worker_note(&calling->child, &calling->has, calling->temp ? calling->temp : "/", &note);
	run->note = sb_buf_take(&note);
	return run->note ? SB_OK : sb_no_memory(err);
}

int sb_worker_prepare_nested(const struct sb_command_line *line, struct sb_run *run,
			     struct sb_error *err)
{
	/* not freed: the process becomes the command */
	static struct calling calling;
	struct sb_plan_view view = {0};
	struct sb_plan_request request = {.view = &view};
	struct sb_setup *setup = &run->setup;
	const char *file;
	int status = sb_around_find(&calling.around, err);

	if (status == SB_OK)
		status = sb_around_called(&calling.around, line->worker, &file, err);
	if (status == SB_OK)
		status = sb_worker_load(file, &calling.child, err);
	if (status == SB_OK)
		status = sb_worker_grant(&calling.child, &calling.around.has,
					 &calling.around.worker, &calling.has, err);
	if (status == SB_OK)
		status = make_temp(&calling, err);
	if (status == SB_OK)
		status = make_note(&calling, run, err);
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
	request.tmpdir = setup->home.tmpdir = calling.temp;
	request.projects = (const char *const *)setup->projects;
	return sb_plan_make(setup->policy, &request, &run->plan, err);
}
