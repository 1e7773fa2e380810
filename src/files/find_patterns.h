/*
 * find_patterns.h - the globs of a request, compiled.
 */
#ifndef SB_FILES_FIND_PATTERNS_H
#define SB_FILES_FIND_PATTERNS_H

#include <stddef.h>

struct sb_find;
struct sb_glob;

struct sb_patterns {
	struct sb_glob **all;
	size_t count;
};

/* texts: NULL-terminated or NULL; flags: enum sb_glob_flags.  0 or a negative code. */
int sb_patterns_new(struct sb_find *find, const char *const *texts, unsigned flags,
		    struct sb_patterns *out);
/* Patterns that would lead out of the project are refused like paths that do. */
int sb_patterns_refuse_outside(struct sb_find *find, const char *const *texts);
void sb_patterns_done(struct sb_patterns *patterns);

#endif
