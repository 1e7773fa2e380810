/*
 * linux_datagrams.c - UDP: asked about when the first datagram comes.
 *
 * Programs connect a socket only to learn which address they would have, so connect() asks nobody; a
 * socket of the gate's waits at that address.  Whoever sends without connecting is noticed by the
 * kernel's own answer that nobody is there, which quotes the datagram, or its beginning; the rest is
 * then looked for among those that have just passed.  Once somebody has said yes, the sender has a pair of
 * connected sockets of its own, which the pump carries between.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "network/gate_impl.h"

/* --- those that are not quoted in whole -------------------------------------------------------- */

/*
 * What is longer than icmp_send() quotes (548 bytes of IPv4, 1232 of IPv6), and goes to somebody: what a host answers
 * goes to the run's own address (linux_space.c).  Nobody wakes for it: it lies in the socket's queue until an error says
 * that a datagram had nobody to go to, and when the queue is full the next are let pass.  So while somebody sends much
 * by UDP, the first one to another host may be lost, as on any way.
 */
void sb_gate_watch_datagrams(struct gate *gate)
{
	struct sock_filter code[] = {
		/*  0 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (unsigned)SKF_NET_OFF),
		/*  1 */ BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
		/*  2 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6, 6, 0),
		/*  3 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (unsigned)SKF_NET_OFF + 9),
		/*  4 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 11),
		/*  5 */ BPF_STMT(BPF_LD | BPF_H | BPF_ABS, (unsigned)SKF_NET_OFF + 2),
		/*  6 */ BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 548, 0, 9),
		/*  7 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)SKF_NET_OFF + 16),
		/*  8 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xc6120001, 7, 6),
		/*  9 */ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (unsigned)SKF_NET_OFF + 6),
		/* 10 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 5),
		/* 11 */ BPF_STMT(BPF_LD | BPF_H | BPF_ABS, (unsigned)SKF_NET_OFF + 4),
		/* 12 */ BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 1192, 0, 3),
		/* 13 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)SKF_NET_OFF + 24),
		/* 14 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xfd5ba500, 1, 0),
		/* 15 */ BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
		/* 16 */ BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};
	struct sockaddr_ll loopback = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = 1};
	int one = 1, fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	gate->datagrams = fd;
	/* a packet may be many datagrams that the kernel has not cut yet: the head says so */
	if (fd < 0 ||
	    (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) == 0 &&
	     setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) == 0 &&
	     setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 &&
	     bind(fd, (void *)&loopback, sizeof loopback) == 0))
		return;
	close(fd);
	gate->datagrams = -1;
}

/* The one that is quoted in part, in gate->room; what passed before it is forgotten. */
static bool find_whole(struct gate *gate, const struct sb_packet *stray, struct sb_packet *out)
{
	const size_t head = sizeof(struct virtio_net_hdr) + ETH_HLEN;
	bool found = false;

	for (int turn = 0; turn < 1024 && !found && gate->datagrams >= 0; turn++) {
		ssize_t got = recv(gate->datagrams, gate->room, sizeof gate->room, MSG_DONTWAIT);
		struct virtio_net_hdr first;

		if (got < 0 && errno != EINTR && errno != EINVAL)
			break;
		if (got <= (ssize_t)head)
			continue;
		memcpy(&first, gate->room, sizeof first);
		found = first.gso_type == VIRTIO_NET_HDR_GSO_NONE &&
			sb_packet_completes(gate->room + head, (size_t)got - head, stray, out);
	}
	return found;
}

/* --- those that wait --------------------------------------------------------------------------------- */

/* The first datagram of a sender; what it sends while a person thinks is lost, as on a slow way. */
static void first(struct gate *gate, struct listener *listener, const struct sb_ends *ends,
		  const uint8_t *bytes, size_t length)
{
	struct flow *flow = sb_gate_find_waiting(gate, SB_UDP, ends);
	uint8_t *copy;

	if (flow || length > MAX_WAITING_BYTES - gate->waiting_bytes)
		return;
	copy = malloc(length + !length);
	flow = copy ? sb_gate_new_flow(gate) : NULL;
	if (!flow || !sb_gate_ask_about(gate, flow, listener)) {
		free(copy);
		return;
	}
	memcpy(copy, bytes, length);
	flow->ends = *ends;
	flow->length = length;
	flow->datagram = copy;
	gate->waiting_bytes += length;
}

