#include "config/setup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "config/file.h"
#include "config/rules.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/builtin.h"
#include "policy/text.h"

#define MAX_FILES 256   /* in all: files that include each other twice grow without a loop */
#define MAX_INCLUDES 16 /* deep enough for any team, shallow enough to end a loop early */

/* What one tier says beside its rules; the origin tells whether it was said at all. */
struct settings {
	char *mode_origin, *network_origin, *tmp_origin, *shell_origin;
	char *keep_days_origin, *keep_megabytes_origin;
	enum sb_mode mode;
	bool network;
	enum sb_tmp tmp;
};

struct maker {
	const struct sb_setup_request *request;
	struct sb_setup setup;
	struct settings tiers[SB_TIER_COUNT];
	size_t file_count, warning_count, watched_count;
	char **watched; /* where commands may have made links: projects and temp directories */
	size_t granted_count;
	char **granted; /* what rules open, as it is written but absolute: pairs with ... */
	char **opened;  /* ... what it was resolved to */
	size_t opened_count;
};

static int out_of_memory(struct sb_error *err)
{
	return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
}

/* Append to a NULL-terminated array of strings; takes text over. */
static int push(char ***list, size_t *count, char *text, struct sb_error *err)
{
	char **grown = text ? reallocarray(*list, *count + 2, sizeof **list) : NULL;

	if (!grown) {
		free(text);
		return out_of_memory(err);
	}
	grown[(*count)++] = text;
	grown[*count] = NULL;
	*list = grown;
	return SB_OK;
}

