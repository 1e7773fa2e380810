#include "base/lock.h"
#include "network/gate_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int sb_gate_fd(const struct sb_gate *gate)
{
	return gate ? gate->channel : -1;
}

int sb_gate_await(struct sb_gate **gate, struct sb_error *err)
{
	struct sb_error said;
	ssize_t got;

	do {
		got = recv((*gate)->channel, &said, sizeof said, 0);
	} while (got < 0 && errno == EINTR);
	if (got != sizeof said)
		sb_fail(&said, SB_E_UNSUPPORTED, 0,
			"cannot decide about hosts by name: the gate is gone");
	if (said.code == SB_OK)
		return SB_OK;
	close((*gate)->channel);
	free(*gate);
	*gate = NULL;
	*err = said;
	return said.code;
}

/* Under its lock. */
static struct reply call_gate(const struct sb_gate *gate, const struct call *call)
{
	struct reply reply = {.error = EACCES};
	ssize_t got = -1;

	if (send(gate->channel, call, sizeof *call, MSG_NOSIGNAL) == sizeof *call)
		do {
			got = recv(gate->channel, &reply, sizeof reply, 0);
		} while (got < 0 && errno == EINTR);
	return got == sizeof reply ? reply : (struct reply){.error = EACCES};
}

static bool is_internet(const struct sockaddr_storage *address, socklen_t length)
{
	return (address->ss_family == AF_INET && length >= sizeof(struct sockaddr_in)) ||
	       (address->ss_family == AF_INET6 && length >= sizeof(struct sockaddr_in6));
}

/* Where it stands already; 0: that is not known. */
static uint16_t find_standing(const struct sb_gate *gate, const union place *place)
{
	struct sb_address address = sb_place_address(place);

	for (size_t i = 0; i < gate->standing_count; i++) {
		const union place *one = &gate->standing[i].address;
		struct sb_address other = sb_place_address(one);

		if (sb_place_port(one) == sb_place_port(place) &&
		    sb_address_equal(&other, &address))
			return gate->standing[i].port;
	}
	return 0;
}

static void note_standing(struct sb_gate *gate, const union place *place, uint16_t port)
{
	if (gate->standing_count == SB_GATE_STANDING)
		return;
	gate->standing[gate->standing_count].address = *place;
	gate->standing[gate->standing_count++].port = port;
}

int sb_gate_prepare(struct sb_gate *gate, int type, struct sockaddr_storage *address,
		    socklen_t length, pid_t process)
{
	struct call call = {.kind = PREPARE, .type = type, .process = process};
	struct reply reply = {.gated = true};

	pthread_mutex_lock(&gate->lock);
	gate->gated = false;
	if (!is_internet(address, length) || (type != SOCK_STREAM && type != SOCK_DGRAM))
		return 0; /* it leads nowhere */
	call.address.storage = *address;
	if (type == SOCK_STREAM)
		reply.port = find_standing(gate, &call.address);
	if (!reply.port)
		reply = call_gate(gate, &call);
	if (reply.stays)
		note_standing(gate, &call.address, reply.port);
	gate->gated = reply.gated;
	if (reply.error)
		pthread_mutex_unlock(&gate->lock);
	else if (address->ss_family == AF_INET)
		((struct sockaddr_in *)address)->sin_port = htons(reply.port);
	else
		((struct sockaddr_in6 *)address)->sin6_port = htons(reply.port);
	return reply.error;
}

void sb_gate_begun(struct sb_gate *gate, int socket, const struct sockaddr_storage *address,
		   pid_t process)
{
	struct call call = {.kind = BEGUN, .process = process};
	socklen_t length = sizeof call.from;

	call.address.storage = *address;
	if (gate->gated && socket >= 0 && getsockname(socket, &call.from.any, &length) == 0)
		send(gate->channel, &call, sizeof call, MSG_NOSIGNAL);
	pthread_mutex_unlock(&gate->lock);
}

/* The same for who wants an answer alone. */
static struct reply ask_gate(struct sb_gate *gate, const struct call *call)
{
	struct reply reply;

	SB_AUTO_LOCK(&gate->lock);
	reply = call_gate(gate, call);
	return reply;
}

bool sb_gate_who(struct sb_gate *gate, const struct sockaddr_storage *address, socklen_t length,
		 struct sb_peer *out)
{
	struct call call = {.kind = WHO, .type = SOCK_STREAM};
	struct reply reply;

	*out = (struct sb_peer){0};
	if (!is_internet(address, length))
		return true;
	call.address.storage = *address;
	reply = ask_gate(gate, &call);
	*out = reply.peer;
	return reply.error == 0;
}

bool sb_gate_end_datagrams(struct sb_gate *gate)
{
	const struct call call = {.kind = NO_DATAGRAMS};

	return ask_gate(gate, &call).error == 0;
}

void sb_gate_give_way(struct sb_gate *gate, int type, const struct sockaddr_storage *address,
		      socklen_t length)
{
	struct call call = {.kind = GIVE_WAY, .type = type};

	call.address.storage = *address;
	if (!is_internet(address, length) || !sb_place_port(&call.address))
		return;
	SB_AUTO_LOCK(&gate->lock);
	gate->standing_count = 0;
	call_gate(gate, &call);
}

int sb_gate_why(struct sb_gate *gate, const struct sockaddr_storage *from,
		const struct sockaddr_storage *to, int error)
{
	struct call call = {.kind = WHY, .error = error};

	if (!is_internet(from, sizeof *from) || !is_internet(to, sizeof *to))
		return error;
	call.from.storage = *from;
	call.address.storage = *to;
	return ask_gate(gate, &call).error;
}
