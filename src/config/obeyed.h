/*
 * obeyed.h - what programs outside run or obey because a variable of the environment names it.
 */
#ifndef SB_CONFIG_OBEYED_H
#define SB_CONFIG_OBEYED_H

#include "config/variables.h"

/* Files and directories, as they are written; NULL-terminated, and static: those of the last call count. */
const char *const *sb_obeyed_by(sb_variable *variable);

#endif
