#include "supervise/peers.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/hash.h"
#include "network/dns.h"
#include "supervise/contacts.h"
#include "supervise/errands.h"
#include "supervise/thread.h"

#define LOOK_MS 500    /* how often we look whether who waits still lives */
#define LAST_MS 500    /* how long the end waits to hear of connections */
#define MAX_DIALS 4096 /* that wait for an answer */

struct dial { /* a connection that waits at the gate */
	struct dial *next;
	struct sb_gate_message message;
};

/* A question that is open.  Everybody who wants to reach the same waits for it. */
struct asked {
	struct asked *next;
	struct sb_host_wish wish;
	unsigned long id;
	uint64_t deadline_ms; /* 0: none */
	struct dial *waiting;
};

struct sb_peers {
	struct sb_approver *approver;
	int gate;
	struct sb_errands errands;
	int listens[SB_PEERS_LISTENS];
	size_t listen_count;
	struct asked *asked;
	size_t dial_count;
	struct { /* who has made a connection, whose end is told when it may be gone */
		uint32_t id;
		char *program;
	} made[SB_GATE_FLOWS];
	bool over; /* nothing is decided any more */
	uint64_t looked_ms;
};

static void tell_gate(struct sb_peers *peers, const struct sb_gate_message *message, int fd)
{
	if (peers->gate >= 0)
		sb_gate_send(peers->gate, message, &fd, fd >= 0);
}

/* What becomes of a message, in one number. */
static void answer_gate(struct sb_peers *peers, const struct sb_gate_message *message,
			enum sb_gate_kind kind, int number)
{
	const struct sb_gate_message answer = {.kind = kind, .id = message->id, .number = number};

	tell_gate(peers, &answer, -1);
}

/* --- questions ------------------------------------------------------------------------------------ */

static bool same_host(const struct sb_host_wish *a, const struct sb_host_wish *b)
{
	char one[SB_HOST_TEXT_SIZE], other[SB_HOST_TEXT_SIZE];

	sb_host_text(a, one);
	sb_host_text(b, other);
	return strcmp(one, other) == 0;
}

static bool put_question(struct sb_peers *peers, const struct asked *asked, const char *program)
{
	struct sb_approver *approver = peers->approver;
	const char *slash = strrchr(program, '/');
	struct sb_question question = {.id = asked->id,
				       .program = slash ? slash + 1 : program,
				       .process = asked->wish.process,
				       .project = approver->project};
	struct sb_host_words words;

	sb_host_question(&asked->wish, &words, &question);
	return approver->asking.ask(approver->asking.context, &question);
}

/* Does the flood of questions leave room for this one?  The host makes it another than the next. */
static bool may_ask(struct sb_peers *peers, const struct asked *asked, const char *program)
{
	struct sb_approver *approver = peers->approver;
	char text[SB_HOST_TEXT_SIZE + 5] = "host ";
	struct sb_flood_key key;
	struct sb_flood_answer flood;

	sb_host_text(&asked->wish, text + 5);
	sb_sha256_hex(text, strlen(text), key.hex);
	flood = sb_flood_ask(approver->flood, &key, asked->id, program, (uint64_t)sb_now_ms());
	if (flood.line && approver->asking.notice)
		approver->asking.notice(approver->asking.context, flood.line);
	return flood.verdict == SB_FLOOD_ASK;
}

/* NULL: it cannot be asked, and *out_by says why. */
static struct asked *ask(struct sb_peers *peers, const struct sb_host_wish *wish,
			 const char **out_by)
{
	struct sb_approver *approver = peers->approver;
	struct asked *asked;
	char program[PATH_MAX];

	*out_by = "nobody";
	if (!approver->asking.can_ask(approver->asking.context))
		return NULL;
	asked = calloc(1, sizeof *asked);
	if (!asked)
		return NULL;
	*asked = (struct asked){.next = peers->asked, .wish = *wish};
	asked->id = approver->last_question + 1;
	sb_process_program(approver->proc, wish->process, program, sizeof program);
	if (!may_ask(peers, asked, program)) {
		*out_by = "flood";
		free(asked);
		return NULL;
	}
	approver->last_question++;
	if (!put_question(peers, asked, program)) {
		sb_flood_answered(approver->flood, asked->id, SB_ANSWER_NONE);
		free(asked);
		return NULL;
	}
	approver->counters.asked[SB_MODIFY]++;
	if (approver->timeout_ms)
		asked->deadline_ms = (uint64_t)(sb_now_ms() + approver->timeout_ms);
	peers->asked = asked;
	sb_contact_asked(approver, &asked->wish, asked->id, NULL, NULL);
	return asked;
}

