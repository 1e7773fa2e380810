/*
 * own_temp.h - temporary directories: those that a run has for itself, and its own names in those that
 * it shares with everybody.
 *
 * With namespaces a run has a /tmp and a /dev/shm of its own.  Without, the real ones are used, in
 * which other programs of the same user keep scripts, sockets and locks.  So a run may make names
 * there, and change what is at those that it made; what is at others it may read.
 *
 * Who made a name nothing on disk tells.  So whoever makes one for the run notes what is there: the
 * file's number, and the time of its birth, since numbers are used again.  The list is shared by the
 * processes of a supervisor.  When it is full, further names are nobody's, and asked about.
 */
#ifndef SB_JUDGE_OWN_TEMP_H
#define SB_JUDGE_OWN_TEMP_H

#include <stdbool.h>
#include <sys/types.h>

#include "sandbash/policy.h"

struct sb_own_temp;

/* Before the processes part.  NULL: no memory. */
struct sb_own_temp *sb_own_temp_new(void);

/* The temporary directories that policy opens are everybody's, as it turns out. */
void sb_own_temp_share(struct sb_own_temp *own, const struct sb_policy *policy);

/* The run has the directory at path for itself, on a file system of this number that was made for it. */
void sb_own_temp_keep(struct sb_own_temp *own, const char *path, dev_t device);

/*
 * Is path, a name in directory, on such a file system?  Nobody outside ever sees a name there.  Costs no
 * system call where path is no temporary one.
 */
bool sb_own_temp_is_kept(const struct sb_own_temp *own, int directory, const char *path);

/* A name was made for the run.  Costs a comparison where directory is not a shared one. */
void sb_own_temp_made(struct sb_own_temp *own, int directory, const char *name);

/*
 * The name will be removed: called before that, since its place in the list can be used again.  True: it was
 * the run's, which has to be noted anew if it stays.
 */
bool sb_own_temp_leaves(struct sb_own_temp *own, int directory, const char *name);

/*
 * Is what path leads to, in the temporary directory that rule opens, not the run's?  False also where
 * nothing is there yet, and where the run has the directory for itself.
 */
bool sb_own_temp_is_foreign(const struct sb_own_temp *own, const struct sb_rule *rule,
			    const char *path);

#endif
