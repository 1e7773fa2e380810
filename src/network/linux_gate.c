/*
 * linux_gate.c - the gate's process: how it comes to be, and its loop.
 *
 *   1. fork      by the performer while it has rights in the namespace; it keeps one end of a channel
 *   2. sockets   at port 53 and on the wire; the performer hears that they are there
 *   3. pump      is forked
 *   4. jail      no capability, no file, no program: sockets of a namespace that leads nowhere
 *
 * Nothing the gate does opens anything outside: connections there come from the asker, which decides
 * once more, since the gate reads what the command sends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "network/gate_impl.h"
#include "network/jail.h"
#include "sys/process.h"

#define TICK_MS 1000
#define DNS_PORT 53

/* --- the wire --------------------------------------------------------------------------------------- */

/* True: there was one. */
static bool take_packet(struct gate *gate)
{
	uint8_t bytes[2048];
	struct sb_packet packet;
	ssize_t got = recv(gate->packets.fd, bytes, sizeof bytes, MSG_DONTWAIT);

	if (got <= 0)
		return got < 0 && errno == EINTR;
	sb_packet_read(bytes, (size_t)got, gate->mark, &packet);
	if (packet.kind == SB_PACKET_SYN)
		sb_gate_syn(gate, &packet, bytes, (size_t)got);
	else if (packet.kind == SB_PACKET_STRAY && !gate->no_datagrams)
		sb_gate_stray(gate, &packet);
	return true;
}

static void take_packets(struct gate *gate)
{
	while (take_packet(gate))
		;
}

static void packets_ready(struct gate *gate, struct source *source)
{
	(void)source;
	take_packet(gate);
}

/* --- the performer -------------------------------------------------------------------------------- */

static void answer(struct gate *gate, const struct reply *reply)
{
	if (send(gate->performer.fd, reply, sizeof *reply, MSG_NOSIGNAL) != sizeof *reply)
		gate->over = true;
}

static void say(struct gate *gate, int error, uint16_t port)
{
	const struct reply reply = {.error = error, .port = port};

	answer(gate, &reply);
}

/* The run's own end of every connection: nobody is behind it. */
static bool is_own(const struct sb_address *address)
{
	static const uint8_t v4[4] = {198, 18, 0, 1}, v6[16] = {0xfd, 0x5b, 0xa5, [15] = 1};

	return address->family == AF_INET ? memcmp(address->bytes, v4, 4) == 0
					  : memcmp(address->bytes, v6, 16) == 0;
}

/* Is it the kernel's to answer: the resolver, a server of the command's own, an address of its own? */
static bool is_inner(const struct gate *gate, const struct sb_peer *peer,
		     const struct sb_address *address)
{
	bool local = sb_address_class(address) == SB_ADDRESS_LOOPBACK ||
		     strcmp(peer->name, SB_HOST_LOCAL) == 0;

	if (!peer->port || peer->port == DNS_PORT || is_own(address))
		return true;
	if (!local)
		return false;
	/* to this machine many send datagrams that nobody need hear: only what a rule opens is more */
	return (gate->own_ports[peer->port / 8] & 1u << peer->port % 8) ||
	       (peer->protocol == SB_UDP &&
		sb_decide_connect(gate->policy, peer).verdict != SB_ALLOW);
}

/* Where its packets go: for connect() 0.0.0.0 and :: are this machine. */
static struct sb_address target_of(const struct call *call)
{
	static const uint8_t none[16], v4[4] = {127, 0, 0, 1}, v6[16] = {[15] = 1};
	struct sb_address address = sb_place_address(&call->address);
	bool six = address.family == AF_INET6;

	return memcmp(address.bytes, none, six ? 16 : 4) != 0
		       ? address
		       : sb_address_make(address.family, six ? v6 : v4);
}

