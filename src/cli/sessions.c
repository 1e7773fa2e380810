/*
 * sessions.c - sessions that keep answers: listing and forgetting them.
 */
#include <stdio.h>
#include <time.h>

#include "cli/cli.h"
#include "consent/session.h"

struct listing {
	struct sb_buf *out;
	struct sb_json *json; /* NULL: text */
	size_t count;
};

static int found(void *context, const char *name, long answers, time_t changed,
		 struct sb_error *err)
{
	struct listing *listing = context;
	char when[32] = "";
	struct tm broken;

	(void)err;
	if (gmtime_r(&changed, &broken))
		strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &broken);
	listing->count++;
	if (!listing->json) {
		sb_buf_printf(listing->out, "%-24s ", name);
		if (answers < 0)
			sb_buf_puts(listing->out, "cannot be read");
		else
			sb_buf_printf(listing->out, "%ld answer%s", answers,
				      answers == 1 ? "" : "s");
		sb_buf_printf(listing->out, "  %s\n", when);
		return SB_OK;
	}
	sb_json_open(listing->json, '{');
	sb_json_pair(listing->json, "name", name);
	sb_json_pair_int(listing->json, "answers", answers);
	sb_json_pair(listing->json, "changed", when);
	sb_json_close(listing->json, '}');
	return SB_OK;
}

static int forget(const struct sb_setup *setup, const char *name)
{
	struct sb_error err;

	if (sb_session_forget(setup->home.state_dir, name, &err) != SB_OK)
		return sb_report(&err);
	printf("forgot the session '%s'\n", name);
	return 0;
}

int sb_cli_sessions(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct listing listing = {.out = &out};
	struct sb_setup setup = {0};
	struct sb_json json;
	struct sb_error err;
	int status = sb_set_up(line, true, &setup);

	if (!status && line->forget) {
		status = forget(&setup, line->forget);
	} else if (!status) {
		if (line->json) {
			sb_json_init(&json, &out);
			listing.json = &json;
			sb_json_open(&json, '[');
		}
		if (sb_session_list(setup.home.state_dir, found, &listing, &err) != SB_OK)
			status = sb_report(&err);
		if (line->json)
			sb_json_close(&json, ']');
		else if (!listing.count)
			sb_buf_puts(&out, "no session keeps answers\n");
		if (!status)
			status = sb_print(&out);
	}
	sb_setup_done(&setup);
	return status;
}
