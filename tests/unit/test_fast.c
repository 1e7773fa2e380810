/* test_fast.c - fast roots: the word, what a policy says of them, and where one cannot be. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "guard/guard.h"
#include "policy/encode.h"
#include "policy/fast.h"
#include "policy/text.h"

/* --- the word -------------------------------------------------------------------------- */

static void parse(const char *text, struct sb_line *out)
{
	struct sb_error err = {0};

	if (sb_line_parse(text, strlen(text), out, &err) != SB_OK)
		fail_msg("'%s': %s", text, err.message);
}

static void fast_is_write_and_more(void **state)
{
	static const struct {
		const char *text, *path;
		bool fast;
	} lines[] = {
		{"fast build", "build", true}, {"fast\t/a b  # c", "/a b", true},
		{"fast \"x y\"", "x y", true}, {"write build", "build", false},
		{"build", "build", false},     {"./fast", "./fast", false},
		{"faster", "faster", false},   {"write fast", "fast", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct sb_line line;

		parse(lines[i].text, &line);
		assert_int_equal(line.kind, SB_LINE_RULE);
		assert_string_equal(line.text, lines[i].path);
		assert_true(sb_access_equal(&line.access, &sb_access_write));
		assert_int_equal(line.fast, lines[i].fast);
		sb_line_done(&line);
	}
}

static void is_bad(const char *text, const char *message)
{
	struct sb_error err = {0};
	struct sb_line line;

	assert_int_equal(sb_line_parse(text, strlen(text), &line, &err), SB_E_INVALID);
	assert_string_equal(err.message, message);
}

static void fast_stands_alone(void **state)
{
	struct sb_access access;

	(void)state;
	is_bad("fast", "'fast' needs a value");
	is_bad("fast+read x", "'fast' stands alone, it cannot be combined");
	is_bad("read+fast x", "'fast' stands alone, it cannot be combined");
	is_bad("ask:fast x", "'fast' stands alone, it cannot be combined");
	/* no access of its own: whoever asks for one gets none that is more than it says */
	assert_int_equal(sb_access_parse("fast", 4, &access, NULL), SB_E_INVALID);
}

/* --- the policy --------------------------------------------------------------------------- */

static void add(struct sb_policy *policy, enum sb_tier tier, bool fast, const char *pattern)
{
	struct sb_rule rule = {.access = sb_access_write,
			       .tier = tier,
			       .fast = fast,
			       .pattern = pattern,
			       .origin = "test"};

	assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_OK);
}

static struct sb_policy *with_roots(enum sb_mode mode, enum sb_tier tier)
{
	struct sb_policy *policy = sb_policy_new();

	sb_policy_set(policy, SB_SETTING_MODE, mode);
	add(policy, SB_TIER_BUILTIN, false, "/p");
	add(policy, tier, true, "/p/sub/build");
	add(policy, tier, true, "/p/sub/build/inner");
	add(policy, tier, true, "/q");
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	return policy;
}

static void what_lies_in_a_root(void **state)
{
	struct sb_policy *policy = with_roots(SB_MODE_WORKSPACE_WRITE, SB_TIER_GLOBAL);

	(void)state;
	assert_int_equal(sb_fast_count(policy), 2); /* one inside another does not count */
	assert_string_equal(sb_fast_root(policy, 0), "/p/sub/build");
	assert_string_equal(sb_fast_root(policy, 1), "/q");
	assert_true(sb_fast_holds(policy, "/p/sub/build/x"));
	assert_true(sb_fast_holds(policy, "/p/sub/build/inner/x"));
	assert_true(sb_fast_holds(policy, "/q/x"));
	assert_false(sb_fast_holds(policy, "/p/sub/build")); /* its name is its parent's */
	assert_false(sb_fast_holds(policy, "/p/sub/build-x"));
	assert_false(sb_fast_holds(policy, "/p/sub/x"));
	assert_false(sb_fast_holds(policy, ""));
	assert_true(sb_fast_is_or_holds(policy, "/p/sub/build"));
	assert_false(sb_fast_is_or_holds(policy, "/p/sub"));
	sb_policy_free(policy);
}

static void what_crosses_the_border(void **state)
{
	struct sb_policy *policy = with_roots(SB_MODE_WORKSPACE_WRITE, SB_TIER_GLOBAL);

	(void)state;
	assert_true(sb_fast_crosses(policy, "/p/sub/build/x", "/p/x"));
	assert_true(sb_fast_crosses(policy, "/p/x", "/p/sub/build/x"));
	assert_true(sb_fast_crosses(policy, "/p/sub/build", "/p/x")); /* the root itself */
	assert_true(sb_fast_crosses(policy, "/p/x", "/p/sub/build"));
	assert_true(sb_fast_crosses(policy, "/p/sub", "/p/x")); /* and around it */
	assert_true(sb_fast_crosses(policy, "/p/x", "/p/sub"));
	assert_false(sb_fast_crosses(policy, "/p/sub/build/x", "/p/sub/build/y"));
	assert_false(sb_fast_crosses(policy, "/p/sub/build/inner", "/p/sub/build/y"));
	assert_false(sb_fast_crosses(policy, "/p/sub/build/x",
				     "/q/y")); /* nothing is guarded in either */
	assert_false(sb_fast_crosses(policy, "/p/x", "/p/sub/x"));
	sb_policy_free(policy);
	policy = sb_policy_new();
	add(policy, SB_TIER_BUILTIN, false, "/p");
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	assert_false(sb_fast_crosses(policy, "/p/sub", "/p/x"));
	sb_policy_free(policy);
}

