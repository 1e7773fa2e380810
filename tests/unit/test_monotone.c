/*
 * test_monotone.c - a rule that allows, added to others, closes nothing.
 *
 * Random rules, random names; each act is judged with them and once more with one "write" rule on top.
 * Whatever was allowed before still is, by the rules alone and with the guard.
 */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "judge/judge.h"
#include "policy/text.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ROUNDS 3000
#define MOST_RULES 6

static const char *const patterns[] = {
	"/p",
	"/p/sub",
	"/p/sub/x",
	"/p/.git",
	"/p/.git/hooks",
	"/p/.git/hooks/pre-commit",
	"/p/sub/.git",
	"/p/.git/rebase-merge",
	"/p/.envrc",
	"/p/sub/.envrc",
	"/p/sub/.vscode",
	"/p/sub/x/.vscode/tasks.json",
	"/p/**/.git",
	"/p/**/.git/**",
	"/p/**/.git/hooks",
	"/p/**/git-rebase-todo",
	"/p/**/.envrc",
	"/p/*/.envrc",
	"/p/**/.vscode",
	"/p/**/tasks.json",
	"/p/sub/*",
	"/p/s*/**",
	"/p/**",
	"/p/**/hooks/*",
};

static const char *const words[] = {"write", "write", "write",      "read",
				    "deny",  "ask",   "read+create"};

static const char *const paths[] = {
	"/p/a",
	"/p/.envrc",
	"/p/sub/.envrc",
	"/p/sub/x/.envrc",
	"/p/sub/x/.vscode/tasks.json",
	"/p/sub/.vscode/tasks.json",
	"/p/.vscode/tasks.json",
	"/p/.git/hooks/pre-commit",
	"/p/.git/config",
	"/p/.git/rebase-merge/git-rebase-todo",
	"/p/sub/.git/hooks/pre-commit",
	"/p/sub/.git/rebase-merge/git-rebase-todo",
	"/p/sub/x/y",
	"/q/a",
};

static const enum sb_deed deeds[] = {SB_DEED_WRITE,  SB_DEED_MKDIR,   SB_DEED_MKNOD,
				     SB_DEED_REMOVE, SB_DEED_SYMLINK, SB_DEED_METADATA};

static unsigned state = 20261117;

static unsigned pick(unsigned count)
{
	state = state * 1103515245u + 12345u; /* the same rules in every run */
	return (state >> 16) % count;
}

struct set {
	struct {
		const char *pattern, *word;
		enum sb_tier tier;
	} rules[MOST_RULES + 1];
	unsigned count;
};

static bool has(const struct set *set, const char *pattern)
{
	for (unsigned i = 0; i < set->count; i++)
		if (strcmp(set->rules[i].pattern, pattern) == 0)
			return true;
	return false;
}

static struct set make_set(void)
{
	struct set set = {.count = 0};

	for (unsigned left = 1 + pick(MOST_RULES); left; left--) {
		const char *pattern = patterns[pick(COUNT(patterns))];

		if (has(&set, pattern))
			continue;
		set.rules[set.count].pattern = pattern;
		set.rules[set.count].word = words[pick(COUNT(words))];
		set.rules[set.count++].tier = pick(2) ? SB_TIER_GLOBAL : SB_TIER_FLAG;
	}
	return set;
}

static struct sb_policy *policy_of(const struct set *set)
{
	struct sb_policy *policy = sb_policy_new();

	assert_non_null(policy);
	for (unsigned i = 0; i < set->count; i++) {
		struct sb_rule rule = {.tier = set->rules[i].tier,
				       .pattern = set->rules[i].pattern,
				       .origin = "test"};

		assert_int_equal(sb_access_parse(set->rules[i].word, strlen(set->rules[i].word),
						 &rule.access, NULL),
				 SB_OK);
		assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_OK);
	}
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	return policy;
}

struct side {
	struct sb_policy *policy;
	struct sb_guard *guard;
	struct sb_grounds grounds;
};

