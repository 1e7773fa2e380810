/*
 * preview.c - --preview: what a shell command would do to files.
 */
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "sandbash/preview.h"

extern char **environ;

static void put_json(const struct sb_preview *preview, struct sb_buf *out)
{
	struct sb_json json = sb_json_object(out);

	sb_json_open_at(&json, "files", '[');
	for (size_t i = 0; i < preview->file_count; i++) {
		const struct sb_preview_file *file = &preview->files[i];

		sb_json_open(&json, '{');
		sb_json_pair(&json, "path", file->path);
		sb_json_pair(&json, "act", sb_preview_act_name(file->act));
		sb_json_pair(&json, "certainty", sb_certainty_name(file->certainty));
		sb_json_pair(&json, "by", file->by);
		sb_json_close(&json, '}');
	}
	sb_json_close(&json, ']');
	sb_json_strings(&json, "programs", preview->programs, preview->program_count);
	sb_json_pair(&json, "network", sb_preview_network_name(preview->network));
	sb_json_strings(&json, "unknown", preview->unknown, preview->unknown_count);
	sb_json_close(&json, '}');
}

static void put_list(struct sb_buf *out, const char *label, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		sb_buf_puts(out, i ? ", " : label);
		sb_escape_puts_name(out, words[i]);
	}
	if (count)
		sb_buf_putc(out, '\n');
}

static void put_text(const struct sb_preview *preview, struct sb_buf *out)
{
	for (size_t i = 0; i < preview->file_count; i++) {
		const struct sb_preview_file *file = &preview->files[i];

		sb_buf_printf(out, "%-7s %-9s ", sb_preview_act_name(file->act),
			      sb_certainty_name(file->certainty));
		sb_escape_puts_name(out, file->path);
		sb_escape_put_name(out, "  by: ", file->by, "\n");
	}
	put_list(out, "programs: ", preview->programs, preview->program_count);
	sb_buf_printf(out, "network: %s\n", sb_preview_network_name(preview->network));
	for (size_t i = 0; i < preview->unknown_count; i++)
		sb_escape_put_name(out, "unknown: ", preview->unknown[i], "\n");
	if (preview->problem)
		sb_buf_printf(out, "cannot be read: line %zu: %s\n", preview->problem_line,
			      preview->problem);
}

int sb_cli_preview(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	SB_AUTO_FREE char *directory = getcwd(NULL, 0);
	const struct sb_preview_options options = {
		.size = sizeof options,
		.directory = directory && directory[0] == '/' ? directory : NULL,
		.home = sb_own_variable("HOME"),
		.environment = (const char *const *)environ,
	};
	struct sb_preview *preview;
	struct sb_error err;

	if (sb_preview(line->action_value, strlen(line->action_value), &options, &preview, &err) !=
	    SB_OK)
		return sb_report(&err);
	if (line->json)
		put_json(preview, &out);
	else
		put_text(preview, &out);
	sb_preview_free(preview);
	return sb_print(&out);
}
