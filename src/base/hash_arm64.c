/* The instructions have no names in arm_neon.h unless the whole file is built for them. */
#include "base/hash_blocks.h"

#ifdef __aarch64__ /* scripts/cross compiles every file for the other machine */
#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

#define SHA2 ".arch_extension sha2\n\t"

static uint32x4_t schedule(uint32x4_t w0, uint32x4_t w4, uint32x4_t w8, uint32x4_t w12)
{
	__asm__(SHA2 "sha256su0 %0.4s, %1.4s\n\t"
		     "sha256su1 %0.4s, %2.4s, %3.4s"
		: "+&w"(w0)
		: "w"(w4), "w"(w8), "w"(w12));
	return w0;
}

/* Four rounds; words: with the constants added. */
static void four_rounds(uint32x4_t *abcd, uint32x4_t *efgh, uint32x4_t words)
{
	uint32x4_t before = *abcd;

	__asm__(SHA2 "sha256h %q0, %q1, %2.4s" : "+w"(*abcd) : "w"(*efgh), "w"(words));
	__asm__(SHA2 "sha256h2 %q0, %q1, %2.4s" : "+w"(*efgh) : "w"(before), "w"(words));
}

bool sb_sha256_blocks(uint32_t state[8], const unsigned char *bytes, size_t count)
{
	uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4), w[4];

	if (!(getauxval(AT_HWCAP) & HWCAP_SHA2))
		return false;
	for (; count; count--, bytes += 64) {
		uint32x4_t first = abcd, second = efgh;

		for (int i = 0; i < 4; i++)
			w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(bytes + 16 * i)));
#pragma GCC unroll 16
		for (int i = 0; i < 16; i++) {
			uint32x4_t words = vaddq_u32(w[i % 4], vld1q_u32(sb_sha256_rounds + 4 * i));

			if (i < 12)
				w[i % 4] = schedule(w[i % 4], w[(i + 1) % 4], w[(i + 2) % 4],
						    w[(i + 3) % 4]);
			four_rounds(&abcd, &efgh, words);
		}
		abcd = vaddq_u32(abcd, first);
		efgh = vaddq_u32(efgh, second);
	}
	vst1q_u32(state, abcd);
	vst1q_u32(state + 4, efgh);
	return true;
}
#endif
