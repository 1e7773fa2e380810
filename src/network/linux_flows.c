/*
 * linux_flows.c - connections that wait at a gate.
 *
 *   listener   at the address and port that the command connects to; its filter drops what has no mark
 *   SYN        seen by the packet socket, kept as a flow, asked about
 *   yes        the asker hands over a connection outside; the SYN goes in again, marked, is accepted,
 *              and both sockets go to the pump
 *   no         the SYN is answered by a packet that makes connect() fail
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "network/gate_impl.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#define PASSING_MS 10000 /* a SYN that was let in and is not there by now has no sender any more */
#define OTHER_PORTS 8    /* tries to stand elsewhere, where the command has the port itself */
#define BACKLOG 512

/* What is not the mark is dropped without a word; see packet.h.  Data begins at the TCP header. */
static int attach_filter(int fd, int family, uint16_t mark)
{
	struct sock_filter v4[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12), /* SYN, ACK */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 4),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (unsigned)SKF_NET_OFF + 1),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x5c, 0, 3),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, (unsigned)SKF_NET_OFF + 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mark, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_filter v6[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)SKF_NET_OFF),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6u << 28 | 0x5cu << 20 | mark, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {sizeof v4 / sizeof v4[0], v4};

	if (family == AF_INET6)
		program = (struct sock_fprog){sizeof v6 / sizeof v6[0], v6};
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

int sb_gate_open_at(const struct gate *gate, int type, const struct sb_address *address,
		    uint16_t port)
{
	bool stream = type == SOCK_STREAM;
	union place place;
	socklen_t length = sb_place_make(&place, address, port);
	int one = 1, error, fd = socket(address->family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (address->family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if ((!stream || attach_filter(fd, address->family, gate->mark) == 0) &&
	    bind(fd, &place.any, length) == 0 && (!stream || listen(fd, BACKLOG) == 0))
		return fd;
	error = errno;
	close(fd);
	return -error;
}

struct listener *sb_gate_find_listener(const struct gate *gate, enum sb_protocol protocol,
				       const struct sb_address *address, uint16_t port)
{
	struct listener *one = gate->listeners;

	while (one && (one->port != port || one->peer.protocol != protocol ||
		       !sb_address_equal(&one->address, address)))
		one = one->next;
	return one;
}

static void send_packet(const struct gate *gate, const uint8_t *bytes, size_t length)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(bytes[0] >> 4 == 6 ? ETH_P_IPV6 : ETH_P_IP),
				 .sll_ifindex = 1,
				 .sll_halen = ETH_ALEN};

	if (length)
		sendto(gate->packets.fd, bytes, length, 0, (void *)&to, sizeof to);
}

/* --- flows -------------------------------------------------------------------------------------- */

struct flow *sb_gate_new_flow(struct gate *gate)
{
	for (size_t i = 0; i < SB_GATE_FLOWS; i++) {
		struct flow *flow = &gate->flows[(gate->last_id + 1 + i) % SB_GATE_FLOWS];

		if (flow->state == FLOW_FREE) {
			gate->last_id += 1 + (uint32_t)i; /* so that a number leads to its place */
			flow->id = gate->last_id;
			flow->outside = -1;
			return flow;
		}
	}
	return NULL;
}

struct flow *sb_gate_find_flow(struct gate *gate, uint32_t id)
{
	struct flow *flow = &gate->flows[id % SB_GATE_FLOWS];

	return flow->id == id && flow->state != FLOW_FREE ? flow : NULL;
}

/* It waits no longer. */
static void unlist(struct gate *gate, struct flow *flow)
{
	struct flow **link = &gate->asked;

	while (*link && *link != flow)
		link = &(*link)->next;
	if (*link)
		*link = flow->next;
	if (flow->listener)
		flow->listener->flows--;
	flow->listener = NULL;
}

void sb_gate_drop(struct gate *gate, struct flow *flow)
{
	unlist(gate, flow);
	sb_auto_close(&flow->outside);
	flow->state = FLOW_FREE;
	gate->waiting_bytes -= flow->datagram ? flow->length : 0;
	free(flow->datagram);
	flow->datagram = NULL;
}

static void enlist(struct gate *gate, struct flow *flow, struct listener *listener)
{
	flow->state = FLOW_SEEN;
	flow->until_ms = sb_now_ms() + PASSING_MS;
	flow->peer = listener->peer;
	flow->process = listener->process;
	flow->listener = listener;
	listener->flows++;
	flow->next = gate->asked;
	gate->asked = flow;
}

static bool ask(struct gate *gate, struct flow *flow)
{
	struct sb_gate_message dial = {
		.kind = SB_GATE_DIAL, .id = flow->id, .process = flow->process, .peer = flow->peer};

	if (sb_gate_send(gate->asker.fd, &dial, NULL, 0) < 0)
		return false;
	flow->state = FLOW_ASKED;
	return true;
}

