/*
 * meaning.h - what a name means stays as it was judged until the act is done, whoever else acts.
 *
 * SECURITY: no lock, but time.  It holds between the threads of a run, its asker, other runs in the
 * same project, other users, other containers: nobody has to know of anybody else.
 *
 * Danger: "q/hooks/x" is nobody's business until q becomes ".git", or gets the directories that
 * make it a git directory.  While one has judged the file and not made it yet, another could
 * rename q; or the other way round.
 *
 *     every act       counts if it is done within a millisecond (SB_NAME_COUNTS_NS) after the
 *                     kernel said what the names were.  One that took longer (a slow disk, a dead
 *                     server, a busy machine) is judged once more when it is done, and taken back
 *                     if it would not be allowed by now.  A new file is empty and still ours then
 *     a directory     that gets a name of the table because of what is, or is not, in it, or moves to
 *                     where other rules hold: first it
 *                     gets a name that says "on hold", at which nobody does anything; then those
 *                     who know it by its old one have time to end; then it is looked into, and
 *                     gets the new name or its old one back
 *                     That, and the person who was asked, have the last word: sealed.h
 *     objects, refs   are made, and looked at from outside at once and after that time; taken back
 *                     if something is beside them that git would obey
 *
 * Price: two milliseconds for a directory that is called .git, .vscode, ...; for the second of
 * objects and refs outside .git.  Killed in them (SIGKILL), a directory stays on hold, and a hook that
 * another run has made beside objects and refs in just that time stays.  An act that took too
 * long and is taken back was there for microseconds.  What a slow rename has replaced is lost.
 * Between machines that share a file system it holds only as far as that shows names at once.
 * Held by: tests/supervise/two_runs.py, tests/supervise/guard.py
 */
#ifndef SB_SUPERVISE_MEANING_H
#define SB_SUPERVISE_MEANING_H

#include "judge/hold.h"
#include "supervise/case.h"
#include "supervise/perform.h"
#include "supervise/sealed.h"

struct sb_acting {
	const struct sb_grounds *grounds;
	int proc;                      /* the host's /proc, O_PATH */
	const struct sb_sealed *shown; /* to who has said yes; NULL: nobody was asked */
};

/*
 * sb_perform() of what was judged.  *out_changed: it was not done, or has been taken back, since the
 * names mean something else by now.  Then it has to be resolved and judged anew.
 */
struct sb_outcome sb_act(const struct sb_acting *acting, const struct sb_call *call,
			 struct sb_spot *file, struct sb_spot *target,
			 const struct sb_judgement *judged, bool *out_changed);

/* For those who act in another way.  Before, false: do not; after, false: take it back. */
bool sb_act_may_begin(const struct sb_acting *acting, const struct sb_call *call,
		      struct sb_spot *file, struct sb_spot *target,
		      const struct sb_judgement *judged);
bool sb_act_stands(const struct sb_acting *acting, const struct sb_call *call,
		   const struct sb_spot *file, const struct sb_spot *target,
		   const struct sb_judgement *judged);
void sb_act_take_back(const struct sb_call *call, const struct sb_spot *file,
		      const struct sb_spot *target, struct sb_outcome *outcome);

/* Was the name read too long ago to act on it, or to have acted? */
bool sb_spot_is_old(const struct sb_spot *spot);

/* Is it still the name that was judged?  Then that counts anew. */
bool sb_spot_confirm(int proc, struct sb_spot *spot);

/* Before the process ends: nothing stays half done.  Bounded. */
void sb_acts_finish(void);

#endif
