/*
 * remembered.h - what interactive programs keep for their next time: histories, positions, variables.
 *
 * Python, node, less, sqlite3, psql, vim and fish write such files when they start or end, in the home
 * directory.  What was typed inside must not be offered outside again, where nothing confines it, and
 * nobody who leaves a pager wants a question: it is refused without a word, and all of them go on
 * without.  A rule of the user's that names the file opens it.
 */
#ifndef SB_POLICY_REMEMBERED_H
#define SB_POLICY_REMEMBERED_H

#include "sandbash/policy.h"

struct sb_surroundings;

/* The user's rules are there already. */
int sb_remembered_add(struct sb_policy *policy, const struct sb_surroundings *place,
		      struct sb_error *err);

/*
 * The rule for what a program of that name remembers in a directory of the same name, if the directory at path is on
 * the way there: fish makes ~/.local and ~/.local/share first.  Else NULL.  Anybody can have that name; what it gets is a no.
 */
const struct sb_rule *sb_remembered_behind(const struct sb_policy *policy, const char *path,
					   const char *program);

#endif
