#include "sys/darwin_libc.h"

#include <crt_externs.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

void *reallocarray(void *pointer, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(pointer, bytes);
}

void *memrchr(const void *bytes, int byte, size_t length)
{
	const unsigned char *at = bytes;

	while (length--)
		if (at[length] == (unsigned char)byte)
			return (void *)(uintptr_t)(at + length);
	return NULL;
}

char *strchrnul(const char *text, int byte)
{
	const char *found = strchr(text, byte);

	return (char *)(uintptr_t)(found ? found : text + strlen(text));
}

ssize_t getrandom(void *out, size_t size, unsigned flags)
{
	(void)flags;
	return getentropy(out, size) == 0 ? (ssize_t)size : -1; /* 256 bytes at most */
}

int pipe2(int ends[2], int flags)
{
	if (pipe(ends) != 0)
		return -1;
	for (int i = 0; i < 2; i++)
		if ((flags & O_CLOEXEC && fcntl(ends[i], F_SETFD, FD_CLOEXEC) != 0) ||
		    (flags & O_NONBLOCK && fcntl(ends[i], F_SETFL, O_NONBLOCK) != 0)) {
			close(ends[0]);
			close(ends[1]);
			return -1;
		}
	return 0;
}

char ***sb_environ(void)
{
	return _NSGetEnviron();
}
