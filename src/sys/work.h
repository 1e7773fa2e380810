/*
 * work.h - work that a second thread does beside this one.
 *
 * It gets no signal.  Where no thread can be had, the work is not begun: whoever waits for it does it.
 */
#ifndef SB_SYS_WORK_H
#define SB_SYS_WORK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct sb_work {
	pthread_t thread;
	bool begun;
};

void sb_work_begin(struct sb_work *work, void *(*run)(void *), void *argument, size_t stack);

/* Waits for it, once.  False: it was not begun. */
bool sb_work_done(struct sb_work *work);

#endif
