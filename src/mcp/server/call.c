/* call.c - the life of a tool call, from the request to its one answer. */
#include <string.h>

#include "base/clock.h"
#include "mcp/server/server.h"

#define MAX_CALLS 1000 /* at one time; a client that has more is not one that reads answers */

void sb_call_cancel(struct sb_mcp *mcp, const json_t *id)
{
	struct sb_mcp_call *call = sb_call_by_id(mcp, id);

	if (!call)
		return;
	atomic_store(&call->cancel, true);
	switch (call->state) {
	case SB_CALL_WORKER: /* it is heard there, and comes back */
		return;
	case SB_CALL_KEEPER:
		sb_mcp_tell(mcp, sb_rpc_about("cancel", "call", call->number));
		break;
	case SB_CALL_RUN:
		if (call->run && call->run->call == call &&
		    (!call->run->background || !call->run->started))
			sb_run_abandon(mcp, call->run);
		break;
	default:
		break;
	}
	sb_call_answer(mcp, call, NULL);
	sb_call_end(mcp, call);
}

/* --- working ------------------------------------------------------------------------------------- */

static void give_keeper(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	call->state = SB_CALL_KEEPER;
	sb_mcp_tell(mcp,
		    json_pack("{s:s, s:I, s:s, s:O?, s:o, s:b}", "k", "perform", "call",
			      (json_int_t)call->number, "tool", call->tool->name, "arguments",
			      call->args, "roots", sb_roots_json(mcp), "elicit", call->elicit));
}

void sb_call_worked(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	json_t *result = call->result;

	if (call->answered) {
		sb_call_end(mcp, call);
		return;
	}
	call->result = NULL;
	/* what is done once more by the keeper is refused there once more, and recorded */
	if (!call->needs_keeper || atomic_load(&call->cancel) || mcp->ending) {
		sb_call_tell_events(mcp, call);
		sb_call_finish(mcp, call, result);
		return;
	}
	json_decref(result);
	give_keeper(mcp, call);
}

static void start(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	bool reads = call->tool->hints & SB_TOOL_READS;

	if (call->tool->kind == SB_TOOL_FILES &&
	    (reads || sb_outside_is_same(call->view->outside))) {
		call->state = SB_CALL_WORKER;
		sb_worker_give(mcp, call);
	} else if (call->tool->kind == SB_TOOL_KEEPER || call->tool->kind == SB_TOOL_FILES) {
		give_keeper(mcp, call);
	} else if (strcmp(call->tool->name, "run_command") == 0) {
		sb_run_start(mcp, call);
	} else if (strcmp(call->tool->name, "command_status") == 0) {
		sb_run_status(mcp, call);
	} else {
		sb_run_stop(mcp, call);
	}
}

/* --- starting ------------------------------------------------------------------------------------ */

static json_t *progress_token(const json_t *params)
{
	json_t *token = json_object_get(json_object_get(params, "_meta"), "progressToken");

	return json_is_string(token) || json_is_integer(token) ? json_incref(token) : NULL;
}

static json_t *take_result(struct sb_mcp_call *call)
{
	json_t *result = call->result;

	call->result = NULL;
	return result;
}

static void go_on(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	/* some were left open, or came meanwhile: once more */
	if (sb_ask_open(mcp, call))
		sb_ask_park(mcp, call);
	else if (call->result)
		sb_call_finish(mcp, call, take_result(call));
	else if (call->run &&
		 (sb_run_finished(call->run) || strcmp(call->tool->name, "command_status") == 0))
		sb_run_status(mcp, call);
}

/* The second half of a call that ended with "input_required". */
static const char *resume(struct sb_mcp *mcp, json_t *id, const struct sb_tool *tool, json_t *args,
			  json_t *params)
{
	const json_t *state = json_object_get(params, "requestState");
	json_t *responses = json_object_get(params, "inputResponses");
	json_auto_t *empty = NULL;
	char subject[SB_SHA256_HEX];
	unsigned long number = 0;
	struct sb_mcp_call *call = mcp->calls;
	const char *wrong;

	if (!json_is_string(state) || (responses && !json_is_object(responses)))
		return "requestState is a string, inputResponses an object";
	if (!args)
		args = empty = json_object();
	sb_token_subject(tool->name, args, subject);
	wrong = sb_token_check(&mcp->key, json_string_value(state), sb_now_ms(), subject, &number);
	if (wrong)
		return wrong;
	while (call && (call->state != SB_CALL_PARKED || call->token != number))
		call = call->next;
	if (!call)
		return "requestState was used before, or the call was given up";
	call->token = 0;
	json_decref(call->id);
	call->id = json_incref(id);
	call->batch = mcp->batch;
	json_decref(call->progress);
	call->progress = progress_token(params);
	call->state = call->run ? SB_CALL_RUN : SB_CALL_KEEPER;
	call->until_ms = 0;
	sb_ask_resume(mcp, call, responses);
	go_on(mcp, call);
	return NULL;
}

static size_t count_calls(const struct sb_mcp *mcp)
{
	size_t count = 0;

	for (const struct sb_mcp_call *call = mcp->calls; call; call = call->next)
		count++;
	return count;
}

static void refuse(struct sb_mcp *mcp, json_t *id, int code, const char *text)
{
	sb_mcp_answer(mcp, mcp->batch, sb_rpc_error(id, code, text, NULL));
}

void sb_call_start(struct sb_mcp *mcp, json_t *id, json_t *params, bool modern, bool elicit)
{
	const char *name = sb_get_text(params, "name"), *wrong;
	json_t *args = json_object_get(params, "arguments");
	const struct sb_tool *tool = name ? sb_tool_find(name) : NULL;
	struct sb_mcp_call *call;
	struct sb_error err;

	if (json_is_null(args))
		args = NULL;
	if (!tool || !sb_tool_worker_has(mcp->worker, tool)) {
		refuse(mcp, id, SB_RPC_INVALID_PARAMS, name ? "unknown tool" : "'name' is missing");
		return;
	}
	if (args && !json_is_object(args)) {
		refuse(mcp, id, SB_RPC_INVALID_PARAMS, "'arguments' is no object");
		return;
	}
	if (modern && json_object_get(params, "requestState")) {
		wrong = resume(mcp, id, tool, args, params);
		if (wrong)
			refuse(mcp, id, SB_RPC_INVALID_PARAMS, wrong);
		return;
	}
	call = count_calls(mcp) < MAX_CALLS ? sb_call_new(mcp, id, modern) : NULL;
	if (!call) {
		refuse(mcp, id, SB_RPC_INTERNAL, "too many calls at once");
		return;
	}
	call->tool = tool;
	call->args = args ? json_incref(args) : json_object();
	call->progress = progress_token(params);
	call->elicit = elicit;
	if (!mcp->begun) /* R1: from now on there is a record of this session */
		sb_mcp_tell(mcp, json_pack("{s:s}", "k", "begin"));
	mcp->begun = true;
	/* a mistake that a model can repair is a result of the tool, not of the protocol */
	if (sb_tool_check(tool, mcp->worker, call->args, &err) != SB_OK) {
		json_t *failure = sb_tool_failure("INVALID_ARGUMENT", err.message,
						  "Repair the arguments and call again.", false,
						  NULL);

		if (tool->run == sb_tool_read_media)
			json_object_set_new(json_object_get(failure, "structuredContent"),
					    "content", json_array());
		sb_call_finish(mcp, call, failure);
		return;
	}
	start(mcp, call);
}
