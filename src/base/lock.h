/*
 * lock.h - a mutex that is held up to the end of its block.
 */
#ifndef SB_BASE_LOCK_H
#define SB_BASE_LOCK_H

#include <pthread.h>

static inline pthread_mutex_t *sb_lock(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	return mutex;
}

static inline void sb_auto_unlock(pthread_mutex_t **mutex)
{
	pthread_mutex_unlock(*mutex);
}

#define SB_AUTO_LOCK(mutex)                                                                        \
	__attribute__((cleanup(sb_auto_unlock), unused))                                           \
	pthread_mutex_t *sb_locked_ = sb_lock(mutex)

#endif
