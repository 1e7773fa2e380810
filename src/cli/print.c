/*
 * print.c - answers on standard output, and the parts that their JSON has in common.
 */
#include <errno.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/write.h"
#include "cli/cli.h"
#include "policy/network.h"
#include "policy/settings.h"
#include "policy/text.h"

bool sb_stdout_closed;

int sb_print(struct sb_buf *text)
{
	struct sb_error err;
	int status = 0;

	if (sb_buf_failed(text))
		return sb_end_with(SB_E_NOMEM, NULL, "the answer is too long to print");
	if (text->length)
		status = sb_stdout_closed ? -EBADF
					  : sb_write_all(STDOUT_FILENO, text->data, text->length);
	if (status == 0)
		return 0;
	sb_fail(&err, SB_E_SYSTEM, -status, "cannot write to standard output");
	return sb_report(&err);
}

struct sb_json sb_json_object(struct sb_buf *out)
{
	struct sb_json json;

	sb_json_init(&json, out);
	sb_json_open(&json, '{');
	return json;
}

void sb_json_access(struct sb_json *json, const struct sb_access *access)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(256);

	sb_access_print(access, &text);
	sb_json_string(json, text.data);
}

void sb_json_rule(struct sb_json *json, const struct sb_rule *rule)
{
	if (!rule) {
		sb_json_string(json, NULL);
		return;
	}
	sb_json_open(json, '{');
	sb_json_key(json, "access");
	sb_json_access(json, &rule->access);
	sb_json_pair(json, "pattern", rule->pattern);
	sb_json_pair(json, "tier", sb_tier_name(rule->tier));
	sb_json_pair(json, "origin", rule->origin);
	sb_json_pair_bool(json, "final", rule->hard || rule->tier == SB_TIER_SYSTEM);
	if (rule->fast)
		sb_json_pair_bool(json, "fast", true);
	sb_json_close(json, '}');
}

void sb_json_rules(struct sb_json *json, const struct sb_policy *policy)
{
	sb_json_open_at(json, "rules", '[');
	for (size_t i = 0; i < sb_policy_count(policy); i++)
		sb_json_rule(json, sb_policy_rule(policy, i));
	sb_json_close(json, ']');
}

void sb_json_connect(struct sb_json *json, const struct sb_connect_rule *rule)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(1024);

	sb_connect_print(rule, &text);
	sb_json_open(json, '{');
	sb_json_pair(json, "rule", text.data);
	sb_json_pair(json, "verdict", sb_verdict_name(rule->verdict));
	sb_json_pair(json, "tier", sb_tier_name(rule->tier));
	sb_json_pair(json, "origin", rule->origin);
	sb_json_close(json, '}');
}

void sb_json_network(struct sb_json *json, const struct sb_policy *policy)
{
	sb_json_pair(json, "network_mode",
		     sb_settings[SB_SETTING_NETWORK].values[sb_network_of(policy)]);
	sb_json_open_at(json, "hosts", '[');
	for (size_t i = 0; i < sb_connect_count(policy); i++)
		sb_json_connect(json, sb_connect_at(policy, i));
	sb_json_close(json, ']');
	sb_json_open_at(json, "listen", '[');
	for (size_t i = 0; i < sb_listen_count(policy); i++)
		sb_json_int(json, sb_listen_at(policy, i)->port);
	sb_json_close(json, ']');
}

static void put_origin(const char *origin, struct sb_buf *out)
{
	sb_escape_put(out, "  # ", origin, "\n");
}

void sb_print_hosts(const struct sb_policy *policy, struct sb_buf *out)
{
	for (size_t i = 0; i < sb_connect_count(policy); i++) {
		sb_buf_puts(out, "  ");
		sb_connect_print(sb_connect_at(policy, i), out);
		put_origin(sb_connect_at(policy, i)->origin, out);
	}
	for (size_t i = 0; i < sb_listen_count(policy); i++) {
		sb_buf_printf(out, "  listen %u", sb_listen_at(policy, i)->port);
		put_origin(sb_listen_at(policy, i)->origin, out);
	}
}

void sb_json_layers(struct sb_json *json, const struct sb_layers *layers)
{
	sb_json_open(json, '{');
	sb_json_pair_bool(json, "mount_namespace", layers->mounts);
	sb_json_pair_bool(json, "user_namespace", layers->user_namespace);
	sb_json_pair_bool(json, "ipc_namespace", layers->ipc_namespace);
	sb_json_pair_bool(json, "network_namespace", layers->net_namespace);
	sb_json_pair_int(json, "landlock_abi", layers->landlock_abi);
	sb_json_pair_bool(json, "seccomp", layers->seccomp);
	sb_json_pair_int(json, "inside", layers->outer);
	sb_json_close(json, '}');
}
