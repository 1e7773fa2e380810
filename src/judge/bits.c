/*
 * bits.c - whose rights a file gives: the set-user-ID and set-group-ID bits where a person has opened a directory.
 *
 * SECURITY: no answer but one to itself covers these bits.
 *
 * Danger: who has opened a directory to changes, for a run or for good, was asked about files in it, and not about
 * one that gives whoever runs it the rights of its owner.  In a project such files may be made, and must not get
 * there by another way: a second name shares the bits that the first one gets later, and a directory brings what is
 * in it at that moment.
 * Price: between a project and such a directory nothing is linked, and no directory renamed: commands are told of two
 * disks, and copy.  A rule in the configuration of a directory may be an answer "always", so all of them count as one;
 * one for the file itself does not.
 * Held by: tests/supervise/bits.py
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "judge/judge_impl.h"
#include "path/pattern.h"
#include "policy/policy_impl.h"

static const struct sb_rule as_owner =
	SB_ASKS("built-in: whoever runs it may get its owner's rights");

static bool may_be_answer(const struct sb_rule *rule)
{
	return rule->tier == SB_TIER_SESSION || rule->tier == SB_TIER_DIRECTORY;
}

/* Is it about this one file? */
static bool is_itself(const struct sb_rule *rule, const struct sb_pattern *pattern,
		      const struct sb_site *site)
{
	const char *name = strrchr(site->path, '/');
	char parent[PATH_MAX];

	if (rule->tier == SB_TIER_SESSION || S_ISDIR(site->mode) || pattern->glob)
		return false;
	snprintf(parent, sizeof parent, "%.*s", (int)(name - site->path), site->path);
	return parent[0] && !sb_pattern_covers(pattern, parent);
}

/* Does an answer alone allow it? */
static bool is_answered(const struct sb_policy *policy, enum sb_op op,
			const struct sb_decision *decision, const struct sb_site *site)
{
	if (decision->verdict != SB_ALLOW || !decision->rule || !may_be_answer(decision->rule))
		return false;
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);
		const struct sb_pattern *pattern = sb_policy_pattern(policy, i);

		if (rule->access.verdict[op] == SB_ALLOW &&
		    (!may_be_answer(rule) || is_itself(rule, pattern, site)) &&
		    sb_pattern_covers(pattern, site->path))
			return false;
	}
	return true;
}

static void heed_bits(const struct sb_grounds *grounds, struct sb_judged *judged)
{
	if (!judged->site->nameless && !sb_is_danger(grounds) &&
	    is_answered(grounds->policy, judged->op, &judged->decision, judged->site))
		judged->decision = (struct sb_decision){SB_ASK, &as_owner};
}

/*
 * A second name shares what the first one gets: one of the two may be where nobody has looked at it, be it linked in this
 * run, by an earlier one, or by whoever.  So a file that has several gets the bits by a rule for itself alone.
 */
void sb_heed_set_bits(const struct sb_grounds *grounds, struct sb_judged *judged)
{
	const struct sb_site *site = judged->site;
	const struct sb_rule *rule = judged->decision.rule;

	heed_bits(grounds, judged);
	if (judged->decision.verdict != SB_ALLOW || !site->has_more_names || site->nameless ||
	    sb_is_danger(grounds) ||
	    (rule && rule->tier != SB_TIER_BUILTIN && sb_pattern_names(rule->pattern, site->path)))
		return;
	judged->decision = (struct sb_decision){SB_ASK, &as_owner};
	judged->why = SB_WHY_RULE;
}

bool sb_may_get_bits(const struct sb_grounds *grounds, const struct sb_site *from)
{
	return from->nameless || from->path[0] != '/' ||
	       sb_decide(grounds->policy, SB_MODIFY, from->path).verdict == SB_ALLOW;
}

void sb_heed_brought_bits(const struct sb_grounds *grounds, const struct sb_site *from, mode_t mode,
			  struct sb_judged *judged)
{
	if (!S_ISDIR(mode) && !(S_ISREG(mode) && (mode & (S_ISUID | S_ISGID))))
		return;
	judged->brings_bits = sb_may_get_bits(grounds, from);
	if (sb_judge_brings_bits(grounds->policy, from->nameless ? "" : from->path,
				 judged->site->path))
		heed_bits(grounds, judged);
}

bool sb_judge_brings_bits(const struct sb_policy *policy, const char *from, const char *to)
{
	const struct sb_site site = {.path = to};
	struct sb_decision decision = sb_decide(policy, SB_CREATE, to);

	return is_answered(policy, SB_CREATE, &decision, &site) &&
	       (from[0] != '/' || sb_decide(policy, SB_CREATE, from).rule != decision.rule);
}
