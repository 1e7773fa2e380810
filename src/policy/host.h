/*
 * host.h - names and addresses of hosts as rules and questions know them.
 *
 * A name is kept in one spelling: lower case, no dot at the end, ASCII (other letters as xn--).  An address
 * that IPv6 only wraps (::ffff:1.2.3.4) is the wrapped one.  Nothing is looked up here.
 */
#ifndef SB_POLICY_HOST_H
#define SB_POLICY_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbash/error.h"

#define SB_HOST_NAME_SIZE 254   /* RFC 1035: 253 bytes, and a NUL */
#define SB_HOST_ADDRESS_SIZE 46 /* INET6_ADDRSTRLEN */
#define SB_HOST_LOCAL                                                                              \
	"localhost" /* this machine: 127.0.0.1, ::1, and what the kernel takes for them */

struct sb_address {
	int family;              /* AF_INET, AF_INET6; 0: none */
	unsigned char bytes[16]; /* in the order of the network; 4 of them for AF_INET */
	bool here; /* one of this machine's own, as far as somebody has looked (sb_here_look()) */
};

enum sb_address_class {
	SB_ADDRESS_PUBLIC,
	SB_ADDRESS_LOOPBACK,
	SB_ADDRESS_PRIVATE,
	SB_ADDRESS_LINK_LOCAL,
	SB_ADDRESS_METADATA, /* where clouds hand out credentials to whoever asks */
	SB_ADDRESS_MULTICAST,
	SB_ADDRESS_RESERVED, /* no host of the internet's: documentation, benchmarks, broadcast, "this network" */
};

/* A name in its one spelling.  SB_E_INVALID: it is none (an address, other letters, too long). */
int sb_host_name(const char *text, size_t length, char out[SB_HOST_NAME_SIZE],
		 struct sb_error *err);

/* What a person should know about a name before a yes ("xn--": may look like another); NULL: nothing. */
const char *sb_host_name_note(const char *name);

/* An address without brackets, port or zone.  False: it is none. */
bool sb_address_parse(const char *text, size_t length, struct sb_address *out);

/* bytes: 4 for AF_INET, 16 for AF_INET6. */
struct sb_address sb_address_make(int family, const void *bytes);
void sb_address_print(const struct sb_address *address, char out[SB_HOST_ADDRESS_SIZE]);
bool sb_address_equal(const struct sb_address *a, const struct sb_address *b);

/* Do the first bits of both agree?  Of two families never. */
bool sb_address_within(const struct sb_address *net, unsigned bits,
		       const struct sb_address *address);

enum sb_address_class sb_address_class(const struct sb_address *address);

/* "cloud metadata", "a private address": the end of "cdn.example is 169.254.169.254: ". */
const char *sb_address_class_text(enum sb_address_class which);

#endif
