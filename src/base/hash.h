/* hash.h - SHA-256 as lower-case hex. */
#ifndef SB_BASE_HASH_H
#define SB_BASE_HASH_H

#include <stddef.h>

#define SB_SHA256_HEX 65 /* 64 digits and a NUL */

void sb_sha256_hex(const void *bytes, size_t length, char out[SB_SHA256_HEX]);

#endif
