/*
 * wording.h - a held call in words, for the person who is asked about it.
 */
#ifndef SB_SUPERVISE_WORDING_H
#define SB_SUPERVISE_WORDING_H

#include "sandbash/policy.h"
#include "supervise/call.h"

/* "create", "overwrite", "change the mode of": what it does to the path named next. */
const char *sb_wording_verb(const struct sb_call *call, enum sb_op op);

/* What the call says beside its paths.  "": nothing. */
void sb_wording_note(const struct sb_call *call, char *out, size_t size);

/* Would whoever runs the file get its owner's, or its group's, rights? */
bool sb_wording_sets_id(const struct sb_call *call);

#endif
