/*
 * test_roundtrip.c - P6: a printed policy, read back with --policy=FILE, decides alike.
 *
 * Random policies of all tiers and modes are printed with sb_policy_print, parsed
 * line by line into tier FILE on top of the same lower tiers, and compared on
 * random paths.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "path/pattern.h"
#include "policy/text.h"
#include "sandbash/policy.h"

enum { MAX_RULES = 16, MAX_PATTERN = 96 };

struct given {
	struct sb_rule rule;
	char pattern[MAX_PATTERN];
};

static const char *const names[] = {
	"a",      "b",     "ab", "a b",          "x #y",         "\"q\"", "line\nbreak", "\xff",
	"\x1b[m", "tab\t", " ",  "na\xc3\xafve", "\xe2\x80\xae", "~",     "#",           "...",
	"a-",     "*",     "[",  "\\",
};

static const char *const globs[] = {"*",    "**", "?",   "a*",   "[ab]",
				    "[!a]", "*b", "\\a", "*\\*", "**"};

static void random_path(char out[MAX_PATTERN])
{
	out[0] = '\0';
	for (unsigned n = unit_below(5); n; n--) {
		strncat(out, "/", 2);
		/* the first few names more often, so that rules meet */
		strncat(out, names[unit_below(unit_below(2) ? 4 : COUNT(names))], 16);
	}
	if (!*out)
		strncat(out, "/", 2);
}

static void random_pattern(char out[MAX_PATTERN])
{
	out[0] = '\0';
	for (unsigned n = unit_below(5); n; n--) {
		strncat(out, "/", 2);
		if (unit_below(3)) {
			char *escaped = sb_pattern_escape(
				names[unit_below(unit_below(2) ? 4 : COUNT(names))]);

			strncat(out, escaped, 16);
			free(escaped);
		} else {
			strncat(out, globs[unit_below(COUNT(globs))], 16);
		}
	}
	if (!*out)
		strncat(out, "/", 2);
}

static struct sb_access random_access(void)
{
	struct sb_access access = {0};

	switch (unit_below(6)) {
	case 0:
		return sb_access_write;
	case 1:
		return sb_access_read;
	case 2:
		return sb_access_ask;
	case 3:
		return sb_access_deny;
	case 4:
		return sb_access_quiet;
	default:
		for (int op = 0; op < SB_OP_COUNT; op++)
			access.verdict[op] = (unsigned char)unit_below(3);
		access.quiet = access.verdict[SB_DELETE] == SB_DENY ? 1u << SB_DELETE : 0;
		return access;
	}
}

static size_t random_rules(struct sb_policy *policy, struct given rules[MAX_RULES])
{
	size_t count = 0;

	for (unsigned tries = 2 + unit_below(MAX_RULES - 2); tries; tries--) {
		struct given *given = &rules[count];

		given->rule = (struct sb_rule){
			.access = random_access(),
			.tier = (enum sb_tier)unit_below(SB_TIER_COUNT),
			.origin = unit_below(2) ? "origin" : "odd # \"origin\n\xff",
			.pattern = given->pattern,
		};
		if (given->rule.tier == SB_TIER_BUILTIN) {
			given->rule.hard = unit_below(4) == 0;
			given->rule.tightens = given->rule.hard && unit_below(2);
			given->rule.any_mode = !given->rule.tightens && unit_below(4) == 0;
		}
		/* now and then the same pattern again */
		if (count && unit_below(4) == 0)
			memcpy(given->pattern, rules[unit_below((unsigned)count)].pattern,
			       MAX_PATTERN);
		else
			random_pattern(given->pattern);
		if (sb_policy_add(policy, &given->rule, NULL) == SB_OK)
			count++; /* else it contradicts another */
	}
	return count;
}

static void obey(struct sb_policy *policy, const char *bytes, size_t length)
{
	struct sb_error err = {0};
	struct sb_line line;
	struct sb_rule rule = {.tier = SB_TIER_FILE, .origin = "file"};

	if (sb_line_parse(bytes, length, &line, &err) != SB_OK)
		fail_msg("'%.*s': %s", (int)length, bytes, err.message);
	switch (line.kind) {
	case SB_LINE_SETTING:
		sb_policy_set(policy, line.setting, line.value);
		break;
	case SB_LINE_RULE:
		rule.access = line.access;
		rule.hard = rule.tightens = line.tightens;
		if (line.tightens)
			rule.tier = SB_TIER_BUILTIN;
		rule.pattern = line.text;
		if (sb_policy_add(policy, &rule, &err) != SB_OK)
			fail_msg("'%.*s': %s", (int)length, bytes, err.message);
		break;
	default:
		fail_msg("what is '%.*s'?", (int)length, bytes);
	}
	sb_line_done(&line);
}

static struct sb_policy *read_back(const char *text, const struct given *rules, size_t count)
{
	struct sb_policy *policy = sb_policy_new();