/* A gate stands there.  Where a rule allows it the performer need not ask again, until a port is bound. */
static void say_gated(struct gate *gate, struct listener *listener, bool allowed)
{
	if (allowed && !listener->stays && gate->staying < SB_GATE_STANDING) {
		listener->stays = true;
		gate->staying++;
	}
	answer(gate, &(struct reply){.port = listener->port,
				     .gated = true,
				     .stays = allowed && listener->stays});
}

static void prepare(struct gate *gate, const struct call *call)
{
	struct sb_address address = target_of(call);
	uint16_t port = sb_place_port(&call->address);
	enum sb_protocol protocol = call->type == SOCK_DGRAM ? SB_UDP : SB_TCP;
	struct sb_gate_message ask = {.kind = SB_GATE_ASK, .process = call->process};
	struct listener *listener = NULL;
	int error;

	ask.peer = sb_gate_peer(gate, protocol, &address, port);
	if (is_inner(gate, &ask.peer, &address)) {
		say(gate, 0, port);
		return;
	}
	if (protocol == SB_UDP) {
		if (!gate->no_datagrams)
			sb_gate_hear(gate, &address, &ask.peer, call->process);
		say(gate, 0, port);
		return;
	}
	error = sb_gate_listen(gate, &address, &ask.peer, call->process, &listener);
	if (error == EADDRINUSE && sb_address_class(&address) == SB_ADDRESS_LOOPBACK) {
		say(gate, 0, port); /* a server of the command's */
		return;
	}
	if (call->kind == WHO) {
		answer(gate, &(struct reply){.error = error, .peer = ask.peer});
		return;
	}
	if (error) {
		say(gate, error, port);
		return;
	}
	/* which addresses are this machine's own the asker knows: here all of them are */
	if (sb_decide_connect(gate->policy, &ask.peer).verdict == SB_ALLOW &&
	    (ask.peer.name[0] || !sb_network_closes_here(gate->policy))) {
		say_gated(gate, listener, true);
		return;
	}
	gate->answer_port = listener->port;
	ask.id = gate->verdict_id = sb_gate_next_id(gate);
	/* if the asker is too busy to say so at once, it decides when the packet comes */
	if (sb_gate_send(gate->asker.fd, &ask, NULL, 0) < 0) {
		gate->verdict_id = 0;
		say_gated(gate, listener, false);
	}
}

static int find_reason(const struct gate *gate, const struct call *call)
{
	struct sb_ends ends = {sb_place_address(&call->from), sb_place_address(&call->address),
			       sb_place_port(&call->from), sb_place_port(&call->address)};

	for (unsigned i = 1; i <= MAX_REFUSED; i++) {
		unsigned at = (gate->refused_next + MAX_REFUSED - i) % MAX_REFUSED;

		if (gate->refused[at].error && sb_ends_equal(&gate->refused[at].ends, &ends))
			return gate->refused[at].error;
	}
	return call->error;
}

static void performer_ready(struct gate *gate, struct source *source)
{
	struct call call;
	ssize_t got = recv(source->fd, &call, sizeof call, 0);
	uint16_t port;

	if (got != sizeof call) {
		gate->over = got >= 0 || errno != EINTR;
		return;
	}
	switch (call.kind) {
	case PREPARE:
	case WHO:
		take_packets(gate); /* of those who were prepared for before */
		prepare(gate, &call);
		break;
	case BEGUN:
		take_packets(gate); /* its own among them: it was sent before */
		sb_gate_begun_by(gate,
				 &(struct sb_ends){sb_place_address(&call.from), target_of(&call),
						   sb_place_port(&call.from),
						   sb_place_port(&call.address)},
				 call.process);
		break;
	case GIVE_WAY:
		port = sb_place_port(&call.address);
		if (call.type == SOCK_STREAM)
			gate->own_ports[port / 8] |= (uint8_t)(1u << port % 8);
		sb_gate_clear_port(gate, call.type == SOCK_DGRAM ? SB_UDP : SB_TCP, port);
		say(gate, 0, 0);
		break;
	case NO_DATAGRAMS:
		gate->no_datagrams = true;
		sb_gate_clear_port(gate, SB_UDP, 0);
		say(gate, 0, 0);
		break;
	case WHY:
		say(gate, find_reason(gate, &call), 0);
		break;
	}
}

