/*
 * git_alternates.h - objects/info/alternates: further places that git takes objects from.
 */
#ifndef SB_GUARD_GIT_ALTERNATES_H
#define SB_GUARD_GIT_ALTERNATES_H

#include <stdbool.h>
#include <stddef.h>

struct sb_guard;

/* May the line stand in the file (.../objects/info/alternates, canonical)? */
bool sb_git_alternate_is_harmless(const struct sb_guard *guard, const char *file, const char *line,
				  size_t length);

#endif
