/*
 * status.c - --status: what holds here.  Inside a run it is the kernel that is
 * asked whether there is a sandbox; the environment only says which rules it had.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "enforce/confine.h"
#include "enforce/inside.h"
#include "enforce/linux_landlock.h"
#include "enforce/plan.h"
#include "options/flags.h"
#include "policy/network.h"
#include "policy/settings.h"

/* The run's own options, from SANDBASH_FLAGS; with them its policy can be worked out again. */
static int as_started(const struct sb_command_line *line, struct sb_command_line *out,
		      char ***out_words)
{
	const char *flags = getenv("SANDBASH_FLAGS"), *project = getenv("SANDBASH_PROJECT");
	struct sb_error err;
	int count;

	if (!flags || !project || chdir(project) != 0)
		return -1;
	*out_words = sb_flags_decode(flags, &count);
	if (!*out_words)
		return -1;
	if (sb_command_line_parse(count, *out_words, out, &err) != SB_OK) {
		free(*out_words);
		*out_words = NULL;
		return -1;
	}
	out->json = line->json;
	return 0;
}

struct status {
	int inside; /* how many runs deep */
	bool mounts;
	bool network;
	bool known; /* the policy is that of the run, not of a run to come */
	bool supervised;
	struct sb_setup setup;
	struct sb_layers layers; /* outside: what a run would have */
};

static void list_state(const struct sb_policy *policy, const char *title, struct sb_buf *out,
		       bool (*shown)(const struct sb_rule *rule))
{
	bool any = false;

	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);

		if (!shown(rule))
			continue;
		if (!any)
			sb_buf_printf(out, "%s:\n", title);
		any = true;
		sb_escape_put(out, "  ", rule->pattern, "  # ");
		sb_escape_put(out, "", rule->origin, "\n");
	}
}

static bool is_writable(const struct sb_rule *rule)
{
	return rule->access.verdict[SB_CREATE] == SB_ALLOW;
}

static bool is_merely_writable(const struct sb_rule *rule)
{
	return is_writable(rule) && !rule->fast;
}

static bool is_fast(const struct sb_rule *rule)
{
	return rule->fast;
}

static void list_fast(const struct status *status, struct sb_buf *out)
{
	char title[120] = "fast, where nothing is guarded";

	if (!status->supervised)
		snprintf(title, sizeof title, "fast, which is no more than writable in such a run");
	else if (!status->inside && !sb_landlock_holds_fast(&status->layers))
		snprintf(title, sizeof title,
			 "fast, but no faster than others: Landlock ABI %d cannot hold it",
			 status->layers.landlock_abi);
	list_state(status->setup.policy, title, out, is_fast);
}

static bool is_users_hidden(const struct sb_rule *rule)
{
	return rule->tier != SB_TIER_BUILTIN && rule->access.verdict[SB_READ] != SB_ALLOW;
}

static bool is_users_other(const struct sb_rule *rule)
{
	return rule->tier != SB_TIER_BUILTIN && !is_writable(rule) && !is_users_hidden(rule);
}

/* An outer run's closed network stays closed. */
static const char *network_word(const struct status *status)
{
	enum sb_network network = sb_network_of(status->setup.policy);
	bool closed = network == SB_NETWORK_ON && !sb_policy_needs_gate(status->setup.policy) &&
		      !status->network;

	return sb_settings[SB_SETTING_NETWORK].values[closed ? SB_NETWORK_OFF : network];
}

