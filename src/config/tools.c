#include "config/load.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "config/place.h"
#include "config/profile.h"
#include "guard/guard.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/text.h"
#include "sys/directory.h"

#define USUAL ".cache" /* in the home directory, without $XDG_CACHE_HOME */

/* --- which there are ------------------------------------------------------------------------ */

#define MAX_LISTED 128 /* names; more are not read sooner than twenty files are looked for */

/* The bit of a name.  Where a file system does not mind case, the tool does not either. */
static bool name_bit(uint64_t *names, const char *name, size_t length, bool set)
{
	uint64_t *word = &names[tolower((unsigned char)*name) % SB_MAKER_NAMES];
	uint64_t bit = UINT64_C(1) << length % 64;

	*word |= set ? bit : 0;
	return *word & bit;
}

/* The names at the top of the projects, unless there are many. */
static void list_names(struct sb_maker *maker)
{
	const struct dirent64 *entry;
	int left = MAX_LISTED;

	maker->names_listed = true;
	for (size_t i = 0; maker->setup.projects[i] && maker->names_listed; i++) {
		struct sb_sys_dir dir;

		if (sb_sys_dir_open(&dir, maker->setup.projects[i]) < 0) {
			maker->names_listed = false;
			return;
		}
		while (left-- > 0 && (entry = sb_sys_dir_next(&dir)))
			name_bit(maker->names, entry->d_name, strlen(entry->d_name), true);
		maker->names_listed = left > 0 && dir.error == 0;
		sb_sys_dir_close(&dir);
	}
}

/* Is a file of that name at the top of a project?  What is in it does not matter. */
static bool is_at_top(const char *project, const char *name)
{
	SB_AUTO_FREE char *path = sb_path_join(project, name);
	struct stat info;

	return path && lstat(path, &info) == 0 && (S_ISREG(info.st_mode) || S_ISLNK(info.st_mode));
}

static bool has_file(struct sb_maker *maker, const char *words)
{
	for (const char *at = words; *at;) {
		size_t width = strcspn(at, " \t");
		bool maybe = !maker->names_listed || name_bit(maker->names, at, width, false);
		SB_AUTO_FREE char *name = maybe ? strndup(at, width) : NULL;

		for (size_t i = 0; name && width && maker->setup.projects[i]; i++)
			if (is_at_top(maker->setup.projects[i], name))
				return true;
		at += width;
		at += strspn(at, " \t");
	}
	return false;
}

static bool is_known(const struct sb_profile *profile, const char *name)
{
	return (profile->name && strcmp(profile->name, name) == 0) ||
	       sb_list_has((const char *const *)profile->tools, name);
}

static int add(struct sb_maker *maker, const char *name, const char *file, struct sb_error *err)
{
	struct sb_profile *profile = &maker->setup.profile;
	int status = sb_list_push(&profile->tools, &profile->tool_count, strdup(name), err);

	return status == SB_OK ? sb_list_push(&profile->tool_files, &profile->tool_file_count,
					      strdup(file), err)
			       : status;
}

static int add_users(void *context, const char *name, const char *file, struct sb_error *err)
{
	struct sb_maker *maker = context;

	return !is_known(&maker->setup.profile, name) &&
			       sb_profile_counts(maker, name, file, has_file)
		       ? add(maker, name, file, err)
		       : SB_OK;
}

int sb_tools_find(struct sb_maker *maker, struct sb_error *err)
{
	const char *chosen = maker->request->profile;
	int status;

	if (chosen && strcmp(chosen, SB_NO_PROFILE) == 0)
		return SB_OK;
	list_names(maker);
	status = sb_profile_users(&maker->setup.home, add_users, maker, err);
	for (size_t i = 0; i < sb_shipped_profile_count && status == SB_OK; i++) {
		const struct sb_shipped_profile *shipped = &sb_shipped_profiles[i];

		if (!is_known(&maker->setup.profile, shipped->name) &&
		    has_file(maker, shipped->project_files))
			status = add(maker, shipped->name, "", err);
	}
	return status;
}

/* --- the project's own directory ------------------------------------------------------------ */

/* A directory for caches says so: ~/.cache, /var/cache/me, /big/xdg-cache. */
static bool is_for_caches(const char *path)
{
	return strcasestr(strrchr(path, '/'), "cache") != NULL;
}

