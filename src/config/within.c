#include "config/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/policy_impl.h"
#include "policy/text.h"

/* The innermost project that path lies in; NULL: none. */
static const char *project_of(const struct sb_maker *maker, const char *path)
{
	const char *found = NULL;

	for (size_t i = 0; maker->setup.projects[i]; i++) {
		const char *project = maker->setup.projects[i];

		if (sb_path_within(project, path) && (!found || strlen(project) > strlen(found)))
			found = project;
	}
	return found;
}

/* "PROJECT/XX/name", XX being two asterisks, means in root what "ROOT/XX/name" does. */
static int repeat_in(struct sb_maker *maker, const struct sb_rule *rule, const char *glob,
		     const char *root, struct sb_error *err)
{
	SB_AUTO_FREE char *escaped = sb_pattern_escape(root);
	SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);
	struct sb_rule copy = *rule;

	if (escaped)
		sb_buf_printf(&text, "%s/%s", escaped, glob);
	if (!escaped || sb_buf_failed(&text))
		return sb_no_memory(err);
	copy.tier = SB_TIER_BUILTIN;
	copy.pattern = text.data;
	return sb_policy_add(maker->setup.policy, &copy, err);
}

/*
 * SECURITY: a rule for root must not answer where another one does now.
 *
 * Danger: a rule for "P/a/b" is more specific than the user's "read P/a" or "deny P/X/Y.key"
 * with wildcards.  Whoever asks for less (--within is what a client's roots become) would get
 * more.
 * Price: where such a rule is in the way and cannot be repeated beneath root, root stays
 * closed, with a warning.
 * Held by: tests/cli/within.py
 */
static const struct sb_rule *find_loosened(const struct sb_policy *policy, const char *project,
					   const struct sb_pattern *root,
					   const struct sb_pattern *whole, size_t *at)
{
	for (; *at < sb_policy_count(policy); ++*at) {
		const struct sb_rule *rule = sb_policy_rule(policy, *at);
		const struct sb_pattern *pattern = sb_policy_pattern(policy, *at);

		if (sb_access_equal(&rule->access, &sb_access_write) ||
		    !sb_path_within(pattern->prefix, root->prefix))
			continue;
		if (pattern->glob && sb_pattern_compare(pattern, root) < 0 &&
		    sb_pattern_compare(pattern, whole) >= 0)
			return rule;
		if (!pattern->glob && sb_path_within(project, pattern->prefix) &&
		    strcmp(pattern->prefix, root->prefix) != 0)
			return rule;
	}
	return NULL;
}

/* Built-in rules guard such names, and are less specific than root. */
static bool has_hidden_name(const char *project, const char *root)
{
	const char *rest = root + strlen(project);

	return strstr(rest, "/.") != NULL;
}

static int open_root(struct sb_maker *maker, const char *project, const char *root,
		     struct sb_error *err)
{
	__attribute__((cleanup(sb_pattern_done))) struct sb_pattern pattern = {0}, whole = {0};
	SB_AUTO_FREE char *text = sb_pattern_escape(root), *whole_text = sb_pattern_escape(project);
	size_t at = 0, count = sb_policy_count(maker->setup.policy);
	const struct sb_rule *rule;
	int status = text && whole_text ? sb_pattern_parse(text, &pattern, err) : sb_no_memory(err);

	if (status == SB_OK)
		status = sb_pattern_parse(whole_text, &whole, err);
	if (status == SB_OK && has_hidden_name(project, root))
		return sb_maker_warn(maker, err, "'%s' stays closed: it lies in a hidden directory",
				     root);
	while (status == SB_OK && strcmp(root, project) != 0 && at < count &&
	       (rule = find_loosened(maker->setup.policy, project, &pattern, &whole, &at))) {
		const char *glob = sb_policy_pattern(maker->setup.policy, at)->glob;

		if (!glob || strncmp(glob, "**/", 3) != 0)
			return sb_maker_warn(maker, err, "'%s' stays closed: %s would be loosened",
					     root, rule->origin);
		status = repeat_in(maker, rule, glob, root, err);
		at++;
	}
	return status == SB_OK
		       ? sb_list_push(&maker->setup.within, &maker->within_count, strdup(root), err)
		       : status;
}

static int take_one(struct sb_maker *maker, const char *given, struct sb_error *err)
{
	SB_AUTO_FREE char *absolute = NULL, *path = NULL;
	const char *project;
	struct stat info;
	int missing = 0, status;
	bool covers = false;

	status = sb_path_expand(given, maker->setup.home.cwd, maker->setup.home.home, &absolute,
				err);
	if (status == SB_OK)
		status = sb_path_canonical(absolute, &path, &missing, err);
	if (status != SB_OK)
		return status;
	if (missing || stat(path, &info) != 0)
		return sb_fail(err, SB_E_MISSING, missing ? missing : errno, "cannot open '%s'",
			       given);
	if (!S_ISDIR(info.st_mode))
		return sb_fail(err, SB_E_INVALID, ENOTDIR, "cannot open '%s'", given);
	project = project_of(maker, path);
	if (project)
		return open_root(maker, project, path, err);
	/* around projects: all of these */
	for (size_t i = 0; maker->setup.projects[i] && status == SB_OK; i++)
		if (sb_path_within(path, maker->setup.projects[i])) {
			covers = true;
			status = sb_list_push(&maker->setup.within, &maker->within_count,
					      strdup(maker->setup.projects[i]), err);
		}
	if (status == SB_OK && !covers)
		return sb_fail(err, SB_E_INVALID, 0, "--within='%s' lies in no project", given);
	return status;
}

int sb_within_find(struct sb_maker *maker, struct sb_error *err)
{
	const char *const *given = maker->request->within;
	int status = SB_OK;

	if (!given || !given[0])
		return SB_OK;
	/* none at all is a list, too: all of them may stay closed */
	maker->setup.within = calloc(1, sizeof *maker->setup.within);
	if (!maker->setup.within)
		return sb_no_memory(err);
	for (size_t i = 0; given[i] && status == SB_OK; i++)
		status = take_one(maker, given[i], err);
	return status;
}
