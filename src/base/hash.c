/*
 * hash.c - SHA-256 as FIPS 180-4 gives it.
 *
 * Our own because it is all that would be left of a library: it names files and
 * chains records, and hashes a few hundred bytes at a time.
 */
#include "base/hash.h"

#include <string.h>

#include "base/hash_blocks.h"

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const uint32_t sb_sha256_rounds[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t word, unsigned by)
{
	return word >> by | word << (32 - by);
}

static void take_block(uint32_t state[8], const unsigned char block[64])
{
	uint32_t w[64], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4],
			f = state[5], g = state[6], h = state[7];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
#pragma GCC unroll 4
	for (int i = 16; i < 64; i++) {
		uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
	/* after eight rounds every word is back in its place: none has to be moved */
#pragma GCC unroll 8
	for (int i = 0; i < 64; i++) {
		uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
		uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + sb_sha256_rounds[i] + w[i];
		uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
		uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));

		h = g;
		g = f;
		f = e;
		e = d + t1;
		d = c;
		c = b;
		b = a;
		a = t1 + t2;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	state[5] += f;
	state[6] += g;
	state[7] += h;
}

static void take_blocks(uint32_t state[8], const unsigned char *bytes, size_t count)
{
	if (sb_sha256_blocks(state, bytes, count))
		return;
	for (; count; count--, bytes += 64)
		take_block(state, bytes);
}

void sb_sha256_init(struct sb_sha256 *sum)
{
	*sum = (struct sb_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sb_sha256_add(struct sb_sha256 *sum, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	size_t waiting = sum->length % 64;

	sum->length += length;
	if (waiting) {
		size_t fits = length < 64 - waiting ? length : 64 - waiting;

		if (fits)
			memcpy(sum->block + waiting, at, fits);
		if (waiting + fits < 64)
			return;
		take_blocks(sum->state, sum->block, 1);
		at += fits;
		length -= fits;
	}
	take_blocks(sum->state, at, length / 64);
	if (length % 64)
		memcpy(sum->block, at + length / 64 * 64, length % 64);
}

void sb_sha256_end(struct sb_sha256 *sum, char out[SB_SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";
	size_t left = sum->length % 64, padded = left < 56 ? 64 : 128;
	uint64_t bits = sum->length * 8;
	unsigned char last[128] = {0};

	/* the rest, a one bit, zeros, and the length in the last eight bytes */
	memcpy(last, sum->block, left);
	last[left] = 0x80;
	for (int i = 0; i < 8; i++)
		last[padded - 1 - (size_t)i] = (unsigned char)(bits >> 8 * i);
	take_blocks(sum->state, last, padded / 64);

	for (int i = 0; i < 64; i++)
		out[i] = digits[sum->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
	out[64] = '\0';
}

void sb_sha256_hex(const void *bytes, size_t length, char out[SB_SHA256_HEX])
{
	struct sb_sha256 sum;

	sb_sha256_init(&sum);
	sb_sha256_add(&sum, bytes, length);
	sb_sha256_end(&sum, out);
}
