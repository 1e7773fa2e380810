/*
 * load_rule.c - one rule of a file or an option, into a setup that is being made.
 */
#include "base/list.h"
#include "config/load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "config/rules.h"
#include "guard/guard.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/access.h"
#include "policy/text.h"

int sb_maker_warn(struct sb_maker *maker, struct sb_error *err, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return sb_list_push(&maker->setup.warnings, &maker->warning_count, text, err);
}

int sb_load_say_where(struct sb_error *err, const char *format, ...)
{
	char text[2 * sizeof err->message];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof err->message, format, args);
	va_end(args);
	snprintf(text + strlen(text), sizeof err->message, "%s", err->message);
	sb_escape_line(err->message, sizeof err->message, text);
	return err->code;
}

static int list_rule(struct sb_maker *maker, const struct sb_rule *rule, bool missing,
		     struct sb_error *err)
{
	struct sb_setup *setup = &maker->setup;

	if (!SB_GROW(setup->listed, setup->listed_count))
		return sb_no_memory(err);
	setup->listed[setup->listed_count] = (struct sb_listed){.tier = rule->tier,
								.access = rule->access,
								.fast = rule->fast,
								.tightens = rule->tightens,
								.missing = missing,
								.pattern = strdup(rule->pattern)};
	return setup->listed[setup->listed_count++].pattern ? SB_OK : sb_no_memory(err);
}

/*
 * SECURITY: a grant is not led out of a project by a link that lies in it.
 *
 * Danger: a command replaces "build" by a link to the home directory, and the next run
 * with --allow-write=build opens that (CVE-2025-59532's class).
 * Price: a user with such a link of his own has to name its target.
 * Held by: tests/enforce/paths.py
 */
int sb_load_refuse_planted(const char *text, const char *link, const char *target,
			   struct sb_error *err)
{
	sb_fail(err, SB_E_REFUSED, 0,
		"cannot open '%s': the link '%s', which a command could have made, leads out", text,
		link);
	return sb_hint(err, "name what it leads to: '%s'", target);
}

/* Remember a grant, to look at it again when all of them are known. */
static int note_grant(struct sb_maker *maker, const struct sb_rule_source *source, const char *text,
		      const char *path, struct sb_error *err)
{
	char *absolute = NULL;
	int status = sb_path_expand(text, source->base, maker->setup.home.home, &absolute, err);

	if (status == SB_OK)
		status = sb_list_push(&maker->granted, &maker->granted_count, absolute, err);
	if (status == SB_OK)
		status = sb_list_push(&maker->opened, &maker->opened_count, strdup(path), err);
	return status;
}

int sb_load_check_grants(const struct sb_maker *maker, struct sb_error *err)
{
	for (size_t i = 0; i < maker->granted_count; i++) {
		SB_AUTO_FREE char *path = NULL, *planted = NULL;
		int status = sb_path_canonical_watched(maker->granted[i],
						       (const char *const *)maker->opened, &path,
						       NULL, &planted, err);

		if (status == SB_OK && planted)
			status = sb_load_refuse_planted(maker->granted[i], planted, path, err);
		if (status != SB_OK)
			return status;
	}
	return SB_OK;
}

/*
 * Why a grant for something that is not there does nothing; NULL: it does.  In a supervised run
 * each call is decided by name, and done by a process that may do it (linux_attempt.c); mounts and
 * Landlock, all that a static run and a fast root have, need something to stand on.
 */
static const char *why_skipped(const struct sb_maker *maker, bool fast,
			       const struct sb_resolved *resolved)
{
	if (!resolved->missing || resolved->is_glob)
		return NULL;
	if (resolved->missing != ENOENT)
		return "";
	if (maker->request->existing_only)
		return "; a static run opens only what is there";
	return fast ? "; a fast root has to be there" : NULL;
}

/*
 * SECURITY: a rule that a link in a writable directory led to its target opens nothing there.
 *
 * Danger: "read vendor" would show ~/.ssh once vendor is a link to it, being more specific than
 * what hides that; "write dist" would open .git/hooks, which dist is a link to by now.  Such a link
 * comes with a clone, or a command has made it.
 * Price: who has links of his own in the project names what they lead to.
 * Held by: tests/cli/linked_rules.py
 *
 * What the rule takes away it takes away there, too.
 */
static int add_tightening(struct sb_maker *maker, const struct sb_rule *rule, struct sb_error *err)
{
	struct sb_rule stricter = *rule;

	stricter.tier = SB_TIER_BUILTIN;
	stricter.hard = stricter.tightens = true;
	stricter.fast = false;
	return sb_policy_add(maker->setup.policy, &stricter, err);
}

/* The links that lead to what a rule names. */
struct way {
	struct sb_maker *maker;
	const struct sb_rule *rule;
	const char
		*last; /* the one in the last place, as a pattern: the rule is about it; or NULL */
};

static int hold_link(void *context, const char *link, struct sb_error *err)
{
	const struct way *way = context;
	SB_AUTO_FREE char *pattern = sb_pattern_escape(link);
	struct sb_rule rule = {.access = sb_access_read,
			       .tier = SB_TIER_BUILTIN,
			       .hard = true,
			       .link = true,
			       .pattern = pattern,
			       .origin = way->rule->origin};

	if (!pattern)
		return sb_no_memory(err);
	return way->last && strcmp(way->last, pattern) == 0
		       ? SB_OK
		       : sb_policy_add(way->maker->setup.policy, &rule, err);
}

