/*
 * keeper_child.c - one operation that was approved, in a process of its own.
 *
 * The process has the keeper's view of the machine and ends after one call.  Its consent
 * callback says yes to what the session's grants cover and to what was answered for this very
 * call; at anything else the call stops, and what it was about goes back as the next question.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/write.h"
#include "mcp/keeper/keeper_child.h"
#include "mcp/tools/tools.h"
#include "mcp/wire/rpc.h"

#define MAX_CHANGES 3 /* that often it is asked about again: as supervise/pending.h */

/* How often was a yes to something else at this path: other bytes, a directory with other things in it? */
static unsigned outdated(const struct child *child, const struct keeper_subject *subject)
{
	unsigned count = 0;

	for (const struct keeper_approval *one = child->perform->approvals; one; one = one->next)
		count += one->yes && one->subject.op == subject->op &&
			 strcmp(one->path, subject->path) == 0 && one->subject.bytes[0] &&
			 subject->bytes[0] && strcmp(one->subject.bytes, subject->bytes) != 0;
	return count;
}

/* The path alone does not tell where it goes, or what gets its name. */
static void add_other(json_t *notes, const struct sb_files_question *question)
{
	char shown[PATH_MAX], text[PATH_MAX + 64];
	bool moves = question->call == SB_FILES_MOVE;

	if (!question->other)
		return;
	snprintf(text, sizeof text, "it is %s '%s'",
		 question->op == SB_DELETE ? "moved to"
		 : moves                   ? "moved from"
					   : "a copy of",
		 sb_escape_line(shown, sizeof shown, question->other));
	sb_child_note(notes, text);
}

static void add_link(json_t *notes, const char *target)
{
	SB_AUTO_BUF struct sb_buf shown = SB_BUF(4 * PATH_MAX + 64);

	sb_escape_put_name(&shown, "it is a link, which leads to '", target, "'");
	sb_child_note(notes, sb_buf_failed(&shown) ? "it is a link" : shown.data);
}

static const char *why_text(enum sb_files_why why)
{
	switch (why) {
	case SB_FILES_WHY_OUTSIDE:
		return "it lies outside the allowed directories";
	case SB_FILES_WHY_MOUNT:
		return "another filesystem is mounted there";
	case SB_FILES_WHY_HARD_LINK:
		return "the file has other names";
	case SB_FILES_WHY_GUARDED:
		return "a program outside would run or obey it later";
	case SB_FILES_WHY_IGNORED:
		return "git ignores it, so git cannot bring it back";
	default:
		return NULL;
	}
}

/* What is made, changed or removed; where something is moved or copied, that. */
static enum sb_thing thing_of(const struct sb_files_question *question)
{
	if (question->leads_to)
		return SB_THING_LINK;
	if (question->call == SB_FILES_MKDIR || question->whole)
		return SB_THING_DIRECTORY;
	return sb_child_thing(question->other && question->op != SB_DELETE ? question->other
									   : question->path);
}

/* What it is about, and all there is to say to it; a list that is to be freed. */
static json_t *look_at(const struct child *child, const struct sb_files_question *question,
		       struct keeper_subject *out)
{
	const char *reason = question->reason ? question->reason : why_text(question->why);
	const struct sb_guard_bytes bytes = {question->content, question->content_length};
	const struct sb_guard_row *row = NULL;
	json_t *notes = json_array();

