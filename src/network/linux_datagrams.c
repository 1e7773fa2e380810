/*
 * linux_datagrams.c - UDP: asked about when the first datagram comes.
 *
 * Programs connect a socket only to learn which address they would have, so connect() asks nobody; a
 * socket of the gate's waits at that address.  Whoever sends without connecting is noticed by the
 * kernel's own answer that nobody is there, which quotes the datagram.  Once somebody has said yes,
 * the sender has a pair of connected sockets of its own, which the pump carries between.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "network/gate_impl.h"

/* The first datagram of a sender; what it sends while a person thinks is lost, as on a slow way. */
static void first(struct gate *gate, struct listener *listener, const struct sb_ends *ends,
		  const uint8_t *bytes, size_t length)
{
	struct flow *flow = sb_gate_find_waiting(gate, SB_UDP, ends);

	if (flow || length > KEPT_BYTES)
		return;
	flow = sb_gate_new_flow(gate);
	if (!flow || !sb_gate_ask_about(gate, flow, listener))
		return;
	flow->ends = *ends;
	flow->length = length;
	memcpy(flow->bytes, bytes, length);
}

static void datagram_ready(struct gate *gate, struct source *source)
{
	struct listener *listener = (struct listener *)source; /* its first member */
	uint8_t bytes[KEPT_BYTES + 1];
	union place from;
	socklen_t size = sizeof from;
	ssize_t got = recvfrom(source->fd, bytes, sizeof bytes, MSG_DONTWAIT, &from.any, &size);

	if (got >= 0)
		first(gate, listener,
		      &(struct sb_ends){sb_place_address(&from), listener->address,
					sb_place_port(&from), listener->port},
		      bytes, (size_t)got);
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

	if (!is_worth_it(gate, &peer, &packet->ends) || sb_gate_hear(gate, to, &peer, 0) != 0 ||
	    !packet->length)
		return;
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
		if (inside >= 0)
			close(inside);
		if (outside >= 0)
			close(outside);
		sb_gate_drop(gate, flow);
		return;
	}
	send(outside, flow->bytes, flow->length, MSG_DONTWAIT | MSG_NOSIGNAL);
	flow->outside = -1;
	sb_gate_drop(gate, flow);
	sb_gate_carry(gate, flow, inside, outside);
}
