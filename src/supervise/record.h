/*
 * record.h - the record of a run begins: what was started, where, under which rules and layers.
 */
#ifndef SB_SUPERVISE_RECORD_H
#define SB_SUPERVISE_RECORD_H

#include "audit/audit.h"
#include "base/hash.h"
#include "enforce/layers.h"
#include "sandbash/policy.h"

/* Of the rules; apart, since there is time for it while others set up the run. */
void sb_record_hash(const struct sb_policy *policy, char out[SB_SHA256_HEX]);

/*
 * run: its command, directory, policy_hash, and process, 0: the session's file is its own.  layers NULL: none hold
 * (danger-full-access).
 */
int sb_record_start(struct sb_audit *audit, struct sb_event run, const struct sb_policy *policy,
		    const struct sb_layers *layers, struct sb_error *err);

#endif
