/*
 * SECURITY: no command tells where the rules and kept answers of later runs are.
 *
 * Danger: an agent writes "config" and "profiles" into the state that its profile opens, and a variable (a
 * project's .env, a shell's start-up file) leads the next run there.
 * Price: who keeps them in such a place says so with --config-dir.  What other rules opened in an earlier run is
 * not known here: docs/security.md.
 * Held by: tests/cli/profiles.py
 *
 * The usual places are always believed: no run can change what is there (S9).
 */
#include "config/load.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/words.h"
#include "config/profile.h"
#include "guard/guard.h"
#include "config/rules.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/access.h"
#include "policy/policy_impl.h"
#include "policy/text.h"

static bool is_usual(const char *home, const char *fallback, const char *dir)
{
	SB_AUTO_FREE char *usual = NULL;

	return home && sb_path_canonical_beneath(home, fallback, &usual, NULL, NULL) == SB_OK &&
	       strcmp(usual, dir) == 0;
}

/* Our directory, if a variable alone says that it is this one; else NULL. */
static const char *named_dir(const struct sb_maker *maker, bool rules)
{
	const struct sb_environment *environment = &maker->request->environment;
	const struct sb_home *home = &maker->setup.home;
	const char *value = rules ? environment->xdg_config_home : environment->xdg_state_home;
	const char *usual = rules ? ".config/sandbash" : ".local/state/sandbash";
	const char *dir = rules ? home->config_dir : home->state_dir;

	if (!value || value[0] != '/' || (rules && environment->config_dir) ||
	    is_usual(home->home, usual, dir) || is_usual(home->account_home, usual, dir))
		return NULL;
	return dir;
}

static int refuse(bool rules, const char *dir, const char *opened, struct sb_error *err)
{
	sb_fail(err, SB_E_REFUSED, 0, "%s leads to '%s', which commands could have written: %s",
		rules ? "XDG_CONFIG_HOME" : "XDG_STATE_HOME", dir, opened);
	return rules ? sb_hint(err, "if the rules there are yours: --config-dir=%s", dir)
		     : sb_hint(err, "set it to another place");
}

/* A rule for the directory, around it, or for something in it. */
static bool is_about(const struct sb_pattern *pattern, const char *dir)
{
	static const char *const names[] = {"", "/config", "/profiles", "/projects"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		int length = snprintf(path, sizeof path, "%s%s", dir, names[i]);

		if (length >= (int)sizeof path || sb_pattern_covers(pattern, path))
			return true;
	}
	return sb_path_within(dir, pattern->prefix);
}

/* --- what profiles open ----------------------------------------------------------------------- */

/* Does the line of a profile open the directory?  Then *out becomes true. */
static int look_at_line(struct sb_maker *maker, const struct sb_line *line, const char *dir,
			bool *out, struct sb_error *err)
{
	SB_AUTO_FREE char *text = NULL;
	SB_AUTO(sb_resolved_done) struct sb_resolved resolved = {0};
	SB_AUTO(sb_pattern_done) struct sb_pattern pattern = {0};
	int status;

	/* an agent's own variable leads to a directory that has its name: below */
	if (line->kind != SB_LINE_RULE || !sb_access_has(&line->access, SB_ALLOW, SB_MODIFY) ||
	    (line->text[0] == '$' && strncmp(line->text, "$XDG_", 5) != 0))
		return SB_OK;
	status = sb_profile_expand(maker, line->text, &text, err);
	if (status != SB_OK || !text)
		return status;
	status = sb_rule_resolve(
		&(struct sb_rule_base){.directory = "/",
				       .home = maker->setup.home.home,
				       .roots = (const char *const *)maker->watched},
		text, &resolved, err);
	if (status != SB_OK)
		return status;
	status = sb_pattern_parse(resolved.pattern, &pattern, err);
	if (status != SB_OK)
		return status;
	*out = is_about(&pattern, dir);
	return SB_OK;
}

static int look_at_profile(struct sb_maker *maker, const struct sb_shipped_profile *profile,
			   const char *dir, bool *out, struct sb_error *err)
{
	struct sb_text_lines text =
		sb_text_lines(sb_shipped_text + profile->start, profile->length);
	int status = SB_OK;

	while (status == SB_OK && !*out && sb_next_line(&text)) {
		struct sb_line line;

		status = sb_profile_line_parse(text.text, text.length, &line, err);
		if (status == SB_OK) {
			status = look_at_line(maker, &line, dir, out, err);
			sb_line_done(&line);
		}
	}
	return status;
}

/* Is one of the directories on the way from the home directory called like an agent's own? */
static bool is_in_agents(const char *home, const char *dir)
{
	if (!home || !sb_path_within(home, dir))
		return false;
	dir += strlen(home);
	for (size_t length; *dir; dir += length) {
		dir += strspn(dir, "/");
		length = strcspn(dir, "/");
		if (sb_profile_is_agents(dir, length))
			return true;
	}
	return false;
}

/* Tools' caches are writable, too: tools.c. */
static int look_at_caches(struct sb_maker *maker, const char *dir, bool *out, struct sb_error *err)
{
	static const char *const caches[] = {"$XDG_CACHE_HOME/" SB_GUARD_CACHES,
					     "~/.cache/" SB_GUARD_CACHES};
	int status = SB_OK;

	for (size_t i = 0; i < 2 && status == SB_OK && !*out; i++) {
		const struct sb_line line = {
			.kind = SB_LINE_RULE, .access = sb_access_write, .text = (char *)caches[i]};

		status = look_at_line(maker, &line, dir, out, err);
	}
	return status;
}

static int look(struct sb_maker *maker, bool rules, struct sb_error *err)
{
	const struct sb_home *home = &maker->setup.home;
	const char *dir = named_dir(maker, rules);
	bool opened = false;
	int status;

	if (!dir)
		return SB_OK;
	if (is_in_agents(home->home, dir) || is_in_agents(home->account_home, dir))
		return refuse(rules, dir, "it lies in an agent's directory", err);
	status = look_at_caches(maker, dir, &opened, err);
	for (size_t i = 0; i < sb_shipped_profile_count && status == SB_OK && !opened; i++)
		status = look_at_profile(maker, &sb_shipped_profiles[i], dir, &opened, err);
	return status == SB_OK && opened ? refuse(rules, dir, "a profile opens it", err) : status;
}

int sb_believed_by_profiles(struct sb_maker *maker, struct sb_error *err)
{
	unsigned said = maker->left_out;
	int status;

	maker->left_out = ~0u; /* of no profile that counts: nothing is to be said */
	status = look(maker, true, err);
	if (status == SB_OK)
		status = look(maker, false, err);
	maker->left_out = said;
	return status;
}

/* --- what the rules of this run open ------------------------------------------------------------ */

int sb_believed_by_rules(struct sb_maker *maker, struct sb_error *err)
{
	const struct sb_policy *policy = maker->setup.policy;

	for (int rules = 0; rules < 2; rules++) {
		const char *dir = named_dir(maker, rules);

		for (size_t i = 0; dir && i < sb_policy_count(policy); i++) {
			const struct sb_rule *rule = sb_policy_rule(policy, i);

			if (rule->tier != SB_TIER_BUILTIN &&
			    sb_access_has(&rule->access, SB_ALLOW, SB_MODIFY) &&
			    is_about(sb_policy_pattern(policy, i), dir))
				return refuse(rules, dir, rule->origin, err);
		}
	}
	return SB_OK;
}
