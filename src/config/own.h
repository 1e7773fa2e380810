/*
 * own.h - where sandbash's own directories are, and which variables are believed about it.
 *
 * A variable may come from a project: direnv, an editor or an agent takes it from a file that lies
 * there.  Rules and kept answers in a directory that such a variable names would be the project's
 * own word about itself.  So a directory that lies in a project, and is named by nothing but the
 * environment, is protected from changes like any of ours, and not obeyed.
 */
#ifndef SB_CONFIG_OWN_H
#define SB_CONFIG_OWN_H

#include "config/place.h"

/*
 * Fill config_dir, config_named, state_dir, refused and warnings of home, whose home, cwd and
 * account_home are known.
 */
int sb_own_find(const struct sb_environment *environment, struct sb_home *home,
		struct sb_error *err);

#endif