static void modes_take_it_away(void **state)
{
	struct sb_policy *policy = with_roots(SB_MODE_READ_ONLY, SB_TIER_GLOBAL);

	(void)state;
	assert_int_equal(sb_fast_count(policy), 0);
	sb_policy_free(policy);
	policy = with_roots(SB_MODE_READ_ONLY, SB_TIER_FLAG); /* which grants there as well */
	assert_int_equal(sb_fast_count(policy), 2);
	sb_policy_free(policy);
	policy = with_roots(SB_MODE_DANGER_FULL_ACCESS, SB_TIER_FLAG);
	assert_int_equal(sb_fast_count(policy), 0);
	sb_policy_free(policy);
}

static void a_later_tier_says_otherwise(void **state)
{
	struct sb_policy *policy = sb_policy_new();
	struct sb_rule rule = {.access = sb_access_write,
			       .tier = SB_TIER_GLOBAL,
			       .pattern = "/b",
			       .origin = "test"};

	(void)state;
	add(policy, SB_TIER_GLOBAL, true, "/a");
	add(policy, SB_TIER_FLAG, false, "/a");
	add(policy, SB_TIER_GLOBAL, true, "/b");
	assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_E_CONFLICT);
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	assert_int_equal(sb_fast_count(policy), 1);
	assert_string_equal(sb_fast_root(policy, 0), "/b");
	sb_policy_free(policy);
}

static void it_is_printed_and_not_sent(void **state)
{
	struct sb_policy *policy = with_roots(SB_MODE_WORKSPACE_WRITE, SB_TIER_GLOBAL), *again;
	SB_AUTO_BUF struct sb_buf out = SB_BUF(4096);
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(4096);

	(void)state;
	sb_policy_print(policy, &out);
	assert_non_null(strstr(out.data, "\nfast /q "));
	assert_non_null(strstr(out.data, "\nwrite /p "));
	/* the rules of a nested run, which nothing lets through */
	sb_policy_encode(policy, &bytes);
	assert_int_equal(sb_policy_decode(bytes.data, bytes.length, &again, NULL), SB_OK);
	assert_int_equal(sb_fast_count(again), 0);
	assert_int_equal(sb_decide(again, SB_CREATE, "/q/x").verdict, SB_ALLOW);
	sb_policy_free(again);
	sb_policy_free(policy);
}

static void rules_inside_are_found(void **state)
{
	static const struct {
		const char *pattern;
		bool inside;
	} rules[] = {
		{"/p/build/x", true},    {"/p/build/*.pem", true}, {"/p/**/.env", true},
		{"/**/.env", true},      {"/p/*/x", true},         {"/p/x", false},
		{"/p/buildx", false},    {"/p/*.pem", false},      {"/p/src/**/.env", false},
		{"/p/b*d/deep/x", true}, {"/p/c*/x", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		struct sb_policy *policy = sb_policy_new();
		struct sb_rule rule = {.access = sb_access_deny,
				       .tier = SB_TIER_FLAG,
				       .pattern = rules[i].pattern,
				       .origin = "test"};

		add(policy, SB_TIER_FLAG, true, "/p/build");
		assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_OK);
		assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
		if ((sb_decide_moved(policy, SB_CREATE, "/p/build", NULL).verdict != SB_ALLOW) !=
		    rules[i].inside)
			fail_msg("%s", rules[i].pattern);
		sb_policy_free(policy);
	}
}

/* --- guarded places -------------------------------------------------------------------------- */

static void guarded_places_are_known(void **state)
{
	static const struct {
		const char *path;
		bool guarded;
	} places[] = {
		{"/none/build", false},
		{"/none/target/debug", false},
		{"/none/node_modules", false},
		{"/none/dist", false},
		{"/none/config/out", false},
		{"/none/.cache/pip", false},
		{"/none/.local/state/x", false},
		{"/none/.claude/cache", false},
		{"/none/.git", true},
		{"/none/.GIT", true},
		{"/none/.git/refs/x", true},
		{"/none/x/hooks", true},
		{"/none/.vscode", true},
		{"/none/.vscode/deep", false},
		{"/none/.local", true},
		{"/none/.local/bin", true},
		{"/none/.local/state", true},
		{"/none/.config/systemd/user", true},
		{"/none/.claude", true},
		{"/none/objects", true},
		{"/none/objects/info", true},
	};
	struct sb_guard_options options = {.size = sizeof options};
	struct sb_guard *guard;

	(void)state;
	assert_int_equal(sb_guard_new(&options, &guard, NULL), SB_OK);
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (!sb_guard_row_in(guard, places[i].path) == places[i].guarded)
			fail_msg("%s", places[i].path);
	sb_guard_free(guard);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(fast_is_write_and_more),     cmocka_unit_test(fast_stands_alone),
	cmocka_unit_test(what_lies_in_a_root),        cmocka_unit_test(what_crosses_the_border),
	cmocka_unit_test(modes_take_it_away),         cmocka_unit_test(a_later_tier_says_otherwise),
	cmocka_unit_test(it_is_printed_and_not_sent), cmocka_unit_test(rules_inside_are_found),
	cmocka_unit_test(guarded_places_are_known),
};

UNIT_MAIN("fast")
