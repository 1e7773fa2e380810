/*
 * test_policy.c - which rule decides: specificity, tiers, binding rules, modes.
 *
 * The last tests compare sb_decide() with a plain loop over all rules, and check
 * that a decision stays fast.
 */
#include "policy_made.h"

#include "policy/folding.h"

static void outside_every_rule_reading_is_allowed_and_changes_ask(void **state)
{
	struct sb_policy *policy = *state;

	seal(policy);
	has(policy, "/", "ask");
	has(policy, "/anything/at all\n\xff", "ask");
	assert_null(sb_decide(policy, SB_MODIFY, "/x").rule);
	assert_int_equal(sb_policy_count(policy), 0);
}

static void the_most_specific_rule_wins(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_GLOBAL, "write", "/p");
	add(policy, SB_TIER_GLOBAL, "read", "/p/vendor");
	add(policy, SB_TIER_GLOBAL, "write", "/p/vendor/tmp");
	add(policy, SB_TIER_GLOBAL, "deny", "/p/**/.env");
	add(policy, SB_TIER_GLOBAL, "deny", "/p/*.key");
	add(policy, SB_TIER_GLOBAL, "write", "/p/public.key");
	seal(policy);
	has(policy, "/p", "write");
	has(policy, "/p/a/b", "write");
	has(policy, "/p/vendor", "read");
	has(policy, "/p/vendor/a", "read");
	has(policy, "/p/vendor/tmp/a", "write");
	has(policy, "/p/a/.env", "deny");
	has(policy, "/p/.env/x", "deny");
	has(policy, "/p/my.key", "deny");
	has(policy, "/p/public.key", "write"); /* a literal beats a glob */
	has(policy, "/p/public.key/x", "write");
}

static void P9_a_lookalike_is_outside(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_FLAG, "write", "/home/u/proj");
	add(policy, SB_TIER_FLAG, "deny", "/home/u/proj/s");
	seal(policy);
	has(policy, "/home/u/proj/x", "write");
	has(policy, "/home/u/proj-evil", "ask");
	has(policy, "/home/u/proj-evil/x", "ask");
	has(policy, "/home/u/pro", "ask");
	has(policy, "/home/u/proj.", "ask");
	has(policy, "/home/u", "ask");
	has(policy, "/home/u/proj/s", "deny");
	has(policy, "/home/u/proj/s2", "write");
	has(policy, "/home/u/proj/s-/x", "write");
}

static void a_deeper_path_needs_no_rule_on_the_way(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_GLOBAL, "write", "/a/b/c/d");
	add(policy, SB_TIER_GLOBAL, "read", "/a/b/c/e");
	seal(policy);
	has(policy, "/a/b/c/d/e", "write");
	has(policy, "/a/b/c", "ask");
	has(policy, "/a/b/c/e", "read");
}

static void ties_go_to_the_stricter_by_operation(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_GLOBAL, "read+create", "/p/*a");
	add(policy, SB_TIER_GLOBAL, "modify+ask:create", "/p/a*");
	seal(policy);
	has(policy, "/p/a", "ask:create");
	has(policy, "/p/ba", "read+create");
	has(policy, "/p/ab", "modify+ask:create");
}

/* More specific in an earlier tier still beats broader in a later one: tiers settle equal patterns. */
static void later_tiers_replace_the_same_pattern_only(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_BUILTIN, "deny", "/h/.ssh");
	add(policy, SB_TIER_GLOBAL, "read", "/h/.ssh");
	add(policy, SB_TIER_FLAG, "write", "/h");
	add(policy, SB_TIER_GLOBAL, "deny", "/h/x");
	add(policy, SB_TIER_DIRECTORY, "write", "/h/x");
	add(policy, SB_TIER_GLOBAL, "read", "/h/y");
	add(policy, SB_TIER_BUILTIN, "write", "/h/y"); /* in whatever order they come */
	seal(policy);
	has(policy, "/h/.ssh/id", "read");
	has(policy, "/h/z", "write");
	has(policy, "/h/x", "write");
	has(policy, "/h/y", "read");
	assert_int_equal(sb_policy_count(policy), 4);
}

