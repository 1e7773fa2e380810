/*
 * ask.c - a question, as the client's user gets to see it: form elicitation in both eras.
 *
 * Up to 2025-11-25: a request of ours, elicitation/create, that the client answers.  Later: the
 * call ends with "input_required" and comes back with the answers.  Declining and
 * whatever is no offered answer mean no, unless it comes faster than a person could have read it:
 * then the client has answered by itself, and nobody was asked.  Cancelling is no answer either: the
 * question was closed, and comes again with the next call.  A yes to a command without a sandbox
 * counts only from somebody who could have read the question.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "consent/question.h"
#include "mcp/server/server.h"

#define PARKED_MS (10 * 60 * 1000) /* how long a call waits for its client to come back */
#define ALONE_MS 100               /* nobody reads and declines a question as fast as that */
#define PART_SHOWN 1000            /* bytes of a command */
#define CONTENT_SHOWN (3 * 4096) /* of what would be written, which has its own marks: excerpt.h */

static const char *text_of(const struct sb_ask *ask, const char *key)
{
	return sb_get_text(ask->facts, key);
}

/* --- wording --------------------------------------------------------------------------------------- */

/* What is wanted, by whom, and why it is a question; every foreign byte escaped. */
static json_t *message_of(const struct sb_ask *ask)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);
	const char *program = text_of(ask, "program"), *rule = text_of(ask, "rule"),
		   *verb = text_of(ask, "verb"), *path = text_of(ask, "path");
	const struct sb_question question = {.verb = verb ? verb : "change",
					     .path = path ? path : "?",
					     .target = text_of(ask, "target")};
	bool ahead = sb_get_true(ask->facts, "ahead");
	const json_t *note;
	size_t i;

	sb_escape_put(&text, ask->run && !ahead ? "The program " : "The tool ",
		      program ? program : "?", "");
	sb_escape_put(&text, ", for the worker ", text_of(ask, "worker"), "");
	if (text_of(ask, "worker"))
		sb_buf_putc(&text, ',');
	sb_question_wants(&question, &text);
	json_array_foreach(json_object_get(ask->facts, "notes"), i, note)
	{
		sb_escape_put(&text, "\n(", json_string_value(note), "");
		sb_buf_putc(&text, ')');
	}
	sb_escape_put(&text, "\nWhy: ", rule ? rule : "no rule covers it", "");
	sb_escape_put(&text, "\nA yes: ", text_of(ask, "means"), "");
	/* what is long must not push the rest out of sight */
	if (ask->run && !ahead) {
		sb_buf_puts(&text, "\nCommand: ");
		sb_escape_value(&text, ask->run->command, strlen(ask->run->command), PART_SHOWN);
	}
	if (sb_get_length(ask->facts, "content")) {
		sb_buf_puts(&text, "\nIt would contain: ");
		sb_escape_value(&text, text_of(ask, "content"),
				sb_get_length(ask->facts, "content"), CONTENT_SHOWN);
	}
	return sb_rpc_buf(&text);
}

static json_t *form_of(const struct sb_ask *ask)
{
	bool session = sb_get_true(ask->facts, "session");
	json_t *values = json_pack("[s]", "once"),
	       *names = json_pack("[s]", session ? "Allow until this session ends" : "Allow once");
	const char *directory = text_of(ask, "directory");
	bool host = sb_get_true(ask->facts, "host");
	const char *covers = host ? "" : text_of(ask, "covers"), *in = host ? "" : " in ";
	SB_AUTO_BUF struct sb_buf shown = SB_BUF(4 * 4096); /* a path, escaped */
	char line[4 * 4096 + 100];

	if (directory && covers) {
		sb_escape_puts_name(&shown, directory);
		snprintf(line, sizeof line, "Allow %s%s%s for this session", covers, in,
			 shown.data);
		json_array_append_new(values, json_string("directory"));
		json_array_append_new(names, sb_rpc_string(line));
		snprintf(line, sizeof line, "Always allow %s%s%s", covers, in, shown.data);
		if (!text_of(ask, "worker")) {
			json_array_append_new(values, json_string("always"));
			json_array_append_new(names, sb_rpc_string(line));
		}
	}
	json_array_append_new(values, json_string("deny"));
	json_array_append_new(names, json_string("Deny"));
	return json_pack("{s:s, s:{s:{s:s, s:s, s:s, s:o, s:o}}, s:[s]}", "type", "object",
			 "properties", "answer", "type", "string", "title", "Answer", "description",
			 "What the agent may do", "enum", values, "enumNames", names, "required",
			 "answer");
}

static json_t *params_of(const struct sb_ask *ask, bool modern, const char *version)
{
	json_t *params = json_pack("{s:o, s:o}", "message", message_of(ask), "requestedSchema",
				   form_of(ask));

	/* "mode" came with 2025-11-25; leaving it out means the same */
	if (modern || (version && strcmp(version, "2025-11-25") >= 0))
		json_object_set_new(params, "mode", json_string("form"));
	return params;
}

/* --- answers ------------------------------------------------------------------------------------------ */

