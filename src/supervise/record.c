#include "supervise/supervise.h"

#include "base/auto.h"
#include "base/buf.h"
#include "policy/encode.h"

void sb_record_hash(const struct sb_policy *policy, char out[SB_SHA256_HEX])
{
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_POLICY_BYTES);

	sb_policy_encode(policy, &bytes);
	sb_sha256_hex(bytes.data, bytes.length, out);
}

int sb_record_start(struct sb_audit *audit, struct sb_event run, const struct sb_policy *policy,
		    const struct sb_layers *layers, struct sb_error *err)
{
	char held[256] = "none";

	if (layers)
		sb_layers_describe(layers, held, sizeof held);
	run.kind = SB_EVENT_START;
	run.mode = sb_mode_name(sb_policy_mode(policy));
	run.layers = held;
	return sb_audit_write(audit, &run, err);
}
