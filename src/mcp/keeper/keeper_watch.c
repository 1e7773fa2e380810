/* keeper_watch.c - C9 for the server: which answers hold, taking one back, adding a rule. */
#include "consent/override.h"
#include "mcp/keeper/keeper_impl.h"
#include "options/set_up.h"

static struct sb_override override_of(const struct keeper *keeper, const struct sb_guard *guard)
{
	return (struct sb_override){.policy = keeper->options->setup->policy,
				    .guard = guard,
				    .home = &keeper->options->setup->home,
				    .grants = keeper->grants,
				    .session = keeper->session,
				    .keeps = true,
				    .bounded = true};
}

static void tell(struct keeper *keeper, enum sb_event_kind kind, int status,
		 const struct sb_buf *line, const struct sb_error *err)
{
	struct sb_event event = {.kind = kind, .note = line->data};

	if (status == SB_OK)
		sb_keeper_record(keeper, &event);
	if (keeper->socket)
		sb_socket_notice(keeper->socket, status == SB_OK ? line->data : err->message);
}

void sb_keeper_take_back(void *context, unsigned long number)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(16 * PATH_MAX);
	struct keeper *keeper = context;
	const struct sb_override override = override_of(keeper, NULL);
	struct sb_error err;
	int status = keeper->options->worker
			     ? sb_keeper_worker_take_back(keeper, number, &line, &err)
			     : sb_override_take_back(&override, number, &line, &err);

	tell(keeper, SB_EVENT_REVOKE, status, &line, &err);
}

void sb_keeper_add(void *context, const char *rule)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(16 * PATH_MAX);
	struct keeper *keeper = context;
	const struct sb_setup *setup = keeper->options->setup;
	struct sb_guard *guard = NULL;
	struct sb_error err;
	int status;

	if (keeper->options->worker)
		status = sb_fail(&err, SB_E_REFUSED, 0,
				 "the worker's file and the project's say what it may do");
	else
		status = sb_guard_of(setup, setup->policy, &guard, &err);
	if (status == SB_OK) {
		const struct sb_override override = override_of(keeper, guard);

		status = sb_override_add(&override, rule, &line, &err);
	}
	sb_guard_free(guard);
	tell(keeper, SB_EVENT_GRANT, status, &line, &err);
}

void sb_keeper_tell_standing(struct keeper *keeper)
{
	if (keeper->options->worker)
		sb_keeper_worker_tell_standing(keeper);
	else
		sb_standing_tell(keeper->grants, keeper->socket, &keeper->told_changes, NULL, NULL);
}
