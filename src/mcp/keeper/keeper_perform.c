/* keeper_perform.c - calls that the server may not do: tried, asked about, tried again. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "mcp/keeper/keeper_impl.h"
#include "mcp/tools/tools.h"
#include "mcp/wire/rpc.h"

#define MAX_PERFORMS 64 /* calls that wait at one time */
#define MAX_ROUNDS 64   /* questions of one call */
/* Every path of a call may be in it, as often as the call has it. */
#define REPORT_MAX ((size_t)4 * SB_RPC_LINE_MAX)

static void free_perform(struct keeper *keeper, struct keeper_perform *perform)
{
	SB_UNLINK(keeper->performs, perform);
	sb_approvals_free(perform->approvals);
	json_decref(perform->args);
	json_decref(perform->roots);
	free(perform->tool);
	sb_auto_close(&perform->report);
	sb_auto_close(&perform->result);
	free(perform);
}

/* Hand the result over; nobody: it stopped at a question that nobody can be asked. */
static void finish(struct keeper *keeper, struct keeper_perform *perform, bool nobody,
		   json_t *opened)
{
	json_t *message = sb_rpc_about("performed", "call", perform->call);
	char attach[SB_KEEPER_WAY_IN];

	if (nobody && sb_keeper_way_in(keeper, attach)) {
		json_object_set_new(message, "nobody", json_true());
		json_object_set_new(message, "declined", json_boolean(perform->declined));
		json_object_set_new(message, "attach", json_string(attach));
	}
	if (opened)
		json_object_set(message, "opened", opened);
	if (perform->cancelled)
		json_decref(message);
	else
		sb_link_send(&keeper->link, message, &perform->result, 1);
	free_perform(keeper, perform);
}

/* Could not even be tried. */
static void fail(struct keeper *keeper, struct keeper_perform *perform)
{
	sb_keeper_tell(keeper, json_pack("{s:s, s:I, s:b}", "k", "performed", "call",
					 (json_int_t)perform->call, "failed", 1));
	free_perform(keeper, perform);
}

static void start(struct keeper *keeper, struct keeper_perform *perform)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		fail(keeper, perform);
		return;
	}
	sb_auto_close(&perform->result);
	perform->result = memfd_create("result", MFD_CLOEXEC);
	perform->child = perform->result < 0 ? -1 : fork();
	if (perform->child == 0)
		sb_keeper_child(keeper, perform, ends[1]);
	close(ends[1]);
	perform->report = ends[0];
	if (perform->child < 0) {
		perform->child = 0;
		fail(keeper, perform);
	}
}

void sb_keeper_perform(struct keeper *keeper, const json_t *message)
{
	const char *tool = sb_get_text(message, "tool");
	json_t *args = json_object_get(message, "arguments");
	const struct sb_tool *found = tool ? sb_tool_find(tool) : NULL;
	struct keeper_perform *perform;
	size_t count = 0;

	for (perform = keeper->performs; perform; perform = perform->next)
		count++;
	perform = calloc(1, sizeof *perform);
	if (!perform)
		return;
	*perform = (struct keeper_perform){
		.call = sb_get_number(message, "call"),
		.tool = tool ? strdup(tool) : NULL,
		.args = json_incref(args),
		.roots = json_incref(json_object_get(message, "roots")),
		.elicit = sb_keeper_elicits(keeper, message),
		.nobody = keeper->options->line->consent == SB_CONSENT_DENY,
		.report = -1,
		.result = -1,
		.next = keeper->performs,
	};
	keeper->performs = perform;
	sb_keeper_open_record(keeper);
	/* the same check as the server's: its word is not enough */
	if (!perform->tool || !found || found->kind == SB_TOOL_SERVER || count >= MAX_PERFORMS ||
	    !sb_tool_worker_has(keeper->options->worker, found) ||
	    sb_tool_check(found, keeper->options->worker, args, NULL) != SB_OK)
		fail(keeper, perform);
	else
		start(keeper, perform);
}