static void every_tier_beats_the_ones_before(void **state)
{
	(void)state;
	for (int low = SB_TIER_BUILTIN; low < SB_TIER_COUNT; low++) {
		for (int high = low + 1; high < SB_TIER_COUNT; high++) {
			struct sb_policy *policy = sb_policy_new();

			add(policy, (enum sb_tier)high, "write", "/x");
			add(policy, (enum sb_tier)low, "read", "/x");
			seal(policy);
			has(policy, "/x", low == SB_TIER_SYSTEM ? "read" : "write");
			if (low != SB_TIER_SYSTEM)
				assert_int_equal(sb_decide(policy, SB_MODIFY, "/x").rule->tier,
						 high);
			sb_policy_free(policy);
		}
	}
}

static void what_the_system_denies_stays_denied(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_SYSTEM, "deny", "/secret");
	add(policy, SB_TIER_SYSTEM, "read", "/secret/open");
	add(policy, SB_TIER_SYSTEM, "ask", "/asks");
	add(policy, SB_TIER_FLAG, "write", "/secret");
	add(policy, SB_TIER_FLAG, "write", "/secret/sub");
	add(policy, SB_TIER_FLAG, "write", "/secret/**/x");
	add(policy, SB_TIER_FLAG, "write", "/secret/open");
	add(policy, SB_TIER_FLAG, "write", "/asks");
	seal(policy);
	has(policy, "/secret", "deny");
	has(policy, "/secret/sub/a", "deny");
	has(policy, "/secret/a/x", "deny");
	has(policy, "/secret/open/a", "read"); /* the system's own narrower rule counts */
	has(policy, "/asks", "write");         /* only denials bind */
	has(policy, "/secret-evil", "ask");
	assert_int_equal(sb_decide(policy, SB_READ, "/secret/sub").rule->tier, SB_TIER_SYSTEM);
}

static void a_system_grant_can_be_narrowed(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_SYSTEM, "write", "/srv");
	add(policy, SB_TIER_GLOBAL, "deny", "/srv/private");
	add(policy, SB_TIER_DIRECTORY, "read", "/srv");
	seal(policy);
	has(policy, "/srv/x", "read");
	has(policy, "/srv/private/x", "deny");
}

static void S9_nothing_opens_what_a_hard_rule_denies(void **state)
{
	struct sb_policy *policy = *state;

	add_hard(policy, "read", "/h/.config/sandbash");
	add(policy, SB_TIER_FLAG, "write", "/h/.config/sandbash");
	add(policy, SB_TIER_FLAG, "write", "/h/.config/sandbash/projects");
	add(policy, SB_TIER_SYSTEM, "write", "/h/.config/sandbash/projects/x");
	add(policy, SB_TIER_FLAG, "write", "/h/**/config");
	seal(policy);
	has(policy, "/h/.config/sandbash", "read");
	has(policy, "/h/.config/sandbash/projects/y", "read");
	has(policy, "/h/.config/sandbash/projects/x/z", "read");
	has(policy, "/h/.config/sandbash/config", "read");
	has(policy, "/h/config", "write");
	assert_true(sb_decide(policy, SB_MODIFY, "/h/.config/sandbash/projects/x").rule->hard);
}

/* Stricter in one operation and looser in others: the others must not be lost. */
static void S9_a_hard_rule_is_not_traded_for_another(void **state)
{
	struct sb_policy *policy = *state;

	add_hard(policy, "read", "/own");
	add(policy, SB_TIER_SYSTEM, "modify+create+delete", "/own");
	add_hard(policy, "read+create", "/two");
	add_hard(policy, "create+modify", "/two");
	add(policy, SB_TIER_FLAG, "write", "/two");
	seal(policy);
	has(policy, "/own/config", "deny");
	has(policy, "/two/x", "create");
}

static void a_hard_rule_grants_nothing(void **state)
{
	struct sb_policy *policy = *state;

	add_hard(policy, "read", "/h/.config/sandbash");
	add(policy, SB_TIER_GLOBAL, "deny", "/h/.config");
	seal(policy);
	has(policy, "/h/.config/sandbash/config", "deny");
}