static void side_init(struct side *side, const struct set *set)
{
	static const char *const projects[] = {"/p", NULL};
	struct sb_guard_home home = {0};

	side->policy = policy_of(set);
	assert_int_equal(sb_grounds_guard(side->policy, projects, &home, &side->guard, NULL),
			 SB_OK);
	sb_grounds_init(&side->grounds, side->policy, side->guard);
}

static void side_done(struct side *side)
{
	sb_guard_free(side->guard);
	sb_policy_free(side->policy);
}

static int empty = -1; /* stands for a directory in which nothing is (judge/site.h) */

static enum sb_verdict judge(const struct side *side, const char *path, enum sb_deed deed)
{
	struct sb_case what = {.deed = deed,
			       .site = {.directory = empty,
					.object = -1,
					.name = strrchr(path, '/') + 1,
					.path = path}};
	struct sb_judgement judgement;

	sb_judge(&side->grounds, &what, &judgement);
	return judgement.strictest->decision.verdict;
}

static void explain(const struct set *set, const char *path, const char *what)
{
	print_message("%s at %s is stricter with the last of these:\n", what, path);
	for (unsigned i = 0; i < set->count; i++)
		print_message("  %s %s %s\n", sb_tier_name(set->rules[i].tier), set->rules[i].word,
			      set->rules[i].pattern);
}

static unsigned compare(const struct set *set, const struct side *before, const struct side *after)
{
	unsigned worse = 0;

	for (unsigned i = 0; i < COUNT(paths); i++) {
		for (int op = 0; op < SB_OP_COUNT; op++)
			if (sb_decide(after->policy, op, paths[i]).verdict >
			    sb_decide(before->policy, op, paths[i]).verdict) {
				explain(set, paths[i], "a decision");
				worse++;
			}
		for (unsigned k = 0; k < COUNT(deeds); k++)
			if (judge(after, paths[i], deeds[k]) > judge(before, paths[i], deeds[k])) {
				explain(set, paths[i], "an act");
				worse++;
			}
	}
	return worse;
}

static void nothing_is_closed(void **unused)
{
	(void)unused;
	empty = open("/dev/null", O_PATH | O_CLOEXEC);
	assert_true(empty >= 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct set set = make_set();
		struct side before, after;
		const char *more = patterns[pick(COUNT(patterns))];
		unsigned worse;

		if (has(&set, more))
			continue;
		side_init(&before, &set);
		set.rules[set.count].pattern = more;
		set.rules[set.count].word = "write";
		set.rules[set.count++].tier = pick(2) ? SB_TIER_GLOBAL : SB_TIER_FLAG;
		side_init(&after, &set);
		worse = compare(&set, &before, &after);
		side_done(&before);
		side_done(&after);
		assert_int_equal(worse, 0);
	}
}

/* What opens a guarded name is a rule that names it; a stricter one in between closes it again. */
static void a_stricter_rule_counts(void **unused)
{
	static const struct set sets[] = {
		{{{"/p", "write", SB_TIER_GLOBAL}}, 1},
		{{{"/p", "write", SB_TIER_GLOBAL}, {"/p/**/.envrc", "write", SB_TIER_GLOBAL}}, 2},
		{{{"/p", "write", SB_TIER_GLOBAL},
		  {"/p/**/.envrc", "write", SB_TIER_GLOBAL},
		  {"/p/sub/x", "write", SB_TIER_GLOBAL}},
		 3},
		{{{"/p", "write", SB_TIER_GLOBAL},
		  {"/p/**/.envrc", "write", SB_TIER_GLOBAL},
		  {"/p/sub/*", "read", SB_TIER_GLOBAL},
		  {"/p/sub/x", "write", SB_TIER_GLOBAL}},
		 4},
	};
	static const enum sb_verdict wanted[] = {SB_ASK, SB_ALLOW, SB_ALLOW, SB_ASK};

	(void)unused;
	for (unsigned i = 0; i < COUNT(sets); i++) {
		struct side side;

		side_init(&side, &sets[i]);
		assert_int_equal(judge(&side, "/p/sub/x/.envrc", SB_DEED_SYMLINK), wanted[i]);
		side_done(&side);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(nothing_is_closed),
	cmocka_unit_test(a_stricter_rule_counts),
};

UNIT_MAIN("monotone")
