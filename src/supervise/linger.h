/*
 * linger.h - what may lie in its place while a run goes on, and is told if it is still there when it ends.
 *
 *     landed ... -> end
 *
 * By descriptors of directories, so that it is found wherever these have moved.  Each process of the
 * supervisor keeps what it has landed itself.  For several threads.
 */
#ifndef SB_SUPERVISE_LINGER_H
#define SB_SUPERVISE_LINGER_H

#include "supervise/tell.h"

/* May more land like that?  Not when the end has been looked at.  For sb_grounds. */
bool sb_linger_watches(void);

/* Bytes have landed as the judgement says, in place of old: tell its note, and keep what may linger. */
void sb_linger_landed(const struct sb_telling *telling, const struct sb_judgement *judgement,
		      struct sb_guard_bytes old);

/* Is anything kept?  Then what may still change it is better ended before the end. */
bool sb_linger_has_some(void);

/* Tell what is left.  proc: the host's /proc. */
void sb_linger_end(const struct sb_telling *telling, int proc);

#endif
