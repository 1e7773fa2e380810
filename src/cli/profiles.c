/*
 * profiles.c - --profiles and --profile-show: what a program gets by its name.
 */
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/list.h"
#include "base/words.h"
#include "cli/cli.h"
#include "policy/text.h"

static char *first_comment(const char *text)
{
	if (text[0] != '#')
		return strdup("");
	text += 1 + strspn(text + 1, " ");
	return strndup(text, strcspn(text, "\n"));
}

static void find_programs(const char *name, const char *text, struct sb_buf *out)
{
	struct sb_text_lines at = sb_text_lines(text, strlen(text));

	sb_buf_puts(out, name);
	while (sb_next_line(&at)) {
		SB_AUTO(sb_line_done) struct sb_line line = {0};

		if (sb_profile_line_parse(at.text, at.length, &line, NULL) != SB_OK)
			continue;
		if (line.kind == SB_LINE_PROGRAM && strcmp(line.text, name) != 0)
			sb_buf_printf(out, " %s", line.text);
	}
}

static void list_one(const char *name, const char *text, const char *file, struct sb_buf *out,
		     struct sb_json *json)
{
	SB_AUTO_BUF struct sb_buf programs = SB_BUF(64 * 1024);
	SB_AUTO_FREE char *what = first_comment(text);

	find_programs(name, text, &programs);
	if (json) {
		sb_json_open(json, '{');
		sb_json_pair(json, "name", name);
		sb_json_pair(json, "programs", programs.data);
		sb_json_pair(json, "about", what);
		sb_json_pair(json, "file", file);
		sb_json_close(json, '}');
		return;
	}
	sb_buf_printf(out, "%-14s ", name);
	sb_escape_append(out, what ? what : "", what ? strlen(what) : 0);
	sb_buf_puts(out, " (");
	if (file)
		sb_escape_puts_name(out, file);
	else
		sb_buf_puts(out, "comes with sandbash");
	sb_buf_puts(out, ")\n");
}

static int list(const struct sb_home *home, struct sb_buf *out, struct sb_json *json,
		struct sb_error *err)
{
	char **names = NULL;
	int status = sb_profile_names(home, &names, err);

	for (size_t i = 0; status == SB_OK && names[i]; i++) {
		SB_AUTO_FREE char *text = NULL, *file = NULL;

		status = sb_profile_text(home, names[i], &text, &file, err);
		if (status == SB_OK)
			list_one(names[i], text, file, out, json);
	}
	sb_list_free(names);
	return status;
}

int sb_cli_profiles(const struct sb_command_line *line)
{
	const struct sb_setup_request request = sb_request(line, true);
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	SB_AUTO_HOME struct sb_home home = {0};
	struct sb_json json;
	struct sb_error err;
	int status = sb_home_find(&request.environment, &home, &err);

	if (line->json) {
		json = sb_json_object(&out);
		sb_json_open_at(&json, "profiles", '[');
	}
	if (status == SB_OK)
		status = list(&home, &out, line->json ? &json : NULL, &err);
	if (line->json) {
		sb_json_close(&json, ']');
		sb_json_close(&json, '}');
	}
	return status == SB_OK ? sb_print(&out) : sb_report(&err);
}

int sb_cli_profile_show(const struct sb_command_line *line)
{
	const struct sb_setup_request request = sb_request(line, true);
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	SB_AUTO_FREE char *text = NULL, *file = NULL;
	SB_AUTO_HOME struct sb_home home = {0};
	struct sb_error err;
	int status = sb_home_find(&request.environment, &home, &err);

	if (status == SB_OK)
		status = sb_profile_text(&home, line->action_value, &text, &file, &err);
	if (status != SB_OK)
		return sb_report(&err);
	sb_buf_puts(&out, "# from ");
	if (file)
		sb_escape_puts_name(&out, file);
	else
		sb_buf_puts(&out, "sandbash itself");
	sb_buf_printf(&out, "\n%s", text);
	return sb_print(&out);
}

void sb_tools_print(const struct sb_profile *profile, const char *label, struct sb_buf *out)
{
	for (size_t i = 0; i < profile->tool_count; i++) {
		sb_buf_puts(out, i ? ", " : label);
		sb_escape_puts(out, profile->tools[i]);
	}
	if (profile->tool_count)
		sb_buf_putc(out, '\n');
}
