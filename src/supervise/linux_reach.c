/*
 * linux_reach.c - what the policy allows and the performer cannot do: performer.h.
 */
#include <errno.h>
#include <string.h>

#include "base/auto.h"
#include "path/path.h"
#include "supervise/perform.h"
#include "supervise/performer.h"

/*
 * Is a name given or taken away where this process has no right to?  A rule for one file or
 * directory opens its name, too, which is its parent's.  (Not that of a project: it stays.)
 */
static bool is_name_out_of_reach(const struct sb_performer *performer,
				 const struct sb_judged *judged)
{
	SB_AUTO_FREE char *parent = NULL;

	if ((judged->op != SB_CREATE && judged->op != SB_DELETE) || !judged->decision.rule ||
	    judged->decision.rule->tier == SB_TIER_BUILTIN)
		return false;
	parent = sb_path_parent(judged->site->path);
	return parent && sb_plan_state_at(performer->plan, parent) != SB_STATE_WRITABLE;
}

/*
 * A file that a rule names is a mount point, and stays one where it is moved to: there it is in the
 * way of this process alone.  Whatever the plan has put where it is stays.
 */
static bool is_moved_mount(const struct sb_performer *performer, const char *path)
{
	const struct sb_plan *plan = performer->plan;

	for (size_t i = 0; i < plan->node_count; i++)
		if (strcmp(plan->nodes[i].path, path) == 0)
			return false;
	return true;
}

/*
 * A user namespace that nobody with privileges has set up knows one user and one group, and takes any
 * other for invalid, the caller's further groups among them: user_namespaces(7).  Outside the
 * kernel decides as without a sandbox.  The numbers are the same there.
 */
static bool is_unknown_owner(const struct sb_call *call, int error)
{
	static const char lists[] = "system.posix_acl_";

	return error == EINVAL &&
	       (call->act == SB_ACT_CHOWN || (call->act == SB_ACT_SETXATTR &&
					      strncmp(call->text, lists, sizeof lists - 1) == 0));
}

bool sb_broker_is_out_of_reach(const struct sb_performer *performer, const struct sb_call *call,
			       const struct sb_judgement *judgement, int error)
{
	if (is_unknown_owner(call, error))
		return true;
	if (error != EROFS && error != EACCES && error != EPERM && error != EXDEV && error != EBUSY)
		return false;
	if (call->act == SB_ACT_ACCESS && error != EROFS)
		return false;
	if (error == EBUSY &&
	    (sb_perform_is_dots(judgement->sites[0].name) ||
	     (judgement->sites[1].name && sb_perform_is_dots(judgement->sites[1].name))))
		return false;
	/* of a directory that was removed and made anew the mount is gone */
	if (error == EROFS)
		return true;
	for (size_t i = 0; i < judgement->count; i++) {
		const struct sb_judged *judged = &judgement->all[i];
		const char *path = judged->site->path;

		if (path[0] && (sb_plan_state_at(performer->plan, path) != SB_STATE_WRITABLE ||
				is_name_out_of_reach(performer, judged) ||
				(error == EBUSY && is_moved_mount(performer, path))))
			return true;
	}
	return false;
}
