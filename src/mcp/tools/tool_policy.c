/* tool_policy.c - what a model may do, told before it tries. */
#include <stdio.h>

#include "base/buf.h"
#include "base/escape.h"
#include "mcp/tools/tools.h"
#include "mcp/wire/rpc.h"
#include "policy/network.h"
#include "policy/settings.h"
#include "policy/text.h"
#include "zones/rules.h"

json_t *sb_tool_allowed(struct sb_tool_call *call)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(1024 * 1024);

	sb_buf_puts(&text, "Allowed directories:");
	for (size_t i = 0; sb_files_root(call->view, i); i++)
		sb_buf_printf(&text, "\n%s", sb_files_root(call->view, i));
	return sb_tool_said(&text, NULL);
}

static void put_rule(json_t *rules, struct sb_buf *text, const struct sb_buf *line,
		     const char *origin)
{
	sb_buf_printf(text, "\n  %s  (%s)", line->data, origin);
	json_array_append_new(rules, json_pack("{s:o, s:o}", "rule", sb_rpc_buf(line), "origin",
					       sb_rpc_string(origin)));
}

/* The user's own rules; built-in ones are the same for everybody, and many. */
static json_t *rules_of(const struct sb_policy *policy, struct sb_buf *text)
{
	json_t *rules = json_array();

	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);
		SB_AUTO_BUF struct sb_buf line = SB_BUF(16 * 1024);

		if (rule->tier == SB_TIER_BUILTIN)
			continue;
		sb_rule_print_whole(rule, &line);
		put_rule(rules, text, &line, rule->origin);
	}
	for (size_t i = 0; i < sb_connect_count(policy); i++) {
		SB_AUTO_BUF struct sb_buf line = SB_BUF(1024);

		sb_connect_print(sb_connect_at(policy, i), &line);
		put_rule(rules, text, &line, sb_connect_at(policy, i)->origin);
	}
	return rules;
}

static void put_grants(const json_t *grants, struct sb_buf *text)
{
	const json_t *grant;
	size_t i;

	sb_buf_puts(text, "\nGranted or denied in this session:");
	json_array_foreach(grants, i, grant)
	{
		const json_t *path = json_object_get(grant, "path");

		sb_buf_printf(text, "\n  %s ", sb_get_text(grant, "access"));
		sb_escape_name(text, json_string_value(path), json_string_length(path));
		sb_buf_printf(text, "  (until: %s)", sb_get_text(grant, "until"));
	}
	if (!json_array_size(grants))
		sb_buf_puts(text, " nothing");
}

static const char *network_word(const struct sb_policy *policy)
{
	return sb_settings[SB_SETTING_NETWORK].values[sb_network_of(policy)];
}

static json_t *policy_result(struct sb_tool_call *call)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(16 * 1024 * 1024);
	const struct sb_policy *policy = call->policy;
	bool read_only = sb_policy_mode(policy) == SB_MODE_READ_ONLY;
	json_t *roots = json_array(), *rules;

	sb_buf_printf(&text, "Mode: %s. Network for commands: %s.\nAllowed directories:",
		      sb_mode_name(sb_policy_mode(policy)), network_word(policy));
	for (size_t i = 0; sb_files_root(call->view, i); i++) {
		sb_buf_printf(&text, "\n  %s", sb_files_root(call->view, i));
		json_array_append_new(roots, sb_rpc_string(sb_files_root(call->view, i)));
	}
	sb_buf_puts(&text, read_only ? "\nThey can be read and not changed."
				     : "\nFile tools read and change them freely; commands change "
				       "them and read the rest of the system, except secrets.");
	sb_buf_puts(&text,
		    "\nThe user is asked about: anything else; files that a program outside would "
		    "later run or obey (git hooks, shell start-up files, editor and agent "
		    "settings); changes of git-ignored files by file tools.\n"
		    "Refused: credentials in the home directory, and sandbash's own files.\n"
		    "Rules of the user:");
	rules = rules_of(policy, &text);
	if (!json_array_size(rules))
		sb_buf_puts(&text, " none");
	put_grants(call->grants, &text);
	return sb_tool_said(&text, json_pack("{s:{s:s, s:b, s:s, s:o, s:o}, s:O*}", "policy",
					     "mode", sb_mode_name(sb_policy_mode(policy)),
					     "network", sb_policy_network(policy), "networkMode",
					     network_word(policy), "roots", roots, "rules", rules,
					     "grants", call->grants));
}

