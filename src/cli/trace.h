/*
 * trace.h - SANDBASH_TRACE=FILE: where the held calls of a run are told (supervise/trace.h).
 */
#ifndef SB_CLI_TRACE_H
#define SB_CLI_TRACE_H

#include "options/options.h"

/*
 * Takes the variable out of the environment, which is the command's next, and opens its file.  0, or an
 * exit status.  Not set, inside another run: nothing is traced.
 */
int sb_trace_open(struct sb_command_line *line);

#endif
