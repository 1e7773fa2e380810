#include "supervise/names_lock.h"

#include <pthread.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>

#define PATIENCE_NS 200000000L

struct sb_names_lock {
	pthread_rwlock_t lock;
};

struct sb_names_lock *sb_names_lock_new(void)
{
	struct sb_names_lock *lock =
		mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_rwlockattr_t attributes;
	bool made;

	if (lock == MAP_FAILED)
		return NULL;
	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	made = pthread_rwlock_init(&lock->lock, &attributes) == 0;
	pthread_rwlockattr_destroy(&attributes);
	if (!made) {
		munmap(lock, sizeof *lock);
		return NULL;
	}
	return lock;
}

void sb_names_lock_free(struct sb_names_lock *lock)
{
	if (lock)
		munmap(lock, sizeof *lock);
}

void sb_names_lock_take(struct sb_names_lock *lock, bool alone)
{
	if (alone)
		pthread_rwlock_wrlock(&lock->lock);
	else
		pthread_rwlock_rdlock(&lock->lock);
}

bool sb_names_lock_try(struct sb_names_lock *lock, bool alone)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += PATIENCE_NS;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_nsec -= 1000000000L;
		end.tv_sec++;
	}
	return (alone ? pthread_rwlock_timedwrlock(&lock->lock, &end)
		      : pthread_rwlock_timedrdlock(&lock->lock, &end)) == 0;
}

void sb_names_lock_release(struct sb_names_lock *lock)
{
	pthread_rwlock_unlock(&lock->lock);
}

bool sb_call_gives_meaning(const struct sb_call *call)
{
	switch (call->act) {
	case SB_ACT_RENAME:
	case SB_ACT_LINK:
	case SB_ACT_SYMLINK:
	case SB_ACT_MKDIR:
	case SB_ACT_MKNOD:
		return true;
	default:
		return false;
	}
}

bool sb_name_gives_meaning(const struct sb_spot *file)
{
	return strcasecmp(file->name, "objects") == 0 || strcasecmp(file->name, "refs") == 0;
}
