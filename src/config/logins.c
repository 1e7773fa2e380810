/*
 * The logins of agents, which are hidden from every other run, and the directories that variables name.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/words.h"
#include "config/load.h"
#include "config/profile.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/secrets.h"
#include "policy/text.h"

/* --- directories that variables name ---------------------------------------------------------- */

static const struct variable {
	const char *name;
	const char *fallback; /* in the home directory; NULL: unset, a line says nothing */
	bool socket;          /* the value of tmux: a path, and more behind a comma */
	const char *agent;    /* whose own directory it is; NULL: everybody's */
	const char *
		beneath; /* the name of that directory in what the variable names; NULL: it is that itself */
} variables[] = {
	{"TMUX", NULL, true, NULL},
	{"XDG_RUNTIME_DIR", NULL, false, NULL},
	{"XDG_DATA_HOME", ".local/share", false, NULL},
	{"XDG_CONFIG_HOME", ".config", false, NULL},
	{"XDG_CACHE_HOME", ".cache", false, NULL},
	{"XDG_STATE_HOME", ".local/state", false, NULL},
	{"CLAUDE_CONFIG_DIR", NULL, false, "claude"},
	{"CODEX_HOME", NULL, false, "codex"},
	{"QWEN_HOME", NULL, false, "qwen"},
	{"GEMINI_CLI_HOME", NULL, false, "gemini", ".gemini"},
};

static const struct variable *find_variable(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
		if (strlen(variables[i].name) == length &&
		    memcmp(variables[i].name, name, length) == 0)
			return &variables[i];
	return NULL;
}

/*
 * SECURITY: a variable says where an agent keeps its state, not what else is opened.
 *
 * Danger: a project sets it (direnv, an editor), to the home directory or to one around the
 * project: lines that mean "tmp" in the agent's directory would be about the user's.
 * Price: who keeps it there writes the rules himself.
 * Held by: tests/cli/profiles.py
 */
bool sb_profile_is_broad(const struct sb_maker *maker, const char *usual_name, const char *path)
{
	const struct sb_home *home = &maker->setup.home;
	SB_AUTO_FREE char *usual = usual_name ? sb_path_join(home->home, usual_name) : NULL;

	if (sb_path_within(path, home->home) ||
	    (home->account_home && sb_path_within(path, home->account_home)))
		return true;
	for (size_t i = 0; maker->setup.projects[i]; i++)
		if (sb_path_within(maker->setup.projects[i], path) ||
		    (sb_path_within(path, maker->setup.projects[i]) &&
		     !(usual && strcmp(path, usual) == 0)))
			return true;
	return false;
}

/* Is it the agent's name, with a dot before it, or a word more behind it? */
static bool is_called(const char *agent, const char *name, size_t length)
{
	size_t width = strlen(agent);

	if (length && *name == '.') {
		name++;
		length--;
	}
	return length >= width && memcmp(name, agent, width) == 0 &&
	       (length == width || memchr("-_.", name[width], 3));
}

bool sb_profile_is_agents(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
		if (variables[i].agent && is_called(variables[i].agent, name, length))
			return true;
	return false;
}

static bool is_below_home(const struct sb_home *home, const char *path)
{
	return (sb_path_within(home->home, path) && strcmp(home->home, path) != 0) ||
	       (home->account_home && sb_path_within(home->account_home, path) &&
		strcmp(home->account_home, path) != 0);
}

static int refuse_link_at_home(void *context, const char *link, struct sb_error *err)
{
	return is_below_home(context, link) ? sb_fail(err, SB_E_REFUSED, 0, "'%s' is a link", link)
					    : SB_OK;
}

/*
 * SECURITY: an agent's variable counts where the directory can be told to be the agent's own.
 *
 * Danger: a project sets it to another program's directory: what is called "sessions" or "*.sqlite" there would be
 * opened, and directories be made.  A link may have been made by a command, in a directory that another profile opens.
 * Price: who calls the directory otherwise, or has a link there, names it in a profile of his own.
 * Held by: tests/cli/profiles.py
 */
