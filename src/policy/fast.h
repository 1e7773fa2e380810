/*
 * fast.h - directories that commands change by themselves.
 *
 *     fast build
 *
 * is "write build" and more: the command's own Landlock layer lets it write there, so that no
 * broker has to; and no name in it is guarded, since nobody sees it made.  Hence two promises
 * that whoever enforces a policy has to keep:
 *
 *   - nothing in a fast root has rules of its own: what Landlock grants it cannot take back
 *     (config/fast.h refuses such rules)
 *   - it is like a disk of its own: nothing is renamed or linked across its border, and the
 *     root stays where it is (sb_fast_crosses())
 */
#ifndef SB_POLICY_FAST_H
#define SB_POLICY_FAST_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/policy.h"

/* The roots, canonical; one inside another is not counted.  The policy must be sealed. */
size_t sb_fast_count(const struct sb_policy *policy);
const char *sb_fast_root(const struct sb_policy *policy, size_t i);

/* Does path (canonical) lie in a fast root?  The root's own name does not: it is its parent's. */
bool sb_fast_holds(const struct sb_policy *policy, const char *path);

/* Is path a fast root or in one? */
bool sb_fast_is_or_holds(const struct sb_policy *policy, const char *path);

/* Would a rename (or a link) cross the border of a fast root, or move one? */
bool sb_fast_crosses(const struct sb_policy *policy, const char *from, const char *to);

#endif
