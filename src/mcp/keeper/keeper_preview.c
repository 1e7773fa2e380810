/*
 * keeper_preview.c - what a command would change, asked about before it starts (C7): consent/agreed.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "mcp/keeper/keeper_impl.h"
#include "path/path.h"

static bool is_granted(const struct keeper *keeper, const struct keeper_needs *needs,
		       const struct sb_agreed *write)
{
	const struct keeper_subject subject = {
		.op = write->op, .thing = write->thing, .path = write->path};

	for (size_t i = 0; i < needs->outside_count; i++)
		if (sb_path_within(needs->outside[i], write->path))
			return true;
	return sb_approvals_find(keeper->ahead, &subject, true) ||
	       sb_keeper_recall(keeper, write->op, write->path, false) != SB_ANSWER_NONE;
}

void sb_needs_preview(const struct keeper *keeper, const char *command, const char *directory,
		      struct keeper_needs *out)
{
	const struct sb_setup *setup = keeper->options->setup;
	const struct sb_preview_options options = {
		.size = sizeof options, .directory = directory, .home = setup->home.home};
	struct sb_agreed_list found;
	size_t kept = 0;

	sb_agreed_find(setup->policy, command, &options, &found, NULL);
	for (size_t i = 0; i < found.count; i++) {
		bool granted = is_granted(keeper, out, &found.all[i]);

		/* as many as a question has lines for; the others ask when they happen */
		found.unsaid |= !granted && kept + out->outside_count >= SB_NEEDS_WRITES;
		if (granted || kept + out->outside_count >= SB_NEEDS_WRITES)
			free(found.all[i].path);
		else
			found.all[kept++] = found.all[i];
	}
	found.count = kept;
	out->writes = found;
	out->asks |= kept > 0;
}

struct keeper_approval *sb_needs_agreed(const struct keeper_needs *needs)
{
	struct keeper_approval *agreed = NULL;

	for (size_t i = 0; i < needs->writes.count; i++) {
		struct keeper_subject subject = {.op = needs->writes.all[i].op,
						 .thing = needs->writes.all[i].thing,
						 .path = needs->writes.all[i].path};

		sb_approvals_add(&agreed, &subject, true);
		if (subject.op != SB_CREATE)
			continue;
		subject.op = SB_MODIFY; /* what it has made it may go on writing */
		sb_approvals_add(&agreed, &subject, true);
	}
	return agreed;
}
