#include "config/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "config/file.h"
#include "config/load.h"
#include "config/profile.h"
#include "config/word.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/builtin.h"
#include "policy/settings.h"
#include "policy/text.h"

/* S5: where a run may start. */
static int check_project(const struct sb_maker *maker, const char *path, bool is_cwd,
			 struct sb_error *err)
{
	const struct sb_setup_request *request = maker->request;
	const char *home = maker->setup.home.home;
	bool is_home = strcmp(path, home) == 0;

	if (request->looking)
		return SB_OK;
	if ((is_home || (sb_path_within(path, home) && request->anywhere)) &&
	    !request->allow_home) {
		sb_fail(err, SB_E_INVALID, 0, "'%s' is %s: too broad to be writable", path,
			is_home ? "your home directory" : "around your home directory");
		return sb_hint(err, "start in a project inside it, or pass --allow-home");
	}
	if (!is_home && !sb_path_within(home, path) && !request->anywhere) {
		sb_fail(err, is_cwd ? SB_E_PLACE : SB_E_INVALID, 0,
			"'%s' is not inside your home directory", path);
		return sb_hint(err, "pass --anywhere to allow it");
	}
	return SB_OK;
}

static int find_projects(struct sb_maker *maker, struct sb_error *err)
{
	size_t count = 0;
	const char *const *extra = maker->request->projects;
	int status = check_project(maker, maker->setup.home.cwd, true, err);

	if (status == SB_OK)
		status = sb_list_push(&maker->setup.projects, &count, strdup(maker->setup.home.cwd),
				      err);
	for (size_t i = 0; extra && extra[i] && status == SB_OK; i++) {
		SB_AUTO_FREE char *absolute = NULL, *path = NULL, *planted = NULL;
		struct stat info;
		int missing = 0;

		status = sb_path_expand(extra[i], maker->setup.home.cwd, maker->setup.home.home,
					&absolute, err);
		if (status == SB_OK)
			status = sb_path_canonical_watched(
				absolute, (const char *const *)maker->setup.projects, &path,
				&missing, &planted, err);
		if (status == SB_OK && missing)
			status = sb_fail(err, SB_E_MISSING, missing, "cannot use project '%s'",
					 extra[i]);
		if (status == SB_OK && planted)
			status = sb_load_refuse_planted(extra[i], planted, path, err);
		if (status != SB_OK)
			break;
		if (stat(path, &info) != 0)
			return sb_fail(err, SB_E_MISSING, errno, "cannot use project '%s'",
				       extra[i]);
		if (!S_ISDIR(info.st_mode))
			return sb_fail(err, SB_E_INVALID, ENOTDIR, "cannot use project '%s'",
				       extra[i]);
		status = check_project(maker, path, false, err);
		if (status == SB_OK)
			status = sb_list_push(&maker->setup.projects, &count, sb_take_ptr(&path),
					      err);
	}
	return status;
}

/* Commands make links there unless somebody lives or works in it: policy/builtin.c, add_var_tmp(). */
static bool is_var_tmp_open(const struct sb_maker *maker)
{
	const char *home = maker->setup.home.home;

	return !sb_path_holds_any("/var/tmp", (const char *const *)maker->setup.projects) &&
	       (!home || !sb_path_within("/var/tmp", home));
}

static int find_watched(struct sb_maker *maker, struct sb_error *err)
{
	static const char *const temps[] = {"/tmp", "/dev/shm"};
	const char *tmpdir = maker->setup.home.tmpdir;
	int status = SB_OK;

	for (size_t i = 0; maker->setup.projects[i] && status == SB_OK; i++)
		status = sb_list_push(&maker->watched, &maker->watched_count,
				      strdup(maker->setup.projects[i]), err);
	for (size_t i = 0; i < sizeof temps / sizeof temps[0] && status == SB_OK; i++)
		status =
			sb_list_push(&maker->watched, &maker->watched_count, strdup(temps[i]), err);
	if (status == SB_OK && is_var_tmp_open(maker))
		status = sb_list_push(&maker->watched, &maker->watched_count, strdup("/var/tmp"),
				      err);
	if (status == SB_OK && tmpdir)
		status = sb_list_push(&maker->watched, &maker->watched_count, strdup(tmpdir), err);
	return status;
}

