/*
 * extras.h - places that settings name: sb_extras, filled.
 */
#ifndef SB_GUARD_EXTRAS_H
#define SB_GUARD_EXTRAS_H

#include "guard/guard_impl.h"

/* sb_extras_add() of a path and what it is. */
int sb_extras_add_path(struct sb_extras *extras, char *path, enum sb_extra_kind kind);

/* What settings may name, or nobody knows what is dangerous: a config may have 200,000 words, and more
 * than 2048 files are not kept (found.c).  SB_E_REFUSED: that is spent. */
#define SB_EXTRA_FILE_COST 64
int sb_extras_spend(struct sb_extras *extras, unsigned cost);

/* A relative path in a user's setting, which counts in every repository; others, and those with "..", do not. */
int sb_extras_add_anywhere(struct sb_extras *extras, const char *value, enum sb_extra_kind kind);

#endif
