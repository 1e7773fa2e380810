/*
 * sight.h - what stands at a wish's name at this moment, and what the wish would do to it.
 */
#ifndef SB_CONSENT_SIGHT_H
#define SB_CONSENT_SIGHT_H

#include "consent/grants.h"
#include "consent/identity.h"

/* What may be done to a file, as bits: one per operation, and one for metadata. */
enum {
	SB_ACT_READ = 1u << SB_READ,
	SB_ACT_DELETE = 1u << SB_DELETE,
	SB_ACT_METADATA = 1u << SB_OP_COUNT,
	SB_ACT_CHANGE = 1u << SB_MODIFY | 1u << SB_CREATE | SB_ACT_DELETE | SB_ACT_METADATA,
};

struct sb_sight {
	struct stat info;               /* if it exists; a link is not followed */
	struct sb_identity where, self; /* the directory; the file, if it exists */
	bool exists;
	bool barred; /* nobody knows whether it does: a name too long, a directory closed */
};

/* False, with errno: not even the directory can be looked at. */
bool sb_look(const struct sb_wish *wish, struct sb_sight *out);

static inline unsigned sb_act_of(const struct sb_wish *wish)
{
	return wish->metadata ? SB_ACT_METADATA : 1u << wish->op;
}

#endif
