/*
 * worker.c - --worker=FILE: a run in a world that holds what the worker's file declares.
 *
 * Outside, everything is found that lies outside: the user's rules, the project's file, the worker's, directories,
 * programs, the place of the record.  Then the process enters the view, and what follows is a run like any other:
 * rules by the names that are seen there, a plan of them, the supervisor.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/list.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "cli/worker.h"
#include "config/file.h"
#include "config/word.h"
#include "enforce/confine.h"
#include "enforce/inside.h"
#include "enforce/view.h"
#include "guard/guard.h"
#include "path/path.h"
#include "policy/builtin.h"
#include "policy/network.h"
#include "sys/work.h"
#include "zones/rules.h"

/* The home directory of nobody: what programs keep they keep in /tmp, as long as the run. */
#define NO_HOME "/home"
#define WORKER_HOME "/tmp"

#define LOOK_STACK (1024 * 1024)

struct calling {
	struct sb_command_line *line;
	struct sb_setup user; /* of this machine: the user's rules */
	struct sb_project project;
	struct sb_worker worker;
	struct sb_zones has;
	struct sb_view_dir *dirs;
	struct sb_view_file *called; /* workers */
	size_t called_count;
	char *top; /* of the project */
	char *cwd; /* as the worker sees it */
	int state; /* the directory of our record */
	struct sb_view view;
	struct sb_view_begun *begun;
	bool shadowed; /* out here "/NAME" of a directory is something else */
	bool expected; /* a view, and other threads may be at work before it is begun */
	struct {
		struct sb_work work;
		struct sb_guard *guard;
		int status;
		struct sb_error err;
	} look;
};

/* If its file wants one, and the user's leaves it one. */
static bool has_network(const struct calling *calling)
{
	return calling->worker.network && sb_network_of(calling->user.policy) != SB_NETWORK_OFF;
}

static int check_line(const struct sb_command_line *line, struct sb_error *err)
{
	if (line->learn)
		return sb_fail(err, SB_E_USAGE, 0, "--learn and --worker cannot be combined");
	if (line->shell)
		return sb_fail(err, SB_E_USAGE, 0, "--shell and --worker cannot be combined");
	if (line->static_run)
		return sb_fail(err, SB_E_UNSUPPORTED, 0,
			       "a worker needs a supervisor, which this run would not have");
	return SB_OK;
}

/* --- outside ---------------------------------------------------------------------------------------- */

/* Where we were started, or above: then guarded like where we were. */
static int find_top(struct calling *calling, struct sb_error *err)
{
	struct sb_setup *user = &calling->user;
	size_t count = sb_list_count(user->projects);
	int status = sb_project_find(user->projects[0], user->home.home, &calling->top, err);

	if (status != SB_OK || strcmp(calling->top, user->projects[0]) == 0)
		return status;
	return sb_list_push(&user->projects, &count, strdup(calling->top), err);
}

/* What programs outside obey: their settings, and links, are out of sight in a view. */
static void *look(void *argument)
{
	struct calling *calling = argument;

	calling->look.status = sb_guard_of(&calling->user, calling->user.policy,
					   &calling->look.guard, &calling->look.err);
	if (calling->look.status == SB_OK)
		sb_guard_look(calling->look.guard);
	return NULL;
}

static int load(struct calling *calling, struct sb_error *err)
{
	int status = find_top(calling, err);

	if (status == SB_OK && calling->expected)
		sb_work_begin(&calling->look.work, look, calling, LOOK_STACK);
	if (status == SB_OK)
		status = sb_project_load(calling->top, &calling->project, err);
	if (status == SB_OK)
		status = sb_worker_load(calling->line->worker, &calling->worker, err);
	if (status == SB_OK)
		status = sb_worker_grant(&calling->worker, &calling->project.zones, NULL,
					 &calling->has, err);
	if (status == SB_OK)
		status = sb_worker_called(&calling->worker, &calling->called,
					  &calling->called_count, err);
	if (status == SB_OK)
		sb_zones_tighten(&calling->has, calling->user.policy);
	return status;
}

static int look_around(struct calling *calling, struct sb_error *err)
{
	int status;

	if (!sb_work_done(&calling->look.work))
		look(calling);
	if (calling->look.status != SB_OK) {
		*err = calling->look.err;
		return calling->look.status;
	}
	status = sb_zones_obeyed(&calling->has, calling->look.guard,
				 (const char *const *)calling->user.projects, err);
	sb_guard_free(calling->look.guard);
	return status;
}