static int warn(struct maker *maker, struct sb_error *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int warn(struct maker *maker, struct sb_error *err, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return push(&maker->setup.warnings, &maker->warning_count, text, err);
}

static int list_rule(struct maker *maker, const struct sb_rule *rule, struct sb_error *err)
{
	struct sb_setup *setup = &maker->setup;
	struct sb_listed *grown =
		reallocarray(setup->listed, setup->listed_count + 1, sizeof *grown);

	if (!grown)
		return out_of_memory(err);
	setup->listed = grown;
	grown[setup->listed_count] = (struct sb_listed){
		.tier = rule->tier, .access = rule->access, .pattern = strdup(rule->pattern)};
	return grown[setup->listed_count++].pattern ? SB_OK : out_of_memory(err);
}

/* Where a rule was found. */
struct source {
	enum sb_tier tier;
	const char *base;  /* what relative patterns are relative to */
	const char *scope; /* only rules inside this directory count; NULL: all */
	const char *origin;
	bool may_be_literal;
};

static bool grants_something(const struct sb_access *access)
{
	for (int op = SB_MODIFY; op < SB_OP_COUNT; op++)
		if (access->verdict[op] == SB_ALLOW)
			return true;
	return false;
}

/*
 * SECURITY: a grant is not led out of a project by a link that lies in it.
 *
 * Danger: a command replaces "build" by a link to the home directory, and the next run
 * with --allow-write=build opens that (CVE-2025-59532's class).
 * Price: a user with such a link of his own has to name its target.
 * Held by: tests/enforce/paths.py
 */
static int refuse_planted(const char *text, const char *link, const char *target,
			  struct sb_error *err)
{
	sb_fail(err, SB_E_REFUSED, 0,
		"cannot open '%s': the link '%s', which a command could have made, leads out", text,
		link);
	return sb_hint(err, "name what it leads to: '%s'", target);
}

/* Remember a grant, to look at it again when all of them are known. */
static int note_grant(struct maker *maker, const struct source *source, const char *text,
		      const char *path, struct sb_error *err)
{
	char *absolute = NULL;
	int status = sb_path_expand(text, source->base, maker->setup.home.home, &absolute, err);

	if (status == SB_OK)
		status = push(&maker->granted, &maker->granted_count, absolute, err);
	if (status == SB_OK)
		status = push(&maker->opened, &maker->opened_count, strdup(path), err);
	return status;
}

/* A link may also have been planted in a directory that another rule opens. */
static int check_grants(const struct maker *maker, struct sb_error *err)
{
	for (size_t i = 0; i < maker->granted_count; i++) {
		SB_AUTO_FREE char *path = NULL;
		SB_AUTO_FREE char *planted = NULL;
		int status = sb_path_canonical_watched(maker->granted[i],
						       (const char *const *)maker->opened, &path,
						       NULL, &planted, err);

		if (status == SB_OK && planted)
			status = refuse_planted(maker->granted[i], planted, path, err);
		if (status != SB_OK)
			return status;
	}
	return SB_OK;
}

static int add_rule(struct maker *maker, const struct source *source,
		    const struct sb_access *access, const char *text, struct sb_error *err)
{
	struct sb_resolved resolved;
	struct sb_rule rule = {.access = *access, .tier = source->tier, .origin = source->origin};
	bool all = sb_access_equal(access, &sb_access_write);
	int status;

	status = sb_rule_resolve(text, source->base, maker->setup.home.home,
				 source->may_be_literal && grants_something(access),
				 grants_something(access) ? (const char *const *)maker->watched
							  : NULL,
				 &resolved, err);
	if (status != SB_OK)
		return status;
	rule.pattern = resolved.pattern;
	if (resolved.planted && !resolved.missing) {
		status = refuse_planted(text, resolved.planted, resolved.pattern, err);
	} else if (source->scope && !sb_path_within(source->scope, resolved.pattern)) {
		status = SB_OK;
	} else if (!resolved.is_glob && resolved.missing && grants_something(access)) {
		/* S8.  A rule that takes away is kept: what it names may appear later. */
		status = warn(maker, err, "skipping '%s': %s (from %s)", text,
			      strerror(resolved.missing), source->origin);
	} else {
		status = sb_policy_add(maker->setup.policy, &rule, err);
		if (status == SB_OK)
			status = list_rule(maker, &rule, err);
		if (status == SB_OK && grants_something(access) && !resolved.is_glob)
			status = note_grant(maker, source, text, resolved.path, err);
		if (status == SB_OK && resolved.link && !all) {
			rule.pattern = resolved.link;
			status = sb_policy_add(maker->setup.policy, &rule, err);
		}
	}
	sb_resolved_done(&resolved);
	return status;
}

/* A setting said twice in one tier must say the same. */
static int set_once(char **origin, bool same, const char *what, const char *where,
		    struct sb_error *err)
{
	if (*origin && !same)
		return sb_fail(err, SB_E_CONFLICT, 0, "'%s' is set twice, differently: %s and %s",
			       what, *origin, where);
	if (!*origin)
		*origin = strdup(where);
	return *origin ? SB_OK : out_of_memory(err);
}

static int apply_setting(struct maker *maker, const struct source *source,
			 const struct sb_line *line, struct sb_error *err)
{
	struct settings *tier = &maker->tiers[source->tier];
	int status = SB_OK;

	if (source->scope) /* another project's settings are its own */
		return SB_OK;
	switch (line->kind) {
	case SB_LINE_MODE:
		status = set_once(&tier->mode_origin, tier->mode == line->mode, "mode",
				  source->origin, err);
		tier->mode = line->mode;
		break;
	case SB_LINE_NETWORK:
		status = set_once(&tier->network_origin, tier->network == line->network_on,
				  "network", source->origin, err);
		tier->network = line->network_on;
		break;
	case SB_LINE_TMP:
		status = set_once(&tier->tmp_origin, tier->tmp == line->tmp, "tmp", source->origin,
				  err);
		tier->tmp = line->tmp;
		break;
	case SB_LINE_SHELL:
		status = set_once(&tier->shell_origin,
				  maker->setup.shell && strcmp(maker->setup.shell, line->text) == 0,
				  "shell", source->origin, err);
		free(maker->setup.shell); /* a later tier's counts */
		maker->setup.shell = strdup(line->text);
		if (!maker->setup.shell)
			status = out_of_memory(err);
		break;
	case SB_LINE_LOG_KEEP_DAYS:
		status = set_once(&tier->keep_days_origin, maker->setup.log_keep_days == line->keep,
				  "log-keep-days", source->origin, err);
		maker->setup.log_keep_days = line->keep;
		break;
	case SB_LINE_LOG_KEEP_MEGABYTES:
		status = set_once(&tier->keep_megabytes_origin,
				  maker->setup.log_keep_megabytes == line->keep,
				  "log-keep-megabytes", source->origin, err);
		maker->setup.log_keep_megabytes = line->keep;
		break;
	default:
		break;
	}
	return status;
}

static int load_file(struct maker *maker, enum sb_tier tier, const char *path, const char *only,
		     int depth, bool must_exist, struct sb_error *err);

static int include_file(struct maker *maker, enum sb_tier tier, const char *from, const char *text,
			const char *only, int depth, struct sb_error *err)
{
	SB_AUTO_FREE char *dir = sb_path_parent(from);
	SB_AUTO_FREE char *absolute = NULL;
	SB_AUTO_FREE char *path = NULL;
	int missing, status;

	if (!dir)
		return out_of_memory(err);
	if (depth == MAX_INCLUDES)
		return sb_fail(err, SB_E_INVALID, 0, "more than %d files include each other",
			       MAX_INCLUDES);
	status = sb_path_expand(text, dir, maker->setup.home.home, &absolute, err);
	if (status == SB_OK)
		status = sb_path_canonical(absolute, &path, &missing, err);
	if (status == SB_OK && missing)
		status = sb_fail(err, SB_E_MISSING, missing, "cannot read '%s'", path);
	if (status != SB_OK)
		return status;
	for (size_t i = 0; maker->setup.projects[i]; i++) {
		if (sb_path_within(maker->setup.projects[i], path) &&
		    !sb_path_within(maker->setup.home.config_dir, path)) {
			sb_fail(err, SB_E_REFUSED, 0, "'%s' lies inside the project", path);
			return sb_hint(
				err,
				"a project must not bring its own rules; copy the file to '%s'",
				maker->setup.home.config_dir);
		}
	}
	return load_file(maker, tier, path, only, depth + 1, true, err);
}

/* One line of a rule file, for each project that its relative patterns may mean. */
static int load_line(struct maker *maker, enum sb_tier tier, const char *path, size_t number,
		     const char *bytes, size_t length, const char *only, int depth,
		     struct sb_error *err)
{
	char origin[4200];
	struct source source = {.tier = tier, .origin = origin, .scope = only};
	struct sb_line line;
	int status = sb_line_parse(bytes, length, &line, err);

	if (status != SB_OK)
		return status;
	snprintf(origin, sizeof origin, "%s line %zu", path, number);
	if (line.kind == SB_LINE_INCLUDE) {
		status = include_file(maker, tier, path, line.text, only, depth, err);
		sb_line_done(&line);
		return status;
	}
	if (line.kind != SB_LINE_RULE) {
		status = apply_setting(maker, &source, &line, err);
	} else if (tier == SB_TIER_DIRECTORY || line.text[0] == '/' || line.text[0] == '~') {
		source.base = only ? only : maker->setup.home.cwd;
		status = add_rule(maker, &source, &line.access, line.text, err);
	} else {
		for (size_t i = 0; maker->setup.projects[i] && status == SB_OK; i++) {
			source.base = maker->setup.projects[i];
			status = add_rule(maker, &source, &line.access, line.text, err);
		}
	}
	sb_line_done(&line);
	return status;
}

/* Prefix an error with file and line, once: S7. */
static int name_line(struct sb_error *err, const char *path, size_t number)
{
	char reason[sizeof err->message], hint[sizeof err->hint];
	enum sb_code code;
	int sys_errno;

	if (!err)
		return SB_E_INVALID;
	if (strncmp(err->message, "'/", 2) == 0 && strstr(err->message, "' line "))
		return err->code; /* from an included file */
	code = err->code;
	sys_errno = err->sys_errno;
	memcpy(reason, err->message, sizeof reason);
	memcpy(hint, err->hint, sizeof hint);
	sb_fail(err, code, sys_errno, "'%s' line %zu: %s", path, number, reason);
	if (hint[0])
		sb_hint(err, "%s", hint);
	return code;
}

static int load_file(struct maker *maker, enum sb_tier tier, const char *path, const char *only,
		     int depth, bool must_exist, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	const char *at, *end;
	size_t number = 0;
	bool found;
	int status;

	status = sb_config_read(path, &text, &found, err);
	if (status != SB_OK)
		return status;
	if (!found && must_exist)
		return sb_fail(err, SB_E_MISSING, ENOENT, "cannot read '%s'", path);
	if (!found)
		return SB_OK;
	if (maker->file_count == MAX_FILES)
		return sb_fail(err, SB_E_INVALID, 0, "more than %d rule files are read", MAX_FILES);
	status = push(&maker->setup.files, &maker->file_count, strdup(path), err);
	for (at = text.data, end = at + text.length; status == SB_OK && at < end; at++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);

		status = load_line(maker, tier, path, ++number, at, length, only, depth, err);
		if (status != SB_OK)
			return name_line(err, path, number);
		at += length;
	}
	return status;
}

