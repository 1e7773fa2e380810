/*
 * policy.c - the bytes of a policy, which a nested run tells its outer supervisor.
 *
 * They come from inside a sandbox.  Whatever they are, decoding ends, and what was taken can be
 * asked about every path.
 */
#include <stdint.h>

#include "policy/encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct sb_policy *policy = NULL;
	struct sb_error err;

	if (sb_policy_decode((const char *)bytes, length, &policy, &err) == SB_OK) {
		sb_decide(policy, SB_MODIFY, "/a/b/c");
		sb_decide_all(policy, "/");
		sb_decide_beneath(policy, SB_DELETE, "/a");
	}
	sb_policy_free(policy);
	return 0;
}