/* --- the asker, the pump ------------------------------------------------------------------- */

static void take_dialled(struct gate *gate, const struct sb_gate_message *message, int fd)
{
	struct flow *flow = sb_gate_find_flow(gate, message->id);

	if (flow && flow->state == FLOW_ASKED && message->peer.address.family)
		flow->peer.address = message->peer.address; /* for the record */
	if (!flow || flow->state != FLOW_ASKED) {
		sb_auto_close(&fd);
	} else if (flow->peer.protocol == SB_UDP) {
		sb_gate_dialled_datagrams(gate, flow, message->number, fd);
	} else {
		sb_gate_dialled(gate, flow, message->number, fd);
	}
}

static void asker_ready(struct gate *gate, struct source *source)
{
	struct sb_gate_message message;
	int fds[2], status = sb_gate_receive(source->fd, &message, fds);

	if (status < 0) {
		gate->over = status != -EAGAIN;
		return;
	}
	switch (message.kind) {
	case SB_GATE_VERDICT:
		if (message.id == gate->verdict_id) {
			gate->verdict_id = 0;
			answer(gate,
			       &(struct reply){.error = message.number > 0 ? message.number : 0,
					       .port = gate->answer_port,
					       .gated = true});
		}
		break;
	case SB_GATE_DIALLED:
		take_dialled(gate, &message, fds[0]);
		fds[0] = -1;
		break;
	case SB_GATE_LOOKED:
		sb_gate_looked(gate, message.id, message.number, fds[0]);
		break;
	case SB_GATE_ARRIVED:
		sb_gate_arrived(gate, message.peer.port, fds[0]);
		fds[0] = -1;
		break;
	default:
		break;
	}
	for (int i = 0; i < 2; i++)
		sb_auto_close(&fds[i]);
}

/* A connection has ended: who it was with, for the record. */
static void pump_ready(struct gate *gate, struct source *source)
{
	struct sb_gate_message message;
	int fds[2], status = sb_gate_receive(source->fd, &message, fds);
	struct flow *flow;

	if (status < 0) {
		gate->over = status != -EAGAIN;
		return;
	}
	flow = sb_gate_find_flow(gate, message.id);
	if (!flow || flow->state != FLOW_CARRIED)
		return;
	message.peer = flow->peer;
	message.process = flow->process;
	flow->state = FLOW_FREE;
	sb_outbox_post(&gate->outbox, gate->asker.fd, &message);
}

/*
 * The kernel copies to us only what begins connections, but for what we have put on the wire ourselves, and errors
 * about datagrams; packet.c looks closer.  The upper four bits of the first byte say which family it is.
 */
static int open_wire(uint16_t mark)
{
	struct sock_filter code[] = {
		/*  0 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (unsigned)SKF_AD_OFF + SKF_AD_PKTTYPE),
		/*  1 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 22, 0),
		/*  2 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
		/*  3 */ BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
		/*  4 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6, 10, 0),
		/*  5 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
		/*  6 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMP, 16, 0),
		/*  7 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 16),
		/*  8 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 33),
		/*  9 */ BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x17),
		/* 10 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 13),
		/* 11 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 1),
		/* 12 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x5c, 0, 10),
		/* 13 */ BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 4),
		/* 14 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mark, 9, 8),
		/* 15 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
		/* 16 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 6, 0),
		/* 17 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 6),
		/* 18 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 53),
		/* 19 */ BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x17),
		/* 20 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 3),
		/* 21 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		/* 22 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6u << 28 | 0x5cu << 20 | mark, 1, 0),
		/* 23 */ BPF_STMT(BPF_RET | BPF_K, 0xffff),
		/* 24 */ BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};
	struct sockaddr_ll loopback = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = 1};
	/* of no protocol until it has its filter and its interface: nothing else is ever seen */
	int one = 1, error, fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	/* every packet would be copied for the filter to drop it; kernels before 4.20 do that */
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one);
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 &&
	    bind(fd, (void *)&loopback, sizeof loopback) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* --- the processes ---------------------------------------------------------------------------------- */

