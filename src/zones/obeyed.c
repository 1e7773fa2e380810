#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/list.h"
#include "base/buf.h"
#include "guard/guard.h"
#include "path/pattern.h"
#include "zones/rules.h"

#define MAX_PARTS 512 /* more is a zone that is asked about as a whole */

/* From now on a person is asked about all of it. */
static int ask_about(struct sb_zone *zone)
{
	if (zone->write == SB_PRE_APPROVED)
		zone->write = SB_APPROVAL_ASK;
	if (zone->remove == SB_PRE_APPROVED)
		zone->remove = SB_APPROVAL_ASK;
	return SB_OK;
}

/* sb_guard_tell_obeyed: path is the zone's, or beneath it. */
static int add(void *context, const char *path, const char *wild, const struct sb_guard_row *row)
{
	struct sb_zone *zone = context;
	const char *rest = path + strlen(zone->path);
	SB_AUTO_FREE char *escaped = sb_pattern_escape(rest + (*rest == '/'));
	SB_AUTO_FREE char *pattern = NULL, *origin = NULL;

	if ((!*rest && !wild) || zone->part_count == MAX_PARTS)
		return ask_about(zone);
	pattern = escaped ? sb_text_print("%s%s%s", escaped, *escaped && wild ? "/" : "",
					  wild ? wild : "")
			  : NULL;
	origin = sb_text_print("%s: %s", row->who, row->why);
	if (!pattern || !origin)
		return SB_E_NOMEM;
	for (size_t i = 0; i < zone->part_count; i++)
		if (strcmp(zone->parts[i].pattern, pattern) == 0)
			return SB_OK;
	if (!SB_GROW(zone->parts, zone->part_count))
		return SB_E_NOMEM;
	zone->parts[zone->part_count++] =
		(struct sb_zone_part){sb_take_ptr(&pattern), sb_take_ptr(&origin)};
	return SB_OK;
}

int sb_zones_obeyed(struct sb_zones *zones, const struct sb_guard *guard, const char *const *tops,
		    struct sb_error *err)
{
	for (size_t i = 0; i < zones->count; i++)
		if (zones->all[i].mode == SB_ZONE_RW &&
		    sb_guard_obeyed_in(guard, zones->all[i].path, tops, add, &zones->all[i]) !=
			    SB_OK)
			return sb_no_memory(err);
	return SB_OK;
}
