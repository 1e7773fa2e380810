/* keeper_record.c - the session's record (F7), and the socket on which people attach to it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "mcp/keeper/keeper_impl.h"
#include "policy/encode.h"

static const char *const command[] = {"sandbash", "--mcp", NULL};

static const char *worker_of(const struct sb_keeper_options *options)
{
	return options->worker ? options->worker->worker.name : NULL;
}

static int record_start(struct sb_audit *audit, const struct sb_keeper_options *options,
			struct sb_error *err)
{
	const struct sb_setup *setup = options->setup;
	SB_AUTO_BUF struct sb_buf bytes = SB_BUF(SB_POLICY_BYTES);
	char hash[SB_SHA256_HEX];
	struct sb_event event = {.kind = SB_EVENT_START,
				 .command = command,
				 .worker = worker_of(options),
				 .directory = setup->home.cwd,
				 .mode = sb_mode_name(sb_policy_mode(setup->policy)),
				 .policy_hash = hash};

	sb_policy_encode(setup->policy, &bytes);
	sb_sha256_hex(bytes.data, bytes.length, hash);
	return sb_audit_write(audit, &event, err);
}

int sb_keeper_require_record(const struct sb_keeper_options *options, struct sb_audit **out,
			     struct sb_error *err)
{
	struct sb_audit *audit;
	int status =
		sb_audit_open(options->setup->home.state_dir, options->line->session, &audit, err);

	if (status != SB_OK)
		return status;
	status = sb_audit_reserve(audit, err);
	if (status == SB_OK)
		status = record_start(audit, options, err);
	if (status == SB_OK)
		*out = audit;
	else
		sb_audit_close(audit);
	return status;
}

bool sb_keeper_way_in(const struct keeper *keeper, char out[SB_KEEPER_WAY_IN])
{
	/* who attaches to a session that never asks could not answer either */
	if (keeper->options->line->consent == SB_CONSENT_DENY)
		return false;
	snprintf(out, SB_KEEPER_WAY_IN, "sandbash --attach%s%s", keeper->audit ? "=" : "",
		 keeper->audit ? sb_audit_session(keeper->audit) : "");
	return true;
}

static void open_socket(struct keeper *keeper)
{
	const struct sb_home *home = &keeper->options->setup->home;
	struct sb_socket_options options = keeper->people;

	options.size = sizeof options;
	options.state_dir = home->state_dir;
	options.session = keeper->audit ? sb_audit_session(keeper->audit) : NULL;
	options.name = keeper->own_session ? NULL : keeper->session_name;
	options.directory = home->cwd;
	options.command = command;
	options.mode = sb_mode_name(sb_policy_mode(keeper->options->setup->policy));
	options.asks = keeper->options->line->consent != SB_CONSENT_DENY;
	if (sb_socket_open(&options, &keeper->socket, NULL) != SB_OK)
		keeper->socket = NULL;
}

void sb_keeper_open_record(struct keeper *keeper)
{
	const struct sb_setup *setup = keeper->options->setup;

	if (!keeper->audit_tried) {
		keeper->audit_tried = true;
		if (sb_audit_open(setup->home.state_dir,
				  keeper->own_session ? NULL : keeper->session_name, &keeper->audit,
				  NULL) == SB_OK)
			record_start(keeper->audit, keeper->options, NULL);
		else
			keeper->audit = NULL;
	}
	if (!keeper->socket_tried) {
		keeper->socket_tried = true;
		open_socket(keeper);
	}
}

struct sb_event sb_keeper_event(enum sb_event_kind kind, const json_t *told)
{
	return (struct sb_event){.kind = kind,
				 .op = sb_get_text(told, "op"),
				 .act = sb_get_text(told, "tool"),
				 .path = sb_get_text(told, "path"),
				 .given = sb_get_text(told, "given"),
				 .target = sb_get_text(told, "to"),
				 .rule = sb_get_text(told, "rule"),
				 .content = sb_get_text(told, "content"),
				 .by = sb_get_text(told, "by"),
				 .verdict = kind == SB_EVENT_DENY ? "deny" : "allow",
				 .error = kind == SB_EVENT_DENY ? EACCES : 0,
				 .directory = sb_get_text(told, "root")};
}

struct sb_event sb_keeper_event_of(const struct keeper_question *question, enum sb_event_kind kind,
				   const char *by)
{
	return (struct sb_event){.kind = kind,
				 .question = question->shown.id,
				 .op = sb_op_name(question->shown.op),
				 .act = question->perform ? question->perform->tool : "run_command",
				 .path = question->shown.path,
				 .by = by};
}

void sb_keeper_record(struct keeper *keeper, struct sb_event *event)
{
	enum sb_op named = sb_op_named(event->op), op = named < SB_OP_COUNT ? named : SB_READ;

	sb_keeper_open_record(keeper);
	event->program = "sandbash-mcp";
	event->worker = worker_of(keeper->options);
	event->process = getpid();
	/* what was asked about was seen then */
	if (event->kind == SB_EVENT_ASK ||
	    (!event->question && (event->kind == SB_EVENT_DENY || event->kind == SB_EVENT_PERFORM)))
		keeper->counters.seen[op]++;
	if (event->kind == SB_EVENT_ASK)
		keeper->counters.asked[op]++;
	else if (event->kind == SB_EVENT_DENY)
		keeper->counters.denied[op]++;
	else if (event->kind == SB_EVENT_PERFORM)
		keeper->counters.approved[op]++;
	if (keeper->audit)
		sb_audit_write(keeper->audit, event, NULL);
}

void sb_keeper_count(struct keeper *keeper, const json_t *allowed)
{
	for (size_t op = 0; op < SB_OP_COUNT; op++) {
		json_int_t count = json_integer_value(json_array_get(allowed, op));

		keeper->counters.seen[op] += count > 0 ? (unsigned long)count : 0;
		keeper->counters.allowed[op] += count > 0 ? (unsigned long)count : 0;
	}
}

void sb_keeper_close_record(struct keeper *keeper)
{
	struct sb_event event = {
		.kind = SB_EVENT_EXIT, .has_status = true, .counters = &keeper->counters};

	if (keeper->audit)
		sb_audit_write(keeper->audit, &event, NULL);
	sb_audit_close(keeper->audit);
	sb_socket_close(keeper->socket);
}
