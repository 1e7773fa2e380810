#include "sys/arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST 48 /* proc_pid_stat(5): arg_start, arg_end, env_start, env_end */
#define MOST ((uintptr_t)8 << 20)

int sb_sys_find_arguments(int proc, struct sb_sys_arguments *out)
{
	int fd = openat(proc, "self/stat", O_RDONLY | O_CLOEXEC);
	uintptr_t ends[4];
	char text[2048], *at;
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, text, sizeof text - 1);
	close(fd);
	if (got < 0)
		return -ENODATA;
	text[got] = '\0';
	at = strrchr(text, ')'); /* behind the second, which may have anything in it */
	for (int field = 2; at && field < FIRST; field++)
		at = strchr(at + 1, ' ');
	for (int i = 0; i < 4; i++) {
		if (!at)
			return -ENODATA;
		ends[i] = (uintptr_t)strtoull(at, &at, 10);
	}
	for (int i = 0; i < 2; i++) {
		uintptr_t from = ends[2 * i], to = ends[2 * i + 1];

		/* the kernel takes six megabytes of both: execve(2) */
		if (!from || to < from || to - from > MOST)
			return -ENODATA;
		out->bytes[i] = (char *)from;
		out->size[i] = to - from;
	}
	return 0;
}
