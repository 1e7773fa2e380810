/*
 * worker.c - threads that run file tools.
 *
 * Started when there is something to do and nobody idle, up to WORKERS; a thread that waits on
 * a slow disk keeps no other call waiting.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "mcp/mcp.h"

#define WORKERS 16
#define STACK (512 * 1024) /* results have paths in them; threads of a search are its own */

/* F7.  In the thread of the call, which owns its list; what asks is the keeper's to record. */
void sb_mcp_audit(void *context, const struct sb_files_event *event)
{
	struct sb_call *call = event->caller ? event->caller->context : NULL;
	json_t *told;

	(void)context;
	if (!call || event->verdict != SB_DENY || event->done)
		return;
	told = json_pack("{s:s, s:s, s:o, s:s}", "k", "deny", "op", sb_op_name(event->op), "path",
			 sb_rpc_string(event->path), "tool", call->tool->name);
	if (event->rule)
		json_object_set_new(told, "rule", sb_rpc_string(event->rule->origin));
	if (event->root)
		json_object_set_new(told, "root", sb_rpc_string(event->root));
	if (!call->events)
		call->events = json_array();
	json_array_append_new(call->events, told);
}

static void work_on(struct sb_mcp *mcp, struct sb_call *call)
{
	struct sb_files_caller caller = {.size = sizeof caller,
					 .tool = call->tool->name,
					 .context = call,
					 .cancel = &call->cancel};
	struct sb_tool_call work = {.view = call->view->files,
				    .policy = mcp->setup->policy,
				    .caller = &caller,
				    .args = call->args};

	call->result = call->tool->run(&work);
	call->needs_consent = work.err.code == SB_FILES_NEEDS_CONSENT;
}

static void *work(void *context)
{
	struct sb_mcp *mcp = context;
	const uint64_t one = 1;

	pthread_mutex_lock(&mcp->lock);
	for (;;) {
		struct sb_call *call = mcp->jobs;

		if (!call) {
			mcp->idle_count++;
			pthread_cond_wait(&mcp->more, &mcp->lock);
			mcp->idle_count--;
			continue;
		}
		mcp->jobs = call->next_job;
		if (!mcp->jobs)
			mcp->last_job = &mcp->jobs;
		pthread_mutex_unlock(&mcp->lock);
		work_on(mcp, call);
		pthread_mutex_lock(&mcp->lock);
		call->next_job = mcp->done;
		mcp->done = call;
		(void)!write(mcp->wake, &one, sizeof one);
	}
	return NULL;
}

static void start_worker(struct sb_mcp *mcp)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, work, mcp) == 0)
		mcp->worker_count++;
	pthread_attr_destroy(&attributes);
}

void sb_worker_give(struct sb_mcp *mcp, struct sb_call *call)
{
	bool alone;

	pthread_mutex_lock(&mcp->lock);
	call->next_job = NULL;
	*mcp->last_job = call;
	mcp->last_job = &call->next_job;
	mcp->working++;
	if (!mcp->idle_count && mcp->worker_count < WORKERS)
		start_worker(mcp);
	alone = mcp->worker_count == 0; /* no thread could be made: do it here */
	pthread_cond_signal(&mcp->more);
	if (alone) {
		mcp->jobs = NULL;
		mcp->last_job = &mcp->jobs;
	}
	pthread_mutex_unlock(&mcp->lock);
	if (alone) {
		const uint64_t one = 1;

		work_on(mcp, call);
		call->next_job = mcp->done;
		mcp->done = call;
		(void)!write(mcp->wake, &one, sizeof one);
	}
}

struct sb_call *sb_worker_take(struct sb_mcp *mcp)
{
	struct sb_call *call;

	pthread_mutex_lock(&mcp->lock);
	call = mcp->done;
	if (call) {
		mcp->done = call->next_job;
		mcp->working--;
	}
	pthread_mutex_unlock(&mcp->lock);
	return call;
}
