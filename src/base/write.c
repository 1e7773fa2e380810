#include "base/write.h"

#include <errno.h>
#include <unistd.h>

int sb_write_all(int fd, const void *bytes, size_t length)
{
	for (const char *at = bytes; length;) {
		ssize_t put = write(fd, at, length);

		if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0) {
			at += put;
			length -= (size_t)put;
		}
	}
	return 0;
}