/* S5: where a run may start. */
static int check_project(const struct maker *maker, const char *path, bool is_cwd,
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

static int find_projects(struct maker *maker, struct sb_error *err)
{
	size_t count = 0;
	const char *const *extra = maker->request->projects;
	int status = check_project(maker, maker->setup.home.cwd, true, err);

	if (status == SB_OK)
		status = push(&maker->setup.projects, &count, strdup(maker->setup.home.cwd), err);
	for (size_t i = 0; extra && extra[i] && status == SB_OK; i++) {
		SB_AUTO_FREE char *absolute = NULL;
		SB_AUTO_FREE char *path = NULL;
		struct stat info;

		SB_AUTO_FREE char *planted = NULL;

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
			status = refuse_planted(extra[i], planted, path, err);
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
			status = push(&maker->setup.projects, &count, sb_take_ptr(&path), err);
	}
	return status;
}

static int find_watched(struct maker *maker, struct sb_error *err)
{
	static const char *const temps[] = {"/tmp", "/dev/shm"};
	const char *tmpdir = maker->setup.home.tmpdir;
	int status = SB_OK;

	for (size_t i = 0; maker->setup.projects[i] && status == SB_OK; i++)
		status = push(&maker->watched, &maker->watched_count,
			      strdup(maker->setup.projects[i]), err);
	for (size_t i = 0; i < sizeof temps / sizeof temps[0] && status == SB_OK; i++)
		status = push(&maker->watched, &maker->watched_count, strdup(temps[i]), err);
	if (status == SB_OK && tmpdir)
		status = push(&maker->watched, &maker->watched_count, strdup(tmpdir), err);
	return status;
}

static int load_tiers(struct maker *maker, struct sb_error *err)
{
	SB_AUTO_FREE char *global = sb_global_config(&maker->setup.home);
	const char *const *files = maker->request->policy_files;
	int status;

	if (!global)
		return out_of_memory(err);
	status = load_file(maker, SB_TIER_SYSTEM, SB_SYSTEM_CONFIG, NULL, 0, false, err);
	if (status == SB_OK)
		status = load_file(maker, SB_TIER_GLOBAL, global, NULL, 0, false, err);
	for (size_t i = 0; maker->setup.projects[i] && status == SB_OK; i++) {
		const char *project = maker->setup.projects[i];
		SB_AUTO_FREE char *path = sb_directory_config(&maker->setup.home, project);

		if (!path)
			return out_of_memory(err);
		status = load_file(maker, SB_TIER_DIRECTORY, path, i ? project : NULL, 0, false,
				   err);
	}
	for (size_t i = 0; files && files[i] && status == SB_OK; i++) {
		SB_AUTO_FREE char *absolute = NULL;
		SB_AUTO_FREE char *path = NULL;

		int missing = 0;

		status = sb_path_expand(files[i], maker->setup.home.cwd, maker->setup.home.home,
					&absolute, err);
		if (status == SB_OK)
			status = sb_path_canonical(absolute, &path, &missing, err);
		if (status == SB_OK && missing)
			status = sb_fail(err, SB_E_MISSING, missing, "cannot read '%s'", files[i]);
		if (status == SB_OK)
			status = load_file(maker, SB_TIER_FILE, path, NULL, 0, true, err);
	}
	return status;
}

/* A wrong rule on the command line is a usage mistake, and names its option. */
static int name_flag(struct sb_error *err, const char *origin)
{
	char reason[sizeof err->message], hint[sizeof err->hint];

	if (!err)
		return SB_E_USAGE;
	if ((err->code != SB_E_INVALID && err->code != SB_E_CONFLICT) || err->sys_errno)
		return err->code;
	memcpy(reason, err->message, sizeof reason);
	memcpy(hint, err->hint, sizeof hint);
	sb_fail(err, SB_E_USAGE, err->sys_errno, "%s: %s", origin, reason);
	if (hint[0])
		sb_hint(err, "%s", hint);
	return SB_E_USAGE;
}

static int load_flags(struct maker *maker, struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < maker->request->rule_count && status == SB_OK; i++) {
		const struct sb_flag_rule *flag = &maker->request->rules[i];
		struct source source = {.tier = SB_TIER_FLAG,
					.base = maker->setup.home.cwd,
					.origin = flag->origin,
					.may_be_literal = true};
		struct sb_line line = {0};

		if (flag->access) {
			status = add_rule(maker, &source, flag->access, flag->text, err);
			if (status != SB_OK)
				return name_flag(err, flag->origin);
			continue;
		}
		status = sb_line_parse(flag->text, strlen(flag->text), &line, err);
		if (status == SB_OK && line.kind != SB_LINE_RULE)
			status = sb_fail(err, SB_E_INVALID, 0, "'%s' is no rule", flag->text);
		if (status == SB_OK)
			status = add_rule(maker, &source, &line.access, line.text, err);
		sb_line_done(&line);
		if (status != SB_OK)
			return name_flag(err, flag->origin);
	}
	return status;
}