/* Who it is: the gate knows a thread, or nobody.  False: who it was is gone. */
static bool complete(const struct sb_peers *peers, struct sb_host_wish *wish)
{
	long process = sb_thread_process(peers->approver->proc, wish->process);

	if (process > 0)
		wish->process = (pid_t)process;
	wish->started = sb_process_start(peers->approver->proc, wish->process);
	return wish->started || !wish->process;
}

/* A line of /proc/net/tcp: "  0: 0100007F:1F90 00000000:0000 0A ...": is it this port's listener? */
static bool is_listener(const char *line, uint16_t port)
{
	const char *number = strchr(line, ':'), *local = number ? strchr(number + 1, ':') : NULL;
	const char *remote = local ? strchr(local, ' ') : NULL,
		   *state = remote ? strchr(remote + 1, ' ') : NULL;

	return state && strtoul(local + 1, NULL, 16) == port &&
	       strtoul(state, NULL, 16) == TCP_LISTEN;
}

/*
 * Does something outside listen there at all?  Programs try ports of this machine to see what there is, and the answer to
 * that is the same as without us.  proc: a descriptor of /proc.
 */
static bool is_listened_to(int proc, uint16_t port)
{
	static const char *const files[] = {"self/net/tcp", "self/net/tcp6"};
	char line[512];
	bool found = false;

	for (size_t i = 0; i < 2 && !found; i++) {
		int fd = openat(proc, files[i], O_RDONLY | O_CLOEXEC);
		FILE *file = fd >= 0 ? fdopen(fd, "re") : NULL;

		while (file && !found && fgets(line, sizeof line, file))
			found = is_listener(line, port);
		if (file)
			fclose(file);
		else if (fd >= 0)
			close(fd);
	}
	return found;
}

/* 0: it may be reached; SB_GATE_WAIT: *out waits for an answer; or an errno. */
static int decide(struct sb_peers *peers, struct sb_host_wish *wish, struct asked **out)
{
	const struct sb_policy *policy = peers->approver->policy;
	struct sb_reach reach = wish->found.family
					? sb_decide_address(policy, &wish->peer, &wish->found)
					: sb_decide_connect(policy, &wish->peer);
	enum sb_answer answer;
	const char *by = NULL;

	*out = NULL;
	wish->rule = reach.rule;
	if (reach.verdict == SB_ALLOW)
		return 0;
	if (!complete(peers, wish))
		return EACCES;
	answer = reach.verdict == SB_DENY ? SB_ANSWER_DENY
					  : sb_grants_find_host(peers->approver->grants, wish);
	if (answer == SB_ANSWER_ONCE || answer == SB_ANSWER_DIRECTORY)
		return 0;
	if (answer == SB_ANSWER_NONE) {
		for (*out = peers->asked; *out && !same_host(&(*out)->wish, wish);)
			*out = (*out)->next;
		if (!*out && strcmp(wish->peer.name, SB_HOST_LOCAL) == 0 &&
		    wish->peer.protocol == SB_TCP &&
		    !is_listened_to(peers->approver->proc, wish->peer.port))
			return ECONNREFUSED;
		if (!*out)
			*out = ask(peers, wish, &by);
		if (*out)
			return SB_GATE_WAIT;
	} else if (reach.verdict != SB_DENY) {
		by = "grant";
	}
	sb_contact_refused(peers->approver, wish, by, NULL);
	return EACCES;
}

/* --- connections ------------------------------------------------------------------------------------------ */

static void note_program(struct sb_peers *peers, const struct sb_gate_message *message)
{
	size_t i = message->id % SB_GATE_FLOWS;
	char program[PATH_MAX];

	sb_process_program(peers->approver->proc, message->process, program, sizeof program);
	free(peers->made[i].program);
	peers->made[i].id = message->id;
	peers->made[i].program = program[0] ? strdup(program) : NULL;
}

static void end(struct sb_peers *peers, const struct sb_gate_message *message, int error)
{
	size_t i = message->id % SB_GATE_FLOWS;

	sb_contact_ended(peers->approver, message, error,
			 peers->made[i].id == message->id ? peers->made[i].program : NULL);
}

