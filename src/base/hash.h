/*
 * hash.h - SHA-256 as lower-case hex, of bytes at hand or as they come.
 *
 *     sb_sha256_init(&sum);
 *     sb_sha256_add(&sum, bytes, length); ...
 *     sb_sha256_end(&sum, hex);
 *
 * A struct sb_sha256 is plain data: a copy goes on from where the original stands.
 */
#ifndef SB_BASE_HASH_H
#define SB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define SB_SHA256_HEX 65 /* 64 digits and a NUL */

struct sb_sha256 {
	uint32_t state[8];
	uint64_t length;         /* bytes so far */
	unsigned char block[64]; /* the last length % 64 of them wait here */
};

void sb_sha256_init(struct sb_sha256 *sum);
void sb_sha256_add(struct sb_sha256 *sum, const void *bytes, size_t length);
void sb_sha256_end(struct sb_sha256 *sum, char out[SB_SHA256_HEX]); /* sum is used up */

void sb_sha256_hex(const void *bytes, size_t length, char out[SB_SHA256_HEX]);

#define SB_FNV UINT64_C(0xcbf29ce484222325) /* where a sum begins */

/* FNV-1a of bytes, going on from a sum: for tables, where who makes two meet gains nothing. */
static inline uint64_t sb_fnv(uint64_t sum, const void *bytes, size_t length)
{
	for (const unsigned char *at = bytes; length; at++, length--)
		sum = (sum ^ *at) * UINT64_C(0x100000001b3);
	return sum;
}

#define SB_SHA1_BYTES 20

/*
 * SHA-1, because git's index ends in one.  Nothing of ours is named or trusted by it: it tells bytes that nobody
 * could choose freely.
 */
void sb_sha1(const void *bytes, size_t length, unsigned char out[SB_SHA1_BYTES]);

#endif
