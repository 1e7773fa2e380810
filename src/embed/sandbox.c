#include "sandbash/sandbox.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "config/setup.h"
#include "config/variables.h"
#include "embed/embed.h"
#include "enforce/confine.h"
#include "enforce/plan.h"

enum use { TO_ASK, TO_ENTER, TO_USE_FILES, USES };

/* The same rules three times: a run and the tools each leave out what another of their layers holds. */
struct sb_sandbox {
	struct sb_sandbox_options options;
	struct sb_flag_rule *rules;
	size_t rule_count;
	struct sb_setup setups[USES];
	bool made[USES];
};

static const char *variable(const char *name)
{
	return getenv(name);
}

static void warn(const struct sb_sandbox *sandbox, const char *text)
{
	char safe[1024];

	if (sandbox->options.warn)
		sandbox->options.warn(sandbox->options.context,
				      sb_escape_line(safe, sizeof safe, text));
}

static int keep_rules(struct sb_sandbox *sandbox, struct sb_error *err)
{
	const char *const *lines = sandbox->options.rules;

	while (lines && lines[sandbox->rule_count])
		sandbox->rule_count++;
	sandbox->rules = calloc(sandbox->rule_count + 1, sizeof *sandbox->rules);
	if (!sandbox->rules)
		return sb_no_memory(err);
	for (size_t i = 0; i < sandbox->rule_count; i++)
		sandbox->rules[i] = (struct sb_flag_rule){.text = lines[i], .origin = lines[i]};
	return SB_OK;
}

int sb_sandbox_open(const struct sb_sandbox_options *options, struct sb_sandbox **out,
		    struct sb_error *err)
{
	struct sb_sandbox *sandbox;
	int status;

	*out = NULL;
	sandbox = calloc(1, sizeof *sandbox);
	if (!sandbox)
		return sb_no_memory(err);
	if (options) /* a program that was compiled with an older header knows fewer of them */
		memcpy(&sandbox->options, options,
		       options->size < sizeof *options ? options->size : sizeof *options);
	status = keep_rules(sandbox, err);
	if (status == SB_OK) {
		*out = sandbox;
		return SB_OK;
	}
	sb_sandbox_close(sandbox);
	return status;
}

void sb_sandbox_close(struct sb_sandbox *sandbox)
{
	if (!sandbox)
		return;
	for (size_t i = 0; i < USES; i++)
		if (sandbox->made[i])
			sb_setup_done(&sandbox->setups[i]);
	free(sandbox->rules);
	free(sandbox);
}

static int set_up(struct sb_sandbox *sandbox, enum use use, const struct sb_setup **out,
		  struct sb_error *err)
{
	const struct sb_sandbox_options *options = &sandbox->options;
	struct sb_setup *setup = &sandbox->setups[use];
	struct sb_setup_request request = {
		.environment = sb_environment_of(variable),
		.projects = options->projects,
		.rules = sandbox->rules,
		.rule_count = sandbox->rule_count,
		.settings = {[SB_SETTING_MODE] = options->read_only ? SB_MODE_READ_ONLY + 1 : 0,
			     [SB_SETTING_NETWORK] = options->network_off ? SB_NETWORK_OFF + 1 : 0},
		.anywhere = options->anywhere,
		.looking = use == TO_ASK,
		.existing_only = use == TO_ENTER, /* what is not there the kernel cannot hold */
		.guarded = use == TO_USE_FILES,   /* they look at names and contents themselves */
	};
	int status = SB_OK;

	*out = setup;
	if (sandbox->made[use])
		return SB_OK;
	request.environment.projects = options->projects;
	status = sb_setup_make(&request, setup, err);
	for (size_t i = 0; setup->warnings && setup->warnings[i]; i++)
		warn(sandbox, setup->warnings[i]);
	if (status == SB_E_PLACE)
		sb_fail(err, SB_E_PLACE, 0,
			"the current directory '%s' is not inside the home directory",
			setup->home.cwd);
	sandbox->made[use] = status == SB_OK;
	if (status != SB_OK)
		sb_setup_done(setup);
	return status;
}

int sb_sandbox_setup_files(struct sb_sandbox *sandbox, const struct sb_setup **out,
			   struct sb_error *err)
{
	return set_up(sandbox, TO_USE_FILES, out, err);
}

const struct sb_policy *sb_sandbox_policy(struct sb_sandbox *sandbox, struct sb_error *err)
{
	const struct sb_setup *setup;

	return set_up(sandbox, TO_ASK, &setup, err) == SB_OK ? setup->policy : NULL;
}

