#include "supervise/unseen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "path/path.h"
#include "supervise/acts.h"
#include "supervise/thread.h"

/* --- the performer --------------------------------------------------------------------------- */

static enum sb_op op_of(const struct sb_call *call)
{
	if (call->act != SB_ACT_OPEN)
		return sb_acts[call->act].op;
	if (call->flags & O_CREAT)
		return SB_CREATE;
	return (call->flags & (O_ACCMODE | O_TRUNC)) ? SB_MODIFY : SB_READ;
}

/* The last name of the program, and behind it the path, which begins with the first slash. */
static void tell(const struct sb_performer *performer, struct sb_wire_message *message,
		 const struct sb_call *call, const char *path)
{
	long process = sb_thread_process(performer->proc, call->thread);
	char program[PATH_MAX] = "", text[PATH_MAX];

	if (process > 0) { /* now, since it may have ended when the asker hears of it */
		message->init = (pid_t)process;
		sb_process_program(performer->proc, message->init, program, sizeof program);
	}
	if (path[0] == '/' && snprintf(text, sizeof text, "%s%s",
				       strrchr(program, '/') ? strrchr(program, '/') + 1 : "",
				       path) >= (int)sizeof text)
		snprintf(text, sizeof text, "%s", path);
	if (path[0] == '/')
		sb_wire_send_text(performer->channel, message, text);
}

void sb_unseen_tell(struct sb_broker *broker, struct sb_cwd *cwd, const struct sb_call *call,
		    const char *path)
{
	const struct sb_performer *performer = broker->performer;
	struct sb_wire_message message = {.kind = SB_WIRE_UNSEEN, .number = (int)op_of(call)};
	struct sb_spot spot = SB_SPOT_EMPTY;

	if (!performer->plan->tells_hidden || call->act == SB_ACT_ACCESS ||
	    call->file.by_descriptor || call->resolve)
		return;
	if (!path) {
		int status =
			sb_broker_resolve(broker, cwd, call, &call->file, SB_LOOKUP_SOCKET, &spot);

		path = status == 0 || status == -EACCES ? spot.path : "";
	}
	if (path[0])
		sb_broker_seen(broker, op_of(call));
	tell(performer, &message, call, path);
	sb_spot_done(&spot);
}

void sb_allowed_tell(struct sb_broker *broker, const struct sb_call *call, enum sb_op op,
		     const struct sb_spot *file, const struct sb_spot *target)
{
	const struct sb_performer *performer = broker->performer;
	struct sb_wire_message message = {.kind = SB_WIRE_ALLOWED, .number = (int)op};

	if (!performer->plan->tells_allowed)
		return;
	if (op == SB_READ) {
		sb_broker_seen(broker, op);
		sb_broker_done(broker, op);
	}
	tell(performer, &message, call, sb_spot_path(file));
	message.number = SB_CREATE;
	if (target)
		tell(performer, &message, call, sb_spot_path(target));
}

/* --- the asker ------------------------------------------------------------------------------- */

/*
 * Without a sandbox, would this have been possible at all?  What is made needs no more than a directory.
 * *op becomes what it would have been.
 */
static bool would_be(const char *path, enum sb_op *op)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);
	struct stat info;
	bool there = lstat(path, &info) == 0;

	if (*op == SB_CREATE && there)
		*op = SB_MODIFY;
	if (*op == SB_READ)
		return there && access(path, R_OK) == 0;
	return there || (*op == SB_CREATE && parent && access(parent, W_OK | X_OK) == 0);
}

static enum sb_op told_op(const struct sb_wire_message *message)
{
	return message->number >= 0 && message->number < SB_OP_COUNT ? (enum sb_op)message->number
								     : SB_MODIFY;
}

/* The performer's word, which is enough for what changes nothing but the record. */
void sb_allowed_heard(struct sb_approver *approver, const struct sb_wire_message *message,
		      const char *text)
{
	const char *path = text + strcspn(text, "/");
	char program[NAME_MAX + 1] = "";
	struct sb_event event = {.kind = SB_EVENT_ALLOW,
				 .op = sb_op_name(told_op(message)),
				 .path = path,
				 .program = program,
				 .process = message->init,
				 .verdict = "allow"};

	if (!path[0] || path - text > NAME_MAX)
		return;
	memcpy(program, text, (size_t)(path - text));
	if (!program[0])
		event.program = NULL;
	sb_approver_record(approver, &event);
}

void sb_unseen_heard(struct sb_approver *approver, const struct sb_wire_message *message,
		     const char *text)
{
	const char *path = text + strcspn(text, "/");
	SB_AUTO_FREE char *canonical = NULL;
	enum sb_op op = told_op(message);
	char program[NAME_MAX + 1] = "";
	struct sb_decision decision;
	struct sb_refusal refusal;
	struct sb_event event;

	if (!path[0] || path - text > NAME_MAX ||
	    sb_path_canonical(path, &canonical, NULL, NULL) != SB_OK || !would_be(canonical, &op))
		return;
	decision = sb_decide(approver->policy, op, canonical);
	if (decision.verdict == SB_ALLOW)
		return;
	memcpy(program, text, (size_t)(path - text));
	event = (struct sb_event){.kind = SB_EVENT_DENY,
				  .op = sb_op_name(op),
				  .path = canonical,
				  .program = program[0] ? program : NULL,
				  .process = message->init,
				  .rule = decision.rule ? decision.rule->origin : NULL,
				  .verdict = "deny",
				  .error = EACCES};
	refusal = (struct sb_refusal){.op = op,
				      .path = canonical,
				      .program = program[0] ? program : NULL,
				      .rule = decision.rule};
	approver->counters.denied[op]++;
	if (sb_decision_is_quiet(&decision, op))
		event.by = "quiet";
	else if (approver->summary)
		sb_summary_add(approver->summary, &refusal);
	sb_approver_record(approver, &event);
}