static int load_tiers(struct sb_maker *maker, struct sb_error *err)
{
	SB_AUTO_FREE char *global = sb_global_config(&maker->setup.home);
	const char *const *files = maker->request->policy_files;
	int status;

	if (!global)
		return sb_no_memory(err);
	status = sb_load_file(maker, SB_TIER_SYSTEM, SB_SYSTEM_CONFIG, NULL, false, err);
	if (status == SB_OK)
		status = sb_load_profiles(maker, err);
	if (status == SB_OK)
		status = sb_load_file(maker, SB_TIER_GLOBAL, global, NULL, false, err);
	for (size_t i = 0; maker->setup.projects[i] && status == SB_OK; i++) {
		const char *project = maker->setup.projects[i];
		SB_AUTO_FREE char *path = sb_directory_config(&maker->setup.home, project);

		if (!path)
			return sb_no_memory(err);
		status = sb_load_file(maker, SB_TIER_DIRECTORY, path, i ? project : NULL, false,
				      err);
	}
	for (size_t i = 0; files && files[i] && status == SB_OK; i++) {
		SB_AUTO_FREE char *absolute = NULL, *path = NULL;
		int missing = 0;

		status = sb_path_expand(files[i], maker->setup.home.cwd, maker->setup.home.home,
					&absolute, err);
		if (status == SB_OK)
			status = sb_path_canonical(absolute, &path, &missing, err);
		if (status == SB_OK && missing)
			status = sb_fail(err, SB_E_MISSING, missing, "cannot read '%s'", files[i]);
		if (status == SB_OK)
			status = sb_load_file(maker, SB_TIER_FILE, path, NULL, true, err);
	}
	if (status == SB_OK && maker->request->policy_text)
		status = sb_load_text(maker, maker->request->policy_text, err);
	return status;
}

/* A wrong rule on the command line is a usage mistake, and names its option. */
static int name_flag(struct sb_error *err, const char *origin)
{
	if (!err)
		return SB_E_USAGE;
	if ((err->code != SB_E_INVALID && err->code != SB_E_CONFLICT) || err->sys_errno)
		return err->code;
	err->code = SB_E_USAGE;
	return sb_load_say_where(err, "%s: ", origin);
}

static int parse_flag(const struct sb_flag_rule *flag, struct sb_line *line, struct sb_error *err)
{
	SB_AUTO_FREE char *text = flag->word ? sb_text_print("%s %s", flag->word, flag->text)
					     : strdup(flag->text);

	return text ? sb_line_parse(text, strlen(text), line, err) : sb_no_memory(err);
}

static int load_flags(struct sb_maker *maker, struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < maker->request->rule_count && status == SB_OK; i++) {
		const struct sb_flag_rule *flag = &maker->request->rules[i];
		struct sb_rule_source source = {.tier = SB_TIER_FLAG,
						.base = maker->setup.home.cwd,
						.origin = flag->origin,
						.may_be_literal = true};
		struct sb_line line = {0};

		if (flag->access) {
			line.access = *flag->access;
			line.text = (char *)flag->text;
			status = sb_load_rule(maker, &source, &line, err);
			if (status != SB_OK)
				return name_flag(err, flag->origin);
			continue;
		}
		status = parse_flag(flag, &line, err);
		if (status == SB_OK && line.kind == SB_LINE_RULE)
			status = sb_load_rule(maker, &source, &line, err);
		else if (status == SB_OK &&
			 (line.kind == SB_LINE_CONNECT || line.kind == SB_LINE_LISTEN))
			status = sb_load_host(maker, &source, &line, err);
		else if (status == SB_OK)
			status = sb_fail(err, SB_E_INVALID, 0, "'%s' is no rule", flag->text);
		sb_line_done(&line);
		if (status != SB_OK)
			return name_flag(err, flag->origin);
	}
	return status;
}

/* P1: the environment can only tighten. */
static int heed_environment(struct sb_maker *maker, enum sb_setting setting, int *value,
			    struct sb_error *err)
{
	const struct sb_setup_request *request = maker->request;
	bool mode = setting == SB_SETTING_MODE;
	const char *wanted = mode ? request->environment.mode : request->environment.network;
	const char *name = mode ? "SANDBASH_MODE" : "SANDBASH_NETWORK";
	int asked;

	if (!wanted || !wanted[0])
		return SB_OK;
	if (sb_setting_parse(setting, wanted, &asked, NULL) != SB_OK) {
		sb_fail(err, SB_E_INVALID, 0, "%s is '%s', which is no %s", name, wanted,
			mode ? "mode" : "setting of the network");
		return sb_hint(err, mode ? "modes are read-only, workspace-write and "
					   "danger-full-access"
					 : "it can be on, learn, ask and off");
	}
	if (asked >= *value)
		*value = asked;
	else if (!request->settings[setting])
		return sb_maker_warn(maker, err, "%s=%s is ignored: only --%s can loosen %s", name,
				     wanted, sb_settings[setting].word,
				     sb_settings[setting].values[*value]);
	return SB_OK;
}

