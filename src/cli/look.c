/*
 * look.c - commands that only look at the rules: --explain, --print-policy, --list-paths.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/quote.h"
#include "cli/cli.h"
#include "path/path.h"
#include "policy/fast.h"
#include "policy/text.h"

static void puts_safe(struct sb_buf *out, const char *text)
{
	sb_escape_append(out, text, strlen(text));
}

/* What a decision rests on, in words. */
static const char *origin_of(const struct sb_policy *policy, const struct sb_decision *decision)
{
	if (decision->rule)
		return decision->rule->origin;
	if (sb_policy_mode(policy) == SB_MODE_DANGER_FULL_ACCESS)
		return "danger-full-access: no sandbox";
	if (decision->verdict == SB_DENY)
		return "read-only mode";
	return "no rule: reading is free, changes ask";
}

struct explanation {
	char *path; /* canonical */
	int missing;
	struct sb_decision decisions[SB_OP_COUNT];
	bool final;         /* no flag changes what is denied */
	const char *change; /* the option that would allow what is not, or forbid what is */
	char *target;       /* its value: rules that grant need something that exists */
};

/*
 * What to name in a rule that grants: the path or, if it is not there, the directory
 * it would be created in, as long as that is not as broad as the home directory.
 */
static char *grantable(const struct sb_setup *setup, const char *path, bool missing)
{
	char *parent = missing ? sb_path_parent(path) : NULL;
	struct stat info;

	if (parent && stat(parent, &info) == 0 && !sb_path_within(parent, setup->home.home))
		return parent;
	free(parent);
	return strdup(path);
}

static int explain(const struct sb_setup *setup, const char *text, struct explanation *out,
		   struct sb_error *err)
{
	SB_AUTO_FREE char *absolute = NULL;
	int status = sb_path_expand(text, setup->home.cwd, setup->home.home, &absolute, err);

	if (status == SB_OK)
		status = sb_path_canonical(absolute, &out->path, &out->missing, err);
	if (status != SB_OK)
		return status;
	for (int op = 0; op < SB_OP_COUNT; op++) {
		out->decisions[op] = sb_decide(setup->policy, (enum sb_op)op, out->path);
		if (out->decisions[op].verdict == SB_DENY && out->decisions[op].rule &&
		    (out->decisions[op].rule->hard ||
		     out->decisions[op].rule->tier == SB_TIER_SYSTEM))
			out->final = true;
	}
	if (out->decisions[SB_MODIFY].verdict != SB_ALLOW ||
	    out->decisions[SB_CREATE].verdict != SB_ALLOW ||
	    out->decisions[SB_DELETE].verdict != SB_ALLOW)
		out->change = "--allow-write";
	else
		out->change = "--deny";
	out->target = strcmp(out->change, "--deny") == 0
			      ? strdup(out->path)
			      : grantable(setup, out->path, out->missing);
	return out->target ? SB_OK : sb_fail(err, SB_E_NOMEM, 0, "out of memory");
}

static void explain_text(const struct sb_setup *setup, const struct explanation *found,
			 struct sb_buf *out)
{
	puts_safe(out, found->path);
	sb_buf_puts(out, found->missing ? " (does not exist)\n" : "\n");
	for (int op = 0; op < SB_OP_COUNT; op++) {
		const struct sb_decision *decision = &found->decisions[op];

		sb_buf_printf(out, "  %-7s %-6s", sb_op_name((enum sb_op)op),
			      sb_verdict_name(decision->verdict));
		if (decision->rule) {
			SB_AUTO_BUF struct sb_buf rule = SB_BUF(SB_OUTPUT_LIMIT);

			sb_rule_print_whole(decision->rule, &rule);
			sb_buf_printf(out, "  rule '");
			puts_safe(out, rule.data);
			sb_buf_printf(out, "', ");
		} else {
			sb_buf_puts(out, "  ");
		}
		puts_safe(out, origin_of(setup->policy, decision));
		if (decision->rule && decision->rule->capped && op != SB_READ)
			sb_buf_puts(out, " (read-only mode)");
		sb_buf_putc(out, '\n');
		if (decision->verdict == SB_ASK && op == SB_DELETE)
			sb_buf_puts(out, "where nobody can be asked, 'ask' is refused\n");
	}
	if (sb_fast_holds(setup->policy, found->path))
		sb_buf_puts(out,
			    "in a fast root: no name there is guarded, and nothing is renamed or "
			    "linked across its border\n");
	if (found->final) {
		sb_buf_puts(out, "no option changes this\n");
		return;
	}
	if (found->decisions[SB_READ].verdict != SB_ALLOW) {
		sb_buf_puts(out, "to allow reading:  sandbash --allow-read=");
		sb_shell_quote(out, found->path);
		sb_buf_putc(out, '\n');
	}
	sb_buf_printf(out, "to %s  sandbash %s=",
		      strcmp(found->change, "--deny") == 0 ? "hide it:       " : "allow changes:",
		      found->change);
	sb_shell_quote(out, found->target);
	if (found->missing && strcmp(found->target, found->path) == 0 &&
	    strcmp(found->change, "--deny") != 0)
		sb_buf_puts(out, " (once it exists)");
	sb_buf_putc(out, '\n');
}

