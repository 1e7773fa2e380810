/*
 * stages.h - the stages of confinement one by one, for a run of several processes.
 *
 *     begin -> enter -> (privileges, Landlock, filter of each process) -> prove
 *
 * sb_confine() takes them all in one process.  A supervised run takes the first two in the
 * process that becomes the performer, and the rest in performer and command apart.
 */
#ifndef SB_ENFORCE_STAGES_H
#define SB_ENFORCE_STAGES_H

#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>

#include "enforce/layers.h"
#include "enforce/confine.h"

/* Where a write proves something; either may be NULL. */
struct sb_probes {
	const char *outside; /* a directory the user could write to, and the run must not */
	const char *inside;  /* a directory the run must be able to write to */
};

struct sb_stages {
	const struct sb_plan *plan;
	const struct sb_confine_options *options;
	struct sb_layers *layers;
	struct sb_weaknesses *weak;
	bool supervised;
	/* filled by begin */
	struct stat cwd;
	struct sb_probes probes;
	char probe_buffer[PATH_MAX];
};

/* What the machine offers, and where to try it.  Changes nothing. */
int sb_stages_begin(struct sb_stages *stages, struct sb_error *err);

/* Descriptors, namespaces, mounts, current directory. */
int sb_stages_enter(struct sb_stages *stages, struct sb_error *err);

/* Once all namespaces are there: is that enough?  Fills stages->weak. */
int sb_stages_give_verdict(const struct sb_stages *stages, struct sb_error *err);

/*
 * no_new_privs, and every capability gone but one, which drop_last() ends once the filter is loaded.
 *
 * SECURITY: as root CAP_SYS_ADMIN is there until then, and for nothing else.
 *
 * Danger: a step that is left out leaves it to the command.  So each failure ends the run, and no program can
 * get it back: the bounding set is empty by now.
 * Price: what it saves.  After a filter that was loaded without it the kernel clears what the processor has
 * learned about branches (bpf_jit_comp.c), 45 ns for each call whose arguments are looked at: an open, a close.
 * In a user namespace it does not count.
 * Held by: tests/enforce/namespaces.py, tests/enforce/proof.py
 */
int sb_stages_drop_privileges(const struct sb_layers *layers, struct sb_error *err);
int sb_stages_drop_last(struct sb_error *err);
uint64_t sb_stages_filter_rights(const struct sb_layers *layers);

/* Before its filter: the command can change nothing by itself. */
int sb_stages_prove_floor(const struct sb_stages *stages, struct sb_error *err);

/* After it: the filter answers, and a broker behind it. */
int sb_stages_prove_broker(const struct sb_stages *stages, struct sb_error *err);

/* Without capabilities, behind its own Landlock: the performer can do what the plan allows. */
int sb_stages_prove_performer(const struct sb_stages *stages, struct sb_error *err);

#endif
