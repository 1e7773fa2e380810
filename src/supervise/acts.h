/*
 * acts.h - what an act is: to the judge, to the record, to a person, and to the names it is about.
 *
 * One row per act.  Which system calls are one, and where their arguments lie, is in enforce/held.h.
 */
#ifndef SB_SUPERVISE_ACTS_H
#define SB_SUPERVISE_ACTS_H

#include "judge/judge.h"
#include "supervise/call.h"

enum sb_act_trait {
	SB_TRAIT_TWO = 1,     /* has a target */
	SB_TRAIT_NAMES = 2,   /* puts something under a name: the target's, where there is one */
	SB_TRAIT_REMOVES = 4, /* takes a name away, and does nothing else */
	SB_TRAIT_FILE = 8,    /* is about what the path leads to, not about a name */
};

struct sb_act_facts {
	const char *name;  /* for the record */
	const char *verb;  /* for a person, before the path; of opens more is known: wording.h */
	enum sb_deed deed; /* for the judge; what flags and modes change about it: case.c */
	enum sb_op op;     /* at the first path; an open's flags say more */
	int in_proc;       /* the errno of procfs, which can do nothing of the kind */
	unsigned traits;
};

extern const struct sb_act_facts sb_acts[SB_ACT_COUNT];

static inline bool sb_act_has(enum sb_act act, unsigned traits)
{
	return sb_acts[act].traits & traits;
}

/* rename and link have two names */
static inline bool sb_call_is_two(const struct sb_call *call)
{
	return sb_act_has(call->act, SB_TRAIT_TWO);
}

/* The errno of a no. */
int sb_call_refusal(const struct sb_call *call);

#endif