	for (size_t i = 0; i < count; i++)
		if (rules[i].rule.tier < SB_TIER_FILE && !rules[i].rule.tightens)
			assert_int_equal(sb_policy_add(policy, &rules[i].rule, NULL), SB_OK);
	while (*text) {
		size_t length = strcspn(text, "\n");

		obey(policy, text, length);
		text += length;
		text += *text == '\n';
	}
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	return policy;
}

static void same_decisions(const struct sb_policy *a, const struct sb_policy *b, const char *path,
			   const char *text)
{
	for (int op = 0; op < SB_OP_COUNT; op++) {
		struct sb_decision first = sb_decide(a, (enum sb_op)op, path);
		struct sb_decision second = sb_decide(b, (enum sb_op)op, path);

		if (first.verdict != second.verdict)
			fail_msg("%s '%s' was %s, is %s, after\n%s", sb_op_name((enum sb_op)op),
				 path, sb_verdict_name(first.verdict),
				 sb_verdict_name(second.verdict), text);
		if (sb_decision_is_quiet(&first, (enum sb_op)op) !=
		    sb_decision_is_quiet(&second, (enum sb_op)op))
			fail_msg("%s '%s' is denied otherwise (quietly, or not) after\n%s",
				 sb_op_name((enum sb_op)op), path, text);
	}
}

static void same_policy(const struct sb_policy *a, const struct sb_policy *b, const char *text)
{
	assert_int_equal(sb_policy_mode(a), sb_policy_mode(b));
	assert_int_equal(sb_policy_network(a), sb_policy_network(b));
	assert_int_equal(sb_policy_tmp(a), sb_policy_tmp(b));
	assert_int_equal(sb_policy_count(a), sb_policy_count(b));
	for (size_t i = 0; i < sb_policy_count(a); i++) {
		const struct sb_rule *first = sb_policy_rule(a, i), *second = sb_policy_rule(b, i);
		struct sb_pattern pattern;

		assert_string_equal(first->pattern, second->pattern);
		/* of two that tighten, what both say is printed; the decisions below are of both */
		assert_true(first->tightens || sb_access_equal(&first->access, &second->access));
		assert_int_equal(sb_pattern_parse(first->pattern, &pattern, NULL), SB_OK);
		same_decisions(a, b, pattern.prefix, text);
		sb_pattern_done(&pattern);
	}
	for (int i = 0; i < 60; i++) {
		char path[MAX_PATTERN];

		random_path(path);
		same_decisions(a, b, path, text);
	}
}

static void P6_a_printed_policy_decides_alike(void **state)
{
	const char *rounds = getenv("SANDBASH_TEST_ROUNDS");

	(void)state;
	unit_seed();
	for (long left = rounds ? strtol(rounds, NULL, 10) : 4000; left > 0; left--) {
		SB_AUTO_BUF struct sb_buf text;
		struct given rules[MAX_RULES];
		struct sb_policy *policy = sb_policy_new(), *again;
		size_t count = random_rules(policy, rules);

		sb_policy_set(policy, SB_SETTING_MODE, unit_below(20) ? 1 + unit_below(2) : 0);
		sb_policy_set(policy, SB_SETTING_NETWORK, (int)unit_below(2));
		sb_policy_set(policy, SB_SETTING_TMP, (int)unit_below(3));
		assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
		sb_buf_init(&text, 64 * 1024); /* sixteen short rules */
		sb_policy_print(policy, &text);
		assert_false(sb_buf_failed(&text));
		again = read_back(text.data, rules, count);
		same_policy(policy, again, text.data);
		sb_policy_free(policy);
		sb_policy_free(again);
	}
}

/* The longest path, each byte of which needs a backslash, is a rule like any other. */
static void P6_the_longest_pattern_comes_back(void **state)
{
	SB_AUTO_BUF struct sb_buf text;
	struct given given = {.rule = {.tier = SB_TIER_FLAG, .origin = "flag"}};
	struct sb_policy *policy = sb_policy_new(), *again;
	static char path[4096];
	char *pattern;

	(void)state;
	memset(path, '*', sizeof path - 1);
	path[0] = '/';
	pattern = sb_pattern_escape(path);
	given.rule.access = sb_access_write;
	given.rule.pattern = pattern;
	assert_int_equal(sb_policy_add(policy, &given.rule, NULL), SB_OK);
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	sb_buf_init(&text, 64 * 1024);
	sb_policy_print(policy, &text);
	again = read_back(text.data, &given, 1);
	same_decisions(policy, again, path, "the longest pattern");
	assert_int_equal(sb_decide(again, SB_DELETE, path).verdict, SB_ALLOW);
	sb_policy_free(policy);
	sb_policy_free(again);
	free(pattern);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(P6_a_printed_policy_decides_alike),
	cmocka_unit_test(P6_the_longest_pattern_comes_back),
};

UNIT_MAIN("roundtrip")
