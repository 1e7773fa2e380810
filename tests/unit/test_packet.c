/* test_packet.c - SYNs read, marked and refused; datagrams that an ICMP error quotes. */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "network/packet.h"

#define MARK 0x1234

/* 198.18.0.1:40000 -> 198.18.0.16:80, with two options */
static const uint8_t syn[] = {0x45, 0,   0,    44, 0,  0,    0x40, 0,    64, 6, 0, 0, 198, 18,  0,
			      1,    198, 18,   0,  16, 0x9c, 0x40, 0,    80, 1, 2, 3, 4,   0,   0,
			      0,    0,   0x60, 2,  1,  0,    0xaa, 0xbb, 0,  0, 2, 4, 5,   0xb4};
static const uint8_t syn6[60] = {0x60, 1, 2,   3,    0,        20,   6,    64, 0xfd, 0x5b, [23] = 1,
				 0x20, 1, 0xd, 0xb8, [39] = 9, 0x9c, 0x40, 1,  0xbb, 9,    8,
				 7,    6, 0,   0,    0,        0,    0x50, 2,  1,    0};

static uint32_t total(const uint8_t *bytes, size_t length, uint32_t start)
{
	for (size_t i = 0; i < length; i++)
		start += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	while (start >> 16)
		start = (start & 0xffff) + (start >> 16);
	return start;
}

/* The kernel would take it: both checksums are right. */
static void check(const uint8_t *packet, size_t length)
{
	bool v4 = packet[0] >> 4 == 4;
	size_t header = v4 ? 20 : 40;
	unsigned protocol = v4 ? packet[9] : packet[6];
	uint32_t pseudo = 0;

	if (v4) {
		assert_int_equal(total(packet, header, 0), 0xffff);
		assert_int_equal(packet[2] << 8 | packet[3], length);
	} else {
		assert_int_equal(packet[4] << 8 | packet[5], length - header);
	}
	if (protocol != IPPROTO_ICMP)
		pseudo = total(packet + (v4 ? 12 : 8), v4 ? 8 : 32,
			       protocol + (uint32_t)(length - header));
	assert_int_equal(total(packet + header, length - header, pseudo), 0xffff);
}

static void reads(void **state)
{
	uint8_t other[sizeof syn];
	struct sb_packet packet;

	(void)state;
	sb_packet_read(syn, sizeof syn, MARK, &packet);
	assert_int_equal(packet.kind, SB_PACKET_SYN);
	assert_int_equal(packet.sequence, 0x01020304);
	assert_int_equal(packet.ends.from_port, 40000);
	assert_int_equal(packet.ends.to_port, 80);
	assert_memory_equal(packet.ends.to.bytes, syn + 16, 4);
	sb_packet_read(syn6, sizeof syn6, MARK, &packet);
	assert_int_equal(packet.kind, SB_PACKET_SYN);
	assert_int_equal(packet.ends.to_port, 443);
	assert_memory_equal(packet.ends.to.bytes, syn6 + 24, 16);
	for (size_t length = 0; length < 40; length++) {
		sb_packet_read(syn, length, MARK, &packet);
		assert_int_equal(packet.kind, SB_PACKET_OTHER);
	}
	for (unsigned flags = 0; flags < 256; flags++) {
		memcpy(other, syn, sizeof syn);
		other[33] = (uint8_t)flags;
		sb_packet_read(other, sizeof other, MARK, &packet);
		assert_int_equal(packet.kind == SB_PACKET_SYN, (flags & 0x17) == 2);
	}
	memcpy(other, syn, sizeof syn);
	other[6] = 0x20; /* a fragment */
	sb_packet_read(other, sizeof other, MARK, &packet);
	assert_int_equal(packet.kind, SB_PACKET_OTHER);
}

