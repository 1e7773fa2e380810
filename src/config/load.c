#include "config/load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "config/fast.h"
#include "config/file.h"
#include "config/profile.h"
#include "config/rules.h"
#include "guard/guard.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/settings.h"
#include "policy/text.h"

#define MAX_FILES 256   /* in all: files that include each other twice grow without a loop */
#define MAX_INCLUDES 16 /* deep enough for any team, shallow enough to end a loop early */

static int out_of_memory(struct sb_error *err)
{
	return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
}

int sb_maker_push(char ***list, size_t *count, char *text, struct sb_error *err)
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

int sb_maker_warn(struct sb_maker *maker, struct sb_error *err, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return sb_maker_push(&maker->setup.warnings, &maker->warning_count, text, err);
}

static int list_rule(struct sb_maker *maker, const struct sb_rule *rule, bool missing,
		     struct sb_error *err)
{
	struct sb_setup *setup = &maker->setup;
	struct sb_listed *grown =
		reallocarray(setup->listed, setup->listed_count + 1, sizeof *grown);

	if (!grown)
		return out_of_memory(err);
	setup->listed = grown;
	grown[setup->listed_count] = (struct sb_listed){.tier = rule->tier,
							.access = rule->access,
							.fast = rule->fast,
							.tightens = rule->tightens,
							.missing = missing,
							.pattern = strdup(rule->pattern)};
	return grown[setup->listed_count++].pattern ? SB_OK : out_of_memory(err);
}

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
int sb_load_refuse_planted(const char *text, const char *link, const char *target,
			   struct sb_error *err)
{
	sb_fail(err, SB_E_REFUSED, 0,
		"cannot open '%s': the link '%s', which a command could have made, leads out", text,
		link);
	return sb_hint(err, "name what it leads to: '%s'", target);
}

/* Remember a grant, to look at it again when all of them are known. */
static int note_grant(struct sb_maker *maker, const struct sb_source *source, const char *text,
		      const char *path, struct sb_error *err)
{
	char *absolute = NULL;
	int status = sb_path_expand(text, source->base, maker->setup.home.home, &absolute, err);

	if (status == SB_OK)
		status = sb_maker_push(&maker->granted, &maker->granted_count, absolute, err);
	if (status == SB_OK)
		status = sb_maker_push(&maker->opened, &maker->opened_count, strdup(path), err);
	return status;
}

int sb_load_check_grants(const struct sb_maker *maker, struct sb_error *err)
{
	for (size_t i = 0; i < maker->granted_count; i++) {
		SB_AUTO_FREE char *path = NULL;
		SB_AUTO_FREE char *planted = NULL;
		int status = sb_path_canonical_watched(maker->granted[i],
						       (const char *const *)maker->opened, &path,
						       NULL, &planted, err);

		if (status == SB_OK && planted)
			status = sb_load_refuse_planted(maker->granted[i], planted, path, err);
		if (status != SB_OK)
			return status;
	}
	return SB_OK;
}

/*
 * Why a grant for something that is not there does nothing; NULL: it does.  In a supervised run
 * each call is decided by name, and done by a process that may do it (linux_attempt.c); mounts and
 * Landlock, all that a static run and a fast root have, need something to stand on.
 */
static const char *why_skipped(const struct sb_maker *maker, bool fast,
			       const struct sb_resolved *resolved)
{
	if (!resolved->missing || resolved->is_glob)
		return NULL;
	if (resolved->missing != ENOENT)
		return "";
	if (maker->request->existing_only)
		return "; a static run opens only what is there";
	return fast ? "; a fast root has to be there" : NULL;
}

/*
 * SECURITY: a rule that a link in a writable directory led to its target opens nothing there.
 *
 * Danger: "read vendor" would show ~/.ssh once vendor is a link to it, being more specific than
 * what hides that; "write dist" would open .git/hooks, which dist is a link to by now.  Such a link
 * comes with a clone, or a command has made it.
 * Price: who has links of his own in the project names what they lead to.
 * Held by: tests/cli/linked_rules.py
 *
 * What the rule takes away it takes away there, too.
 */
static int add_tightening(struct sb_maker *maker, const struct sb_rule *rule, struct sb_error *err)
{
	struct sb_rule stricter = *rule;

	stricter.tier = SB_TIER_BUILTIN;
	stricter.hard = stricter.tightens = true;
	stricter.fast = false;
	return sb_policy_add(maker->setup.policy, &stricter, err);
}