	*out = (struct keeper_subject){
		.op = question->op, .thing = thing_of(question), .path = question->path};
	if (question->content)
		sb_sha256_hex(question->content, question->content_length, out->bytes);
	else if (question->seal)
		sb_sha256_hex(question->seal, strlen(question->seal), out->bytes);
	else if (question->leads_to)
		sb_sha256_hex(question->leads_to, strlen(question->leads_to) + 1, out->bytes);
	out->guarded =
		sb_child_is_guarded(child, question->op, question->path, &bytes, notes, &row);
	out->guarded |= question->why == SB_FILES_WHY_GUARDED;
	out->by_itself = question->by_itself;
	/* of a worker's directory that is why it is asked, and no note */
	if (reason && (!row || strcmp(reason, row->why) != 0) && !child->keeper->options->worker)
		sb_child_note(notes, reason);
	if (question->found && !sb_child_says_content(row, question->content))
		sb_child_note_lines(notes, question->found);
	add_other(notes, question);
	if (question->whole)
		sb_child_note_lines(notes, question->whole);
	if (question->leads_to)
		add_link(notes, question->leads_to);
	if (outdated(child, out))
		sb_child_note(notes, "it has changed since you said yes");
	/* the gravest reason is given: that it lies outside may be another */
	if (!question->root && question->why != SB_FILES_WHY_OUTSIDE)
		sb_child_note(notes, why_text(SB_FILES_WHY_OUTSIDE));
	return notes;
}

static void put_question(struct child *child, const struct sb_files_question *question,
			 const struct keeper_subject *subject, json_t *notes)
{
	child->question = json_pack("{s:i, s:o, s:b, s:i, s:s, s:o}", "op", question->op, "path",
				    sb_rpc_string(question->path), "guarded", subject->guarded,
				    "thing", subject->thing, "bytes", subject->bytes, "notes",
				    json_incref(notes));
	sb_put_text(child->question, "rule",
		    child->keeper->options->worker ? question->reason
		    : question->rule               ? question->rule->origin
						   : NULL);
	if (question->directory && !subject->guarded && !subject->by_itself &&
	    (child->keeper->options->worker ||
	     sb_keeper_may_open(child->keeper, question->op, question->path, question->directory)))
		sb_put_text(child->question, "directory", question->directory);
	sb_child_show(child, question->old, question->old_length, question->content,
		      question->content_length);
}

/* What was allowed, for the record: as of a command (supervise/record.c), from where to where. */
static json_t *used_by(const struct sb_files_question *question,
		       const struct keeper_subject *subject, const char *by)
{
	json_t *used = json_pack("{s:s, s:o, s:s}", "op", sb_op_name(question->op), "path",
				 sb_rpc_string(question->path), "by", by);

	sb_put_text(used, question->op == SB_DELETE ? "to" : "from", question->other);
	sb_put_text(used, "rule", question->rule ? question->rule->origin : NULL);
	sb_put_text(used, "content", question->content ? subject->bytes : NULL);
	return used;
}

static enum sb_files_answer consent(void *context, const struct sb_files_question *question)
{
	struct child *child = context;
	struct keeper_subject subject;
	json_auto_t *path = json_string(question->path), *notes = NULL;
	enum sb_answer answer;

	/* a name that is no text could not be shown as it is, nor an answer be about it */
	if (!path)
		return SB_FILES_ANSWER_NO;
	notes = look_at(child, question, &subject);
	answer = child->keeper->options->worker ? sb_keeper_worker_known(child, &subject)
						: sb_child_known(child, &subject);
	if (answer == SB_ANSWER_NONE && outdated(child, &subject) >= MAX_CHANGES) {
		child->changed = true;
		answer = SB_ANSWER_DENY;
	}
	if (answer == SB_ANSWER_NONE && !child->question && !child->perform->nobody)
		put_question(child, question, &subject, notes);
	if (answer == SB_ANSWER_DENY)
		return SB_FILES_ANSWER_NO;
	if (answer == SB_ANSWER_NONE)
		return child->perform->nobody ? SB_FILES_ANSWER_NOBODY : SB_FILES_ANSWER_LATER;
	json_array_append_new(child->used, used_by(question, &subject,
						   answer == SB_ANSWER_ONCE ? "once" : "grant"));
	return SB_FILES_ANSWER_YES;
}

