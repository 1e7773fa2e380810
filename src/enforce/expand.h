/*
 * expand.h - which existing files a pattern with wildcards means right now.
 *
 * Symbolic links are never followed.  Looking is bounded: a pattern that would
 * need more than SB_EXPAND_LIMIT directory entries is refused, since a rule that
 * holds only in part is worse than none.
 */
#ifndef SB_ENFORCE_EXPAND_H
#define SB_ENFORCE_EXPAND_H

#include "sandbash/error.h"

#define SB_EXPAND_LIMIT 1000000

typedef int (*sb_expand_found)(void *context, const char *path, struct sb_error *err);

/* Call found for every path beneath prefix (canonical) that glob matches, outermost only. */
int sb_expand(const char *prefix, const char *glob, sb_expand_found found, void *context,
	      struct sb_error *err);

#endif
