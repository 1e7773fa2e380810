#include "guard/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"

char *sb_read_text(const char *path, size_t limit, size_t *out_length)
{
	SB_AUTO_FD int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	SB_AUTO_FREE char *text = NULL;
	struct stat info;
	ssize_t got;

	if (fd < 0 || fstat(fd, &info) != 0)
		return NULL;
	errno = S_ISREG(info.st_mode) ? EFBIG : ENOENT; /* as good as none */
	if (!S_ISREG(info.st_mode) || (size_t)info.st_size > limit)
		return NULL;
	text = malloc((size_t)info.st_size + 1);
	got = text ? pread(fd, text, (size_t)info.st_size, 0) : -1;
	if (got < 0)
		return NULL;
	text[got] = '\0';
	if (out_length)
		*out_length = (size_t)got;
	return sb_take_ptr(&text);
}
