#include "zones/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/access.h"

#define PATTERN_BYTES (2 * 4096) /* twice the longest path: each character may have a backslash */

static enum sb_verdict verdict_of(enum sb_approval approval)
{
	static const enum sb_verdict verdicts[] = {SB_ALLOW, SB_ASK, SB_DENY};

	return verdicts[approval];
}

void sb_zones_tighten(struct sb_zones *zones, const struct sb_policy *user)
{
	if (sb_policy_get(user, SB_SETTING_WORKERS) == SB_WORKERS_DECLARED)
		return;
	for (size_t i = 0; i < zones->count; i++) {
		struct sb_zone *zone = &zones->all[i];

		if (zone->write < SB_APPROVAL_ASK)
			zone->write = SB_APPROVAL_ASK;
		if (zone->remove < SB_APPROVAL_ASK)
			zone->remove = SB_APPROVAL_ASK;
	}
}

struct sb_access sb_zone_access(const struct sb_zone *zone)
{
	struct sb_access access = sb_access_read;

	if (zone->mode == SB_ZONE_RW) {
		access.verdict[SB_MODIFY] = access.verdict[SB_CREATE] =
			(unsigned char)verdict_of(zone->write);
		access.verdict[SB_DELETE] = (unsigned char)verdict_of(zone->remove);
	}
	return access;
}

/* What the person and the worker read of it: by the name that both know. */
static void tell_origin(const struct sb_zone *zone, struct sb_buf *out)
{
	static const char *const words[] = {"allowed", "asked about", "not allowed"};

	if (zone->mode == SB_ZONE_RO)
		sb_buf_printf(out, "/%s is read-only", zone->name);
	else
		sb_buf_printf(out, "/%s: writing is %s, deleting is %s", zone->name,
			      words[zone->write], words[zone->remove]);
}

static int add_zone(struct sb_policy *policy, const struct sb_zone *zone, enum sb_zone_names names,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *seen = sb_path_join("/", zone->name);
	const char *path = names == SB_ZONE_SEEN ? seen : zone->path;
	SB_AUTO_FREE char *pattern = seen ? sb_pattern_escape(path) : NULL;
	SB_AUTO_BUF struct sb_buf origin = SB_BUF(256);
	struct sb_rule rule = {.access = sb_zone_access(zone), .tier = SB_TIER_FILE};

	tell_origin(zone, &origin);
	if (!pattern || sb_buf_failed(&origin))
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	rule.pattern = pattern;
	rule.origin = origin.data;
	return sb_policy_add(policy, &rule, err);
}

int sb_zones_rules(struct sb_policy *policy, const struct sb_zones *zones, enum sb_zone_names names,
		   struct sb_error *err)
{
	static const struct sb_rule system = {
		.access = {{SB_ALLOW, SB_DENY, SB_DENY, SB_DENY}},
		.tier = SB_TIER_FILE,
		.pattern = "/",
		.origin = "the system is read-only",
	};
	int status = names == SB_ZONE_SEEN ? sb_policy_add(policy, &system, err) : SB_OK;

	for (size_t i = 0; i < zones->count && status == SB_OK; i++)
		status = add_zone(policy, &zones->all[i], names, err);
	return status;
}

/* --- what the user's rules say ------------------------------------------------------------------- */

struct inheriting {
	struct sb_policy *policy;
	const struct sb_zone *zone;
	const struct sb_rule *rule; /* of the user's */
	struct sb_error *err;
};

/*
 * The rule at "/NAME", a slash and rest, which may be empty; never looser than the directory is.  As a built-in one:
 * of two for one pattern the stricter counts, and none opens a guarded name.
 */
static int add_seen(const struct inheriting *inheriting, const char *rest)
{
	const struct sb_access least = sb_zone_access(inheriting->zone);
	SB_AUTO_BUF struct sb_buf pattern = SB_BUF(PATTERN_BYTES);
	struct sb_rule rule = {.access = inheriting->rule->access,
			       .tier = SB_TIER_BUILTIN,
			       .hard = inheriting->rule->hard ||
				       inheriting->rule->tier == SB_TIER_SYSTEM,
			       .tightens = inheriting->rule->tightens,
			       .origin = inheriting->rule->origin};

	for (int op = 0; op < SB_OP_COUNT; op++)
		if (rule.access.verdict[op] < least.verdict[op])
			rule.access.verdict[op] = least.verdict[op];
	sb_buf_printf(&pattern, "/%s%s%s", inheriting->zone->name, *rest ? "/" : "", rest);
	if (sb_buf_failed(&pattern))
		return sb_fail(inheriting->err, SB_E_NOMEM, 0, "a rule is too long: %s",
			       inheriting->rule->origin);
	rule.pattern = pattern.data;
	return sb_policy_add(inheriting->policy, &rule, inheriting->err);
}