/* A directory of a worker's where the caller stands, or "/". */
static char *seen_cwd(const struct calling *calling)
{
	const char *cwd = calling->user.home.cwd;

	for (size_t i = 0; i < calling->has.count; i++) {
		const struct sb_zone *zone = &calling->has.all[i];
		SB_AUTO_FREE char *seen = NULL;

		if (!sb_path_within(zone->path, cwd))
			continue;
		seen = sb_path_join("/", zone->name);
		return seen && cwd[strlen(zone->path)]
			       ? sb_path_join(seen, cwd + strlen(zone->path) + 1)
			       : sb_take_ptr(&seen);
	}
	return strdup("/");
}

static int open_dirs(struct calling *calling, struct sb_error *err)
{
	int status = SB_OK;

	calling->dirs = calloc(calling->has.count + 1, sizeof *calling->dirs);
	calling->cwd = seen_cwd(calling);
	if (!calling->dirs || !calling->cwd)
		return sb_no_memory(err);
	for (size_t i = 0; i < calling->has.count && status == SB_OK; i++) {
		const struct sb_zone *zone = &calling->has.all[i];
		SB_AUTO_FREE char *seen = NULL;

		calling->dirs[i] =
			(struct sb_view_dir){zone->name, zone->path, -1, zone->mode == SB_ZONE_RW};
		status = sb_zone_open(&calling->project, zone, &calling->dirs[i].fd, err);
		seen = sb_path_join("/", zone->name);
		calling->shadowed |= !seen || sb_path_exists(seen);
	}
	return status;
}

/* What is written outside while the worker runs. */
static int hold_places(struct calling *calling, struct sb_run *run, struct sb_error *err)
{
	const struct sb_home *home = &calling->user.home;
	const struct sb_command_line *line = calling->line;
	int status = sb_config_make_dirs(home->state_dir, 0700, err);

	if (status == SB_OK) {
		calling->state = open(home->state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (calling->state < 0)
			status = sb_fail(err, SB_E_SYSTEM, errno, "cannot open '%s'",
					 home->state_dir);
	}
	if (status == SB_OK && line->report) {
		status = sb_report_find(line->report, home->cwd, home->home, &run->report, err);
		if (status == SB_OK) {
			run->report.held =
				open(run->report.directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
			run->report.is_held = run->report.held >= 0;
		}
	}
	if (status == SB_OK && sb_consent_on_terminal(line->consent))
		run->word = sb_word(home);
	return status;
}

/* --- inside ------------------------------------------------------------------------------------------ */

static int set_variables(struct calling *calling, struct sb_error *err)
{
	struct sb_command_line *line = calling->line;
	char *names = NULL;

	if (asprintf(&names, "%s%s%s", SB_ENVIRON_PLAIN, line->keep_env ? "," : "",
		     line->keep_env ? line->keep_env : "") < 0)
		return sb_no_memory(err);
	line->keep_env = names; /* as long as the program lives */
	unsetenv("TMPDIR");
	if (setenv("HOME", WORKER_HOME, 1) != 0 || setenv("PWD", calling->cwd, 1) != 0 ||
	    setenv("SHELL", "/bin/sh", 1) != 0 ||
	    setenv("USER", getuid() ? "worker" : "root", 1) != 0 ||
	    setenv("LOGNAME", getuid() ? "worker" : "root", 1) != 0)
		return sb_no_memory(err);
	return SB_OK;
}

/* The world that the worker is to see, in the making. */
static int begin(struct calling *calling, const struct sb_run *run, struct sb_error *err)
{
	calling->view = (struct sb_view){
		.dirs = calling->dirs,
		.dir_count = calling->has.count,
		.network = has_network(calling),
		.programs = (const char *const *)run->programs,
		.workers = calling->called,
		.worker_count = calling->called_count,
	};
	return sb_view_begin(&calling->view, &calling->begun, err);
}

static int enter(struct calling *calling, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf note = SB_BUF(SB_CONFIG_LIMIT);
	int status;

	calling->worker.network = calling->view.network;
	sb_worker_note(&calling->worker, &calling->has, NULL, &note);
	status = sb_buf_failed(&note)
			 ? sb_no_memory(err)
			 : sb_view_enter(calling->begun, note.length ? note.data : "", err);
	for (size_t i = 0; i < calling->has.count; i++)
		close(calling->dirs[i].fd);
	if (status == SB_OK && chdir(calling->cwd) != 0)
		status = sb_fail(err, SB_E_SYSTEM, errno, "cannot enter '%s'", calling->cwd);
	return status;
}

/* Where the run lives: in a view, paths of ours are descriptors. */
static int settle_home(const struct calling *calling, enum sb_zone_names names,
		       struct sb_home *home, struct sb_error *err)
{
	home->home = strdup(names == SB_ZONE_SEEN ? NO_HOME : calling->user.home.home);
	home->cwd = strdup(calling->cwd);
	if (names == SB_ZONE_REAL)
		home->state_dir = strdup(calling->user.home.state_dir);
	else if (asprintf(&home->state_dir, "/proc/self/fd/%d", calling->state) < 0)
		home->state_dir = NULL;
	home->other_terminal = calling->user.home.other_terminal;
	return home->home && home->cwd && home->state_dir ? SB_OK : sb_no_memory(err);
}

/* What the user's files say stays, where it is stricter than what a worker has anyway. */
static void settle_settings(const struct calling *calling, struct sb_policy *policy)
{
	const struct sb_policy *user = calling->user.policy;

	if (sb_policy_mode(user) == SB_MODE_READ_ONLY)
		sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_READ_ONLY);
	sb_policy_set(policy, SB_SETTING_NETWORK,
		      has_network(calling) ? (int)sb_network_of(user) : SB_NETWORK_OFF);
	if (sb_policy_tmp(user) == SB_TMP_OFF)
		sb_policy_set(policy, SB_SETTING_TMP, SB_TMP_OFF);
	sb_policy_set(policy, SB_SETTING_PROTECT_IGNORED, sb_policy_protect_ignored(user));
	sb_policy_set(policy, SB_SETTING_LOG_ALLOWED, sb_policy_get(user, SB_SETTING_LOG_ALLOWED));
}

/* Hosts are called the same in there. */
static int copy_hosts(const struct sb_policy *user, struct sb_policy *policy, struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < sb_connect_count(user) && status == SB_OK; i++)
		status = sb_connect_add(policy, sb_connect_at(user, i), err);
	for (size_t i = 0; i < sb_listen_count(user) && status == SB_OK; i++) {
		char port[8];

		snprintf(port, sizeof port, "%u", sb_listen_at(user, i)->port);
		status = sb_listen_add(policy, port, sb_listen_at(user, i)->origin, err);
	}
	return status;
}

