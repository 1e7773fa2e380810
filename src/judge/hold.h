/*
 * hold.h - a directory gets a name that says "on hold", at which nobody who is supervised does anything.
 *
 *     sb_hold_put() -> sb_hold_settle() -> a last look -> its new name, or its old one back
 *
 * supervise/meaning.h says why that takes no lock.  Killed in between, it stays on hold.
 */
#ifndef SB_JUDGE_HOLD_H
#define SB_JUDGE_HOLD_H

#include <stddef.h>

/* How long a name counts for whoever has read it: supervise/meaning.h. */
#define SB_NAME_COUNTS_NS 1000000u

#define SB_HOLD_NAME 64

/* Out of the way, whatever it is and has in it.  out: its name in directory.  0 or errno. */
int sb_hold_put(int from_directory, const char *from, int directory, char out[SB_HOLD_NAME]);

/* Those who know something by its old name have time to end. */
void sb_hold_settle(void);

/* Without replacing what has the name by now; not every file system can say that itself.  0 or errno. */
int sb_hold_end(int from_directory, const char *from, int directory, const char *name);

#endif