/*
 * Where caches lie: not where a variable, which may be the project's word, leads into a project, or to what is for
 * something else (~/.ssh, where not even an empty directory of ours belongs).
 */
static int find_base(const struct sb_maker *maker, char **out, struct sb_error *err)
{
	const struct sb_environment *environment = &maker->request->environment;
	const char *value = environment->variable ? environment->variable("XDG_CACHE_HOME") : NULL;
	const char *home = maker->setup.home.home;
	int status = SB_OK;

	if (value && value[0] == '/') {
		status = sb_path_canonical(value, out, NULL, err);
		if (status != SB_OK ||
		    (is_for_caches(*out) && !sb_profile_is_broad(maker, USUAL, *out)))
			return status;
		free(sb_take_ptr(out));
	}
	return sb_path_canonical_beneath(home, "/" USUAL, out, NULL, err);
}

/* Rules, answers and records lie there, some under the very name that a cache would get. */
static bool is_for_rules(const struct sb_home *home, const char *ours)
{
	return sb_path_within(home->config_dir, ours) || sb_path_within(home->state_dir, ours) ||
	       strcmp(ours, SB_SYSTEM_DIR) == 0;
}

/*
 * SECURITY: no link leads from the name of the directory to another.
 *
 * Danger: a run whose rules open ~/.cache makes its own a link to ~/.ssh, and the next run opens that.
 * What lies in the directory is the commands' alone: nothing of it is looked at from here.
 * Price: who wants it elsewhere sets $XDG_CACHE_HOME, or makes ~/.cache the link.
 * Held by: tests/cli/tool_profiles.py
 */
static int find_cache(struct sb_maker *maker, char **out, struct sb_error *err)
{
	SB_AUTO_FREE char *base = NULL, *ours = NULL, *path = NULL, *canonical = NULL;
	int missing, status = find_base(maker, &base, err);

	if (status != SB_OK)
		return status;
	ours = sb_path_join(base, SB_GUARD_CACHES);
	path = ours ? sb_directory_in(ours, maker->setup.projects[0]) : NULL;
	if (!path)
		return sb_no_memory(err);
	if (is_for_rules(&maker->setup.home, ours))
		return sb_maker_warn(
			maker, err,
			"XDG_CACHE_HOME leads to '%s', which holds sandbash's own files: "
			"the project has no caches of its own",
			ours);
	status = sb_path_canonical_beneath(base, path + strlen(base), &canonical, &missing, err);
	if (status != SB_OK)
		return status;
	if (strcmp(path, canonical) != 0)
		return sb_maker_warn(maker, err,
				     "'%s' is reached by a link: the project has no caches of its "
				     "own",
				     path);
	*out = sb_take_ptr(&path);
	return SB_OK;
}

/*
 * SECURITY: nothing is guarded there.
 *
 * Packages hold .vscode, .envrc and .cargo/config.toml, and tools unpack them.  Nobody works in the directory,
 * so nobody obeys them; and as in every fast root nothing gets out by a rename or a link.
 * Where a rule of the user's is about names in it ("deny **.pem") it is a directory as any other: setup.c.
 * Held by: tests/cli/tool_profiles.py
 */
static int open_cache(struct sb_maker *maker, const struct sb_rule_source *source,
		      struct sb_error *err)
{
	struct sb_profile *profile = &maker->setup.profile;
	SB_AUTO_FREE char *pattern = sb_pattern_escape(profile->cache);
	struct sb_line line = {.kind = SB_LINE_RULE, .access = sb_access_write, .text = pattern};
	struct sb_rule_source made = *source;
	bool there = sb_path_is_directory(profile->cache);
	int status = SB_OK;

	if (!there && maker->request->makes) {
		status = sb_profile_make_directory(profile->cache, err);
		there = sb_path_is_directory(profile->cache);
	}
	if (status != SB_OK)
		return status;
	if (!pattern)
		return sb_no_memory(err);
	/* ~/.cache may be the project: then somebody works there */
	profile->fast_cache = line.fast =
		there && !maker->request->guarded_cache &&
		!sb_path_within_any((const char *const *)maker->setup.projects, profile->cache);
	made.makes = !there;
	made.cache = true;
	made.base = maker->setup.home.cwd;
	return sb_load_rule(maker, &made, &line, err);
}