/*
 * SECURITY: what a rule takes away, the next run with the same rule takes away, too.
 *
 * Danger: "deny current/key" is about v2/key, current being a link to v2.  A command that turns the link round
 * has the next run hide another file, and reads this one.
 * Price: a link that such a rule goes through stays where it is while the rule counts.
 * Held by: tests/cli/linked_rules.py
 */
static int hold_way(struct sb_maker *maker, const struct sb_rule *rule,
		    const struct sb_resolved *resolved, struct sb_error *err)
{
	struct way way = {maker, rule, resolved->link};

	return resolved->written ? sb_path_links(resolved->written, hold_link, &way, err) : SB_OK;
}

static int add_rule(struct sb_maker *maker, const struct sb_rule *rule, bool opens,
		    struct sb_error *err)
{
	return opens ? sb_policy_add(maker->setup.policy, rule, err)
		     : add_tightening(maker, rule, err);
}

/*
 * SECURITY: a profile opens files in which contents decide, and a static run looks at none: there they can be read.
 *
 * Danger: ~/.claude.json holds counters, and programs that the agent outside starts.
 * Held by: tests/cli/profiles.py
 */
static bool is_for_its_contents(const struct sb_maker *maker, enum sb_tier tier, const char *path)
{
	size_t count, length = path ? strlen(path) : 0;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	if (tier != SB_TIER_PROFILE || !maker->request->existing_only)
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t name = strlen(rows[i].held);

		if (rows[i].kind != SB_GUARD_ANYTHING && name && length > name &&
		    path[length - name - 1] == '/' &&
		    strcmp(path + length - name, rows[i].held) == 0)
			return true;
	}
	return false;
}

int sb_load_rule(struct sb_maker *maker, const struct sb_rule_source *source,
		 const struct sb_line *line, struct sb_error *err)
{
	SB_AUTO(sb_resolved_done) struct sb_resolved resolved = {0};
	struct sb_rule rule = {.access = line->access,
			       .tier = source->tier,
			       .fast = line->fast,
			       .tightens = line->tightens,
			       .login = source->login,
			       .cache = source->cache,
			       .origin = source->origin};
	bool all = sb_access_equal(&line->access, &sb_access_write);
	bool grants = sb_access_has(&line->access, SB_ALLOW, SB_MODIFY) && !line->tightens;
	const char *text = line->text, *skipped;
	bool reads;
	int status;

	status = sb_rule_resolve(
		&(struct sb_rule_base){.directory = source->base,
				       .home = maker->setup.home.home,
				       .may_be_literal = source->may_be_literal && grants,
				       .roots = (const char *const *)maker->watched},
		text, &resolved, err);
	if (status != SB_OK)
		return status;
	rule.pattern = resolved.pattern;
	skipped = grants ? why_skipped(maker, line->fast, &resolved) : NULL;
	if (skipped && source->makes && resolved.missing == ENOENT)
		skipped = NULL;
	reads = grants && is_for_its_contents(maker, source->tier, resolved.path);
	if (reads)
		rule.access = sb_access_read;
	/* SECURITY: whoever sees a socket can connect to it, where no supervisor holds the call. */
	if (line->access.quiet && resolved.path && sb_path_is_socket(resolved.path))
		rule.access.verdict[SB_READ] = SB_DENY;
	if (resolved.leads_out && grants) {
		status = sb_load_refuse_planted(text, resolved.through, resolved.pattern, err);
	} else if (source->scope && !sb_path_within(source->scope, resolved.pattern)) {
		status = SB_OK;
	} else if (skipped) {
		/* S8.  A rule that takes away is kept: what it names may appear later. */
		if (source->tier != SB_TIER_PROFILE) /* made for every home: much is not there */
			status = sb_maker_warn(maker, err, "skipping '%s': %s (from %s%s)", text,
					       strerror(resolved.missing), source->origin, skipped);
	} else {
		status = line->fast ? sb_fast_note(maker, source, text, &resolved, err) : SB_OK;
		if (status == SB_OK) /* what is fast looks for itself: fast.c */
			status = add_rule(maker, &rule,
					  !line->tightens && (!resolved.through || line->fast),
					  err);
		if (status == SB_OK)
			status = list_rule(maker, &rule, resolved.missing && grants, err);
		if (status == SB_OK && grants && !reads && !resolved.is_glob && !resolved.through)
			status = note_grant(maker, source, text, resolved.path, err);
		if (status == SB_OK && source->makes && resolved.path && !resolved.through)
			status = sb_list_push(&maker->setup.profile.directories,
					      &maker->setup.profile.directory_count,
					      strdup(resolved.path), err);
		if (status == SB_OK && !all)
			status = hold_way(maker, &rule, &resolved, err);
		if (status == SB_OK && resolved.link && (!all || resolved.through)) {
			rule.pattern = resolved.link;
			status = add_rule(maker, &rule, !line->tightens, err);
		}
	}
	return status;
}
