/*
 * What judgements rest on: the policy, and a guard that asks it.
 */
#include "judge/judge_impl.h"
#include "path/pattern.h"
#include "policy/fast.h"

void sb_grounds_init(struct sb_grounds *grounds, const struct sb_policy *policy,
		     const struct sb_guard *guard)
{
	*grounds = (struct sb_grounds){.policy = policy, .guard = guard};
	if (sb_policy_protect_ignored(policy))
		sb_ignored_begin(&grounds->ignored);
}

/*
 * SECURITY: names in the run's own /tmp are not guarded.
 *
 * Danger: a tree that was prepared there gets a place where a program outside obeys it.  But the
 * directory is on a file system of the run's own, which ends with it, and is known by that, not by
 * its path: a project that lies in /tmp is on another.  Renames and links do not leave a mount
 * (EXDEV), so whatever comes out is made name by name, and judged where it arrives.
 * Price: what a program inside would obey there the run can write, as it can all of its memory.
 * Held by: tests/supervise/everyday.py, "its own /tmp"
 */
bool sb_has_guard(const struct sb_grounds *grounds, const struct sb_site *site)
{
	return grounds->guard && !site->in_proc && site->path[0] == '/' && !site->nameless &&
	       !sb_fast_holds(grounds->policy, site->path) &&
	       sb_policy_mode(grounds->policy) != SB_MODE_DANGER_FULL_ACCESS &&
	       !sb_own_temp_is_kept(grounds->own_temp, site->directory, site->path);
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
	return sb_row_is_opened(guard, sb_guard_context(guard), path, row);
}

/* Directories that the user's own rules open; not profiles', whose are agents' state. */
static const char *opened(void *policy, size_t *next)
{
	while (*next < sb_policy_count(policy)) {
		const struct sb_rule *rule = sb_policy_rule(policy, (*next)++);

		if (rule->tier > SB_TIER_PROFILE && !rule->temp && !rule->link &&
		    rule->access.verdict[SB_CREATE] == SB_ALLOW &&
		    !sb_pattern_is_glob(rule->pattern))
			return rule->pattern;
	}
	return NULL;
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
		.opened = opened,
		.home = home->home,
		.git_settings = home->git_settings,
		.homes = home->homes,
		.protect_ignored = sb_policy_protect_ignored(policy),
		.later = later,
		.view = home->view,
		.shadowed = home->shadowed,
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

void sb_judge_landed(const struct sb_grounds *grounds, const struct sb_judgement *judgement)
{
	for (size_t i = 0; grounds->guard && i < judgement->count; i++) {
		const struct sb_judged *judged = &judgement->all[i];

		/* also where something leaves: two may have changed places */
		if (judged->guard.verdict != SB_GUARD_PLAIN)
			sb_guard_linked(grounds->guard, judged->site->path, judged->guard.row);
	}
}