/* --- the variables -------------------------------------------------------------------------- */

/* Has the user set it?  What a run around this one has set for the same project is no other. */
static bool is_set(const struct sb_maker *maker, const char *variable)
{
	const struct sb_environment *environment = &maker->request->environment;
	SB_AUTO_FREE char *name = strndup(variable, strcspn(variable, "="));
	const char *value;

	if (!name || !environment->variable)
		return false;
	value = environment->variable(name);
	if (value)
		return strcmp(value, variable + strlen(name) + 1) != 0;
	for (char *at = name; *at; at++) /* npm takes its own in capitals as well */
		*at = (char)toupper((unsigned char)*at);
	return environment->variable(name) != NULL;
}

static char *fill_in(const char *variable, const char *cache)
{
	const char *mark = strstr(variable, SB_CACHE_WORD);
	SB_AUTO_BUF struct sb_buf out = SB_BUF(64 * 1024);

	sb_buf_append(&out, variable, (size_t)(mark - variable));
	sb_buf_puts(&out, cache);
	sb_buf_puts(&out, mark + strlen(SB_CACHE_WORD));
	return sb_buf_take(&out);
}

/* A value that holds more than a path is split at blanks by whoever reads it. */
static bool can_hold(const char *variable, const char *cache)
{
	const char *mark = strstr(variable, SB_CACHE_WORD);

	return mark == strchr(variable, '=') + 1 || !strpbrk(cache, " \t'\"\\$*?[");
}

int sb_tool_cache(struct sb_maker *maker, const struct sb_rule_source *source, const char *text,
		  struct sb_error *err)
{
	struct sb_profile *profile = &maker->setup.profile;
	size_t length = strcspn(text, " \t");
	const char *variable = text + length + strspn(text + length, " \t");
	SB_AUTO_FREE char *usual = strndup(text, length);
	SB_AUTO_FREE char *absolute = NULL, *filled = NULL;
	int status = SB_OK;

	if (!profile->cache && !profile->no_cache) {
		status = find_cache(maker, &profile->cache, err);
		profile->no_cache = !profile->cache;
	}
	if (status != SB_OK || !profile->cache || !can_hold(variable, profile->cache))
		return status;
	filled = fill_in(variable, profile->cache);
	if (!filled || !usual)
		return sb_no_memory(err);
	if (is_set(maker, filled))
		return SB_OK;
	if (!profile->cache_count)
		status = open_cache(maker, source, err);
	if (status == SB_OK)
		status = sb_path_expand(usual, maker->setup.home.cwd, maker->setup.home.home,
					&absolute, err);
	if (status == SB_OK)
		status = sb_list_push(&profile->replaced, &profile->replaced_count,
				      sb_take_ptr(&absolute), err);
	return status == SB_OK ? sb_list_push(&profile->caches, &profile->cache_count,
					      sb_take_ptr(&filled), err)
			       : status;
}

/* Who has opened the usual place wants that. */
static bool is_open(const struct sb_setup *setup, const char *usual)
{
	const char *home = setup->home.home; /* canonical: walk only what lies beneath */
	const char *base = sb_path_within(home, usual) ? home : "/";
	SB_AUTO_FREE char *inside = sb_path_join(usual, "x");
	SB_AUTO_FREE char *canonical = NULL;

	return inside &&
	       sb_path_canonical_beneath(base, inside + (base == home ? strlen(home) : 0),
					 &canonical, NULL, NULL) == SB_OK &&
	       sb_decide(setup->policy, SB_CREATE, canonical).verdict == SB_ALLOW;
}

int sb_tools_settle(struct sb_setup *setup, struct sb_error *err)
{
	struct sb_profile *profile = &setup->profile;
	int status = SB_OK;

	if (sb_policy_mode(setup->policy) != SB_MODE_WORKSPACE_WRITE)
		return SB_OK;
	for (size_t i = 0; i < profile->cache_count && status == SB_OK; i++)
		if (!is_open(setup, profile->replaced[i]))
			status = sb_list_push(&profile->environment, &profile->environment_count,
					      strdup(profile->caches[i]), err);
	return status;
}
