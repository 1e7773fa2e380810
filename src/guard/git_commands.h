/*
 * git_commands.h - files that git runs because a setting names them.
 */
#ifndef SB_GUARD_GIT_COMMANDS_H
#define SB_GUARD_GIT_COMMANDS_H

#include "guard/git_config.h"
#include "guard/guard_impl.h"

struct sb_git_commands {
	const char *top;  /* what a relative one starts from */
	const char *home; /* or NULL */
	struct sb_extras *out;
	bool user; /* the settings are the user's own, and count for all repositories */
};

/* The entry's programs into out.  SB_E_REFUSED: settings name more than can be looked at. */
int sb_git_commands_collect(const struct sb_git_commands *collector,
			    const struct sb_git_entry *entry);

#endif