static bool is_agents_own(const struct sb_maker *maker, const struct variable *variable,
			  const char *named, const char *canonical, const char *rest)
{
	const struct sb_home *home = &maker->setup.home;
	const char *slash = strrchr(canonical, '/'), *name = slash + 1;
	size_t plain = strcspn(rest, "*?[\\");
	SB_AUTO_FREE char *whole = malloc(strlen(named) + plain + 1);
	struct sb_error why;

	if (!whole || !is_below_home(home, canonical) ||
	    !is_called(variable->agent, name, strlen(name)))
		return false;
	memcpy(whole, named, strlen(named));
	memcpy(whole + strlen(named), rest, plain);
	whole[strlen(named) + plain] = '\0';
	return sb_path_links(whole, refuse_link_at_home, (void *)home, &why) == SB_OK;
}

static int leave_out(struct sb_maker *maker, const struct variable *variable, const char *path,
		     struct sb_error *err)
{
	unsigned bit = 1u << (variable - variables);

	if (maker->left_out & bit)
		return SB_OK;
	maker->left_out |= bit;
	return sb_maker_warn(
		maker, err, "$%s is '%s': lines of the profile about it are left out%s",
		variable->name, path,
		variable->agent ? "; a profile of your own can name the directory" : "");
}

static int expand(struct sb_maker *maker, const struct variable *variable, const char *rest,
		  char **out, struct sb_error *err)
{
	const struct sb_environment *environment = &maker->request->environment;
	const char *value = environment->variable ? environment->variable(variable->name) : NULL;
	SB_AUTO_FREE char *path = NULL, *canonical = NULL, *escaped = NULL;
	int missing = 0, status;

	if (value && value[0] == '/')
		path = strndup(value, variable->socket ? strcspn(value, ",") : strlen(value));
	else if (variable->fallback)
		path = sb_path_join(maker->setup.home.home, variable->fallback);
	else
		return SB_OK;
	if (path && variable->beneath) {
		char *within = sb_path_join(path, variable->beneath);

		free(path);
		path = within;
	}
	if (!path)
		return sb_no_memory(err);
	status = sb_path_canonical(path, &canonical, &missing, err);
	if (status != SB_OK || (variable->socket && missing))
		return status;
	if (sb_profile_is_broad(maker, variable->fallback, canonical) ||
	    (variable->agent && !is_agents_own(maker, variable, path, canonical, rest)))
		return leave_out(maker, variable, path, err);
	escaped = sb_pattern_escape(canonical);
	if (!escaped)
		return sb_no_memory(err);
	*out = malloc(strlen(escaped) + strlen(rest) + 1);
	if (!*out)
		return sb_no_memory(err);
	memcpy(*out, escaped, strlen(escaped));
	memcpy(*out + strlen(escaped), rest, strlen(rest) + 1);
	return SB_OK;
}

int sb_profile_expand(struct sb_maker *maker, const char *text, char **out, struct sb_error *err)
{
	size_t length = strcspn(text, "/");
	const struct variable *variable;

	*out = NULL;
	if (text[0] != '$') {
		*out = strdup(text);
		return *out ? SB_OK : sb_no_memory(err);
	}
	variable = find_variable(text + 1, length - 1);
	if (!variable) {
		sb_fail(err, SB_E_INVALID, 0, "no path begins with the variable '%.*s'",
			(int)length, text);
		return sb_hint(err,
			       "one may begin with $TMUX, $XDG_RUNTIME_DIR, $XDG_DATA_HOME, "
			       "$XDG_CONFIG_HOME, $XDG_CACHE_HOME, $XDG_STATE_HOME, "
			       "$CLAUDE_CONFIG_DIR, $CODEX_HOME, $QWEN_HOME or $GEMINI_CLI_HOME");
	}
	if (variable->beneath) {
		const char *name = variable->beneath;

		/* nothing else there is the agent's */
		length++;
		if (!sb_text_begins(text + length, name) ||
		    (text[length + strlen(name)] && text[length + strlen(name)] != '/'))
			return sb_fail(err, SB_E_INVALID, 0, "what follows $%s has to be /%s",
				       variable->name, name);
		length += strlen(name);
	}
	return expand(maker, variable, text + length, out, err);
}

/* --- logins ----------------------------------------------------------------------------------- */

