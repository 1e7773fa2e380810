/*
 * dns.c - fuzz target: the input is a query to the name server inside.
 *
 * Whatever it is, it is dropped or gets an answer that repeats its question; a name that was read is in
 * its one spelling, keeps its address, and is found again by it.
 */
#include "fuzz.h"

#include <string.h>
#include <sys/socket.h>

#include "network/dns.h"
#include "network/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sb_address address = {.family = AF_INET};
	static uint8_t again_as[SB_DNS_ANSWER_MAX];
	uint8_t out[SB_DNS_ANSWER_MAX], again[4];
	size_t length;
	char spelled[SB_HOST_NAME_SIZE];
	struct sb_dns_query query;
	struct sb_names *names;
	struct sb_error err;
	int code = sb_dns_read(data, size, &query);

	if (code < 0)
		return 0;
	CHECK(query.length >= 12 && query.length <= size);
	CHECK(sb_dns_say(data, &query, code, out) == query.length);
	CHECK(memcmp(out + 12, data + 12, query.length - 12) == 0 && (out[2] & 0x80));
	if (code != SB_DNS_FINE || !query.name[0])
		return 0;
	CHECK(sb_host_name(query.name, strlen(query.name), spelled, &err) == SB_OK);
	CHECK(strcmp(spelled, query.name) == 0);
	names = sb_names_new();
	CHECK(names && sb_names_address(names, query.name, address.bytes));
	CHECK(sb_names_address(names, query.name, again) && memcmp(again, address.bytes, 4) == 0);
	CHECK(strcmp(sb_names_of(names, &address), query.name) == 0);
	CHECK(sb_dns_say_address(data, &query, again, out) <= sizeof out);
	CHECK(sb_dns_say_name(data, &query, query.name, out) <= sizeof out);
	CHECK(query.room >= 512 && query.room <= sizeof out);
	sb_names_free(names);
	/* the same bytes as what a server outside says to it, with a header that says so */
	if (size <= sizeof again_as) {
		memcpy(again_as, data, size);
		again_as[2] |= 0x80;
		again_as[7] = size > query.length ? data[query.length] : 0;
		length = sb_dns_pass_on(data, &query, again_as, size, query.room, out);
		CHECK(length >= query.length && length <= query.room && length <= size);
	}
	return 0;
}
