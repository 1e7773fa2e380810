/*
 * folds.h - which directories that rules speak of take names in any case (F8).
 */
#ifndef SB_CONFIG_FOLDS_H
#define SB_CONFIG_FOLDS_H

#include "config/setup.h"

/*
 * Looks at the home directory, the projects, and where the user's own rules begin; a directory deeper in a tree
 * that folds by itself (chattr +F) and that no rule names is not found.  Before the policy is sealed.
 */
int sb_folds_find(struct sb_setup *setup, struct sb_error *err);

#endif
