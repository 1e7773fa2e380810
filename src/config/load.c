#include "config/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/words.h"
#include "config/file.h"
#include "config/profile.h"
#include "path/path.h"
#include "policy/settings.h"
#include "policy/text.h"

#define MAX_FILES 256   /* in all: files that include each other twice grow without a loop */
#define MAX_INCLUDES 16 /* deep enough for any team, shallow enough to end a loop early */

/* A setting said twice in one tier must say the same. */
static int set_once(char **origin, bool same, const char *what, const char *where,
		    struct sb_error *err)
{
	if (*origin && !same)
		return sb_fail(err, SB_E_CONFLICT, 0, "'%s' is set twice, differently: %s and %s",
			       what, *origin, where);
	if (!*origin)
		*origin = strdup(where);
	return *origin ? SB_OK : sb_no_memory(err);
}

static int apply_setting(struct sb_maker *maker, const struct sb_rule_source *source,
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
			status = sb_no_memory(err);
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
static int load_shipped(struct sb_maker *maker, const struct sb_shipped_profile *shipped,
			struct sb_error *err);

static int refuse_projects(const struct sb_maker *maker, const char *file, struct sb_error *err)
{
	sb_fail(err, SB_E_REFUSED, 0, "'%s' lies inside the project", file);
	return sb_hint(err, "a project must not bring its own rules; copy the file to '%s'",
		       maker->setup.home.config_dir);
}

static int include_file(struct sb_maker *maker, const struct reading *from, const char *text,
			struct sb_error *err)
{
	SB_AUTO_FREE char *dir = from->path ? sb_path_parent(from->path) : strdup("/");
	struct reading reading = *from;
	SB_AUTO_FREE char *absolute = NULL, *path = NULL;
	int missing, status;

	if (!dir)
		return sb_no_memory(err);
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
	if (sb_load_is_projects(maker, path))
		return refuse_projects(maker, path, err);
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
		      struct sb_rule_source *source, const struct sb_line *line,
		      struct sb_error *err)
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
			     struct sb_rule_source *source, const struct sb_line *line,
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

static int include_profile(struct sb_maker *maker, const struct reading *from, const char *name,
			   struct sb_error *err)
{
	const struct sb_shipped_profile *shipped = sb_profile_shipped(name);

	if (!from->path) /* no two of ours, and so no circle */
		return sb_fail(err, SB_E_INVALID, 0,
			       "no profile of sandbash's own includes another");
	return shipped ? load_shipped(maker, shipped, err) : sb_profile_no_such(name, err);
}

static int load_line(struct sb_maker *maker, const struct reading *reading, size_t number,
		     const char *bytes, size_t length, struct sb_error *err)
{
	bool profile = reading->tier == SB_TIER_PROFILE, own = profile && !reading->path;
	size_t remarked;
	const char *more = remark(reading, bytes, length, &remarked);
	char origin[4300];
	struct sb_rule_source source = {.tier = reading->tier,
					.origin = origin,
					.file = reading->path,
					.scope = reading->only};
	SB_AUTO(sb_line_done) struct sb_line line = {0};
	int status = profile ? sb_profile_line_parse(bytes, length, &line, err)
			     : sb_line_parse(bytes, length, &line, err);

	if (status != SB_OK)
		return status;
	snprintf(origin, sizeof origin, "%s line %zu%s%.*s", reading->name, number,
		 *more ? ": " : "", *more ? (int)remarked : 0, more);
	if (line.kind == SB_LINE_INCLUDE)
		status = include_file(maker, reading, line.text, err);
	else if (line.kind == SB_LINE_INCLUDE_PROFILE)
		status = include_profile(maker, reading, line.text, err);
	else if (line.kind == SB_LINE_CACHE)
		status = sb_tool_cache(maker, &source, line.text, err);
	else if (line.kind >= SB_LINE_PROGRAM)
		status = sb_profile_take(maker, &source, &line, err);
	else if (own && line.kind == SB_LINE_CONNECT)
		status = sb_hosts_defer(maker, &source, &line, err);
	else if (own && line.kind == SB_LINE_SETTING && line.setting == SB_SETTING_NETWORK)
		maker->asks = true; /* there is nothing else to say */
	else if (line.kind == SB_LINE_CONNECT || line.kind == SB_LINE_LISTEN)
		status = sb_load_host(maker, &source, &line, err);
	else if (line.kind != SB_LINE_RULE)
		status = apply_setting(maker, &source, &line, err);
	else
		status = profile ? load_profile_rule(maker, reading, &source, &line, err)
				 : load_rules(maker, reading, &source, &line, err);
	return status;
}

/* Prefix an error with file and line, once: S7. */
static int name_line(struct sb_error *err, const char *path, size_t number)
{
	if (!err)
		return SB_E_INVALID;
	if (strncmp(err->message, "'/", 2) == 0 && strstr(err->message, "' line "))
		return err->code; /* from an included file */
	return sb_load_say_where(err, "'%s' line %zu: ", path, number);
}

/*
 * SECURITY: a rule file that is a link to nothing is no missing file.
 *
 * Danger: the link leads into a project, a command makes what it names, and that is the rules of the next run.
 * A static run cannot hold a name that is not there.
 * Price: who has such a link makes the file, or removes the link.
 * Held by: tests/cli/config_own.py
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
	struct sb_text_lines line = sb_text_lines(bytes, length);

	for (size_t number = 1; sb_next_line(&line); number++)
		if (load_line(maker, reading, number, line.text, line.length, err) != SB_OK)
			return name_line(err, reading->name, number);
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
	status = sb_list_push(&maker->setup.files, &maker->file_count, strdup(reading->path), err);
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

static int load_shipped(struct sb_maker *maker, const struct sb_shipped_profile *shipped,
			struct sb_error *err)
{
	char name[sizeof shipped->name + 16];
	const struct reading reading = {.tier = SB_TIER_PROFILE, .name = name};

	snprintf(name, sizeof name, "profile %s", shipped->name);
	return load_text(maker, &reading, sb_shipped_text + shipped->start, shipped->length, err);
}

static int load_profile(struct sb_maker *maker, const char *name, const char *file,
			struct sb_error *err)
{
	if (!file)
		return load_shipped(maker, sb_profile_shipped(name), err);
	if (sb_profile_is_in_project(maker, file))
		return refuse_projects(maker, file, err);
	return sb_load_file(maker, SB_TIER_PROFILE, file, NULL, true, err);
}

int sb_load_profiles(struct sb_maker *maker, struct sb_error *err)
{
	const struct sb_profile *profile = &maker->setup.profile;
	int status = profile->name ? load_profile(maker, profile->name, profile->file, err) : SB_OK;

	for (size_t i = 0; i < profile->tool_count && status == SB_OK; i++)
		status = load_profile(maker, profile->tools[i],
				      *profile->tool_files[i] ? profile->tool_files[i] : NULL, err);
	return status;
}