/* Landlock and seccomp bind the thread that asks for them. */
static int check_alone(struct sb_error *err)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	size_t count = 0;

	while (tasks && (entry = readdir(tasks)))
		count += entry->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	if (count == 1)
		return SB_OK;
	return count ? sb_fail(err, SB_E_REFUSED, 0,
			       "this process has other threads, which would stay outside")
		     : sb_fail(err, SB_E_BROKEN, 0, "cannot tell whether there are other threads");
}

/* What the user's configuration promises and only a supervised run, or the program `sandbash`, holds. */
static int check_promises(const struct sb_sandbox *sandbox, const struct sb_policy *policy,
			  struct sb_error *err)
{
	const char *what = sb_policy_protect_ignored(policy) ? "protect what git ignores"
			   : sb_policy_clean_env(policy)     ? "clean the environment"
							     : NULL;

	/* a file of the user's may say so; entering promises a sandbox */
	if (sb_policy_mode(policy) == SB_MODE_DANGER_FULL_ACCESS)
		return sb_fail(err, SB_E_REFUSED, 0,
			       "the mode is danger-full-access: there is nothing to enter");
	if (!what || sandbox->options.best_effort)
		return SB_OK;
	return sb_fail(err, SB_E_UNSUPPORTED, 0, "a process that enters by itself cannot %s", what);
}

static int check_visible(const struct sb_plan *plan, struct sb_error *err)
{
	return sb_plan_state_at(plan, plan->cwd) != SB_STATE_HIDDEN
		       ? SB_OK
		       : sb_fail(err, SB_E_REFUSED, 0,
				 "the current directory '%s' is hidden by a rule", plan->cwd);
}

static int point_tmpdir(const struct sb_setup *setup, const struct sb_plan *plan,
			const struct sb_layers *layers, struct sb_error *err)
{
	const char *old = getenv("TMPDIR");
	const char *is = sb_plan_tmpdir(plan, layers->mounts, old, setup->home.tmpdir != NULL);

	if (is && is != old && setenv("TMPDIR", is, 1) != 0)
		return sb_no_memory(err);
	return SB_OK;
}

int sb_sandbox_enter(struct sb_sandbox *sandbox, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_weaknesses *weak = calloc(1, sizeof *weak);
	struct sb_confine_options confine = {.best_effort = sandbox->options.best_effort};
	struct sb_plan plan = {0};
	struct sb_layers layers;
	const struct sb_setup *setup;
	int status = weak ? check_alone(err) : sb_no_memory(err);

	if (status == SB_OK)
		status = set_up(sandbox, TO_ENTER, &setup, err);
	if (status != SB_OK)
		return status;
	confine.policy = setup->policy;
	status = check_promises(sandbox, setup->policy, err);
	if (status == SB_OK)
		status = sb_setup_protect(setup, err);
	if (status == SB_OK) {
		const struct sb_plan_request request = {
			.cwd = setup->home.cwd,
			.tmpdir = setup->home.tmpdir,
			.projects = (const char *const *)setup->projects,
		};

		status = sb_plan_make(setup->policy, &request, &plan, err);
	}
	if (status == SB_OK)
		status = check_visible(&plan, err);
	if (status == SB_OK)
		status = sb_confine(&plan, &confine, &layers, weak, err);
	for (size_t i = 0; i < weak->count; i++)
		warn(sandbox, weak->text[i]);
	if (status == SB_OK)
		status = point_tmpdir(setup, &plan, &layers, err);
	sb_plan_done(&plan);
	return status;
}

int sb_sandbox_files(struct sb_sandbox *sandbox, const struct sb_files_options *files,
		     struct sb_files **out_view, struct sb_error *err)
{
	struct sb_files_options options = {0};
	SB_AUTO_FREE struct sb_files_error *why = calloc(1, sizeof *why);
	const struct sb_setup *setup;
	int status = why ? set_up(sandbox, TO_USE_FILES, &setup, err) : sb_no_memory(err);

	if (status != SB_OK)
		return status;
	if (files)
		memcpy(&options, files,
		       files->size < sizeof options ? files->size : sizeof options);
	options.size = sizeof options;
	if (!options.home)
		options.home = setup->home.home;
	if (!options.git_settings)
		options.git_settings = (const char *const *)setup->home.git_settings;
	if (!options.config_home)
		options.config_home = setup->home.xdg_config;
	if (!options.data_home)
		options.data_home = setup->home.xdg_data;
	if (!options.cache_home)
		options.cache_home = setup->home.xdg_cache;
	if (!options.state_home)
		options.state_home = setup->home.xdg_state;
	if (!options.account_home)
		options.account_home = sb_home_of_account(&setup->home);
	if (sb_files_open(setup->policy, (const char *const *)setup->projects, &options, out_view,
			  why) == 0)
		return SB_OK;
	return sb_fail(err, why->sys_errno ? SB_E_SYSTEM : SB_E_INVALID, why->sys_errno, "%s",
		       why->person);
}
