/*
 * inflate.h - bytes that zlib has packed (RFC 1950, 1951), as git keeps its objects.
 *
 * Slow, small, and for bytes that somebody hostile has chosen: it allocates no more than it is told, reads nothing behind its
 * input, and always ends.
 */
#ifndef SB_BASE_INFLATE_H
#define SB_BASE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Unpack the stream that the bytes begin with; what is behind it does not matter, nor does its checksum.  The result has
 * a NUL behind it and is the caller's.  NULL: they begin with none, it is cut, it has more than limit bytes, or there is no memory.
 */
char *sb_inflate(const void *bytes, size_t length, size_t limit, size_t *out_length);

#endif
