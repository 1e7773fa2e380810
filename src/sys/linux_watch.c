#include "sys/watch.h"

#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

int sb_sys_watch(const char *directory)
{
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (watch < 0)
		return -errno;
	if (inotify_add_watch(watch, directory,
			      IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR) < 0) {
		int error = errno;

		close(watch);
		return -error;
	}
	return watch;
}

void sb_sys_watch_clear(int watch)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	while (read(watch, events, sizeof events) > 0)
		;
}
