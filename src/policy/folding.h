/*
 * folding.h - rules where the case of a name does not matter (F8).
 *
 * Beneath a root that folds, a path is decided about twice: as it is written, and with all patterns and the path in
 * one case; the stricter answer counts.  So "deny secret" holds for SECRET, and "allow Build" opens Build
 * alone.  Characters fold as in the most forgiving file system (guard/fold.h); only that one may write the same
 * letter in two ways (with a combining accent) is not known here.
 */
#ifndef SB_POLICY_FOLDING_H
#define SB_POLICY_FOLDING_H

#include "policy/policy_impl.h"

struct sb_folding {
	char **roots;
	size_t root_count;
	/* Set by seal. */
	struct sb_entry *entries; /* the policy's, in the same order, with their patterns folded */
	size_t count;
	struct sb_index *index;
};

/* Names beneath root fold.  Before the policy is sealed. */
int sb_policy_fold(struct sb_policy *policy, const char *root, struct sb_error *err);

/* Does path lie where names fold? */
bool sb_folding_covers(const struct sb_policy *policy, const char *path);

/* path, or a pattern, in one case.  It is never longer. */
void sb_folding_path(const char *path, char *out);

/* The policy's own rule, of which rule is the folded one. */
const struct sb_rule *sb_folding_rule(const struct sb_policy *policy, const struct sb_rule *rule);

/* All but the index, which is for who seals the policy. */
int sb_folding_seal(struct sb_policy *policy, struct sb_error *err);
void sb_folding_free(struct sb_folding *folding);

#endif
