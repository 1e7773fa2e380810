/*
 * hash_blocks.h - SHA-256 of whole blocks by instructions that the processor may have for it.
 *
 * A supervised launch hashes its policy, at 6 us for a kilobyte without them on arm64 and 0.8 with them.
 * x86 has to be asked by cpuid, which in a virtual machine the host answers: hash_plain.c.
 */
#ifndef SANDBASH_BASE_HASH_BLOCKS_H
#define SANDBASH_BASE_HASH_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const uint32_t sb_sha256_rounds[64];

/* Take count blocks of 64 bytes.  False: there are no such instructions, and state is as it was. */
bool sb_sha256_blocks(uint32_t state[8], const unsigned char *bytes, size_t count);

#endif
