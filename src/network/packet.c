#include "network/packet.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

enum { IP4 = 20, IP6 = 40, TCP = 20, UDP = 8, ICMP = 8 };
enum { SYN = 0x02, RST_ACK = 0x14, SYN_ACK_RST_FIN = 0x17 };
enum { MARK_TOS = 0x5c }; /* beside a number that no socket option sets; see sb_packet_mark() */

/* Where things lie in a packet of either family. */
struct layout {
	int family;
	size_t header, source, target, address;
	unsigned protocol;
};

static uint32_t four(const uint8_t *bytes)
{
	return (uint32_t)sb_two(bytes) << 16 | sb_two(bytes + 2);
}

static void put_four(uint8_t *out, uint32_t value)
{
	sb_put_two(out, value >> 16);
	sb_put_two(out + 2, value & 0xffff);
}

/* No options of IP, no fragments: the kernel sends none of its own accord, and ours is lo. */
static bool find_layout(const uint8_t *bytes, size_t length, struct layout *out)
{
	if (length >= IP4 && bytes[0] == 0x45 && !(sb_two(bytes + 6) & 0x3fff))
		*out = (struct layout){AF_INET, IP4, 12, 16, 4, bytes[9]};
	else if (length >= IP6 && bytes[0] >> 4 == 6)
		*out = (struct layout){AF_INET6, IP6, 8, 24, 16, bytes[6]};
	else
		return false;
	return true;
}

static void find_ends(const uint8_t *bytes, const struct layout *layout, struct sb_ends *out)
{
	*out = (struct sb_ends){sb_address_make(layout->family, bytes + layout->source),
				sb_address_make(layout->family, bytes + layout->target),
				(uint16_t)sb_two(bytes + layout->header),
				(uint16_t)sb_two(bytes + layout->header + 2)};
}

bool sb_ends_equal(const struct sb_ends *a, const struct sb_ends *b)
{
	return a->from_port == b->from_port && a->to_port == b->to_port &&
	       sb_address_equal(&a->to, &b->to) && sb_address_equal(&a->from, &b->from);
}

static bool is_marked(const uint8_t *bytes, const struct layout *layout, uint16_t mark)
{
	return layout->family == AF_INET
		       ? bytes[1] == MARK_TOS && sb_two(bytes + 4) == mark
		       : four(bytes) == (6u << 28 | (uint32_t)MARK_TOS << 20 | mark);
}

/* An ICMP error of the kernel's about a datagram to a port that nobody has. */
static void read_stray(const uint8_t *bytes, size_t length, struct sb_packet *out)
{
	struct layout layout;
	size_t whole;

	if (!find_layout(bytes, length, &layout) || layout.protocol != IPPROTO_UDP ||
	    length < layout.header + UDP)
		return;
	find_ends(bytes, &layout, &out->ends);
	out->kind = SB_PACKET_STRAY;
	out->quoted = bytes;
	out->quoted_length = length;
	whole = sb_two(bytes + layout.header + 4);
	if (whole >= UDP && layout.header + whole <= length) {
		out->bytes = bytes + layout.header + UDP;
		out->length = whole - UDP;
	}
}

void sb_packet_read(const uint8_t *bytes, size_t length, uint16_t mark, struct sb_packet *out)
{
	struct layout layout;

	*out = (struct sb_packet){.kind = SB_PACKET_OTHER};
	if (!find_layout(bytes, length, &layout))
		return;
	if (layout.protocol == IPPROTO_TCP) {
		const uint8_t *tcp = bytes + layout.header;

		if (length < layout.header + TCP || length > SB_PACKET_MAX ||
		    (tcp[13] & SYN_ACK_RST_FIN) != SYN)
			return;
		find_ends(bytes, &layout, &out->ends);
		out->sequence = four(tcp + 4);
		out->kind = is_marked(bytes, &layout, mark) ? SB_PACKET_MARKED : SB_PACKET_SYN;
	} else if (layout.protocol == (layout.family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6)) {
		const uint8_t *icmp = bytes + layout.header;
		unsigned port_unreachable = layout.family == AF_INET ? 0x0303 : 0x0104;

		if (length >= layout.header + ICMP && sb_two(icmp) == port_unreachable)
			read_stray(icmp + ICMP, length - layout.header - ICMP, out);
	}
}

bool sb_packet_completes(const uint8_t *bytes, size_t length, const struct sb_packet *stray,
			 struct sb_packet *out)
{
	struct sb_packet packet = {.kind = SB_PACKET_OTHER};

	if (stray->kind != SB_PACKET_STRAY || length < stray->quoted_length ||
	    memcmp(bytes, stray->quoted, stray->quoted_length) != 0)
		return false;
	read_stray(bytes, length, &packet);
	if (!packet.length)
		return false;
	*out = packet;
	return true;
}

