/*
 * pthread.h - zig's headers for Windows come without winpthreads.  The tests have one thread.
 */
#ifndef WINDOWS_ZIG_PTHREAD_H
#define WINDOWS_ZIG_PTHREAD_H

#include <process.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_REALTIME_COARSE 5
#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_ONCE_INIT 0

typedef int pthread_mutex_t;
typedef int pthread_once_t;

__attribute__((dllimport)) unsigned long GetCurrentProcessId(void);

static inline int process_id(void)
{
	return (int)GetCurrentProcessId();
}

#define getpid process_id

static inline int clock_gettime(int clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = time(NULL);
	out->tv_nsec = 0;
	return 0;
}

static inline int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)time, (void)left;
	return 0;
}

static inline int pthread_once(pthread_once_t *once, void (*act)(void))
{
	if (!(*once)++)
		act();
	return 0;
}

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *how)
{
	(void)how;
	*mutex = 0;
	return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	return *mutex;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return (*mutex)++;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return --*mutex;
}

#endif
