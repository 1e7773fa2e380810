#include "options/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "options/take.h"
#include "options/typo.h"

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

/* The row that argument names, or NULL.  *out_value is what follows "=", or NULL. */
static const struct sb_option *find_option(const char *argument, const char **out_value)
{
	const char *equals;
	size_t length;

	*out_value = NULL;
	if (strncmp(argument, "--", 2) != 0)
		return NULL;
	argument += 2;
	equals = strchr(argument, '=');
	length = equals ? (size_t)(equals - argument) : strlen(argument);
	for (size_t i = 0; i < sb_option_count; i++) {
		const char *name = sb_options[i].name;

		if (*name == *argument && strncmp(name, argument, length) == 0 && !name[length]) {
			*out_value = equals ? equals + 1 : NULL;
			return &sb_options[i];
		}
	}
	return NULL;
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
		const struct sb_option *option;
		bool separate = false;
		int status, first = i;

		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		option = find_option(argv[i], &value);
		if (!option) {
			status = check_typo(argv[i], err);
			if (status != SB_OK)
				return status;
			break;
		}
		if (!option->value && value)
			return sb_fail(err, SB_E_INVALID, 0, "--%s takes no value", option->name);
		if (option->value && !value && !option->optional) {
			const char *ignored;

			/* "--add-path --global" lacks a path; "--add-path=--global" has one */
			if (i + 1 < argc && !find_option(argv[i + 1], &ignored)) {
				status = check_typo(argv[i + 1], err);
				if (status != SB_OK)
					return status;
				separate = true;
				value = argv[++i];
			}
		}
		if (option->value && (value ? !*value : !option->optional)) {
			sb_fail(err, SB_E_INVALID, 0, "--%s needs a value", option->name);
			return sb_hint(err, "--%s=%s", option->name, option->value);
		}
		status = sb_option_take(line, option, argv[first], value, separate, err);
		if (status == SB_OK)
			status = sb_command_line_give(line, option->name, value, err);
		if (status != SB_OK)
			return status;
		i++;
		line->own_count = (size_t)(i - 1);
		if (option->action == SB_ACTION_GIT) /* the rest is its own */
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
