/*
 * opened.c - the guard's rows as rules, and rules of the user's that open a guarded name.
 */
#include "base/auto.h"
#include "judge/judge_impl.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "path/pattern.h"
#include "policy/policy_impl.h"

/* Made when it is first needed, and never let go: the rows are the same for every run. */
const struct sb_rule *sb_row_rule(const struct sb_guard_row *row)
{
	static const struct sb_rule nameless = {.access = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}},
						.tier = SB_TIER_BUILTIN,
						.pattern = "",
						.origin = "built-in"};
	static struct sb_rule *made[SB_GUARD_ALL_ROWS];
	struct sb_rule **place = &made[sb_guard_row_number(row)], *rule, *other = NULL;
	char *origin = NULL;

	rule = __atomic_load_n(place, __ATOMIC_ACQUIRE);
	if (rule)
		return rule;
	rule = malloc(sizeof *rule);
	if (!rule || asprintf(&origin, "built-in: %s: %s", row->who, row->why) < 0) {
		free(rule);
		return &nameless;
	}
	*rule = (struct sb_rule){.access = nameless.access,
				 .tier = SB_TIER_BUILTIN,
				 .pattern = row->pattern,
				 .origin = origin};
	if (!__atomic_compare_exchange_n(place, &other, rule, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		free(origin); /* another thread was faster */
		free(rule);
		return other;
	}
	return rule;
}

/* How many components at its end the pattern spells out. */
static size_t count_spelled(const struct sb_pattern *pattern)
{
	const char *end = pattern->text + strlen(pattern->text), *start = end;
	size_t count = 0;

	while (start > pattern->text) {
		for (start = end; start > pattern->text && start[-1] != '/';)
			start--;
		if (strcspn(start, "*?[") < (size_t)(end - start))
			break;
		count++;
		end = start - (start > pattern->text);
	}
	return count;
}

/* Does the pattern cover the first length bytes of path, which end a component? */
static bool covers_start(const struct sb_pattern *pattern, const char *path, size_t length)
{
	char start[PATH_MAX] = "/";

	if (length >= sizeof start)
		return true;
	if (length) {
		memcpy(start, path, length);
		start[length] = '\0';
	}
	return sb_pattern_covers(pattern, start);
}

/* How many components behind the first length bytes of path make a directory that the pattern covers? */
static size_t count_needed(const struct sb_pattern *pattern, const char *path, size_t length)
{
	size_t count = 0;

	while (path[length] && !covers_start(pattern, path, length)) {
		length += 1 + strcspn(path + length + 1, "/");
		count++;
	}
	return count;
}

/* Does the pattern name what stands behind holder, in words and not by what happens to lie there? */
static bool names(const struct sb_pattern *pattern, const char *path, size_t holder)
{
	size_t needed = path[holder] ? count_needed(pattern, path, holder) : 0;

	return needed && (!pattern->glob || needed <= count_spelled(pattern));
}

/*
 * Has somebody written the rule, who knows the name?  An answer was given about a place, and kept for a session: never
 * about such a name.  What a tier brings along that is not listed here is writable, and judged by its contents.
 */
static bool may_open(enum sb_tier tier)
{
	return tier == SB_TIER_SYSTEM || tier == SB_TIER_GLOBAL || tier == SB_TIER_DIRECTORY ||
	       tier == SB_TIER_FILE || tier == SB_TIER_FLAG;
}

/*
 * SECURITY: a rule of the user's opens a guarded name only if it names it.
 *
 * Danger: every project is writable by some rule, and so is what --allow-write, an answer "always" or a file
 * of rules opens.  A rule for a directory is about files in it; what a command makes of the directory, a git
 * directory or one with a .config in it, the rule has never said.  Nor has it in the next run, when it is one.
 * So the rule must spell out the guarded name, or a directory on the way to it that is called as the table
 * says; "write *.json" does not open .mcp.json, and "write X/hooks", X being any names, opens no hook.
 * Price: hooks in a repository that is called "backup", and those that core.hooksPath names, are opened
 * file by file.
 * Held by: tests/supervise/grants.py
 */
bool sb_rule_opens(const struct sb_guard *guard, const struct sb_rule *rule, const char *path,
		   const struct sb_guard_row *row, const char *named, bool file)
{
	SB_AUTO(sb_pattern_done) struct sb_pattern pattern = {0};
	size_t parent = (size_t)(strrchr(path, '/') - path);
	bool opens;

	/* by a variable of the agent's own (found.c): its profile says what is state there */
	if (!row->pattern[0] && rule->tier == SB_TIER_PROFILE)
		return true;
	if (!may_open(rule->tier))
		return false;
	if (sb_pattern_parse(rule->pattern, &pattern, NULL) != SB_OK)
		return false;
	if (named) /* whatever it is called */
		opens = !pattern.glob &&
			!covers_start(&pattern, named, (size_t)(strrchr(named, '/') - named));
	else
		opens = names(&pattern, path, sb_guard_holder(guard, row, path)) ||
			(file && !pattern.glob && !covers_start(&pattern, path, parent));
	return opens;
}

/* Does a rule that is no less specific say something stricter? */
static bool is_overruled(const struct sb_policy *policy, enum sb_op op, const char *path,
			 const struct sb_pattern *pattern)
{
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_pattern *other = sb_policy_pattern(policy, i);

		if (sb_policy_rule(policy, i)->access.verdict[op] != SB_ALLOW &&
		    sb_pattern_compare(other, pattern) >= 0 && sb_pattern_covers(other, path))
			return true;
	}
	return false;
}

/*
 * The rule that decides is the most specific one, and may be about a directory, while another one names
 * the file: together they allow what each of them does.  So it is enough that nothing stricter stands
 * between, and no rule that allows ever closes what another one opens (tests/unit/test_monotone.c).
 */
bool sb_rules_open(const struct sb_guard *guard, const struct sb_policy *policy,
		   const struct sb_judged *judged, bool file)
{
	const struct sb_guard_answer *answer = &judged->guard;
	const char *path = judged->site->path;

	if (sb_rule_opens(guard, judged->decision.rule, path, answer->row, answer->named, file))
		return true;
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);
		const struct sb_pattern *pattern = sb_policy_pattern(policy, i);

		if (rule->tier != SB_TIER_BUILTIN && rule != judged->decision.rule &&
		    rule->access.verdict[judged->op] == SB_ALLOW &&
		    sb_pattern_covers(pattern, path) &&
		    sb_rule_opens(guard, rule, path, answer->row, answer->named, file) &&
		    !is_overruled(policy, judged->op, path, pattern))
			return true;
	}
	return false;
}

bool sb_rules_can_name(const struct sb_guard *guard, const char *path,
		       const struct sb_guard_row *row)
{
	return path[sb_guard_holder(guard, row, path)];
}

bool sb_row_is_opened(const struct sb_guard *guard, const struct sb_policy *policy,
		      const char *path, const struct sb_guard_row *row)
{
	const struct sb_site site = {.path = path};
	const struct sb_judged judged = {
		.op = SB_CREATE,
		.site = &site,
		.decision = sb_decide(policy, SB_CREATE, path),
		.guard = {.row = row, .named = sb_is_system_row(row) ? row->pattern : NULL}};

	return judged.decision.verdict == SB_ALLOW && judged.decision.rule &&
	       sb_rules_open(guard, policy, &judged, true);
}