/* The rules that let a login be read. */
struct login {
	struct sb_maker *maker;
	const struct sb_rule_source *source;
};

/* What its profile says of the program's state, where it is: a rule that is stricter would count. */
static struct sb_access access_of(const struct sb_secret *secret, const char *path)
{
	static const struct sb_access kept = {{SB_ALLOW, SB_ALLOW, SB_ALLOW, SB_ASK}};
	struct stat info;

	if ((secret->flags & SB_SECRET_STATE) != SB_SECRET_STATE)
		return sb_access_read;
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode) ? sb_access_write : kept;
}

static int open_login(void *context, const struct sb_secret *secret, const char *path,
		      struct sb_error *err)
{
	const struct login *login = context;
	SB_AUTO_FREE char *pattern = sb_pattern_escape(path);
	struct sb_line line = {
		.kind = SB_LINE_RULE, .access = access_of(secret, path), .text = pattern};

	return pattern ? sb_load_rule(login->maker, login->source, &line, err) : sb_no_memory(err);
}

/* Where the table's base is: in the home directory, or where a variable puts it. */
static char *base_path(const struct sb_home *home, enum sb_secret_base base)
{
	if (base == SB_SECRETS_CONFIG && home->config_home)
		return strdup(home->config_home);
	if (base == SB_SECRETS_DATA && home->data_home)
		return strdup(home->data_home);
	return base == SB_SECRETS_HOME ? strdup(home->home)
				       : sb_path_join(home->home, sb_secrets_directory(base));
}

int sb_login_paths(const struct sb_home *home, const char *program,
		   int (*found)(void *context, const struct sb_secret *secret, const char *path,
				struct sb_error *err),
		   void *context, struct sb_error *err)
{
	static const enum sb_secret_base bases[] = {SB_SECRETS_HOME, SB_SECRETS_CONFIG,
						    SB_SECRETS_DATA};
	int status = SB_OK;

	for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++) {
		size_t count;
		const struct sb_secret *secrets = sb_secrets(bases[b], &count);
		SB_AUTO_FREE char *base = NULL;

		for (size_t i = 0; i < count && status == SB_OK; i++) {
			SB_AUTO_FREE char *path = NULL;
			struct stat info;

			if (!*secrets[i].program || strcmp(secrets[i].program, program) != 0)
				continue;
			if (!base)
				base = base_path(home, bases[b]);
			path = base ? sb_path_join(base, secrets[i].path) : NULL;
			if (!path)
				return sb_no_memory(err);
			if (stat(path, &info) == 0)
				status = found(context, &secrets[i], path, err);
		}
	}
	return status;
}

/* The agent's own logins where its variable puts them: the same names as in the usual directory. */
static int open_moved_login(struct sb_maker *maker, const struct sb_rule_source *source,
			    const char *agent, struct sb_error *err)
{
	size_t count;
	const struct sb_secret *secrets = sb_secrets(SB_SECRETS_HOME, &count);
	int status = SB_OK;

	for (size_t v = 0; v < sizeof variables / sizeof variables[0]; v++)
		for (size_t i = 0; i < count && status == SB_OK; i++) {
			struct sb_line line = {.kind = SB_LINE_RULE};
			const char *rest = strchr(secrets[i].path, '/');

			if (!variables[v].agent || strcmp(variables[v].agent, agent) != 0 ||
			    strcmp(secrets[i].program, agent) != 0 || !rest)
				continue;
			status = expand(maker, &variables[v], rest, &line.text, err);
			if (status == SB_OK && line.text)
				line.access = access_of(&secrets[i], line.text);
			if (status == SB_OK && line.text)
				status = sb_load_rule(maker, source, &line, err);
			free(line.text);
		}
	return status;
}

int sb_login_open(struct sb_maker *maker, const struct sb_rule_source *source, const char *agent,
		  struct sb_error *err)
{
	struct sb_rule_source own = *source;
	struct login login = {maker, &own};
	int status;

	own.login = true;
	status = sb_login_paths(&maker->setup.home, agent, open_login, &login, err);
	return status == SB_OK ? open_moved_login(maker, &own, agent, err) : status;
}