/* Built-in rules that ask protect; they must not reopen what a broader rule closed. */
static void a_built_in_guard_only_makes_stricter(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_BUILTIN, "write", "/p");
	add(policy, SB_TIER_BUILTIN, "ask", "/p/.git/hooks");
	add(policy, SB_TIER_BUILTIN, "ask", "/p/.vscode");
	add(policy, SB_TIER_BUILTIN, "ask", "/p/.idea");
	add(policy, SB_TIER_BUILTIN, "deny", "/h/.ssh");
	add(policy, SB_TIER_BUILTIN, "ask", "/h/.ssh/id_rsa");
	add(policy, SB_TIER_GLOBAL, "deny", "/p/**/*.pem");
	add(policy, SB_TIER_DIRECTORY, "read", "/p/.git");
	add(policy, SB_TIER_DIRECTORY, "write", "/p/.idea");
	add(policy, SB_TIER_DIRECTORY, "write", "/p/.vscode/open");
	seal(policy);
	has(policy, "/p/x", "write");
	has(policy, "/p/.git/hooks/x", "read"); /* P8: all of .git read-only */
	has(policy, "/p/.vscode/tasks.json", "ask");
	has(policy, "/p/.vscode/x.pem", "deny");
	has(policy, "/p/.idea/x", "write");        /* the user named it */
	has(policy, "/p/.vscode/open/x", "write"); /* or a part of it */
	has(policy, "/h/.ssh/id_rsa", "deny");
}

static void a_guard_repeated_in_words_is_still_a_guard(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_FILE, "ask", "/p/.vscode");
	add(policy, SB_TIER_BUILTIN, "ask", "/p/.vscode");
	add(policy, SB_TIER_BUILTIN, "write", "/p");
	add(policy, SB_TIER_FILE, "deny", "/p/**/*.pem");
	add(policy, SB_TIER_FILE, "ask", "/p/notes"); /* and a user's own rule is a rule */
	seal(policy);
	has(policy, "/p/.vscode/x", "ask");
	has(policy, "/p/.vscode/x.pem", "deny");
	has(policy, "/p/notes/x.pem", "ask");
}

static void built_in_rows_for_one_path_add_up(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_BUILTIN, "write", "/h");
	add(policy, SB_TIER_BUILTIN, "deny", "/h/.npmrc");
	add(policy, SB_TIER_BUILTIN, "ask", "/h/.npmrc");
	add(policy, SB_TIER_BUILTIN, "read+modify", "/h/dev");
	add(policy, SB_TIER_BUILTIN, "modify+create", "/h/dev");
	seal(policy);
	has(policy, "/h/.npmrc", "deny");
	has(policy, "/h/dev", "modify");
}

static void contradicts(struct sb_policy *policy, enum sb_tier tier, const char *access,
			const char *pattern, const char *message)
{
	struct sb_rule rule = {
		.access = access_of(access), .tier = tier, .pattern = pattern, .origin = "new"};
	struct sb_error err = {0};

	assert_int_equal(sb_policy_add(policy, &rule, &err), SB_E_CONFLICT);
	assert_int_equal(err.code, SB_E_CONFLICT);
	assert_string_equal(err.message, message);
	assert_true(err.hint[0]);
	assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_E_CONFLICT);
}

static void P6_two_rules_of_one_tier_must_agree(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_GLOBAL, "write", "/a");
	add(policy, SB_TIER_GLOBAL, "write", "/a"); /* saying it twice is no contradiction */
	add(policy, SB_TIER_GLOBAL, "read+modify+create+delete", "/\\a/");
	contradicts(policy, SB_TIER_GLOBAL, "read", "/a",
		    "two rules for '/a' contradict each other: global and new");
	contradicts(policy, SB_TIER_GLOBAL, "read", "//\\a",
		    "two rules for '/a' contradict each other: global and new");
	add(policy, SB_TIER_FLAG, "read", "/a");
	contradicts(policy, SB_TIER_FLAG, "deny", "/a",
		    "two rules for '/a' contradict each other: command line and new");
	/* also when a later tier has spoken in between */
	contradicts(policy, SB_TIER_GLOBAL, "ask", "/a",
		    "two rules for '/a' contradict each other: an earlier one and new");
	add(policy, SB_TIER_SYSTEM, "read", "/s");
	contradicts(policy, SB_TIER_SYSTEM, "deny", "/s",
		    "two rules for '/s' contradict each other: system and new");
	seal(policy);
	has(policy, "/a", "read");
}

