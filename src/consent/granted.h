/*
 * granted.h - a directory that a person has opened to changes for one run (--grant).
 *
 * As an answer "everything in this directory", given before the run: a rule of SB_TIER_SESSION, which
 * opens no guarded name, and none that overrules one of the user's.
 */
#ifndef SB_CONSENT_GRANTED_H
#define SB_CONSENT_GRANTED_H

#include "sandbash/policy.h"

/*
 * Adds it to a policy that has the rules of the user and none of the built-in ones yet.  SB_E_REFUSED: it is
 * not the directory that was meant (a link leads there), holds the home directory, or a rule says otherwise.
 */
int sb_granted_add(struct sb_policy *policy, const char *directory, const char *home,
		   struct sb_error *err);

#endif
