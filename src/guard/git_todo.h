/*
 * git_todo.h - the list of steps of a rebase: git-rebase-todo.
 */
#ifndef SB_GUARD_GIT_TODO_H
#define SB_GUARD_GIT_TODO_H

#include <stdbool.h>
#include <stddef.h>

enum sb_git_step {
	SB_GIT_STEP_PLAIN, /* moves commits, or none */
	SB_GIT_STEP_RUNS,  /* exec */
	SB_GIT_STEP_ODD,   /* not one of git's */
};

enum sb_git_step sb_git_step_of(const char *line, size_t length);

/* Or of a cherry-pick, which knows no exec? */
bool sb_git_todo_is_of_rebase(const char *path);

#endif
