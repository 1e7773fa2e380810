/*
 * test_encode.c - a policy as bytes decides alike, and bytes from inside a sandbox harm nobody.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/encode.h"
#include "unit.h"

static const char *const names[] = {"a", "b", "c", ".git", "hooks", "x y", "\xff"};

static void random_path(char *out, size_t size)
{
	size_t length = 0;

	out[0] = '\0';
	for (int depth = (int)unit_below(4) + 1; depth; depth--)
		length += (size_t)snprintf(out + length, size - length, "/%s",
					   names[unit_below(COUNT(names))]);
}

static struct sb_policy *random_policy(void)
{
	struct sb_policy *policy = sb_policy_new();
	struct sb_error err;

	assert_non_null(policy);
	sb_policy_set(policy, SB_SETTING_MODE,
		      unit_below(3) ? SB_MODE_WORKSPACE_WRITE : SB_MODE_READ_ONLY);
	for (unsigned i = unit_below(12); i; i--) {
		char pattern[256];
		struct sb_rule rule = {.pattern = pattern, .origin = "test"};

		random_path(pattern, sizeof pattern - 8);
		if (unit_below(4) == 0)
			snprintf(pattern + strlen(pattern), sizeof pattern - strlen(pattern), "%s",
				 unit_below(2) ? "/*" : "/**/b");
		rule.tier = (enum sb_tier)(unit_below(SB_TIER_COUNT));
		rule.hard = unit_below(5) == 0;
		rule.any_mode = unit_below(5) == 0;
		for (int op = 0; op < SB_OP_COUNT; op++)
			rule.access.verdict[op] = (unsigned char)(unit_below(3));
		for (int op = 0; op < SB_OP_COUNT; op++)
			if (rule.access.verdict[op] == SB_DENY && unit_below(2))
				rule.access.quiet |= (unsigned char)(1u << op);
		sb_policy_add(policy, &rule, &err); /* contradictions are refused: fine */
	}
	assert_int_equal(SB_OK, sb_policy_seal(policy, &err));
	return policy;
}

static void what_is_read_back_decides_alike(void **state)
{
	(void)state;
	unit_seed();
	for (int round = 0; round < 500; round++) {
		struct sb_policy *policy = random_policy(), *copy = NULL;
		struct sb_buf bytes = SB_BUF(SB_POLICY_BYTES);
		struct sb_error err;

		sb_policy_encode(policy, &bytes);
		assert_int_equal(SB_OK, sb_policy_decode(bytes.data, bytes.length, &copy, &err));
		for (int i = 0; i < 200; i++) {
			char path[256];
			struct sb_access a, b;

			random_path(path, sizeof path);
			a = sb_decide_all(policy, path);
			b = sb_decide_all(copy, path);
			if (memcmp(&a, &b, sizeof a) != 0)
				fail_msg("round %d: '%s' differs", round, path);
		}
		sb_buf_done(&bytes);
		sb_policy_free(copy);
		sb_policy_free(policy);
	}
}

static void cut_and_changed_bytes_are_refused_or_decide_something(void **state)
{
	struct sb_policy *policy, *copy;
	struct sb_buf bytes = SB_BUF(SB_POLICY_BYTES);
	struct sb_error err;

	(void)state;
	unit_seed();
	policy = random_policy();
	sb_policy_encode(policy, &bytes);
	for (size_t cut = 0; cut < bytes.length; cut++) {
		copy = NULL;
		if (sb_policy_decode(bytes.data, cut, &copy, &err) == SB_OK)
			sb_decide(copy, SB_MODIFY, "/a/b");
		sb_policy_free(copy);
	}
	for (size_t at = 0; at < bytes.length; at++) {
		char kept = bytes.data[at];

		bytes.data[at] = (char)unit_random();
		copy = NULL;
		if (sb_policy_decode(bytes.data, bytes.length, &copy, &err) == SB_OK)
			sb_decide(copy, SB_MODIFY, "/a/b");
		sb_policy_free(copy);
		bytes.data[at] = kept;
	}
	sb_buf_done(&bytes);
	sb_policy_free(policy);
}