/* To the dialer: it may be reached. */
static void pass_on(struct sb_peers *peers, const struct sb_gate_message *message)
{
	sb_errands_send(&peers->errands, message);
	if (message->kind == SB_GATE_DIAL)
		note_program(peers, message); /* while the dialer is at it */
}

static void fail_errand(void *context, const struct sb_gate_message *message)
{
	if (message->kind == SB_GATE_LOOK)
		answer_gate(context, message, SB_GATE_LOOKED, SB_DNS_SERVFAIL);
	else
		answer_gate(context, message, SB_GATE_DIALLED, EHOSTUNREACH);
}

static void keep_waiting(struct sb_peers *peers, struct asked *asked,
			 const struct sb_gate_message *message)
{
	struct dial *dial = peers->dial_count < MAX_DIALS ? malloc(sizeof *dial) : NULL;

	if (!dial) {
		answer_gate(peers, message, SB_GATE_DIALLED, EACCES);
		return;
	}
	*dial = (struct dial){asked->waiting, *message};
	asked->waiting = dial;
	peers->dial_count++;
}

/*
 * A connection that waits at the gate.  With an address beside its name it is one that the dialer did not
 * try, since a yes to the name does not cover that.
 */
static void take_dial(struct sb_peers *peers, const struct sb_gate_message *message)
{
	struct sb_host_wish wish = {.peer = message->peer, .process = message->process};
	struct asked *asked;
	int verdict;

	if (wish.peer.name[0]) {
		wish.found = wish.peer.address;
		wish.peer.address = (struct sb_address){0};
	}
	verdict = decide(peers, &wish, &asked);
	if (verdict == 0)
		pass_on(peers, message);
	else if (verdict == SB_GATE_WAIT)
		keep_waiting(peers, asked, message);
	else
		answer_gate(peers, message, SB_GATE_DIALLED, verdict);
}

static void take_ask(struct sb_peers *peers, const struct sb_gate_message *message)
{
	struct sb_host_wish wish = {.peer = message->peer, .process = message->process};
	struct asked *asked;

	answer_gate(peers, message, SB_GATE_VERDICT, decide(peers, &wish, &asked));
}

/*
 * SECURITY: the gate reads what the command sends, and may say anything.
 *
 * Danger: rules are about names in one spelling; "Telemetry.Example" would be none that is denied.
 * Price: none.
 * Held by: nothing; no gate of ours says so.
 */
static bool is_peer(const struct sb_peer *peer)
{
	char name[SB_HOST_NAME_SIZE];
	struct sb_error err;

	if ((peer->protocol != SB_TCP && peer->protocol != SB_UDP) ||
	    (peer->address.family && peer->address.family != AF_INET &&
	     peer->address.family != AF_INET6))
		return false;
	return peer->name[0] ? sb_host_name(peer->name, strlen(peer->name), name, &err) == SB_OK &&
				       strcmp(peer->name, name) == 0
			     : peer->address.family;
}

static void hear_gate(struct sb_peers *peers)
{
	struct sb_gate_message message;
	int fds[2], status = sb_gate_receive(peers->gate, &message, fds);

	for (int i = 0; i < 2; i++) /* it has none to give */
		sb_auto_close(&fds[i]);
	if (status == -EBADMSG)
		return;
	if (status < 0) { /* nothing can be reached any more */
		sb_auto_close(&peers->gate);
		return;
	}
	if ((peers->over && message.kind != SB_GATE_ENDED) || !is_peer(&message.peer))
		return;
	message.proxy = 0; /* of which it knows nothing */
	/* where a name leads is for the dialer to find out */
	if (message.peer.name[0] && message.kind != SB_GATE_ENDED)
		message.peer.address = (struct sb_address){0};
	sb_here_look(peers->approver->policy, &message.peer.address);
	switch (message.kind) {
	case SB_GATE_ASK:
		take_ask(peers, &message);
		break;
	case SB_GATE_DIAL:
		take_dial(peers, &message);
		break;
	case SB_GATE_LOOK:
		if (sb_decide_lookup(peers->approver->policy,
				     message.number ? sb_dns_owner(message.peer.name)
						    : message.peer.name) == SB_ALLOW)
			pass_on(peers, &message);
		else
			answer_gate(peers, &message, SB_GATE_LOOKED, SB_DNS_SERVFAIL);
		break;
	case SB_GATE_ENDED:
		end(peers, &message, 0);
		break;
	default:
		break;
	}
}

