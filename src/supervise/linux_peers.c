#include "supervise/peers.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "network/dns.h"
#include "network/network.h"
#include "supervise/thread.h"

#define LOOK_MS 500    /* how often we look whether who waits still lives */
#define MAX_HOSTS 4096 /* that were asked about: beyond that, all others are refused */
#define MAX_DIALS 4096 /* that wait for an answer, or for the other side */

enum state { ASKED, ALLOWED, DENIED };

struct dial { /* a connection that waits at the gate */
	struct dial *next;
	struct sb_gate_message message;
};

/* A peer that somebody was asked about, or a name at an address that its yes did not cover. */
struct host {
	struct host *next;
	struct sb_peer peer; /* both name and address: that name there */
	enum state state;
	unsigned long question; /* while it is open */
	pid_t process;          /* who was the first */
	uint64_t deadline_ms;   /* 0: none */
	struct dial *waiting;
};

struct sb_peers {
	struct sb_approver *approver;
	int gate, dialer;
	int listens[SB_PEERS_LISTENS];
	size_t listen_count;
	struct host *hosts;
	size_t host_count, dial_count, open;
	uint64_t looked_ms;
};

/* --- what to say ------------------------------------------------------------------------------------ */

static void tell_gate(struct sb_peers *peers, enum sb_gate_kind kind, uint32_t id, int number,
		      int fd)
{
	struct sb_gate_message message = {.kind = kind, .id = id, .number = number};

	if (peers->gate >= 0)
		sb_gate_send(peers->gate, &message, &fd, fd >= 0);
}

/* The program that a process is, as questions and the record name it. */
static void name_program(const struct sb_peers *peers, pid_t process, char out[PATH_MAX])
{
	char link[48];
	ssize_t length;

	snprintf(link, sizeof link, "%d/exe", process);
	length = readlinkat(peers->approver->proc, link, out, PATH_MAX - 1);
	out[length > 0 ? length : 0] = '\0';
}

static void record(struct sb_peers *peers, const struct host *host, enum sb_event_kind kind,
		   const char *answer, const char *by)
{
	char text[SB_PEER_TEXT_SIZE], program[PATH_MAX];
	struct sb_event event = {.kind = kind,
				 .question = host->question,
				 .op = "connect",
				 .act = "connect",
				 .path = text,
				 .program = program,
				 .process = host->process,
				 .answer = answer,
				 .by = by};

	sb_peer_print(&host->peer, text);
	name_program(peers, host->process, program);
	if (kind == SB_EVENT_DENY) {
		event.verdict = "deny";
		event.error = EACCES;
	}
	sb_approver_record(peers->approver, &event);
}

/* --- questions ------------------------------------------------------------------------------------------ */

static bool same_peer(const struct sb_peer *a, const struct sb_peer *b)
{
	return a->protocol == b->protocol && a->port == b->port && strcmp(a->name, b->name) == 0 &&
	       a->address.family == b->address.family && sb_address_equal(&a->address, &b->address);
}

static struct host *find_host(const struct sb_peers *peers, const struct sb_peer *peer)
{
	struct host *host = peers->hosts;

	while (host && !same_peer(&host->peer, peer))
		host = host->next;
	return host;
}

static bool put_question(struct sb_peers *peers, struct host *host,
			 const struct sb_connect_rule *rule)
{
	struct sb_approver *approver = peers->approver;
	char text[SB_PEER_TEXT_SIZE], program[PATH_MAX], where[SB_HOST_ADDRESS_SIZE],
		strange[SB_HOST_NAME_SIZE + 128];
	const char *slash;
	size_t notes = 0;
	struct sb_question question = {.id = host->question,
				       .op = SB_MODIFY,
				       .verb = host->peer.protocol == SB_UDP ? "send datagrams to"
									     : "connect to",
				       .path = text,
				       .program = program,
				       .process = host->process,
				       .project = approver->project,
				       .about = SB_ABOUT_SERVICE,
				       .rule = rule ? rule->origin : NULL};

	sb_peer_print(&host->peer, text);
	name_program(peers, host->process, program);
	slash = strrchr(program, '/');
	question.program = slash ? slash + 1 : program;
	if (host->peer.name[0] && host->peer.address.family) {
		sb_address_print(&host->peer.address, where);
		snprintf(strange, sizeof strange, "%s is %s: %s", host->peer.name, where,
			 sb_address_class_text(sb_address_class(&host->peer.address)));
		question.notes[notes++] = strange;
	}
	if (host->peer.name[0] && sb_host_name_note(host->peer.name))
		question.notes[notes++] = sb_host_name_note(host->peer.name);
	return approver->asking.ask(approver->asking.context, &question);
}

