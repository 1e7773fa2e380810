#include "policy/access.h"

#include <string.h>

const struct sb_access sb_access_write = {{SB_ALLOW, SB_ALLOW, SB_ALLOW, SB_ALLOW}};
const struct sb_access sb_access_read = {{SB_ALLOW, SB_DENY, SB_DENY, SB_DENY}};
const struct sb_access sb_access_deny = {{SB_DENY, SB_DENY, SB_DENY, SB_DENY}};
const struct sb_access sb_access_ask = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}};
const struct sb_access sb_access_quiet = {{SB_ALLOW, SB_DENY, SB_DENY, SB_DENY},
					  1u << SB_MODIFY | 1u << SB_CREATE | 1u << SB_DELETE};

bool sb_access_has(const struct sb_access *access, enum sb_verdict verdict, enum sb_op first)
{
	for (int op = first; op < SB_OP_COUNT; op++)
		if (access->verdict[op] == verdict)
			return true;
	return false;
}

bool sb_access_equal(const struct sb_access *a, const struct sb_access *b)
{
	return memcmp(a->verdict, b->verdict, sizeof a->verdict) == 0 && a->quiet == b->quiet;
}
