/* walk.h - commands, one after the other, as the shell that only thinks would run them. */
#ifndef SB_SHELL_WALK_H
#define SB_SHELL_WALK_H

#include "shell/shell.h"

/* All of a list; how its last command ends.  For shell->run. */
enum sb_ending sb_commands_walk(struct sb_shell *shell, const struct sb_node *list);

#endif
