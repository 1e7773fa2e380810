/*
 * linux_sources.c - what the parts of the gate share: addresses, what epoll watches, the way to the pump.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/auto.h"
#include "network/gate_impl.h"

struct sb_address sb_place_address(const union place *place)
{
	return place->any.sa_family == AF_INET6 ? sb_address_make(AF_INET6, &place->v6.sin6_addr)
						: sb_address_make(AF_INET, &place->v4.sin_addr);
}

uint16_t sb_place_port(const union place *place)
{
	return ntohs(place->any.sa_family == AF_INET6 ? place->v6.sin6_port : place->v4.sin_port);
}

socklen_t sb_place_make(union place *out, const struct sb_address *address, uint16_t port)
{
	memset(out, 0, sizeof *out);
	out->any.sa_family = (sa_family_t)address->family;
	if (address->family == AF_INET6) {
		out->v6.sin6_port = htons(port);
		memcpy(&out->v6.sin6_addr, address->bytes, 16);
		return sizeof out->v6;
	}
	out->v4.sin_port = htons(port);
	memcpy(&out->v4.sin_addr, address->bytes, 4);
	return sizeof out->v4;
}

/*
 * The kernel's own word: to an address that is local it sends from that address, or from one of loopback (ip-route(8),
 * type local).  Connecting a socket for datagrams sends nothing.
 */
void sb_here_look(const struct sb_policy *policy, struct sb_address *address)
{
	union place place;
	socklen_t length;
	SB_AUTO_FD int fd = -1;

	address->here = false;
	if (!address->family || !sb_network_closes_here(policy))
		return;
	fd = socket(address->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return; /* nor can anybody connect */
	length = sb_place_make(&place, address, 9);
	if (connect(fd, &place.any, length) == 0 && getsockname(fd, &place.any, &length) == 0) {
		const struct sb_address from = sb_place_address(&place);

		address->here = sb_address_equal(&from, address) ||
				sb_address_class(&from) == SB_ADDRESS_LOOPBACK;
	}
}

struct sb_peer sb_gate_peer(const struct gate *gate, enum sb_protocol protocol,
			    const struct sb_address *address, uint16_t port)
{
	struct sb_peer peer = sb_peer_of_address(protocol, address, port);
	const char *name = sb_names_of(gate->names, address);

	if (name) {
		peer = (struct sb_peer){.protocol = protocol, .port = port};
		memcpy(peer.name, name, strlen(name) + 1);
	}
	return peer;
}

/* --- what epoll watches --------------------------------------------------------------------------- */

int sb_gate_watch(struct gate *gate, struct source *source)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

	return epoll_ctl(gate->epoll, EPOLL_CTL_ADD, source->fd, &event) != 0 ? -errno : 0;
}

void sb_gate_pause(struct gate *gate, const struct source *source, bool paused)
{
	struct epoll_event event = {.events = paused ? 0 : EPOLLIN, .data.ptr = (void *)source};

	epoll_ctl(gate->epoll, EPOLL_CTL_MOD, source->fd, &event);
}

void sb_gate_forget(struct gate *gate, struct source *source)
{
	epoll_ctl(gate->epoll, EPOLL_CTL_DEL, source->fd, NULL);
	close(source->fd);
}

uint32_t sb_gate_next_id(struct gate *gate)
{
	return ++gate->last_id ? gate->last_id : ++gate->last_id;
}

void sb_gate_carry(struct gate *gate, struct flow *flow, int inside, int outside)
{
	struct sb_gate_message message = {
		.kind = SB_GATE_CARRY, .id = flow->id, .peer = flow->peer};

	flow->state = FLOW_CARRIED;
	if (strcmp(message.peer.name, SB_HOST_LOCAL) == 0)
		message.peer.name[0] = '\0'; /* whatever TLS says there, it is this machine */
	if (sb_gate_send(gate->pump.fd, &message, (const int[]){inside, outside}, 2) < 0)
		gate->over = true;
	close(inside);
	close(outside);
}