/*
 * Of an agent hosts are asked about, unless somebody says otherwise.  That is no promise anybody has asked for: where they cannot
 * be told apart the network is as for every other command.
 */
static bool assumes_ask(const struct sb_maker *maker)
{
	const struct sb_setup_request *request = maker->request;
	const char *wanted = request->environment.network;

	if ((!maker->asks && !request->agent) || request->settings[SB_SETTING_NETWORK] ||
	    (wanted && *wanted))
		return false;
	for (int tier = SB_TIER_SYSTEM; tier < SB_TIER_COUNT; tier++)
		if (maker->tiers[tier].origins[SB_SETTING_NETWORK])
			return false;
	return request->holds_hosts && request->holds_hosts();
}

/* Config chooses, an option decides; what the system's file says may be a floor (policy/settings.h). */
static int choose(struct sb_maker *maker, enum sb_setting setting, struct sb_error *err)
{
	const struct sb_settings *tiers = maker->tiers, *system = &tiers[SB_TIER_SYSTEM];
	const int *said = system->origins[setting] ? &system->values[setting] : NULL;
	int given = maker->request->settings[setting], status = SB_OK, kept;
	int value = said && sb_settings[setting].system_first ? *said : sb_settings[setting].normal;
	bool heard = false;

	if (setting == SB_SETTING_NETWORK && assumes_ask(maker)) {
		maker->setup.network_assumed = true;
		value = SB_NETWORK_ASK;
	}
	for (int tier = SB_TIER_PROFILE; tier < SB_TIER_COUNT && status == SB_OK; tier++) {
		if (tiers[tier].origins[setting] && (!heard || !sb_settings[setting].strictest ||
						     tiers[tier].values[setting] > value))
			value = tiers[tier].values[setting];
		heard |= tiers[tier].origins[setting] != NULL;
		if (tier == SB_TIER_DIRECTORY &&
		    (setting == SB_SETTING_MODE || setting == SB_SETTING_NETWORK))
			status = heed_environment(maker, setting, &value, err);
	}
	if (given)
		value = given - 1;
	kept = sb_setting_choose(setting, said, value);
	maker->setup.least[setting] = sb_setting_choose(setting, said, 0);
	if (kept != value && setting == SB_SETTING_MODE && status == SB_OK)
		status = sb_maker_warn(maker, err, "the system's rules keep the mode at %s",
				       sb_settings[setting].values[kept]);
	sb_policy_set(maker->setup.policy, setting, kept);
	return status;
}

/* S9: whatever rules were read from, the run cannot change for the next one. */
static int protect_files(struct sb_maker *maker, struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < maker->file_count && status == SB_OK; i++) {
		SB_AUTO_FREE char *real = NULL, *pattern = NULL;
		struct sb_rule rule = {.access = sb_access_read,
				       .tier = SB_TIER_BUILTIN,
				       .hard = true,
				       .origin = "built-in: a rule file of this run"};

		status = sb_path_canonical(maker->setup.files[i], &real, NULL, err);
		if (status != SB_OK)
			break;
		status = sb_builtin_guard_links(maker->setup.policy, maker->setup.files[i], err);
		if (status != SB_OK || sb_path_within(maker->setup.home.config_dir, real))
			continue;
		pattern = sb_pattern_escape(real);
		if (!pattern)
			return sb_no_memory(err);
		rule.pattern = pattern;
		status = sb_policy_add(maker->setup.policy, &rule, err);
	}
	return status;
}

static int close_file(const struct sb_maker *maker, struct sb_error *err)
{
	SB_AUTO_FREE char *pattern = NULL;
	struct sb_rule rule = {.access = sb_access_deny,
			       .tier = SB_TIER_BUILTIN,
			       .hard = true,
			       .origin = "built-in: a file of this run"};

	if (!maker->request->closed)
		return SB_OK;
	pattern = sb_pattern_escape(maker->request->closed);
	if (!pattern)
		return sb_no_memory(err);
	rule.pattern = pattern;
	return sb_policy_add(maker->setup.policy, &rule, err);
}

