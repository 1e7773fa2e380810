/* calls.c - calls, their questions and their runs: found in the server's lists, ended, taken out of them. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "mcp/server/server.h"

void sb_ask_forget(struct sb_mcp *mcp, struct sb_ask *ask)
{
	SB_UNLINK(mcp->asks, ask);
	json_decref(ask->facts);
	free(ask);
}

void sb_ask_withdrawn(struct sb_mcp *mcp, unsigned long q)
{
	struct sb_ask *ask = mcp->asks;

	while (ask && ask->q != q)
		ask = ask->next;
	if (!ask)
		return;
	if (ask->request)
		sb_out_send(mcp->out,
			    sb_rpc_notification("notifications/cancelled",
						json_pack("{s:o, s:s}", "requestId",
							  sb_mcp_request_id(ask->request), "reason",
							  "the question is no longer open")));
	sb_ask_forget(mcp, ask);
}

void sb_ask_drop(struct sb_mcp *mcp, const struct sb_mcp_call *call, const struct sb_mcp_run *run)
{
	struct sb_ask *ask = mcp->asks;

	while (ask) {
		struct sb_ask *next = ask->next;

		if ((call && ask->call == call) || (run && ask->run == run))
			sb_ask_withdrawn(mcp, ask->q);
		ask = next;
	}
}

bool sb_ask_is_of(const struct sb_ask *ask, const struct sb_mcp_call *call)
{
	return ask->call == call || (ask->run && ask->run == call->run);
}

bool sb_ask_open(const struct sb_mcp *mcp, const struct sb_mcp_call *call)
{
	for (const struct sb_ask *ask = mcp->asks; ask; ask = ask->next)
		if (sb_ask_is_of(ask, call))
			return true;
	return false;
}

struct sb_mcp_run *sb_run_by_number(const struct sb_mcp *mcp, unsigned long number)
{
	struct sb_mcp_run *run = mcp->runs;

	while (run && run->number != number)
		run = run->next;
	return run;
}

struct sb_mcp_run *sb_run_by_id(const struct sb_mcp *mcp, const char *id)
{
	struct sb_mcp_run *run = mcp->runs;

	while (run && strcmp(run->id, id) != 0)
		run = run->next;
	return run;
}

bool sb_run_finished(const struct sb_mcp_run *run)
{
	return run->ended && run->streams[0] < 0 && run->streams[1] < 0;
}

struct sb_mcp_call *sb_call_new(struct sb_mcp *mcp, json_t *id, bool modern)
{
	struct sb_mcp_call *call = calloc(1, sizeof *call);

	if (!call)
		return NULL;
	*call = (struct sb_mcp_call){.number = ++mcp->last_call,
				     .id = json_incref(id),
				     .modern = modern,
				     .batch = mcp->batch,
				     .view = mcp->view,
				     .next = mcp->calls};
	mcp->view->users++;
	mcp->calls = call;
	return call;
}

struct sb_mcp_call *sb_call_by_number(const struct sb_mcp *mcp, unsigned long number)
{
	struct sb_mcp_call *call = mcp->calls;

	while (call && call->number != number)
		call = call->next;
	return call;
}

struct sb_mcp_call *sb_call_by_id(const struct sb_mcp *mcp, const json_t *id)
{
	struct sb_mcp_call *call = mcp->calls;

	while (call && (call->state == SB_CALL_PARKED || !json_equal(call->id, id)))
		call = call->next;
	return call;
}

void sb_call_end(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	sb_ask_drop(mcp, call, NULL);
	SB_UNLINK(mcp->calls, call);
	if (call->run && call->run->call == call)
		call->run->call = NULL;
	sb_view_release(call->view);
	json_decref(call->id);
	json_decref(call->args);
	json_decref(call->progress);
	json_decref(call->result);
	json_decref(call->events);
	free(call);
}

void sb_call_tell_events(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	json_t *event;
	size_t i;

	json_array_foreach(call->events, i, event) sb_mcp_tell(mcp, json_incref(event));
}

/* Cancelled calls are not answered, but their batch is. */
void sb_call_answer(struct sb_mcp *mcp, struct sb_mcp_call *call, json_t *message)
{
	if (atomic_load(&call->cancel)) {
		json_decref(message);
		message = NULL;
	}
	sb_mcp_answer(mcp, call->batch, message);
}

void sb_call_finish(struct sb_mcp *mcp, struct sb_mcp_call *call, json_t *result)
{
	if (!result)
		result = sb_tool_failure("NO_MEMORY", "out of memory", "Ask for less at once.",
					 false, NULL);
	result = sb_resources_shorten(mcp, result);
	result = sb_mcp_finish_result(result, call->modern, false);
	sb_call_answer(mcp, call, sb_rpc_result(call->id, result));
	sb_call_end(mcp, call);
}

/* What belongs to a batch, asks, is recorded or becomes a resource is the main thread's. */
void sb_call_answer_early(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	json_t *result = call->result;

	if (!result || call->batch || call->needs_keeper || call->events ||
	    atomic_load(&call->cancel) || sb_resources_must_shorten(result))
		return;
	call->result = NULL;
	call->answered = true;
	result = sb_mcp_finish_result(result, call->modern, false);
	sb_out_send(mcp->out, sb_rpc_result(call->id, result));
}
