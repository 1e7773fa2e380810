/*
 * packet.h - the packets by which the gate keeps connections waiting.
 *
 * A SYN on its way to a gate is read, kept, and later put on the wire again with a mark that the
 * gate's listener lets pass; or it is answered as a host that refuses, or a router without a way,
 * would.  Pure: bytes in, bytes out.  The addresses in them are what a decision is about: what the
 * command wrote into an address of its own memory counts for nothing.
 */
#ifndef SB_NETWORK_PACKET_H
#define SB_NETWORK_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

#define SB_PACKET_MAX                                                                              \
	256 /* a SYN: two headers with all their options; what an ICMP error quotes is cut */

/* Two bytes as the network has them; dns.c's, too. */
static inline unsigned sb_two(const uint8_t *bytes)
{
	return (unsigned)bytes[0] << 8 | bytes[1];
}

static inline void sb_put_two(uint8_t *out, unsigned value)
{
	out[0] = (uint8_t)(value >> 8);
	out[1] = (uint8_t)value;
}

/* The two ends of a connection. */
struct sb_ends {
	struct sb_address from, to;
	uint16_t from_port, to_port;
};

bool sb_ends_equal(const struct sb_ends *a, const struct sb_ends *b);

enum sb_packet_kind {
	SB_PACKET_OTHER,
	SB_PACKET_SYN,    /* the first of a TCP connection */
	SB_PACKET_MARKED, /* the same with the mark: one of ours */
	SB_PACKET_STRAY, /* the kernel says that no socket was there for a datagram, and quotes it */
};

struct sb_packet {
	enum sb_packet_kind kind;
	struct sb_ends ends;  /* STRAY: of the datagram */
	uint32_t sequence;    /* SYN */
	const uint8_t *bytes; /* STRAY: what the datagram said ... */
	size_t length;        /* ... in whole; 0: only a part is quoted: */
	const uint8_t *quoted;
	size_t quoted_length;
};

void sb_packet_read(const uint8_t *bytes, size_t length, uint16_t mark, struct sb_packet *out);

/*
 * Is this the datagram that a stray one quotes a part of?  Then out is the same with all that it said.  One socket
 * sends no two packets with the same number, so that their beginnings differ.
 */
bool sb_packet_completes(const uint8_t *bytes, size_t length, const struct sb_packet *stray,
			 struct sb_packet *out);

/* Each writes one packet that is ready to be sent and returns its length; 0: it cannot be made. */

/* The SYN again, marked.  Checksums are made: a captured packet has only half of one. */
size_t sb_packet_mark(const uint8_t *syn, size_t length, uint16_t mark, uint8_t out[SB_PACKET_MAX]);

/* What makes its sender's connect() fail with this error: ECONNREFUSED, ENETUNREACH, else EHOSTUNREACH. */
size_t sb_packet_refuse(const uint8_t *syn, size_t length, int error, uint8_t out[SB_PACKET_MAX]);

#endif
