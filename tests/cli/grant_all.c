/*
 * grant_all.c - sandbash that checks no delegation, in the place of src/zones/zones.c and src/zones/rules.c.
 *
 * Linked into build/tests/sandbash-ungranted.  A worker gets whatever it declares, also of what its caller does not have,
 * and to the supervisor every directory of a worker's is open for every change.  What a worker cannot do then, the
 * kernel holds by itself: tests/cli/worker_stacking.py.
 */
#include "zones/rules.h"
#include "zones/zones.h"

int checked_grant(const struct sb_worker *worker, const struct sb_zones *has,
		  const struct sb_worker *parent, struct sb_zones *out, struct sb_error *err);
int checked_rules(struct sb_policy *policy, const struct sb_zones *zones, enum sb_zone_names names,
		  struct sb_error *err);

#define sb_worker_grant checked_grant
#include "../../src/zones/zones.c"
#undef sb_worker_grant
#define sb_zones_rules checked_rules
#include "../../src/zones/rules.c"
#undef sb_zones_rules

int sb_worker_grant(const struct sb_worker *worker, const struct sb_zones *has,
		    const struct sb_worker *parent, struct sb_zones *out, struct sb_error *err)
{
	int status = SB_OK;

	*out = (struct sb_zones){0};
	for (size_t i = 0; i < worker->declared.count && status == SB_OK; i++) {
		const struct sb_zone *wanted = &worker->declared.all[i];
		const struct sb_zone *zone = sb_zones_find(has, wanted->name);
		struct sb_zone got = {.name = strdup(wanted->name), .mode = wanted->mode};

		/* outside there is no other directory that it could mean */
		if (!zone && !parent)
			return sb_fail(err, SB_E_REFUSED, 0, "no zone '%s'", wanted->name);
		got.path = zone ? strdup(zone->path) : sb_path_join("/", wanted->name);
		status = sb_zones_add(out, got, err);
	}
	return status;
}

int sb_zones_rules(struct sb_policy *policy, const struct sb_zones *zones, enum sb_zone_names names,
		   struct sb_error *err)
{
	struct sb_zones open = {.count = zones->count};
	int status;

	open.all = calloc(zones->count + 1, sizeof *open.all);
	if (!open.all)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	for (size_t i = 0; i < zones->count; i++) {
		open.all[i] = zones->all[i];
		open.all[i].mode = SB_ZONE_RW;
		open.all[i].write = open.all[i].remove = SB_PRE_APPROVED;
	}
	status = checked_rules(policy, &open, names, err);
	free(open.all);
	return status;
}
