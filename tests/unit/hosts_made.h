/* hosts_made.h - rules about hosts made of their text, and a peer of its own. */
#ifndef HOSTS_MADE_H
#define HOSTS_MADE_H

#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "policy/encode.h"
#include "policy/network.h"
#include "policy/text.h"

static inline void add(struct sb_policy *policy, enum sb_tier tier, const char *line_text)
{
	struct sb_line line;
	struct sb_error err = {0};
	char origin[64];
	int status = sb_line_parse(line_text, strlen(line_text), &line, &err);

	if (status != SB_OK)
		fail_msg("'%s': %s", line_text, err.message);
	snprintf(origin, sizeof origin, "tier %d", tier);
	if (line.kind == SB_LINE_SETTING)
		sb_policy_set(policy, line.setting, line.value);
	else if (line.kind == SB_LINE_LISTEN)
		status = sb_listen_add(policy, line.text, origin, &err);
	else if (line.kind == SB_LINE_CONNECT)
		status = sb_connect_add(policy,
					&(struct sb_connect_rule){(enum sb_verdict)line.value, tier,
								  line.text, origin},
					&err);
	else
		fail_msg("'%s' is about no host", line_text);
	if (status != SB_OK)
		fail_msg("'%s': %s", line_text, err.message);
	sb_line_done(&line);
}

/* Lines with ';' between them; a digit in front is the tier. */
static inline struct sb_policy *policy_of(const char *lines)
{
	struct sb_policy *policy = sb_policy_new();
	char copy[512], *rest = copy, *line;

	snprintf(copy, sizeof copy, "%s", lines);
	while ((line = strsep(&rest, ";"))) {
		enum sb_tier tier = SB_TIER_GLOBAL;

		line += strspn(line, " ");
		if (*line >= '0' && *line <= '9') {
			tier = (enum sb_tier)(*line - '0');
			line++;
		}
		if (*line)
			add(policy, tier, line);
	}
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	return policy;
}

static inline struct sb_peer peer_of(const char *text)
{
	struct sb_peer peer;
	struct sb_error err = {0};

	if (sb_peer_parse(text, &peer, &err) != SB_OK)
		fail_msg("'%s': %s", text, err.message);
	return peer;
}

#endif
