/*
 * moved.c - what a directory takes along when it is renamed.
 */
#include <string.h>

#include "path/path.h"
#include "policy/policy_impl.h"

/* Could the pattern, which has wildcards, mean something beneath path?  Path itself does not count. */
static bool reaches_beneath(const struct sb_pattern *pattern, const char *path)
{
	const char *glob = pattern->glob, *rest;

	if (sb_path_within(path, pattern->prefix))
		return true;
	if (!sb_path_within(pattern->prefix, path))
		return false;
	rest = path + (strcmp(pattern->prefix, "/") == 0 ? 0 : strlen(pattern->prefix));
	while (*rest == '/')
		rest++;
	while (*rest) {
		size_t name = strcspn(rest, "/"), part = strcspn(glob, "/");

		if (part == 2 && memcmp(glob, "**", 2) == 0)
			return true;
		if (!part || !sb_glob_name(glob, part, rest, name))
			return false;
		rest += name + (rest[name] == '/');
		glob += part + (glob[part] == '/');
	}
	return *glob;
}

/* "P" and then any directories: the same names are meant wherever in P they go. */
static bool means_the_same(const struct sb_pattern *pattern, const char *path, const char *other)
{
	return other && strncmp(pattern->glob, "**", 2) == 0 &&
	       sb_path_within(pattern->prefix, path) && sb_path_within(pattern->prefix, other);
}

struct sb_decision sb_decide_moved(const struct sb_policy *policy, enum sb_op op, const char *path,
				   const char *other)
{
	struct sb_decision strictest = sb_decide_beneath(policy, op, path);

	if (sb_policy_mode(policy) == SB_MODE_DANGER_FULL_ACCESS)
		return strictest;
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);
		const struct sb_pattern *pattern = sb_policy_pattern(policy, i);

		if (pattern->glob && rule->access.verdict[op] > strictest.verdict &&
		    reaches_beneath(pattern, path) && !means_the_same(pattern, path, other))
			strictest = (struct sb_decision){rule->access.verdict[op], rule};
	}
	return strictest;
}
