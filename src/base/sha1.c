/* SHA-1 as FIPS 180-4 gives it; of bytes at hand. */
#include "base/sha1.h"

#include <stdint.h>
#include <string.h>

static uint32_t rotate(uint32_t word, unsigned by)
{
	return word << by | word >> (32 - by);
}

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

static void take_block(uint32_t state[5], const unsigned char block[64])
{
	uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t next = rotate(a, 5) + mix(i, b, c, d) + e + w[i];

		e = d;
		d = c;
		c = rotate(b, 30);
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
	uint64_t bits = (uint64_t)length * 8;
	unsigned char last[128] = {0};
	size_t rest = length % 64, size = rest < 56 ? 64 : 128;

	for (size_t blocks = length / 64; blocks; blocks--, at += 64)
		take_block(state, at);
	if (rest)
		memcpy(last, at, rest);
	last[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		last[size - 1 - (size_t)i] = (unsigned char)(bits >> 8 * i);
	for (size_t i = 0; i < size; i += 64)
		take_block(state, last + i);
	for (int i = 0; i < SB_SHA1_BYTES; i++)
		out[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}
