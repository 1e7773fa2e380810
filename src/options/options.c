#include "options/options.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "consent/session.h"
#include "options/table.h"
#include "options/typo.h"
#include "policy/settings.h"
#include "policy/text.h"

static const struct {
	enum id id;
	enum sb_action action;
} actions[] = {
	{DRY_RUN, SB_ACTION_DRY_RUN},
	{EXPLAIN, SB_ACTION_EXPLAIN},
	{PREVIEW, SB_ACTION_PREVIEW},
	{PRINT_POLICY, SB_ACTION_PRINT_POLICY},
	{PRINT_PROFILE, SB_ACTION_PRINT_PROFILE},
	{LIST_PATHS, SB_ACTION_LIST_PATHS},
	{STATUS, SB_ACTION_STATUS},
	{DOCTOR, SB_ACTION_DOCTOR},
	{SESSIONS, SB_ACTION_SESSIONS},
	{ATTACH, SB_ACTION_ATTACH},
	{WATCH, SB_ACTION_WATCH},
	{LOG, SB_ACTION_LOG},
	{STATS, SB_ACTION_STATS},
	{PROFILES, SB_ACTION_PROFILES},
	{PROFILE_SHOW, SB_ACTION_PROFILE_SHOW},
	{ZONES, SB_ACTION_ZONES},
	{WORKER_CHECK, SB_ACTION_WORKER_CHECK},
	{GIT, SB_ACTION_GIT},
	{ADD_PATH, SB_ACTION_ADD_PATH},
	{REMOVE_PATH, SB_ACTION_REMOVE_PATH},
	{EDIT, SB_ACTION_EDIT},
	{HELP, SB_ACTION_HELP},
	{VERSION, SB_ACTION_VERSION},
	{COMPLETION, SB_ACTION_COMPLETION},
	{MCP, SB_ACTION_MCP},
	{HOOK, SB_ACTION_HOOK},
	{SETUP, SB_ACTION_SETUP},
};

int sb_command_line_give(struct sb_command_line *line, const char *name, const char *value,
			 struct sb_error *err)
{
	if (!SB_GROW(line->given, line->given_count))
		return sb_no_memory(err);
	for (size_t i = 0; i < sb_option_count; i++)
		if (strcmp(sb_options[i].name, name) == 0)
			line->given[line->given_count++] = (struct sb_given){&sb_options[i], value};
	return SB_OK;
}

/* The row that argument names, or -1.  *out_value is what follows "=", or NULL. */
static int find_option(const char *argument, const char **out_value)
{
	const char *equals;
	size_t length;

	*out_value = NULL;
	if (strncmp(argument, "--", 2) != 0)
		return -1;
	argument += 2;
	equals = strchr(argument, '=');
	length = equals ? (size_t)(equals - argument) : strlen(argument);
	for (size_t i = 0; i < sb_option_count; i++) {
		const char *name = sb_options[i].name;

		if (*name == *argument && strncmp(name, argument, length) == 0 && !name[length]) {
			*out_value = equals ? equals + 1 : NULL;
			return (int)i;
		}
	}
	return -1;
}

static int add_rule(struct sb_command_line *line, const struct sb_access *access, const char *value,
		    const char *argument, bool separate, struct sb_error *err)
{
	char *origin;

	if (!SB_GROW(line->rules, line->rule_count))
		return sb_no_memory(err);
	if (asprintf(&origin, "%s%s%s", argument, separate ? "=" : "", separate ? value : "") < 0)
		return sb_no_memory(err);
	line->rules[line->rule_count++] =
		(struct sb_flag_rule){.access = access, .text = value, .origin = origin};
	return SB_OK;
}

static int push(const char ***list, size_t *count, const char *text, struct sb_error *err)
{
	const char **grown = reallocarray(*list, *count + 2, sizeof *grown);

	if (!grown)
		return sb_no_memory(err);
	grown[(*count)++] = text;
	grown[*count] = NULL;
	*list = grown;
	return SB_OK;
}

