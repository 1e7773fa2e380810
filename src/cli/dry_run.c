/*
 * dry_run.c - --dry-run: what a run would be held by, and by which rules.
 */
#include "cli/run.h"

#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "enforce/confine.h"
#include "policy/network.h"
#include "policy/settings.h"

/* What the profile sets for the command, where nothing is set. */
static void put_set(const struct sb_run *run, struct sb_buf *out)
{
	const struct sb_profile *profile = &run->setup.profile;

	for (size_t i = 0; i < profile->environment_count && !sb_run_is_danger(run); i++) {
		sb_buf_puts(out, "would set:  ");
		sb_shell_quote(out, profile->environment[i]);
		sb_buf_putc(out, '\n');
	}
}

/* Names of variables that the command does not get. */
static void put_environ(const struct sb_run *run, struct sb_buf *out)
{
	const struct sb_environ_names names = sb_run_environ_names(run);
	size_t count = 0;

	for (size_t i = 0; environ[i]; i++) {
		if (!sb_environ_removes(&names, environ[i]))
			continue;
		sb_buf_puts(out, count++ ? ", " : "not passed: ");
		sb_escape_append(out, environ[i], strcspn(environ[i], "="));
	}
	if (count)
		sb_buf_putc(out, '\n');
}

static void json_environ(const struct sb_run *run, struct sb_json *json)
{
	const struct sb_environ_names names = sb_run_environ_names(run);

	sb_json_open_at(json, "variables_removed", '[');
	for (size_t i = 0; environ[i]; i++) {
		SB_AUTO_FREE char *name = strndup(environ[i], strcspn(environ[i], "="));

		if (name && sb_environ_removes(&names, environ[i]))
			sb_json_string(json, name);
	}
	sb_json_close(json, ']');
}

static void dry_run_text(const struct sb_run *run, const struct sb_layers *layers,
			 const struct sb_weaknesses *weak, struct sb_buf *out)
{
	char held[200];

	sb_buf_puts(out, "would run:  ");
	sb_shell_quote_all(out, (const char *const *)run->argv);
	sb_escape_put_name(out, "\nin:         ", run->setup.home.cwd, "");
	sb_buf_printf(out, "\nmode:       %s\n", sb_mode_name(sb_policy_mode(run->setup.policy)));
	if (run->setup.profile.name)
		sb_buf_printf(out, "profile:    %s\n", run->setup.profile.name);
	sb_tools_print(&run->setup.profile, "tools:      ", out);
	put_set(run, out);
	put_environ(run, out);
	if (sb_run_is_danger(run)) {
		sb_buf_puts(out, "layers:     none: the command runs without a sandbox\n");
		return;
	}
	sb_layers_describe(layers, held, sizeof held);
	sb_buf_printf(out, "network:    %s\n",
		      sb_settings[SB_SETTING_NETWORK].values[sb_network_of(run->setup.policy)]);
	sb_print_hosts(run->setup.policy, out);
	sb_buf_printf(out, "layers:     %s\n", held);
	if (sb_is_guarded(run->line, &run->setup))
		sb_buf_puts(out,
			    "guarded:    names that programs outside would run or obey, at any "
			    "depth (--explain PATH)\n");
	else if (!sb_is_supervised(run->line))
		sb_buf_puts(out,
			    "guarded:    only what stands read-only below; not git's other state "
			    "files, new names, contents\n");
	sb_buf_puts(out, "everything is read-only, except:\n");
	for (size_t i = 0; i < run->plan.node_count; i++) {
		const struct sb_plan_node *node = &run->plan.nodes[i];
		const struct sb_plan_node *parent = &run->plan.nodes[node->parent];
		const char *what = node->fast                         ? "fast"
				   : node->temp                       ? "private"
				   : node->state == SB_STATE_WRITABLE ? "writable"
				   : node->state == SB_STATE_HIDDEN   ? "hidden"
								      : "read-only";

		if (i && node->allow == parent->allow && node->fast == parent->fast)
			continue;
		if (i == 0 && node->state == SB_STATE_READABLE)
			continue;
		sb_buf_printf(out, "  %-10s ", what);
		sb_escape_puts_name(out, node->path);
		if (node->rule)
			sb_escape_put(out, "  # ", node->rule->origin, "");
		sb_buf_putc(out, '\n');
	}
	for (size_t i = 0; i < run->plan.absent_count; i++) {
		if (sb_plan_state_at(&run->plan, run->plan.absent[i]) != SB_STATE_READABLE)
			continue; /* it is in something writable, or cannot be made: warned about */
		sb_escape_put_name(out, "  may make   ", run->plan.absent[i], "\n");
	}
	if (weak->count)
		sb_buf_puts(out, "not held on this machine:\n");
	for (size_t i = 0; i < weak->count; i++)
		sb_buf_printf(out, "  - %s\n", weak->text[i]);
}

static void dry_run_json(const struct sb_run *run, const struct sb_layers *layers,
			 const struct sb_weaknesses *weak, struct sb_buf *out)
{
	struct sb_json json = sb_json_object(out);

	sb_json_strings(&json, "command", (const char *const *)run->argv, SIZE_MAX);
	sb_json_pair(&json, "directory", run->setup.home.cwd);
	sb_json_pair(&json, "profile", run->setup.profile.name);
	sb_json_pair(&json, "mode", sb_mode_name(sb_policy_mode(run->setup.policy)));
	sb_json_pair_bool(&json, "network", sb_policy_network(run->setup.policy));
	sb_json_network(&json, run->setup.policy);
	sb_json_pair_bool(&json, "guarded", sb_is_guarded(run->line, &run->setup));
	json_environ(run, &json);
	sb_json_key(&json, "layers");
	sb_json_layers(&json, layers);
	sb_json_open_at(&json, "mounts", '[');
	for (size_t i = 0; i < run->plan.mount_count; i++) {
		sb_json_open(&json, '{');
		sb_json_pair(&json, "path", run->plan.mounts[i].path);
		sb_json_pair(&json, "as", sb_mount_kind_name(run->plan.mounts[i].kind));
		sb_json_close(&json, '}');
	}
	sb_json_close(&json, ']');
	sb_json_strings(&json, "not_there_yet", (const char *const *)run->plan.absent,
			run->plan.absent_count);
	sb_json_open_at(&json, "not_held", '[');
	for (size_t i = 0; i < weak->count; i++)
		sb_json_string(&json, weak->text[i]);
	sb_json_close(&json, ']');
	sb_json_close(&json, '}');
}

int sb_cli_dry_run(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	static struct sb_weaknesses weak;
	struct sb_layers layers = {0};
	struct sb_run run = {.line = line};
	struct sb_error err;
	int status = sb_run_prepare(line, false, &run);

	if (!status && !sb_run_is_danger(&run)) {
		if (sb_layers_probe(!sb_policy_network(run.setup.policy), &layers, &err) != SB_OK)
			status = sb_report(&err);
		layers.supervised = sb_is_supervised(line) && !layers.outer;
		layers.pid_namespace = layers.supervised && layers.mounts;
		layers.gate = layers.supervised && layers.net_namespace;
		layers.spares = layers.supervised ? 0 : -1; /* they would be made */
		if (!status && !layers.outer)
			sb_weaknesses_find(&layers, &run.plan, &weak);
	}
	if (!status) {
		if (line->json)
			dry_run_json(&run, &layers, &weak, &out);
		else
			dry_run_text(&run, &layers, &weak, &out);
		status = sb_print(&out);
	}
	sb_run_done(&run);
	return status;
}
