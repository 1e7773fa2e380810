/* simple_walk.h - one simple command: what it sets, where its redirections lead, what it calls. */
#ifndef SB_SHELL_SIMPLE_WALK_H
#define SB_SHELL_SIMPLE_WALK_H

#include "shell/shell.h"

void sb_walk_redirects(struct sb_shell *shell, const struct sb_redirect *redirects);
enum sb_ending sb_walk_simple(struct sb_shell *shell, const struct sb_node *node);

/* A command by its fields, the first of which names it.  For shell->call. */
enum sb_ending sb_walk_call(struct sb_shell *shell, struct sb_field *fields);

#endif
