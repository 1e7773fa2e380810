#include "policy/fast.h"

#include <string.h>

#include "path/path.h"
#include "policy/policy_impl.h"

size_t sb_fast_count(const struct sb_policy *policy)
{
	return policy->fast_count;
}

const char *sb_fast_root(const struct sb_policy *policy, size_t i)
{
	return policy->fast[i];
}

bool sb_fast_holds(const struct sb_policy *policy, const char *path)
{
	for (size_t i = 0; i < policy->fast_count; i++)
		if (sb_path_within(policy->fast[i], path) && strcmp(policy->fast[i], path) != 0)
			return true;
	return false;
}

bool sb_fast_is_or_holds(const struct sb_policy *policy, const char *path)
{
	for (size_t i = 0; i < policy->fast_count; i++)
		if (sb_path_within(policy->fast[i], path))
			return true;
	return false;
}

/* Is path a fast root, or a directory around one? */
static bool takes_along(const struct sb_policy *policy, const char *path)
{
	for (size_t i = 0; i < policy->fast_count; i++)
		if (sb_path_within(path, policy->fast[i]))
			return true;
	return false;
}

bool sb_fast_crosses(const struct sb_policy *policy, const char *from, const char *to)
{
	return policy->fast_count && (sb_fast_holds(policy, from) != sb_fast_holds(policy, to) ||
				      takes_along(policy, from) || takes_along(policy, to));
}
