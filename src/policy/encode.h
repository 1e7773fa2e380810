/*
 * encode.h - a sealed policy as bytes, for another process of ours.
 *
 * Unlike the text form this carries everything a decision depends on, tier by tier, and
 * nothing has to be found or resolved again.  What is read back decides alike for every path.
 */
#ifndef SB_POLICY_ENCODE_H
#define SB_POLICY_ENCODE_H

#include "base/buf.h"
#include "sandbash/policy.h"

#define SB_POLICY_BYTES (1024 * 1024) /* some ten thousand rules */

void sb_policy_encode(const struct sb_policy *policy, struct sb_buf *out);

/* SB_E_INVALID: these are not the bytes of a policy.  *out is sealed. */
int sb_policy_decode(const char *bytes, size_t length, struct sb_policy **out,
		     struct sb_error *err);

#endif
