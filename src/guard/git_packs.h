/*
 * git_packs.h - objects/pack/multi-pack-index: which packs git takes objects from, and removes.
 */
#ifndef SB_GUARD_GIT_PACKS_H
#define SB_GUARD_GIT_PACKS_H

#include <stdbool.h>

#include "guard/guard.h"

/* Are all packs that it names beside it?  If not, *out_bad is the name that is not, or all of it. */
bool sb_git_packs_are_beside(struct sb_guard_bytes bytes, struct sb_guard_bytes *out_bad);

#endif
