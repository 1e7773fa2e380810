/*
 * judge.h - what the policy says about a held call.
 *
 * Turns an act on resolved files into operations on paths, and asks sb_decide() about each.
 * The strictest answer is the call's.
 */
#ifndef SB_SUPERVISE_JUDGE_H
#define SB_SUPERVISE_JUDGE_H

#include "sandbash/policy.h"
#include "supervise/call.h"
#include "supervise/resolve.h"

#define SB_MAX_WISHES 4

/* One operation on one path that the call needs. */
struct sb_judged {
	enum sb_op op;
	const struct sb_spot *spot;
	struct sb_decision decision;
};

struct sb_judgement {
	size_t count;
	struct sb_judged all[SB_MAX_WISHES];
	const struct sb_judged *strictest; /* in all */
};

/* target is NULL but for rename and link. */
void sb_judge(const struct sb_policy *policy, const struct sb_call *call,
	      const struct sb_spot *file, const struct sb_spot *target, struct sb_judgement *out);

#endif