/* The links that lead to what a rule names. */
struct way {
	struct sb_maker *maker;
	const struct sb_rule *rule;
	const char
		*last; /* the one in the last place, as a pattern: the rule is about it; or NULL */
};

static int hold_link(void *context, const char *link, struct sb_error *err)
{
	const struct way *way = context;
	SB_AUTO_FREE char *pattern = sb_pattern_escape(link);
	struct sb_rule rule = {.access = sb_access_read,
			       .tier = SB_TIER_BUILTIN,
			       .hard = true,
			       .link = true,
			       .pattern = pattern,
			       .origin = way->rule->origin};

	if (!pattern)
		return out_of_memory(err);
	return way->last && strcmp(way->last, pattern) == 0
		       ? SB_OK
		       : sb_policy_add(way->maker->setup.policy, &rule, err);
}

/*
 * SECURITY: what a rule takes away, the next run with the same rule takes away, too.
 *
 * Danger: "deny current/key" is about v2/key, current being a link to v2.  A command that turns the link round
 * has the next run hide another file, and reads this one.
 * Price: a link that such a rule goes through stays where it is while the rule counts.
 * Held by: tests/cli/linked_rules.py
 */
static int hold_way(struct sb_maker *maker, const struct sb_rule *rule,
		    const struct sb_resolved *resolved, struct sb_error *err)
{
	struct way way = {maker, rule, resolved->link};

	return resolved->written ? sb_path_links(resolved->written, hold_link, &way, err) : SB_OK;
}

static int add_rule(struct sb_maker *maker, const struct sb_rule *rule, bool opens,
		    struct sb_error *err)
{
	return opens ? sb_policy_add(maker->setup.policy, rule, err)
		     : add_tightening(maker, rule, err);
}

/*
 * SECURITY: a profile opens files in which contents decide, and a static run looks at none.
 *
 * Danger: ~/.claude.json holds counters, and programs that the agent outside starts.
 * Held by: tests/cli/profiles.py
 */
static bool is_for_its_contents(const struct sb_maker *maker, enum sb_tier tier, const char *path)
{
	size_t count, length = path ? strlen(path) : 0;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	if (tier != SB_TIER_PROFILE || !maker->request->existing_only)
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t name = strlen(rows[i].held);

		if (rows[i].kind != SB_GUARD_ANYTHING && name && length > name &&
		    path[length - name - 1] == '/' &&
		    strcmp(path + length - name, rows[i].held) == 0)
			return true;
	}
	return false;
}

static bool is_socket(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISSOCK(info.st_mode);
}

int sb_load_rule(struct sb_maker *maker, const struct sb_source *source, const struct sb_line *line,
		 struct sb_error *err)
{
	struct sb_resolved resolved;
	struct sb_rule rule = {.access = line->access,
			       .tier = source->tier,
			       .fast = line->fast,
			       .tightens = line->tightens,
			       .login = source->login,
			       .cache = source->cache,
			       .origin = source->origin};
	bool all = sb_access_equal(&line->access, &sb_access_write);
	bool grants = grants_something(&line->access) && !line->tightens;
	const char *text = line->text, *skipped;
	int status;

