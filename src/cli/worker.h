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

/* --- worker_around.c: inside ------------------------------------------------------------------------ */

/* The worker in whose world this process is. */
struct sb_around {
	struct sb_worker
		worker; /* name, network, commands, workers: files as they are seen there */
	struct sb_zones has;
	char *temp; /* its own */
};

/* Are we in the world of one? */
bool sb_around_is_there(void);

/* SB_E_UNSUPPORTED: in a run that is no worker's. */
int sb_around_find(struct sb_around *out, struct sb_error *err);

/* The file of a worker that it calls by this name or path.  SB_E_REFUSED: it may call others only. */
int sb_around_called(const struct sb_around *around, const char *file, const char **out,
		     struct sb_error *err);

/* What such a worker has to know of itself (enforce/inside.h).  temp: its own; NULL: that of the view. */
void sb_worker_note(const struct sb_worker *worker, const struct sb_zones *has, const char *temp,
		    struct sb_buf *out);

/* --- zones.c ---------------------------------------------------------------------------------------- */

/* What there is to declare: of the project, or of the worker around us (a name: there is one).  0 or an exit status. */
int sb_zones_offered(const struct sb_command_line *line, struct sb_around *around,
		     struct sb_project *out);

/* What is told of one: also where it lies? */
void sb_zone_json(const struct sb_zone *zone, bool path, struct sb_json *json);

/* --- worker_called.c: outside ------------------------------------------------------------------------- */

struct sb_view_file;

/*
 * Files of all that it may call, and of those that these may: a worker sees no other directory in which they could lie.
 * SB_E_CONFLICT: two have one name.
 */
int sb_worker_called(const struct sb_worker *worker, struct sb_view_file **out, size_t *out_count,
		     struct sb_error *err);

/*
 * worker_nested.c: the same in the world of a worker, who calls another.  There is no second world in it and no
 * second supervisor: the child's rules are told to the one that there is, and add up with the caller's.
 */
int sb_worker_prepare_nested(const struct sb_command_line *line, struct sb_run *run,
			     struct sb_error *err);

#endif
