/*
 * What judgements rest on: the policy, and a guard that asks it.
 */
#include "judge/judge_impl.h"
#include "policy/fast.h"

void sb_grounds_init(struct sb_grounds *grounds, const struct sb_policy *policy,
		     const struct sb_guard *guard)
{
	*grounds = (struct sb_grounds){.policy = policy, .guard = guard};
	if (sb_policy_protect_ignored(policy))
		sb_ignored_begin(&grounds->ignored);
}

/* Whatever may be made there unasked is guarded, but in fast roots. */
static bool in_guarded_root(void *policy, const char *path)
{
	return sb_decide(policy, SB_CREATE, path).verdict == SB_ALLOW &&
	       !sb_fast_is_or_holds(policy, path);
}

/* The temporary directories that the run has for itself, where it can. */
static bool is_private(void *policy, const char *path)
{
	struct sb_decision decision = sb_decide(policy, SB_CREATE, path);

	return decision.rule && decision.rule->temp;
}

static bool is_unguarded(void *policy, const char *path)
{
	return sb_fast_is_or_holds(policy, path);
}

/* Would a single name, made there, be opened by a rule? */
static bool is_opened(const struct sb_guard *guard, const char *path,
		      const struct sb_guard_row *row)
{
	const struct sb_policy *policy = sb_guard_context(guard);
	const struct sb_site site = {.path = path};
	const struct sb_judged judged = {.op = SB_CREATE,
					 .site = &site,
					 .decision = sb_decide(policy, SB_CREATE, path),
					 .guard = {.row = row}};

	return judged.decision.verdict == SB_ALLOW && judged.decision.rule &&
	       sb_rules_open(guard, policy, &judged, true);
}

static int make_guard(const struct sb_policy *policy, const char *const *projects,
		      const struct sb_guard_home *home, bool later, struct sb_guard **out,
		      struct sb_error *err)
{
	struct sb_guard_options options = {
		.size = sizeof options,
		.in_guarded_root = in_guarded_root,
		.is_private = is_private,
		.is_unguarded = is_unguarded,
		.is_opened = is_opened,
		.context = (void *)policy,
		.projects = projects,
		.home = home->home,
		.git_settings = home->git_settings,
		.homes = home->homes,
		.protect_ignored = sb_policy_protect_ignored(policy),
		.later = later,
	};

	return sb_guard_new(&options, out, err);
}

int sb_grounds_guard(const struct sb_policy *policy, const char *const *projects,
		     const struct sb_guard_home *home, struct sb_guard **out, struct sb_error *err)
{
	return make_guard(policy, projects, home, false, out, err);
}

int sb_grounds_guard_later(const struct sb_policy *policy, const char *const *projects,
			   const struct sb_guard_home *home, struct sb_guard **out,
			   struct sb_error *err)
{
	return make_guard(policy, projects, home, true, out, err);
}