static void datagram_ready(struct gate *gate, struct source *source)
{
	struct listener *listener = (struct listener *)source; /* its first member */
	union place from;
	socklen_t size = sizeof from;
	ssize_t got =
		recvfrom(source->fd, gate->room, sizeof gate->room, MSG_DONTWAIT, &from.any, &size);

	if (got >= 0)
		first(gate, listener,
		      &(struct sb_ends){sb_place_address(&from), listener->address,
					sb_place_port(&from), listener->port},
		      gate->room, (size_t)got);
}

int sb_gate_hear(struct gate *gate, const struct sb_address *address, const struct sb_peer *peer,
		 pid_t process)
{
	struct listener *known = sb_gate_find_listener(gate, SB_UDP, address, peer->port);
	struct listener listener = {.source.ready = datagram_ready,
				    .address = *address,
				    .port = peer->port,
				    .peer = *peer};

	if (!known) {
		listener.source.fd = sb_gate_open_at(gate, SOCK_DGRAM, address, peer->port);
		if (listener.source.fd < 0)
			return -listener.source.fd;
		known = sb_gate_add_listener(gate, &listener);
		if (!known)
			return ENOMEM;
	}
	known->used = ++gate->clock;
	known->process = process;
	return 0;
}

/*
 * Of addresses that stand for no name only those of hosts are asked about, and of this machine what a rule opens, as
 * for who connects (is_inner() in linux_gate.c).  Our own answers to who is gone are none of it.
 */
static bool is_worth_it(const struct gate *gate, const struct sb_peer *peer,
			const struct sb_ends *ends)
{
	enum sb_address_class class = sb_address_class(&ends->to);

	if (!peer->port)
		return false;
	if (class == SB_ADDRESS_LOOPBACK || strcmp(peer->name, SB_HOST_LOCAL) == 0)
		return class == SB_ADDRESS_LOOPBACK &&
		       sb_decide_connect(gate->policy, peer).verdict == SB_ALLOW &&
		       !sb_gate_find_listener(gate, SB_UDP, &ends->from, ends->from_port);
	return peer->name[0] || class == SB_ADDRESS_PUBLIC || class == SB_ADDRESS_PRIVATE;
}

void sb_gate_stray(struct gate *gate, const struct sb_packet *packet)
{
	const struct sb_address *to = &packet->ends.to;
	struct sb_peer peer = sb_gate_peer(gate, SB_UDP, to, packet->ends.to_port);
	struct sb_packet whole;

	if (!is_worth_it(gate, &peer, &packet->ends) || sb_gate_hear(gate, to, &peer, 0) != 0)
		return;
	if (!packet->length) {
		if (!find_whole(gate, packet, &whole))
			return;
		packet = &whole;
	}
	first(gate, sb_gate_find_listener(gate, SB_UDP, to, packet->ends.to_port), &packet->ends,
	      packet->bytes, packet->length);
}

void sb_gate_dialled_datagrams(struct gate *gate, struct flow *flow, int error, int outside)
{
	union place from;
	socklen_t length = sb_place_make(&from, &flow->ends.from, flow->ends.from_port);
	int inside = -1;

	if (!error && outside >= 0)
		inside = sb_gate_open_at(gate, SOCK_DGRAM, &flow->ends.to, flow->ends.to_port);
	/* a connected socket comes before the other at the same address */
	if (inside < 0 || connect(inside, &from.any, length) != 0) {
		sb_auto_close(&inside);
		sb_auto_close(&outside);
		sb_gate_drop(gate, flow);
		return;
	}
	send(outside, flow->datagram, flow->length, MSG_DONTWAIT | MSG_NOSIGNAL);
	flow->outside = -1;
	sb_gate_drop(gate, flow);
	sb_gate_carry(gate, flow, inside, outside);
}