static void hear_dialer(struct sb_peers *peers)
{
	struct sb_gate_message message;
	int fds[2];

	if (sb_errands_hear(&peers->errands, &message, fds) != 0)
		return;
	if (message.kind == SB_GATE_UNLIKELY) {
		message.kind = SB_GATE_DIAL;
		take_dial(peers, &message);
	} else {
		if (message.kind == SB_GATE_DIALLED && message.number)
			end(peers, &message, message.number);
		tell_gate(peers, &message, fds[0]);
	}
	for (int i = 0; i < 2; i++)
		sb_auto_close(&fds[i]);
}

/* --- ports that lead inside ---------------------------------------------------------------------------------- */

static void open_listens(struct sb_peers *peers)
{
	const struct sb_policy *policy = peers->approver->policy;

	for (size_t i = 0; i < sb_listen_count(policy) && i < SB_PEERS_LISTENS; i++) {
		struct sockaddr_in place = {.sin_family = AF_INET,
					    .sin_port = htons(sb_listen_at(policy, i)->port),
					    .sin_addr = {htonl(INADDR_LOOPBACK)}};
		int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		struct sb_error err;

		if (fd >= 0)
			setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
		if (fd < 0 || bind(fd, (void *)&place, sizeof place) != 0 || listen(fd, 64) != 0) {
			sb_fail(&err, SB_E_SYSTEM, errno, "cannot listen on port %u",
				sb_listen_at(policy, i)->port);
			sb_approver_tell(peers->approver, &err);
			sb_auto_close(&fd);
		}
		peers->listens[peers->listen_count++] = fd;
	}
}