void sb_keeper_cancel(struct keeper *keeper, unsigned long call)
{
	for (struct keeper_perform *perform = keeper->performs; perform; perform = perform->next) {
		if (perform->call != call)
			continue;
		if (perform->question)
			sb_keeper_withdraw(keeper, perform->question, "the call was cancelled");
		perform->cancelled = true; /* a change that is under way ends whole */
		if (!perform->child)
			free_perform(keeper, perform);
		else if (sb_tool_find(perform->tool)->hints & SB_TOOL_READS)
			kill(perform->child, SIGKILL);
		return;
	}
}

/* --- what came of a try -------------------------------------------------------------------------- */

/* What rules, or a person, refused; and what rules allowed, where that is recorded. */
static void record_ruled(struct keeper *keeper, const struct keeper_perform *perform,
			 const json_t *list, bool allowed)
{
	size_t i;
	json_t *refused;

	json_array_foreach(list, i, refused)
	{
		struct sb_event event =
			sb_keeper_event(allowed ? SB_EVENT_ALLOW : SB_EVENT_DENY, refused);

		event.question = allowed ? 0 : perform->asked;
		event.act = perform->tool;
		event.directory = keeper->options->setup->home.cwd;
		sb_keeper_record(keeper, &event);
	}
}

/* All of them, or it is another question.  The texts stay asked's. */
static bool take_notes(const json_t *notes, struct sb_question *out)
{
	const json_t *note;
	size_t i;

	if (json_array_size(notes) > SB_QUESTION_NOTES)
		return false;
	json_array_foreach(notes, i, note)
	{
		out->notes[i] = json_string_value(note);
		if (!out->notes[i])
			return false;
	}
	return true;
}

static void ask(struct keeper *keeper, struct keeper_perform *perform, const json_t *asked)
{
	int op = (int)json_integer_value(json_object_get(asked, "op"));
	struct sb_question shown = {
		.op = op >= 0 && op < SB_OP_COUNT ? (enum sb_op)op : SB_MODIFY,
		.path = sb_get_text(asked, "path"),
		.directory = sb_get_text(asked, "directory"),
		.rule = sb_get_text(asked, "rule"),
		.content = sb_get_text(asked, "content"),
		.content_length = sb_get_length(asked, "content"),
		.program = perform->tool,
		.process = getpid(),
		.about = sb_get_true(asked, "guarded")   ? SB_ABOUT_RUN_LATER
			 : sb_get_true(asked, "session") ? SB_ABOUT_PROJECT
			 : sb_get_true(asked, "ahead")   ? SB_ABOUT_AHEAD
			 : sb_get_true(asked, "act")     ? SB_ABOUT_REPO
							 : SB_ABOUT_FILE,
		.verb = sb_get_text(asked, "verb"),
	};
	struct keeper_question *question = NULL;
	struct sb_event event;
	const char *bytes = sb_get_text(asked, "bytes");
	bool whole = take_notes(json_object_get(asked, "notes"), &shown);
	const json_t *one;
	size_t i;

	if (!shown.verb)
		shown.verb = sb_question_verb(shown.op);
	if (shown.path && whole && perform->rounds < MAX_ROUNDS)
		question = sb_keeper_question(keeper, &shown);
	if (!question) {
		finish(keeper, perform, false, NULL);
		return;
	}
	question->perform = perform;
	question->act = sb_get_true(asked, "act");
	json_array_foreach(json_object_get(asked, "ops"), i, one)
		question->ops |= 1U << (json_integer_value(one) & 7);
	question->subject = (struct keeper_subject){
		.op = shown.op,
		.guarded = sb_get_true(asked, "guarded"),
		.thing = (enum sb_thing)json_integer_value(json_object_get(asked, "thing")),
		.path = question->shown.path};
	if (bytes && strlen(bytes) < sizeof question->subject.bytes)
		memcpy(question->subject.bytes, bytes, strlen(bytes) + 1);
	perform->question = question;
	perform->asked = question->shown.id;
	event = sb_keeper_event_of(question, SB_EVENT_ASK, NULL);
	event.rule = shown.rule;
	if (sb_keeper_put(keeper, question, perform->elicit)) {
		sb_keeper_record(keeper, &event);
		return;
	}
	sb_keeper_withdraw(keeper, question, "nobody can be asked");
	perform->nobody = true;
	perform->asked = 0;
	start(keeper, perform); /* once more: the refusal is the call's own */
}