	status = sb_rule_resolve(text, source->base, maker->setup.home.home,
				 source->may_be_literal && grants,
				 (const char *const *)maker->watched, &resolved, err);
	if (status != SB_OK)
		return status;
	rule.pattern = resolved.pattern;
	skipped = grants ? why_skipped(maker, line->fast, &resolved) : NULL;
	if (skipped && source->makes && resolved.missing == ENOENT)
		skipped = NULL;
	if (grants && is_for_its_contents(maker, source->tier, resolved.path))
		skipped = "";
	/* SECURITY: whoever sees a socket can connect to it, where no supervisor holds the call. */
	if (line->access.quiet && resolved.path && is_socket(resolved.path))
		rule.access.verdict[SB_READ] = SB_DENY;
	if (resolved.leads_out && grants) {
		status = sb_load_refuse_planted(text, resolved.through, resolved.pattern, err);
	} else if (source->scope && !sb_path_within(source->scope, resolved.pattern)) {
		status = SB_OK;
	} else if (skipped) {
		/* S8.  A rule that takes away is kept: what it names may appear later. */
		if (source->tier != SB_TIER_PROFILE) /* made for every home: much is not there */
			status = sb_maker_warn(maker, err, "skipping '%s': %s (from %s%s)", text,
					       strerror(resolved.missing), source->origin, skipped);
	} else {
		status = line->fast ? sb_fast_note(maker, source, text, &resolved, err) : SB_OK;
		if (status == SB_OK) /* what is fast looks for itself: fast.h */
			status = add_rule(maker, &rule,
					  !line->tightens && (!resolved.through || line->fast),
					  err);
		if (status == SB_OK)
			status = list_rule(maker, &rule, resolved.missing && grants, err);
		if (status == SB_OK && grants && !resolved.is_glob && !resolved.through)
			status = note_grant(maker, source, text, resolved.path, err);
		if (status == SB_OK && source->makes && resolved.path && !resolved.through)
			status = sb_maker_push(&maker->setup.profile.directories,
					       &maker->setup.profile.directory_count,
					       strdup(resolved.path), err);
		if (status == SB_OK && !all)
			status = hold_way(maker, &rule, &resolved, err);
		if (status == SB_OK && resolved.link && (!all || resolved.through)) {
			rule.pattern = resolved.link;
			status = add_rule(maker, &rule, !line->tightens, err);
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

static int apply_setting(struct sb_maker *maker, const struct sb_source *source,
			 const struct sb_line *line, struct sb_error *err)
{
	struct sb_settings *tier = &maker->tiers[source->tier];
	int status = SB_OK;

	if (source->scope) /* another project's settings are its own */
		return SB_OK;
	switch (line->kind) {
	case SB_LINE_SETTING:
		status = set_once(&tier->origins[line->setting],
				  tier->values[line->setting] == line->value,
				  sb_settings[line->setting].word, source->origin, err);
		tier->values[line->setting] = line->value;
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
	case SB_LINE_LOG_STATIC:
		status = set_once(&tier->log_static_origin, maker->setup.log_static == line->keep,
				  "log-static", source->origin, err);
		maker->setup.log_static = line->keep;
		break;
	default:
		break;
	}
	return status;
}

/* A text of rules, and where it is from. */
struct reading {
	enum sb_tier tier;
	const char *path; /* NULL: it comes with sandbash */
	const char *name; /* as rules say where they are from */
	const char *only; /* rules count inside this directory; NULL: all */
	int depth;        /* of files that include each other */
};

static int load_file(struct sb_maker *maker, const struct reading *reading, bool must_exist,
		     struct sb_error *err);

static int include_file(struct sb_maker *maker, const struct reading *from, const char *text,
			struct sb_error *err)
{
	SB_AUTO_FREE char *dir = from->path ? sb_path_parent(from->path) : strdup("/");
	struct reading reading = *from;
	SB_AUTO_FREE char *absolute = NULL;
	SB_AUTO_FREE char *path = NULL;
	int missing, status;

	if (!dir)
		return out_of_memory(err);
	if (from->depth == MAX_INCLUDES)
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
	reading.path = reading.name = path;
	reading.depth++;
	return load_file(maker, &reading, true, err);
}

/* What a profile says about a line, at its end, is a part of where its rules are from. */
static const char *remark(const struct reading *reading, const char *bytes, size_t length,
			  size_t *out_length)
{
	const char *mark = memmem(bytes, length, " # ", 3);

	*out_length = mark ? (size_t)(bytes + length - mark) - 3 : 0;
	return reading->path || !mark ? "" : mark + 3;
}

/* A rule, for each project that its relative pattern may mean. */
static int load_rules(struct sb_maker *maker, const struct reading *reading,
		      struct sb_source *source, const struct sb_line *line, struct sb_error *err)
{
	int status = SB_OK;

	if (reading->tier == SB_TIER_DIRECTORY || line->text[0] == '/' || line->text[0] == '~') {
		source->base = reading->only ? reading->only : maker->setup.home.cwd;
		return sb_load_rule(maker, source, line, err);
	}
	for (size_t i = 0; maker->setup.projects[i] && status == SB_OK; i++) {
		source->base = maker->setup.projects[i];
		status = sb_load_rule(maker, source, line, err);
	}
	return status;
}

/* A rule of a profile, whose path may begin with a variable, and end in "/". */
static int load_profile_rule(struct sb_maker *maker, const struct reading *reading,
			     struct sb_source *source, const struct sb_line *line,
			     struct sb_error *err)
{
	SB_AUTO_FREE char *text = NULL;
	struct sb_line expanded = *line;
	int status = sb_profile_expand(maker, line->text, &text, err);

	if (status != SB_OK || !text)
		return status;
	expanded.text = text;
	source->makes = text[0] && text[strlen(text) - 1] == '/';
	return load_rules(maker, reading, source, &expanded, err);
}

static int load_line(struct sb_maker *maker, const struct reading *reading, size_t number,
		     const char *bytes, size_t length, struct sb_error *err)
{
	bool profile = reading->tier == SB_TIER_PROFILE;
	size_t remarked;
	const char *more = remark(reading, bytes, length, &remarked);
	char origin[4300];
	struct sb_source source = {.tier = reading->tier,
				   .origin = origin,
				   .file = reading->path,
				   .scope = reading->only};
	struct sb_line line;
	int status = profile ? sb_profile_line_parse(bytes, length, &line, err)
			     : sb_line_parse(bytes, length, &line, err);

	if (status != SB_OK)
		return status;
	snprintf(origin, sizeof origin, "%s line %zu%s%.*s", reading->name, number,
		 *more ? ": " : "", *more ? (int)remarked : 0, more);
	if (line.kind == SB_LINE_INCLUDE)
		status = include_file(maker, reading, line.text, err);
	else if (line.kind >= SB_LINE_PROGRAM)
		status = sb_profile_take(maker, &source, &line, err);
	else if (line.kind != SB_LINE_RULE)
		status = apply_setting(maker, &source, &line, err);
	else
		status = profile ? load_profile_rule(maker, reading, &source, &line, err)
				 : load_rules(maker, reading, &source, &line, err);
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

/*
 * SECURITY: a rule file that is a link to nothing is no missing file.
 *
 * Danger: the link leads into a project, a command makes what it names, and that is the rules of the next run.
 * A static run cannot hold a name that is not there.
 * Price: who has such a link makes the file, or removes the link.
 * Held by: tests/cli/config_commands.py
 */
static int refuse_dangling(const char *path, struct sb_error *err)
{
	struct stat info;

	if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode))
		return SB_OK;
	sb_fail(err, SB_E_REFUSED, 0, "'%s' is a link that leads to nothing", path);
	return sb_hint(err, "whoever makes the file makes your rules: make it, or remove the link");
}

static int load_text(struct sb_maker *maker, const struct reading *reading, const char *bytes,
		     size_t length, struct sb_error *err)
{
	const char *at = bytes, *end = bytes + length;
	size_t number = 0;

	for (; at < end; at++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t width = (size_t)((newline ? newline : end) - at);

		if (load_line(maker, reading, ++number, at, width, err) != SB_OK)
			return name_line(err, reading->name, number);
		at += width;
	}
	return SB_OK;
}

static int load_file(struct sb_maker *maker, const struct reading *reading, bool must_exist,
		     struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	bool found;
	int status = sb_config_read(reading->path, &text, &found, err);

	if (status != SB_OK)
		return status;
	if (!found && must_exist)
		return sb_fail(err, SB_E_MISSING, ENOENT, "cannot read '%s'", reading->path);
	if (!found)
		return refuse_dangling(reading->path, err);
	if (maker->file_count == MAX_FILES)
		return sb_fail(err, SB_E_INVALID, 0, "more than %d rule files are read", MAX_FILES);
	status = sb_maker_push(&maker->setup.files, &maker->file_count, strdup(reading->path), err);
	return status == SB_OK ? load_text(maker, reading, text.data, text.length, err) : status;
}

int sb_load_file(struct sb_maker *maker, enum sb_tier tier, const char *path, const char *only,
		 bool must_exist, struct sb_error *err)
{
	const struct reading reading = {.tier = tier, .path = path, .name = path, .only = only};

	return load_file(maker, &reading, must_exist, err);
}

int sb_load_text(struct sb_maker *maker, const char *text, struct sb_error *err)
{
	const struct reading reading = {.tier = SB_TIER_FILE, .name = "these rules"};

	return load_text(maker, &reading, text, strlen(text), err);
}

int sb_load_profile(struct sb_maker *maker, const char *path, struct sb_error *err)
{
	return sb_load_file(maker, SB_TIER_PROFILE, path, NULL, true, err);
}

int sb_load_shipped(struct sb_maker *maker, const struct sb_shipped_profile *shipped,
		    struct sb_error *err)
{
	char name[sizeof shipped->name + 16];
	const struct reading reading = {.tier = SB_TIER_PROFILE, .name = name};

	snprintf(name, sizeof name, "profile %s", shipped->name);
	return load_text(maker, &reading, sb_shipped_text + shipped->start, shipped->length, err);
}