static struct host *add_host(struct sb_peers *peers, const struct sb_peer *peer, pid_t process)
{
	struct host *host = peers->host_count < MAX_HOSTS ? calloc(1, sizeof *host) : NULL;

	if (!host)
		return NULL;
	*host = (struct host){.next = peers->hosts, .peer = *peer, .process = process};
	peers->hosts = host;
	peers->host_count++;
	return host;
}

/* Ask about a host that nobody was asked about.  0: it waits; or an errno. */
static int ask(struct sb_peers *peers, const struct sb_peer *peer, pid_t process,
	       const struct sb_connect_rule *rule, struct host **out)
{
	struct sb_approver *approver = peers->approver;
	struct host *host = add_host(peers, peer, process);

	if (!host)
		return EACCES;
	host->question = ++approver->last_question;
	if (!approver->asking.can_ask(approver->asking.context) ||
	    !put_question(peers, host, rule)) {
		host->state = DENIED;
		record(peers, host, SB_EVENT_DENY, NULL, "nobody");
		/* whoever attaches later may be asked */
		peers->hosts = host->next;
		peers->host_count--;
		free(host);
		return EACCES;
	}
	host->state = ASKED;
	peers->open++;
	if (approver->timeout_ms)
		host->deadline_ms = (uint64_t)sb_now_ms() + (uint64_t)approver->timeout_ms;
	record(peers, host, SB_EVENT_ASK, NULL, NULL);
	*out = host;
	return 0;
}

/*
 * Does something outside listen there at all?  Programs try ports of this machine to see what there is,
 * and the answer to that is the same as without us.
 */
static bool host_listens(const struct sb_peers *peers, uint16_t port)
{
	static const char *const files[] = {"self/net/tcp", "self/net/tcp6"};
	char line[512];

	for (size_t i = 0; i < 2; i++) {
		int fd = openat(peers->approver->proc, files[i], O_RDONLY | O_CLOEXEC);
		FILE *file = fd >= 0 ? fdopen(fd, "re") : NULL;
		unsigned local, state;
		bool found = false;

		if (!file) {
			if (fd >= 0)
				close(fd);
			continue;
		}
		while (!found && fgets(line, sizeof line, file))
			found = sscanf(line, " %*d: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &local,
				       &state) == 2 &&
				state == TCP_LISTEN && local == port;
		fclose(file);
		if (found)
			return true;
	}
	return false;
}

/* 0: it may be reached; SB_GATE_WAIT: *out waits for an answer; or an errno. */
static int decide(struct sb_peers *peers, const struct sb_peer *peer, pid_t process,
		  struct host **out)
{
	struct sb_reach reach = sb_decide_connect(peers->approver->policy, peer);
	struct host *host;
	int error;

	*out = NULL;
	if (reach.verdict == SB_ALLOW)
		return 0;
	host = find_host(peers, peer);
	if (!host && reach.verdict == SB_DENY) {
		host = add_host(peers, peer, process);
		if (host) {
			host->state = DENIED;
			record(peers, host, SB_EVENT_DENY, NULL, NULL);
		}
	}
	if (!host && strcmp(peer->name, SB_HOST_LOCAL) == 0 && peer->protocol == SB_TCP &&
	    !host_listens(peers, peer->port))
		return ECONNREFUSED;
	if (!host) {
		error = ask(peers, peer, process, reach.rule, &host);
		if (error)
			return error;
	}
	*out = host;
	return host->state == ALLOWED && reach.verdict != SB_DENY ? 0
	       : host->state == ASKED                             ? SB_GATE_WAIT
								  : EACCES;
}

/* --- connections ------------------------------------------------------------------------------------------ */

