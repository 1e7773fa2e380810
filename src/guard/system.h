/*
 * system.h - names that the whole machine runs or obeys, for root alone: system.c.
 */
#ifndef SB_GUARD_SYSTEM_H
#define SB_GUARD_SYSTEM_H

#include <stdbool.h>

#include "guard/guard.h"

/* Which rows count in a run; zero: none. */
struct sb_system {
	bool counts[SB_GUARD_MAX_SYSTEM_ROWS];
};

/* Of this user, with these projects: NULL-terminated, or NULL. */
void sb_system_begin(struct sb_system *system, const char *const *projects);

/* The row that path is, or lies beneath; or NULL.  *out_named: what a rule has to name. */
const struct sb_guard_row *sb_system_row(const struct sb_system *system, const char *path,
					 const char **out_named);

/* A row of names beneath path, a directory; or NULL. */
const struct sb_guard_row *sb_system_beneath(const struct sb_system *system, const char *path);

#endif
