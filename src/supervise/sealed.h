/*
 * sealed.h - what a question has said about directories, so that the yes is for that (judge/seal.h).
 *
 *     {0} -> sb_sealed_take() -> judged anew, asked -> sb_sealed_holds() before and after the act -> done
 *
 * Two kinds: a directory that gets another name comes with all that is in it; and where "objects" and "refs"
 * make a git directory, what lies beside them is listed.
 */
#ifndef SB_SUPERVISE_SEALED_H
#define SB_SUPERVISE_SEALED_H

#include "judge/seal.h"
#include "supervise/case.h"

struct sb_sealed {
	bool any;
	struct {
		bool moves, beside; /* what is at, what is around the file and the target */
		struct sb_seal moved, around;
	} at[2];
	struct sb_seal_skip skip; /* of what is around them, what the act itself puts there */
};

/* Of a call that has to be asked about.  True: there was something, and what is shown has to be looked at now. */
bool sb_sealed_take(const struct sb_call *call, const struct sb_spot *file,
		    const struct sb_spot *target, const struct sb_judgement *judgement,
		    struct sb_sealed *out);
void sb_sealed_done(struct sb_sealed *shown);

/* Does a directory get another name, for which it has to be on hold? */
bool sb_sealed_moves(const struct sb_sealed *shown);

/*
 * Files in what moves that have other names get copies of their own: it is on hold, target as well if the two
 * change places.  False: that failed.
 */
bool sb_sealed_unshare(const struct sb_sealed *shown, const struct sb_spot *file,
		       const struct sb_spot *target);

/* Is all as it was?  done: the act is; what has moved was looked at before, on hold. */
bool sb_sealed_holds(const struct sb_sealed *shown, const struct sb_spot *file,
		     const struct sb_spot *target, bool done);

/* The directory that gets the target's name; NULL: none. */
const struct sb_seal *sb_sealed_moved(const struct sb_sealed *shown);

#endif
