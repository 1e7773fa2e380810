/*
 * fast.h - which directories may be fast roots (policy/fast.h).
 *
 *     sb_fast_note() for each rule that says so -> sb_fast_check() when the policy is sealed
 *
 * Nobody looks at what happens in a fast root, so it must not hold anything that another rule,
 * built in or the user's, is about; and nobody but the user may have chosen it.  What cannot be
 * held is refused, with both rules named.
 */
#ifndef SB_CONFIG_FAST_H
#define SB_CONFIG_FAST_H

#include "config/load.h"
#include "config/rules.h"

struct sb_fast_note {
	char *written; /* absolute, links not resolved */
	char *path;    /* canonical */
	char *origin;
	bool cache; /* the project's own, which nobody works in: no guarded name is about it */
};

/*
 * One rule: SB_E_INVALID: no single directory.  SB_E_REFUSED: it stands in a file that lies
 * in a project.
 */
int sb_fast_note(struct sb_maker *maker, const struct sb_rule_source *source, const char *text,
		 const struct sb_resolved *resolved, struct sb_error *err);

/* All of them, against the whole policy.  SB_E_REFUSED. */
int sb_fast_check(const struct sb_maker *maker, struct sb_error *err);

void sb_fast_forget(struct sb_maker *maker);

#endif
