/*
 * set_up.c - from a command line and the environment to the rules that count (config/setup.h).
 */
#include "options/set_up.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "config/variables.h"
#include "consent/overrule.h"
#include "consent/session.h"
#include "enforce/inside.h"
#include "enforce/layers.h"
#include "judge/judge.h"
#include "options/complain.h"

/* Most variables are told apart by their first letter. */
const char *sb_own_variable(const char *name)
{
	size_t length = strlen(name);

	for (char **entry = environ; entry && *entry; entry++)
		if (**entry == *name && strncmp(*entry, name, length) == 0 &&
		    (*entry)[length] == '=')
			return *entry + length + 1;
	return NULL;
}

/*
 * Which names may be in the environment, by their first letters: most that a launch asks for are not.  And which
 * begin with these two.
 */
static uint64_t names_there[16], begins_there[16];

static uint64_t *begin_of(const char *name, uint64_t *out_bit)
{
	unsigned sum = (unsigned char)name[0] % 32 + 32u * ((unsigned char)name[1] % 32);

	*out_bit = UINT64_C(1) << sum % 64;
	return &begins_there[sum / 64];
}

static uint64_t *place_of(const char *name, uint64_t *out_bit)
{
	uint32_t sum = 0;

	for (int left = 6; left && *name && *name != '='; left--)
		sum = sum * 31 + (unsigned char)*name++;
	*out_bit = UINT64_C(1) << sum % 64;
	return &names_there[sum / 64 % 16];
}

static const char *variable_at_start(const char *name)
{
	uint64_t bit, *word = begin_of(name, &bit);

	if (!(*word & bit))
		return NULL;
	word = place_of(name, &bit);
	return *word & bit ? sb_own_variable(name) : NULL;
}

static struct sb_environment read_environment(void)
{
	struct sb_environment environment;
	uint64_t bit, *word;

	for (char **entry = environ; entry && *entry; entry++) {
		if (!**entry)
			continue;
		word = begin_of(*entry, &bit);
		*word |= bit;
		word = place_of(*entry, &bit);
		*word |= bit;
	}
	environment = sb_environment_of(variable_at_start);
	environment.variable = sb_own_variable; /* who asks later may have set some */
	return environment;
}

struct sb_setup_request sb_request(const struct sb_command_line *line, bool looking)
{
	struct sb_environment environment = read_environment();

	environment.config_dir = line->config_dir;
	environment.projects = line->projects;
	return (struct sb_setup_request){
		.environment = environment,
		.projects = line->projects,
		.within = line->within,
		.rules = line->rules,
		.rule_count = line->rule_count,
		.policy_files = line->policy_files,
		.profile = line->profile,
		.settings = {[SB_SETTING_MODE] = line->has_mode ? (int)line->mode + 1 : 0,
			     [SB_SETTING_NETWORK] = line->has_network ? (int)line->network + 1 : 0,
			     [SB_SETTING_TMP] = line->has_tmp ? (int)line->tmp + 1 : 0,
			     [SB_SETTING_PROTECT_IGNORED] = line->protect_ignored ? 1 + true : 0,
			     [SB_SETTING_CLEAN_ENV] = line->clean_env ? 1 + true : 0,
			     [SB_SETTING_LOG_ALLOWED] = line->log_allowed ? 1 + true : 0},
		.allow_home = line->allow_home,
		.anywhere = line->anywhere,
		.looking = looking,
		.closed = line->trace,
	};
}

/* S5, to the letter.  Not inlined: its buffers would lie on the stack of every launch. */
__attribute__((noinline)) static int report_place(const struct sb_setup *setup)
{
	char cwd[4200], home[4200];

	fprintf(stderr,
		"sandbash: must be started inside your home directory (or with --anywhere)\n"
		"Current directory: %s\n"
		"Home directory: %s\n",
		sb_escape_line(cwd, sizeof cwd, setup->home.cwd),
		sb_escape_line(home, sizeof home, setup->home.home));
	return SB_EXIT_FAILURE;
}

bool sb_is_supervised(const struct sb_command_line *line)
{
	bool mounts;

	/* Inside another run its supervisor holds our changes; the kernel allows only one. */
	return !line->static_run && !sb_inside(&mounts);
}

static struct sb_session *session; /* --session=NAME, from setting up on */

struct sb_session *sb_session_in_use(void)
{
	return session;
}

int sb_answers_add(void *context, const struct sb_home *home, struct sb_policy *policy,
		   struct sb_error *err)
{
	const struct sb_command_line *line = context;
	int status = SB_OK;

	if (line->session && !session)
		status = sb_session_open(home->state_dir, line->session, &session, err);
	if (line->session && status == SB_OK)
		status = sb_session_apply(session, policy, home->home, sb_warn_of, NULL, err);
	for (size_t i = 0; i < line->grant_count && status == SB_OK; i++)
		status = sb_granted_add(policy, line->grants[i], home->home, err);
	return status;
}

/* As the asker will find it: supervise/linux_asker.c, take_terminal(). */
static bool gets_other_terminal(const struct sb_command_line *line)
{
	SB_AUTO_FD int tty = -1;

	if (line->action != SB_ACTION_RUN || !sb_is_supervised(line) ||
	    !sb_consent_on_terminal(line->consent))
		return false;
	tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	return tty >= 0 && tcgetpgrp(tty) == getpgrp();
}

