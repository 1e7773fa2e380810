/*
 * hash.c - SHA-256 as FIPS 180-4 gives it.
 *
 * Our own because it is all that would be left of a library: it names files and
 * chains records, and hashes a few hundred bytes at a time.
 */
#include "base/hash.h"

#include <string.h>

#include "base/hash_blocks.h"

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
