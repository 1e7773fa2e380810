/* Whose rules open a guarded name, if they name it. */
#include "guarded.h"

#include "judge/judge_impl.h"

static bool opens(struct guarded *fx, enum sb_tier tier, const char *rule, const char *name)
{
	struct sb_rule one = {.tier = tier, .pattern = rule};

	assert_int_not_equal(judge(fx, SB_GUARD_WRITE, name), SB_GUARD_PLAIN);
	return sb_rule_opens(fx->guard, &one, in(fx->root, name), fx->answer.row, NULL, true);
}

/* What somebody has written does.  What came along with something else, and answers, only make writable. */
static void only_rules_of_the_users_open(void **state)
{
	static const enum sb_tier own[] = {SB_TIER_SYSTEM, SB_TIER_GLOBAL, SB_TIER_DIRECTORY,
					   SB_TIER_FILE, SB_TIER_FLAG};
	struct guarded *fx = *state;
	char rule[PATH_MAX];

	snprintf(rule, sizeof rule, "%s/.claude.json", fx->root);
	for (int tier = 0; tier < SB_TIER_COUNT; tier++) {
		bool may = false;

		for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
			may |= own[i] == (enum sb_tier)tier;
		if (opens(fx, (enum sb_tier)tier, rule, ".claude.json") != may)
			fail_msg("%s", sb_tier_name((enum sb_tier)tier));
		assert_false(opens(fx, (enum sb_tier)tier, fx->root, ".claude.json"));
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(only_rules_of_the_users_open, guarded_setup,
					guarded_teardown),
};

UNIT_MAIN("opened")