static void marks(void **state)
{
	uint8_t out[SB_PACKET_MAX];
	struct sb_packet packet;

	(void)state;
	assert_int_equal(sb_packet_mark(syn, sizeof syn, MARK, out), sizeof syn);
	check(out, sizeof syn);
	sb_packet_read(out, sizeof syn, MARK, &packet);
	assert_int_equal(packet.kind, SB_PACKET_MARKED);
	sb_packet_read(out, sizeof syn, MARK + 1,
		       &packet); /* the class of service alone is no mark */
	assert_int_equal(packet.kind, SB_PACKET_SYN);
	assert_int_equal(sb_packet_mark(syn6, sizeof syn6, MARK, out), sizeof syn6);
	check(out, sizeof syn6);
	sb_packet_read(out, sizeof syn6, MARK, &packet);
	assert_int_equal(packet.kind, SB_PACKET_MARKED);
	assert_int_equal(sb_packet_mark(syn, 39, MARK, out), 0);
}

static void refuses(void **state)
{
	static const struct {
		int error;
		uint8_t type, code, type6, code6;
	} rows[] = {{ENETUNREACH, 3, 0, 1, 0}, {EHOSTUNREACH, 3, 1, 1, 3}, {EACCES, 3, 1, 1, 3}};
	uint8_t out[SB_PACKET_MAX];
	size_t length;

	(void)state;
	length = sb_packet_refuse(syn, sizeof syn, ECONNREFUSED, out);
	check(out, length);
	assert_int_equal(out[33], 0x14);
	assert_memory_equal(out + 28, "\1\2\3\5", 4); /* it acknowledges the SYN */
	assert_memory_equal(out + 12, syn + 16, 4);
	length = sb_packet_refuse(syn6, sizeof syn6, ECONNREFUSED, out);
	check(out, length);
	for (size_t i = 0; i < COUNT(rows); i++) {
		length = sb_packet_refuse(syn, sizeof syn, rows[i].error, out);
		check(out, length);
		assert_int_equal(out[20], rows[i].type);
		assert_int_equal(out[21], rows[i].code);
		assert_memory_equal(out + 28, syn, 40);
		length = sb_packet_refuse(syn6, sizeof syn6, rows[i].error, out);
		check(out, length);
		assert_int_equal(out[40], rows[i].type6);
		assert_int_equal(out[41], rows[i].code6);
	}
}

static void quotes(void **state)
{
	static const uint8_t stray[] = {
		0x45, 0,  0, 60, 0, 0, 0, 0, 64,   1,    0, 0,   9, 9,  9, 9, 198, 18,  0,   1,
		3,    3,  0, 0,  0, 0, 0, 0, 0x45, 0,    0, 32,  0, 0,  0, 0, 64,  17,  0,   0,
		198,  18, 0, 1,  9, 9, 9, 9, 0x9c, 0x40, 0, 123, 0, 12, 0, 0, 'p', 'i', 'n', 'g'};
	uint8_t other[sizeof stray - 28];
	struct sb_packet packet, whole;

	(void)state;
	sb_packet_read(stray, sizeof stray, MARK, &packet);
	assert_int_equal(packet.kind, SB_PACKET_STRAY);
	assert_int_equal(packet.ends.to_port, 123);
	assert_int_equal(packet.length, 4);
	assert_memory_equal(packet.bytes, "ping", 4);
	sb_packet_read(stray, sizeof stray - 1, MARK,
		       &packet); /* in part: known, and not sent on */
	assert_int_equal(packet.kind, SB_PACKET_STRAY);
	assert_int_equal(packet.length, 0);
	/* the datagram itself has the rest, and no other one has */
	assert_true(sb_packet_completes(stray + 28, sizeof stray - 28, &packet, &whole));
	assert_int_equal(whole.length, 4);
	assert_ptr_equal(whole.bytes, stray + sizeof stray - 4);
	assert_true(sb_ends_equal(&whole.ends, &packet.ends));
	assert_false(sb_packet_completes(stray + 28, sizeof stray - 29, &packet, &whole));
	assert_false(sb_packet_completes(stray + 28, 8, &packet, &whole));
	memcpy(other, stray + 28, sizeof other);
	other[5] = 1; /* its number */
	assert_false(sb_packet_completes(other, sizeof other, &packet, &whole));
	sb_packet_read(stray, 55, MARK, &packet);
	assert_int_equal(packet.kind, SB_PACKET_OTHER);
	assert_false(sb_packet_completes(stray + 28, sizeof stray - 28, &packet, &whole));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(reads),
	cmocka_unit_test(marks),
	cmocka_unit_test(refuses),
	cmocka_unit_test(quotes),
};

UNIT_MAIN("packet")
