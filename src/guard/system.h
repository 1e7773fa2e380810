/*
 * system.h - names that the whole machine runs or obeys, for root alone: system.c.
 */
#ifndef SB_GUARD_SYSTEM_H
#define SB_GUARD_SYSTEM_H

#include <stdbool.h>

#include "guard/guard.h"

/* What counts in a run; zero: nothing. */
struct sb_system {
	bool counts;
	char **projects; /* those in such places: copies, NULL-terminated, or NULL */
};

/* Of this user, with these projects: NULL-terminated, or NULL. */
void sb_system_begin(struct sb_system *system, const char *const *projects);
void sb_system_done(struct sb_system *system);

/* The row that path is, or lies beneath, unless it is in a project there; or NULL.  *out_named: what a rule has to name. */
const struct sb_guard_row *sb_system_row(const struct sb_system *system, const char *path,
					 const char **out_named);

/* The same of rows that are about the rest of a directory: these count where nothing else is said about path. */
const struct sb_guard_row *sb_system_rest(const struct sb_system *system, const char *path,
					  const char **out_named);

/* A row of names beneath path, a directory; or NULL. */
const struct sb_guard_row *sb_system_beneath(const struct sb_system *system, const char *path);

#endif
