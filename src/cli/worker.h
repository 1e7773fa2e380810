/*
 * worker.h - what a worker's run is made of, wherever it is made.
 */
#ifndef SB_CLI_WORKER_H
#define SB_CLI_WORKER_H

#include "cli/run.h"
#include "zones/rules.h"

/* run->programs, of the commands that its file names.  From now on PATH is where a worker finds programs. */
int sb_worker_programs(const struct sb_worker *worker, struct sb_run *run, struct sb_error *err);

/* Its directories as the projects whose names are guarded. */
int sb_worker_projects(const struct sb_zones *has, enum sb_zone_names names, struct sb_setup *setup,
		       struct sb_error *err);

/* run->argv and run->file: the command, or a shell with what was meant for one. */
int sb_worker_command(const struct sb_command_line *line, struct sb_run *run, struct sb_error *err);

/*
 * worker_nested.c: the same in the world of a worker, who calls another.  There is no second world in it and no
 * second supervisor: the child's rules are told to the one that there is, and add up with the caller's.
 */
int sb_worker_prepare_nested(const struct sb_command_line *line, struct sb_run *run,
			     struct sb_error *err);

#endif