static int set_action(struct sb_command_line *line, enum id id, const char *value,
		      struct sb_error *err)
{
	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
		if (actions[i].id != id)
			continue;
		if (line->action_name && line->action != actions[i].action)
			return sb_fail(err, SB_E_INVALID, 0, "--%s and --%s cannot be combined",
				       line->action_name, sb_options[id].name);
		if (line->action_name && value)
			return sb_fail(err, SB_E_INVALID, 0, "--%s can be given once only",
				       sb_options[id].name);
		line->action = actions[i].action;
		line->action_name = sb_options[id].name;
		line->action_value = value;
	}
	return SB_OK;
}

/* A setting given twice must say the same. */
static int contradicts(enum id id, struct sb_error *err)
{
	return sb_fail(err, SB_E_INVALID, 0, "--%s contradicts an earlier option",
		       sb_options[id].name);
}

static int set_mode(struct sb_command_line *line, enum id id, enum sb_mode mode,
		    struct sb_error *err)
{
	if (line->has_mode && line->mode != mode)
		return contradicts(id, err);
	line->has_mode = true;
	line->mode = mode;
	return SB_OK;
}

static int set_tmp(struct sb_command_line *line, enum id id, enum sb_tmp tmp, struct sb_error *err)
{
	if (line->has_tmp && line->tmp != tmp)
		return contradicts(id, err);
	line->has_tmp = true;
	line->tmp = tmp;
	return SB_OK;
}

static int set_consent(struct sb_command_line *line, const char *value, struct sb_error *err)
{
	static const char *const names[] = {"auto", "ask", "deny",
					    "watch"}; /* as enum sb_consent */

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(value, names[i]) == 0) {
			if (line->has_consent && line->consent != (enum sb_consent)i)
				return contradicts(CONSENT, err);
			line->has_consent = true;
			line->consent = (enum sb_consent)i;
			return SB_OK;
		}
	return sb_fail(err, SB_E_INVALID, 0,
		       "--consent is 'ask', 'deny', 'auto' or 'watch', not '%s'", value);
}

static int set_timeout(struct sb_command_line *line, const char *value, struct sb_error *err)
{
	char *end;
	double seconds;

	errno = 0;
	seconds = strtod(value, &end);
	if (errno || end == value || *end || !(seconds >= 0.001 && seconds <= 86400))
		return sb_fail(err, SB_E_INVALID, 0,
			       "--ask-timeout is a number of seconds, at most a day, not '%s'",
			       value);
	line->ask_timeout_ms = (int)(seconds * 1000);
	return SB_OK;
}

static int set_network(struct sb_command_line *line, const char *value, struct sb_error *err)
{
	int network, status = sb_setting_parse(SB_SETTING_NETWORK, value, &network, err);

	if (status != SB_OK)
		return status;
	if (line->has_network && (int)line->network != network)
		return contradicts(NETWORK, err);
	line->has_network = true;
	line->network = (enum sb_network)network;
	return SB_OK;
}

/* A value that is given once; twice the same is fine. */
static int set_text(const char **text, enum id id, const char *value, struct sb_error *err)
{
	if (*text && strcmp(*text, value) != 0)
		return contradicts(id, err);
	*text = value;
	return SB_OK;
}

static int set_verdict(struct sb_command_line *line, const char *value, struct sb_error *err)
{
	if (strcmp(value, "allow") != 0 && strcmp(value, "deny") != 0)
		return sb_fail(err, SB_E_INVALID, 0, "--log-verdict is 'allow' or 'deny', not '%s'",
			       value);
	return set_text(&line->log_verdict, LOG_VERDICT, value, err);
}

static int keep_fd(struct sb_command_line *line, const char *value, struct sb_error *err)
{
	char *end;
	long fd;

	errno = 0;
	fd = strtol(value, &end, 10);
	if (errno || *end || end == value || fd < 0 || fd > INT_MAX)
		return sb_fail(err, SB_E_INVALID, 0,
			       "--keep-fd takes a descriptor number, not '%s'", value);
	if (!SB_GROW(line->keep_fds, line->keep_fd_count))
		return sb_no_memory(err);
	line->keep_fds[line->keep_fd_count++] = (int)fd;
	return SB_OK;
}