static int make(struct sb_maker *maker, struct sb_error *err)
{
	static int (*const steps[])(struct sb_maker * maker, struct sb_error * err) = {
		find_projects,     find_watched,         sb_believed_by_profiles,
		sb_profile_choose, sb_tools_find,        load_tiers,
		load_flags,        sb_believed_by_rules, NULL};
	struct sb_setup *setup = &maker->setup;
	struct sb_surroundings place;
	int status;

	status = sb_home_find(&maker->request->environment, &setup->home, err);
	if (status != SB_OK)
		return status;
	for (size_t i = 0; setup->home.warnings && setup->home.warnings[i] && status == SB_OK; i++)
		status = sb_maker_warn(maker, err, "%s", setup->home.warnings[i]);
	if (status != SB_OK)
		return status;
	setup->policy = sb_policy_new();
	if (!setup->policy)
		return sb_no_memory(err);
	for (size_t i = 0; steps[i] && status == SB_OK; i++)
		status = steps[i](maker, err);
	if (status == SB_OK)
		status = sb_load_check_grants(maker, err);
	for (int i = 0; i < SB_SETTING_COUNT && status == SB_OK; i++)
		status = choose(maker, (enum sb_setting)i, err);
	if (status == SB_OK)
		status = sb_hosts_settle(maker, err);
	if (status != SB_OK)
		return status;
	place = (struct sb_surroundings){.home = setup->home.home,
					 .account_home = setup->home.account_home,
					 .config_home = setup->home.config_home,
					 .data_home = setup->home.data_home,
					 .secrets = (const char *const *)setup->home.secrets,
					 .obeyed = (const char *const *)setup->home.obeyed,
					 .projects = (const char *const *)setup->projects,
					 .tmpdir = setup->home.tmpdir,
					 .runtime_dir = setup->home.runtime_dir,
					 .terminals = (const char *const *)setup->home.terminals,
					 .uid = getuid(),
					 .sockets = (const char *const *)setup->home.sockets,
					 .config_dir = setup->home.config_dir,
					 .state_dir = setup->home.state_dir,
					 .unused = setup->home.unused,
					 .existing_only = maker->request->existing_only,
					 .guarded = maker->request->guarded};
	status = maker->request->more_rules
			 ? maker->request->more_rules(maker->request->context, &setup->home,
						      setup->policy, err)
			 : SB_OK;
	if (status == SB_OK)
		status = sb_within_find(maker, err);
	place.within = (const char *const *)setup->within;
	if (status == SB_OK)
		status = sb_builtin_add(setup->policy, &place, err);
	/* a path that is canonical as it was named has no link on the way */
	if (status == SB_OK && strcmp(setup->home.config_named, setup->home.config_dir) != 0)
		status = sb_builtin_guard_links(setup->policy, setup->home.config_named, err);
	for (int kind = 0; kind < SB_UNUSED_COUNT; kind++)
		for (char **path = setup->home.unused[kind]; path && *path && status == SB_OK;
		     path++)
			status = sb_builtin_guard_links(setup->policy, *path, err);
	if (status == SB_OK)
		status = protect_files(maker, err);
	if (status == SB_OK)
		status = close_file(maker, err);
	if (status == SB_OK)
		status = sb_folds_find(setup, err);
	if (status == SB_OK)
		status = sb_policy_seal(setup->policy, err);
	if (status == SB_OK)
		status = sb_fast_check(maker, err);
	if (status == SB_OK)
		status = sb_tools_settle(setup, err);
	return status;
}

static int make_once(const struct sb_setup_request *request, struct sb_setup *out,
		     struct sb_error *err)
{
	struct sb_maker maker = {.request = request,
				 .setup = {.log_keep_days = SB_LOG_KEEP_DAYS,
					   .log_keep_megabytes = SB_LOG_KEEP_MEGABYTES,
					   .log_static = true}};
	int status = make(&maker, err);

	for (int tier = 0; tier < SB_TIER_COUNT; tier++) {
		for (int i = 0; i < SB_SETTING_COUNT; i++)
			free(maker.tiers[tier].origins[i]);
		free(maker.tiers[tier].shell_origin);
		free(maker.tiers[tier].keep_days_origin);
		free(maker.tiers[tier].log_static_origin);
		free(maker.tiers[tier].keep_megabytes_origin);
	}
	sb_list_free(maker.watched);
	sb_list_free(maker.granted);
	sb_list_free(maker.opened);
	sb_hosts_forget(&maker);
	sb_fast_forget(&maker);
	*out = maker.setup; /* also on failure: the caller's message may need the places */
	return status;
}

/* Its tools stay: a program that commands could have written gets no profile by its name. */
static int make_without_profile(const struct sb_setup_request *request, struct sb_setup *out,
				struct sb_error *err)
{
	struct sb_setup_request plain = *request;
	SB_AUTO_FREE char *name = sb_take_ptr(&out->profile.name);
	SB_AUTO_FREE char *program = sb_take_ptr(&out->profile.program);
	struct sb_maker maker = {0};
	int status;

