/*
 * line.c - fuzz target: the input is a rule file.
 *
 * Whatever it holds, a line is taken or refused with a harmless sentence; a rule
 * that was taken prints to a line that parses back to the same rule; and the policy
 * they make, printed and read back, decides alike.
 */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "path/pattern.h"
#include "policy/text.h"
#include "sandbash/policy.h"

enum { MAX_LINES = 40 };

/* A rule that made it into the policy, to be added again. */
struct given {
	struct sb_rule rule;
	char *pattern;
};

static bool is_harmless(const char *text)
{
	for (size_t length = strlen(text), step; length; text += step, length -= step) {
		step = sb_utf8_visible(text, length);
		if (!step)
			return false;
	}
	return true;
}

static void check_refusal(const struct sb_error *err, int status)
{
	CHECK(status == SB_E_INVALID && err->code == SB_E_INVALID && err->sys_errno == 0);
	CHECK(err->message[0] && is_harmless(err->message) && is_harmless(err->hint));
}

static void check_rule_comes_back(const struct sb_line *line)
{
	SB_AUTO_BUF struct sb_buf printed;
	struct sb_line again;

	sb_buf_init(&printed, 64 * 1024); /* the longest pattern, every byte as \xNN */
	sb_rule_print(&line->access, line->text, &printed);
	CHECK(!sb_buf_failed(&printed) && is_harmless(printed.data));
	sb_buf_puts(&printed, " # origin");
	CHECK(sb_line_parse(printed.data, printed.length, &again, NULL) == SB_OK);
	CHECK(again.kind == SB_LINE_RULE && sb_access_equal(&again.access, &line->access));
	CHECK(strcmp(again.text, line->text) == 0);
	sb_line_done(&again);
}

/* A profile has lines of its own, and reads all others alike. */
static void check_profile(const char *bytes, size_t length, int status, const struct sb_line *line)
{
	struct sb_error err;
	struct sb_line again;
	int other = sb_profile_line_parse(bytes, length, &again, &err);

	if (other != SB_OK) {
		check_refusal(&err, other);
		return;
	}
	CHECK(again.kind >= SB_LINE_PROGRAM || (status == SB_OK && again.kind == line->kind));
	sb_line_done(&again);
}

/* Returns true when a rule was added. */
static bool obey(struct sb_policy *policy, const struct sb_line *line, struct sb_rule *rule)
{
	int status;

	switch (line->kind) {
	case SB_LINE_SETTING:
		sb_policy_set(policy, line->setting, line->value);
		return false;
	case SB_LINE_RULE:
		rule->access = line->access;
		rule->pattern = line->text;
		rule->tightens = line->tightens;
		rule->hard |= line->tightens;
		if (line->tightens)
			rule->tier = SB_TIER_BUILTIN;
		status = sb_policy_add(policy, rule, NULL);
		CHECK(status == SB_OK || status == SB_E_INVALID || status == SB_E_CONFLICT);
		return status == SB_OK;
	default:
		return false;
	}
}

static void same_decisions(const struct sb_policy *a, const struct sb_policy *b, const char *path)
{
	struct sb_access first = sb_decide_all(a, path), second = sb_decide_all(b, path);

	CHECK(sb_access_equal(&first, &second));
}

static void check_policy_comes_back(struct sb_policy *policy, const struct given *rules,
				    size_t count)
{
	SB_AUTO_BUF struct sb_buf text;
	struct sb_policy *again = sb_policy_new();

	CHECK(sb_policy_seal(policy, NULL) == SB_OK);
	sb_buf_init(&text, 4 * 1024 * 1024); /* all lines at their longest */
	sb_policy_print(policy, &text);
	CHECK(!sb_buf_failed(&text));
	for (size_t i = 0; i < count; i++)
		if (rules[i].rule.tier < SB_TIER_FILE)
			CHECK(sb_policy_add(again, &rules[i].rule, NULL) == SB_OK);
	for (const char *at = text.data; *at;) {
		size_t length = strcspn(at, "\n");
		struct sb_rule rule = {.tier = SB_TIER_FILE, .origin = "file"};
		struct sb_line line;

		CHECK(sb_line_parse(at, length, &line, NULL) == SB_OK);
		CHECK(obey(again, &line, &rule) == (line.kind == SB_LINE_RULE));
		sb_line_done(&line);
		at += length + 1;
	}
	CHECK(sb_policy_seal(again, NULL) == SB_OK);
	CHECK(sb_policy_count(again) == sb_policy_count(policy));
	CHECK(sb_policy_mode(again) == sb_policy_mode(policy));
	same_decisions(policy, again, "/");
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const char *pattern = sb_policy_rule(policy, i)->pattern;
		struct sb_pattern parsed;

		CHECK(sb_pattern_parse(pattern, &parsed, NULL) == SB_OK);
		same_decisions(policy, again, parsed.prefix);
		same_decisions(policy, again, pattern); /* a glob's text is a path like any other */
		sb_pattern_done(&parsed);
	}
	sb_policy_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sb_policy *policy = sb_policy_new();
	struct given rules[MAX_LINES];
	const char *at = (const char *)data, *end = at + size;
	size_t count = 0;

	for (int number = 0; at < end && number < MAX_LINES; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);
		struct sb_line line = {.kind = SB_LINE_EMPTY};
		struct sb_error err;
		struct sb_rule rule = {.tier = (enum sb_tier)(number % SB_TIER_COUNT),
				       .hard = number == SB_TIER_COUNT,
				       .any_mode = number == 2 * SB_TIER_COUNT,
				       .origin = "line"};
		int status = sb_line_parse(at, length, &line, &err);

		check_profile(at, length, status, &line);
		at += length + 1;
		if (status != SB_OK) {
			check_refusal(&err, status);
			CHECK(line.kind == SB_LINE_EMPTY && !line.text);
			continue;
		}
		CHECK(!line.text == (line.kind == SB_LINE_EMPTY));
		CHECK(!line.text || line.text[0]);
		if (line.kind == SB_LINE_RULE)
			check_rule_comes_back(&line);
		if (obey(policy, &line, &rule)) {
			rules[count].pattern = line.text;
			rules[count].rule = rule;
			line.text = NULL;
			count++;
		}
		sb_line_done(&line);
	}
	check_policy_comes_back(policy, rules, count);
	for (size_t i = 0; i < count; i++)
		free(rules[i].pattern);
	sb_policy_free(policy);
	return 0;
}
