/*
 * linux_resolver.c - lookups, by whatever address and protocol a program asks.
 *
 * A name gets an address that stands for it (names.h), and nobody outside learns of it: what would be
 * asked there carries what the command puts into a name.  Only names that a rule allows are looked up
 * for real, so that one which does not exist is said not to, and has its other records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "network/gate_impl.h"

#define LOOKUP_MS 15000
#define PORT 53

union control {
	struct cmsghdr align;
	char room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

/* Answer from the address that was asked: programs look. */
static void reply_datagram(int fd, const union place *from, const union place *asked,
			   const uint8_t *bytes, size_t length)
{
	union control control = {0};
	struct iovec part = {(void *)bytes, length};
	struct msghdr header = {.msg_name = (void *)from,
				.msg_namelen = from->any.sa_family == AF_INET ? sizeof from->v4
									      : sizeof from->v6,
				.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = control.room};
	struct in_pktinfo v4 = {.ipi_spec_dst = asked->v4.sin_addr};
	struct in6_pktinfo v6 = {.ipi6_addr = asked->v6.sin6_addr};
	bool six = from->any.sa_family != AF_INET;
	size_t size = six ? sizeof v6 : sizeof v4;

	header.msg_controllen = CMSG_SPACE(size);
	control.align = (struct cmsghdr){.cmsg_len = CMSG_LEN(size),
					 .cmsg_level = six ? IPPROTO_IPV6 : IPPROTO_IP,
					 .cmsg_type = six ? IPV6_PKTINFO : IP_PKTINFO};
	memcpy(CMSG_DATA(&control.align), six ? (void *)&v6 : (void *)&v4, size);
	sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void reply_stream(struct stream *stream, const uint8_t *bytes, size_t length)
{
	uint8_t whole[2 + SB_DNS_ANSWER_MAX] = {(uint8_t)(length >> 8), (uint8_t)length};

	memcpy(whole + 2, bytes, length);
	/* who does not read answers does not get them */
	send(stream->source.fd, whole, length + 2, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void reply(const struct lookup *lookup, const uint8_t *bytes, size_t length)
{
	if (lookup->stream)
		reply_stream(lookup->stream, bytes, length);
	else
		reply_datagram(lookup->fd, &lookup->from, &lookup->asked, bytes, length);
}

static bool is_local_name(const char *name)
{
	size_t length = strlen(name), local = strlen(SB_HOST_LOCAL);

	return length >= local && strcmp(name + length - local, SB_HOST_LOCAL) == 0 &&
	       (length == local || name[length - local - 1] == '.');
}

/* Of a name that exists, or is taken to. */
static size_t say_found(struct gate *gate, const struct lookup *lookup, uint8_t *out)
{
	const struct sb_dns_query *query = &lookup->query;
	uint8_t address[4] = {127, 0, 0, 1};

	if (query->type != SB_DNS_A)
		return sb_dns_say(lookup->bytes, query, SB_DNS_FINE, out);
	if (!is_local_name(query->name) && !sb_names_address(gate->names, query->name, address))
		return sb_dns_say(lookup->bytes, query, SB_DNS_SERVFAIL, out);
	return sb_dns_say_address(lookup->bytes, query, address, out);
}

static size_t say_reversed(struct gate *gate, const struct lookup *lookup, uint8_t *out)
{
	struct sb_address address = {.family = AF_INET};
	const char *name = NULL;

	if (sb_dns_reversed(lookup->query.name, address.bytes))
		name = sb_names_of(gate->names, &address);
	return name ? sb_dns_say_name(lookup->bytes, &lookup->query, name, out)
		    : sb_dns_say(lookup->bytes, &lookup->query, SB_DNS_NXDOMAIN, out);
}

/* Ask outside; the answer comes later.  False: there is no room. */
static bool look(struct gate *gate, const struct lookup *lookup)
{
	struct sb_gate_message message = {.kind = SB_GATE_LOOK};

	for (size_t i = 0; i < MAX_LOOKUPS; i++) {
		struct lookup *place = &gate->waiting[i];

		if (place->used)
			continue;
		message.id = sb_gate_next_id(gate);
		memcpy(message.peer.name, lookup->query.name, sizeof message.peer.name);
		if (lookup->query.type != SB_DNS_A)
			message.number = lookup->query.type;
		if (sb_gate_send(gate->asker.fd, &message, NULL, 0) < 0)
			return false;
		*place = *lookup;
		place->used = true;
		gate->waiting_count++;
		place->id = message.id;
		place->until_ms = sb_now_ms() + LOOKUP_MS;
		if (place->stream) {
			place->stream->waits = true;
			sb_gate_pause(gate, &place->stream->source, true);
		}
		return true;
	}
	return false;
}

/* Is it a name that is looked up for real? */
static bool is_looked_up(const struct gate *gate, const struct sb_dns_query *query)
{
	if (query->type != SB_DNS_A && !sb_dns_is_about(query->type))
		return false;
	return !is_local_name(query->name) &&
	       sb_decide_lookup(gate->policy, query->type == SB_DNS_A
						      ? query->name
						      : sb_dns_owner(query->name)) == SB_ALLOW;
}

/* False: it is not worth an answer. */
static bool answer(struct gate *gate, struct lookup *lookup, const uint8_t *bytes, size_t length)
{
	uint8_t out[SB_DNS_ANSWER_MAX];
	struct sb_dns_query *query = &lookup->query;
	int code = sb_dns_read(bytes, length, query);
	size_t size;

	if (code < 0)
		return false;
	memcpy(lookup->bytes, bytes, query->length);
	if (code != SB_DNS_FINE) {
		size = sb_dns_say(lookup->bytes, query, code, out);
	} else if (query->type == SB_DNS_PTR) {
		size = say_reversed(gate, lookup, out);
	} else if (!query->name[0]) {
		size = sb_dns_say(lookup->bytes, query, SB_DNS_NXDOMAIN, out);
	} else if (is_looked_up(gate, query)) {
		if (look(gate, lookup))
			return true;
		size = sb_dns_say(lookup->bytes, query, SB_DNS_SERVFAIL, out);
	} else {
		size = say_found(gate, lookup, out);
	}
	reply(lookup, out, size);
	return true;
}

/* What a server outside says. */
static size_t say_passed_on(const struct lookup *lookup, int answer, uint8_t *out)
{
	uint8_t bytes[SB_DNS_ANSWER_MAX];
	size_t have = 0;
	ssize_t got = 1;

	while (got > 0 && have < sizeof bytes) {
		got = read(answer, bytes + have, sizeof bytes - have);
		have += got > 0 ? (size_t)got : 0;
	}
	return sb_dns_pass_on(lookup->bytes, &lookup->query, bytes, have,
			      lookup->stream ? sizeof bytes : lookup->query.room, out);
}

static void finish(struct gate *gate, struct lookup *lookup, int code, int answer)
{
	uint8_t out[SB_DNS_ANSWER_MAX];
	size_t size;

	if (code != SB_DNS_FINE)
		size = sb_dns_say(lookup->bytes, &lookup->query, code, out);
	else if (lookup->query.type != SB_DNS_A)
		size = say_passed_on(lookup, answer, out);
	else
		size = say_found(gate, lookup, out);
	if (lookup->stream) {
		lookup->stream->waits = false;
		sb_gate_pause(gate, &lookup->stream->source, false);
	}
	reply(lookup, out, size);
	lookup->used = false;
	gate->waiting_count--;
}

void sb_gate_looked(struct gate *gate, uint32_t id, int code, int answer)
{
	for (size_t i = 0; i < MAX_LOOKUPS; i++)
		if (gate->waiting[i].used && gate->waiting[i].id == id) {
			finish(gate, &gate->waiting[i],
			       code == SB_DNS_NXDOMAIN || code == SB_DNS_FINE ? code
									      : SB_DNS_SERVFAIL,
			       answer);
			return;
		}
}

void sb_gate_resolver_tick(struct gate *gate, int64_t now_ms)
{
	for (size_t i = 0; i < MAX_LOOKUPS; i++)
		if (gate->waiting[i].used && gate->waiting[i].until_ms <= now_ms)
			finish(gate, &gate->waiting[i], SB_DNS_SERVFAIL, -1);
}

/* --- by UDP ------------------------------------------------------------------------------------- */

static void lookup_ready(struct gate *gate, struct source *source)
{
	uint8_t bytes[SB_DNS_QUERY_MAX + 1];
	union control control;
	struct iovec part = {bytes, sizeof bytes};
	struct lookup lookup = {.fd = source->fd};
	struct msghdr header = {.msg_name = &lookup.from,
				.msg_namelen = sizeof lookup.from,
				.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = control.room,
				.msg_controllen = sizeof control.room};
	ssize_t got = recvmsg(source->fd, &header, MSG_DONTWAIT);

	if (got < 0)
		return;
	for (struct cmsghdr *one = CMSG_FIRSTHDR(&header); one; one = CMSG_NXTHDR(&header, one))
		if (one->cmsg_level == IPPROTO_IP && one->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;

			memcpy(&info, CMSG_DATA(one), sizeof info);
			lookup.asked.v4.sin_addr = info.ipi_addr;
		} else if (one->cmsg_level == IPPROTO_IPV6 && one->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;

			memcpy(&info, CMSG_DATA(one), sizeof info);
			lookup.asked.v6.sin6_addr = info.ipi6_addr;
		}
	answer(gate, &lookup, bytes, (size_t)got);
}

/* --- by TCP ------------------------------------------------------------------------------------- */

static void end_stream(struct gate *gate, struct stream *stream)
{
	for (size_t i = 0; i < MAX_LOOKUPS; i++)
		if (gate->waiting[i].used && gate->waiting[i].stream == stream) {
			gate->waiting[i].used = false;
			gate->waiting_count--;
		}
	for (size_t i = 0; i < MAX_STREAMS; i++)
		if (gate->streams[i] == stream)
			gate->streams[i] = NULL;
	sb_gate_forget(gate, &stream->source);
	free(stream);
}

/* One query at a time; what comes behind it waits in the kernel, and says so again. */
static void stream_ready(struct gate *gate, struct source *source)
{
	struct stream *stream = (struct stream *)source; /* its first member */
	struct lookup lookup = {.stream = stream};
	size_t size = 2;
	ssize_t got;

	if (stream->have >= 2)
		size = 2 + ((size_t)stream->bytes[0] << 8 | stream->bytes[1]);
	if (stream->waits || size > sizeof stream->bytes) { /* it is gone, or sends no query */
		end_stream(gate, stream);
		return;
	}
	got = recv(source->fd, stream->bytes + stream->have, size - stream->have, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		end_stream(gate, stream);
		return;
	}
	stream->have += (size_t)got;
	if (stream->have < size || size == 2)
		return;
	stream->have = 0;
	if (!answer(gate, &lookup, stream->bytes + 2, size - 2))
		end_stream(gate, stream);
}

static void streams_ready(struct gate *gate, struct source *source)
{
	int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct stream *stream;

	if (fd < 0)
		return;
	for (size_t i = 0; i < MAX_STREAMS; i++) {
		if (gate->streams[i])
			continue;
		stream = calloc(1, sizeof *stream);
		if (!stream)
			break;
		stream->source = (struct source){fd, stream_ready};
		if (sb_gate_watch(gate, &stream->source) < 0) {
			free(stream);
			break;
		}
		gate->streams[i] = stream;
		return;
	}
	close(fd);
}

/* ------------------------------------------------------------------------------------------------- */

/* A socket at port 53 of every address.  A machine without IPv6 has none of that: -EAFNOSUPPORT. */
static int open_port(int family, int type)
{
	union place place = {.any.sa_family = (sa_family_t)family};
	int one = 1, error, fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (family == AF_INET) {
		place.v4.sin_port = htons(PORT);
		setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &one, sizeof one);
	} else {
		place.v6.sin6_port = htons(PORT);
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
		setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof one);
	}
	if (bind(fd, &place.any, family == AF_INET ? sizeof place.v4 : sizeof place.v6) == 0 &&
	    (type == SOCK_DGRAM || listen(fd, MAX_STREAMS) == 0))
		return fd;
	error = errno;
	close(fd);
	return -error;
}

int sb_gate_resolver_open(struct gate *gate)
{
	static const int families[2] = {AF_INET, AF_INET6};

	for (int i = 0; i < 2; i++) {
		gate->lookups[i] =
			(struct source){open_port(families[i], SOCK_DGRAM), lookup_ready};
		gate->streams_listener[i] =
			(struct source){open_port(families[i], SOCK_STREAM), streams_ready};
		if (families[i] == AF_INET &&
		    (gate->lookups[i].fd < 0 || gate->streams_listener[i].fd < 0))
			return gate->lookups[i].fd < 0 ? -gate->lookups[i].fd
						       : -gate->streams_listener[i].fd;
	}
	return 0;
}
