/*
 * names_lock.h - what a name means stays as it was judged until the act is done.
 *
 * SECURITY: one lock for all who act for the command: the threads of the performer, and the asker.
 *
 * Danger: "q/hooks/x" is nobody's business until q becomes ".git", or gets the directories that
 * make it a git directory.  While one has judged the file and not made it yet, another could
 * rename q; or the other way round.  So acts that can give meaning to other names are judged and
 * done alone, the rest side by side.
 * Price: an act that is stuck on a dead filesystem keeps those waiting that are done alone; one that
 * was to be alone keeps all.  Two runs in one project do not exclude each other.  The asker never
 * waits long for the performer, which it does not trust: it refuses.
 * Held by: tests/supervise/guard.py
 */
#ifndef SB_SUPERVISE_NAMES_LOCK_H
#define SB_SUPERVISE_NAMES_LOCK_H

#include <stdbool.h>

#include "supervise/call.h"
#include "supervise/resolve.h"

struct sb_names_lock;

/* Shared with processes that are forked later.  NULL: out of memory. */
struct sb_names_lock *sb_names_lock_new(void);
void sb_names_lock_free(struct sb_names_lock *lock);

void sb_names_lock_take(struct sb_names_lock *lock, bool alone);
/* False: somebody has held it for too long. */
bool sb_names_lock_try(struct sb_names_lock *lock, bool alone);
void sb_names_lock_release(struct sb_names_lock *lock);

/* Can the call give meaning to other names?  Then it is done alone. */
bool sb_call_gives_meaning(const struct sb_call *call);
/* The same of a file that is made: one will do, too, for what git takes for its own. */
bool sb_name_gives_meaning(const struct sb_spot *file);

#endif
