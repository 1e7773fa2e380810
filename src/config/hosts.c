#include "config/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/each.h"
#include "config/file.h"
#include "config/profile.h"
#include "guard/git_config.h"
#include "guard/repository.h"
#include "path/path.h"
#include "policy/network.h"

#define URL_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+"

#define CLAUDE_KEYS "\"ANTHROPIC_BASE_URL ANTHROPIC_BEDROCK_BASE_URL ANTHROPIC_VERTEX_BASE_URL"
#define CODEX_KEYS "\"base_url openai_base_url chatgpt_base_url url"
#define OPENCODE_KEYS "\"baseURL url"

#define ROW(file, word, keys)                                                                      \
	{                                                                                          \
		word, file, keys                                                                   \
	}

/*
 * SECURITY: a file that commands can write opens no host.
 *
 * Danger: "git remote add x https://evil/" or a .npmrc that comes with a clone would be a rule of the next run.
 * All files of the user's here are guarded names: a change by a command asks.  Variables and arguments are the user's, too.
 * Price: a host that only the project names asks once.
 * Held by: tests/cli/network_rules.py
 */
static const struct {
	const char *word;
	/* "~/": home, "$/": $XDG_CONFIG_HOME, "$NAME/": of profile.h, "./": each project, "=": a variable, "-": the arguments of the command */
	const char *file;
	/* One of these stands before a URL, in the same line; with quotes, as the name of a value (JSON, TOML); "git": its grammar. */
	const char *keys;
} rows[] = {
	SB_NAMED(ROW, "npm", "", "=npm_config_registry", "=NPM_CONFIG_REGISTRY", "=YARN_REGISTRY",
		 "=YARN_NPM_REGISTRY_SERVER"),
	SB_NAMED(ROW, "pip", "", "=PIP_INDEX_URL", "=PIP_EXTRA_INDEX_URL", "=PIP_FIND_LINKS",
		 "=UV_DEFAULT_INDEX", "=UV_INDEX_URL", "=UV_INDEX"),
	{"cargo", "=CARGO_REGISTRIES_CRATES_IO_INDEX", ""},
	{"go", "=GOPROXY", ""},
	{"go", "=GOSUMDB", "GOSUMDB"},
	SB_NAMED(ROW, "npm", "registry", "/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc",
		 "~/.npmrc", "./.npmrc"),
	SB_NAMED(ROW, "pip", "index find-links", "/etc/pip.conf", "/etc/xdg/pip/pip.conf",
		 "~/.pip/pip.conf", "$/pip/pip.conf"),
	SB_NAMED(ROW, "cargo", "registry index", "~/.cargo/config", "~/.cargo/config.toml",
		 "./.cargo/config", "./.cargo/config.toml"),
	SB_NAMED(ROW, "go", "GOPROXY GOSUMDB", "/usr/lib/go/go.env", "/usr/local/go/go.env",
		 "$/go/env"),
	SB_NAMED(ROW, "git", "git", "/etc/gitconfig", "~/.gitconfig", "$/git/config",
		 "./.git/config"),
	SB_NAMED(ROW, "claude", "", "=ANTHROPIC_BASE_URL", "=ANTHROPIC_BEDROCK_BASE_URL",
		 "=ANTHROPIC_VERTEX_BASE_URL"),
	SB_NAMED(ROW, "claude", CLAUDE_KEYS, "/etc/claude-code/managed-settings.json",
		 "~/.claude/settings.json", "$CLAUDE_CONFIG_DIR/settings.json"),
	{"codex", "=OPENAI_BASE_URL", ""},
	SB_NAMED(ROW, "codex", CODEX_KEYS, "-", "~/.codex/config.toml", "$CODEX_HOME/config.toml"),
	SB_NAMED(ROW, "gemini", "", "=GOOGLE_GEMINI_BASE_URL", "=GOOGLE_VERTEX_BASE_URL",
		 "=CODE_ASSIST_ENDPOINT"),
	{"gemini", "~/.gemini/settings.json", "\"url httpUrl baseUrl"},
	SB_NAMED(ROW, "opencode", "", "=ANTHROPIC_BASE_URL", "=OPENAI_BASE_URL"),
	SB_NAMED(ROW, "opencode", OPENCODE_KEYS, "=OPENCODE_CONFIG_CONTENT",
		 "$/opencode/config.json", "$/opencode/opencode.json", "$/opencode/opencode.jsonc"),
};