bool sb_gate_ask_about(struct gate *gate, struct flow *flow, struct listener *listener)
{
	enlist(gate, flow, listener);
	if (ask(gate, flow))
		return true;
	sb_gate_drop(gate, flow);
	return false;
}

static void refuse(struct gate *gate, struct flow *flow, int error)
{
	uint8_t packet[SB_PACKET_MAX];

	gate->refused[gate->refused_next].ends = flow->ends;
	gate->refused[gate->refused_next].error = error;
	gate->refused_next = (gate->refused_next + 1) % MAX_REFUSED;
	send_packet(gate, packet, sb_packet_refuse(flow->bytes, flow->length, error, packet));
	sb_gate_drop(gate, flow);
}

struct flow *sb_gate_find_waiting(struct gate *gate, enum sb_protocol protocol,
				  const struct sb_ends *ends)
{
	struct flow *flow = gate->asked;

	while (flow && (flow->peer.protocol != protocol || !sb_ends_equal(&flow->ends, ends)))
		flow = flow->next;
	return flow;
}

/*
 * SECURITY: what is decided about is the address in this packet.
 *
 * Danger: the address that a program gave to connect() lies in its memory, and can be another one by the
 * time the kernel looks.  This is where its packets go.
 * Price: none.
 * Held by: tests/supervise/network_attacks.py
 */
void sb_gate_syn(struct gate *gate, const struct sb_packet *packet, const uint8_t *bytes,
		 size_t length)
{
	struct listener *listener =
		sb_gate_find_listener(gate, SB_TCP, &packet->ends.to, packet->ends.to_port);
	struct flow *flow;

	if (!listener || length > SB_PACKET_MAX)
		return;
	flow = sb_gate_find_waiting(gate, SB_TCP, &packet->ends);
	if (flow && flow->sequence != packet->sequence) {
		sb_gate_drop(gate,
			     flow); /* the same port for another connection: this one is gone */
		flow = NULL;
	}
	if (flow && flow->state == FLOW_SEEN) {
		flow->process = 0; /* sent again, and still nobody says whose it is */
		ask(gate, flow);
	} else if (!flow) {
		flow = sb_gate_new_flow(gate);
		/* it is sent again in a second, when there may be room */
		if (!flow)
			return;
		enlist(gate, flow, listener);
		flow->ends = packet->ends;
		flow->sequence = packet->sequence;
	}
	/* also when it was sent again: its clock has gone on */
	memcpy(flow->bytes, bytes, length);
	flow->length = length;
}

void sb_gate_begun_by(struct gate *gate, const struct sb_ends *ends, pid_t process)
{
	struct flow *flow = sb_gate_find_waiting(gate, SB_TCP, ends);

	if (!flow || flow->state != FLOW_SEEN)
		return;
	flow->process = process;
	ask(gate, flow); /* if nobody hears it now: when it is sent again */
}

static void close_hard(int fd)
{
	const struct linger at_once = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(fd);
}

