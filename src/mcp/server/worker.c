/*
 * worker.c - threads: one leads, the others work on file tools or wait.
 *
 * Who leads has the loop (server.c) and owns the server's state.  When it has read a call of a
 * file tool it gives the lead to a thread that waits and works on that call itself, so that
 * between the client's question and the answer there is no change of threads: waking another
 * one would take longer than most of the work.  Whatever the disk does, somebody leads.
 *
 * Threads are started when they are needed, up to THREADS.  When all are at work the last one
 * keeps the lead, and calls wait.
 */
#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "base/lock.h"
#include "mcp/server/server.h"

#define THREADS 17
#define STACK (512 * 1024) /* results have paths in them; threads of a search are its own */

/* --- one call ------------------------------------------------------------------------------------ */

/*
 * Our own Landlock domain ends at the projects (confine.c), rules of the user's need not: what they
 * open elsewhere, to be read or to be made, is the keeper's to do.  It judges by the same rules.
 */
static bool is_out_of_reach(const struct sb_policy *policy, const struct sb_files_error *err)
{
	if (err->code != SB_FILES_PERMISSION || err->sys_errno != EACCES)
		return false;
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);

		for (int op = 0; rule->tier != SB_TIER_BUILTIN && op < SB_OP_COUNT; op++)
			if (rule->access.verdict[op] == SB_ALLOW)
				return true;
	}
	return false;
}

static void work_on(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	struct sb_files_caller caller = {.size = sizeof caller,
					 .tool = call->tool->name,
					 .context = call,
					 .cancel = &call->cancel};
	struct sb_tool_call work = {.view = call->view->files,
				    .policy = mcp->setup->policy,
				    .args = call->args,
				    .worker = mcp->worker};
	const uint64_t one = 1;
	bool answered;

	call->result = sb_tool_run(call->tool, &work, &caller);
	call->needs_keeper = work.err.code == SB_FILES_NEEDS_CONSENT ||
			     is_out_of_reach(mcp->setup->policy, &work.err);
	for (int op = 0; op < SB_OP_COUNT && !call->needs_keeper; op++)
		atomic_fetch_add(&mcp->allowed[op], call->allowed[op]);
	sb_call_answer_early(mcp, call);
	answered = call->answered;
	pthread_mutex_lock(&mcp->lock);
	call->next_job = mcp->done;
	mcp->done = call;
	pthread_mutex_unlock(&mcp->lock);
	if (!answered) /* else nobody waits for what is left to do */
		(void)!write(mcp->wake, &one, sizeof one);
}

static struct sb_mcp_call *take_job(struct sb_mcp *mcp)
{
	struct sb_mcp_call *call = mcp->jobs;

	if (call) {
		mcp->jobs = call->next_job;
		mcp->job_count--;
		if (!mcp->jobs)
			mcp->last_job = &mcp->jobs;
	}
	return call;
}

/* --- a thread's life (server.c) ---------------------------------------------------------------- */

struct sb_mcp_call *sb_worker_next(struct sb_mcp *mcp, bool *out_leads)
{
	struct sb_mcp_call *call = NULL;

	pthread_mutex_lock(&mcp->lock);
	while (!mcp->leaderless && !mcp->jobs)
		pthread_cond_wait(&mcp->more, &mcp->lock);
	*out_leads = mcp->leaderless;
	if (mcp->leaderless)
		mcp->leaderless = false;
	else
		call = take_job(mcp);
	mcp->waiting--;
	pthread_mutex_unlock(&mcp->lock);
	return call;
}

void sb_worker_work(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	work_on(mcp, call);
	pthread_mutex_lock(&mcp->lock);
	mcp->waiting++;
	pthread_mutex_unlock(&mcp->lock);
}

static bool start_thread(struct sb_mcp *mcp, void *(*life)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;
	bool fine;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	fine = pthread_create(&thread, &attributes, life, mcp) == 0;
	pthread_attr_destroy(&attributes);
	if (fine) {
		mcp->thread_count++;
		mcp->waiting++;
	}
	return fine;
}

/* --- giving ------------------------------------------------------------------------------------------ */

void sb_worker_give(struct sb_mcp *mcp, struct sb_mcp_call *call)
{
	SB_AUTO_LOCK(&mcp->lock);

	call->next_job = NULL;
	*mcp->last_job = call;
	mcp->last_job = &call->next_job;
	mcp->job_count++;
}

struct sb_mcp_call *sb_workers_dispatch(struct sb_mcp *mcp, void *(*life)(void *))
{
	struct sb_mcp_call *own = NULL;
	size_t wanted;
	bool alone;

	pthread_mutex_lock(&mcp->lock);
	/* one call is ours, and one thread leads in our place */
	wanted = mcp->job_count;
	while (mcp->waiting < wanted && mcp->thread_count < THREADS && start_thread(mcp, life))
		;
	alone = mcp->thread_count == 1; /* no thread could be made: do it here */
	if (wanted && (mcp->waiting || alone)) {
		own = take_job(mcp);
		mcp->leaderless = !alone;
	}
	if (wanted > mcp->waiting)
		wanted = mcp->waiting;
	pthread_mutex_unlock(&mcp->lock);
	while (wanted--) /* only now, so that whoever wakes finds the lock free */
		pthread_cond_signal(&mcp->more);
	if (own && alone) {
		work_on(mcp, own);
		own = NULL;
	}
	return own;
}

struct sb_mcp_call *sb_worker_take(struct sb_mcp *mcp)
{
	SB_AUTO_LOCK(&mcp->lock);
	struct sb_mcp_call *call = mcp->done;

	if (call)
		mcp->done = call->next_job;
	return call;
}