/* Without a world of its own the rest of this one is hidden: policy/start.h. */
static int hide_all(struct sb_policy *policy, struct sb_error *err)
{
	static const struct sb_rule rule = {.access = {{SB_DENY, SB_DENY, SB_DENY, SB_DENY}},
					    .tier = SB_TIER_DIRECTORY,
					    .pattern = "/",
					    .origin = "the worker does not have it"};

	return sb_policy_add(policy, &rule, err);
}

static int make_policy(const struct calling *calling, struct sb_setup *setup,
		       enum sb_zone_names names, struct sb_error *err)
{
	const struct sb_surroundings place = {
		.home = names == SB_ZONE_REAL ? setup->home.home : NULL,
		.projects = (const char *const *)setup->projects,
		.uid = getuid(),
		.existing_only = true, /* nothing else can come to be */
		.guarded = true};
	int status;

	setup->policy = sb_policy_new();
	if (!setup->policy)
		return sb_no_memory(err);
	settle_settings(calling, setup->policy);
	status = has_network(calling) ? copy_hosts(calling->user.policy, setup->policy, err)
				      : SB_OK;
	if (status == SB_OK)
		status = sb_zones_rules(setup->policy, &calling->has, names, err);
	if (status == SB_OK && names == SB_ZONE_REAL)
		status = hide_all(setup->policy, err);
	if (status == SB_OK)
		status = sb_zones_inherit(setup->policy, &calling->has, names, calling->user.policy,
					  err);
	if (status == SB_OK)
		status = sb_answers_add(calling->line, &setup->home, setup->policy, err);
	if (status == SB_OK)
		status = sb_builtin_add(setup->policy, &place, err);
	return status == SB_OK ? sb_policy_seal(setup->policy, err) : status;
}

static int prepare(struct calling *calling, struct sb_run *run, enum sb_zone_names names,
		   struct sb_error *err)
{
	const struct sb_plan_view view = {(const char *const *)run->programs, calling->shadowed};
	struct sb_setup *setup = &run->setup;
	struct sb_plan_request request;
	int status = set_variables(calling, err);

	run->worker = calling->worker.name;
	run->directory = calling->user.home.cwd;
	if (asprintf(&run->title, "worker %s", calling->worker.name) < 0)
		run->title = NULL;
	if (status == SB_OK)
		status = settle_home(calling, names, &setup->home, err);
	if (status == SB_OK)
		status = sb_worker_projects(&calling->has, names, setup, err);
	if (status == SB_OK)
		status = make_policy(calling, setup, names, err);
	if (status == SB_OK)
		status = sb_worker_command(calling->line, run, err);
	if (status == SB_OK && run->file)
		sb_path_canonical(run->file, &run->canonical, NULL, NULL);
	request = (struct sb_plan_request){
		.cwd = setup->home.cwd,
		.command = run->canonical,
		.projects = (const char *const *)setup->projects,
		.supervised = true,
		.other_terminal = setup->home.other_terminal,
		.view = names == SB_ZONE_SEEN ? &view : NULL,
	};
	return status == SB_OK ? sb_plan_make(setup->policy, &request, &run->plan, err) : status;
}

