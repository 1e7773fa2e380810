/* policy_made.h - a policy made rule by rule, and what it says. */
#ifndef POLICY_MADE_H
#define POLICY_MADE_H

#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "path/pattern.h"
#include "policy/text.h"
#include "sandbash/policy.h"

static inline void add_rule(struct sb_policy *policy, const struct sb_rule *rule)
{
	struct sb_error err = {0};

	if (sb_policy_add(policy, rule, &err) != SB_OK)
		fail_msg("%s: %s", rule->pattern, err.message);
}

static inline struct sb_access access_of(const char *word)
{
	struct sb_access access;

	assert_int_equal(sb_access_parse(word, strlen(word), &access, NULL), SB_OK);
	return access;
}

static inline void add(struct sb_policy *policy, enum sb_tier tier, const char *access,
		       const char *pattern)
{
	add_rule(policy, &(struct sb_rule){.access = access_of(access),
					   .tier = tier,
					   .pattern = pattern,
					   .origin = sb_tier_name(tier)});
}

static inline void add_hard(struct sb_policy *policy, const char *access, const char *pattern)
{
	add_rule(policy, &(struct sb_rule){.access = access_of(access),
					   .tier = SB_TIER_BUILTIN,
					   .hard = true,
					   .pattern = pattern,
					   .origin = "hard"});
}

static inline void seal(struct sb_policy *policy)
{
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
}

/* path must have exactly this access */
static inline void has(const struct sb_policy *policy, const char *path, const char *expected)
{
	struct sb_access want = access_of(expected), got = sb_decide_all(policy, path);

	for (int op = 0; op < SB_OP_COUNT; op++)
		if (got.verdict[op] != want.verdict[op])
			fail_msg("%s: %s is %s, not %s", path, sb_op_name((enum sb_op)op),
				 sb_verdict_name(got.verdict[op]),
				 sb_verdict_name(want.verdict[op]));
}

static inline int new_policy(void **state)
{
	*state = sb_policy_new();
	return *state ? 0 : -1;
}

static inline int free_policy(void **state)
{
	sb_policy_free(*state);
	return 0;
}

#define WITH_POLICY(test) cmocka_unit_test_setup_teardown(test, new_policy, free_policy)

#endif