/* One file that is read for a word. */
struct finding {
	struct sb_maker *maker;
	const struct sb_rule_source *source;
	const char *word, *file;
	enum sb_verdict verdict;
	size_t found;
};

/* What is no host is none of ours to complain about: the tool will. */
static int add_host(struct finding *finding, const char *host, size_t length, unsigned port,
		    struct sb_error *err)
{
	char text[SB_PEER_TEXT_SIZE], origin[4600];
	struct sb_peer_pattern pattern;
	struct sb_connect_rule rule = {.verdict = finding->verdict,
				       .tier = finding->source->tier,
				       .derived = true,
				       .text = pattern.text,
				       .origin = origin};

	snprintf(text, sizeof text, "%.*s:%u", (int)(length < sizeof text ? length : 0), host,
		 port);
	if (length >= sizeof text || memchr(host, '*', length) ||
	    sb_peer_pattern_parse(text, &pattern, NULL) != SB_OK)
		return SB_OK;
	finding->found++;
	snprintf(origin, sizeof origin, "%s: @%s, in %s'%s'", finding->source->origin,
		 finding->word, finding->verdict == SB_ASK ? "the project's " : "", finding->file);
	return sb_connect_add(finding->maker->setup.policy, &rule, err);
}

/* The host of the URL whose "://" stands at mark, in text; *out_end: where that ends. */
static int take_url(struct finding *finding, const char *text, const char *mark,
		    const char **out_end, struct sb_error *err)
{
	static const struct {
		const char *scheme;
		unsigned port;
	} schemes[] = {{"https", 443}, {"http", 80}, {"ssh", 22}, {"git", 9418}};
	static const char ends[] = "/?#\"' \t,|]";
	const char *scheme = mark, *host = mark + 3, *end = host + strcspn(host, ends), *at, *colon;
	unsigned port = 0;

	if (*end == ']' && memchr(host, '[', (size_t)(end - host))) /* of an address */
		end += 1 + strcspn(end + 1, ends);
	at = memrchr(host, '@', (size_t)(end - host));
	*out_end = end;
	while (scheme > text && strchr(URL_BYTES, scheme[-1]) && scheme[-1] != '+')
		scheme--;
	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
		if ((size_t)(mark - scheme) == strlen(schemes[i].scheme) &&
		    strncmp(scheme, schemes[i].scheme, (size_t)(mark - scheme)) == 0)
			port = schemes[i].port;
	if (!port)
		return SB_OK;
	host = at ? at + 1 : host;
	colon = memrchr(host, ':', (size_t)(end - host));
	if (colon && (*host != '[' || colon[-1] == ']')) {
		unsigned written = sb_port_parse(colon + 1, (size_t)(end - colon) - 1);

		port = written ? written : port;
		end = colon;
	}
	return add_host(finding, host, (size_t)(end - host), port, err);
}

static int take_urls(struct finding *finding, const char *text, struct sb_error *err)
{
	const char *at = text, *mark;
	int status = SB_OK;

	while (status == SB_OK && (mark = strstr(at, "://")))
		status = take_url(finding, text, mark, &at, err);
	return status;
}

/* "user@host:path", as git has it beside URLs. */
static int take_git_url(struct finding *finding, const char *url, struct sb_error *err)
{
	const char *colon = strchr(url, ':'), *slash = strchr(url, '/'), *at;

	if (strstr(url, "://"))
		return take_urls(finding, url, err);
	if (!colon || (slash && slash < colon) || strstr(url, "::"))
		return SB_OK; /* a path, or a helper's */
	at = memrchr(url, '@', (size_t)(colon - url));
	url = at ? at + 1 : url;
	return add_host(finding, url, (size_t)(colon - url), 22, err);
}

/* "https://host.name": what stands before the key's own name. */
static int take_subsection(struct finding *finding, const char *key, struct sb_error *err)
{
	const char *dot = strrchr(key, '.');
	SB_AUTO_FREE char *url = dot ? strndup(key, (size_t)(dot - key)) : NULL;

	if (!dot)
		return SB_OK;
	return url ? take_git_url(finding, url, err) : sb_no_memory(err);
}

