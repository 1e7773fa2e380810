/*
 * print_profile.c - --print-profile: the rules as a profile for the sandbox of macOS, on any system.
 */
#include "base/auto.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "enforce/darwin_profile.h"

/* As sandbox-exec takes them.  A quoted newline is written \x0a, so no value ends its comment. */
static void put_text(const struct sb_seatbelt *seatbelt, struct sb_buf *out)
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

static void put_json(const struct sb_seatbelt *seatbelt, struct sb_buf *out)
{
	struct sb_json json;

	sb_json_init(&json, out);
	sb_json_open(&json, '{');
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
	(line->json ? put_json : put_text)(&seatbelt, &out);
	sb_seatbelt_done(&seatbelt);
	return sb_print(&out);
}