/* F7 */
static void audit(void *context, const struct sb_files_event *event)
{
	struct child *child = context;
	bool allowed = event->verdict == SB_ALLOW;
	json_t *told;

	if (allowed)
		child->allowed_count[event->op]++;
	if (allowed ? !sb_policy_get(child->keeper->options->setup->policy, SB_SETTING_LOG_ALLOWED)
		    : event->done)
		return;
	told = json_pack("{s:s, s:o}", "op", sb_op_name(event->op), "path",
			 sb_rpc_string(event->path));
	sb_put_text(told, "given", event->given);
	sb_put_text(told, "rule", event->rule ? event->rule->origin : NULL);
	if (event->verdict == SB_ASK && child->perform->nobody)
		json_object_set_new(told, "by", json_string("nobody"));
	if (sb_decision_is_quiet(&(struct sb_decision){event->verdict, event->rule}, event->op))
		json_object_set_new(told, "by", json_string("quiet"));
	json_array_append_new(allowed ? child->allowed : child->refused, told);
}

static json_t *counts(const unsigned long count[SB_OP_COUNT])
{
	json_t *list = json_array();

	for (int op = 0; op < SB_OP_COUNT; op++)
		json_array_append_new(list, json_integer((json_int_t)count[op]));
	return list;
}

static void write_out(int fd, json_t *value)
{
	SB_AUTO_FREE char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;

	if (text && sb_write_all(fd, text, strlen(text)) != 0)
		_exit(1);
}

_Noreturn void sb_keeper_child(const struct keeper *keeper, const struct keeper_perform *perform,
			       int report)
{
	const struct sb_tool *tool = sb_tool_find(perform->tool);
	const struct sb_setup *setup = keeper->options->setup;
	struct child child = {.keeper = keeper,
			      .perform = perform,
			      .used = json_array(),
			      .refused = json_array(),
			      .allowed = json_array()};
	struct sb_files_options options = sb_files_for(&setup->home, consent, audit, &child);
	struct sb_files_caller caller = {.size = sizeof caller, .tool = perform->tool};
	struct sb_tool_call call = {
		.policy = setup->policy, .args = perform->args, .worker = keeper->options->worker};
	const char *const *roots =
		call.worker ? sb_tool_worker_view(call.worker, &options)
			    : (const char *const *)sb_keeper_roots(keeper, perform->roots);
	json_t *result, *told;

	/* nobody waits for what it finds without the keeper; a change ends whole */
	if ((tool->hints & SB_TOOL_READS) && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
		_exit(1);
	if (!roots)
		_exit(1);
	if (sb_tools_open_view(setup->policy, roots, &options, &call.view, &call.err) != 0) {
		result = sb_tool_files_error(&call.err);
	} else if (tool->run) {
		if (tool->kind == SB_TOOL_KEEPER) {
			call.grants = call.worker ? sb_keeper_worker_grants(keeper)
						  : sb_ahead_grants(keeper);
			call.said = call.worker ? sb_keeper_worker_said : sb_ahead_said;
			call.context = &child;
		}
		result = sb_tool_run(tool, &call, &caller);
	} else {
		result = sb_tool_is_git(tool) ? sb_git_request(&child, &call, &options)
			 : strcmp(tool->name, "open_project") == 0
				 ? sb_project_request(&child, &call)
				 : sb_ahead_request(&child, &call);
	}
	if (child.changed) {
		json_decref(result);
		result = sb_tool_failure(
			"CHANGED",
			"what the user was asked about changed again and again while they were asked",
			"Wait until nothing writes there any more, then repeat the call.", true,
			NULL);
	}
	write_out(perform->result, result);
	told = json_pack("{s:o, s:o, s:i, s:o, s:o, s:b}", "allowed", child.allowed, "count",
			 counts(child.allowed_count), "code", call.err.code, "used", child.used,
			 "refused", child.refused, "failed", sb_get_true(result, "isError"));
	if (child.question && call.err.code == SB_FILES_NEEDS_CONSENT)
		json_object_set_new(told, "question", child.question);
	json_object_set_new(told, "open", child.open);
	write_out(report, told);
	_exit(0);
}