static void rules_beneath_a_directory_count_when_it_is_moved(void **state)
{
	static const struct sb_rule rules[] = {
		{.access = {{SB_ALLOW, SB_ALLOW, SB_ALLOW, SB_ALLOW}},
		 .tier = SB_TIER_FLAG,
		 .pattern = "/p",
		 .origin = "t"},
		{.access = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}},
		 .tier = SB_TIER_BUILTIN,
		 .pattern = "/p/.git/hooks",
		 .origin = "t"},
	};
	struct sb_policy *policy = sb_policy_new();
	struct sb_error err;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(SB_OK, sb_policy_add(policy, &rules[i], &err));
	assert_int_equal(SB_OK, sb_policy_seal(policy, &err));
	assert_int_equal(SB_ASK, sb_decide_beneath(policy, SB_DELETE, "/p/.git").verdict);
	assert_int_equal(SB_ASK, sb_decide_beneath(policy, SB_DELETE, "/p").verdict);
	assert_int_equal(SB_ALLOW, sb_decide_beneath(policy, SB_DELETE, "/p/src").verdict);
	assert_int_equal(SB_ALLOW, sb_decide_beneath(policy, SB_DELETE, "/p/.git/hooks").verdict);
	assert_int_equal(SB_ALLOW, sb_decide_beneath(policy, SB_DELETE, "/p/.gi").verdict);
	sb_policy_free(policy);
}

static void wildcards_beneath_a_directory_count_when_it_is_moved(void **state)
{
	static const char *const patterns[] = {"/p/keys/*.key", "/p/*/secret", "/p/**/.env",
					       "/p/**/vault/*.pem"};
	const size_t count = sizeof patterns / sizeof patterns[0];
	struct sb_policy *policy = sb_policy_new();
	struct sb_error err;

	(void)state;
	for (size_t i = 0; i <= count; i++) {
		struct sb_rule rule = {.access = {{SB_DENY, SB_DENY, SB_DENY, SB_DENY}},
				       .tier = SB_TIER_FLAG,
				       .pattern = i < count ? patterns[i] : "/p",
				       .origin = "t"};

		if (i == count)
			rule.access = (struct sb_access){{SB_ALLOW, SB_ALLOW, SB_ALLOW, SB_ALLOW}};
		assert_int_equal(SB_OK, sb_policy_add(policy, &rule, &err));
	}
	assert_int_equal(SB_OK, sb_policy_seal(policy, &err));
	/* a key would have a name that is not hidden */
	assert_int_equal(SB_DENY, sb_decide_moved(policy, SB_DELETE, "/p/keys", "/p/a/b").verdict);
	assert_int_equal(SB_DENY, sb_decide_moved(policy, SB_DELETE, "/p/x", "/p/a/b").verdict);
	/* and here something would get a hidden one */
	assert_int_equal(SB_DENY, sb_decide_moved(policy, SB_CREATE, "/p/keys", "/p/a/b").verdict);
	/* too deep for "secret"; ".env" is hidden before and after */
	assert_int_equal(SB_ALLOW, sb_decide_moved(policy, SB_DELETE, "/p/a/b", "/p/a/c").verdict);
	assert_int_equal(SB_DENY, sb_decide_moved(policy, SB_DELETE, "/p/a/b", "/q").verdict);
	assert_int_equal(SB_ALLOW, sb_decide_moved(policy, SB_DELETE, "/o/b", "/p/a/b").verdict);
	/* the name before the last one counts, where it changes */
	assert_int_equal(SB_DENY,
			 sb_decide_moved(policy, SB_DELETE, "/p/a/vault", "/p/a/x").verdict);
	assert_int_equal(SB_DENY,
			 sb_decide_moved(policy, SB_CREATE, "/p/a/vault", "/p/a/x").verdict);
	assert_int_equal(SB_DENY,
			 sb_decide_moved(policy, SB_DELETE, "/p/vault/a", "/p/x/a").verdict);
	assert_int_equal(
		SB_ALLOW,
		sb_decide_moved(policy, SB_DELETE, "/p/vault/a/b", "/p/vault/a/c").verdict);
	sb_policy_free(policy);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(what_is_read_back_decides_alike),
	cmocka_unit_test(wildcards_beneath_a_directory_count_when_it_is_moved),
	cmocka_unit_test(cut_and_changed_bytes_are_refused_or_decide_something),
	cmocka_unit_test(rules_beneath_a_directory_count_when_it_is_moved),
};

UNIT_MAIN("encode")
