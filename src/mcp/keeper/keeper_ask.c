/* keeper_ask.c - questions: who is asked. */
#include <stdlib.h>

#include "base/list.h"
#include "mcp/keeper/keeper_impl.h"
#include "mcp/wire/rpc.h"

struct keeper_question *sb_keeper_question(struct keeper *keeper, const struct sb_question *shown)
{
	struct keeper_question *question = NULL;

	if (shown->verb && shown->path && shown->program)
		question = calloc(1, sizeof *question + sb_question_size(shown));
	if (!question)
		return NULL;
	sb_question_copy(shown, (char *)(question + 1), &question->shown);
	question->shown.id = ++keeper->last_question;
	question->shown.worker |= keeper->options->worker != NULL;
	if (question->shown.worker && !question->shown.opens && shown->about != SB_ABOUT_HOST)
		question->shown.opens = sb_opens_of(shown->op);
	question->next = keeper->questions;
	keeper->questions = question;
	return question;
}

void sb_keeper_unlink_question(struct keeper *keeper, struct keeper_question *question)
{
	SB_UNLINK(keeper->questions, question);
}

bool sb_keeper_people(const struct keeper *keeper)
{
	return keeper->socket && sb_socket_clients(keeper->socket) &&
	       keeper->options->line->consent != SB_CONSENT_DENY;
}

bool sb_keeper_waits(const struct keeper *keeper)
{
	return keeper->options->line->consent == SB_CONSENT_ASK ||
	       keeper->options->line->consent == SB_CONSENT_WATCH;
}

bool sb_keeper_elicits(const struct keeper *keeper, const json_t *message)
{
	return sb_get_true(message, "elicit") && keeper->options->line->consent != SB_CONSENT_WATCH;
}

/* By the names that the client's user and the model both know, where those are others. */
static json_t *words(const struct keeper *keeper, const char *text)
{
	return keeper->options->worker ? sb_tool_worker_words(keeper->options->worker, text)
				       : sb_rpc_string(text);
}

static void set_text(const struct keeper *keeper, json_t *object, const char *key, const char *text)
{
	if (text)
		json_object_set_new(object, key, words(keeper, text));
}

/* What the client's user is to see; the server words it. */
static void send_question(struct keeper *keeper, const struct keeper_question *question)
{
	const struct sb_question *shown = &question->shown;
	bool unsandboxed = shown->about == SB_ABOUT_UNSANDBOXED;
	bool session = shown->about == SB_ABOUT_PROJECT;
	json_t *message = json_pack("{s:s, s:I, s:s, s:b, s:b, s:b, s:b}", "k", "question", "q",
				    (json_int_t)shown->id, "op", sb_op_name(shown->op), "ahead",
				    shown->about == SB_ABOUT_AHEAD || session || unsandboxed,
				    "unsandboxed", unsandboxed, "host",
				    shown->about == SB_ABOUT_HOST, "session", session);
	json_t *notes = json_array();

	if (question->perform)
		json_object_set_new(message, "call",
				    json_integer((json_int_t)question->perform->call));
	else
		json_object_set_new(message, "run", json_integer((json_int_t)question->run->run));
	if (keeper->options->worker)
		sb_put_text(message, "worker", keeper->options->worker->worker.name);
	set_text(keeper, message, "verb", shown->verb);
	set_text(keeper, message, "path", shown->path);
	set_text(keeper, message, "target", shown->target);
	set_text(keeper, message, "directory", shown->directory);
	set_text(keeper, message, "covers", sb_question_covers(shown));
	set_text(keeper, message, "program", shown->program);
	set_text(keeper, message, "rule", shown->rule);
	set_text(keeper, message, "means", sb_question_means(shown));
	for (size_t i = 0; i < SB_QUESTION_NOTES && shown->notes[i]; i++)
		json_array_append_new(notes, words(keeper, shown->notes[i]));
	json_object_set_new(message, "notes", notes);
	if (shown->content)
		json_object_set_new(message, "content",
				    sb_rpc_shown(shown->content, shown->content_length));
	sb_keeper_tell(keeper, message);
}

bool sb_keeper_put(struct keeper *keeper, struct keeper_question *question, bool elicit)
{
	bool put = false;

	if (keeper->options->line->consent == SB_CONSENT_DENY)
		return false;
	if (elicit) {
		send_question(keeper, question);
		put = true;
	}
	if (keeper->socket && (put || sb_keeper_people(keeper) || sb_keeper_waits(keeper)) &&
	    sb_socket_ask(keeper->socket, &question->shown, NULL) == SB_OK)
		put = true;
	return put;
}

void sb_keeper_withdraw(struct keeper *keeper, struct keeper_question *question, const char *why)
{
	if (keeper->socket)
		sb_socket_withdraw(keeper->socket, question->shown.id, why);
	sb_keeper_tell(keeper, sb_rpc_about("withdrawn", "q", question->shown.id));
	sb_keeper_unlink_question(keeper, question);
	if (question->perform)
		question->perform->question = NULL;
	else if (question->run)
		question->run->question = NULL;
	free(question);
}
