/*
 * stage.h - guarded files that are written in place.
 *
 * Who opens a guarded file for writing gets a copy instead, a file in memory, at a high
 * descriptor number; closing those is held (linux_seccomp.c).  When its last writer lets go of
 * it, in whatever process, the bytes are looked at and land as a fresh file, or a person is
 * asked, or they are dropped and the closing fails.
 *
 *     open   -> copy, handed over                 open, dup'ed, inherited, mapped ...
 *     dup    -> where every content asks, now: what a shell makes of a redirection is closed
 *               without a look at the answer
 *     close  -> is it the last descriptor in any process of the run?  Then judge and land
 *               and if that fails the number is as good as free, as everywhere (close(2))
 *     exit, exec, a number whose close is not held -> noticed a moment later, and landed; but
 *               nobody waits for an answer then, so what would have to be asked is refused
 *
 * Whether anybody still writes without a held close, the kernel tells: a read lease is not
 * given while a writer is there, and a shared writable mapping counts as one (fcntl(2),
 * F_SETLEASE).  So there is no bookkeeping of fork, dup and SCM_RIGHTS.
 *
 * A process that is killed leaves what it has written so far, as with any file.  If the
 * supervisor is killed nothing lands.
 */
#ifndef SB_SUPERVISE_STAGE_H
#define SB_SUPERVISE_STAGE_H

#include <limits.h>
#include <pthread.h>

#include "supervise/call.h"
#include "supervise/case.h"
#include "supervise/resolve.h"

struct sb_broker;
struct sb_stage;         /* a staged file: linux_stage.c */
struct sb_stage_waiting; /* an open that the asker thinks about */

/* A file whose closing the asker was told of: if that is refused, the caller still has it. */
struct sb_spent {
	uint64_t call;
	dev_t device;
	ino_t inode;
};

#define SB_STAGING_SPENT 64 /* of those the last ones */

/* A file that the asker is to land, and nobody waits for: what had the name then. */
struct sb_left {
	char name[NAME_MAX + 2];
	int64_t until_ms; /* by then it has landed, or was refused; 0: none */
	dev_t device;
	ino_t inode; /* 0: nothing */
};

#define SB_STAGING_LEFT 16

struct sb_staging {
	pthread_mutex_t lock;     /* of the lists */
	pthread_mutex_t sweeping; /* what is taken out of them is landed before others are made */
	struct sb_stage *stages;
	struct sb_stage_waiting *waiting;
	unsigned count; /* of stages: looked at without the lock */
	unsigned base;  /* the first number; 0: there is no room for any */
	int nudge;      /* eventfd: there is something to look after */
	struct sb_spent spent[SB_STAGING_SPENT];
	unsigned spent_next;
	struct sb_left left[SB_STAGING_LEFT]; /* under sweeping */
	unsigned left_next;
};

/* Before the limit on descriptors is raised.  0, or a negative errno. */
int sb_staging_init(struct sb_staging *staging);

/* Answer an open for writing of a guarded file with a copy of it. */
void sb_stage_open(struct sb_broker *broker, const struct sb_call *call, struct sb_spot *file);

/*
 * The same when the asker says so: it has the call, and can have bytes looked at by a person.
 * permitted: a person has said yes to whatever is written.
 */
void sb_stage_ask(struct sb_broker *broker, const struct sb_call *call, struct sb_spot *file);
void sb_stage_granted(struct sb_broker *broker, uint64_t id, bool permitted);

/* Answer a held close, or dup. */
void sb_stage_close(struct sb_broker *broker, const struct sb_call *call);

/* Answer a change of mode, owner or times of a staged file.  False: it is none. */
bool sb_stage_metadata(struct sb_broker *broker, const struct sb_call *call,
		       const struct sb_spot *file);

/* Land what nobody writes to any more.  How long until the next look, in milliseconds; -1: never. */
void sb_stage_sweep(struct sb_broker *broker);
int sb_staging_wait_ms(const struct sb_staging *staging);

#endif
