/*
 * opened.c - the guard's rows as rules, and rules of the user's that open a guarded name.
 */
#include "judge/judge_impl.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "path/pattern.h"

/* Made when it is first needed, and never let go: the rows are the same for every run. */
const struct sb_rule *sb_row_rule(const struct sb_guard_row *row)
{
	static const struct sb_rule nameless = {.access = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}},
						.tier = SB_TIER_BUILTIN,
						.pattern = "",
						.origin = "built-in"};
	static struct sb_rule *made[SB_GUARD_MAX_ROWS + SB_GUARD_MAX_GIT_ROWS];
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

/* Where the component begins that ends before end; 0 at the root. */
static size_t component_before(const char *path, size_t end)
{
	while (end && path[end - 1] != '/')
		end--;
	return end;
}

static size_t count_components(const char *pattern)
{
	size_t count = 1;

	for (; *pattern; pattern++)
		count += *pattern == '/';
	return count;
}

/*
 * Directories in which everybody keeps settings: a rule for all of one is about no name in it.  How much of
 * rest, "/.config/autostart/x", that is.
 */
static size_t length_of_shared(const char *rest, const char *pattern)
{
	static const char *const shared[] = {".config/", ".local/share/", ".local/"};

	for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
		if (strncmp(pattern, shared[i], strlen(shared[i])) == 0 && rest[0] == '/')
			return strlen(shared[i]);
	return 0;
}

/* Written into out, PATH_MAX bytes. */
static void find_parent(const char *path, char *out)
{
	size_t end = component_before(path, strlen(path));

	end -= end > 1;
	memcpy(out, path, end);
	out[end] = '\0';
}

/*
 * The directory that holds what a row is about: for ".claude/skills/X" and P/.claude/skills/a/b
 * that is P, for ".config/autostart/X" it is P/.config.  Written into out, PATH_MAX bytes.
 */
static void find_holder(const char *path, const char *pattern, char *out)
{
	size_t left = count_components(pattern), end = strlen(path);
	const char *deep = strstr(pattern, "/**");

	if (deep && !deep[3]) { /* everything beneath: go up to the name before it */
		const char *name = deep;
		size_t length, at = end;

		while (name > pattern && name[-1] != '/')
			name--;
		length = (size_t)(deep - name);
		do {
			size_t from = component_before(path, at);

			if (at - from == length && strncasecmp(path + from, name, length) == 0) {
				end = at;
				break;
			}
			at = from ? from - 1 : 0;
		} while (at);
		left--;
	}
	while (left-- && end) {
		end = component_before(path, end);
		end -= end > 0;
	}
	end += length_of_shared(path + end, pattern);
	memcpy(out, path, end);
	out[end] = '\0';
	if (!end)
		memcpy(out, "/", 2);
}

/*
 * SECURITY: a rule of the user's opens a guarded name only if it is about that name.
 *
 * Danger: every project is writable by some rule, on the command line or in a file.  So the
 * rule must not cover the directory around the name as well; and where it has wildcards, its
 * last component must be a name, or "write *.json" would open .mcp.json.
 * Held by: tests/supervise/guard.py
 */
bool sb_rule_opens(const struct sb_rule *rule, const char *path,
		   const struct sb_guard_answer *guard)
{
	const char *last = strrchr(rule->pattern, '/');
	struct sb_pattern pattern;
	char holder[PATH_MAX];
	bool names;

	/* an answer was given about a place, and kept for a session: never about such a name */
	if (rule->tier == SB_TIER_BUILTIN || rule->tier == SB_TIER_SESSION ||
	    (last && strpbrk(last, "*?[")))
		return false;
	if (sb_pattern_parse(rule->pattern, &pattern, NULL) != SB_OK)
		return false;
	if (guard->named) /* whatever it is called */
		find_parent(guard->named, holder);
	else
		find_holder(path, guard->row->pattern, holder);
	names = !sb_pattern_covers(&pattern, holder);
	sb_pattern_done(&pattern);
	return names;
}
