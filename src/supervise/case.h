/*
 * case.h - a held call as a case for the judge (judge/judge.h).
 *
 * Says what the call does and where, nothing about whether it may.
 */
#ifndef SB_SUPERVISE_CASE_H
#define SB_SUPERVISE_CASE_H

#include "judge/judge.h"
#include "supervise/call.h"
#include "supervise/resolve.h"

struct sb_site sb_spot_site(const struct sb_spot *spot);

struct sb_case sb_call_case(const struct sb_call *call, const struct sb_spot *file,
			    const struct sb_spot *target);

/* target is NULL but for rename and link.  The spots must outlive the judgement. */
void sb_judge_call(const struct sb_grounds *grounds, const struct sb_call *call,
		   const struct sb_spot *file, const struct sb_spot *target,
		   struct sb_judgement *out);

/* A rename that is done: sb_judge_renamed(). */
void sb_judge_call_renamed(const struct sb_grounds *grounds, const struct sb_call *call,
			   const struct sb_spot *file, const struct sb_spot *target,
			   const struct sb_judgement *before, struct sb_judgement *out);

#endif
