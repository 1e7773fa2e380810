/*
 * record.h - the record of a run begins: what was started, where, under which rules and layers.
 */
#ifndef SB_SUPERVISE_RECORD_H
#define SB_SUPERVISE_RECORD_H

#include "audit/audit.h"
#include "enforce/layers.h"
#include "sandbash/policy.h"

int sb_record_start(struct sb_audit *audit, const struct sb_policy *policy,
		    const char *const *command, const char *directory,
		    const struct sb_layers *layers, struct sb_error *err);

#endif
