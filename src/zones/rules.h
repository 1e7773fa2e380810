/*
 * rules.h - what somebody has, as rules of a policy: by these the judge decides for processes and file tools alike.
 *
 *     sb_zones_tighten()  -> what the user's own configuration asks for on top
 *     sb_zones_obeyed()   -> what in a zone asks for where that lies
 *     sb_zones_rules()    -> "/NAME" readable, writable, asked about, closed
 *     sb_zones_inherit()  -> what the user's rules say about the directories, at the names that a worker sees
 *
 * Mode and approval are both in a rule: what is "ro" is denied whatever its approval is, and of what is "rw" each
 * operation has the verdict of its approval.
 */
#ifndef SB_ZONES_RULES_H
#define SB_ZONES_RULES_H

#include "sandbash/policy.h"
#include "zones/zones.h"

struct sb_buf;
struct sb_guard;

/* By which names: those that a worker sees, or those of this machine. */
enum sb_zone_names { SB_ZONE_SEEN, SB_ZONE_REAL };

/*
 * By what only the user writes: "workers ask" makes a question of all that a worker's file approves, and so does a
 * rule of his about the directory, or around it; "mode read-only" leaves what can be read.
 */
void sb_zones_tighten(struct sb_zones *zones, const struct sb_policy *user);

/*
 * Hooks, settings and what links of the user's lead to ask in a worker's run as in any other; in a view, where they
 * have other names, only rules can say so.  guard: of this machine's paths; tops: its projects.  The directories are there.
 */
int sb_zones_obeyed(struct sb_zones *zones, const struct sb_guard *guard, const char *const *tops,
		    struct sb_error *err);

struct sb_access sb_zone_access(const struct sb_zone *zone);

/* The same in words for the person and the worker, by the name that both know: "/input is read-only". */
void sb_zone_says(const struct sb_zone *zone, struct sb_buf *out);

/*
 * One rule for each.  With the names that are seen also one for "/": nothing else changes.  They are of
 * SB_TIER_DIRECTORY, so that "mode read-only" takes changes away, and their origin is what a worker may be told:
 * "/input is read-only".
 */
int sb_zones_rules(struct sb_policy *policy, const struct sb_zones *zones, enum sb_zone_names names,
		   struct sb_error *err);

/*
 * What user (sealed; of this machine's paths) does not allow in these directories, as rules by these names.  They
 * only ever make an answer stricter.  SB_E_REFUSED: a directory as a whole may not be read.
 */
int sb_zones_inherit(struct sb_policy *policy, const struct sb_zones *zones,
		     enum sb_zone_names names, const struct sb_policy *user, struct sb_error *err);

/*
 * A rule of the user's that begins with the name which a worker sees, where nothing of that name is on this machine: it
 * holds nothing, since rules are about this machine's paths.  *out_zone: whose name.  NULL: there is none.
 */
const struct sb_rule *sb_zones_misnamed(const struct sb_zones *zones, const struct sb_policy *user,
					const struct sb_zone **out_zone);

#endif
