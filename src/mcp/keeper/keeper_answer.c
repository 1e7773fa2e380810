/* keeper_answer.c - an answer, or that nobody can give one: kept, recorded, and told to what has asked. */
#include <stdlib.h>
#include <string.h>

#include "mcp/keeper/keeper_impl.h"

static bool asks_to_start(const struct keeper_question *question)
{
	return question->run && question->run->question == question;
}

/* Reading and changing are remembered apart; a change comes last, since its rule is the wider one. */
static void remember_all(struct keeper *keeper, const struct keeper_question *question,
			 enum sb_answer answer)
{
	struct sb_question read = question->shown;

	read.op = SB_READ;
	if (question->ops & 1U << SB_READ && question->shown.op != SB_READ)
		sb_keeper_remember(keeper, &read, answer);
	sb_keeper_remember(keeper, &question->shown, answer);
}

/* What was answered, for the call that asked; and for those that request_access was asked for. */
static void approve(struct keeper *keeper, struct keeper_perform *perform,
		    const struct keeper_question *question, enum sb_answer answer)
{
	unsigned ops = question->ops ? question->ops : 1U << question->subject.op;

	for (int op = 0; op < SB_OP_COUNT; op++) {
		struct keeper_subject subject = question->subject;

		if (!(ops & 1U << op))
			continue;
		subject.op = (enum sb_op)op;
		sb_approvals_add(&perform->approvals, &subject, answer != SB_ANSWER_DENY);
		if (answer == SB_ANSWER_ONCE && question->ops)
			sb_approvals_add(&keeper->ahead, &subject, true);
		if (answer == SB_ANSWER_DENY && question->shown.about == SB_ABOUT_PROJECT)
			sb_approvals_add(&keeper->refused_needs, &subject, false);
	}
}

static void record_answer(struct keeper *keeper, const struct keeper_question *question,
			  enum sb_answer answer, const char *by)
{
	struct sb_event event = sb_keeper_event_of(question, SB_EVENT_ANSWER, by);

	event.answer = sb_answer_name(answer);
	sb_keeper_record(keeper, &event);
	if (answer != SB_ANSWER_DIRECTORY && answer != SB_ANSWER_ALWAYS)
		return;
	event.kind = SB_EVENT_GRANT;
	event.path = question->shown.directory;
	sb_keeper_record(keeper, &event);
}

/* Of what was asked about before it began: it does, or it does not. */
static void record_decided(struct keeper *keeper, const struct keeper_question *question,
			   enum sb_answer answer, const char *by)
{
	bool yes = answer == SB_ANSWER_ONCE;
	struct sb_event event =
		sb_keeper_event_of(question, yes ? SB_EVENT_PERFORM : SB_EVENT_DENY, by);

	event.verdict = yes ? "allow" : "deny";
	if (question->shown.about == SB_ABOUT_UNSANDBOXED)
		event.note = question->shown.notes[0];
	sb_keeper_record(keeper, &event);
}

/*
 * SECURITY: a client that declines by itself is not a person who said no.
 *
 * Danger: the refusal would be told as the person's, and kept for the session: who attaches
 * afterwards is not asked any more.
 * Price: a person who declines faster than they could have read it is asked again.
 * Held by: tests/mcp/consent.py
 */
static void unanswered(struct keeper *keeper, struct keeper_question *question, const char *by)
{
	struct keeper_perform *perform = question->perform;
	struct keeper_run *starts = asks_to_start(question) ? question->run : NULL;

	question->declined |= strcmp(by, "client") == 0;
	if (sb_keeper_people(keeper) || (keeper->socket && sb_keeper_waits(keeper)))
		return; /* they have it, or find it when they come */
	if (perform) {
		perform->nobody = true;
		perform->declined |= question->declined;
	} else if (!starts) {
		sb_keeper_run_answered(question->run, question->run_id, SB_ANSWER_NONE);
	}
	sb_keeper_withdraw(keeper, question, "nobody can be asked");
	if (perform)
		sb_keeper_perform_answered(keeper, perform);
	else if (starts)
		sb_keeper_run_decided(keeper, starts, SB_ANSWER_NONE);
}

void sb_keeper_answer(struct keeper *keeper, unsigned long id, enum sb_answer answer,
		      const char *by)
{
	struct keeper_question *question = keeper->questions;
	struct keeper_perform *perform;
	bool lasting = answer == SB_ANSWER_DIRECTORY || answer == SB_ANSWER_ALWAYS;

	while (question && question->shown.id != id)
		question = question->next;
	if (!question)
		return; /* withdrawn meanwhile, or answered elsewhere */
	if (answer == SB_ANSWER_NONE) {
		unanswered(keeper, question, by);
		return;
	}
	/* what was not offered is no answer */
	if (lasting && !question->shown.directory)
		answer = SB_ANSWER_DENY;
	sb_keeper_unlink_question(keeper, question);
	if (keeper->socket && strcmp(by, "attach") != 0)
		sb_socket_withdraw(keeper->socket, id, "answered in the client");
	if (strcmp(by, "client") != 0)
		sb_keeper_tell(keeper, sb_rpc_about("withdrawn", "q", id));
	if (asks_to_start(question)) {
		struct keeper_run *run = question->run;

		record_answer(keeper, question, answer, by);
		record_decided(keeper, question, answer, by);
		run->question = NULL;
		free(question);
		sb_keeper_run_decided(keeper, run, answer);
		return;
	}
	perform = question->perform;
	if (question->act)
		; /* nothing is kept */
	else if (keeper->options->worker)
		answer = sb_keeper_worker_remember(keeper, question, answer);
	else if (question->shown.about != SB_ABOUT_PROJECT)
		remember_all(keeper, question, answer);
	if (perform) {
		record_answer(keeper, question, answer, by);
		if (answer == SB_ANSWER_DENY && (question->shown.about == SB_ABOUT_PROJECT ||
						 question->shown.about == SB_ABOUT_AHEAD))
			record_decided(keeper, question, answer, by);
		approve(keeper, perform, question, answer);
		perform->question = NULL;
		free(question);
		sb_keeper_perform_answered(keeper, perform);
		return;
	}
	sb_keeper_run_answered(question->run, question->run_id, answer);
	free(question);
}
