/*
 * always.h - the answer "always": a rule in the configuration of this directory.
 *
 * It holds from the next start on.  For the rest of this run the same answer is remembered
 * as a grant for the directory (sb_grants_remember).
 */
#ifndef SB_CONSENT_ALWAYS_H
#define SB_CONSENT_ALWAYS_H

#include "config/place.h"
#include "consent/grants.h"
#include "guard/guard.h"

/* What a new rule has to agree with. */
struct sb_always {
	const struct sb_home *home;
	const struct sb_policy *policy; /* of this run */
	const struct sb_guard *guard;   /* NULL: none */
	const struct sb_grants *grants;
};

/*
 * Write what would let this wish and all others in its directory pass to the per-directory
 * config of home->cwd.  *out_file and *out_rule, malloc'ed, are for the confirmation.
 * SB_E_REFUSED: the directory may not be opened as a whole, or is no longer where the path
 * says; nothing is written then.  SB_E_CONFLICT: the file has another rule for it, or the new one would
 * overrule one of policy, the policy of this run, or open names that guard keeps one by one; that is for
 * the person to write.
 */
int sb_always_write(const struct sb_always *always, const struct sb_wish *wish, char **out_file,
		    char **out_rule, struct sb_error *err);

#endif
