/*
 * constrained.h - openat2(2): paths whose way the caller restricts (RESOLVE_*).
 *
 * Where such a path may go is for the kernel to check, against the caller's own directory.
 */
#ifndef SB_SUPERVISE_CONSTRAINED_H
#define SB_SUPERVISE_CONSTRAINED_H

#include "supervise/perform.h"

/* As sb_resolve(), for call->file under call->resolve.  0 or a negative errno. */
int sb_resolve_constrained(const struct sb_caller *caller, const struct sb_call *call,
			   struct sb_spot *out);

/* Open to read.  *native: it is for the kernel to open, and nothing has been done. */
struct sb_outcome sb_open_constrained(const struct sb_caller *caller, const struct sb_call *call,
				      bool *native);

#endif