/*
 * Where there are no namespaces and the user wants it all the same: by the machine's own names, with Landlock around
 * them.
 */
static int stay_here(struct calling *calling, const struct sb_run *run, struct sb_error *err)
{
	const char *directory = calling->has.count ? calling->has.all[0].path : WORKER_HOME;

	if (run->programs)
		return sb_fail(err, SB_E_UNSUPPORTED, 0,
			       "without namespaces nothing keeps a worker to its commands");
	sb_warn("without namespaces the worker sees its directories by their real names, and that there "
		"are others");
	for (size_t i = 0; i < calling->has.count; i++)
		if (sb_path_within(calling->has.all[i].path, calling->user.home.cwd))
			directory = calling->user.home.cwd;
	free(calling->cwd);
	calling->cwd = strdup(directory);
	if (!calling->cwd)
		return sb_no_memory(err);
	return chdir(directory) == 0
		       ? SB_OK
		       : sb_fail(err, SB_E_SYSTEM, errno, "cannot enter '%s'", directory);
}

/* Once: who has written one by these names has written all of them so. */
static void warn_of_rules(const struct calling *calling)
{
	const struct sb_zone *zone;
	const struct sb_rule *rule = sb_zones_misnamed(&calling->has, calling->user.policy, &zone);

	if (rule)
		sb_warn("the rule for '%s' holds nothing: rules are about real paths, and /%s is '%s'",
			rule->pattern, zone->name, zone->path);
}

static bool can_have_view(const struct sb_command_line *line)
{
	struct sb_layers layers;
	struct sb_error err;

	/* who takes no less than all is told what fails; nothing is run then */
	return !line->best_effort ||
	       (sb_layers_probe(false, &layers, &err) == SB_OK && layers.mounts);
}

/*
 * In an order that keeps both processors busy: while the files are read the network is made, then we look around, which
 * needs the files of outside, while the view is made; then the run is prepared, which needs those of the view.  What
 * stays open was opened before: what is opened now goes with the mounts outside.
 */
static int prepare_in_view(struct calling *calling, struct sb_run *run, struct sb_error *err)
{
	int status = sb_worker_programs(&calling->worker, run, err);

	if (status == SB_OK)
		status = begin(calling, run, err);
	if (status == SB_OK)
		status = look_around(calling, err);
	if (status == SB_OK)
		status = enter(calling, err);
	if (status == SB_OK)
		status = prepare(calling, run, SB_ZONE_SEEN, err);
	return status == SB_OK ? sb_view_settle(calling->begun, &run->plan.made, err) : status;
}

static int prepare_here(struct calling *calling, struct sb_run *run, struct sb_error *err)
{
	int status = look_around(calling, err);

	if (status == SB_OK)
		status = sb_worker_programs(&calling->worker, run, err);
	if (status == SB_OK)
		status = stay_here(calling, run, err);
	return status == SB_OK ? prepare(calling, run, SB_ZONE_REAL, err) : status;
}

int sb_run_prepare_worker(struct sb_command_line *line, struct sb_run *run)
{
	/* not freed: the process ends, and rules point into it */
	static struct calling calling;
	struct sb_error err;
	bool mounts;
	int status = check_line(line, &err);

	calling = (struct calling){.line = line, .state = -1};
	if (status == SB_OK && sb_inside(&mounts)) {
		status = sb_worker_prepare_nested(line, run, &err);
		return status == SB_OK ? 0 : sb_report(&err);
	}
	if (status != SB_OK)
		return sb_report(&err);
	calling.expected = !line->best_effort && sb_view_expect();
	status = sb_set_up(line, false, &calling.user);
	if (status)
		return status;
	status = load(&calling, &err);
	if (status == SB_OK)
		warn_of_rules(&calling);
	if (status == SB_OK)
		status = open_dirs(&calling, &err);
	if (status == SB_OK)
		status = hold_places(&calling, run, &err);
	if (status == SB_OK)
		status = can_have_view(line) ? prepare_in_view(&calling, run, &err)
					     : prepare_here(&calling, run, &err);
	return status == SB_OK ? 0 : sb_report(&err);
}
