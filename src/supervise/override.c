/*
 * override.c - C9 in a supervised run: answers taken back and rules added from outside, with
 * their place in the record.
 */
#include "consent/override.h"

#include "supervise/approve.h"
#include "supervise/thread.h"

static struct sb_override override_of(const struct sb_approver *approver)
{
	return (struct sb_override){.policy = approver->policy,
				    .guard = approver->grounds->guard,
				    .home = approver->home,
				    .grants = approver->grants,
				    .session = approver->session};
}

/* Said to everybody who sees the run, and recorded. */
static void tell(struct sb_approver *approver, enum sb_event_kind kind, int status,
		 const struct sb_buf *line, const struct sb_error *err)
{
	struct sb_event event = {.kind = kind, .note = line->data};

	if (status != SB_OK) {
		sb_approver_tell(approver, err);
		return;
	}
	sb_approver_record(approver, &event);
	if (approver->asking.notice)
		approver->asking.notice(approver->asking.context, line->data);
}

void sb_approver_take_back(struct sb_approver *approver, unsigned long number)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(16 * PATH_MAX);
	const struct sb_override override = override_of(approver);
	struct sb_error err;
	int status = sb_override_take_back(&override, number, &line, &err);

	tell(approver, SB_EVENT_REVOKE, status, &line, &err);
}

void sb_approver_add(struct sb_approver *approver, const char *rule)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(16 * PATH_MAX);
	const struct sb_override override = override_of(approver);
	struct sb_error err;
	int status = sb_override_add(&override, rule, &line, &err);

	tell(approver, SB_EVENT_GRANT, status, &line, &err);
	sb_approver_reconsider(approver);
}

/* "Once" ends with its process. */
static bool holds(void *context, const struct sb_standing *standing)
{
	const struct sb_approver *approver = context;

	return standing->answer != SB_ANSWER_ONCE || !standing->process ||
	       sb_process_start(approver->proc, standing->process) == standing->started;
}

void sb_approver_tell_standing(struct sb_approver *approver, struct sb_socket *socket)
{
	sb_standing_tell(approver->grants, socket, &approver->told_changes, holds, approver);
}
