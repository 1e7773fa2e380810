/*
 * linux_mounts.h - namespaces with a plan's mounts in them, entered by this process.
 */
#ifndef SB_ENFORCE_LINUX_MOUNTS_H
#define SB_ENFORCE_LINUX_MOUNTS_H

#include "enforce/layers.h"

/*
 * May there be user namespaces in which nothing can be mounted?  Then or_end is a bad choice for a run
 * that can do without.
 */
bool sb_mounts_are_doubtful(void);

/*
 * Make the namespaces, carry out the plan's mounts in them and enter them.  Where
 * that is not possible nothing has happened to this process, layers->mounts stays
 * false, layers->no_mounts says why, and SB_OK is returned: the caller takes the
 * next best.  or_end: there is none, the caller will refuse the run; then a failure may
 * leave the process half way, layers->stuck says so, and nothing may run.  So does an
 * error.  The process must have one thread.  Its current directory is afterwards another.
 */
int sb_mounts_enter(const struct sb_plan *plan, bool or_end, struct sb_layers *layers,
		    struct sb_error *err);

/* Would it work, with an empty plan?  Changes nothing; fills the layers' namespace fields. */
int sb_mounts_probe(bool with_network, struct sb_layers *layers, struct sb_error *err);

#endif
