/* server.c - the loop: what the client, the keeper, the workers and the runs say. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "mcp/server/server.h"

#define OUT_MAX (256 * 1024 * 1024) /* a client that takes no more is not read either */
#define RECORD_MS 10000             /* for the keeper to write down what it was told */
#define LAST_CALLS_MS 2000          /* what is under way when standard input ends may end */
#define MAX_FDS (3 + 2 * 256)

/* --- the client ------------------------------------------------------------------------------------ */

/* Only revisions up to 2025-03-26 have batches. */
static void take_batch(struct sb_mcp *mcp, json_t *list)
{
	struct sb_batch *batch = calloc(1, sizeof *batch);
	size_t i;
	json_t *item;

	if (!mcp->version || strcmp(mcp->version, "2025-03-26") > 0 || !batch) {
		free(batch);
		sb_out_send(mcp->out, sb_rpc_error(NULL, SB_RPC_INVALID_REQUEST,
						   "this revision has no batches", NULL));
		return;
	}
	batch->answers = json_array();
	batch->open = 1; /* until all of it is read */
	json_array_foreach(list, i, item)
	{
		struct sb_message message;

		sb_message_of(item, &message);
		mcp->batch = batch;
		if (message.kind == SB_MESSAGE_REQUEST || message.kind == SB_MESSAGE_BAD)
			batch->open++;
		sb_mcp_message(mcp, &message);
		mcp->batch = NULL;
	}
	batch->open--;
	sb_batch_close(mcp, batch);
}

static void take_line(struct sb_mcp *mcp, const char *line, size_t length)
{
	struct sb_message message;

	sb_message_parse(line, length, &message);
	if (message.kind == SB_MESSAGE_BATCH)
		take_batch(mcp, message.root);
	else
		sb_mcp_message(mcp, &message);
	sb_message_done(&message);
}

static void read_client(struct sb_mcp *mcp)
{
	ssize_t got = sb_frame_read(&mcp->frame, STDIN_FILENO);
	enum sb_frame_state state;
	const char *line;
	size_t length;

	if (got == 0 || (got < 0 && got != -EINTR && got != -EAGAIN))
		mcp->ending = true;
	while ((state = sb_frame_next(&mcp->frame, &line, &length)) != SB_FRAME_NONE) {
		if (state == SB_FRAME_LINE)
			take_line(mcp, line, length);
		else
			sb_out_send(mcp->out, sb_rpc_error(NULL, SB_RPC_INVALID_REQUEST,
							   "the message is too long", NULL));
	}
}

/* --- the others ------------------------------------------------------------------------------------ */

static void read_keeper(struct sb_mcp *mcp, short events)
{
	int fds[SB_LINK_FDS];
	json_t *message;

	sb_link_handle(&mcp->link, events);
	while ((message = sb_link_next(&mcp->link, fds))) {
		sb_mcp_keeper_message(mcp, message, fds);
		json_decref(message);
	}
}

/* Not only when they wake us: calls that they answered themselves just lie there. */
static void read_workers(struct sb_mcp *mcp, bool woken)
{
	uint64_t count;
	struct sb_mcp_call *call;

	if (woken)
		(void)!read(mcp->wake, &count, sizeof count);
	while ((call = sb_worker_take(mcp)))
		sb_call_worked(mcp, call);
}

/* A client that never came back, or a wait that is over. */
static int64_t tick_calls(struct sb_mcp *mcp, int64_t now)
{
	struct sb_mcp_call *call = mcp->calls;
	int64_t next = INT64_MAX;

	while (call) {
		struct sb_mcp_call *after = call->next;

		if (call->until_ms && now >= call->until_ms) {
			if (call->state == SB_CALL_RUN) {
				sb_run_status(mcp, call);
			} else if (call->state == SB_CALL_PARKED) {
				if (call->run && (!call->run->background || !call->run->started))
					sb_run_abandon(mcp, call->run);
				else if (!call->run)
					sb_mcp_tell(mcp,
						    sb_rpc_about("cancel", "call", call->number));
				sb_call_end(mcp, call);
			}
		} else if (call->until_ms && call->until_ms < next) {
			next = call->until_ms;
		}
		call = after;
	}
	return next;
}

/* --- the loop ---------------------------------------------------------------------------------------- */

