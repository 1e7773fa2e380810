/*
 * access.h - what rules give: accesses that have a name.
 */
#ifndef SB_POLICY_ACCESS_H
#define SB_POLICY_ACCESS_H

#include <stdbool.h>

#include "sandbash/policy.h"

extern const struct sb_access sb_access_write, sb_access_read, sb_access_deny, sb_access_ask,
	sb_access_quiet;

bool sb_access_equal(const struct sb_access *a, const struct sb_access *b);

#endif
