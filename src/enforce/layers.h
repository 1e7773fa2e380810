/*
 * layers.h - which kernel layers hold a run, and what is open without them.
 */
#ifndef SB_ENFORCE_LAYERS_H
#define SB_ENFORCE_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "enforce/plan.h"

struct sb_layers {
	bool mounts;         /* own mount namespace, read-only but for the roots */
	bool user_namespace; /* made on the way there; not needed with CAP_SYS_ADMIN */
	bool own_dev;        /* a /dev without disks */
	dev_t terminals;     /* the filesystem of a /dev/pts of our own; 0: it is the host's */
	bool ipc_namespace;
	int queues; /* supervised: the file system of its POSIX message queues, or less than 0 */
	bool net_namespace;
	bool gate;        /* supervised: connections are held and decided, host by host */
	int landlock_abi; /* 0: none */
	bool seccomp;
	bool supervised;     /* every change is held and performed by a broker */
	bool pid_namespace;  /* supervised: everything ends with it */
	bool no_copies;      /* supervised: descriptors of the command cannot be copied: kept.h */
	bool no_sight;       /* supervised: memory that a process hides cannot be read: prctl(2) */
	bool interrupts;     /* supervised: signals end held calls: owed.h */
	bool listings;       /* supervised: a broker opens directories, since some are hidden */
	int spares;          /* supervised: a directory (supervise/spares.h), or less than 0 */
	int outer;           /* how many sandbash runs this one is inside of */
	bool outer_mounts;   /* the outer one's mounts hold */
	bool stuck;          /* setting up the mounts failed half way: nothing may run */
	char no_mounts[160]; /* why there are no mounts, when there are none */
};

#define SB_MAX_WEAKNESSES 16

/*
 * What this run would promise and these layers do not hold: one sentence each.  Behind them those
 * about what they close beside what they should: no reason to refuse.
 */
struct sb_weaknesses {
	size_t count;
	size_t open; /* how many of them are promises that are not held */
	char text[SB_MAX_WEAKNESSES][400];
};

/* plan may be NULL: then only what concerns every run (for --doctor). */
void sb_weaknesses_find(const struct sb_layers *layers, const struct sb_plan *plan,
			struct sb_weaknesses *out);

/*
 * Is it the broker that keeps the names in hidden directories?  Where no mount covers them and
 * Landlock lets the command list only what lies beside them.
 */
bool sb_layers_hold_listings(const struct sb_layers *layers, const struct sb_plan *plan);

/* Where a plan needs a gate and these layers have none. */
const char *sb_layers_why_no_gate(const struct sb_layers *layers);

/* Is it the broker that keeps signals inside? */
bool sb_layers_hold_signals(const struct sb_layers *layers);

/* Inside another run its layers hold; only rules of the user's own may go unheld. */
void sb_weaknesses_nested(const struct sb_layers *layers, const struct sb_plan *plan,
			  struct sb_weaknesses *out);

/* "user and mount namespaces, Landlock ABI 7, seccomp" */
void sb_layers_describe(const struct sb_layers *layers, char *out, size_t size);

#endif
