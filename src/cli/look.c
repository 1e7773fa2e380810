/*
 * look.c - commands that only look at the rules: --print-policy, --print-profile, --list-paths.
 */
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "enforce/darwin_profile.h"
#include "guard/guard.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/text.h"

static bool is_in_force(const struct sb_policy *policy, const struct sb_guard_row *row)
{
	return !(row->flags & (SB_GUARD_IN_HOME | SB_GUARD_IF_ELSEWHERE)) &&
	       (!(row->flags & SB_GUARD_IF_PROTECTING) || sb_policy_protect_ignored(policy));
}

/*
 * What a supervised run asks about beside the rules.  As comments: who reads the policy back
 * has the same table.
 */
static void guarded_row(const struct sb_guard_row *row, struct sb_buf *out)
{
	const char *harmless = sb_guard_harmless(row->kind);
	size_t start = out->length;

	sb_buf_printf(out, "# %s %s", harmless ? "check" : "ask", row->pattern);
	do
		sb_buf_putc(out, ' ');
	while (!sb_buf_failed(out) && out->length - start < 48);
	sb_buf_printf(out, "# %s: %s", row->who, row->why);
	if (harmless)
		sb_buf_printf(out, "; harmless: %s", harmless);
	sb_buf_putc(out, '\n');
}

static void guarded_text(const struct sb_policy *policy, struct sb_buf *out)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	sb_buf_puts(out, "# guarded at any depth in every writable directory: changes ask, or are "
			 "checked first\n");
	for (size_t i = 0; i < count; i++)
		if (is_in_force(policy, &rows[i]))
			guarded_row(&rows[i], out);
	rows = sb_guard_git_rows(&count);
	sb_buf_puts(out, "# guarded in git directories, from the first row that fits\n");
	for (size_t i = 0; i < count; i++)
		guarded_row(&rows[i], out);
}

void sb_json_guard(struct sb_json *json, const struct sb_guard_row *row)
{
	if (!row) {
		sb_json_string(json, NULL);
		return;
	}
	sb_json_open(json, '{');
	sb_json_pair(json, "pattern", row->pattern);
	sb_json_pair(json, "who", row->who);
	sb_json_pair(json, "why", row->why);
	sb_json_pair(json, "harmless", sb_guard_harmless(row->kind));
	sb_json_close(json, '}');
}

static void guarded_json(const struct sb_policy *policy, struct sb_json *json)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	for (size_t i = 0; i < count; i++)
		if (is_in_force(policy, &rows[i]))
			sb_json_guard(json, &rows[i]);
	rows = sb_guard_git_rows(&count);
	for (size_t i = 0; i < count; i++)
		sb_json_guard(json, &rows[i]);
}

static void policy_json(const struct sb_policy *policy, bool guarded, struct sb_buf *out)
{
	struct sb_json json = sb_json_object(out);

	sb_json_pair(&json, "mode", sb_mode_name(sb_policy_mode(policy)));
	sb_json_pair_bool(&json, "network", sb_policy_network(policy));
	sb_json_network(&json, policy);
	sb_json_pair(&json, "tmp", sb_tmp_name(sb_policy_tmp(policy)));
	sb_json_pair_bool(&json, "protect_ignored", sb_policy_protect_ignored(policy));
	sb_json_pair_bool(&json, "clean_env", sb_policy_clean_env(policy));
	sb_json_rules(&json, policy);
	sb_json_open_at(&json, "guarded", '[');
	if (guarded)
		guarded_json(policy, &json);
	sb_json_close(&json, ']');
	sb_json_close(&json, '}');
}

/* With --within a project is closed but for a part: read back, it would come back open. */
static void print_closed(const struct sb_setup *setup, struct sb_buf *out)
{
	for (size_t i = 0; setup->within && setup->projects[i]; i++) {
		SB_AUTO_FREE char *pattern = sb_pattern_escape(setup->projects[i]);
		bool open = false;

		for (size_t j = 0; setup->within[j]; j++)
			open |= sb_path_within(setup->within[j], setup->projects[i]);
		if (!pattern || open)
			continue;
		sb_rule_print_whole(&(struct sb_rule){.access = sb_access_ask,
						      .tightens = true,
						      .pattern = pattern},
				    out);
		sb_buf_puts(out, "  # --within\n");
	}
}

int sb_cli_print_policy(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	SB_AUTO_SETUP struct sb_setup setup = {0};
	int status = sb_set_up(line, true, &setup);

	if (status)
		return status;
	if (line->json) {
		policy_json(setup.policy, sb_is_guarded(line, &setup), &out);
	} else {
		sb_policy_print(setup.policy, &out);
		print_closed(&setup, &out);
		if (sb_is_guarded(line, &setup))
			guarded_text(setup.policy, &out);
	}
	return sb_print(&out);
}

/* --- --print-profile: as a profile for the sandbox of macOS, on any system ------------------- */

/* As sandbox-exec takes them.  A quoted newline is written \x0a, so no value ends its comment. */
static void profile_text(const struct sb_seatbelt *seatbelt, struct sb_buf *out)
{
	for (size_t i = 0; i < seatbelt->count; i++) {
		SB_AUTO_BUF struct sb_buf word = SB_BUF(SB_OUTPUT_LIMIT);

		sb_buf_printf(&word, "%s=%s", seatbelt->parameters[i].name,
			      seatbelt->parameters[i].value);
		sb_buf_puts(out, "; -D ");
		sb_shell_quote(out, word.data);
		sb_buf_putc(out, '\n');
	}
	sb_buf_append(out, seatbelt->text.data, seatbelt->text.length);
}

