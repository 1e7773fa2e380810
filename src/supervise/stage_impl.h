/*
 * stage_impl.h - a staged file: made (linux_staged.c), kept while it is written (linux_stage.c),
 * landed (linux_staged.c).
 */
#ifndef SB_SUPERVISE_STAGE_IMPL_H
#define SB_SUPERVISE_STAGE_IMPL_H

#include "supervise/performer.h"

struct sb_stage {
	struct sb_stage *next;
	int reader; /* ours, for reading only: we are no writer */
	dev_t device;
	ino_t inode;
	struct sb_spot place; /* directory and name where it lands */
	mode_t mode;
	uid_t owner;
	gid_t group;
	pid_t process;   /* who opened it */
	bool asks;       /* no content is harmless but the one that is there */
	uint64_t permit; /* the call that a person said yes to; 0: none yet */
};

/* *out_fd is the caller's descriptor, still ours. */
int sb_stage_make(const struct sb_broker *broker, const struct sb_call *call,
		  const struct sb_spot *file, struct sb_stage **out, int *out_fd);
void sb_stage_free(struct sb_stage *stage);

/* A copy that lives on; the directory alone, since what has the name is about to go. */
int sb_stage_copy_place(const struct sb_spot *from, struct sb_spot *out);

/* Where its directory is by now.  False: it is gone, and with it everything in it. */
bool sb_stage_find_place(const struct sb_broker *broker, struct sb_spot *place);

/* When nobody is held: a shared writable mapping counts as a writer, too. */
bool sb_stage_has_writers(const struct sb_stage *stage);

/* True: landed, or there is nothing to land.  False: the asker has it now, and answers call. */
bool sb_stage_land(struct sb_broker *broker, struct sb_call *call, struct sb_stage *stage);

#endif