static int read_git(struct finding *finding, const struct sb_buf *text, struct sb_error *err)
{
	static const char *const sections[] = {"url.", "credential.", "http."};
	SB_AUTO(sb_git_config_done) struct sb_git_config config = {0};
	int status = SB_OK;

	sb_git_config_parse(text->data, text->length, &config);
	for (size_t i = 0; i < config.count && status == SB_OK; i++) {
		const struct sb_git_entry *entry = &config.entries[i];

		if (entry->value && sb_git_key_is(entry->key, "remote", "url pushurl"))
			status = take_git_url(finding, entry->value, err);
		for (size_t k = 0; k < sizeof sections / sizeof sections[0]; k++) {
			size_t length = strlen(sections[k]);

			if (status == SB_OK && strncmp(entry->key, sections[k], length) == 0)
				status = take_subsection(finding, entry->key + length, err);
		}
	}
	return status;
}

/* Behind the name of a value: the value, up to its quote; NULL: there is none. */
static const char *value_at(const char *at, size_t *out_length)
{
	char quote;

	at += *at == '"' || *at == '\'';
	at += strspn(at, " \t");
	if (*at != ':' && *at != '=')
		return NULL;
	at += 1 + strspn(at + 1, " \t");
	quote = *at;
	if (quote != '"' && quote != '\'')
		return NULL;
	*out_length = strcspn(at + 1, (char[]){quote, '\n', '\0'});
	return at + 1;
}

/* Is what stands here in a line that is a remark? */
static bool is_remark(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	at += strspn(at, " \t");
	return *at == '#' || strncmp(at, "//", 2) == 0;
}

/* "key": "URL" of JSON and key = "URL" of TOML, wherever they stand. */
static int read_values(struct finding *finding, const char *text, const char *keys,
		       struct sb_error *err)
{
	int status = SB_OK;

	for (size_t length; *keys && status == SB_OK; keys += length, keys += *keys == ' ') {
		SB_AUTO_FREE char *key = strndup(keys, length = strcspn(keys, " "));

		for (const char *at = key ? text : NULL;
		     at && status == SB_OK && (at = strstr(at, key)); at += length) {
			size_t width = 0;
			const char *value = value_at(at + length, &width);
			SB_AUTO_FREE char *url = NULL;

			if (!value ||
			    (at > text && (at[-1] == '-' || strchr(URL_BYTES "_", at[-1]))) ||
			    is_remark(text, at))
				continue;
			url = strndup(value, width);
			if (!url)
				return sb_no_memory(err);
			status = take_urls(finding, url, err);
		}
	}
	return status;
}

static bool has_key(const char *line, const char *keys)
{
	for (size_t length; *keys; keys += length, keys += *keys == ' ') {
		length = strcspn(keys, " ");
		for (const char *at = line; (at = strchr(at, *keys)); at++)
			if (strncmp(at, keys, length) == 0)
				return true;
	}
	return false;
}

/* "GOSUMDB=sum.golang.org": a name without a scheme. */
static int take_bare(struct finding *finding, const char *line, struct sb_error *err)
{
	const char *value = strncmp(line, "GOSUMDB=", 8) == 0 ? line + 8 : NULL;
	size_t length = value ? strcspn(value, "+ \t") : 0;

	if (!value || strstr(value, "://") || !memchr(value, '.', length))
		return SB_OK;
	return add_host(finding, value, length, 443, err);
}

/* "key = value" lines, each perhaps continued by ones that begin with a blank (pip.conf). */
static int read_lines(struct finding *finding, struct sb_buf *text, const char *keys,
		      struct sb_error *err)
{
	char *rest = text->data, *line;
	bool counts = false;
	int status = SB_OK;

	while (status == SB_OK && rest && (line = strsep(&rest, "\n"))) {
		const char *first = line + strspn(line, " \t");

		if (*first == '\0' || strchr("#;[", *first)) {
			counts = false;
			continue;
		}
		if (first == line || strchr(first, '='))
			counts = has_key(line, keys);
		if (counts)
			status = take_urls(finding, line, err);
		if (counts && status == SB_OK)
			status = take_bare(finding, line, err);
	}
	return status;
}