static void profile_json(const struct sb_seatbelt *seatbelt, struct sb_buf *out)
{
	struct sb_json json = sb_json_object(out);

	sb_json_pair(&json, "profile", seatbelt->text.data);
	sb_json_open_at(&json, "parameters", '{');
	for (size_t i = 0; i < seatbelt->count; i++)
		sb_json_pair(&json, seatbelt->parameters[i].name, seatbelt->parameters[i].value);
	sb_json_close(&json, '}');
	sb_json_close(&json, '}');
}

int sb_cli_print_profile(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct sb_seatbelt seatbelt;
	SB_AUTO_SETUP struct sb_setup setup = {0};
	struct sb_error err;
	int status = sb_set_up(line, true, &setup);

	if (status)
		return status;
	if (sb_seatbelt_make(&(struct sb_seatbelt_options){.policy = setup.policy}, &seatbelt,
			     &err) != SB_OK)
		return sb_report(&err);
	(line->json ? profile_json : profile_text)(&seatbelt, &out);
	sb_seatbelt_done(&seatbelt);
	return sb_print(&out);
}

/* --- --list-paths --------------------------------------------------------------------------- */

/* The sources of --list-paths, in the order they are shown. */
static const struct {
	enum sb_tier tier;
	const char *title;
	const char *key;
	bool always; /* shown even when it holds nothing */
} sources[] = {
	{SB_TIER_SYSTEM, "System paths", "system", false},
	{SB_TIER_PROFILE, "Profile paths", "profile", false},
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
	case SB_TIER_PROFILE:
		return setup->profile.file ? strdup(setup->profile.file) : NULL;
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
	sb_escape_put_name(out, "Current directory: ", setup->home.cwd, "");
	sb_buf_puts(out, sb_policy_mode(setup->policy) == SB_MODE_READ_ONLY
				 ? " (read-only mode)\n"
				 : " (always writable)\n");
	for (size_t i = 1; setup->projects[i]; i++)
		sb_escape_put_name(out, "Project: ", setup->projects[i], "\n");
	for (size_t s = 0; s < sizeof sources / sizeof sources[0]; s++) {
		SB_AUTO_FREE char *file = source_file(setup, sources[s].tier);
		size_t count = count_listed(setup, sources[s].tier);

		if (!count && !sources[s].always)
			continue;
		sb_buf_printf(out, "\n%s", sources[s].title);
		sb_escape_put_name(out, " (from ", file, ")");
		sb_buf_puts(out, ":\n");
		for (size_t i = 0; i < setup->listed_count; i++) {
			const struct sb_listed *listed = &setup->listed[i];
			SB_AUTO_BUF struct sb_buf rule = SB_BUF(SB_OUTPUT_LIMIT);

			if (listed->tier != sources[s].tier)
				continue;
			sb_rule_print_whole(&(struct sb_rule){.access = listed->access,
							      .fast = listed->fast,
							      .tightens = listed->tightens,
							      .pattern = listed->pattern},
					    &rule);
			sb_buf_puts(out, "  ");
			/* a bare path is writable, as in the file */
			sb_escape_puts(out, strncmp(rule.data, "write ", 6) == 0 ? rule.data + 6
										 : rule.data);
			sb_buf_puts(out, listed->missing ? " (not there yet)\n" : "\n");
		}
		if (!count)
			sb_buf_puts(out, "  (none)\n");
	}
}

static void list_json(const struct sb_setup *setup, struct sb_buf *out)
{
	struct sb_json json = sb_json_object(out);

	sb_json_pair(&json, "current_directory", setup->home.cwd);
	sb_json_strings(&json, "projects", (const char *const *)setup->projects, SIZE_MAX);
	for (size_t s = 0; s < sizeof sources / sizeof sources[0]; s++) {
		SB_AUTO_FREE char *file = source_file(setup, sources[s].tier);

		sb_json_open_at(&json, sources[s].key, '{');
		if (file)
			sb_json_pair(&json, "file", file);
		sb_json_open_at(&json, "rules", '[');
		for (size_t i = 0; i < setup->listed_count; i++) {
			if (setup->listed[i].tier != sources[s].tier)
				continue;
			sb_json_open(&json, '{');
			sb_json_key(&json, "access");
			sb_json_access(&json, &setup->listed[i].access);
			sb_json_pair(&json, "path", setup->listed[i].pattern);
			if (setup->listed[i].fast)
				sb_json_pair_bool(&json, "fast", true);
			if (setup->listed[i].tightens)
				sb_json_pair_bool(&json, "tightens", true);
			if (setup->listed[i].missing)
				sb_json_pair_bool(&json, "missing", true);
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
	SB_AUTO_SETUP struct sb_setup setup = {0};
	int status = sb_set_up(line, true, &setup);

	if (status)
		return status;
	if (line->json)
		list_json(&setup, &out);
	else
		list_text(&setup, &out);
	return sb_print(&out);
}