/* P1: config chooses; the environment can only tighten; a flag decides; the system is a floor. */
static int choose_mode(struct maker *maker, struct sb_error *err)
{
	const struct settings *tiers = maker->tiers;
	const char *wanted = maker->request->environment.mode;
	enum sb_mode mode = SB_MODE_WORKSPACE_WRITE, asked;
	int status = SB_OK;

	if (tiers[SB_TIER_GLOBAL].mode_origin)
		mode = tiers[SB_TIER_GLOBAL].mode;
	if (tiers[SB_TIER_DIRECTORY].mode_origin)
		mode = tiers[SB_TIER_DIRECTORY].mode;
	if (wanted && wanted[0]) {
		status = sb_mode_parse(wanted, &asked, err);
		if (status != SB_OK) {
			sb_fail(err, SB_E_INVALID, 0, "SANDBASH_MODE is '%s', which is no mode",
				wanted);
			return sb_hint(err, "modes are read-only, workspace-write and "
					    "danger-full-access");
		}
		if (asked >= mode)
			mode = asked;
		else if (!maker->request->mode)
			status = warn(maker, err,
				      "SANDBASH_MODE=%s is ignored: only --mode can loosen %s",
				      wanted, sb_mode_name(mode));
	}
	if (tiers[SB_TIER_FILE].mode_origin)
		mode = tiers[SB_TIER_FILE].mode;
	if (maker->request->mode)
		mode = *maker->request->mode;
	if (tiers[SB_TIER_SYSTEM].mode_origin && tiers[SB_TIER_SYSTEM].mode > mode) {
		mode = tiers[SB_TIER_SYSTEM].mode;
		if (status == SB_OK)
			status = warn(maker, err, "the system's rules keep the mode at %s",
				      sb_mode_name(mode));
	}
	sb_policy_set_mode(maker->setup.policy, mode);
	return status;
}

