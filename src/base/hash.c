#include "base/hash.h"

#include <sha2.h>
#include <stdint.h>

void sb_sha256_hex(const void *bytes, size_t length, char out[SB_SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX context;

	SHA256Init(&context);
	SHA256Update(&context, bytes, length);
	SHA256Final(digest, &context);
	for (int i = 0; i < SHA256_DIGEST_LENGTH; i++) {
		out[2 * i] = digits[digest[i] >> 4];
		out[2 * i + 1] = digits[digest[i] & 15];
	}
	out[64] = '\0';
}
