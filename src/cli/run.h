/*
 * run.h - one run on its way: what is known before the command starts.
 */
#ifndef SB_CLI_RUN_H
#define SB_CLI_RUN_H

#include "cli/cli.h"
#include "cli/learn.h"
#include "cli/report.h"
#include "consent/agreed.h"
#include "enforce/plan.h"
#include "options/environ.h"

struct sb_run {
	const struct sb_command_line *line;
	struct sb_setup setup;
	struct sb_plan plan;
	char **argv;
	char *file;      /* what argv[0] was found to be; NULL: not found yet */
	char *canonical; /* the same without links, as rules know it; or NULL */
	struct sb_learn learn;
	struct sb_report_file report; /* of --report */
	char *word;                   /* shown with every question; or NULL: not found yet */
	char *title;                  /* of a worker: "worker NAME" */
	const char *worker;           /* its name */
	char *note;                   /* of one that another one calls: enforce/inside.h */
	const char *directory;        /* of a worker: where the caller stands */
	struct sb_agreed_list agreed; /* of --ask-first */
	bool piped;                   /* what the command prints goes to no terminal */
	char **programs;              /* of a worker: what may be executed; NULL: anything */
};

/*
 * Everything up to the point of no return; 0 or an exit status.  for_real: directories of ours may be
 * made.  sb_run_done() ends it, after a failure too.
 */
int sb_run_prepare(const struct sb_command_line *line, bool for_real, struct sb_run *run);

/*
 * worker.c: the same for --worker.  From then on this process is in the worker's own world, and paths are those that
 * it sees; of what lies outside, it holds what it needs.
 */
int sb_run_prepare_worker(struct sb_command_line *line, struct sb_run *run);
void sb_run_done(struct sb_run *run);

/* Is there no sandbox at all? */
bool sb_run_is_danger(const struct sb_run *run);

/* What the command sees of the environment. */
struct sb_environ_names sb_run_environ_names(const struct sb_run *run);

#endif
