/*
 * spares.h - files that can be read in a run without mounts although they are made beside something hidden.
 *
 *     name -> make, in the performer -> Landlock -> begin, in the asker -> take, put, unlink ... -> end
 *
 * There, reading is granted entry by entry, before the command starts: what is made later has no grant, and no
 * domain ever gets a wider one.  But a rule of Landlock's is about the inode, and goes with it to any name
 * (tests/facts/landlock_moved.c).  So some empty files are made first, in a directory of sandbash's own, and
 * may be read.  In a directory that holds something hidden only the asker makes files, and it takes one of these: filled
 * where nobody finds it, and renamed to its name, as atomic as ever.  One that loses its name there goes back, and
 * serves again once nobody has it open.  Reading itself is held no more than before.
 *
 * Where there are none left, or the two directories lie on different mounts, the file is an ordinary one, which
 * cannot be read back.  All of them are files of the run's own: no grant is ever about anything that was there before.
 */
#ifndef SB_SUPERVISE_SPARES_H
#define SB_SUPERVISE_SPARES_H

#include <stdbool.h>
#include <sys/types.h>

#include "enforce/plan.h"

/* In the asker, before the performer is made: where they would be. */
void sb_spares_name(const char *state_dir, const struct sb_plan *plan);

/* In the performer, not confined yet: make them.  Their directory, which is locked as long as it is open; -1: none. */
int sb_spares_make(const struct sb_plan *plan);

/* In the asker, when the performer has made them: from now on they are taken. */
void sb_spares_begin(const struct sb_policy *policy, const struct sb_plan *plan);

/* When nobody of the run is left; whether they were made or not. */
void sb_spares_end(void);

/*
 * SECURITY: one that was used before is taken only while no call waits for an answer.
 *
 * Danger: such a call has resolved its path, and holds an inode.  A person who says yes to a file, which was removed
 * meanwhile, would open what has got the inode since.
 * Price: while a question is open, no more than SB_SPARES files can be made that can be read back.
 */
void sb_spares_calm(bool calm);

/*
 * One for a new file with this name in directory, empty, open with these flags, readable and writable for its owner alone.
 * -ENOTSUP: make an ordinary one.
 */
int sb_spare_take(int directory, const char *name, int flags, int *out_number);

/* It gets its name.  0, -EEXIST, -ENOTSUP: make an ordinary one; or what rename(2) says. */
int sb_spare_put(int number, int directory, const char *name, bool replace);

/* A new file for the command, as open(2) makes it.  A descriptor, -EEXIST, or -ENOTSUP: make an ordinary one. */
int sb_spare_create(int directory, const char *name, int flags, mode_t mode);

/* A directory at a path that a rule opens and where nothing was at the start.  0, -EEXIST or -ENOTSUP. */
int sb_spare_mkdir(int directory, const char *name, const char *path, mode_t mode);

/* unlinkat(2) and renameat2(2), by which one may go back.  0 or -1 and errno. */
int sb_spare_unlink(int directory, const char *name);
int sb_spare_rename(int from_directory, const char *from, int directory, const char *name,
		    unsigned flags);

#endif
