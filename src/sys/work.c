#include "sys/work.h"

#include <signal.h>

void sb_work_begin(struct sb_work *work, void *(*run)(void *), void *argument, size_t stack)
{
	pthread_attr_t attributes;
	sigset_t all, old;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	work->begun = pthread_create(&work->thread, &attributes, run, argument) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
}

bool sb_work_done(struct sb_work *work)
{
	bool done = work->begun && pthread_join(work->thread, NULL) == 0;

	work->begun = false;
	return done;
}
