/*
 * zones_impl.h - shared by the files that fill zones.
 */
#ifndef SB_ZONES_ZONES_IMPL_H
#define SB_ZONES_ZONES_IMPL_H

#include "zones/schema.h"
#include "zones/zones.h"

/* "preApproved", "ask" or "blocked". */
int sb_zone_read_approval(const struct sb_schema *schema, const struct sb_yaml *value,
			  enum sb_approval *out);

/* Could a zone be called so?  If not, *out_expected says what would do. */
int sb_zone_check_name(const char *name, const char **out_expected);

#endif
