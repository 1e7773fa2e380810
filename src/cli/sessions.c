/*
 * sessions.c - sessions that run, and those that keep answers: listing and forgetting them.
 */
#include <stdio.h>
#include <time.h>

#include "cli/cli.h"
#include "base/auto.h"
#include "consent/running.h"
#include "consent/session.h"

struct listing {
	struct sb_buf *out;
	struct sb_json *json; /* NULL: text */
	size_t count;
};

static void print_time(time_t when, char out[32])
{
	struct tm broken;

	out[0] = '\0';
	if (gmtime_r(&when, &broken))
		strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &broken);
}

/* --- those that run ------------------------------------------------------------------ */

void sb_running_print(const struct sb_running *running, struct sb_buf *out)
{
	char since[32];

	print_time(running->started, since);
	sb_buf_printf(out, "%-24s running since %s", running->session, since);
	if (running->name[0])
		sb_buf_printf(out, "  --session=%s", running->name);
	sb_buf_printf(out, "\n    %s\n    in %s\n", running->command, running->directory);
}

static void json_running(const struct sb_running *running, struct sb_json *json)
{
	char since[32];

	print_time(running->started, since);
	sb_json_open(json, '{');
	sb_json_pair_bool(json, "running", true);
	sb_json_pair(json, "session", running->session);
	sb_json_pair(json, "name", running->name[0] ? running->name : NULL);
	sb_json_pair_int(json, "process", running->process);
	sb_json_pair(json, "started", since);
	sb_json_pair(json, "directory", running->directory);
	sb_json_pair(json, "command", running->command);
	sb_json_close(json, '}');
}

static int list_running(const char *state_dir, struct listing *listing, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_running *list = NULL;
	size_t count = 0;
	int status = sb_running_list(state_dir, &list, &count, err);

	for (size_t i = 0; i < count; i++) {
		if (listing->json)
			json_running(&list[i], listing->json);
		else
			sb_running_print(&list[i], listing->out);
	}
	listing->count += count;
	return status;
}

/* --- those that keep answers ----------------------------------------------------------- */

static int found(void *context, const char *name, long answers, time_t changed,
		 struct sb_error *err)
{
	struct listing *listing = context;
	char when[32];

	(void)err;
	print_time(changed, when);
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
	sb_json_pair_bool(listing->json, "running", false);
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
	SB_AUTO_SETUP struct sb_setup setup = {0};
	struct sb_json json;
	struct sb_error err;
	int status = sb_set_up(line, true, &setup);

	if (status)
		return status;
	if (line->forget)
		return forget(&setup, line->forget);
	if (line->json) {
		sb_json_init(&json, &out);
		listing.json = &json;
		sb_json_open(&json, '[');
	}
	if (list_running(setup.home.state_dir, &listing, &err) != SB_OK ||
	    sb_session_list(setup.home.state_dir, found, &listing, &err) != SB_OK)
		return sb_report(&err);
	if (line->json)
		sb_json_close(&json, ']');
	else if (!listing.count)
		sb_buf_puts(&out, "no session is running, and none keeps answers\n");
	return sb_print(&out);
}
