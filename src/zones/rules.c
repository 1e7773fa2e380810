#include "zones/rules.h"

#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/access.h"

#define PATTERN_BYTES (2 * 4096) /* twice the longest path: each character may have a backslash */

/* Each is the other by another name. */
_Static_assert((int)SB_PRE_APPROVED == SB_ALLOW && (int)SB_APPROVAL_ASK == SB_ASK &&
		       (int)SB_APPROVAL_BLOCKED == SB_DENY,
	       "approvals are verdicts");

/* What a rule of the user's about the directory, or around it, says; built-in ones are about others. */
static enum sb_approval asked_for(const struct sb_policy *user, enum sb_op op, const char *path)
{
	struct sb_decision decision = sb_decide(user, op, path);

	return decision.rule && decision.rule->tier != SB_TIER_BUILTIN
		       ? (enum sb_approval)decision.verdict
		       : SB_PRE_APPROVED;
}

static void raise_to(enum sb_approval *approval, enum sb_approval least)
{
	if (*approval < least)
		*approval = least;
}

void sb_zones_tighten(struct sb_zones *zones, const struct sb_policy *user)
{
	enum sb_approval least = sb_policy_get(user, SB_SETTING_WORKERS) == SB_WORKERS_ASK
					 ? SB_APPROVAL_ASK
					 : SB_PRE_APPROVED;

	for (size_t i = 0; i < zones->count; i++) {
		struct sb_zone *zone = &zones->all[i];

		if (sb_policy_mode(user) == SB_MODE_READ_ONLY)
			zone->mode = SB_ZONE_RO;
		raise_to(&zone->write, least);
		raise_to(&zone->write, asked_for(user, SB_MODIFY, zone->path));
		raise_to(&zone->write, asked_for(user, SB_CREATE, zone->path));
		raise_to(&zone->remove, least);
		raise_to(&zone->remove, asked_for(user, SB_DELETE, zone->path));
	}
}

struct sb_access sb_zone_access(const struct sb_zone *zone)
{
	struct sb_access access = sb_access_read;

	if (zone->mode == SB_ZONE_RW) {
		access.verdict[SB_MODIFY] = access.verdict[SB_CREATE] = (unsigned char)zone->write;
		access.verdict[SB_DELETE] = (unsigned char)zone->remove;
	}
	return access;
}

void sb_zone_says(const struct sb_zone *zone, struct sb_buf *out)
{
	static const char *const words[] = {"allowed", "asked about", "not allowed"};

	if (zone->mode == SB_ZONE_RO)
		sb_buf_printf(out, "/%s is read-only", zone->name);
	else
		sb_buf_printf(out, "/%s: writing is %s, deleting is %s", zone->name,
			      words[zone->write], words[zone->remove]);
}

static char *pattern_of(const struct sb_zone *zone, enum sb_zone_names names)
{
	SB_AUTO_FREE char *seen = sb_path_join("/", zone->name);

	return seen ? sb_pattern_escape(names == SB_ZONE_SEEN ? seen : zone->path) : NULL;
}

static int add_zone(struct sb_policy *policy, const struct sb_zone *zone, enum sb_zone_names names,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *pattern = pattern_of(zone, names);
	SB_AUTO_BUF struct sb_buf origin = SB_BUF(256);
	struct sb_rule rule = {.access = sb_zone_access(zone), .tier = SB_TIER_DIRECTORY};

	sb_zone_says(zone, &origin);
	if (!pattern || sb_buf_failed(&origin))
		return sb_no_memory(err);
	rule.pattern = pattern;
	rule.origin = origin.data;
	return sb_policy_add(policy, &rule, err);
}

/* What a person is asked about in it; what is read-only or blocked stays so. */
static int add_part(struct sb_policy *policy, const struct sb_zone *zone,
		    const struct sb_zone_part *part, const char *base, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf pattern = SB_BUF(PATTERN_BYTES);
	struct sb_rule rule = {
		.access = sb_zone_access(zone), .tier = SB_TIER_DIRECTORY, .origin = part->origin};

	for (int op = 0; op < SB_OP_COUNT; op++)
		if (op != SB_READ && rule.access.verdict[op] == SB_ALLOW)
			rule.access.verdict[op] = SB_ASK;
	sb_buf_printf(&pattern, "%s/%s", base, part->pattern);
	if (sb_buf_failed(&pattern))
		return sb_fail(err, SB_E_NOMEM, 0, "a path is too long: %s", part->pattern);
	rule.pattern = pattern.data;
	return sb_policy_add(policy, &rule, err);
}

static int add_parts(struct sb_policy *policy, const struct sb_zone *zone, enum sb_zone_names names,
		     struct sb_error *err)
{
	SB_AUTO_FREE char *base = pattern_of(zone, names);
	int status = base ? SB_OK : sb_no_memory(err);

