#include "sys/share.h"

#include <pthread.h>
#include <sys/mman.h>

#define TOGETHER ((size_t)1024 * 1024) /* all that a supervised run shares */
#define ALIGNMENT _Alignof(max_align_t)

void *sb_sys_share(size_t size)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static char *rest;
	static size_t left;
	void *taken = NULL;

	if (__builtin_add_overflow(size, ALIGNMENT - 1, &size))
		return NULL;
	size = size / ALIGNMENT * ALIGNMENT;
	pthread_mutex_lock(&lock);
	if (size > left) {
		size_t more = size > TOGETHER ? size : TOGETHER;
		void *mapped =
			mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		rest = mapped == MAP_FAILED ? NULL : mapped;
		left = rest ? more : 0;
	}
	if (size <= left) {
		taken = rest;
		rest += size;
		left -= size;
	}
	pthread_mutex_unlock(&lock);
	return taken;
}
