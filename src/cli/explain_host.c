/*
 * explain_host.c - --explain HOST:PORT: may it be reached, by which rule, and what would change that.
 *
 * The answer comes from where a run gets its own: sb_decide_connect().
 */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "cli/cli.h"
#include "network/network.h"
#include "policy/network.h"
#include "policy/settings.h"
#include "policy/text.h"

bool sb_explains_host(const char *text)
{
	const char *colon = strrchr(text, ':');
	struct sb_peer peer;

	/* a name without a port is a file's; with "./" before it every name is */
	return colon && sb_port_parse(colon + 1, strlen(colon + 1)) &&
	       sb_peer_parse(text, &peer, NULL) == SB_OK;
}

struct explanation {
	struct sb_peer peer;
	char text[SB_PEER_TEXT_SIZE];
	struct sb_reach reach;
	char origin[4600];
	bool final;
	char change[SB_PEER_TEXT_SIZE + 64]; /* an option, or "" */
};

static void explain(const struct sb_setup *setup, const char *text, struct explanation *out)
{
	const struct sb_policy *policy = setup->policy;
	const struct sb_connect_rule *rule;
	bool off = sb_network_of(policy) == SB_NETWORK_OFF;
	int written;

	sb_peer_parse(text, &out->peer, NULL);
	sb_here_look(policy, &out->peer.address);
	sb_peer_print(&out->peer, out->text);
	out->reach = sb_decide_connect(policy, &out->peer);
	rule = out->reach.rule;
	if (rule)
		snprintf(out->origin, sizeof out->origin, "%s", rule->origin);
	else if (sb_policy_mode(policy) == SB_MODE_DANGER_FULL_ACCESS)
		snprintf(out->origin, sizeof out->origin, "danger-full-access: no sandbox");
	else
		snprintf(out->origin, sizeof out->origin, "%snetwork %s", off ? "" : "no rule: ",
			 sb_settings[SB_SETTING_NETWORK].values[sb_network_of(policy)]);
	out->final = (rule && rule->tier == SB_TIER_SYSTEM && rule->verdict == SB_DENY) ||
		     (off && setup->least[SB_SETTING_NETWORK] == SB_NETWORK_OFF);
	if (out->final ||
	    (rule && rule->tier == SB_TIER_FLAG && strcmp(rule->text, out->text) == 0))
		return; /* another flag for it would contradict that one */
	if (out->reach.verdict == SB_ALLOW)
		written = snprintf(out->change, sizeof out->change, "--rule=deny connect %s",
				   out->text);
	else
		written = snprintf(out->change, sizeof out->change, "%s--connect=%s",
				   off ? "--network=ask " : "", out->text);
	if (written < 0 || (size_t)written >= sizeof out->change)
		out->change[0] = '\0';
}

static void put_rule(const struct sb_connect_rule *rule, struct sb_buf *out)
{
	sb_buf_puts(out, "rule '");
	sb_connect_print(rule, out);
	sb_buf_puts(out, "', ");
}

/* What else there is to know before it is allowed. */
static void put_notes(const struct sb_setup *setup, const struct explanation *found,
		      struct sb_buf *out)
{
	const struct sb_peer *peer = &found->peer;
	const char *note = sb_host_name_note(peer->name);
	enum sb_address_class which = sb_address_class(&peer->address);

	if (note)
		sb_buf_printf(out, "%s\n", note);
	if (!peer->name[0] && which != SB_ADDRESS_PUBLIC)
		sb_buf_printf(out, "it is %s\n", sb_address_class_text(which));
	if (strcmp(peer->name, SB_HOST_LOCAL) == 0 && sb_policy_needs_gate(setup->policy))
		sb_buf_puts(out,
			    "a port of this machine, unless the command itself listens there\n");
	else if (peer->name[0] && sb_network_of(setup->policy) == SB_NETWORK_ASK)
		sb_buf_puts(out,
			    "where the name leads to an address that is not the internet's, it "
			    "asks again\n");
	if (found->reach.verdict == SB_ASK)
		sb_buf_puts(out, "where nobody can be asked, 'ask' is refused\n");
}

static void explain_text(const struct sb_setup *setup, const struct explanation *found,
			 struct sb_buf *out)
{
	sb_buf_printf(out, "%s\n  connect %-6s  ", found->text,
		      sb_verdict_name(found->reach.verdict));
	if (found->reach.rule)
		put_rule(found->reach.rule, out);
	sb_escape_put(out, "", found->origin, "\n");
	put_notes(setup, found, out);
	if (found->final) {
		sb_buf_puts(out, "no option changes this\n");
	} else if (!found->change[0]) {
		sb_escape_put(out, "to change this:    leave out ", found->origin, "\n");
	} else {
		const char *rest = strchr(found->change, ' ');
		bool two = strncmp(found->change, "--network", 9) == 0;

		sb_buf_printf(out, "%-18s sandbash ",
			      found->reach.verdict == SB_ALLOW ? "to deny it:" : "to allow it:");
		if (two)
			sb_buf_append(out, found->change, (size_t)(rest + 1 - found->change));
		sb_shell_quote(out, two ? rest + 1 : found->change);
		sb_buf_putc(out, '\n');
	}
}

static void explain_json(const char *asked, const struct explanation *found, struct sb_buf *out)
{
	char address[SB_HOST_ADDRESS_SIZE];
	struct sb_json json = sb_json_object(out);

	if (!found->peer.name[0])
		sb_address_print(&found->peer.address, address);
	sb_json_pair(&json, "asked", asked);
	sb_json_pair(&json, "host", found->peer.name[0] ? found->peer.name : address);
	sb_json_pair_int(&json, "port", found->peer.port);
	sb_json_pair(&json, "protocol", found->peer.protocol == SB_UDP ? "udp" : "tcp");
	sb_json_pair(&json, "verdict", sb_verdict_name(found->reach.verdict));
	sb_json_pair_bool(&json, "allowed", found->reach.verdict == SB_ALLOW);
	sb_json_pair(&json, "origin", found->origin);
	sb_json_key(&json, "rule");
	if (found->reach.rule)
		sb_json_connect(&json, found->reach.rule);
	else
		sb_json_string(&json, NULL);
	sb_json_pair_bool(&json, "final", found->final);
	sb_json_pair(&json, "change_with", found->change[0] ? found->change : NULL);
	sb_json_close(&json, '}');
}

int sb_cli_explain_host(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	static struct explanation found;
	SB_AUTO_SETUP struct sb_setup setup = {0};
	int status = sb_set_up(line, true, &setup);

	if (status)
		return status;
	explain(&setup, line->action_value, &found);
	if (line->json)
		explain_json(line->action_value, &found, &out);
	else
		explain_text(&setup, &found, &out);
	return sb_print(&out);
}