static const int calls[] = {
	SYS_bind,        SYS_listen,      SYS_accept4,    SYS_connect,     SYS_read,
	SYS_write,       SYS_sendto,      SYS_recvfrom,   SYS_sendmsg,     SYS_recvmsg,
	SYS_getsockname, SYS_getpeername, SYS_setsockopt, SYS_getsockopt,  SYS_shutdown,
	SYS_close,       SYS_fcntl,       SYS_epoll_ctl,  SYS_epoll_pwait,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
};

/* What the asker has not heard yet. */
static void tell_asker(struct gate *gate)
{
	bool left = !sb_outbox_flush(&gate->outbox, gate->asker.fd);
	struct epoll_event event = {.events = EPOLLIN | (left ? EPOLLOUT : 0),
				    .data.ptr = &gate->asker};

	if (left != gate->writing)
		epoll_ctl(gate->epoll, EPOLL_CTL_MOD, gate->asker.fd, &event);
	gate->writing = left;
}

/* The run is over, or a part of us is gone: the pump tells what it has carried, and ends. */
static void finish(struct gate *gate)
{
	fcntl(gate->asker.fd, F_SETFL, 0);
	shutdown(gate->pump.fd, SHUT_WR);
	for (gate->over = false; !gate->over;)
		pump_ready(gate, &gate->pump);
	sb_outbox_flush(&gate->outbox, gate->asker.fd);
}

/*
 * Kernels want a right for a filter on a socket (6.18: CAP_NET_ADMIN).  It is one over a namespace
 * that leads nowhere, and of all it could do there only options of sockets are left.
 */
static const struct sb_jail jail = {calls, sizeof calls / sizeof calls[0], true,
				    SB_CAPABILITY(CAP_NET_ADMIN)};

static int gate_main(struct gate *gate)
{
	struct source *all[] = {&gate->asker,
				&gate->performer,
				&gate->pump,
				&gate->packets,
				&gate->lookups[0],
				&gate->lookups[1],
				&gate->streams_listener[0],
				&gate->streams_listener[1]};
	int64_t looked_ms = sb_now_ms();
	struct sb_error err;

	gate->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (gate->epoll < 0)
		return 1;
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (all[i]->fd >= 0 && sb_gate_watch(gate, all[i]) < 0)
			return 1;
	if (sb_jail_enter(&jail, &err) != SB_OK)
		return 1;
	while (!gate->over) {
		struct epoll_event event; /* one at a time: it may end what the next is about */
		int ready = epoll_wait(gate->epoll, &event, 1,
				       gate->asked || gate->waiting_count ? TICK_MS : -1);
		int64_t now_ms;

		if (ready < 0 && errno != EINTR)
			return 1;
		if (ready > 0) {
			struct source *source = event.data.ptr;

			source->ready(gate, source);
		}
		tell_asker(gate);
		now_ms = sb_now_ms();
		if (now_ms - looked_ms >= TICK_MS) {
			looked_ms = now_ms;
			sb_gate_flows_tick(gate, now_ms);
			sb_gate_resolver_tick(gate, now_ms);
		}
	}
	finish(gate);
	return 0;
}