/* A descriptor that is ours and not the command's; given once. */
static int set_own_fd(enum id id, const char *value, bool *has, int *out, struct sb_error *err)
{
	char *end;
	long fd;

	errno = 0;
	fd = strtol(value, &end, 10);
	if (errno || *end || end == value || fd < 3 || fd > INT_MAX)
		return sb_fail(err, SB_E_INVALID, 0,
			       "--%s takes a descriptor number from 3 on, not '%s'",
			       sb_options[id].name, value);
	if (*has && *out != (int)fd)
		return contradicts(id, err);
	*has = true;
	*out = (int)fd;
	return SB_OK;
}

static int set_agent_report(struct sb_command_line *line, const char *value, struct sb_error *err)
{
	bool automatic = value && strcmp(value, "auto") == 0;

	if (value && !automatic)
		return set_own_fd(AGENT_REPORT, value, &line->agent_report, &line->agent_fd, err);
	if (line->agent_report &&
	    (line->agent_fd != STDERR_FILENO || line->agent_auto != automatic))
		return contradicts(AGENT_REPORT, err);
	line->agent_report = true;
	line->agent_auto = automatic;
	line->agent_fd = STDERR_FILENO;
	return SB_OK;
}

/* Options that only note something, and where: that they were given, or a text.  Nothing is noted at 0. */
#define AT(member) offsetof(struct sb_command_line, member)
static const size_t switches[] = {
	[PROTECT_IGNORED] = AT(protect_ignored),
	[LOG_ALLOWED] = AT(log_allowed),
	[ALLOW_HOME] = AT(allow_home),
	[ANYWHERE] = AT(anywhere),
	[STATIC] = AT(static_run),
	[KEEP_BACKGROUND] = AT(keep_background),
	[ASK_FIRST] = AT(ask_first),
	[QUIET] = AT(quiet),
	[REQUIRE_AUDIT] = AT(require_audit),
	[BEST_EFFORT] = AT(best_effort),
	[CLEAN_ENV] = AT(clean_env),
	[APPLY] = AT(apply),
	[UNDO] = AT(undo),
	[FOLLOW] = AT(follow),
	[VERIFY] = AT(verify),
	[PRUNE] = AT(prune),
	[JSON] = AT(json),
	[GLOBAL] = AT(global),
};
static const size_t texts[] = {
	[PROFILE] = AT(profile),         [FORGET] = AT(forget),         [REPORT] = AT(report),
	[KEEP_ENV] = AT(keep_env),       [SHELL] = AT(shell),           [SINCE] = AT(since),
	[LOG_SESSION] = AT(log_session), [LOG_PATH] = AT(log_path),     [LOG_HOST] = AT(log_host),
	[WORKER] = AT(worker),           [CONFIG_DIR] = AT(config_dir),
};