static void take_arrival(struct sb_peers *peers, size_t i)
{
	struct sb_gate_message message = {.kind = SB_GATE_ARRIVED};
	int one = 1, fd = accept4(peers->listens[i], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	message.peer.port = sb_listen_at(peers->approver->policy, i)->port;
	if (peers->gate >= 0)
		sb_gate_send(peers->gate, &message, &fd, 1);
	close(fd);
}

/* --- the asker's loop ------------------------------------------------------------------------------------------ */

struct sb_peers *sb_peers_open(struct sb_approver *approver, int gate)
{
	struct sb_peers *peers = calloc(1, sizeof *peers);

	if (!peers) {
		close(gate);
		return NULL;
	}
	*peers = (struct sb_peers){.approver = approver, .gate = gate};
	peers->errands = (struct sb_errands){
		.approver = approver, .dialer = -1, .failed = fail_errand, .context = peers};
	open_listens(peers);
	return peers;
}

/* A question is no more: what waited for it is looked at again, or is refused. */
static void release(struct sb_peers *peers, struct asked *asked, bool answered)
{
	struct asked **link = &peers->asked;
	struct dial *waiting = asked->waiting, *next;

	while (*link != asked)
		link = &(*link)->next;
	*link = asked->next;
	free(asked);
	for (; waiting; waiting = next) {
		next = waiting->next;
		peers->dial_count--;
		if (answered)
			take_dial(peers, &waiting->message);
		else
			answer_gate(peers, &waiting->message, SB_GATE_DIALLED, EACCES);
		free(waiting);
	}
}

/* The gate tells which connections there still were, and ends. */
static void hear_last(struct sb_peers *peers)
{
	int64_t until = sb_now_ms() + LAST_MS;
	struct pollfd wait = {peers->gate, POLLIN, 0};

	if (peers->errands.dialer < 0 || peers->gate < 0)
		return; /* there were none */
	peers->over = true;
	shutdown(peers->gate, SHUT_WR);
	while (peers->gate >= 0 && sb_now_ms() < until && poll(&wait, 1, LAST_MS) > 0)
		hear_gate(peers);
}

void sb_peers_close(struct sb_peers *peers)
{
	if (!peers)
		return;
	while (peers->asked)
		release(peers, peers->asked, false);
	hear_last(peers);
	sb_auto_close(&peers->gate);
	sb_errands_done(&peers->errands);
	for (size_t i = 0; i < peers->listen_count; i++)
		sb_auto_close(&peers->listens[i]);
	for (size_t i = 0; i < SB_GATE_FLOWS; i++)
		free(peers->made[i].program);
	free(peers);
}

size_t sb_peers_poll(const struct sb_peers *peers, struct pollfd *out)
{
	out[0] = (struct pollfd){peers->gate, POLLIN, 0};
	out[1] = (struct pollfd){peers->errands.dialer, POLLIN, 0};
	for (size_t i = 0; i < peers->listen_count; i++)
		out[2 + i] = (struct pollfd){peers->listens[i], POLLIN, 0};
	return 2 + peers->listen_count;
}

void sb_peers_handle(struct sb_peers *peers, const struct pollfd *fds, size_t count)
{
	if (fds[1].revents && peers->errands.dialer == fds[1].fd)
		hear_dialer(peers);
	if (fds[0].revents && peers->gate == fds[0].fd)
		hear_gate(peers);
	for (size_t i = 2; i < count; i++)
		if (fds[i].revents)
			take_arrival(peers, i - 2);
}

/* "Always": into the configuration, and said so.  False: it holds for the run only. */
static bool write_always(struct sb_approver *approver, const struct sb_host_wish *wish)
{
	SB_AUTO_FREE char *file = NULL, *rule = NULL;
	struct sb_error err;
	int status = sb_host_always(approver->home, wish, &file, &rule, &err);

	return sb_approver_tell_always(approver, status, rule, file, &err);
}

/* Whom the answer does not cover is asked about next: "once" is for the process that was shown. */
static void settle(struct sb_peers *peers, struct asked *asked, enum sb_answer answer,
		   const char *by)
{
	struct sb_approver *approver = peers->approver;

	sb_contact_asked(approver, &asked->wish, asked->id, sb_answer_name(answer), by);
	sb_flood_answered(approver->flood, asked->id, answer);
	if (answer == SB_ANSWER_NONE) { /* nobody has said no */
		sb_contact_refused(approver, &asked->wish, by, NULL);
		release(peers, asked, false);
		return;
	}
	if (answer == SB_ANSWER_ALWAYS && !write_always(approver, &asked->wish))
		answer = SB_ANSWER_DIRECTORY;
	if (answer != SB_ANSWER_DENY)
		approver->counters.approved[SB_MODIFY]++;
	/* what cannot be remembered counts for nobody, and is asked about again */
	if (sb_grants_remember_host(approver->grants, &asked->wish, answer, NULL) == SB_OK &&
	    approver->session)
		sb_session_keep_host(approver->session, &asked->wish, answer, NULL);
	release(peers, asked, true);
}

bool sb_peers_answer(struct sb_peers *peers, unsigned long question, enum sb_answer answer,
		     const char *by)
{
	struct asked *asked = peers ? peers->asked : NULL;

	while (asked && asked->id != question)
		asked = asked->next;
	if (asked)
		settle(peers, asked, answer, by);
	return asked;
}

int sb_peers_timeout_ms(const struct sb_peers *peers)
{
	return peers->asked ? LOOK_MS : -1;
}

/* Is it as it was when it was asked?  A rule that was added meanwhile may have answered it. */
static bool is_open(const struct sb_peers *peers, const struct asked *asked)
{
	return sb_grants_find_host(peers->approver->grants, &asked->wish) == SB_ANSWER_NONE;
}

void sb_peers_tick(struct sb_peers *peers)
{
	struct sb_approver *approver = peers->approver;
	uint64_t now = (uint64_t)sb_now_ms();

	if (!peers->asked || now - peers->looked_ms < LOOK_MS)
		return;
	peers->looked_ms = now;
	for (struct asked *asked = peers->asked, *next; asked; asked = next) {
		bool late = asked->deadline_ms && asked->deadline_ms <= now;
		bool gone = sb_process_start(approver->proc, asked->wish.process) !=
			    asked->wish.started;

		next = asked->next;
		if (!late && !gone && is_open(peers, asked))
			continue;
		approver->asking.withdraw(approver->asking.context, asked->id);
		if (late) {
			settle(peers, asked, SB_ANSWER_DENY, "timeout");
		} else { /* others who wait for it are asked about on their own */
			sb_flood_answered(approver->flood, asked->id, SB_ANSWER_NONE);
			release(peers, asked, true);
		}
		return; /* it may have asked anew: the rest next time */
	}
}