/* What the person chose; "none": there was no person. */
static const char *chosen(const struct sb_ask *ask, const json_t *response)
{
	const char *action = sb_get_text(response, "action"),
		   *answer = sb_get_text(json_object_get(response, "content"), "answer");

	bool alone = sb_now_ms() - ask->sent_ms < ALONE_MS;

	if (action && strcmp(action, "cancel") == 0)
		return "none";
	if (!action || strcmp(action, "accept") != 0)
		return alone ? "none" : "deny";
	if (alone && sb_get_true(ask->facts, "unsandboxed"))
		return "none";
	if (!answer)
		return "deny";
	if (strcmp(answer, "once") == 0)
		return "once";
	if (text_of(ask, "directory") && strcmp(answer, "directory") == 0)
		return "directory";
	if (text_of(ask, "directory") && !text_of(ask, "worker") && strcmp(answer, "always") == 0)
		return "always";
	return "deny";
}

static void give(struct sb_mcp *mcp, struct sb_ask *ask, const char *answer)
{
	sb_mcp_tell(mcp, json_pack("{s:s, s:I, s:s}", "k", "answer", "q", (json_int_t)ask->q,
				   "answer", answer));
	sb_ask_forget(mcp, ask);
}

/* --- putting ------------------------------------------------------------------------------------------- */

static void elicit(struct sb_mcp *mcp, struct sb_ask *ask)
{
	ask->request = ++mcp->last_request;
	ask->sent_ms = sb_now_ms();
	sb_out_send(mcp->out, sb_rpc_request(sb_mcp_request_id(ask->request), "elicitation/create",
					     params_of(ask, false, mcp->version)));
}

void sb_ask_park(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	json_t *requests = json_object(), *result;
	char key[32], token[SB_TOKEN_SIZE];

	for (struct sb_ask *ask = mcp->asks; ask; ask = ask->next)
		if (sb_ask_is_of(ask, call)) {
			ask->sent_ms = sb_now_ms();
			snprintf(key, sizeof key, "q%lu", ask->q);
			json_object_set_new(requests, key,
					    json_pack("{s:s, s:o}", "method", "elicitation/create",
						      "params", params_of(ask, true, NULL)));
		}
	call->state = SB_CALL_PARKED;
	call->until_ms = sb_now_ms() + PARKED_MS;
	call->token = ++mcp->last_token;
	sb_token_subject(call->tool->name, call->args, call->subject);
	sb_token_make(&mcp->key, call->token, call->until_ms, call->subject, token);
	result = json_pack("{s:s, s:o, s:s}", "resultType", "input_required", "inputRequests",
			   requests, "requestState", token);
	sb_mcp_answer(mcp, call->batch,
		      sb_rpc_result(call->id, sb_mcp_finish_result(result, true, false)));
	call->batch = NULL;
}

void sb_ask_resume(struct sb_mcp *mcp, struct sb_mcp_call *call, const json_t *responses)
{
	struct sb_ask *ask = mcp->asks;
	char key[32];

	while (ask) {
		struct sb_ask *next = ask->next;
		const json_t *response;

		if (sb_ask_is_of(ask, call)) {
			snprintf(key, sizeof key, "q%lu", ask->q);
			response = json_object_get(responses, key);
			if (response)
				give(mcp, ask, chosen(ask, response));
		}
		ask = next;
	}
}

void sb_ask_take(struct sb_mcp *mcp, const json_t *facts)
{
	struct sb_ask *ask = calloc(1, sizeof *ask);
	struct sb_mcp_call *call = sb_call_by_number(mcp, sb_get_number(facts, "call"));
	struct sb_mcp_run *run = sb_run_by_number(mcp, sb_get_number(facts, "run"));
	bool modern;

	if (!ask)
		return;
	*ask = (struct sb_ask){.q = sb_get_number(facts, "q"),
			       .facts = json_incref((json_t *)facts),
			       .call = call,
			       .run = call ? NULL : run,
			       .next = mcp->asks};
	mcp->asks = ask;
	if (!call && !run) {
		give(mcp, ask, "none"); /* cancelled meanwhile */
		return;
	}
	if (!call && run->kill_ms) {
		sb_ask_forget(mcp, ask); /* it is being ended; a no would outlive it */
		return;
	}
	if (!call)
		call = run->call;
	modern = call ? call->modern : !mcp->elicit;
	if (!modern)
		elicit(mcp, ask);
	else if (call && call->state != SB_CALL_PARKED)
		sb_ask_park(mcp, call);
	/* else it waits: for the client to come back, or to ask how the run is doing */
}

bool sb_ask_answered(struct sb_mcp *mcp, const struct sb_message *message)
{
	struct sb_ask *ask = mcp->asks;

	for (; ask; ask = ask->next) {
		json_auto_t *id = ask->request ? sb_mcp_request_id(ask->request) : NULL;

		if (!id || !json_equal(id, message->id))
			continue;
		/* an error instead of an answer: it could not show the form */
		give(mcp, ask, message->result ? chosen(ask, message->result) : "none");
		return true;
	}
	return false;
}
