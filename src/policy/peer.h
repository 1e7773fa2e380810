/*
 * peer.h - whom a program wants to reach, and which of them the text of a rule means.
 *
 *     github.com:443        an exact name; without a port 443 and 80
 *     *.example.org         names beneath it at any depth, not itself
 *     udp:ntp.example:123   TCP unless it says so
 *     10.0.0.0/8:22         addresses; [2001:db8::/32]:22
 *     localhost:5432        a port of this machine
 *     example.org:*         every port
 */
#ifndef SB_POLICY_PEER_H
#define SB_POLICY_PEER_H

#include "policy/host.h"

enum sb_protocol { SB_TCP, SB_UDP };

/* Either a name in its one spelling, or an address and the name "". */
struct sb_peer {
	enum sb_protocol protocol;
	uint16_t port;
	char name[SB_HOST_NAME_SIZE];
	struct sb_address address;
};

/* "[2001:db8::1]:443", "udp:ntp.example:123" */
#define SB_PEER_TEXT_SIZE (SB_HOST_NAME_SIZE + 16)

/*
 * A peer by the address that a program gave.  This machine itself becomes the name "localhost": 127.0.0.1,
 * ::1, and 0.0.0.0 and ::, which connect() takes for them.
 */
struct sb_peer sb_peer_of_address(enum sb_protocol protocol, const struct sb_address *address,
				  uint16_t port);

/* "github.com:443", "udp:[::1]:53"; without a port 443.  SB_E_INVALID: it is no peer. */
int sb_peer_parse(const char *text, struct sb_peer *out, struct sb_error *err);
void sb_peer_print(const struct sb_peer *peer, char out[SB_PEER_TEXT_SIZE]);

struct sb_peer_pattern {
	char name[SB_HOST_NAME_SIZE]; /* "": addresses */
	bool beneath;                 /* "*.": what lies beneath the name */
	struct sb_address net;
	unsigned bits;
	int port;     /* SB_PORT_* where none is written */
	int protocol; /* enum sb_protocol, or -1: none is written */
	char text[SB_PEER_TEXT_SIZE + 8];
};

#define SB_PORT_NONE (-1)
#define SB_PORT_ANY 0

int sb_peer_pattern_parse(const char *text, struct sb_peer_pattern *out, struct sb_error *err);

/* "localhost", by whatever address it is written. */
bool sb_peer_pattern_is_here(const struct sb_peer_pattern *pattern);

/*
 * Does it mean the peer?  A pattern that opens means what it says: TCP, and 443 and 80 where nothing is
 * written.  One that takes away means both protocols and every port, and localhost every address of this machine.
 */
bool sb_peer_pattern_covers(const struct sb_peer_pattern *pattern, bool opens,
			    const struct sb_peer *peer);

/* The host alone. */
bool sb_peer_pattern_means(const struct sb_peer_pattern *pattern, const struct sb_peer *peer);

/* The greater, the more specific: an exact host, the longer suffix or prefix, a port, a protocol. */
int sb_peer_pattern_weight(const struct sb_peer_pattern *pattern);

/* 1 to 65535, digits only; 0: it is none. */
unsigned sb_port_parse(const char *text, size_t length);

#endif
