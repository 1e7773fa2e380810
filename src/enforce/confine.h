/*
 * confine.h - put this process, and all it will start, under a policy.
 *
 *     policy -> sb_confine() -> execve()
 *
 * Everything happens in the calling process (the static run), so that signals,
 * job control and exit status are those of the command itself.  What was done
 * cannot be undone.  On error nothing may be run: exit.
 */
#ifndef SB_ENFORCE_CONFINE_H
#define SB_ENFORCE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "enforce/layers.h"
#include "sandbash/error.h"

struct sb_confine_options {
	bool best_effort;
	const int *keep_fds;
	size_t keep_fd_count;
	const struct sb_policy *policy; /* what the plan was made from, for an outer supervisor */
	const char *note; /* of a worker that another one calls: inside.h; NULL: there is none */
};

/*
 * Set up every layer the machine offers, check that what the plan promises holds,
 * and prove it with a write that must fail.  Fills out_layers, and in out_weak what
 * is not held.  SB_E_UNSUPPORTED: something is not held and best_effort is off.
 * SB_E_BROKEN: a layer was set up and does not hold.
 */
int sb_confine(const struct sb_plan *plan, const struct sb_confine_options *options,
	       struct sb_layers *out_layers, struct sb_weaknesses *out_weak, struct sb_error *err);

/* What the machine offers, without changing anything: for --doctor and --version. */
int sb_layers_probe(bool network_off, struct sb_layers *out_layers, struct sb_error *err);

#endif
