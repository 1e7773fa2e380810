#include "options/take.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "consent/session.h"
#include "policy/settings.h"

static int add_rule(struct sb_command_line *line, const struct sb_option *option, const char *value,
		    const char *argument, bool apart, struct sb_error *err)
{
	char *origin;

	if (!SB_GROW(line->rules, line->rule_count))
		return sb_no_memory(err);
	if (asprintf(&origin, "%s%s%s", argument, apart ? "=" : "", apart ? value : "") < 0)
		return sb_no_memory(err);
	line->rules[line->rule_count++] =
		(struct sb_flag_rule){.access = option->access,
				      .text = value,
				      .origin = origin,
				      .word = option->word ? option->name : NULL};
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

static int set_action(struct sb_command_line *line, const struct sb_option *option,
		      const char *value, struct sb_error *err)
{
	if (line->action_name && line->action != option->action)
		return sb_fail(err, SB_E_INVALID, 0, "--%s and --%s cannot be combined",
			       line->action_name, option->name);
	if (line->action_name && value)
		return sb_fail(err, SB_E_INVALID, 0, "--%s can be given once only", option->name);
	line->action = option->action;
	line->action_name = option->name;
	line->action_value = value;
	return SB_OK;
}

/* A setting given twice must say the same. */
static int contradicts(const struct sb_option *option, struct sb_error *err)
{
	return sb_fail(err, SB_E_INVALID, 0, "--%s contradicts an earlier option", option->name);
}

static int set_once(const struct sb_option *option, bool *has, bool same, struct sb_error *err)
{
	if (*has && !same)
		return contradicts(option, err);
	*has = true;
	return SB_OK;
}

int sb_take_mode(struct sb_command_line *line, const struct sb_option *option, const char *value,
		 struct sb_error *err)
{
	enum sb_mode mode = SB_MODE_DANGER_FULL_ACCESS; /* --disable-sandbox */
	int status = value ? sb_mode_parse(value, &mode, err) : SB_OK;

	if (status == SB_OK)
		status = set_once(option, &line->has_mode, line->mode == mode, err);
	line->mode = mode;
	return status;
}

int sb_take_tmp(struct sb_command_line *line, const struct sb_option *option, const char *value,
		struct sb_error *err)
{
	enum sb_tmp tmp = strcmp(option->name, "no-tmp") == 0 ? SB_TMP_OFF : SB_TMP_SHARED;
	int status = set_once(option, &line->has_tmp, line->tmp == tmp, err);

	(void)value;
	line->tmp = tmp;
	return status;
}

int sb_take_consent(struct sb_command_line *line, const struct sb_option *option, const char *value,
		    struct sb_error *err)
{
	static const char *const names[] = {"auto", "ask", "deny",
					    "watch"}; /* as enum sb_consent */
	unsigned i = 0;
	int status;

	while (i < sizeof names / sizeof names[0] && strcmp(value, names[i]) != 0)
		i++;
	if (i == sizeof names / sizeof names[0])
		return sb_fail(err, SB_E_INVALID, 0,
			       "--consent is 'ask', 'deny', 'auto' or 'watch', not '%s'", value);
	status = set_once(option, &line->has_consent, line->consent == i, err);
	line->consent = i;
	return status;
}

int sb_take_timeout(struct sb_command_line *line, const struct sb_option *option, const char *value,
		    struct sb_error *err)
{
	char *end;
	double seconds;

	(void)option;
	errno = 0;
	seconds = strtod(value, &end);
	if (errno || end == value || *end || !(seconds >= 0.001 && seconds <= 86400))
		return sb_fail(err, SB_E_INVALID, 0,
			       "--ask-timeout is a number of seconds, at most a day, not '%s'",
			       value);
	line->ask_timeout_ms = (int)(seconds * 1000);
	return SB_OK;
}

int sb_take_network(struct sb_command_line *line, const struct sb_option *option, const char *value,
		    struct sb_error *err)
{
	int network, status = sb_setting_parse(SB_SETTING_NETWORK, value, &network, err);

	if (status == SB_OK)
		status = set_once(option, &line->has_network, (int)line->network == network, err);
	if (status == SB_OK)
		line->network = (enum sb_network)network;
	return status;
}

/* A value that is given once; twice the same is fine. */
static int set_text(const char **text, const struct sb_option *option, const char *value,
		    struct sb_error *err)
{
	if (*text && strcmp(*text, value) != 0)
		return contradicts(option, err);
	*text = value;
	return SB_OK;
}

int sb_take_verdict(struct sb_command_line *line, const struct sb_option *option, const char *value,
		    struct sb_error *err)
{
	if (strcmp(value, "allow") != 0 && strcmp(value, "deny") != 0)
		return sb_fail(err, SB_E_INVALID, 0, "--log-verdict is 'allow' or 'deny', not '%s'",
			       value);
	return set_text(&line->log_verdict, option, value, err);
}

static int parse_fd(const struct sb_option *option, const char *value, int least, int *out,
		    struct sb_error *err)
{
	char *end;
	long fd;

	errno = 0;
	fd = strtol(value, &end, 10);
	if (errno || *end || end == value || fd < least || fd > INT_MAX)
		return sb_fail(err, SB_E_INVALID, 0, "--%s takes a descriptor number%s, not '%s'",
			       option->name, least ? " from 3 on" : "", value);
	*out = (int)fd;
	return SB_OK;
}

int sb_take_keep_fd(struct sb_command_line *line, const struct sb_option *option, const char *value,
		    struct sb_error *err)
{
	if (!SB_GROW(line->keep_fds, line->keep_fd_count))
		return sb_no_memory(err);
	return parse_fd(option, value, 0, &line->keep_fds[line->keep_fd_count++], err);
}

/* A descriptor that is ours and not the command's; given once. */
static int set_own_fd(const struct sb_option *option, const char *value, bool *has, int *out,
		      struct sb_error *err)
{
	int fd, status = parse_fd(option, value, 3, &fd, err);

	if (status == SB_OK)
		status = set_once(option, has, *out == fd, err);
	if (status == SB_OK)
		*out = fd;
	return status;
}

int sb_take_agent_report(struct sb_command_line *line, const struct sb_option *option,
			 const char *value, struct sb_error *err)
{
	bool automatic = value && strcmp(value, "auto") == 0;

	if (value && !automatic)
		return set_own_fd(option, value, &line->agent_report, &line->agent_fd, err);
	if (line->agent_report &&
	    (line->agent_fd != STDERR_FILENO || line->agent_auto != automatic))
		return contradicts(option, err);
	line->agent_report = true;
	line->agent_auto = automatic;
	line->agent_fd = STDERR_FILENO;
	return SB_OK;
}

int sb_take_ask_fd(struct sb_command_line *line, const struct sb_option *option, const char *value,
		   struct sb_error *err)
{
	return set_own_fd(option, value, &line->has_ask_fd, &line->ask_fd, err);
}

int sb_take_session(struct sb_command_line *line, const struct sb_option *option, const char *value,
		    struct sb_error *err)
{
	int status = sb_session_check_name(value, err);

	return status == SB_OK ? set_text(&line->session, option, value, err) : status;
}

int sb_take_learn(struct sb_command_line *line, const struct sb_option *option, const char *value,
		  struct sb_error *err)
{
	line->learn = true;
	return value ? set_text(&line->learn_file, option, value, err) : SB_OK;
}

int sb_option_take(struct sb_command_line *line, const struct sb_option *option,
		   const char *argument, const char *value, bool apart, struct sb_error *err)
{
	char *at = (char *)line;

	if (option->take)
		return option->take(line, option, value, err);
	if (option->text)
		return set_text((void *)(at + option->text), option, value, err);
	if (option->list)
		return push((void *)(at + option->list), (void *)(at + option->count), value, err);
	if (option->rule)
		return add_rule(line, option, value, argument, apart, err);
	if (!option->flag)
		return set_action(line, option, value, err);
	*(bool *)(at + option->flag) = true;
	return SB_OK;
}