static size_t watch_runs(const struct sb_mcp *mcp, struct pollfd *out, size_t room)
{
	size_t count = 0;

	for (const struct sb_mcp_run *run = mcp->runs; run; run = run->next)
		for (int i = 0; i < 2; i++)
			if (run->streams[i] >= 0 && count < room)
				out[count++] = (struct pollfd){run->streams[i], POLLIN, 0};
	return count;
}

static void read_stream(struct sb_mcp *mcp, int fd)
{
	for (struct sb_mcp_run *run = mcp->runs; run; run = run->next)
		for (int i = 0; i < 2; i++)
			if (run->streams[i] == fd) {
				sb_run_read(mcp, run, i);
				return;
			}
}

static void read_runs(struct sb_mcp *mcp, const struct pollfd *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i].revents)
			read_stream(mcp, fds[i].fd);
}

static int timeout_of(int64_t next, int64_t now)
{
	if (next == INT64_MAX)
		return -1;
	if (next <= now)
		return 0;
	return next - now > INT_MAX ? INT_MAX : (int)(next - now);
}

/* Does something still run that can be answered without the client? */
static bool is_busy(const struct sb_mcp *mcp)
{
	for (const struct sb_mcp_call *call = mcp->calls; call; call = call->next)
		if (call->state == SB_CALL_WORKER || (call->state == SB_CALL_RUN) ||
		    (call->state == SB_CALL_KEEPER && !sb_ask_open(mcp, call)))
			return true;
	return false;
}

static void *live(void *mcp)
{
	sb_mcp_run(mcp);
}

/*
 * Lead: until there is a call for this thread to work on, while another one leads.  NULL: the
 * client is gone.
 */
static struct sb_mcp_call *lead(struct sb_mcp *mcp)
{
	for (;;) {
		struct sb_mcp_call *own = sb_workers_dispatch(mcp, live);
		struct pollfd wait[MAX_FDS];
		int64_t now = sb_now_ms(), next, calls;
		size_t count = 3;
		bool reads;

		if (own)
			return own; /* and nothing is ours any more */
		next = sb_run_tick(mcp, now);
		calls = tick_calls(mcp, now);
		reads = !mcp->ending && sb_out_waiting(mcp->out) < OUT_MAX;
		if (calls < next)
			next = calls;
		if (mcp->ending) {
			if (!mcp->end_ms)
				mcp->end_ms = now + LAST_CALLS_MS;
			if (!is_busy(mcp) || now >= mcp->end_ms)
				break;
			if (mcp->end_ms < next)
				next = mcp->end_ms;
		}
		if (!reads && next > now + 20)
			next = now + 20; /* look again whether it reads, or what is done by now */
		wait[0] = (struct pollfd){reads ? STDIN_FILENO : -1, POLLIN, 0};
		wait[1] = (struct pollfd){mcp->link.fd, sb_link_events(&mcp->link), 0};
		wait[2] = (struct pollfd){mcp->wake, POLLIN, 0};
		count += watch_runs(mcp, wait + 3, MAX_FDS - 3);
		if (poll(wait, count, timeout_of(next, now)) < 0 && errno != EINTR)
			break;
		read_workers(mcp, wait[2].revents);
		if (count > 3)
			read_runs(mcp, wait + 3, count - 3);
		if (wait[1].revents)
			read_keeper(mcp, wait[1].revents);
		if (wait[0].revents)
			read_client(mcp);
		/* without the keeper nothing can be recorded or asked: rather no server */
		if (mcp->link.broken || sb_out_broken(mcp->out))
			break;
	}
	return NULL;
}

/* The exit status, when everything is written: whoever saw us end can rely on the record. */
static int end(struct sb_mcp *mcp)
{
	int status = mcp->link.broken ? 125 : 0;
	json_t *allowed = json_array();

	for (int op = 0; op < SB_OP_COUNT; op++)
		json_array_append_new(allowed,
				      json_integer((json_int_t)atomic_load(&mcp->allowed[op])));
	sb_mcp_tell(mcp, json_pack("{s:s, s:o}", "k", "count", "allowed", allowed));
	sb_out_flush(mcp->out, 2000);
	sb_link_finish(&mcp->link, RECORD_MS);
	return status;
}

_Noreturn void sb_mcp_run(struct sb_mcp *mcp)
{
	for (;;) {
		bool leads;
		struct sb_mcp_call *call = sb_worker_next(mcp, &leads);

		if (leads)
			call = lead(mcp);
		if (!call)
			exit(end(mcp)); /* those at work have had their time */
		sb_worker_work(mcp, call);
	}
}
