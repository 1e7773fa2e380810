/*
 * token.h - requestState: how a call that waits for an answer is known again.
 *
 * Since 2026-07-28 the server asks by ending the call, and the client repeats it with the
 * answer.  What comes back is the client's word, so it is worth something only if it is a token
 * of this process (HMAC-SHA-256 with a key that nobody else has), for this very call (tool and
 * arguments), not too old, and not used before (the server forgets its number with the first
 * use).
 */
#ifndef SB_MCP_SERVER_TOKEN_H
#define SB_MCP_SERVER_TOKEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

struct sb_token_key {
	unsigned char bytes[32];
};

#define SB_TOKEN_SIZE 256 /* as text, with its NUL */

bool sb_token_key_make(struct sb_token_key *key); /* false: no randomness */

/* What the call is: the tool's name and its arguments, whatever the order of their keys. */
void sb_token_subject(const char *tool, const json_t *args, char out[SB_SHA256_HEX]);

void sb_token_make(const struct sb_token_key *key, unsigned long number, int64_t expires_ms,
		   const char *subject, char out[SB_TOKEN_SIZE]);

/* NULL: fine, and *out_number is whose it is.  Otherwise what is wrong. */
const char *sb_token_check(const struct sb_token_key *key, const char *token, int64_t now_ms,
			   const char *subject, unsigned long *out_number);

#endif