static void P1_read_only_mode_leaves_devices_and_the_command_line(void **state)
{
	struct sb_policy *policy = *state;

	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_READ_ONLY);
	add(policy, SB_TIER_BUILTIN, "write", "/p");
	add(policy, SB_TIER_BUILTIN, "ask", "/p/.git/hooks");
	add(policy, SB_TIER_GLOBAL, "ask", "/notes");
	add(policy, SB_TIER_DIRECTORY, "modify", "/unreadable");
	add(policy, SB_TIER_SESSION, "write", "/session");
	add(policy, SB_TIER_FILE, "write", "/file");
	add(policy, SB_TIER_FLAG, "ask", "/flag");
	add_rule(policy, &(struct sb_rule){.access = access_of("read+modify"),
					   .tier = SB_TIER_BUILTIN,
					   .any_mode = true,
					   .pattern = "/dev/null",
					   .origin = "device"});
	seal(policy);
	has(policy, "/p/x", "read");
	has(policy, "/p/.git/hooks/x", "read");
	has(policy, "/notes", "read");
	has(policy, "/unreadable", "deny");
	has(policy, "/session", "read");
	has(policy, "/file/x", "write");
	has(policy, "/flag/x", "ask");
	has(policy, "/dev/null", "read+modify");
	has(policy, "/elsewhere", "read");
	assert_true(sb_decide(policy, SB_MODIFY, "/p/x").rule->capped);
	assert_false(sb_decide(policy, SB_MODIFY, "/file").rule->capped);
}

static void read_only_mode_still_obeys_binding_denials(void **state)
{
	struct sb_policy *policy = *state;

	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_READ_ONLY);
	add(policy, SB_TIER_SYSTEM, "deny", "/s");
	add(policy, SB_TIER_FLAG, "write", "/s/x");
	seal(policy);
	has(policy, "/s/x", "deny");
}

static void P1_full_access_is_full(void **state)
{
	struct sb_policy *policy = *state;

	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_DANGER_FULL_ACCESS);
	add(policy, SB_TIER_FLAG, "deny", "/");
	add_hard(policy, "deny", "/x");
	seal(policy);
	has(policy, "/x", "write");
}

static void renaming_deletes_and_creates_or_replaces(void **state)
{
	struct sb_policy *policy = *state;

	add(policy, SB_TIER_GLOBAL, "write", "/w");
	add(policy, SB_TIER_GLOBAL, "read+create", "/c");
	add(policy, SB_TIER_GLOBAL, "read+ask:delete", "/d");
	add(policy, SB_TIER_GLOBAL, "deny", "/n");
	seal(policy);
	assert_int_equal(sb_decide_rename(policy, "/w/a", "/w/b", true).verdict, SB_ALLOW);
	assert_int_equal(sb_decide_rename(policy, "/w/a", "/c/b", false).verdict, SB_ALLOW);
	assert_int_equal(sb_decide_rename(policy, "/w/a", "/c/b", true).verdict, SB_DENY);
	assert_int_equal(sb_decide_rename(policy, "/c/a", "/w/b", false).verdict, SB_DENY);
	assert_int_equal(sb_decide_rename(policy, "/d/a", "/w/b", false).verdict, SB_ASK);
	assert_int_equal(sb_decide_rename(policy, "/w/a", "/elsewhere", false).verdict, SB_ASK);
	assert_int_equal(sb_decide_rename(policy, "/d/a", "/n/b", false).verdict, SB_DENY);
	assert_string_equal(sb_decide_rename(policy, "/d/a", "/n/b", false).rule->pattern, "/n");
	assert_string_equal(sb_decide_rename(policy, "/d/a", "/w/b", false).rule->pattern, "/d");
}

static void P8_what_git_ignores_asks_unless_a_rule_is_about_it(void **state)
{
	struct sb_policy *policy = *state;
	static const struct {
		const char *path;
		enum sb_op op;
		enum sb_verdict verdict;
	} cases[] = {
		{"/p/.env", SB_READ, SB_ALLOW},      {"/p/.env", SB_MODIFY, SB_ASK},
		{"/p/.env", SB_CREATE, SB_ALLOW},    {"/p/.env", SB_DELETE, SB_ASK},
		{"/p/build/x", SB_MODIFY, SB_ALLOW}, {"/p/a/y.o", SB_DELETE, SB_ALLOW},
		{"/p/vendor/x", SB_MODIFY, SB_DENY}, {"/p/notes/x", SB_MODIFY, SB_ASK},
		{"/elsewhere/x", SB_MODIFY, SB_ASK},
	};

	add(policy, SB_TIER_BUILTIN, "write", "/p");
	add(policy, SB_TIER_FLAG, "write", "/p");
	add(policy, SB_TIER_FLAG, "write", "/p/build");
	add(policy, SB_TIER_FLAG, "write", "/p/**/*.o");
	add(policy, SB_TIER_FLAG, "read", "/p/vendor");
	add(policy, SB_TIER_FLAG, "ask", "/p/notes");
	seal(policy);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(
			sb_decide_ignored(policy, cases[i].op, cases[i].path, "/p").verdict,
			cases[i].verdict);
	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_DANGER_FULL_ACCESS);
	assert_int_equal(sb_decide_ignored(policy, SB_MODIFY, "/p/.env", "/p").verdict, SB_ALLOW);
}

