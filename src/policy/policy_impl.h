/*
 * policy_impl.h - how a policy is laid out; for this room, and for who compiles patterns.
 */
#ifndef SB_POLICY_POLICY_IMPL_H
#define SB_POLICY_POLICY_IMPL_H

#include "path/pattern.h"
#include "sandbash/policy.h"

struct sb_entry { /* one per pattern */
	struct sb_pattern pattern;
	struct sb_rule rule; /* the latest tier's */
	/* few patterns have these, and entries are many: each launch writes and moves all of them */
	struct sb_rule *hard;   /* what all hard ones together deny; NULL: none */
	struct sb_rule *system; /* the system tier's, whose denials bind too; NULL: none */
	struct sb_access guard; /* if has_guard: what the built-in guard says (policy.c) */
	bool has_guard;
	bool own;         /* a built-in rule opens it as a project, or a part of one */
	bool project;     /* the same, and it is no temp directory */
	bool only_guards; /* set by seal: rule says no more than the guard does */
	unsigned short given[SB_TIER_COUNT]; /* what each tier said, packed; 0: nothing */
};

struct sb_folding;
struct sb_index; /* literal prefixes as a tree of names: decide.c */

struct sb_network_rules {             /* network.c */
	struct sb_connect **connects; /* by text */
	size_t connect_count;
	struct sb_listen *listens;
	size_t listen_count;
};

void sb_network_done(struct sb_network_rules *rules);

struct sb_policy {
	struct sb_entry *entries;
	unsigned *hashes; /* of the entries' pattern texts: adding a rule looks through numbers */
	size_t count, capacity;
	struct sb_index *index;
	const char **fast; /* set by seal: the fast roots; the strings are the entries' */
	size_t fast_count;
	struct sb_folding *folding; /* where names fold: folding.h; NULL: nowhere */
	int settings[SB_SETTING_COUNT];
	struct sb_network_rules hosts;
	bool sealed;
};

static inline enum sb_mode sb_mode_of(const struct sb_policy *policy)
{
	return (enum sb_mode)policy->settings[SB_SETTING_MODE];
}

/* How strict it is about op: a no that is told is stricter than a quiet one. */
static inline unsigned sb_strictness(const struct sb_access *access, enum sb_op op)
{
	return access->verdict[op] +
	       (access->verdict[op] == SB_DENY && !(access->quiet & 1u << op));
}

/*
 * SECURITY: a profile opens nothing that a built-in rule hides, but for the agent's own login.
 *
 * Danger: a variable in a profile's path may be a project's: $CODEX_HOME in a browser's directory would
 * show the cookies, being more specific than what hides these.
 * Price: who wants that writes the rule into another file, or on the command line.  A rule of a profile with
 * wildcards that would win over a hidden name that it could mean opens nothing at all.
 * Held by: tests/cli/profiles.py
 */
static inline bool sb_gives_way(const struct sb_rule *rule)
{
	return rule->tier == SB_TIER_PROFILE && !rule->login;
}

static inline bool sb_hides(const struct sb_rule *rule)
{
	return rule->tier == SB_TIER_BUILTIN && rule->access.verdict[SB_READ] == SB_DENY;
}

/* As if no rule of a profile that gives way were there. */
struct sb_decision sb_decide_without_profiles(const struct sb_policy *policy, enum sb_op op,
					      const char *path);

/* The parsed pattern of rule i. */
const struct sb_pattern *sb_policy_pattern(const struct sb_policy *policy, size_t i);

/* Does path lie in a project, whatever else is said about it? */
bool sb_policy_is_project(const struct sb_policy *policy, const char *path);

/* The entries must stay where they are while the index lives.  NULL: out of memory. */
struct sb_index *sb_index_new(const struct sb_entry *entries, size_t count);
void sb_index_free(struct sb_index *index);

#endif