/* --- checksums (RFC 1071) ---------------------------------------------------------------- */

static uint32_t sum(const uint8_t *bytes, size_t length, uint32_t start)
{
	for (; length > 1; length -= 2, bytes += 2)
		start += sb_two(bytes);
	return length ? start + ((uint32_t)bytes[0] << 8) : start;
}

static void put_checksum(uint8_t *out, uint32_t total)
{
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	sb_put_two(out, ~total & 0xffff);
}

/* Fill in lengths and checksums of a packet whose upper protocol has its checksum at this place. */
static void finish(uint8_t *packet, size_t length, const struct layout *layout, size_t checksum)
{
	uint8_t *upper = packet + layout->header;
	size_t size = length - layout->header;
	uint32_t total = 0;

	if (layout->family == AF_INET) {
		sb_put_two(packet + 2, (unsigned)length);
		sb_put_two(packet + 10, 0);
		put_checksum(packet + 10, sum(packet, IP4, 0));
	} else {
		sb_put_two(packet + 4, (unsigned)size);
	}
	if (layout->protocol != IPPROTO_ICMP)
		total = sum(packet + layout->source, 2 * layout->address,
			    layout->protocol + (uint32_t)size);
	sb_put_two(upper + checksum, 0);
	put_checksum(upper + checksum, sum(upper, size, total));
}

/* --- answers --------------------------------------------------------------------------------- */

static bool find_syn(const uint8_t *syn, size_t length, struct layout *out)
{
	return length <= SB_PACKET_MAX && find_layout(syn, length, out) &&
	       out->protocol == IPPROTO_TCP && length >= out->header + TCP;
}

/*
 * SECURITY: the mark says to the listener's filter that somebody has said yes.
 *
 * Danger: the command sets it on a SYN of its own.  The class of service it can set (IP_TOS), the
 * packet's number it cannot, without the right to raw sockets.  And a connection that gets through all
 * the same finds no flow that was allowed when it is accepted, and is reset.
 * Price: none.
 * Held by: tests/supervise/network_attacks.py
 */
size_t sb_packet_mark(const uint8_t *syn, size_t length, uint16_t mark, uint8_t out[SB_PACKET_MAX])
{
	struct layout layout;

	if (!find_syn(syn, length, &layout))
		return 0;
	memcpy(out, syn, length);
	if (layout.family == AF_INET) {
		out[1] = MARK_TOS;
		sb_put_two(out + 4, mark);
	} else {
		put_four(out, 6u << 28 | (uint32_t)MARK_TOS << 20 | mark);
	}
	finish(out, length, &layout, 16);
	return length;
}

/* A header from where the SYN went to where it came from. */
static void begin(const uint8_t *syn, struct layout *layout, unsigned protocol, uint8_t *out)
{
	memset(out, 0, SB_PACKET_MAX);
	layout->protocol = protocol;
	if (layout->family == AF_INET) {
		out[0] = 0x45;
		out[8] = 64;
		out[9] = (uint8_t)protocol;
	} else {
		out[0] = 0x60;
		out[6] = (uint8_t)protocol;
		out[7] = 64;
	}
	memcpy(out + layout->source, syn + layout->target, layout->address);
	memcpy(out + layout->target, syn + layout->source, layout->address);
}

static size_t reset(const uint8_t *syn, struct layout layout, uint8_t *out)
{
	const uint8_t *theirs = syn + layout.header;
	uint8_t *tcp = out + layout.header;

	begin(syn, &layout, IPPROTO_TCP, out);
	memcpy(tcp, theirs + 2, 2);
	memcpy(tcp + 2, theirs, 2);
	put_four(tcp + 8, four(theirs + 4) + 1);
	tcp[12] = TCP / 4 << 4;
	tcp[13] = RST_ACK;
	finish(out, layout.header + TCP, &layout, 16);
	return layout.header + TCP;
}

size_t sb_packet_refuse(const uint8_t *syn, size_t length, int error, uint8_t out[SB_PACKET_MAX])
{
	struct layout layout;
	uint8_t *icmp;
	size_t quoted;
	bool net = error == ENETUNREACH;

	if (!find_syn(syn, length, &layout))
		return 0;
	if (error == ECONNREFUSED)
		return reset(syn, layout, out);
	quoted = layout.header + TCP;
	icmp = out + layout.header;
	begin(syn, &layout, layout.family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6, out);
	icmp[0] = layout.family == AF_INET ? 3 : 1; /* destination unreachable: */
	icmp[1] = net ? 0 : layout.family == AF_INET ? 1 : 3;
	memcpy(icmp + ICMP, syn, quoted);
	finish(out, layout.header + ICMP + quoted, &layout, 2);
	return layout.header + ICMP + quoted;
}