static void choose_network(struct maker *maker)
{
	bool on = true;

	for (int tier = SB_TIER_GLOBAL; tier < SB_TIER_COUNT; tier++)
		if (maker->tiers[tier].network_origin)
			on = maker->tiers[tier].network;
	if (maker->request->network)
		on = *maker->request->network;
	if (maker->tiers[SB_TIER_SYSTEM].network_origin && !maker->tiers[SB_TIER_SYSTEM].network)
		on = false;
	sb_policy_set_network(maker->setup.policy, on);
}

static void choose_tmp(struct maker *maker)
{
	enum sb_tmp tmp = SB_TMP_PRIVATE;

	for (int tier = SB_TIER_SYSTEM; tier < SB_TIER_COUNT; tier++)
		if (maker->tiers[tier].tmp_origin)
			tmp = maker->tiers[tier].tmp;
	if (maker->request->tmp)
		tmp = *maker->request->tmp;
	if (maker->tiers[SB_TIER_SYSTEM].tmp_origin &&
	    maker->tiers[SB_TIER_SYSTEM].tmp == SB_TMP_OFF)
		tmp = SB_TMP_OFF;
	sb_policy_set_tmp(maker->setup.policy, tmp);
}

/* S9: whatever rules were read from, the run cannot change for the next one. */
static int protect_files(struct maker *maker, struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < maker->file_count && status == SB_OK; i++) {
		SB_AUTO_FREE char *real = NULL;
		SB_AUTO_FREE char *pattern = NULL;
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
			return out_of_memory(err);
		rule.pattern = pattern;
		status = sb_policy_add(maker->setup.policy, &rule, err);
	}
	return status;
}

