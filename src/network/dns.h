/*
 * dns.h - questions to a name server, read and answered.
 *
 * Every byte of a question is the command's.  What is not exactly one plain question is refused with
 * the code that says so, or dropped where no honest program could have sent it.  Pure: no system call.
 */
#ifndef SB_NETWORK_DNS_H
#define SB_NETWORK_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

enum { SB_DNS_A = 1, SB_DNS_PTR = 12, SB_DNS_AAAA = 28 };
enum { SB_DNS_FINE, SB_DNS_FORMERR, SB_DNS_SERVFAIL, SB_DNS_NXDOMAIN, SB_DNS_NOTIMP };

#define SB_DNS_QUERY_MAX 512   /* longer than any name; what EDNS adds is a few dozen bytes */
#define SB_DNS_ANSWER_MAX 4096 /* what servers and programs agree on with EDNS, mostly less */

struct sb_dns_query {
	uint16_t type;
	size_t length;                /* of header and question: how an answer begins */
	size_t room;                  /* for an answer in one datagram: EDNS says more than 512 */
	char name[SB_HOST_NAME_SIZE]; /* in the one spelling of host.h; "": it can be no host */
};

/* SB_DNS_FINE, the code to answer with, or -1: not worth an answer. */
int sb_dns_read(const uint8_t *bytes, size_t length, struct sb_dns_query *out);

/*
 * Answer a query that was read, of which only the first query->length bytes are looked at.  Each
 * returns how many bytes out got.  No record at all is what a server says of a type that a name has not.
 */
size_t sb_dns_say(const uint8_t *bytes, const struct sb_dns_query *query, int code,
		  uint8_t out[SB_DNS_ANSWER_MAX]);
size_t sb_dns_say_address(const uint8_t *bytes, const struct sb_dns_query *query,
			  const uint8_t address[4], uint8_t out[SB_DNS_ANSWER_MAX]);
size_t sb_dns_say_name(const uint8_t *bytes, const struct sb_dns_query *query, const char *name,
		       uint8_t out[SB_DNS_ANSWER_MAX]);

/*
 * What a server outside has answered to the same question, without what it adds of its own accord: addresses of
 * others, which would lead past their names.  If it is longer than room, only that there is more.
 */
size_t sb_dns_pass_on(const uint8_t *bytes, const struct sb_dns_query *query, const uint8_t *answer,
		      size_t length, size_t room, uint8_t out[SB_DNS_ANSWER_MAX]);

/* Records that say something about a host, but not its address (SB_DNS_A is a name's own here). */
bool sb_dns_is_about(unsigned type);
/* Whose they are: "_imap._tcp.example.org" is said by, and about, example.org. */
const char *sb_dns_owner(const char *name);

/* "4.3.2.1.in-addr.arpa": the address.  False: it is none of IPv4. */
bool sb_dns_reversed(const char *name, uint8_t out_address[4]);

#endif
