#include "supervise/contacts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "supervise/thread.h"

/* The texts of an event, for as long as it is written. */
struct words {
	char host[SB_HOST_NAME_SIZE], address[SB_HOST_ADDRESS_SIZE], program[PATH_MAX];
};

static struct sb_event event_of(const struct sb_approver *approver, const struct sb_host_wish *wish,
				enum sb_event_kind kind, struct words *words)
{
	const struct sb_peer *peer = &wish->peer;
	const struct sb_address *address = wish->found.family ? &wish->found : &peer->address;
	struct sb_event event = {.kind = kind,
				 .op = "connect",
				 .host = words->host,
				 .port = peer->port,
				 .protocol = peer->protocol == SB_UDP ? "udp" : "tcp",
				 .process = wish->process,
				 .rule = wish->rule ? wish->rule->origin : NULL};

	if (address->family) {
		sb_address_print(address, words->address);
		event.address = words->address;
	}
	memcpy(words->host, peer->name[0] ? peer->name : words->address, sizeof words->host);
	if (!peer->name[0])
		event.address = NULL;
	sb_process_program(approver->proc, wish->process, words->program, sizeof words->program);
	if (words->program[0])
		event.program = words->program;
	return event;
}

void sb_contact_asked(struct sb_approver *approver, const struct sb_host_wish *wish,
		      unsigned long question, const char *answer, const char *by)
{
	struct words words = {0};
	struct sb_event event =
		event_of(approver, wish, answer ? SB_EVENT_ANSWER : SB_EVENT_ASK, &words);

	event.question = question;
	event.by = by;
	event.answer = answer;
	sb_approver_record(approver, &event);
}

/* For the end of the run.  message: how the connection ended; or NULL. */
static void sum_up(const struct sb_approver *approver, const struct sb_host_wish *wish,
		   const struct sb_event *event, bool reached,
		   const struct sb_gate_message *message)
{
	const struct sb_peer *peer = &wish->peer;
	const struct sb_contact contact = {
		.peer = wish->found.family
				? sb_peer_of_address(peer->protocol, &wish->found, peer->port)
				: *peer,
		.reached = reached,
		.program = event->program,
		.by = event->by,
		.proxy = message ? message->proxy : 0,
		.variable = message ? message->variable : NULL,
		.tls = message && message->refused ? message->tls : NULL,
		.rule = wish->rule};

	if (approver->summary)
		sb_summary_contact(approver->summary, &contact);
}

void sb_contact_refused(struct sb_approver *approver, const struct sb_host_wish *wish,
			const char *by, const char *program)
{
	struct words words = {0};
	struct sb_event event = event_of(approver, wish, SB_EVENT_DENY, &words);
	/* an agent's statistics, say: nobody misses them */
	bool quiet = wish->rule && wish->rule->tier == SB_TIER_PROFILE &&
		     wish->rule->verdict == SB_DENY;

	if (program)
		event.program = program[0] ? program : NULL;
	event.verdict = "deny";
	event.by = quiet ? "quiet" : by;
	event.error = EACCES;
	sb_approver_record(approver, &event);
	if (!quiet)
		sum_up(approver, wish, &event, false, NULL);
	approver->counters.denied[SB_MODIFY]++;
}

/* The performer's word, which is enough for what changes nothing but the record. */
void sb_contact_refused_inside(struct sb_approver *approver, pid_t process, const char *text)
{
	static const struct sb_connect_rule rule = {.verdict = SB_DENY,
						    .tier = SB_TIER_SYSTEM, /* no option of ours */
						    .text = "",
						    .origin = "the rules of a run inside"};
	struct sb_host_wish wish = {.process = process, .rule = &rule};
	const char *space = strchr(text, ' ');
	char peer[SB_PEER_TEXT_SIZE];
	struct sb_error err;

	if (!space || (size_t)(space - text) >= sizeof peer)
		return;
	snprintf(peer, sizeof peer, "%.*s", (int)(space - text), text);
	if (sb_peer_parse(peer, &wish.peer, &err) == SB_OK)
		sb_contact_refused(approver, &wish, NULL, space + 1);
}

void sb_contact_ended(struct sb_approver *approver, const struct sb_gate_message *message,
		      int error, const char *program)
{
	const struct sb_host_wish wish = {
		.peer = message->peer,
		.process = message->process,
		.rule = sb_decide_connect(approver->policy, &message->peer).rule};
	struct words words = {0};
	struct sb_event event = event_of(approver, &wish, SB_EVENT_CONNECT, &words);

	event.verdict = "allow";
	event.error = error;
	event.sent = message->sent;
	event.received = message->received;
	event.milliseconds = message->milliseconds;
	event.tls_name = message->tls[0] ? message->tls : NULL;
	if (program)
		event.program = program;
	if (message->refused) {
		event.verdict = "deny";
		event.error = ECONNRESET;
		event.by = "tls";
	}
	if (message->proxy)
		event.by = "proxy";
	sb_approver_record(approver, &event);
	/* a host that is down behind a proxy is one that is down */
	if (!error || (message->proxy && !sb_proxy_is_down(message->proxy)))
		sum_up(approver, &wish, &event, !error && !message->refused, message);
}
