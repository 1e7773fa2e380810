/*
 * linux_landlock.h - a plan as a Landlock domain for this process.
 */
#ifndef SB_ENFORCE_LINUX_LANDLOCK_H
#define SB_ENFORCE_LINUX_LANDLOCK_H

#include <stdio.h>

#include "enforce/layers.h"

/*
 * Restrict this process, and all it starts, to what the plan allows, with
 * everything the ABI in layers offers.  Needs no_new_privs.  After the mounts:
 * a domain forbids mounting.
 *
 * floor: the domain of a supervised command: no change at all but through devices, and in fast roots
 * where sb_landlock_holds_fast(); a core in temp directories of its own.  What else the plan
 * allows, a broker in the domain above performs; if it is gone, nothing opens up.
 */
int sb_landlock_enter(const struct sb_plan *plan, const struct sb_layers *layers, bool floor,
		      struct sb_error *err);

/*
 * Can Landlock hold a command that changes files in a fast root by itself?  Before ABI 3 (Linux
 * 6.2) it does not know truncation: then a broker makes the changes there as well.
 */
bool sb_landlock_holds_fast(const struct sb_layers *layers);

/*
 * Files and directories that may be read wherever they get to, by their numbers in layers->spares: supervise/spares.h
 * says what for.
 */
#define SB_SPARES 24
#define SB_SPARE_DIRECTORIES 8
#define SB_SPARE_NAME 12
static inline const char *sb_spare_name(char out[SB_SPARE_NAME], int number) /* returns out */
{
	snprintf(out, SB_SPARE_NAME, "%d", number);
	return out;
}

/* Dynamic loaders, of every architecture; NULL-terminated. */
extern const char *const sb_loaders[];

#endif