static void explain_json(const struct sb_setup *setup, const char *text,
			 const struct explanation *found, struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf flag = SB_BUF(SB_OUTPUT_LIMIT);
	struct sb_json json;

	sb_buf_printf(&flag, "%s=%s", found->change, found->target);
	sb_json_init(&json, out);
	sb_json_open(&json, '{');
	sb_json_pair(&json, "asked", text);
	sb_json_pair(&json, "path", found->path);
	sb_json_pair_bool(&json, "exists", !found->missing);
	sb_json_key(&json, "decisions");
	sb_json_open(&json, '{');
	for (int op = 0; op < SB_OP_COUNT; op++) {
		const struct sb_decision *decision = &found->decisions[op];

		sb_json_key(&json, sb_op_name((enum sb_op)op));
		sb_json_open(&json, '{');
		sb_json_pair(&json, "verdict", sb_verdict_name(decision->verdict));
		sb_json_pair_bool(&json, "allowed", decision->verdict == SB_ALLOW);
		sb_json_pair(&json, "origin", origin_of(setup->policy, decision));
		sb_json_key(&json, "rule");
		sb_json_rule(&json, decision->rule);
		sb_json_close(&json, '}');
	}
	sb_json_close(&json, '}');
	sb_json_pair_bool(&json, "fast", sb_fast_holds(setup->policy, found->path));
	sb_json_pair_bool(&json, "final", found->final);
	sb_json_pair(&json, "change_with", found->final ? NULL : flag.data);
	sb_json_close(&json, '}');
}

int sb_cli_explain(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct explanation found = {0};
	struct sb_setup setup;
	struct sb_error err;
	int status = sb_set_up(line, true, &setup);

	if (status)
		return status;
	if (explain(&setup, line->action_value, &found, &err) != SB_OK) {
		status = sb_report(&err);
	} else {
		if (line->json)
			explain_json(&setup, line->action_value, &found, &out);
		else
			explain_text(&setup, &found, &out);
		status = sb_print(&out);
	}
	free(found.path);
	free(found.target);
	sb_setup_done(&setup);
	return status;
}

static void policy_json(const struct sb_policy *policy, struct sb_buf *out)
{
	struct sb_json json;

	sb_json_init(&json, out);
	sb_json_open(&json, '{');
	sb_json_pair(&json, "mode", sb_mode_name(sb_policy_mode(policy)));
	sb_json_pair_bool(&json, "network", sb_policy_network(policy));
	sb_json_pair(&json, "tmp", sb_tmp_name(sb_policy_tmp(policy)));
	sb_json_rules(&json, policy);
	sb_json_close(&json, '}');
}

int sb_cli_print_policy(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct sb_setup setup;
	int status = sb_set_up(line, true, &setup);

	if (status)
		return status;
	if (line->json)
		policy_json(setup.policy, &out);
	else
		sb_policy_print(setup.policy, &out);
	status = sb_print(&out);
	sb_setup_done(&setup);
	return status;
}

/* The sources of --list-paths, in the order they are shown. */
static const struct {
	enum sb_tier tier;
	const char *title;
	const char *key;
	bool always; /* shown even when it holds nothing */
} sources[] = {
	{SB_TIER_SYSTEM, "System paths", "system", false},
	{SB_TIER_GLOBAL, "Global paths", "global", true},
	{SB_TIER_DIRECTORY, "Per-directory paths", "per_directory", true},
	{SB_TIER_FILE, "Policy file paths", "policy_file", false},
	{SB_TIER_FLAG, "Command-line paths", "command_line", true},
};