static void status_text(const struct status *status, struct sb_buf *out)
{
	const struct sb_policy *policy = status->setup.policy;
	char held[200];

	if (status->inside > 1)
		sb_buf_printf(out, "inside a sandbash run, %d deep\n", status->inside);
	else
		sb_buf_puts(out,
			    status->inside
				    ? "inside a sandbash run\n"
				    : "outside any sandbash run; a run started here would have:\n");
	if (status->inside && !status->known)
		sb_buf_puts(out,
			    "its options are unknown; the rules below are those of a plain run\n");
	sb_buf_printf(out, "mode:     %s\nnetwork:  %s\n", sb_mode_name(sb_policy_mode(policy)),
		      network_word(status));
	sb_print_hosts(policy, out);
	if (status->setup.profile.name)
		sb_buf_printf(out, "profile:  %s\n", status->setup.profile.name);
	sb_tools_print(&status->setup.profile, "tools:    ", out);
	if (status->inside) {
		sb_buf_printf(out, "layers:   %sLandlock, seccomp filter\n",
			      status->mounts ? "mount namespace, " : "");
	} else {
		sb_layers_describe(&status->layers, held, sizeof held);
		sb_buf_printf(out, "layers:   %s\n", held);
	}
	if (!status->inside && sb_plan_holds_reads(policy))
		sb_buf_puts(
			out,
			"reading:  held, since a rule hides files, which may be replaced or appear "
			"later; opening a file takes about 25 us longer\n");
	if (sb_policy_clean_env(policy))
		sb_buf_puts(out, "variables: only usual ones that hold no secrets (clean-env)\n");
	sb_escape_put_name(out, "project:  ", status->setup.home.cwd, "\n");
	list_state(policy, "writable", out, is_merely_writable);
	list_fast(status, out);
	list_state(policy, "hidden by your rules", out, is_users_hidden);
	list_state(policy, "limited by your rules", out, is_users_other);
	sb_buf_puts(out,
		    "credentials in the home directory are hidden; files that programs outside\n"
		    "would run are protected; --print-policy lists every rule\n");
}

static void status_json(const struct status *status, struct sb_buf *out)
{
	const struct sb_policy *policy = status->setup.policy;
	struct sb_json json = sb_json_object(out);

	sb_json_pair_bool(&json, "inside", status->inside > 0);
	sb_json_pair_int(&json, "depth", status->inside);
	sb_json_pair_bool(&json, "policy_known", !status->inside || status->known);
	sb_json_pair(&json, "mode", sb_mode_name(sb_policy_mode(policy)));
	sb_json_pair_bool(&json, "network", status->network);
	sb_json_network(&json, policy);
	sb_json_pair_bool(&json, "clean_env", sb_policy_clean_env(policy));
	sb_json_pair(&json, "project", status->setup.home.cwd);
	sb_json_pair(&json, "profile", status->setup.profile.name);
	sb_json_strings(&json, "tools", (const char *const *)status->setup.profile.tools,
			status->setup.profile.tool_count);
	sb_json_key(&json, "layers");
	sb_json_layers(&json, &status->layers);
	sb_json_open_at(&json, "writable", '[');
	for (size_t i = 0; i < sb_policy_count(policy); i++)
		if (is_writable(sb_policy_rule(policy, i)))
			sb_json_string(&json, sb_policy_rule(policy, i)->pattern);
	sb_json_close(&json, ']');
	sb_json_pair_bool(&json, "fast_is_held",
			  status->supervised && sb_landlock_holds_fast(&status->layers));
	sb_json_rules(&json, policy);
	sb_json_close(&json, '}');
}

int sb_cli_status(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	SB_AUTO(sb_command_line_done) struct sb_command_line started = {0};
	struct status status = {0};
	SB_AUTO_FREE char **words = NULL;
	struct sb_error err;
	int result;

	status.inside = sb_inside(&status.mounts);
	status.known = status.inside && as_started(line, &started, &words) == 0;
	status.supervised = !(status.known ? &started : line)->static_run && status.inside < 2;
	result = sb_set_up(status.known ? &started : line, true, &status.setup);
	if (!result &&
	    sb_layers_probe(!sb_policy_network(status.setup.policy), &status.layers, &err) != SB_OK)
		result = sb_report(&err);
	if (!result) {
		/* an outer run's closed network stays closed */
		status.network = sb_policy_network(status.setup.policy) &&
				 !(status.inside && getenv("SANDBASH_NETWORK_DISABLED"));
		if (status.inside) { /* what holds us, not what we could add */
			status.layers.mounts = status.mounts;
			status.layers.seccomp = true;
		}
		if (line->json)
			status_json(&status, &out);
		else
			status_text(&status, &out);
		result = sb_print(&out);
	}
	sb_setup_done(&status.setup);
	return result;
}
