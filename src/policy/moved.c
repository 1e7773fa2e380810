/*
 * moved.c - what a directory takes along when it is renamed.
 */
#include <string.h>

#include "path/path.h"
#include "policy/policy_impl.h"

/* Could one of the directories that glob names, all but its last part, be called like one in path? */
static bool names_one_of(const char *glob, const char *path)
{
	for (const char *slash; (slash = strchr(glob, '/')); glob = slash + 1) {
		size_t part = (size_t)(slash - glob);

		for (const char *name = path; *name; name += strspn(name, "/")) {
			size_t length = strcspn(name, "/");

			if ((part == 2 && memcmp(glob, "**", 2) == 0) ||
			    sb_glob_name(glob, part, name, length))
				return true;
			name += length;
		}
	}
	return false;
}

/*
 * "P", any directories, and then one name: the same files are meant wherever in P they go.  With more parts, only
 * if no directory that gets another name is one of those.
 */
static bool means_the_same(const struct sb_pattern *pattern, const char *path, const char *other)
{
	size_t shared = 0;

	if (!other || !sb_path_within(pattern->prefix, path) ||
	    !sb_path_within(pattern->prefix, other))
		return false;
	if (strncmp(pattern->glob, "**/", 3) != 0)
		return strcmp(pattern->glob, "**") == 0;
	for (size_t i = 0; path[i] && path[i] == other[i]; i++)
		if (path[i] == '/')
			shared = i + 1;
	return !names_one_of(pattern->glob + 3, path + shared) &&
	       !names_one_of(pattern->glob + 3, other + shared);
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
		    sb_pattern_reaches(pattern, path) && !means_the_same(pattern, path, other))
			strictest = (struct sb_decision){rule->access.verdict[op], rule};
	}
	return strictest;
}