static bool start_dialer(struct sb_peers *peers)
{
	struct sb_error err;

	if (peers->dialer < 0 &&
	    sb_dialer_start(peers->approver->policy, &peers->dialer, &err) != SB_OK) {
		peers->dialer = -1;
		sb_approver_tell(peers->approver, &err);
	}
	return peers->dialer >= 0;
}

/* To the dialer: it may be reached. */
static void pass_on(struct sb_peers *peers, const struct sb_gate_message *message)
{
	if (start_dialer(peers) && sb_gate_send(peers->dialer, message, NULL, 0) == 0)
		return;
	if (message->kind == SB_GATE_LOOK)
		tell_gate(peers, SB_GATE_LOOKED, message->id, SB_DNS_SERVFAIL, -1);
	else
		tell_gate(peers, SB_GATE_DIALLED, message->id, EHOSTUNREACH, -1);
}

static void keep_waiting(struct sb_peers *peers, struct host *host,
			 const struct sb_gate_message *message)
{
	struct dial *dial = peers->dial_count < MAX_DIALS ? malloc(sizeof *dial) : NULL;

	if (!dial) {
		tell_gate(peers, SB_GATE_DIALLED, message->id, EACCES, -1);
		return;
	}
	*dial = (struct dial){host->waiting, *message};
	host->waiting = dial;
	peers->dial_count++;
}

/* What waits for this host goes on, or does not. */
static void release(struct sb_peers *peers, struct host *host)
{
	while (host->waiting) {
		struct dial *dial = host->waiting;

		host->waiting = dial->next;
		peers->dial_count--;
		if (host->state == ALLOWED) {
			dial->message.peer =
				host->peer; /* at the address that was shown, if one was */
			pass_on(peers, &dial->message);
		} else {
			tell_gate(peers, SB_GATE_DIALLED, dial->message.id, EACCES, -1);
		}
		free(dial);
	}
}

static void forget(struct sb_peers *peers, struct host *host)
{
	struct host **link = &peers->hosts;

	while (*link != host)
		link = &(*link)->next;
	*link = host->next;
	peers->host_count--;
	free(host);
}

/* A name leads to where its yes does not: asked about again. */
static void take_unlikely(struct sb_peers *peers, const struct sb_gate_message *message)
{
	struct sb_gate_message dial = *message;
	struct host *host = find_host(peers, &message->peer);
	struct sb_reach reach =
		sb_decide_address(peers->approver->policy, &message->peer, &message->peer.address);

	dial.kind = SB_GATE_DIAL;
	if (!host && reach.verdict == SB_ASK)
		ask(peers, &message->peer, message->process, reach.rule, &host);
	if (host && host->state == ALLOWED)
		pass_on(peers, &dial);
	else if (host && host->state == ASKED)
		keep_waiting(peers, host, &dial);
	else
		tell_gate(peers, SB_GATE_DIALLED, message->id, EACCES, -1);
}

static void hear_gate(struct sb_peers *peers)
{
	struct sb_gate_message message;
	struct host *host;
	int fds[2], verdict, status = sb_gate_receive(peers->gate, &message, fds);

	for (int i = 0; i < 2; i++) /* it has none to give */
		if (fds[i] >= 0)
			close(fds[i]);
	if (status == -EBADMSG)
		return;
	if (status < 0) { /* nothing can be reached any more */
		close(peers->gate);
		peers->gate = -1;
		return;
	}
	switch (message.kind) {
	case SB_GATE_ASK:
		verdict = decide(peers, &message.peer, message.process, &host);
		tell_gate(peers, SB_GATE_VERDICT, message.id, verdict, -1);
		break;
	case SB_GATE_DIAL:
		if (message.peer.name[0]) /* where it leads is for the dialer to find out */
			message.peer.address = (struct sb_address){0};
		verdict = decide(peers, &message.peer, message.process, &host);
		if (verdict == 0)
			pass_on(peers, &message);
		else if (verdict == SB_GATE_WAIT)
			keep_waiting(peers, host, &message);
		else
			tell_gate(peers, SB_GATE_DIALLED, message.id, verdict, -1);
		break;
	case SB_GATE_LOOK:
		if (sb_decide_lookup(peers->approver->policy, message.peer.name) == SB_ALLOW)
			pass_on(peers, &message);
		else
			tell_gate(peers, SB_GATE_LOOKED, message.id, SB_DNS_SERVFAIL, -1);
		break;
	default:
		break;
	}
}

