/* terminals.h - the user's other terminals. */
#ifndef SB_CONFIG_TERMINALS_H
#define SB_CONFIG_TERMINALS_H

#include <stdbool.h>

#include "sandbash/error.h"

/*
 * Terminals that this user could open and that are not the command's: whoever reads one gets
 * what is typed there.  When questions are asked on ours, it is not the command's either: whoever
 * writes there could draw over a question.  A NULL-terminated list, the caller's.
 */
int sb_terminals_find(bool other, char ***out, struct sb_error *err);

#endif
