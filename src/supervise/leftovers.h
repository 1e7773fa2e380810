/*
 * leftovers.h - what a run without namespaces would leave on the machine: its $TMPDIR, System V objects.
 *
 * One process of the supervisor does nothing but wait for the performer's end, and then removes them.  All of them
 * may be killed at once, as by kill(-PGID): so it has a session of its own.
 */
#ifndef SB_SUPERVISE_LEFTOVERS_H
#define SB_SUPERVISE_LEFTOVERS_H

#include <stdbool.h>

/* Before the first of the supervisor's processes is made.  False: no memory. */
bool sb_leftovers_begin(void);

/* In the performer, before there is anything to remove: make that process. */
bool sb_leftovers_guard(void);

/*
 * In the process that will be the command: make it a directory of its own in base.  It is made like any other
 * name of the command's, which is therefore the run's.  NULL: it cannot be made, and base has to do.
 */
const char *sb_leftovers_make_temp(const char *base);

/* In the asker, when the performer and everybody of the run has ended: wait until that is done, or do it. */
void sb_leftovers_remove(void);

#endif