static void keeps_copies_and_says_who_decided(void **state)
{
	struct sb_policy *policy = *state;
	char pattern[] = "//p//x/", origin[] = "origin";
	struct sb_rule rule = {.access = access_of("read"),
			       .tier = SB_TIER_GLOBAL,
			       .pattern = pattern,
			       .origin = origin};
	struct sb_decision decision;

	add_rule(policy, &rule);
	memset(pattern, '#', sizeof pattern - 1);
	memset(origin, '#', sizeof origin - 1);
	seal(policy);
	decision = sb_decide(policy, SB_MODIFY, "/p/x/y");
	assert_int_equal(decision.verdict, SB_DENY);
	assert_string_equal(decision.rule->pattern, "/p/x");
	assert_string_equal(decision.rule->origin, "origin");
	assert_ptr_equal(decision.rule, sb_policy_rule(policy, 0));
}

static void F8_where_names_fold_no_other_case_dodges_a_rule(void **state)
{
	struct sb_policy *policy = *state;
	const struct sb_rule *rule;

	add(policy, SB_TIER_BUILTIN, "write", "/d/Proj");
	add(policy, SB_TIER_BUILTIN, "write", "/d/other");
	add(policy, SB_TIER_GLOBAL, "deny", "/d/Proj/secret");
	add(policy, SB_TIER_GLOBAL, "deny", "/d/other/secret");
	add(policy, SB_TIER_GLOBAL, "write", "/d/Proj/Secret/Open");
	add(policy, SB_TIER_GLOBAL, "read", "/d/Proj/\xc3\x84rger");
	add(policy, SB_TIER_GLOBAL, "read", "/d/Proj/**/*.Key");
	add(policy, SB_TIER_GLOBAL, "ask", "/d/Proj/Build");
	add(policy, SB_TIER_GLOBAL, "deny", "/d/Proj/build/tools");
	assert_int_equal(sb_policy_fold(policy, "/d/Proj", NULL), SB_OK);
	assert_int_equal(sb_policy_fold(policy, "/d/Proj/sub", NULL), SB_OK);
	seal(policy);
	has(policy, "/d/Proj/secret", "deny");
	has(policy, "/d/Proj/SECRET", "deny");
	has(policy, "/d/Proj/SeCrEt/a", "deny");
	has(policy,
	    "/d/Proj/\xc5\xbf"
	    "ecret",
	    "deny"); /* a long s */
	has(policy, "/d/Proj/sec\xe2\x80\x8cret",
	    "deny"); /* with a character that shows as nothing */
	has(policy, "/d/Proj/\xc3\xa4RGER", "read");
	has(policy, "/d/Proj/a/b.KEY", "read");
	has(policy, "/d/Proj/BUILD/x", "ask");
	has(policy, "/d/Proj/BUILD/TOOLS/x", "deny");
	has(policy, "/d/Proj/secrets", "write");
	has(policy, "/d/Proj/Other", "write");
	/* what is opened by name is opened by that name alone */
	has(policy, "/d/Proj/Secret/Open", "write");
	/* elsewhere names are what they are */
	has(policy, "/d/other/SECRET", "write");
	has(policy, "/d/other/secret", "deny");
	/* who decided is a rule of the policy */
	rule = sb_decide(policy, SB_MODIFY, "/d/Proj/SECRET").rule;
	assert_string_equal(rule->pattern, "/d/Proj/secret");
}

