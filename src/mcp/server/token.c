#include "mcp/server/token.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/auto.h"

bool sb_token_key_make(struct sb_token_key *key)
{
	return getrandom(key->bytes, sizeof key->bytes, 0) == (ssize_t)sizeof key->bytes;
}

void sb_token_subject(const char *tool, const json_t *args, char out[SB_SHA256_HEX])
{
	SB_AUTO_FREE char *text = args ? json_dumps(args, JSON_COMPACT | JSON_SORT_KEYS)
				       : strdup("{}");
	struct sb_sha256 sum;

	sb_sha256_init(&sum);
	sb_sha256_add(&sum, tool, strlen(tool) + 1);
	if (text)
		sb_sha256_add(&sum, text, strlen(text));
	sb_sha256_end(&sum, out);
}

/* RFC 2104.  The inner hash goes into the outer one as hex: as good, and what hash.h gives. */
static void sign(const struct sb_token_key *key, const char *text, char out[SB_SHA256_HEX])
{
	unsigned char pad[64];
	char inner[SB_SHA256_HEX];
	struct sb_sha256 sum;

	for (int round = 0; round < 2; round++) {
		memset(pad, round ? 0x5c : 0x36, sizeof pad);
		for (size_t i = 0; i < sizeof key->bytes; i++)
			pad[i] ^= key->bytes[i];
		sb_sha256_init(&sum);
		sb_sha256_add(&sum, pad, sizeof pad);
		if (round)
			sb_sha256_add(&sum, inner, SB_SHA256_HEX - 1);
		else
			sb_sha256_add(&sum, text, strlen(text));
		sb_sha256_end(&sum, round ? out : inner);
	}
}

void sb_token_make(const struct sb_token_key *key, unsigned long number, int64_t expires_ms,
		   const char *subject, char out[SB_TOKEN_SIZE])
{
	char body[128], mac[SB_SHA256_HEX];

	snprintf(body, sizeof body, "1.%lu.%lld.%s", number, (long long)expires_ms, subject);
	sign(key, body, mac);
	snprintf(out, SB_TOKEN_SIZE, "%s.%s", body, mac);
}

/* In the same time wherever they differ. */
static bool is_same(const char *a, const char *b, size_t length)
{
	unsigned char differ = 0;

	for (size_t i = 0; i < length; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return differ == 0;
}

const char *sb_token_check(const struct sb_token_key *key, const char *token, int64_t now_ms,
			   const char *subject, unsigned long *out_number)
{
	char body[SB_TOKEN_SIZE], mac[SB_SHA256_HEX];
	const char *dot = strrchr(token, '.');
	unsigned long number;
	long long expires;
	int end = 0;

	if (!dot || strlen(token) >= SB_TOKEN_SIZE || strlen(dot + 1) != SB_SHA256_HEX - 1)
		return "requestState is none of this server's";
	memcpy(body, token, (size_t)(dot - token));
	body[dot - token] = '\0';
	sign(key, body, mac);
	if (!is_same(mac, dot + 1, SB_SHA256_HEX - 1))
		return "requestState is none of this server's";
	/* NOLINTNEXTLINE(cert-err34-c): it is signed, so it is what we have written */
	if (sscanf(body, "1.%lu.%lld.%n", &number, &expires, &end) != 2 || !end)
		return "requestState is none of this server's";
	if (strcmp(body + end, subject) != 0)
		return "requestState belongs to another call";
	if (now_ms > expires)
		return "requestState is too old: call the tool again without it";
	*out_number = number;
	return NULL;
}
