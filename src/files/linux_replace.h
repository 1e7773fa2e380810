/*
 * linux_replace.h - a file gets new contents at one moment.
 *
 *     temporary file in the same directory: write, owner, attributes, mode, sync -> rename
 *
 * Whoever opens the file sees the old or the new one, also when we are killed at any step.
 * What a killed writer leaves is one temporary file under a fixed name, which the next writer
 * in that directory finds unlocked and removes.
 */
#ifndef SB_FILES_LINUX_REPLACE_H
#define SB_FILES_LINUX_REPLACE_H

#include "files/backend.h"

int sb_replace_file(struct sb_place *place, const struct sb_replacement *with);

/* Is what is at name in directory this very file? */
bool sb_is_still(int directory, const char *name, const struct sb_facts *facts);

#endif