/*
 * Whoever only looks is told about a supervised run, inside another one too: names are guarded
 * there by the outer supervisor.
 */
static bool has_guard(const struct sb_command_line *line)
{
	bool looks = line->action >= SB_ACTION_DRY_RUN && line->action <= SB_ACTION_STATUS;

	/* the file tools have one; commands are other programs */
	if (line->action == SB_ACTION_MCP || line->action == SB_ACTION_HOOK)
		return true;
	return line->action == SB_ACTION_RUN ? sb_is_supervised(line) : looks && !line->static_run;
}

bool sb_is_guarded(const struct sb_command_line *line, const struct sb_setup *setup)
{
	return has_guard(line) && sb_policy_mode(setup->policy) != SB_MODE_DANGER_FULL_ACCESS;
}

int sb_set_up(const struct sb_command_line *line, bool looking, struct sb_setup *out)
{
	return sb_set_up_for(line, NULL, looking, out);
}

/* The one way to know is to try; an agent starts in no hurry. */
static bool holds_hosts(void)
{
	struct sb_layers layers;
	struct sb_error err;
	bool mounts;

	return !sb_inside(&mounts) && sb_layers_probe(true, &layers, &err) == SB_OK &&
	       layers.net_namespace;
}

static struct sb_setup_request request_for(const struct sb_command_line *line, const char *file,
					   bool looking)
{
	struct sb_setup_request request = sb_request(line, looking);
	bool mounts, worker = line->worker && line->action == SB_ACTION_RUN;

	/* of a worker they are about what it sees: cli/worker.c */
	if ((line->session || line->grant_count) && !worker) {
		request.more_rules = sb_answers_add;
		request.context = (void *)line;
	}
	request.environment.other_terminal = gets_other_terminal(line);
	/* what is not there a static run cannot hold; whoever looks is told of the rules it has.  A worker sees
	 * nothing of what built-in rules are about */
	request.existing_only = (line->static_run && !sb_inside(&mounts)) || worker;
	request.guarded = has_guard(line);
	request.makes = line->action == SB_ACTION_RUN &&
			!(line->has_mode && line->mode != SB_MODE_WORKSPACE_WRITE);
	request.agent = line->action == SB_ACTION_MCP && !line->worker;
	request.holds_hosts = sb_is_supervised(line) ? holds_hosts : NULL;
	if (file) {
		request.program = line->command[0];
		request.program_file = file;
		request.arguments = (const char *const *)line->command + 1;
	}
	return request;
}

int sb_set_up_again(const struct sb_command_line *line, const char *file, const char *text,
		    struct sb_setup *out, struct sb_error *err)
{
	struct sb_setup_request request = request_for(line, file, true);
	int status;

	request.makes = false;
	request.policy_text = text;
	status = sb_setup_make(&request, out, err);
	if (status != SB_OK)
		sb_setup_done(out);
	return status;
}

/*
 * P6: what is asked for and cannot be held is refused, and not passed over: without a sandbox nothing is hidden, asked
 * about or closed.
 */
static int check_held(const struct sb_command_line *line, const struct sb_policy *policy,
		      struct sb_error *err)
{
	if (line->log_allowed && line->static_run)
		return sb_fail(
			err, SB_E_INVALID, 0,
			"--log-allowed takes a supervised run: a static one has nobody who sees");
	if (sb_policy_mode(policy) != SB_MODE_DANGER_FULL_ACCESS ||
	    (line->action != SB_ACTION_RUN && line->action != SB_ACTION_MCP))
		return SB_OK;
	for (size_t i = 0; i < line->given_count; i++) {
		const struct sb_given *given = &line->given[i];

		if (!given->option->restricts ||
		    (given->value && strcmp(given->value, "on") == 0) ||
		    (line->action == SB_ACTION_MCP &&
		     strcmp(given->option->name, "log-allowed") == 0))
			continue;
		sb_fail(err, SB_E_INVALID, 0,
			"--%s cannot be held without a sandbox, and the mode is %s",
			given->option->name, sb_mode_name(SB_MODE_DANGER_FULL_ACCESS));
		return sb_hint(err, "leave out one of the two");
	}
	return SB_OK;
}

int sb_set_up_for(const struct sb_command_line *line, const char *file, bool looking,
		  struct sb_setup *out)
{
	const struct sb_setup_request request = request_for(line, file, looking);
	struct sb_error err;
	int status = sb_setup_make(&request, out, &err);

	if (status == SB_OK)
		status = check_held(line, out->policy, &err);
	for (size_t i = 0; out->warnings && out->warnings[i]; i++)
		sb_warn("%s", out->warnings[i]);
	if (status == SB_OK)
		return 0;
	status = status == SB_E_PLACE ? report_place(out) : sb_report(&err);
	sb_setup_done(out);
	return status;
}

int sb_guard_of(const struct sb_setup *setup, const struct sb_policy *policy, struct sb_guard **out,
		struct sb_error *err)
{
	const struct sb_guard_home home = {setup->home.home,
					   (const char *const *)setup->home.git_settings,
					   sb_home_others(&setup->home)};

	return sb_grounds_guard(policy, (const char *const *)setup->projects, &home, out, err);
}
