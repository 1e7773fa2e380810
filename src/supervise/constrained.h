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

/*
 * Open to read, whatever is constrained.
 *
 * SECURITY: what is not for us to open answers ENOSYS, and a program takes openat() for it.
 *
 * Danger: its flags lie in memory, so openat2() must never go on in the kernel.  And in us it
 * would wait (FIFOs, devices), or be ours: in procfs `self` is whoever opens, and our own memory
 * and environment are there.
 * Price: as on a kernel before 5.6, for devices, FIFOs, procfs and O_PATH.
 * Held by: tests/supervise/swapped.py
 */
struct sb_outcome sb_open_constrained(const struct sb_caller *caller, const struct sb_call *call);

#endif
