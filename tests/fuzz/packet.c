/*
 * packet.c - fuzz target: the input is a packet that the gate sees, and a ClientHello.
 *
 * What is read lies inside it; a SYN can be marked and refused, and reads back as what it is then.  A
 * name that TLS gives is in its one spelling, and cutting the input never finds another one.
 */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "network/packet.h"
#include "network/sni.h"

static void check_packet(const uint8_t *data, size_t size)
{
	uint8_t out[SB_PACKET_MAX];
	struct sb_packet packet, part, again;
	size_t length;

	sb_packet_read(data, size, 7, &packet);
	if (packet.kind == SB_PACKET_STRAY && packet.length) {
		CHECK(packet.bytes >= data && packet.bytes + packet.length <= data + size);
		/* quoted in part it is the same datagram */
		part = packet;
		part.length = 0;
		part.quoted_length = (size_t)(packet.bytes - packet.quoted);
		CHECK(sb_packet_completes(packet.quoted, packet.quoted_length, &part, &again));
		CHECK(again.bytes == packet.bytes && again.length == packet.length);
	}
	if (packet.kind != SB_PACKET_SYN && packet.kind != SB_PACKET_MARKED)
		return;
	length = sb_packet_mark(data, size, 7, out);
	CHECK(length == size);
	sb_packet_read(out, length, 7, &again);
	CHECK(again.kind == SB_PACKET_MARKED && again.sequence == packet.sequence);
	CHECK(sb_ends_equal(&again.ends, &packet.ends));
	CHECK(sb_packet_refuse(data, size, ECONNREFUSED, out) > 0);
	length = sb_packet_refuse(data, size, EHOSTUNREACH, out);
	CHECK(length > 0 && length <= sizeof out);
	sb_packet_read(out, length, 7, &again);
	CHECK(again.kind == SB_PACKET_OTHER);
}

/* On the heap, so that its end is where a sanitizer sees it. */
static enum sb_sni read_copy(const uint8_t *data, size_t size, char name[SB_HOST_NAME_SIZE])
{
	uint8_t *copy = malloc(size + !size);
	enum sb_sni found;
	size_t end;

	CHECK(copy);
	if (size)
		memcpy(copy, data, size);
	found = sb_sni_read(copy, size, name, &end);
	CHECK(end <= size && (found != SB_SNI_FOUND || end) && (found != SB_SNI_MORE || !end));
	if (size)
		memcpy(copy, data, size);
	/* what begins so has no more to say */
	CHECK(sb_sni_is_retry(copy, size) != SB_SNI_MORE || size < SB_SNI_RETRY);
	free(copy);
	return found;
}

static void check_hello(const uint8_t *data, size_t size)
{
	char name[SB_HOST_NAME_SIZE], cut[SB_HOST_NAME_SIZE], spelled[SB_HOST_NAME_SIZE];
	struct sb_error err;

	if (read_copy(data, size, name) != SB_SNI_FOUND)
		return;
	CHECK(sb_host_name(name, strlen(name), spelled, &err) == SB_OK);
	CHECK(strcmp(name, spelled) == 0);
	if (read_copy(data, size - 1, cut) == SB_SNI_FOUND)
		CHECK(strcmp(name, cut) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_packet(data, size);
	check_hello(data, size);
	return 0;
}
