/* run_result.c - what is told about a run: progress while it goes on, its result, a list. */
#include <stdio.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/clock.h"
#include "mcp/server/server.h"

#define PROGRESS_MS 100   /* at most ten a second */
#define PROGRESS_MAX 4000 /* bytes of output in one */

static json_int_t duration(const struct sb_mcp_run *run)
{
	return (run->ended ? run->ended_ms : sb_now_ms()) - run->started_ms;
}

void sb_run_progress(struct sb_mcp *mcp, struct sb_mcp_run *run, int64_t now)
{
	struct sb_mcp_call *call = run->call;
	char text[PROGRESS_MAX];
	size_t length = 0;
	json_t *params;

	if (!call || !call->progress || call->state != SB_CALL_RUN ||
	    (now != INT64_MAX && now - run->told_ms < PROGRESS_MS))
		return;
	for (int i = 0; i < 2; i++) {
		uint64_t total = run->spools[i].total, from = run->told[i], at;

		/* of a flood only the end is worth showing */
		if (total - from > PROGRESS_MAX / 2)
			from = total - PROGRESS_MAX / 2;
		length +=
			sb_spool_read(&run->spools[i], from, text + length, PROGRESS_MAX / 2, &at);
		run->told[i] = total;
	}
	if (!length)
		return;
	run->told_ms = now == INT64_MAX ? sb_now_ms() : now;
	params = json_pack("{s:O, s:I, s:o}", "progressToken", call->progress, "progress",
			   (json_int_t)run->told[0] + (json_int_t)run->told[1], "message",
			   sb_rpc_text(text, length));
	sb_out_send(mcp->out, sb_rpc_notification("notifications/progress", params));
}

static const char *state_of(const struct sb_mcp_run *run)
{
	if (run->failed)
		return "failed";
	return run->ended ? "exited" : "running";
}

/* For a model that reads only text. */
static void put_text(const struct sb_mcp_run *run, const json_t *out, const json_t *err,
		     struct sb_buf *text)
{
	sb_buf_append(text, json_string_value(out), json_string_length(out));
	if (json_string_length(err)) {
		sb_buf_printf(text, "%s[stderr]\n", text->length ? "\n" : "");
		sb_buf_append(text, json_string_value(err), json_string_length(err));
	}
	if (text->length && text->data[text->length - 1] != '\n')
		sb_buf_putc(text, '\n');
	if (run->error)
		sb_buf_printf(text, "%s: %s\n%s", sb_get_text(run->error, "code"), run->failed,
			      sb_get_text(run->error, "model"));
	else if (run->failed)
		sb_buf_printf(text, "[could not be started: %s]", run->failed);
	else if (run->timed_out)
		sb_buf_puts(text, "[ended: its time was up]");
	else if (run->ended)
		sb_buf_printf(text, "[exit code %d]", run->status);
	else
		sb_buf_printf(text, "[running: %s]", run->id);
	sb_run_put_refused(run, text);
}

/* What a person should look at although nothing was refused. */
static void put_notes(const struct sb_mcp_run *run, struct sb_buf *text)
{
	const json_t *notes = json_object_get(run->report, "notes");
	json_t *line;
	size_t i;

	json_array_foreach(notes, i, line)
		sb_buf_printf(text, "\n[note: %s]", json_string_value(line));
}

static json_t *link_to(const struct sb_mcp_run *run, int stream)
{
	char uri[80];

	snprintf(uri, sizeof uri, "sandbash://run/%s/%s", run->id, stream ? "stderr" : "stdout");
	return json_pack("{s:s, s:s, s:s, s:s}", "type", "resource_link", "uri", uri, "name",
			 stream ? "stderr" : "stdout", "mimeType", "text/plain");
}

json_t *sb_run_result(const struct sb_mcp_run *run, uint64_t out_offset, uint64_t err_offset)
{
	bool cut_out, cut_err;
	json_t *out = sb_spool_text(&run->spools[0], out_offset, run->output_limit, &cut_out),
	       *err = sb_spool_text(&run->spools[1], err_offset, run->output_limit, &cut_err);
	json_t *facts, *result;
	SB_AUTO_BUF struct sb_buf text = SB_BUF(8 * 1024 * 1024);

	put_text(run, out, err, &text);
	put_notes(run, &text);
	facts = json_pack("{s:s, s:s, s:b, s:b, s:o, s:o, s:I, s:I, s:I, s:I, s:b, s:I, s:I}",
			  "runId", run->id, "state", state_of(run), "timedOut", run->timed_out,
			  "stopped", run->stopped, "stdout", out, "stderr", err, "stdoutBytes",
			  (json_int_t)run->spools[0].total, "stderrBytes",
			  (json_int_t)run->spools[1].total, "stdoutOffset",
			  (json_int_t)run->spools[0].total, "stderrOffset",
			  (json_int_t)run->spools[1].total, "truncated", cut_out || cut_err,
			  "durationMs", duration(run), "refusedCount",
			  json_integer_value(json_object_get(run->report, "refused")));
	if (run->ended && !run->failed)
		json_object_set_new(facts, "exitCode", json_integer(run->status));
	json_object_set_new(facts, "refused", sb_run_refused(run));
	if (json_array_size(json_object_get(run->report, "notes")))
		json_object_set(facts, "notes", json_object_get(run->report, "notes"));
	sb_put_text(facts, "attach", sb_run_lacked_person(run) ? run->attach : NULL);
	sb_put_text(facts, "session", run->session);
	if (run->error)
		json_object_set(facts, "error", run->error);
	else if (run->failed)
		json_object_set_new(facts, "error",
				    json_pack("{s:s, s:s, s:s, s:b}", "code", "SANDBOX_UNAVAILABLE",
					      "person", run->failed, "model",
					      "The command was not run.", "violation", 0));
	result = sb_tool_said(&text, facts);
	if (cut_out)
		json_array_append_new(json_object_get(result, "content"), link_to(run, 0));
	if (cut_err)
		json_array_append_new(json_object_get(result, "content"), link_to(run, 1));
	if (run->failed)
		json_object_set_new(result, "isError", json_true());
	return result;
}

json_t *sb_run_list(const struct sb_mcp *mcp)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(1024 * 1024);
	json_t *runs = json_array();

	for (const struct sb_mcp_run *run = mcp->runs; run; run = run->next) {
		sb_buf_printf(&text, "%s %s: %.200s\n", run->id, state_of(run), run->command);
		json_array_append_new(runs, json_pack("{s:s, s:s, s:o, s:I}", "runId", run->id,
						      "state", state_of(run), "command",
						      sb_rpc_string(run->command), "durationMs",
						      duration(run)));
	}
	if (!mcp->runs)
		sb_buf_puts(&text, "No commands were run.");
	return sb_tool_said(&text, json_pack("{s:o}", "runs", runs));
}
