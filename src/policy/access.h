/*
 * access.h - what rules give: accesses that have a name.
 */
#ifndef SB_POLICY_ACCESS_H
#define SB_POLICY_ACCESS_H

#include <stdbool.h>

#include "sandbash/policy.h"

extern const struct sb_access sb_access_write, sb_access_read, sb_access_deny, sb_access_ask,
	sb_access_quiet;

/* Is there an operation with this verdict, from first on? */
bool sb_access_has(const struct sb_access *access, enum sb_verdict verdict, enum sb_op first);

bool sb_access_equal(const struct sb_access *a, const struct sb_access *b);

#endif
