/*
 * inside.h - are we inside a sandbash run?
 *
 * Asks the kernel, not the environment: the filter of a run answers a prctl() that no kernel knows.
 */
#ifndef SB_ENFORCE_INSIDE_H
#define SB_ENFORCE_INSIDE_H

#include <stdbool.h>

#include "sandbash/policy.h"

/* "SBSH": what sb_inside() asks with.  Every kernel answers EINVAL to this prctl. */
#define SB_INSIDE_QUERY 0x53425348u
#define SB_INSIDE_BASE 0x800u /* the answer is an errno: 0x800 + depth * 2 + mounts */
#define SB_INSIDE_DEPTH 0x3ffu

/* 0: no.  Else how many runs deep, and *out_mounts says whether their mounts hold. */
int sb_inside(bool *out_mounts);

/*
 * What a worker has, as lines of text that the one outside told: "worker NAME", "/DIRECTORY" for each,
 * "temp PATH", "network", "command NAME" (none: any), "calls FILE" (none: anyone).  For the first worker they lie in a file (view.h); one
 * that another one calls has told them to the supervisor, together with its rules.
 */
#define SB_NOTE_WORKER "worker "
#define SB_NOTE_TEMP "temp "
#define SB_NOTE_NETWORK "network"
#define SB_NOTE_COMMAND "command "
#define SB_NOTE_CALLS "calls "

/* The note of a worker that another one has called, as a descriptor; -ENOENT: we are in none. */
int sb_inside_note(void);

/*
 * What all rules around this process say to it about a path (canonical), as its supervisor knows them: nothing that
 * was done to the process's memory or environment counts.  SB_DENY also where there is no supervisor.
 */
enum sb_verdict sb_inside_verdict(enum sb_op op, const char *path);

#endif
