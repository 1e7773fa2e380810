/*
 * zones_impl.h - shared by the files that fill zones.
 */
#ifndef SB_ZONES_ZONES_IMPL_H
#define SB_ZONES_ZONES_IMPL_H

#include "zones/schema.h"
#include "zones/zones.h"

#define SB_MODE_WORDS "ro rw"
#define SB_APPROVAL_WORDS "preApproved ask blocked"

/* Could a zone be called so?  If not, *out_expected says what would do. */
int sb_zone_check_name(const char *name, const char **out_expected);

#endif