static void record_used(struct keeper *keeper, const struct keeper_perform *perform,
			const json_t *told)
{
	size_t i;
	json_t *used;

	json_array_foreach(json_object_get(told, "used"), i, used)
	{
		const char *path = sb_get_text(used, "path");
		const char *from = sb_get_text(used, "from");
		struct sb_event event = sb_keeper_event(SB_EVENT_PERFORM, used);

		event.question = perform->asked;
		event.act = perform->tool;
		event.directory = keeper->options->setup->home.cwd;
		if (from) {
			event.path = from;
			event.target = path;
		}
		sb_keeper_record(keeper, &event);
		/* what was asked ahead "once" is used up, but not by having asked */
		if (path)
			sb_approvals_remove(&keeper->ahead, sb_op_named(event.op), path);
	}
}

static void record_opened(struct keeper *keeper, const struct keeper_perform *perform,
			  const char *path)
{
	struct sb_event event = {.kind = SB_EVENT_PERFORM,
				 .question = perform->asked,
				 .op = sb_op_name(SB_MODIFY),
				 .act = perform->tool,
				 .path = path,
				 .verdict = "allow",
				 .by = "once"};

	sb_keeper_record(keeper, &event);
}

/* Written at once, just before its end.  Closed here, so that one that is too long ends as well. */
static json_t *read_report(struct keeper_perform *perform)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(REPORT_MAX);
	static char bytes[64 * 1024];
	ssize_t got;

	do {
		got = read(perform->report, bytes, sizeof bytes);
		if (got > 0)
			sb_buf_append(&text, bytes, (size_t)got);
	} while ((got > 0 && !sb_buf_failed(&text)) || (got < 0 && errno == EINTR));
	sb_auto_close(&perform->report);
	perform->report = -1;
	return sb_buf_failed(&text) ? NULL
				    : json_loadb(text.data, text.length, JSON_ALLOW_NUL, NULL);
}

void sb_keeper_perform_report(struct keeper *keeper, struct keeper_perform *perform)
{
	json_auto_t *told = read_report(perform);
	const json_t *question;
	json_t *opened;

	while (waitpid(perform->child, NULL, 0) < 0 && errno == EINTR)
		;
	perform->child = 0;
	perform->rounds++;
	question = json_object_get(told, "question");
	opened = json_object_get(told, "open");
	if (!told) {
		fail(keeper, perform);
	} else if (question && !perform->cancelled) {
		ask(keeper, perform, question);
	} else if (opened && !sb_keeper_open_project(keeper, json_string_value(opened))) {
		fail(keeper, perform);
	} else {
		record_ruled(keeper, perform, json_object_get(told, "refused"), false);
		record_ruled(keeper, perform, json_object_get(told, "allowed"), true);
		sb_keeper_count(keeper, json_object_get(told, "count"));
		if (opened)
			record_opened(keeper, perform, json_string_value(opened));
		if (opened && keeper->session && !keeper->own_session)
			sb_session_keep_project(keeper->session, json_string_value(opened), NULL);
		if (!sb_get_true(told, "failed"))
			record_used(keeper, perform, told);
		finish(keeper, perform, perform->nobody, opened);
	}
}

void sb_keeper_perform_answered(struct keeper *keeper, struct keeper_perform *perform)
{
	start(keeper, perform); /* a no is told by the call itself, in its own words */
}
