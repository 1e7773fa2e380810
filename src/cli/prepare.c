/*
 * prepare.c - rules and plan of a run, before anything is confined or told.
 */
#include "cli/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/list.h"
#include "cli/shell.h"
#include "path/path.h"

bool sb_run_is_danger(const struct sb_run *run)
{
	return sb_policy_mode(run->setup.policy) == SB_MODE_DANGER_FULL_ACCESS;
}

/* A command cannot run in a directory that it may not see. */
static int check_visible(const struct sb_run *run, struct sb_error *err)
{
	const char *cwd = run->setup.home.cwd;
	struct sb_decision decision = sb_decide(run->setup.policy, SB_READ, cwd);

	if (sb_plan_state_at(&run->plan, cwd) != SB_STATE_HIDDEN)
		return SB_OK;
	return sb_fail(err, SB_E_REFUSED, 0, "the current directory '%s' is hidden by a rule: %s",
		       cwd, decision.rule ? decision.rule->origin : "none");
}

/* Only a supervisor can tell what git ignores at the moment of a change. */
static int check_ignored(const struct sb_run *run, struct sb_error *err)
{
	if (!sb_policy_protect_ignored(run->setup.policy) || sb_run_is_danger(run) ||
	    sb_is_supervised(run->line))
		return SB_OK;
	if (run->line->best_effort) {
		sb_warn("what git ignores is not protected: that takes a supervised run");
		return SB_OK;
	}
	sb_fail(err, SB_E_UNSUPPORTED, 0,
		"cannot protect what git ignores: that takes a supervised run");
	return sb_hint(err, "leave out --static, or deny the files by name: --rule='read .env'; "
			    "--best-effort goes on without");
}

/* Grants for what is not there yet that this run cannot hold as they read. */
static void warn_about_absent(const struct sb_plan *plan)
{
	for (size_t i = 0; i < plan->absent_count; i++) {
		const char *path = plan->absent[i];

		if (sb_plan_state_at(plan, path) == SB_STATE_HIDDEN)
			sb_warn("'%s' is not there, and what is made in a hidden directory cannot "
				"be seen: make it first",
				path);
		else if (sb_plan_is_temp_at(plan, path))
			sb_warn("'%s' is not there: what the command makes there is gone with its "
				"own temp directory",
				path);
	}
}

/* Words of the profile, right behind the program's name; not those that were given already. */
static int add_arguments(const struct sb_profile *profile, char ***argv, struct sb_error *err)
{
	size_t given = sb_list_count(*argv), count = 1;
	char **grown;

	if (!profile->fits || !profile->argument_count)
		return SB_OK;
	grown = calloc(given + profile->argument_count + 1, sizeof *grown);
	if (!grown)
		return sb_no_memory(err);
	grown[0] = (*argv)[0];
	for (size_t i = 0; i < profile->argument_count; i++) {
		bool there = false;

		for (size_t j = 1; j < given; j++)
			there |= strcmp((*argv)[j], profile->arguments[i]) == 0;
		if (!there)
			grown[count++] = profile->arguments[i];
	}
	memcpy(grown + count, *argv + 1, given * sizeof *grown);
	free(*argv);
	*argv = grown;
	return SB_OK;
}

int sb_run_prepare(const struct sb_command_line *line, bool for_real, struct sb_run *run)
{
	struct sb_error err;
	SB_AUTO_FREE char *absolute = NULL;
	struct sb_plan_request request;
	int status;

	/* A command of its own may have a profile; the shell is chosen by what is read now. */
	if (line->command[0] && !line->for_shell)
		run->file = sb_shell_find(line->command[0]);
	/* Without a sandbox it does not matter where we stand. */
	status = sb_set_up_for(line, run->file,
			       line->has_mode && line->mode == SB_MODE_DANGER_FULL_ACCESS,
			       &run->setup);
	if (status)
		return status;
	/* ... but the system's rules may not let us go without one. */
	if (line->has_mode && line->mode == SB_MODE_DANGER_FULL_ACCESS && !sb_run_is_danger(run)) {
		sb_setup_done(&run->setup);
		status = sb_set_up_for(line, run->file, false, &run->setup);
		if (status)
			return status;
	}
	status = sb_shell_command(line, &run->setup, &run->argv, &err);
	if (status == SB_OK && !sb_run_is_danger(run))
		status = add_arguments(&run->setup.profile, &run->argv, &err);
	if (status == SB_OK)
		status = check_ignored(run, &err);
	if (status == SB_OK && for_real && !sb_run_is_danger(run))
		status = sb_setup_protect(&run->setup, &err);
	if (status == SB_OK && !sb_run_is_danger(run)) {
		if (!run->file)
			run->file = sb_shell_find(run->argv[0]);
		if (run->file && sb_path_expand(run->file, run->setup.home.cwd,
						run->setup.home.home, &absolute, NULL) == SB_OK)
			sb_path_canonical(absolute, &run->canonical, NULL, NULL);
		request = (struct sb_plan_request){
			.cwd = run->setup.home.cwd,
			.tmpdir = run->setup.home.tmpdir,
			.command = run->canonical,
			.projects = (const char *const *)run->setup.projects,
			.supervised = sb_is_supervised(line),
			.other_terminal = run->setup.home.other_terminal,
			.tells_hidden = line->learn,
		};
		status = sb_plan_make(run->setup.policy, &request, &run->plan, &err);
		if (status == SB_OK)
			status = check_visible(run, &err);
		if (status == SB_OK)
			warn_about_absent(&run->plan);
	}
	return status == SB_OK ? 0 : sb_report(&err);
}

void sb_run_done(struct sb_run *run)
{
	sb_plan_done(&run->plan);
	sb_setup_done(&run->setup);
	free(run->argv);
	free(run->file);
	free(run->canonical);
}
