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

/* Is name, length bytes, what one component of a row's pattern means?  Stars mean whatever is there. */
static bool is_meant(const char *name, size_t length, const char *component, size_t size)
{
	return memchr(component, '*', size) || memchr(component, '#', size) ||
	       component[0] == '<' || (length == size && strncasecmp(name, component, size) == 0);
}

/* Where, in path up to *end, what pattern's components up to size name begins.  False: elsewhere. */
static bool go_up(const char *path, size_t *end, const char *pattern, size_t size)
{
	while (size) {
		size_t part = component_before(pattern, size), from = component_before(path, *end);

		if (!*end || !is_meant(path + from, *end - from, pattern + part, size - part))
			return false;
		*end = from - (from > 0);
		size = part - (part > 0);
	}
	return true;
}

/*
 * The directory that holds what a row is about: for ".claude/skills/X" and P/.claude/skills/a/b
 * that is P, for ".config/autostart/X" it is P/.config.  Written into out, PATH_MAX bytes.
 *
 * A name may be guarded by a row whose pattern it has not got: a git config names it, or it is a directory in
 * which the row's names would be.  Then it is the directory around it, and only a rule for the name itself
 * is about it.
 */
static void find_holder(const char *path, const char *pattern, char *out)
{
	const char *deep = strstr(pattern, "/**");
	size_t end = strlen(path), size = strlen(pattern);
	bool found = false;

	if (deep && !deep[3]) { /* everything beneath: go up to the name before it */
		size = (size_t)(deep - pattern);
		for (size_t at = end; at && !found; at = component_before(path, at), at -= at > 0) {
			end = at;
			found = go_up(path, &end, pattern, size);
		}
	} else {
		found = go_up(path, &end, pattern, size);
	}
	if (found) {
		end += length_of_shared(path + end, pattern);
	} else {
		end = component_before(path, strlen(path));
		end -= end > 0;
	}
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
bool sb_rule_opens(const struct sb_rule *rule, const char *path, const struct sb_guard_row *row,
		   const char *named)
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
	if (named) /* whatever it is called */
		find_parent(named, holder);
	else
		find_holder(path, row->pattern, holder);
	names = !sb_pattern_covers(&pattern, holder);
	sb_pattern_done(&pattern);
	return names;
}