/* The kernel has made a connection of a SYN that got through: of one that was let in? */
static void take_accepted(struct gate *gate, const struct listener *listener,
			  const union place *from, int inside)
{
	const struct sb_ends ends = {sb_place_address(from), listener->address, sb_place_port(from),
				     listener->port};
	struct flow *flow = sb_gate_find_waiting(gate, SB_TCP, &ends);
	int one = 1;

	if (!flow || flow->state != FLOW_PASSING) {
		close_hard(inside);
		return;
	}
	setsockopt(inside, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	unlist(gate, flow);
	one = flow->outside;
	flow->outside = -1;
	sb_gate_carry(gate, flow, inside, one);
}

static void listener_ready(struct gate *gate, struct source *source)
{
	const struct listener *listener = (struct listener *)source; /* its first member */
	union place from;
	socklen_t length = sizeof from;
	int inside = accept4(source->fd, &from.any, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (inside >= 0)
		take_accepted(gate, listener, &from, inside);
}

void sb_gate_dialled(struct gate *gate, struct flow *flow, int error, int outside)
{
	struct listener *listener = flow->listener;
	uint8_t packet[SB_PACKET_MAX];

	if (error || outside < 0) {
		refuse(gate, flow, error ? error : EHOSTUNREACH);
		return;
	}
	flow->outside = outside;
	flow->state = FLOW_PASSING;
	flow->until_ms = sb_now_ms() + PASSING_MS;
	send_packet(gate, packet, sb_packet_mark(flow->bytes, flow->length, gate->mark, packet));
	listener_ready(gate, &listener->source); /* on loopback it is there already, mostly */
}

void sb_gate_flows_tick(struct gate *gate, int64_t now_ms)
{
	for (struct flow *flow = gate->asked, *next; flow; flow = next) {
		next = flow->next;
		if (flow->state != FLOW_ASKED && flow->until_ms <= now_ms)
			sb_gate_drop(gate, flow);
	}
}

/* --- where gates stand ------------------------------------------------------------------------- */

static void end_listener(struct gate *gate, struct listener **link)
{
	struct listener *listener = *link;

	for (struct flow *flow = gate->asked, *next; flow; flow = next) {
		next = flow->next;
		if (flow->listener == listener)
			refuse(gate, flow, ECONNREFUSED);
	}
	*link = listener->next;
	gate->staying -= listener->stays;
	sb_gate_forget(gate, &listener->source);
	free(listener);
	gate->listener_count--;
}

/* The one that nobody has used for longest, and nobody waits at. */
static void end_idle(struct gate *gate)
{
	struct listener **oldest = NULL;

	for (struct listener **link = &gate->listeners; *link; link = &(*link)->next)
		if (!(*link)->flows && !(*link)->stays &&
		    (!oldest || (*link)->used < (*oldest)->used))
			oldest = link;
	if (oldest)
		end_listener(gate, oldest);
}

struct listener *sb_gate_add_listener(struct gate *gate, const struct listener *listener)
{
	struct listener *copy;

	if (gate->listener_count >= MAX_LISTENERS)
		end_idle(gate);
	copy = malloc(sizeof *copy);
	if (copy)
		*copy = *listener;
	if (!copy || sb_gate_watch(gate, &copy->source) < 0) {
		close(listener->source.fd);
		free(copy);
		return NULL;
	}
	copy->next = gate->listeners;
	gate->listeners = copy;
	gate->listener_count++;
	return copy;
}

static int stand(struct gate *gate, const struct sb_address *address, uint16_t port,
		 const struct sb_peer *peer, struct listener **out)
{
	struct listener listener = {
		.source = {sb_gate_open_at(gate, SOCK_STREAM, address, port), listener_ready},
		.address = *address,
		.port = port,
		.peer = *peer};

	if (listener.source.fd < 0)
		return -listener.source.fd;
	*out = sb_gate_add_listener(gate, &listener);
	return *out ? 0 : ENOMEM;
}

int sb_gate_listen(struct gate *gate, const struct sb_address *address, const struct sb_peer *peer,
		   pid_t process, struct listener **out)
{
	struct listener *listener = NULL;
	int error = 0;

	for (struct listener *one = gate->listeners; one; one = one->next)
		if (one->peer.protocol == SB_TCP && one->peer.port == peer->port &&
		    sb_address_equal(&one->address, address))
			listener = one;
	if (!listener)
		error = stand(gate, address, peer->port, peer, &listener);
	/* a server of the command's has the port on every address: whose name is meant would be lost */
	for (unsigned i = 0; error == EADDRINUSE && i < OTHER_PORTS &&
			     sb_address_class(address) != SB_ADDRESS_LOOPBACK;
	     i++)
		error = stand(gate, address,
			      (uint16_t)(20000 + (peer->port * 7u + i * 101u) % 10000), peer,
			      &listener);
	if (error)
		return error;
	listener->used = ++gate->clock;
	listener->process = process;
	*out = listener;
	return 0;
}

void sb_gate_clear_port(struct gate *gate, enum sb_protocol protocol, uint16_t port)
{
	struct listener **link = &gate->listeners;

	while (*link)
		if ((!port || (*link)->port == port) && (*link)->peer.protocol == protocol)
			end_listener(gate, link);
		else
			link = &(*link)->next;
}

void sb_gate_arrived(struct gate *gate, uint16_t port, int outside)
{
	const struct timeval at_most = {0, 100000}; /* its queue may be full */
	struct flow *flow = sb_gate_new_flow(gate);
	union place place = {.v4 = {.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr = {htonl(INADDR_LOOPBACK)}}};
	int inside = flow ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;

	if (inside >= 0)
		setsockopt(inside, SOL_SOCKET, SO_SNDTIMEO, &at_most, sizeof at_most);
	/* on loopback the kernel says at once whether somebody listens */
	if (inside < 0 || connect(inside, &place.any, sizeof place.v4) != 0 ||
	    fcntl(inside, F_SETFL, O_NONBLOCK) != 0) {
		sb_auto_close(&inside);
		close_hard(outside);
		return;
	}
	flow->peer = (struct sb_peer){.protocol = SB_TCP, .port = port};
	flow->process = 0;
	sb_gate_carry(gate, flow, inside, outside);
}