	for (size_t i = 0; i < zone->part_count && status == SB_OK; i++)
		status = add_part(policy, zone, &zone->parts[i], base, err);
	return status;
}

int sb_zones_rules(struct sb_policy *policy, const struct sb_zones *zones, enum sb_zone_names names,
		   struct sb_error *err)
{
	static const struct sb_rule system = {
		.access = {{SB_ALLOW, SB_DENY, SB_DENY, SB_DENY}},
		.tier = SB_TIER_DIRECTORY,
		.pattern = "/",
		.origin = "the system is read-only",
	};
	int status = names == SB_ZONE_SEEN ? sb_policy_add(policy, &system, err) : SB_OK;

	for (size_t i = 0; i < zones->count && status == SB_OK; i++)
		status = add_zone(policy, &zones->all[i], names, err);
	for (size_t i = 0; i < zones->count && status == SB_OK; i++)
		status = add_parts(policy, &zones->all[i], names, err);
	return status;
}

/* --- what the user's rules say ------------------------------------------------------------------- */

struct inheriting {
	struct sb_policy *policy;
	const struct sb_zone *zone;
	const char *base;           /* the zone's path as a pattern, by the names that are wanted */
	const struct sb_rule *rule; /* of the user's */
	struct sb_error *err;
};

/*
 * The rule at the zone's path, a slash and rest; never looser than the directory is.  As a built-in one:
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
	sb_buf_printf(&pattern, "%s%s%s", inheriting->base, *rest ? "/" : "", rest);
	if (sb_buf_failed(&pattern))
		return sb_fail(inheriting->err, SB_E_NOMEM, 0, "a rule is too long: %s",
			       inheriting->rule->origin);
	rule.pattern = pattern.data;
	return sb_policy_add(inheriting->policy, &rule, inheriting->err);
}

/*
 * What is left of a pattern's components when those of path, which lead to the directory, are taken away: for two
 * asterisks there are several answers, and each is a rule.  One that ends on the way is about the directory as a
 * whole: sb_zones_tighten().
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
	SB_AUTO(sb_pattern_done) struct sb_pattern pattern = {0};
	int status = sb_pattern_parse(inheriting->rule->pattern, &pattern, inheriting->err);

	if (status != SB_OK)
		return status;
	if (sb_path_within(path, pattern.prefix)) {
		/* the text of a pattern has the components of its prefix, some with backslashes */
		SB_AUTO_FREE char *around = sb_pattern_escape(path);

		status = !around ? sb_no_memory(inheriting->err)
			 : *behind(around, pattern.text)
				 ? add_seen(inheriting, behind(around, pattern.text))
				 : SB_OK;
	} else if (pattern.glob && sb_path_within(pattern.prefix, path)) {
		status = add_rests(inheriting, pattern.glob, behind(pattern.prefix, path));
	}
	return status;
}

int sb_zones_inherit(struct sb_policy *policy, const struct sb_zones *zones,
		     enum sb_zone_names names, const struct sb_policy *user, struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; i < zones->count && status == SB_OK; i++) {
		const struct sb_zone *zone = &zones->all[i];
		SB_AUTO_FREE char *base = pattern_of(zone, names);

		if (!base)
			return sb_no_memory(err);
		if (sb_decide(user, SB_READ, zone->path).verdict != SB_ALLOW)
			return sb_fail(err, SB_E_REFUSED, 0, "/%s: a rule hides its directory",
				       zone->name);
		for (size_t j = 0; j < sb_policy_count(user) && status == SB_OK; j++) {
			const struct sb_rule *rule = sb_policy_rule(user, j);

			/* credentials, and files of ours: a directory may be the home directory, or hold it */
			if (rule->tier != SB_TIER_BUILTIN || rule->hard ||
			    rule->access.verdict[SB_READ] == SB_DENY)
				status = inherit(
					&(struct inheriting){policy, zone, base, rule, err});
		}
	}
	return status;
}

static bool begins_with(const struct sb_rule *rule, const char *name)
{
	const char *at = rule->pattern;
	size_t length = strlen(name);

	return *at == '/' && strncmp(at + 1, name, length) == 0 &&
	       (at[1 + length] == '/' || !at[1 + length]);
}

const struct sb_rule *sb_zones_misnamed(const struct sb_zones *zones, const struct sb_policy *user,
					const struct sb_zone **out_zone)
{
	for (size_t i = 0; i < zones->count; i++) {
		SB_AUTO_FREE char *seen = sb_path_join("/", zones->all[i].name);
		struct stat info;

		if (!seen || lstat(seen, &info) == 0)
			continue;
		for (size_t j = 0; j < sb_policy_count(user); j++) {
			const struct sb_rule *rule = sb_policy_rule(user, j);

			if (rule->tier == SB_TIER_BUILTIN || !begins_with(rule, zones->all[i].name))
				continue;
			*out_zone = &zones->all[i];
			return rule;
		}
	}
	return NULL;
}