static char *source_file(const struct sb_setup *setup, enum sb_tier tier)
{
	switch (tier) {
	case SB_TIER_SYSTEM:
		return strdup(SB_SYSTEM_CONFIG);
	case SB_TIER_GLOBAL:
		return sb_global_config(&setup->home);
	case SB_TIER_DIRECTORY:
		return sb_directory_config(&setup->home, setup->home.cwd);
	default:
		return NULL;
	}
}

static size_t count_listed(const struct sb_setup *setup, enum sb_tier tier)
{
	size_t count = 0;

	for (size_t i = 0; i < setup->listed_count; i++)
		count += setup->listed[i].tier == tier;
	return count;
}

static void list_text(const struct sb_setup *setup, struct sb_buf *out)
{
	sb_buf_puts(out, "Current directory: ");
	puts_safe(out, setup->home.cwd);
	sb_buf_puts(out, sb_policy_mode(setup->policy) == SB_MODE_READ_ONLY
				 ? " (read-only mode)\n"
				 : " (always writable)\n");
	for (size_t i = 1; setup->projects[i]; i++) {
		sb_buf_puts(out, "Project: ");
		puts_safe(out, setup->projects[i]);
		sb_buf_putc(out, '\n');
	}
	for (size_t s = 0; s < sizeof sources / sizeof sources[0]; s++) {
		SB_AUTO_FREE char *file = source_file(setup, sources[s].tier);
		size_t count = count_listed(setup, sources[s].tier);

		if (!count && !sources[s].always)
			continue;
		sb_buf_printf(out, "\n%s", sources[s].title);
		if (file) {
			sb_buf_puts(out, " (from ");
			puts_safe(out, file);
			sb_buf_putc(out, ')');
		}
		sb_buf_puts(out, ":\n");
		for (size_t i = 0; i < setup->listed_count; i++) {
			const struct sb_listed *listed = &setup->listed[i];
			SB_AUTO_BUF struct sb_buf rule = SB_BUF(SB_OUTPUT_LIMIT);

			if (listed->tier != sources[s].tier)
				continue;
			sb_rule_print_whole(&(struct sb_rule){.access = listed->access,
							      .fast = listed->fast,
							      .pattern = listed->pattern},
					    &rule);
			sb_buf_puts(out, "  ");
			/* a bare path is writable, as in the file */
			puts_safe(out,
				  strncmp(rule.data, "write ", 6) == 0 ? rule.data + 6 : rule.data);
			sb_buf_putc(out, '\n');
		}
		if (!count)
			sb_buf_puts(out, "  (none)\n");
	}
}

static void list_json(const struct sb_setup *setup, struct sb_buf *out)
{
	struct sb_json json;

	sb_json_init(&json, out);
	sb_json_open(&json, '{');
	sb_json_pair(&json, "current_directory", setup->home.cwd);
	sb_json_key(&json, "projects");
	sb_json_open(&json, '[');
	for (size_t i = 0; setup->projects[i]; i++)
		sb_json_string(&json, setup->projects[i]);
	sb_json_close(&json, ']');
	for (size_t s = 0; s < sizeof sources / sizeof sources[0]; s++) {
		SB_AUTO_FREE char *file = source_file(setup, sources[s].tier);

		sb_json_key(&json, sources[s].key);
		sb_json_open(&json, '{');
		if (file)
			sb_json_pair(&json, "file", file);
		sb_json_key(&json, "rules");
		sb_json_open(&json, '[');
		for (size_t i = 0; i < setup->listed_count; i++) {
			if (setup->listed[i].tier != sources[s].tier)
				continue;
			sb_json_open(&json, '{');
			sb_json_key(&json, "access");
			sb_json_access(&json, &setup->listed[i].access);
			sb_json_pair(&json, "path", setup->listed[i].pattern);
			if (setup->listed[i].fast)
				sb_json_pair_bool(&json, "fast", true);
			sb_json_close(&json, '}');
		}
		sb_json_close(&json, ']');
		sb_json_close(&json, '}');
	}
	sb_json_close(&json, '}');
}

int sb_cli_list_paths(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct sb_setup setup;
	int status = sb_set_up(line, true, &setup);

	if (status)
		return status;
	if (line->json)
		list_json(&setup, &out);
	else
		list_text(&setup, &out);
	status = sb_print(&out);
	sb_setup_done(&setup);
	return status;
}
