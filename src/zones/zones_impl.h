/*
 * zones_impl.h - shared by the files that fill zones.
 */
#ifndef SB_ZONES_ZONES_IMPL_H
#define SB_ZONES_ZONES_IMPL_H

#include "zones/zones.h"

/* Takes what zone holds, also if that fails; a NULL name is "out of memory". */
int sb_zones_add(struct sb_zones *zones, struct sb_zone zone, struct sb_error *err);

/* Could a zone be called so?  If not, *out_expected says what would do. */
int sb_zone_check_name(const char *name, const char **out_expected);

#endif
