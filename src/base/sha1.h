/*
 * sha1.h - SHA-1, because git's index ends in one.
 *
 * Nothing of ours is named or trusted by it: it tells bytes that nobody could choose freely.
 */
#ifndef SB_BASE_SHA1_H
#define SB_BASE_SHA1_H

#include <stddef.h>

#define SB_SHA1_BYTES 20

void sb_sha1(const void *bytes, size_t length, unsigned char out[SB_SHA1_BYTES]);

#endif