	sb_setup_done(out);
	plain.only_tools = true;
	status = make_once(&plain, out, err);
	while (out->warnings && out->warnings[maker.warning_count])
		maker.warning_count++;
	maker.setup.warnings = out->warnings;
	if (status == SB_OK)
		status = sb_maker_warn(&maker, err, SB_PROFILE_PLANTED, name, program, name);
	out->warnings = maker.setup.warnings;
	return status;
}

int sb_setup_make(const struct sb_setup_request *given, struct sb_setup *out, struct sb_error *err)
{
	struct sb_setup_request request = *given;
	int status = make_once(&request, out, err);

	/* a cache that cannot be a fast root is a directory as any other */
	if (status == SB_E_REFUSED && out->profile.fast_cache) {
		request.guarded_cache = true;
		sb_setup_done(out);
		status = make_once(&request, out, err);
	}
	return status == SB_OK && sb_profile_is_planted(out)
		       ? make_without_profile(&request, out, err)
		       : status;
}

void sb_setup_done(struct sb_setup *setup)
{
	if (!setup)
		return;
	sb_home_done(&setup->home);
	sb_policy_free(setup->policy);
	for (size_t i = 0; i < setup->listed_count; i++)
		free(setup->listed[i].pattern);
	free(setup->listed);
	sb_list_free(setup->projects);
	sb_list_free(setup->within);
	sb_list_free(setup->files);
	sb_list_free(setup->warnings);
	free(setup->shell);
	sb_profile_done(&setup->profile);
	*setup = (struct sb_setup){0};
}

char **sb_setup_open_roots(const struct sb_setup *setup)
{
	return setup->within ? setup->within : setup->projects;
}

/* Could the run create this directory?  Then the nearest existing parent is writable. */
static bool could_be_planted(const struct sb_setup *setup, const char *dir)
{
	SB_AUTO_FREE char *parent = sb_path_parent(dir);
	struct stat info;

	if (!parent || stat(dir, &info) == 0)
		return false;
	if (sb_decide(setup->policy, SB_CREATE, parent).verdict == SB_ALLOW)
		return true;
	return could_be_planted(setup, parent);
}

static int protect(const struct sb_setup *setup, const char *dir, unsigned mode,
		   struct sb_error *err)
{
	struct sb_error own;
	int status;

	err = err ? err : &own; /* it is read */
	status = could_be_planted(setup, dir) ? sb_config_make_dirs(dir, mode, err) : SB_OK;

	/* What we may not create, the command may not either. */
	if (status != SB_OK &&
	    (err->sys_errno == EROFS || err->sys_errno == EACCES || err->sys_errno == EPERM))
		status = SB_OK;
	return status;
}

/* In a home directory that is there, or right in another one, but not in "/": what a variable says may be anything. */
static bool may_be_made(const struct sb_home *home, const char *dir)
{
	SB_AUTO_FREE char *parent = sb_path_parent(dir);

	return parent && parent[1] &&
	       access(sb_path_within(home->home, dir) ? home->home : parent, F_OK) == 0;
}

/*
 * SECURITY: what no command may read is there before a run covers it.
 *
 * Danger: the first question of all makes the words, the first run the record; that run, and every other that was
 * started before, would read both.
 * Price: two files for whoever has never been asked.
 * Held by: tests/supervise/hidden.py
 */
static int make_hidden(const struct sb_setup *setup, struct sb_error *err)
{
	const struct sb_home *home = &setup->home;
	bool in_project = home->unused[SB_UNUSED_REFUSED] != NULL;

	if (!in_project && may_be_made(home, home->config_dir))
		sb_word_make(home);
	/* what cannot be, nobody reads */
	if (access(home->state_dir, F_OK) != 0 && may_be_made(home, home->state_dir) &&
	    sb_config_make_dirs(home->state_dir, 0700, NULL) == SB_OK)
		return SB_OK;
	return protect(setup, home->state_dir, 0700, err);
}

int sb_setup_protect(const struct sb_setup *setup, struct sb_error *err)
{
	int status = protect(setup, setup->home.config_dir, 0700, err);

	if (status == SB_OK)
		status = make_hidden(setup, err);
	if (status == SB_OK)
		status = protect(setup, SB_SYSTEM_DIR, 0755, err);
	for (int kind = 0; kind < SB_UNUSED_COUNT; kind++)
		for (char **pair = setup->home.unused[kind]; pair && *pair && status == SB_OK;
		     pair += 2)
			status = protect(setup, pair[1], 0700, err);
	return status == SB_OK ? sb_profile_make(setup, err) : status;
}
