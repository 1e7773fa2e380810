/*
 * overrule.h - an answer that becomes a rule must not get stronger by it.
 *
 * As an answer, a directory grant gives way to every rule but the one it was asked under.  As
 * a rule it competes with them, and the more specific wins.
 */
#ifndef SB_CONSENT_OVERRULE_H
#define SB_CONSENT_OVERRULE_H

#include "sandbash/policy.h"

/*
 * The first rule of the user's or the administrator's in policy (sealed or not) that says less
 * than access for something at or beneath path (canonical), and would lose against a rule
 * for path.  NULL: none.  *out_strictest, unless NULL, is access as strict as all of those.
 */
const struct sb_rule *sb_overruled(const struct sb_policy *policy, const char *path,
				   const struct sb_access *access, struct sb_access *out_strictest);

#endif
