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

/*
 * A directory that a person has opened to changes for one run (--grant): as an answer "everything in this directory",
 * given before the run.  A rule of SB_TIER_SESSION, which opens no guarded name, and none that overrules one of the
 * user's.  For a policy that has the rules of the user and none of the built-in ones yet.  SB_E_REFUSED: it is
 * not the directory that was meant (a link leads there), holds the home directory, or a rule says otherwise.
 */
int sb_granted_add(struct sb_policy *policy, const char *directory, const char *home,
		   struct sb_error *err);

#endif
