/*
 * within.h - --within: of the projects, only these directories are open to changes.
 *
 * The built-in rule that opens a project is left out, and one for each directory stands in its
 * place; elsewhere in the project changes ask, as they do outside.  The user's own rules stay
 * what they are.
 */
#ifndef SB_CONFIG_WITHIN_H
#define SB_CONFIG_WITHIN_H

#include "config/load.h"

/*
 * After all rules but the built-in ones.  Sets setup.within to the directories that may be
 * opened: fewer than given, with a warning, where opening one would loosen a rule.
 * SB_E_INVALID: one lies in no project.  SB_E_MISSING: one is not there.
 */
int sb_within_find(struct sb_maker *maker, struct sb_error *err);

#endif