/* What cannot be read names no host: the tool will say why. */
static int read_file(struct finding *finding, const char *path, const char *keys, bool of_project,
		     struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	SB_AUTO_FREE char *real = NULL;
	enum sb_verdict verdict = finding->verdict;
	bool found = false;
	int status;

	if (sb_path_canonical(path, &real, NULL, NULL) != SB_OK ||
	    sb_config_read(real, &text, &found, NULL) != SB_OK || !found ||
	    strlen(text.data ? text.data : "") != text.length || !text.length)
		return SB_OK;
	finding->file = path;
	if ((of_project ||
	     sb_path_within_any((const char *const *)finding->maker->watched, real)) &&
	    verdict < SB_ASK)
		finding->verdict = SB_ASK;
	status = strcmp(keys, "git") == 0 ? read_git(finding, &text, err)
		 : *keys == '"'           ? read_values(finding, text.data, keys + 1, err)
					  : read_lines(finding, &text, keys, err);
	finding->verdict = verdict;
	return status;
}

/* A variable that names a host, as a URL or among others; or that is such a file itself. */
static int read_variable(struct finding *finding, const char *name, const char *keys,
			 struct sb_error *err)
{
	const struct sb_environment *environment = &finding->maker->request->environment;
	const char *value = environment->variable ? environment->variable(name) : NULL;
	SB_AUTO_FREE char *line = NULL;

	finding->file = name;
	if (!value)
		return SB_OK;
	if (*keys == '"')
		return read_values(finding, value, keys + 1, err);
	if (!*keys)
		return take_urls(finding, value, err);
	line = sb_text_print("%s=%s", keys, value);
	return line ? take_bare(finding, line, err) : sb_no_memory(err);
}

static int read_arguments(struct finding *finding, const char *keys, struct sb_error *err)
{
	const char *const *arguments = finding->maker->request->arguments;
	int status = SB_OK;

	finding->file = "its arguments";
	for (size_t i = 0; arguments && arguments[i] && status == SB_OK; i++)
		status = read_values(finding, arguments[i], keys + 1, err);
	return status;
}

/* Those of git's that variables name: GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM. */
static int read_named(struct finding *finding, struct sb_error *err)
{
	char *const *files = finding->maker->setup.home.git_settings;
	int status = SB_OK;

	for (size_t i = 0; files && files[i] && status == SB_OK; i++)
		status = read_file(finding, files[i], "git", false, err);
	return status;
}

/* The files of a row, in each project where it has them there. */
static int read_row(struct finding *finding, size_t row, struct sb_error *err)
{
	const struct sb_setup *setup = &finding->maker->setup;
	const char *file = rows[row].file, *keys = rows[row].keys;
	const char *config = setup->home.xdg_config;
	SB_AUTO_FREE char *path = NULL;
	int status = SB_OK;

	if (file[0] == '/')
		return read_file(finding, file, keys, false, err);
	if (file[0] == '=')
		return read_variable(finding, file + 1, keys, err);
	if (file[0] == '-')
		return read_arguments(finding, keys, err);
	if (file[0] == '$' && file[1] != '/') {
		status = sb_profile_expand(finding->maker, file, &path, err);
		return path && status == SB_OK ? read_file(finding, path, keys, false, err)
					       : status;
	}
	if (file[0] == '~')
		path = sb_path_join(setup->home.home, file + 2);
	else if (file[0] == '$')
		path = config ? sb_path_join(config, file + 2)
			      : sb_path_join(setup->home.home, ".config");
	if (file[0] == '$' && !config && path) {
		SB_AUTO_FREE char *base = sb_take_ptr(&path);

		path = sb_path_join(base, file + 2);
	}
	if (file[0] != '.')
		return path ? read_file(finding, path, keys, false, err) : sb_no_memory(err);
	for (size_t i = 0; setup->projects[i] && status == SB_OK; i++) {
		struct sb_repository repository;
		bool git = strcmp(keys, "git") == 0;
		SB_AUTO_FREE char *of_project = NULL;

		if (git && !sb_repository_find(setup->projects[i], &repository))
			continue;
		of_project = git ? sb_path_join(repository.common, "config")
				 : sb_path_join(setup->projects[i], file + 2);
		if (git)
			sb_repository_done(&repository);
		status = of_project ? read_file(finding, of_project, keys, true, err)
				    : sb_no_memory(err);
	}
	return status;
}

