/*
 * git_ways.h - where git push and git pull go, and what git shows: what a person is told has changed.
 *
 * Remotes are removed, added and renamed all day, so nobody is asked about that.  Nor are keys compared one by
 * one: what counts is where each branch would go before and after.
 */
#ifndef SB_GUARD_GIT_WAYS_H
#define SB_GUARD_GIT_WAYS_H

#include <stddef.h>

#include "guard/git_config.h"
#include "guard/guard.h"
#include "guard/repository.h"

typedef void (*sb_git_tell_fn)(void *context, const char *line);

/* Of the config at path config.  Lines are not escaped. */
void sb_git_ways_compare(const char *config, const struct sb_git_config *before,
			 const struct sb_git_config *after, sb_git_tell_fn tell, void *context);

/* The same of info/exclude, or info/attributes: patterns that are new, and hide something. */
void sb_git_exclude_compare(const char *path, struct sb_guard_bytes before,
			    struct sb_guard_bytes after, sb_git_tell_fn tell, void *context);

/* What the git directory of a project said when the guard was made, and what it says now. */
void sb_shown_compare(const struct sb_shown *shown, sb_git_tell_fn tell, void *context);

#endif
