/*
 * held.h - the system calls that are held: which act each is, and where its arguments lie.
 *
 * Old and new forms of a call (open, creat, openat, openat2) are the same act.  The filter
 * (linux_seccomp.c) holds what has a row here, and the decoder (supervise/call.h) reads by the same
 * row, so nothing is held that nobody can read.  What an act is beside that: supervise/acts.h.
 */
#ifndef SB_ENFORCE_HELD_H
#define SB_ENFORCE_HELD_H

#include <stdbool.h>
#include <stddef.h>

#include "enforce/linux_filter.h"

enum sb_act {
	SB_ACT_OPEN,
	SB_ACT_MKDIR,
	SB_ACT_MKNOD,
	SB_ACT_SYMLINK,
	SB_ACT_LINK,
	SB_ACT_RENAME,
	SB_ACT_UNLINK,
	SB_ACT_RMDIR,
	SB_ACT_TRUNCATE,
	SB_ACT_CHMOD,
	SB_ACT_CHOWN,
	SB_ACT_TIMES,
	SB_ACT_SETXATTR,
	SB_ACT_REMOVEXATTR,
	SB_ACT_FLAGS, /* what chattr changes */
	SB_ACT_ACCESS,
	SB_ACT_CONNECT,
	SB_ACT_BIND,
	SB_ACT_UMASK,    /* let through; we only need to know */
	SB_ACT_CHDIR,    /* the same */
	SB_ACT_LOCK,     /* let through, when no copy of ours can stand in its way */
	SB_ACT_OWNER,    /* who is signalled when something happens at a descriptor */
	SB_ACT_LANDLOCK, /* a program wants a layer of its own */
	SB_ACT_REGISTER, /* a nested sandbash tells its rules */
	SB_ACT_EXEC,     /* a program is to be run, and only some may */
	SB_ACT_CLOSE,    /* descriptors, maybe the last ones of a staged file (supervise/stage.h) */
	SB_ACT_COUNT,
};

/* modes, owners, times, attributes */
static inline bool sb_act_is_metadata(enum sb_act act)
{
	return act >= SB_ACT_CHMOD && act <= SB_ACT_FLAGS;
}

/* Arguments, counted from 1; 0: there is none. */
struct sb_where {
	unsigned char directory; /* none: the current one */
	unsigned char path;      /* none: the descriptor is the file */
};

struct sb_held {
	int number;
	enum sb_act act;
	struct sb_where file, target;
	unsigned char more; /* what the act is about beside names, and behind it the rest of that */
	unsigned char flags; /* none: as if they were 0, but for creat() */
	bool link;           /* a link in the last place is meant itself, flags or no flags */
	bool sometimes;      /* held on conditions that linux_seccomp.c has */
	struct sb_filter_condition only;
};

extern const struct sb_held sb_held_calls[];
extern const size_t sb_held_count;
#define SB_HELD_MAX 80

/* NULL: it has no row. */
const struct sb_held *sb_held_find(int number);

/* Newer than some libc's headers; these numbers are the same everywhere. */
#define SB_NR_faccessat2 439
#define SB_NR_fchmodat2 452

/* Whatever an open can change: contents, or by making a name.  Reading is not held. */
#define SB_TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)
#define SB_MAKES_FILE (O_CREAT | SB_TMPFILE_BIT)
#define SB_OPENS_TO_CHANGE (O_WRONLY | O_RDWR | O_TRUNC | SB_MAKES_FILE)

#endif