static int load_word(struct sb_maker *maker, const struct sb_rule_source *source,
		     const struct sb_line *line, struct sb_error *err)
{
	struct finding finding = {.maker = maker,
				  .source = source,
				  .word = line->text + 1,
				  .verdict = (enum sb_verdict)line->value};
	bool known = false;
	int status = SB_OK;

	for (size_t i = 0; i < SB_COUNT(rows) && status == SB_OK; i++) {
		if (strcmp(rows[i].word, finding.word) != 0)
			continue;
		known = true;
		status = read_row(&finding, i, err);
	}
	if (status == SB_OK && strcmp(finding.word, "git") == 0)
		status = read_named(&finding, err);
	if (status != SB_OK || finding.found)
		return status;
	if (!known)
		return sb_fail(
			err, SB_E_INVALID, 0,
			"'%s' is none of @npm, @pip, @cargo, @go, @git, and of agents @claude, "
			"@codex, @gemini and @opencode",
			line->text);
	if (source->tier == SB_TIER_PROFILE && !source->file) /* nobody has asked for it */
		return SB_OK;
	return sb_maker_warn(maker, err,
			     "'%s' opens nothing: no settings of %s name a host (from %s)",
			     line->text, finding.word, source->origin);
}

struct sb_own_host {
	enum sb_verdict verdict;
	char *text, *origin;
};

int sb_hosts_defer(struct sb_maker *maker, const struct sb_rule_source *source,
		   const struct sb_line *line, struct sb_error *err)
{
	struct sb_own_host *grown =
		reallocarray(maker->hosts, maker->host_count + 1, sizeof *grown);

	if (!grown)
		return sb_no_memory(err);
	maker->hosts = grown;
	grown[maker->host_count] = (struct sb_own_host){(enum sb_verdict)line->value,
							strdup(line->text), strdup(source->origin)};
	return grown[maker->host_count].text && grown[maker->host_count++].origin
		       ? SB_OK
		       : sb_no_memory(err);
}

void sb_hosts_forget(struct sb_maker *maker)
{
	for (size_t i = 0; i < maker->host_count; i++) {
		free(maker->hosts[i].text);
		free(maker->hosts[i].origin);
	}
	free(maker->hosts);
}

static int load_own(struct sb_maker *maker, enum sb_verdict verdict, const char *text,
		    const char *origin, struct sb_error *err)
{
	const struct sb_rule_source source = {.tier = SB_TIER_PROFILE, .origin = origin};
	const struct sb_line line = {
		.kind = SB_LINE_CONNECT, .value = verdict, .text = (char *)text};

	return sb_load_host(maker, &source, &line, err);
}

int sb_hosts_settle(struct sb_maker *maker, struct sb_error *err)
{
	static const char *const tools[] = {"@npm", "@pip", "@cargo", "@go", "@git"};
	enum sb_network network = sb_network_of(maker->setup.policy);
	int status = SB_OK;

	if (network != SB_NETWORK_ASK && network != SB_NETWORK_LEARN)
		return SB_OK;
	for (size_t i = 0; i < maker->host_count && status == SB_OK; i++)
		status = load_own(maker, maker->hosts[i].verdict, maker->hosts[i].text,
				  maker->hosts[i].origin, err);
	if (!maker->host_count && !maker->setup.network_assumed)
		return status;
	for (size_t i = 0; i < sizeof tools / sizeof tools[0] && status == SB_OK; i++)
		status = load_own(maker, SB_ALLOW, tools[i], "what tools are set up for", err);
	return status;
}

int sb_load_host(struct sb_maker *maker, const struct sb_rule_source *source,
		 const struct sb_line *line, struct sb_error *err)
{
	const struct sb_connect_rule rule = {.verdict = (enum sb_verdict)line->value,
					     .tier = source->tier,
					     .text = line->text,
					     .origin = source->origin};

	if (source->scope) /* another project's hosts are its own */
		return SB_OK;
	if (line->kind == SB_LINE_LISTEN)
		return sb_listen_add(maker->setup.policy, line->text, source->origin, err);
	return line->text[0] == '@' ? load_word(maker, source, line, err)
				    : sb_connect_add(maker->setup.policy, &rule, err);
}