static void hear_dialer(struct sb_peers *peers)
{
	struct sb_gate_message message;
	int fds[2], status = sb_gate_receive(peers->dialer, &message, fds);

	if (status == -EBADMSG)
		return;
	if (status < 0) { /* the next one is made when it is needed */
		close(peers->dialer);
		peers->dialer = -1;
		return;
	}
	if (message.kind == SB_GATE_UNLIKELY)
		take_unlikely(peers, &message);
	else
		tell_gate(peers, message.kind, message.id, message.number, fds[0]);
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
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
			if (fd >= 0)
				close(fd);
			fd = -1;
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
	*peers = (struct sb_peers){.approver = approver, .gate = gate, .dialer = -1};
	open_listens(peers);
	return peers;
}

void sb_peers_close(struct sb_peers *peers)
{
	if (!peers)
		return;
	while (peers->hosts) {
		peers->hosts->state = DENIED;
		release(peers, peers->hosts);
		forget(peers, peers->hosts);
	}
	if (peers->gate >= 0)
		close(peers->gate);
	if (peers->dialer >= 0)
		close(peers->dialer);
	for (size_t i = 0; i < peers->listen_count; i++)
		if (peers->listens[i] >= 0)
			close(peers->listens[i]);
	free(peers);
}

size_t sb_peers_poll(const struct sb_peers *peers, struct pollfd *out)
{
	out[0] = (struct pollfd){peers->gate, POLLIN, 0};
	out[1] = (struct pollfd){peers->dialer, POLLIN, 0};
	for (size_t i = 0; i < peers->listen_count; i++)
		out[2 + i] = (struct pollfd){peers->listens[i], POLLIN, 0};
	return 2 + peers->listen_count;
}

void sb_peers_handle(struct sb_peers *peers, const struct pollfd *fds, size_t count)
{
	if (fds[1].revents && peers->dialer == fds[1].fd)
		hear_dialer(peers);
	if (fds[0].revents && peers->gate == fds[0].fd)
		hear_gate(peers);
	for (size_t i = 2; i < count; i++)
		if (fds[i].revents)
			take_arrival(peers, i - 2);
}

static void settle(struct sb_peers *peers, struct host *host, enum sb_answer answer, const char *by)
{
	host->state = answer == SB_ANSWER_DENY || answer == SB_ANSWER_NONE ? DENIED : ALLOWED;
	peers->open--;
	record(peers, host, SB_EVENT_ANSWER, sb_answer_name(answer), by);
	if (host->state == DENIED)
		record(peers, host, SB_EVENT_DENY, NULL, by);
	release(peers, host);
	if (answer == SB_ANSWER_NONE) /* nobody said no: whoever attaches later may be asked */
		forget(peers, host);
}

bool sb_peers_answer(struct sb_peers *peers, unsigned long question, enum sb_answer answer,
		     const char *by)
{
	struct host *host = peers ? peers->hosts : NULL;

	while (host && (host->state != ASKED || host->question != question))
		host = host->next;
	if (host)
		settle(peers, host, answer, by);
	return host;
}

int sb_peers_timeout_ms(const struct sb_peers *peers)
{
	return peers->open ? LOOK_MS : -1;
}

void sb_peers_tick(struct sb_peers *peers)
{
	struct sb_approver *approver = peers->approver;
	uint64_t now = (uint64_t)sb_now_ms();
	char name[24];
	struct stat info;

	if (!peers->open || now - peers->looked_ms < LOOK_MS)
		return;
	peers->looked_ms = now;
	for (struct host *host = peers->hosts, *next; host; host = next) {
		bool late = host->deadline_ms && host->deadline_ms <= now;

		next = host->next;
		if (host->state != ASKED)
			continue;
		snprintf(name, sizeof name, "%d", host->process);
		if (!late && (host->process <= 0 || fstatat(approver->proc, name, &info, 0) == 0))
			continue;
		approver->asking.withdraw(approver->asking.context, host->question);
		settle(peers, host, late ? SB_ANSWER_DENY : SB_ANSWER_NONE,
		       late ? "timeout" : "gone");
	}
}
