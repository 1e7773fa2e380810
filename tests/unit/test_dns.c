/* test_dns.c - queries to our name server: what is read, what is refused, what is answered. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "network/dns.h"
#include "network/names.h"

#define HEAD "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"

struct row {
	const char *bytes;
	size_t length;
	int code;
	unsigned type;
	const char *name;
};

#define ROW(bytes, ...)                                                                            \
	{                                                                                          \
		bytes, sizeof bytes - 1, __VA_ARGS__                                               \
	}

static void reads(void **state)
{
	static const struct row rows[] = {
		ROW(HEAD "\3www\7Example\3org\0\0\1\0\1", SB_DNS_FINE, SB_DNS_A, "www.example.org"),
		ROW(HEAD "\3www\0\0\x1c\0\1", SB_DNS_FINE, SB_DNS_AAAA, "www"),
		ROW(HEAD "\0\0\1\0\1", SB_DNS_FINE, SB_DNS_A, ""),      /* the root is no host */
		ROW(HEAD "\3a.b\0\0\1\0\1", SB_DNS_FINE, SB_DNS_A, ""), /* a dot in a label */
		ROW(HEAD "\3a b\0\0\1\0\1", SB_DNS_FINE, SB_DNS_A, ""),
		ROW(HEAD "\7"
			 "1.2.3.4"
			 "\0\0\1\0\1",
		    SB_DNS_FINE, SB_DNS_A, ""),
		ROW(HEAD "\1"
			 "1\1"
			 "2\1"
			 "3\1"
			 "4\0\0\1\0\1",
		    SB_DNS_FINE, SB_DNS_A, ""),
		/* EDNS, as everybody sends it: what follows the question is not looked at */
		ROW("\0\1\1\0\0\1\0\0\0\0\0\1\1a\0\0\1\0\1\0\0\x29\4\xd0\0\0\0\0\0\0", SB_DNS_FINE,
		    SB_DNS_A, "a"),
		ROW(HEAD "\3www\0\0\1\0\3", SB_DNS_NOTIMP, SB_DNS_A, ""), /* of another class */
		ROW("\0\1\x28\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", SB_DNS_NOTIMP, 0,
		    ""), /* an update */
		ROW("\0\1\1\0\0\2\0\0\0\0\0\0\1a\0\0\1\0\1\1b\0\0\1\0\1", SB_DNS_FORMERR, 0, ""),
		ROW("\0\1\1\0\0\0\0\0\0\0\0\0", SB_DNS_FORMERR, 0, ""),
		ROW("\0\1\1\0\0\1\0\1\0\0\0\0\1a\0\0\1\0\1", SB_DNS_FORMERR, 0,
		    ""),                                             /* an answer in it */
		ROW(HEAD "\xc0\x0c\0\1\0\1", SB_DNS_FORMERR, 0, ""), /* a pointer */
		ROW(HEAD "\3ww", SB_DNS_FORMERR, 0, ""),
		ROW(HEAD "\3www\0\0\1\0", SB_DNS_FORMERR, 0, ""),
		ROW("\0\1\x81\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", -1, 0,
		    ""), /* an answer: forged, or a loop */
		ROW("\0\1\1", -1, 0, ""),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sb_dns_query query;

		if (sb_dns_read((const uint8_t *)rows[i].bytes, rows[i].length, &query) !=
			    rows[i].code ||
		    query.type != rows[i].type || strcmp(query.name, rows[i].name) != 0)
			fail_msg("row %zu: type %u, name '%s'", i, query.type, query.name);
	}
}

static void answers(void **state)
{
	static const uint8_t bytes[] = HEAD "\3www\0\0\1\0\1trailing";
	uint8_t out[SB_DNS_ANSWER_MAX];
	struct sb_dns_query query;

	(void)state;
	assert_int_equal(sb_dns_read(bytes, sizeof bytes - 1, &query), SB_DNS_FINE);
	assert_int_equal(sb_dns_say(bytes, &query, SB_DNS_NXDOMAIN, out), 21);
	assert_memory_equal(out, "\x12\x34\x81\x83\0\1\0\0\0\0\0\0\3www\0\0\1\0\1", 21);
	assert_int_equal(sb_dns_say_address(bytes, &query, (const uint8_t[]){198, 18, 0, 16}, out),
			 37);
	assert_memory_equal(out,
			    "\x12\x34\x81\x80\0\1\0\1\0\0\0\0\3www\0\0\1\0\1"
			    "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc6\x12\0\x10",
			    37);
	assert_int_equal(sb_dns_say_name(bytes, &query, "a.bc", out), 39);
	assert_memory_equal(out + 21, "\xc0\x0c\0\x0c\0\1\0\0\0\x3c\0\6\1a\2bc\0", 18);
}

static void reverses(void **state)
{
	uint8_t address[4];

	(void)state;
	assert_true(sb_dns_reversed("16.0.18.198.in-addr.arpa", address));
	assert_memory_equal(address, ((uint8_t[]){198, 18, 0, 16}), 4);
	assert_false(sb_dns_reversed("16.0.18.256.in-addr.arpa", address));
	assert_false(sb_dns_reversed("16.0.18.198.in-addr.arpa.example", address));
	assert_false(sb_dns_reversed("0.18.198.in-addr.arpa", address));
}

