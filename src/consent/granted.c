#include "consent/granted.h"

#include <fcntl.h>
#include <string.h>

#include "base/auto.h"
#include "consent/overrule.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/text.h"

static int refuse(const char *directory, const char *why, struct sb_error *err)
{
	return sb_fail(err, SB_E_REFUSED, 0, "--grant='%s': %s", directory, why);
}

int sb_granted_add(struct sb_policy *policy, const char *directory, const char *home,
		   struct sb_error *err)
{
	SB_AUTO_FREE char *canonical = NULL;
	SB_AUTO_FREE char *text = sb_pattern_escape(directory);
	SB_AUTO_FD int fd = -1;
	struct sb_rule rule = {.access = sb_access_write,
			       .tier = SB_TIER_SESSION,
			       .pattern = text,
			       .origin = "granted for this run"};
	const struct sb_rule *stronger;
	int missing = 0, status;

	if (!text)
		return sb_no_memory(err);
	if (directory[0] != '/')
		return refuse(directory, "is no absolute path", err);
	status = sb_path_canonical(directory, &canonical, &missing, err);
	if (status != SB_OK)
		return status;
	if (missing || strcmp(canonical, directory) != 0)
		return refuse(directory, missing ? "is not there" : "a link leads there", err);
	if (sb_path_within(directory, home))
		return refuse(directory, "holds the home directory", err);
	fd = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return refuse(directory, "is no directory", err);
	stronger = sb_overruled(policy, directory, &rule.access, NULL);
	if (stronger)
		return sb_fail(err, SB_E_REFUSED, 0, "--grant='%s': %s says otherwise", directory,
			       stronger->origin);
	return sb_policy_add(policy, &rule, err);
}