/*
 * What is left of a pattern's components when those of path, which lead to the directory, are taken away: for two
 * asterisks there are several answers, and each is a rule.  One that ends on the way is about the directory as a
 * whole: inherit_whole().
 */
static int add_rests(const struct inheriting *inheriting, const char *glob, const char *path)
{
	size_t part = strcspn(glob, "/"), name = strcspn(path, "/");
	const char *glob_rest = glob + part + (glob[part] == '/');
	const char *path_rest = path + name + (path[name] == '/');
	int status;

	if (!*glob)
		return SB_OK;
	if (!*path)
		return add_seen(inheriting, glob);
	if (part == 2 && strncmp(glob, "**", 2) == 0) {
		status = add_rests(inheriting, glob, path_rest);
		return status == SB_OK ? add_rests(inheriting, glob_rest, path) : status;
	}
	return sb_glob_name(glob, part, path, name) ? add_rests(inheriting, glob_rest, path_rest)
						    : SB_OK;
}

/* path behind the directory around it, both canonical. */
static const char *behind(const char *around, const char *path)
{
	size_t length = strcmp(around, "/") == 0 ? 0 : strlen(around);

	return path + length + (path[length] == '/');
}

/* A rule about a part of the directory. */
static int inherit(const struct inheriting *inheriting)
{
	const char *path = inheriting->zone->path;
	struct sb_pattern pattern;
	int status = sb_pattern_parse(inheriting->rule->pattern, &pattern, inheriting->err);

	if (status != SB_OK)
		return status;
	if (sb_path_within(path, pattern.prefix)) {
		/* the text of a pattern has the components of its prefix, some with backslashes */
		SB_AUTO_FREE char *around = sb_pattern_escape(path);

		status = !around ? sb_fail(inheriting->err, SB_E_NOMEM, 0, "out of memory")
			 : *behind(around, pattern.text)
				 ? add_seen(inheriting, behind(around, pattern.text))
				 : SB_OK;
	} else if (pattern.glob && sb_path_within(pattern.prefix, path)) {
		status = add_rests(inheriting, pattern.glob, behind(pattern.prefix, path));
	}
	sb_pattern_done(&pattern);
	return status;
}

/* What rules about the directory itself, or around it, say. */
static int inherit_whole(struct sb_policy *policy, const struct sb_zone *zone,
			 const struct sb_policy *user, struct sb_error *err)
{
	int status = SB_OK;

	for (int op = 0; op < SB_OP_COUNT && status == SB_OK; op++) {
		struct sb_decision decision = sb_decide(user, (enum sb_op)op, zone->path);
		struct sb_rule rule = {.hard = true, .tightens = true};

		if (decision.verdict == SB_ALLOW || !decision.rule ||
		    (decision.rule->tier == SB_TIER_BUILTIN && op != SB_READ))
			continue;
		if (op == SB_READ) {
			sb_fail(err, SB_E_REFUSED, 0, "/%s: a rule hides its directory (%s)",
				zone->name, decision.rule->origin);
			return SB_E_REFUSED;
		}
		rule.access.verdict[op] = (unsigned char)decision.verdict;
		rule.origin = decision.rule->origin;
		status = add_seen(&(struct inheriting){policy, zone, &rule, err}, "");
	}
	return status;
}

int sb_zones_inherit(struct sb_policy *policy, const struct sb_zones *zones,
		     const struct sb_policy *user, struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < zones->count && status == SB_OK; i++) {
		const struct sb_zone *zone = &zones->all[i];

		status = inherit_whole(policy, zone, user, err);
		for (size_t j = 0; j < sb_policy_count(user) && status == SB_OK; j++) {
			const struct sb_rule *rule = sb_policy_rule(user, j);

			if (rule->tier != SB_TIER_BUILTIN)
				status = inherit(&(struct inheriting){policy, zone, rule, err});
		}
	}
	return status;
}