static int take(struct sb_command_line *line, enum id id, const char *argument, const char *value,
		bool separate, struct sb_error *err)
{
	enum sb_mode mode;
	int status;

	if ((size_t)id < sizeof switches / sizeof switches[0] && switches[id]) {
		*(bool *)((char *)line + switches[id]) = true;
		return SB_OK;
	}
	if ((size_t)id < sizeof texts / sizeof texts[0] && texts[id])
		return set_text((const char **)(void *)((char *)line + texts[id]), id, value, err);
	switch (id) {
	case ALLOW_WRITE:
		return add_rule(line, &sb_access_write, value, argument, separate, err);
	case ALLOW_READ:
		return add_rule(line, &sb_access_read, value, argument, separate, err);
	case ASK:
		return add_rule(line, &sb_access_ask, value, argument, separate, err);
	case DENY:
		return add_rule(line, &sb_access_deny, value, argument, separate, err);
	case RULE:
		return add_rule(line, NULL, value, argument, separate, err);
	case CONNECT:
	case LISTEN:
		status = add_rule(line, NULL, value, argument, separate, err);
		if (status == SB_OK)
			line->rules[line->rule_count - 1].word = sb_options[id].name;
		return status;
	case POLICY:
		return push(&line->policy_files, &line->policy_file_count, value, err);
	case PROJECT:
		return push(&line->projects, &line->project_count, value, err);
	case GRANT:
		return push(&line->grants, &line->grant_count, value, err);
	case WITHIN:
		return push(&line->within, &line->within_count, value, err);
	case MODE:
		status = sb_mode_parse(value, &mode, err);
		return status == SB_OK ? set_mode(line, id, mode, err) : status;
	case DISABLE_SANDBOX:
		return set_mode(line, id, SB_MODE_DANGER_FULL_ACCESS, err);
	case NETWORK:
		return set_network(line, value, err);
	case NO_TMP:
		return set_tmp(line, id, SB_TMP_OFF, err);
	case SHARED_TMP:
		return set_tmp(line, id, SB_TMP_SHARED, err);
	case CONSENT:
		return set_consent(line, value, err);
	case ASK_TIMEOUT:
		return set_timeout(line, value, err);
	case SESSION:
		status = sb_session_check_name(value, err);
		return status == SB_OK ? set_text(&line->session, id, value, err) : status;
	case LEARN:
		line->learn = true;
		return value ? set_text(&line->learn_file, id, value, err) : SB_OK;
	case KEEP_FD:
		return keep_fd(line, value, err);
	case ASK_FD:
		return set_own_fd(id, value, &line->has_ask_fd, &line->ask_fd, err);
	case AGENT_REPORT:
		return set_agent_report(line, value, err);
	case LOG_VERDICT:
		return set_verdict(line, value, err);
	default:
		return set_action(line, id, value, err);
	}
}

/* The options of --log: which go with it, with --stats, with each other. */
static int check_log(const struct sb_command_line *line, struct sb_error *err)
{
	bool logs = line->action == SB_ACTION_LOG;
	bool prints = logs && !line->verify && !line->prune;
	const struct {
		bool given, fits;
		const char *name, *with;
	} options[] = {
		{line->forget, line->action == SB_ACTION_SESSIONS, "forget", "--sessions"},
		{line->follow, logs, "follow", "--log"},
		{line->verify, logs, "verify", "--log"},
		{line->prune, logs, "prune", "--log"},
		{line->follow, prints, "follow", "--log alone"},
		{line->verify, !line->prune, "verify", "--log alone"},
		{line->since, prints || line->action == SB_ACTION_STATS, "since",
		 "--log or --stats"},
		{line->log_session, (logs && !line->prune) || line->action == SB_ACTION_STATS,
		 "log-session", "--log, --log --verify or --stats"},
		{line->log_path, prints, "log-path", "--log"},
		{line->log_host, prints, "log-host", "--log"},
		{line->log_verdict, prints, "log-verdict", "--log"},
	};

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		if (options[i].given && !options[i].fits)
			return sb_fail(err, SB_E_INVALID, 0, "--%s goes with %s", options[i].name,
				       options[i].with);
	return SB_OK;
}

/* What goes together and what does not. */
static int check(const struct sb_command_line *line, struct sb_error *err)
{
	bool edits = line->action == SB_ACTION_ADD_PATH || line->action == SB_ACTION_REMOVE_PATH ||
		     line->action == SB_ACTION_EDIT;
	bool looks = line->action >= SB_ACTION_DRY_RUN && line->action <= SB_ACTION_WORKER_CHECK;

	if (line->command[0] && line->action != SB_ACTION_RUN &&
	    line->action != SB_ACTION_DRY_RUN && line->action != SB_ACTION_MCP &&
	    line->action != SB_ACTION_WORKER_CHECK && line->action != SB_ACTION_GIT) {
		sb_fail(err, SB_E_INVALID, 0, "--%s cannot be combined with a command ('%s')",
			line->action_name, line->command[0]);
		return sb_hint(err, "run them one after the other");
	}
	if (line->global && !edits)
		return sb_fail(err, SB_E_INVALID, 0,
			       "--global goes with --add-path, --remove-path or --edit");
	if ((line->apply || line->undo) && line->action != SB_ACTION_SETUP)
		return sb_fail(err, SB_E_INVALID, 0, "--%s goes with --setup",
			       line->apply ? "apply" : "undo");
	if (line->apply && line->undo)
		return sb_fail(err, SB_E_INVALID, 0, "--apply and --undo cannot be combined");
	if (line->worker && line->action != SB_ACTION_RUN && line->action != SB_ACTION_MCP &&
	    line->action != SB_ACTION_GIT && line->action != SB_ACTION_ZONES) {
		sb_fail(err, SB_E_INVALID, 0,
			"--worker goes with a command or --mcp, --git or --zones, not with --%s",
			line->action_name);
		return sb_hint(err, "--worker-check FILE tells what it would have");
	}
	if (line->learn && line->action != SB_ACTION_RUN)
		return sb_fail(err, SB_E_INVALID, 0, "--learn goes with a command, not with --%s",
			       line->action_name);
	if (line->ask_first && (line->action != SB_ACTION_RUN || line->worker))
		return sb_fail(err, SB_E_INVALID, 0, "--ask-first goes with a command");
	if (line->json && !looks)
		return sb_fail(
			err, SB_E_INVALID, 0,
			"--json goes with --dry-run, --explain, --preview, --print-policy, --print-profile, "
			"--list-paths, --status, --doctor, --log, --stats, --watch, --profiles, --zones or --worker-check");
	return check_log(line, err);
}