static void a_sealed_policy_takes_no_more(void **state)
{
	struct sb_policy *policy = *state;
	struct sb_rule rule = {.pattern = "/x", .origin = "late"};

	add(policy, SB_TIER_GLOBAL, "write", "/b");
	add(policy, SB_TIER_GLOBAL, "write", "/a");
	seal(policy);
	seal(policy);
	assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_E_INVALID);
	assert_int_equal(sb_policy_count(policy), 2);
	assert_string_equal(sb_policy_rule(policy, 0)->pattern, "/a"); /* ordered by pattern */
}

static void a_bad_pattern_is_refused(void **state)
{
	struct sb_policy *policy = *state;
	static const char *const bad[] = {"", "x", "/[", "/a/../b", "/a\\"};

	for (size_t i = 0; i < COUNT(bad); i++) {
		struct sb_rule rule = {.pattern = bad[i], .origin = "bad"};

		assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_E_INVALID);
	}
	assert_int_equal(sb_policy_count(policy), 0);
}

static void settings_have_defaults_and_names(void **state)
{
	struct sb_policy *policy = *state;
	enum sb_mode mode = SB_MODE_READ_ONLY;
	struct sb_error err;

	assert_int_equal(sb_policy_mode(policy), SB_MODE_WORKSPACE_WRITE);
	assert_int_equal(sb_policy_tmp(policy), SB_TMP_PRIVATE);
	assert_true(sb_policy_network(policy));
	sb_policy_set(policy, SB_SETTING_NETWORK, SB_NETWORK_OFF);
	sb_policy_set(policy, SB_SETTING_TMP, SB_TMP_OFF);
	assert_false(sb_policy_network(policy));
	assert_int_equal(sb_policy_tmp(policy), SB_TMP_OFF);
	for (int i = SB_MODE_DANGER_FULL_ACCESS; i <= SB_MODE_READ_ONLY; i++) {
		assert_int_equal(sb_mode_parse(sb_mode_name((enum sb_mode)i), &mode, NULL), SB_OK);
		assert_int_equal(mode, i);
	}
	assert_int_equal(sb_mode_parse("Read-Only", &mode, &err), SB_E_INVALID);
	assert_string_equal(
		err.message,
		"mode is 'danger-full-access', 'workspace-write' or 'read-only', not 'Read-Only'");
	assert_int_equal(sb_mode_parse("", &mode, NULL), SB_E_INVALID);
	assert_int_equal(mode, SB_MODE_READ_ONLY);
	sb_policy_free(NULL);
}

static const struct CMUnitTest tests[] = {
	WITH_POLICY(outside_every_rule_reading_is_allowed_and_changes_ask),
	WITH_POLICY(the_most_specific_rule_wins),
	WITH_POLICY(P9_a_lookalike_is_outside),
	WITH_POLICY(a_deeper_path_needs_no_rule_on_the_way),
	WITH_POLICY(ties_go_to_the_stricter_by_operation),
	WITH_POLICY(later_tiers_replace_the_same_pattern_only),
	cmocka_unit_test(every_tier_beats_the_ones_before),
	WITH_POLICY(what_the_system_denies_stays_denied),
	WITH_POLICY(a_system_grant_can_be_narrowed),
	WITH_POLICY(S9_nothing_opens_what_a_hard_rule_denies),
	WITH_POLICY(S9_a_hard_rule_is_not_traded_for_another),
	WITH_POLICY(a_hard_rule_grants_nothing),
	WITH_POLICY(a_built_in_guard_only_makes_stricter),
	WITH_POLICY(a_guard_repeated_in_words_is_still_a_guard),
	WITH_POLICY(built_in_rows_for_one_path_add_up),
	WITH_POLICY(P6_two_rules_of_one_tier_must_agree),
	WITH_POLICY(P1_read_only_mode_leaves_devices_and_the_command_line),
	WITH_POLICY(read_only_mode_still_obeys_binding_denials),
	WITH_POLICY(P1_full_access_is_full),
	WITH_POLICY(renaming_deletes_and_creates_or_replaces),
	WITH_POLICY(P8_what_git_ignores_asks_unless_a_rule_is_about_it),
	WITH_POLICY(keeps_copies_and_says_who_decided),
	WITH_POLICY(F8_where_names_fold_no_other_case_dodges_a_rule),
	WITH_POLICY(a_sealed_policy_takes_no_more),
	WITH_POLICY(a_bad_pattern_is_refused),
	WITH_POLICY(settings_have_defaults_and_names),
};

UNIT_MAIN("policy")
