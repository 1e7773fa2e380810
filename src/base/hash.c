/*
 * hash.c - SHA-256 and SHA-1 as FIPS 180-4 gives them.
 *
 * Our own because it is all that would be left of a library: it names files and
 * chains records, and hashes a few hundred bytes at a time.
 */
#include "base/hash.h"

#include <string.h>

#include "base/hash_blocks.h"

/* To the right; to the left by one is to the right by 31. */
static uint32_t rotate(uint32_t word, unsigned by)
{
	return word >> by | word << (32 - by);
}

/* The first 16 words of a block. */
static void read_words(uint32_t out[16], const unsigned char block[64])
{
	for (int i = 0; i < 16; i++)
		out[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			 (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
}

/* What ends the text: what is left of it, a one bit, zeros, its length.  Returns how many blocks. */
static size_t make_last(unsigned char out[128], const unsigned char *rest, uint64_t length)
{
	size_t left = length % 64, size = left < 56 ? 64 : 128;
	uint64_t bits = length * 8;

	memset(out, 0, size);
	if (left)
		memcpy(out, rest, left);
	out[left] = 0x80;
	for (int i = 0; i < 8; i++)
		out[size - 1 - (size_t)i] = (unsigned char)(bits >> 8 * i);
	return size / 64;
}

static void take_block(uint32_t state[8], const unsigned char block[64])
{
	uint32_t w[64], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4],
			f = state[5], g = state[6], h = state[7];

	read_words(w, block);
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
	unsigned char last[128];

	take_blocks(sum->state, last, make_last(last, sum->block, sum->length));
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

/* --- SHA-1 -------------------------------------------------------------------------------------- */

static uint32_t mix(int round, uint32_t b, uint32_t c, uint32_t d)
{
	if (round < 20)
		return ((b & c) | (~b & d)) + 0x5a827999;
	if (round < 40)
		return (b ^ c ^ d) + 0x6ed9eba1;
	if (round < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	return (b ^ c ^ d) + 0xca62c1d6;
}

static void take_short_block(uint32_t state[5], const unsigned char block[64])
{
	uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

	read_words(w, block);
	for (int i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 31);
	for (int i = 0; i < 80; i++) {
		uint32_t next = rotate(a, 27) + mix(i, b, c, d) + e + w[i];

		e = d;
		d = c;
		c = rotate(b, 2);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

void sb_sha1(const void *bytes, size_t length, unsigned char out[SB_SHA1_BYTES])
{
	uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	const unsigned char *at = bytes;
	unsigned char last[128];
	size_t blocks;

	for (blocks = length / 64; blocks; blocks--, at += 64)
		take_short_block(state, at);
	blocks = make_last(last, at, length);
	for (size_t i = 0; i < blocks; i++)
		take_short_block(state, last + 64 * i);
	for (int i = 0; i < SB_SHA1_BYTES; i++)
		out[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}
