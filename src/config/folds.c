#include "config/load.h"

#include "base/auto.h"
#include "path/path.h"
#include "policy/folding.h"
#include "sys/directory.h"

static int look(struct sb_policy *policy, const char *directory, struct sb_error *err)
{
	return directory && sb_sys_folds(directory) ? sb_policy_fold(policy, directory, err)
						    : SB_OK;
}

int sb_folds_find(struct sb_setup *setup, struct sb_error *err)
{
	struct sb_policy *policy = setup->policy;
	int status = look(policy, setup->home.home, err);

	for (size_t i = 0; status == SB_OK && setup->projects && setup->projects[i]; i++)
		status = look(policy, setup->projects[i], err);
	for (size_t i = 0; status == SB_OK && i < sb_policy_count(policy); i++) {
		const struct sb_pattern *pattern = sb_policy_pattern(policy, i);
		enum sb_tier tier = sb_policy_rule(policy, i)->tier;
		SB_AUTO_FREE char *parent = NULL;

		if (tier == SB_TIER_BUILTIN || tier == SB_TIER_PROFILE)
			continue;
		parent = sb_path_parent(pattern->prefix);
		status = look(policy, pattern->glob ? pattern->prefix : parent, err);
	}
	return status;
}
