/*
 * deputy.h - a thread of the idle class that serves one busy caller, where that is faster.
 *
 * Handing a descriptor over wakes the caller without the hint that its processor is about to be
 * free.  So the kernel moves it to an idle one, which has to be woken: half of the time of making
 * a small file.  A thread of the idle class (SCHED_IDLE) counts as nobody: where only that runs, the
 * caller stays.  (KERNEL facts, L; bench/run, row create+unlink.)
 *
 * But on a busy machine such a thread hardly runs, and it cannot leave its class.  So it is
 * sent only when one caller has made many calls in a row, the server that sent it looks after it
 * every two milliseconds, and takes over when it makes no progress; then it is not sent again
 * for a while.  A request that it has begun waits some milliseconds at most: the kernel lets
 * idle threads run, too, only little.
 *
 *     server: is_due? -> send (waits, looks; calls back when there is nothing to do) -> goes on
 *     deputy: waits -> serves the caller -> called back, or another caller: back
 */
#ifndef SB_SUPERVISE_DEPUTY_H
#define SB_SUPERVISE_DEPUTY_H

#include "supervise/performer.h"

struct sb_deputy;

/* Where it serves; all of it stays where it is. */
struct sb_deputy_place {
	const struct sb_performer *performer;
	const struct sb_broker *broker;
	const unsigned *turn, *requests; /* of the crew: see performer.c */
	/* Serve what a receiving call gave.  False: there will be no more. */
	bool (*serve)(void *context, struct sb_cwd *cwd, const struct seccomp_notif *notification,
		      int status, pid_t *out_caller);
	void *context;
};

/* Makes no thread yet.  NULL: out of memory; then none is ever due. */
struct sb_deputy *sb_deputy_new(const struct sb_deputy_place *place);

/* Tell of a request that was served.  True: the deputy could go on. */
bool sb_deputy_is_due(struct sb_deputy *deputy, pid_t caller);

/* Let it serve caller; returns when the calling server has to go on. */
void sb_deputy_send(struct sb_deputy *deputy, pid_t caller, unsigned turn);

#endif
