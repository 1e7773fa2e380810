
#include "base/escape.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/watch.h"

static const char *const names[] = {
	[SB_WATCH_RUN] = "run",           [SB_WATCH_ENDED] = "ended",
	[SB_WATCH_QUESTION] = "question", [SB_WATCH_WITHDRAWN] = "withdrawn",
	[SB_WATCH_STANDS] = "stands",     [SB_WATCH_FALLS] = "falls",
	[SB_WATCH_NOTICE] = "notice",     [SB_WATCH_RECORD] = "record",
};

/* --- as JSON ------------------------------------------------------------------------- */

static void json_question(const struct sb_question *question, struct sb_json *json)
{
	sb_json_pair(json, "operation", sb_op_name(question->op));
	sb_json_pair(json, "verb", question->verb);
	sb_json_pair(json, "path", question->path);
	if (question->target)
		sb_json_pair(json, "target", question->target);
	if (question->directory)
		sb_json_pair(json, "directory", question->directory);
	if (question->worker)
		sb_json_pair_bool(json, "worker", true);
	sb_json_pair(json, "program", question->program);
	sb_json_pair_int(json, "process", question->process);
	sb_json_pair(json, "rule", question->rule);
	sb_json_strings(json, "notes", question->notes, SB_QUESTION_NOTES);
}

static void print_json(const struct sb_watch_event *event, struct sb_buf *out)
{
	struct sb_json json;

	if (event->kind == SB_WATCH_RECORD) { /* as --log --json prints it */
		sb_record_print(event->record, out);
		sb_record_print_tail(event->record->hash, out);
		return;
	}
	sb_json_init_compact(&json, out);
	sb_json_open(&json, '{');
	sb_json_pair(&json, "event", names[event->kind]);
	sb_json_pair(&json, "session", event->run->running.session);
	if (event->kind == SB_WATCH_RUN) {
		sb_json_pair_bool(&json, "reached", event->id);
		sb_json_pair_int(&json, "process", event->run->running.process);
		sb_json_pair(&json, "mode", event->run->running.mode);
		sb_json_pair(&json, "directory", event->run->running.directory);
		sb_json_pair(&json, "command", event->run->running.command);
		sb_json_pair_bool(&json, "asks", event->run->asks);
	} else if (event->id) {
		sb_json_pair_int(&json, "id", (long)event->id);
	}
	if (event->kind == SB_WATCH_STANDS)
		sb_json_pair(&json, "answer", sb_answer_name(event->answer));
	if (event->question)
		json_question(event->question, &json);
	if (event->text && event->kind != SB_WATCH_RUN)
		sb_json_pair(&json, "text", event->text);
	else if (event->text && !event->id)
		sb_json_pair(&json, "why", event->text);
	sb_json_close(&json, '}'); /* ends the line */
}

/* --- as text -------------------------------------------------------------------------- */

static void print_text(const struct sb_watch_event *event, struct sb_buf *out)
{
	const struct sb_running *running = event->run ? &event->run->running : NULL;

	if (event->kind == SB_WATCH_RECORD) {
		sb_log_text(event->record, out);
		return;
	}
	sb_buf_printf(out, "%s %s", running->session, names[event->kind]);
	if (event->id && event->kind != SB_WATCH_RUN)
		sb_buf_printf(out, " %lu", event->id);
	if (event->kind == SB_WATCH_RUN || event->kind == SB_WATCH_ENDED) {
		/* both were escaped when they were written down; a file can be written to */
		sb_escape_put(out, ": ", running->command, " in ");
		sb_escape_puts(out, running->directory);
	}
	if (event->question) {
		sb_escape_put_name(out, ": ", event->question->program, "");
		sb_question_wants(event->question, out);
	}
	if (event->text && !(event->kind == SB_WATCH_RUN && event->id))
		sb_escape_put(out, ": ", event->text, "");
	sb_buf_putc(out, '\n');
}

void sb_lines_tell(void *context, const struct sb_watch_event *event)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	struct sb_lines_out *lines = context;

	if (lines->json)
		print_json(event, &out);
	else
		print_text(event, &out);
	if (!lines->status)
		lines->status = sb_print(&out);
}