/* Cut anywhere, nothing behind the end is looked at; what is refused is answered all the same. */
static void is_cut(void **state)
{
	static const char bytes[] = HEAD "\3www\7example\3org\0\0\1\0\1";

	(void)state;
	for (size_t length = 0; length < sizeof bytes; length++) {
		uint8_t *exact = malloc(length + !length), out[SB_DNS_ANSWER_MAX];
		struct sb_dns_query query;

		memcpy(exact, bytes, length);
		if (sb_dns_read(exact, length, &query) >= 0)
			assert_true(sb_dns_say(exact, &query, SB_DNS_FORMERR, out) <= length);
		free(exact);
	}
}

/* What a server outside says: its answers, and nothing that it adds. */
static void passes_on(void **state)
{
	static const uint8_t asked[] =
		"\x12\x34\1\0\0\1\0\0\0\0\0\1\3wWw\0\0\x10\0\1\0\0\x29\2\x58\0\0\0\0\0";
#define SAID(flags, code, count, records)                                                          \
	"\0\1" flags code "\0\1\0" count "\0\0\0\1\3www\0\0\x10\0\1" records
#define TEXT "\xc0\x0c\0\x10\0\1\0\0\0\x3c\0\3\2hi"
#define MORE "\1a\0\0\1\0\1\0\0\0\x3c\0\4\1\2\3\4"
	static const struct {
		const char *bytes;
		size_t length, room, got;
		unsigned flags, code, count;
	} rows[] = {
		{SAID("\x81", "\x80", "\1", TEXT MORE), 21 + 15 + 17, 512, 36, 0x81, 0, 1},
		{SAID("\x81", "\x80", "\2", TEXT MORE), 21 + 15 + 17, 512, 53, 0x81, 0, 2},
		{SAID("\x81", "\x80", "\1", TEXT), 21 + 15, 35, 21, 0x83, 0, 0},  /* no room */
		{SAID("\x83", "\x80", "\1", TEXT), 21 + 15, 512, 21, 0x83, 0, 0}, /* cut already */
		{SAID("\x81", "\x83", "\0", MORE), 21 + 17, 512, 21, 0x81, 3, 0},
		{SAID("\x81", "\x85", "\0", ""), 21, 512, 21, 0x81, 2, 0},   /* REFUSED */
		{SAID("\x81", "\x80", "\2", TEXT), 36, 512, 21, 0x81, 2, 0}, /* one is not there */
		{SAID("\x81", "\x80", "\1", TEXT), 35, 512, 21, 0x81, 2, 0}, /* nor a byte of it */
		{SAID("\1", "\x80", "\1", TEXT), 36, 512, 21, 0x81, 2, 0},   /* no answer */
		{SAID("\x81", "\x80", "\1", TEXT), 20, 512, 21, 0x81, 2, 0},
		{"\0\1\x81\x80\0\1\0\0\0\0\0\0\3wwx\0\0\x10\0\1", 21, 512, 21, 0x81, 2, 0},
		{"", 0, 512, 21, 0x81, 2, 0},
	};
	struct sb_dns_query query;
	uint8_t out[SB_DNS_ANSWER_MAX];

	(void)state;
	assert_int_equal(sb_dns_read(asked, sizeof asked - 1, &query), SB_DNS_FINE);
	assert_int_equal(query.room, 600);
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t *exact = malloc(rows[i].length + !rows[i].length);
		size_t got;

		memcpy(exact, rows[i].bytes, rows[i].length);
		got = sb_dns_pass_on(asked, &query, exact, rows[i].length, rows[i].room, out);
		free(exact);
		if (got != rows[i].got || out[2] != rows[i].flags ||
		    (out[3] & 15u) != rows[i].code || out[7] != rows[i].count ||
		    memcmp(out + 12, asked + 12, 9) != 0)
			fail_msg("row %zu: %zu bytes", i, got);
	}
	assert_string_equal(sb_dns_owner("_imap._tcp.a.example"), "a.example");
	assert_string_equal(sb_dns_owner("a._tcp.example"), "a._tcp.example");
	assert_true(sb_dns_is_about(33) && !sb_dns_is_about(SB_DNS_AAAA) && !sb_dns_is_about(65));
}

static void names_keep_their_addresses(void **state)
{
	struct sb_names *names = sb_names_new();
	uint8_t first[4], again[4];
	struct sb_address address = {.family = 2};

	(void)state;
	assert_true(sb_names_address(names, "a.example", first));
	for (unsigned i = 1; i < SB_NAMES_MAX; i++) {
		char name[32];

		snprintf(name, sizeof name, "n%u.example", i);
		assert_true(sb_names_address(names, name, address.bytes));
		assert_string_equal(sb_names_of(names, &address), name);
	}
	assert_true(sb_names_address(names, "a.example", again));
	assert_memory_equal(first, again, 4);
	assert_false(sb_names_address(names, "one.too.many", again));
	memcpy(address.bytes, (uint8_t[]){198, 18, 0, 1}, 4); /* the run's own stands for nobody */
	assert_null(sb_names_of(names, &address));
	memcpy(address.bytes, (uint8_t[]){198, 18, 255, 255}, 4);
	assert_null(sb_names_of(names, &address));
	sb_names_free(names);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(reads),     cmocka_unit_test(answers),
	cmocka_unit_test(reverses),  cmocka_unit_test(is_cut),
	cmocka_unit_test(passes_on), cmocka_unit_test(names_keep_their_addresses),
};

UNIT_MAIN("dns")
