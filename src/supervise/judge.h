/*
 * judge.h - what the policy and the guard say about a held call.
 *
 * Turns an act on resolved files into operations on paths, and asks sb_decide() about each.
 * Names that a program outside would run or obey are looked at once more (guard.h): that only
 * ever makes an answer stricter.  The strictest answer is the call's.
 */
#ifndef SB_SUPERVISE_JUDGE_H
#define SB_SUPERVISE_JUDGE_H

#include "config/place.h"
#include "guard/guard.h"
#include "sandbash/policy.h"
#include "supervise/call.h"
#include "supervise/ignored.h"
#include "supervise/resolve.h"

#define SB_MAX_WISHES 4

/* What a run is judged by.  Does not change: both processes and all threads may use it. */
struct sb_grounds {
	const struct sb_policy *policy;
	const struct sb_guard *guard; /* NULL: names alone do not matter */
	struct sb_ignored ignored;    /* on where the policy protects what git ignores */
};

/*
 * The guard of a run under policy: whatever may be made unasked is a guarded place.  Lives no
 * longer than policy.  SB_E_NOMEM.
 */
int sb_grounds_guard(const struct sb_policy *policy, const char *const *projects,
		     const struct sb_home *home, struct sb_guard **out, struct sb_error *err);

/* guard stays the caller's.  What is made from now on is the run's own. */
void sb_grounds_init(struct sb_grounds *grounds, const struct sb_policy *policy,
		     const struct sb_guard *guard);

/* One operation on one path that the call needs. */
struct sb_judged {
	enum sb_op op;
	const struct sb_spot *spot;
	struct sb_decision decision;
	struct sb_guard_answer guard; /* what the guard said, unless a rule opens the name */
};

struct sb_judgement {
	size_t count;
	struct sb_judged all[SB_MAX_WISHES];
	struct sb_judged *strictest; /* in all */
	/*
	 * In all, or NULL: a guarded name that bytes are about to land on.  Nothing is decided
	 * before these have been looked at (sb_judge_bytes()), and then exactly they land.
	 */
	struct sb_judged *lands;
	/* enum sb_guard_looked: plain names are plain as long as nobody changes what is there */
	unsigned looked;
	/* rename: what was at the first name, and at the second where the two are exchanged */
	struct sb_mover {
		bool known;
		dev_t device;
		ino_t inode;
	} movers[2];
};

/* target is NULL but for rename and link. */
void sb_judge(const struct sb_grounds *grounds, const struct sb_call *call,
	      const struct sb_spot *file, const struct sb_spot *target, struct sb_judgement *out);

/* The same of a rename that was judged before and is done: may what it moved be where it is? */
void sb_judge_renamed(const struct sb_grounds *grounds, const struct sb_call *call,
		      const struct sb_spot *file, const struct sb_spot *target,
		      const struct sb_judgement *before, struct sb_judgement *out);

/* Is now as good for the call as before? */
bool sb_judgement_stands(const struct sb_judgement *before, const struct sb_judgement *now);

/*
 * May these bytes replace the old ones there?  If not, the judgement's verdict is changed, and
 * lands->guard.detail says why; else lands->guard is plain.  True: yes, unasked.
 */
bool sb_judge_bytes(const struct sb_grounds *grounds, struct sb_judgement *judgement,
		    struct sb_guard_bytes old_bytes, struct sb_guard_bytes new_bytes);

/*
 * What an operation on a name means, for those who only tell: nothing is held, and no bytes are
 * there to look at.  An allowed write to a name whose contents are looked at has
 * out->guard.verdict SB_GUARD_CHECK.
 */
void sb_judge_name(const struct sb_grounds *grounds, enum sb_op op, const struct sb_spot *spot,
		   struct sb_judged *out);

/* Is a name so ordinary that only the policy counts?  For those who make files in a hurry. */
bool sb_judge_is_plain(const struct sb_grounds *grounds, const struct sb_spot *file);

#endif