/* "host": "github.com:443", as --explain has it. */
static json_t *host_result(const struct sb_tool_call *call, const char *host)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);
	char name[SB_PEER_TEXT_SIZE];
	struct sb_reach reach;
	struct sb_error err;
	struct sb_peer peer;
	const char *why;

	if (sb_peer_parse(host, &peer, &err) != SB_OK)
		return sb_tool_failure("INVALID_ARGUMENT", err.message,
				       "Give a host and a port, as github.com:443.", false, NULL);
	sb_peer_print(&peer, name);
	reach = sb_decide_connect(call->policy, &peer);
	why = !reach.rule     ? "no rule is about this host"
	      : !call->worker ? reach.rule->origin
			      : "a rule of the user's";
	if (call->worker && !call->worker->worker.network) {
		reach.verdict = SB_DENY;
		why = "there is no network";
	}
	sb_buf_printf(&text, "connect to %s: %s - ", name, sb_verdict_name(reach.verdict));
	if (!call->worker)
		sb_buf_printf(&text, "network %s; ", network_word(call->policy));
	sb_buf_puts(&text, why);
	return sb_tool_said(&text, json_pack("{s:{s:{s:s, s:s, s:o}}}", "decisions", "connect",
					     "verdict", sb_verdict_name(reach.verdict), "host",
					     name, "why", sb_rpc_string(why)));
}

/* --- of a worker: which directories there are, and what may be done in each ------------------------- */

static json_t *directories_of(const struct sb_zones *zones, struct sb_buf *text)
{
	static const char *const words[] = {"allow", "ask", "deny"};
	json_t *list = json_array();

	for (size_t i = 0; i < zones->count; i++) {
		const struct sb_zone *zone = &zones->all[i];
		struct sb_access access = sb_zone_access(zone);

		sb_buf_puts(text, "\n  ");
		sb_zone_says(zone, text);
		json_array_append_new(list, json_pack("{s:o, s:s, s:s}", "path",
						      json_sprintf("/%s", zone->name), "write",
						      words[access.verdict[SB_MODIFY]], "delete",
						      words[access.verdict[SB_DELETE]]));
	}
	return list;
}

static json_t *worker_result(struct sb_tool_call *call)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(1024 * 1024);
	const json_t *grant;
	json_t *list;
	size_t i;

	sb_buf_puts(&text, "Directories in /:");
	list = directories_of(&call->worker->has, &text);
	if (!json_array_size(list))
		sb_buf_puts(&text, " none");
	sb_buf_puts(&text,
		    "\nThere is nothing else. The user is also asked about files that another "
		    "program would later run or obey (git hooks, editor and agent settings).");
	json_array_foreach(call->grants, i, grant)
		sb_buf_printf(&text, "\nAllowed until this session ends: %s in %s",
			      sb_get_text(grant, "access"), sb_get_text(grant, "path"));
	return sb_tool_said(&text, json_pack("{s:{s:o}, s:O*}", "policy", "directories", list,
					     "grants", call->grants));
}

/* --- of a path ------------------------------------------------------------------------------------ */

json_t *sb_tool_may(struct sb_tool_call *call)
{
	const char *path = sb_get_text(call->args, "path");
	SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);
	json_t *decisions;

	if (sb_get_text(call->args, "host"))
		return host_result(call, sb_get_text(call->args, "host"));
	decisions = json_object();
	if (!path) {
		json_decref(decisions);
		return call->worker ? worker_result(call) : policy_result(call);
	}
	for (int op = 0; op < SB_OP_COUNT; op++) {
		struct sb_files_error why = {0};
		enum sb_verdict verdict;
		const char *name = sb_op_name((enum sb_op)op), *word;
		bool checked;
		int said;
		json_t *decision;

		if (sb_files_check(call->view, (enum sb_op)op, path, &verdict, &checked, &why) !=
		    0) {
			json_decref(decisions);
			call->err = why;
			return sb_tool_files_error(&why);
		}
		said = verdict == SB_ASK && call->said
			       ? call->said(call->context, (enum sb_op)op, why.path)
			       : 0;
		if (said) {
			verdict = said > 0 ? SB_ALLOW : SB_DENY;
			snprintf(why.person, sizeof why.person, "%s",
				 said > 0 ? "granted in this session" : "the user said no");
		}
		word = checked ? "check" : sb_verdict_name(verdict); /* as --explain says it */
		decision = json_pack("{s:s}", "verdict", word);
		sb_buf_printf(&text, "%s%s: %s", op ? "\n" : "", name, word);
		if (checked)
			sb_buf_puts(&text, " - allowed as far as the contents are harmless");
		if ((verdict != SB_ALLOW || said) && why.person[0]) {
			sb_buf_printf(&text, " - %s", why.person);
			json_object_set_new(decision, "why", sb_rpc_string(why.person));
		}
		sb_put_text(decision, "rule", verdict != SB_ALLOW ? why.rule : NULL);
		json_object_set_new(decisions, name, decision);
	}
	return sb_tool_said(&text, json_pack("{s:o}", "decisions", decisions));
}