/* A process of ours with these descriptors and no others. */
static void live_alone(const char *name, const int *keep, size_t count)
{
	struct rlimit limit;
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NAME, name, 0, 0, 0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd <= 2; fd++) /* who waits for the end of these would wait for us */
		if (null < 0 || dup2(null, fd) < 0)
			_exit(1);
	sb_jail_keep_only(keep, count);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int open_all(struct gate *gate)
{
	int error;

	gate->packets.fd = -1;
	for (int i = 0; i < 2; i++)
		gate->lookups[i].fd = gate->streams_listener[i].fd = -1;
	gate->names = sb_names_new();
	if (!gate->names)
		return ENOMEM;
	if (getrandom(&gate->mark, sizeof gate->mark, GRND_NONBLOCK) != sizeof gate->mark)
		return errno;
	for (size_t i = 0; i < sb_listen_count(gate->policy); i++) {
		uint16_t port = sb_listen_at(gate->policy, i)->port;

		gate->own_ports[port / 8] |= (uint8_t)(1u << port % 8);
	}
	gate->packets = (struct source){open_wire(gate->mark), packets_ready};
	error = gate->packets.fd < 0 ? -gate->packets.fd : 0;
	sb_gate_watch_datagrams(gate);
	return error ? error : sb_gate_resolver_open(gate);
}

/* All that the performer waits for, and hears of. */
static int set_up(struct gate *gate, int proc)
{
	struct sb_error err = {.code = SB_OK};
	int status = sb_space_make(proc, &err), error = status == SB_OK ? open_all(gate) : 0;

	if (error)
		status = sb_fail(&err, SB_E_UNSUPPORTED, error,
				 "cannot decide about hosts by name: the gate cannot be made");
	return send(gate->performer.fd, &err, sizeof err, MSG_NOSIGNAL) == sizeof err ? status
										      : SB_E_SYSTEM;
}

/* If it fails there is no gate, and nothing is reached. */
static int begin(const struct sb_policy *policy, int proc, int asker, int performer)
{
	struct gate *gate = calloc(1, sizeof *gate);
	int pump[2];
	pid_t pid;

	live_alone("sandbash-gate", (const int[]){proc, asker, performer}, 3);
	if (!gate)
		return 1;
	gate->policy = policy;
	gate->asker = (struct source){asker, asker_ready};
	gate->performer = (struct source){performer, performer_ready};
	if (set_up(gate, proc) != SB_OK)
		return 1;
	sb_space_settle(proc);
	close(proc);
	/* neither waits for who may wait for it */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pump) != 0 ||
	    fcntl(pump[0], F_SETFL, O_NONBLOCK) != 0)
		return 1;
	pid = fork();
	if (pid < 0)
		return 1;
	if (pid == 0) {
		live_alone("sandbash-pump", pump, 1);
		/* the kernel closes the lowest first: killed, it is gone for us before its connections are */
		return dup2(pump[0], 0) < 0 || close(pump[0]) != 0 ? 1 : sb_pump_main(0);
	}
	close(pump[0]);
	gate->pump = (struct source){pump[1], pump_ready};
	return gate_main(gate);
}

int sb_gate_start(const struct sb_policy *policy, int proc, int asker, struct sb_gate **out,
		  struct sb_error *err)
{
	struct sb_gate *handle = calloc(1, sizeof *handle);
	int ends[2], error = handle ? 0 : ENOMEM;
	pid_t pid = -1;

	if (!error && (fcntl(asker, F_SETFL, O_NONBLOCK) != 0 ||
		       socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0))
		error = errno;
	if (!error) {
		pid = fork();
		if (pid == 0)
			_exit(begin(policy, proc, asker, ends[0]));
		error = pid < 0 ? errno : 0;
		close(ends[0]);
		if (error)
			close(ends[1]);
	}
	if (error) {
		free(handle);
		return sb_fail(err, SB_E_UNSUPPORTED, error,
			       "cannot decide about hosts by name: the gate cannot be made");
	}
	handle->channel = ends[1];
	pthread_mutex_init(&handle->lock, NULL);
	*out = handle;
	return SB_OK;
}
