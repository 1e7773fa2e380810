/*
 * shell.h - which program a run starts, and the mark in its prompt (S14).
 */
#ifndef SB_CLI_SHELL_H
#define SB_CLI_SHELL_H

#include "config/setup.h"
#include "options/options.h"

/*
 * The argument list to execute: the command, or a shell with what was meant for it.
 * An interactive bash, zsh or fish gets a start-up file of ours that reads the
 * user's own and marks the prompt; for zsh the environment is changed for that.
 * *out is malloc'ed, its strings are the caller's or live as long as the program.
 */
int sb_shell_command(const struct sb_command_line *line, const struct sb_setup *setup, char ***out,
		     struct sb_error *err);

/*
 * The file that PATH gives for a command, as execvp(3) would find it, malloc'ed; or
 * NULL.  Found before the sandbox is entered, so that it can be kept visible.
 */
char *sb_shell_find(const char *command);

/*
 * Look for a line in the user's shell start-up files that makes "sandbash" mean
 * something else.  Fills where ("/home/u/.bashrc line 3") and returns true.
 */
bool sb_shell_alias(const char *home, char *where, size_t size);

#endif
