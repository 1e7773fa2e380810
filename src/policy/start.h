/*
 * start.h - what a program needs to start, where a rule of the user's hides everything.
 *
 *     deny /
 *
 * means the files of this machine, not its programs: without the loader, /proc and /dev not even
 * a shell would come up.  So such a rule brings built-in rules along that are more specific than
 * "/": a short list, printed like all others (--print-policy, --explain), and undone one by one
 * by rules of the user's own ("deny /etc").  Without such a rule there are none.
 */
#ifndef SB_POLICY_START_H
#define SB_POLICY_START_H

#include <stdbool.h>

#include "sandbash/policy.h"

/* The user's rules are there already. */
int sb_start_add(struct sb_policy *policy, struct sb_error *err);

/*
 * Does a rule of the user's take reading away from path (canonical)?  What is built in opens
 * nothing there that no program needs to start.  The policy need not be sealed.
 */
bool sb_start_user_hides(const struct sb_policy *policy, const char *path);

#endif