static int make(struct maker *maker, struct sb_error *err)
{
	struct sb_setup *setup = &maker->setup;
	struct sb_place place;
	int status;

	status = sb_home_find(&maker->request->environment, &setup->home, err);
	if (status != SB_OK)
		return status;
	setup->policy = sb_policy_new();
	if (!setup->policy)
		return out_of_memory(err);
	status = find_projects(maker, err);
	if (status == SB_OK)
		status = find_watched(maker, err);
	if (status == SB_OK)
		status = load_tiers(maker, err);
	if (status == SB_OK)
		status = load_flags(maker, err);
	if (status == SB_OK)
		status = check_grants(maker, err);
	if (status == SB_OK)
		status = choose_mode(maker, err);
	if (status != SB_OK)
		return status;
	choose_network(maker);
	choose_tmp(maker);
	place = (struct sb_place){.home = setup->home.home,
				  .account_home = setup->home.account_home,
				  .secrets = (const char *const *)setup->home.secrets,
				  .projects = (const char *const *)setup->projects,
				  .tmpdir = setup->home.tmpdir,
				  .runtime_dir = setup->home.runtime_dir,
				  .terminals = (const char *const *)setup->home.terminals,
				  .uid = getuid(),
				  .sockets = (const char *const *)setup->home.sockets,
				  .config_dir = setup->home.config_dir,
				  .state_dir = setup->home.state_dir,
				  .existing_only = maker->request->existing_only};
	status = sb_builtin_add(setup->policy, &place, err);
	if (status == SB_OK)
		status = sb_builtin_guard_links(setup->policy, setup->home.config_named, err);
	if (status == SB_OK)
		status = protect_files(maker, err);
	if (status == SB_OK)
		status = sb_policy_seal(setup->policy, err);
	return status;
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

int sb_setup_make(const struct sb_setup_request *request, struct sb_setup *out,
		  struct sb_error *err)
{
	struct maker maker = {.request = request,
			      .setup = {.log_keep_days = SB_LOG_KEEP_DAYS,
					.log_keep_megabytes = SB_LOG_KEEP_MEGABYTES}};
	int status = make(&maker, err);

	for (int tier = 0; tier < SB_TIER_COUNT; tier++) {
		free(maker.tiers[tier].mode_origin);
		free(maker.tiers[tier].network_origin);
		free(maker.tiers[tier].tmp_origin);
		free(maker.tiers[tier].shell_origin);
		free(maker.tiers[tier].keep_days_origin);
		free(maker.tiers[tier].keep_megabytes_origin);
	}
	free_list(maker.watched);
	free_list(maker.granted);
	free_list(maker.opened);
	*out = maker.setup; /* also on failure: the caller's message may need the places */
	return status;
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
	free_list(setup->projects);
	free_list(setup->files);
	free_list(setup->warnings);
	free(setup->shell);
	*setup = (struct sb_setup){0};
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

int sb_setup_protect(const struct sb_setup *setup, struct sb_error *err)
{
	const struct {
		const char *dir;
		unsigned mode;
	} own[] = {{setup->home.config_dir, 0700},
		   {setup->home.state_dir, 0700},
		   {SB_SYSTEM_DIR, 0755}};
	int status = SB_OK;

	for (size_t i = 0; i < sizeof own / sizeof own[0] && status == SB_OK; i++) {
		if (!could_be_planted(setup, own[i].dir))
			continue;
		status = sb_config_make_dirs(own[i].dir, own[i].mode, err);
		/* What we may not create, the command may not either. */
		if (status != SB_OK && (err->sys_errno == EROFS || err->sys_errno == EACCES ||
					err->sys_errno == EPERM))
			status = SB_OK;
	}
	return status;
}
