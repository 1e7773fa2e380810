/*
 * linux_answer.c - a held call gets its answer: a result, an error, leave to go on, or a place in the
 * asker's queue; and what is counted and noted of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "supervise/constrained.h"
#include "supervise/perform.h"
#include "supervise/performer.h"
#include "supervise/thread.h"
#include "supervise/trace.h"
#include "sys/notify.h"

int sb_broker_enter(const struct sb_broker *broker)
{
	if (fchdir(broker->performer->proc) != 0)
		return -errno;
	umask(broker->performer->umask);
	return 0;
}

void sb_broker_seen(struct sb_broker *broker, enum sb_op op)
{
	__atomic_fetch_add(&broker->counters.seen[op], 1, __ATOMIC_RELAXED);
}

void sb_broker_done(struct sb_broker *broker, enum sb_op op)
{
	__atomic_fetch_add(&broker->counters.allowed[op], 1, __ATOMIC_RELAXED);
}

void sb_broker_fail(const struct sb_broker *broker, const struct sb_call *call, int error)
{
	/* nothing to be done when the caller is gone by now */
	sb_sys_notify_fail(broker->performer->listener, call->id, error);
}

/*
 * SECURITY: what goes on is read once more by the kernel, and may be something else by then.
 *
 * Danger: a path that was a device becomes a protected file.  Then only the arguments in registers
 * are what we saw, and the command's own Landlock layer decides by them: it lets nothing be written
 * or made but in devices and fast roots.  It decides nothing about an open without write access,
 * which O_TRUNC empties all the same (truncation is not ruled where there are mounts:
 * linux_landlock.c), and nothing at all where it is missing.
 * Price: there such opens are refused.
 * Held by: tests/supervise/swapped.py
 */
static int why_not_through(const struct sb_layers *layers, const struct sb_call *call)
{
	int access = call->flags & O_ACCMODE;

	if (call->act != SB_ACT_OPEN)
		return 0;
	if (call->flags_in_memory)
		return ENOSYS;    /* as an old kernel: constrained.h */
	if (call->flags & O_PATH) /* nothing else counts then, and it gives no access: open(2) */
		return 0;
	if ((call->flags & O_TRUNC) && access != O_WRONLY && access != O_RDWR)
		return EACCES;
	return (call->flags & SB_OPENS_TO_CHANGE) && layers->landlock_abi < 1 ? EACCES : 0;
}

void sb_broker_let_through(const struct sb_broker *broker, const struct sb_call *call)
{
	int error = why_not_through(broker->performer->layers, call);

	if (error)
		sb_broker_fail(broker, call, error);
	else
		sb_sys_notify_continue(broker->performer->listener, call->id);
}

static void note(void *context, enum sb_note_weight weight, const char *line)
{
	struct sb_broker *broker = context;
	bool new;

	pthread_mutex_lock(&broker->notes_lock);
	/* many more than anybody reads: the asker knows which of them to keep */
	new = sb_notes_add(&broker->notes, weight, line) ||
	      broker->notes.known_count == SB_NOTES_KNOWN;
	pthread_mutex_unlock(&broker->notes_lock);
	if (new)
		sb_wire_send_note(broker->performer->channel, weight, line);
}

struct sb_telling sb_broker_telling(struct sb_broker *broker)
{
	return (struct sb_telling){broker->performer->policy, note, broker};
}

void sb_broker_forward(struct sb_broker *broker, const struct sb_call *call, struct sb_spot *file,
		       struct sb_spot *target, int socket)
{
	long process = sb_thread_process(broker->performer->proc, call->thread);

	if (process < 0)
		sb_broker_fail(broker, call, EACCES);
	else
		sb_broker_forward_for(broker, call, (pid_t)process, file, target, socket);
}

void sb_broker_forward_for(struct sb_broker *broker, const struct sb_call *call, pid_t process,
			   struct sb_spot *file, struct sb_spot *target, int socket)
{
	const struct sb_performer *performer = broker->performer;
	struct sb_wire_request *request = sb_wire_request_new();

	if (!request) {
		sb_broker_fail(broker, call, EACCES);
		return;
	}
	request->call = *call;
	sb_inner_look(call, file, target, &request->inner);
	request->process = process;
	request->umask = sb_broker_umask(broker, call->thread);
	request->file = *file;
	request->target = target ? *target : SB_SPOT_EMPTY;
	request->socket = socket;
	sb_trace_passed_on(call);
	/* no asker: nobody could say yes */
	if (sb_wire_send_request(performer->channel, request) < 0)
		sb_broker_fail(broker, call, EACCES);
	sb_wire_request_free(request);
}

void sb_broker_answer(const struct sb_broker *broker, const struct sb_call *call,
		      const struct sb_spot *file, const struct sb_spot *target,
		      struct sb_outcome *outcome)
{
	sb_deliver_quickly(broker->performer->listener, call, file, target, outcome);
}

/*
 * The kernel's own answer, not a refusal of ours.  It minds a full table of descriptors before
 * the path, so that is looked at when an open has failed otherwise.
 */
void sb_broker_answer_error(const struct sb_broker *broker, const struct sb_call *call, int error)
{
	if (call->act == SB_ACT_OPEN && call->file.path[0] &&
	    sb_thread_is_table_full(broker->performer->proc, call->thread))
		error = EMFILE;
	sb_broker_fail(broker, call, error);
}

int sb_broker_resolve(const struct sb_broker *broker, struct sb_cwd *cwd,
		      const struct sb_call *call, const struct sb_named *named,
		      enum sb_lookup lookup, struct sb_spot *out)
{
	const struct sb_caller caller = {call->thread, broker->performer->proc, cwd};

	if (named->by_descriptor) {
		int status = sb_resolve_descriptor(&caller, named->fd, out);

		if (status == 0 && named->open_only &&
		    !sb_thread_has_open(broker->performer->proc, call->thread, named->fd)) {
			sb_spot_done(out);
			return -EBADF;
		}
		return status;
	}
	if (call->resolve && named == &call->file)
		return sb_resolve_constrained(&caller, call, out);
	return sb_resolve(&caller, named->fd, named->path, lookup, out);
}
