#include "consent/overrule.h"

#include <fcntl.h>
#include <string.h>

#include "base/auto.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/access.h"
#include "policy/text.h"

/* Does a allow or ask where b is stricter? */
static bool loosens(const struct sb_access *a, const struct sb_access *b)
{
	for (int op = 0; op < SB_OP_COUNT; op++)
		if (a->verdict[op] < b->verdict[op])
			return true;
	return false;
}

/*
 * SECURITY: a narrow rule beats a broad one; an answer beats no rule.
 *
 * Danger: "write ~/docs/work" is more specific than a "deny" of every .env in ~, which
 * would no longer hold in there; nor would "read ~/docs", written since.
 * Price: such an answer is not kept as a rule.
 * Held by: tests/unit/test_session.c
 */
static bool overrules(const struct sb_pattern *ours, const struct sb_access *access,
		      const struct sb_rule *rule)
{
	SB_AUTO(sb_pattern_done) struct sb_pattern theirs = {0};
	bool meets;

	if (rule->tier == SB_TIER_BUILTIN || rule->tier == SB_TIER_SESSION ||
	    !loosens(access, &rule->access))
		return false;
	if (sb_pattern_parse(rule->pattern, &theirs, NULL) != SB_OK)
		return true;
	if (theirs.glob) {
		meets = (sb_path_within(theirs.prefix, ours->prefix) ||
			 sb_path_within(ours->prefix, theirs.prefix)) &&
			sb_pattern_compare(ours, &theirs) > 0;
	} else {
		/* A literal rule beneath ours is narrower and holds.  One above that asks is the
		 * question that was answered, unless it is the administrator's. */
		meets = sb_path_within(theirs.prefix, ours->prefix) &&
			(sb_access_has(&rule->access, SB_DENY, SB_READ) ||
			 rule->tier == SB_TIER_SYSTEM);
	}
	return meets;
}

const struct sb_rule *sb_overruled(const struct sb_policy *policy, const char *path,
				   const struct sb_access *access, struct sb_access *out_strictest)
{
	SB_AUTO_FREE char *text = sb_pattern_escape(path);
	const struct sb_rule *first = NULL;
	struct sb_access strictest = *access;
	struct sb_pattern pattern = {0};
	bool understood = text && sb_pattern_parse(text, &pattern, NULL) == SB_OK;

	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);

		/* Out of memory, or a path that is none: then every rule counts as overruled. */
		if (understood && !overrules(&pattern, access, rule))
			continue;
		for (int op = 0; op < SB_OP_COUNT; op++)
			if (rule->access.verdict[op] > strictest.verdict[op])
				strictest.verdict[op] = rule->access.verdict[op];
		if (!first)
			first = rule;
	}
	sb_pattern_done(&pattern);
	if (out_strictest)
		*out_strictest = strictest;
	return first;
}

static int refuse(const char *directory, const char *why, struct sb_error *err)
{
	return sb_fail(err, SB_E_REFUSED, 0, "--grant='%s': %s", directory, why);
}

int sb_granted_add(struct sb_policy *policy, const char *directory, const char *home,
		   struct sb_error *err)
{
	SB_AUTO_FREE char *canonical = NULL;
	SB_AUTO_FREE char *text = sb_pattern_escape(directory);
	SB_AUTO_FD int fd = -1;
	struct sb_rule rule = {.access = sb_access_write,
			       .tier = SB_TIER_SESSION,
			       .pattern = text,
			       .origin = "granted for this run"};
	const struct sb_rule *stronger;
	int missing = 0, status;

	if (!text)
		return sb_no_memory(err);
	if (directory[0] != '/')
		return refuse(directory, "is no absolute path", err);
	status = sb_path_canonical(directory, &canonical, &missing, err);
	if (status != SB_OK)
		return status;
	if (missing || strcmp(canonical, directory) != 0)
		return refuse(directory, missing ? "is not there" : "a link leads there", err);
	if (sb_path_within(directory, home))
		return refuse(directory, "holds the home directory", err);
	fd = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return refuse(directory, "is no directory", err);
	stronger = sb_overruled(policy, directory, &rule.access, NULL);
	if (stronger)
		return sb_fail(err, SB_E_REFUSED, 0, "--grant='%s': %s says otherwise", directory,
			       stronger->origin);
	return sb_policy_add(policy, &rule, err);
}
