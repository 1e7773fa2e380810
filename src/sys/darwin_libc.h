/*
 * darwin_libc.h - what the C library of macOS lacks, or calls otherwise.  Compiled into every file there
 * (-include), so that none says for which system it is.
 */
#ifndef SB_SYS_DARWIN_LIBC_H
#define SB_SYS_DARWIN_LIBC_H

#include <dirent.h>
#include <fcntl.h>
#include <libkern/OSByteOrder.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

void *reallocarray(void *pointer, size_t count, size_t size);
void *memrchr(const void *bytes, int byte, size_t length);
char *strchrnul(const char *text, int byte);
ssize_t getrandom(void *out, size_t size, unsigned flags);
int pipe2(int ends[2], int flags);

/* Directories and files are opened for reading where Linux needs no permission; a FIFO does not wait. */
#define O_PATH O_NONBLOCK

#define st_mtim st_mtimespec
#define st_atim st_atimespec
#define st_ctim st_ctimespec
#define dirent64 dirent
#define CLOCK_REALTIME_COARSE CLOCK_REALTIME
#define be16toh(x) OSSwapBigToHostInt16(x)
#define be32toh(x) OSSwapBigToHostInt32(x)
#define be64toh(x) OSSwapBigToHostInt64(x)
#define le16toh(x) OSSwapLittleToHostInt16(x)
#define le32toh(x) OSSwapLittleToHostInt32(x)
#define le64toh(x) OSSwapLittleToHostInt64(x)
#define RENAME_NOREPLACE 1u

/* What is told of a lease: asking for it fails, and nobody takes one (guard/look.c). */
#define F_SETSIG -1

#define environ (*sb_environ())
char ***sb_environ(void);

#endif