/* Not ours, and so the shell's (S11), unless it is one of ours with a slip in it. */
static int check_typo(const char *argument, struct sb_error *err)
{
	const struct sb_option *meant = sb_typo_of(argument, sb_options, sb_option_count);

	if (!meant)
		return SB_OK;
	sb_fail(err, SB_E_INVALID, 0, "no option '%.*s'; did you mean '--%s'?",
		(int)strcspn(argument, "="), argument, meant->name);
	return sb_hint(err, "an option that is meant for the shell goes behind '--'");
}

static int parse(int argc, char **argv, struct sb_command_line *line, struct sb_error *err)
{
	int i = 1;

	while (i < argc) {
		const char *value;
		bool separate = false;
		int id, status, first = i;

		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		id = find_option(argv[i], &value);
		if (id < 0) {
			status = check_typo(argv[i], err);
			if (status != SB_OK)
				return status;
			break;
		}
		if (!sb_options[id].value && value)
			return sb_fail(err, SB_E_INVALID, 0, "--%s takes no value",
				       sb_options[id].name);
		if (sb_options[id].value && !value && !sb_options[id].optional) {
			const char *ignored;

			/* "--add-path --global" lacks a path; "--add-path=--global" has one */
			if (i + 1 < argc && find_option(argv[i + 1], &ignored) < 0) {
				status = check_typo(argv[i + 1], err);
				if (status != SB_OK)
					return status;
				separate = true;
				value = argv[++i];
			}
		}
		if (sb_options[id].value && (value ? !*value : !sb_options[id].optional)) {
			sb_fail(err, SB_E_INVALID, 0, "--%s needs a value", sb_options[id].name);
			return sb_hint(err, "--%s=%s", sb_options[id].name, sb_options[id].value);
		}
		status = take(line, (enum id)id, argv[first], value, separate, err);
		if (status == SB_OK)
			status = sb_command_line_give(line, sb_options[id].name, value, err);
		if (status != SB_OK)
			return status;
		i++;
		line->own_count = (size_t)(i - 1);
		if (id == GIT) /* the rest is its own */
			break;
	}
	line->own = argv + 1;
	line->command = argv + i;
	line->for_shell = i < argc && argv[i][0] == '-';
	return check(line, err);
}

int sb_command_line_parse(int argc, char **argv, struct sb_command_line *out, struct sb_error *err)
{
	struct sb_command_line line = {0};
	int status = parse(argc, argv, &line, err);

	if (status != SB_OK) {
		sb_command_line_done(&line);
		return status;
	}
	*out = line;
	return SB_OK;
}

void sb_command_line_done(struct sb_command_line *line)
{
	for (size_t i = 0; i < line->rule_count; i++)
		free((char *)line->rules[i].origin);
	free(line->rules);
	free(line->projects);
	free(line->within);
	free(line->grants);
	free(line->policy_files);
	free(line->keep_fds);
	free(line->given);
	*line = (struct sb_command_line){0};
}
