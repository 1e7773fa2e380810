/*
 * wording.h - a held call in words, for the person who is asked about it.
 */
#ifndef SB_SUPERVISE_WORDING_H
#define SB_SUPERVISE_WORDING_H

#include "sandbash/policy.h"
#include "supervise/call.h"
#include "supervise/resolve.h"

/* "create", "overwrite", "change the mode of": what it does to the path named next. */
const char *sb_wording_verb(const struct sb_call *call, enum sb_op op);

/*
 * What the paths do not tell: two calls that differ in this are two questions, or a harmless one
 * on the screen would be the answer to another.  "": nothing.
 */
void sb_wording_note(const struct sb_call *call, const struct sb_spot *target, char *out,
		     size_t size);

#endif
