/*
 * owed.h - what was done for a caller that did not hear of it.
 *
 * Before Linux 5.19 any signal ends the wait of a held call, be it that we are still at it or that
 * it is done.  The handler runs, and then the call begins again (SA_RESTART), or answers EINTR and
 * most programs make it again.  The second try would find the name that the first has made, or not
 * find the one that it has removed.  So an answer that was not heard is kept, and whoever comes
 * again with the same call gets it, if what the first try has done is still so.  On newer kernels
 * nothing is ever kept.
 *
 * The performer and the asker each keep what they have done themselves.  begin: before they part,
 * so that the one knows whose calls the other has to answer.  Any thread may call the others.
 */
#ifndef SB_SUPERVISE_OWED_H
#define SB_SUPERVISE_OWED_H

#include "supervise/perform.h"

/* interrupts: this kernel's signals end held calls.  proc: the host's /proc.  0 or -ENOMEM. */
int sb_owed_begin(bool interrupts, int proc);

/* Do signals end held calls here? */
bool sb_owed_interrupts(void);

/* From now on this process is the asker. */
void sb_owed_is_asker(void);

/*
 * One thread of the performer begins with a call of the caller's, and waits if another is still at
 * one that a signal has ended; and is done with it, with its answer kept or not.
 */
void sb_owed_enter(pid_t caller);
void sb_owed_leave(pid_t caller);

/* The same for the asker: before it looks whether the caller waits. */
void sb_owed_begins(const struct sb_call *call, const struct sb_spot *file,
		    const struct sb_spot *target);
void sb_owed_ends(void);

/*
 * Answer with value.  True: it was heard, as far as anybody can know: a signal may come at that very
 * moment.  Where signals do not end calls: always.
 */
bool sb_owed_say(int listener, const struct sb_call *call, long value);

/* It is done: answer 0, or keep that. */
void sb_owed_return(int listener, const struct sb_call *call, const struct sb_spot *file,
		    const struct sb_spot *target);

/* The same for connect and bind, of a copy of the caller's socket. */
void sb_owed_return_socket(int listener, const struct sb_call *call, int socket);

/*
 * The caller did not get the descriptor: keep it, which is taken over; or the number that it has
 * already in the caller.
 */
void sb_owed_keep(const struct sb_call *call, const struct sb_spot *file, int fd);
void sb_owed_keep_number(const struct sb_call *call, const struct sb_spot *file, int number);

/* Was this done before?  Then it is answered. */
bool sb_owed_pays(int listener, const struct sb_call *call, const struct sb_spot *file,
		  const struct sb_spot *target);
bool sb_owed_pays_socket(int listener, const struct sb_call *call);

/* Did the asker do this before, or is at it?  Then it has the answer. */
bool sb_owed_by_asker(const struct sb_call *call, const struct sb_spot *file,
		      const struct sb_spot *target);

#endif
