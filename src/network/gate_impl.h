/*
 * gate_impl.h - the gate's own: its loop (linux_gate.c), what its parts share (linux_sources.c), connections (linux_flows.c), datagrams
 * (linux_datagrams.c), lookups (linux_resolver.c).
 *
 * One thread, one epoll.  Whatever waits is in a table with a fixed number of places.
 */
#ifndef SB_NETWORK_GATE_IMPL_H
#define SB_NETWORK_GATE_IMPL_H

#include <netinet/in.h>

#include "network/dns.h"
#include "network/names.h"
#include "network/network.h"
#include "network/packet.h"

struct gate;

/* Something that epoll watches.  The function may end it: one event is taken at a time. */
struct source {
	int fd;
	void (*ready)(struct gate *gate, struct source *source);
};

union place {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_storage storage;
};

struct sb_address sb_place_address(const union place *place);
uint16_t sb_place_port(const union place *place);
/* Returns the length. */
socklen_t sb_place_make(union place *out, const struct sb_address *address, uint16_t port);

#define MAX_LISTENERS 1024 /* idle ones are closed when there are more */
#define MAX_LOOKUPS 256
#define MAX_STREAMS 64 /* lookups by TCP */
#define MAX_REFUSED 256
#define MAX_DATAGRAM 65536
#define MAX_WAITING_BYTES (4u << 20) /* of all datagrams that wait */

struct listener {
	struct source source;
	struct listener *next;
	struct sb_address address;
	uint16_t port;       /* where it stands */
	struct sb_peer peer; /* what that means */
	pid_t process;       /* who wanted it last */
	unsigned flows;
	unsigned long used;
	bool stays; /* the performer counts on it */
};

/* SEEN: there is a packet, and nobody has said yet whose it is. */
enum flow_state { FLOW_FREE, FLOW_SEEN, FLOW_ASKED, FLOW_PASSING, FLOW_CARRIED };

struct flow {
	enum flow_state state;
	uint32_t id;
	struct flow *next;         /* of those that wait */
	struct listener *listener; /* while it waits */
	struct sb_ends ends;
	uint32_t sequence;
	int outside; /* FLOW_PASSING: the connection there */
	int64_t until_ms;
	struct sb_peer peer; /* FLOW_CARRIED: for the record */
	pid_t process;
	size_t length;
	uint8_t bytes[SB_PACKET_MAX]; /* the SYN */
	uint8_t *datagram;            /* the first one; or NULL */
};

struct lookup { /* that waits for a server outside */
	bool used;
	uint32_t id;
	int64_t until_ms;
	int fd;                /* who is answered: this socket, */
	struct stream *stream; /* or this connection */
	union place from;      /* ... from */
	union place asked;     /* ... by this address of ours */
	struct sb_dns_query query;
	uint8_t bytes[SB_DNS_QUERY_MAX];
};

struct stream {
	struct source source;
	size_t have;
	bool waits;
	uint8_t bytes[2 + SB_DNS_QUERY_MAX];
};

struct gate {
	const struct sb_policy *policy;
	struct sb_names *names;
	int epoll;
	uint16_t mark;
	uint32_t last_id;
	struct source asker, performer, pump, packets, lookups[2], streams_listener[2];
	int datagrams; /* those that no ICMP error quotes in whole pass by here, too; or -1 */
	struct listener *listeners;
	size_t listener_count, staying;
	unsigned long clock;
	struct flow flows[SB_GATE_FLOWS]; /* by number */
	struct flow *asked;               /* those that wait, the newest first */
	struct lookup waiting[MAX_LOOKUPS];
	size_t waiting_count;
	struct stream *streams[MAX_STREAMS];
	uint8_t own_ports[65536 / 8]; /* that the command has bound: they are never the host's */
	struct { /* why connections were not made, for those who wait for them */
		struct sb_ends ends;
		int error;
	} refused[MAX_REFUSED];
	unsigned refused_next;
	uint32_t verdict_id;     /* what the performer waits for the verdict of; 0: nothing */
	uint16_t answer_port;    /* ... and hears if it may go on */
	struct sb_outbox outbox; /* ends of connections, for the asker */
	bool writing;            /* epoll says when it takes more */
	bool no_datagrams;       /* but those of lookups */
	size_t waiting_bytes;    /* of datagrams */
	uint8_t room[64 + MAX_DATAGRAM]; /* for one, with what stands before it */
	bool over;
};

/* --- linux_sources.c ------------------------------------------------------------------------- */

uint32_t sb_gate_next_id(struct gate *gate);
/* 0, or a negative errno. */
int sb_gate_watch(struct gate *gate, struct source *source);
void sb_gate_pause(struct gate *gate, const struct source *source, bool paused);
void sb_gate_forget(struct gate *gate, struct source *source); /* and close it */
/* Whom an address means. */
struct sb_peer sb_gate_peer(const struct gate *gate, enum sb_protocol protocol,
			    const struct sb_address *address, uint16_t port);
/* Hand two connected sockets to the pump; takes both over. */
void sb_gate_carry(struct gate *gate, struct flow *flow, int inside, int outside);

/* --- linux_flows.c --------------------------------------------------------------------------- */

/* A gate stands there.  0 and where, or an errno; EADDRINUSE: the command has the port itself. */
int sb_gate_listen(struct gate *gate, const struct sb_address *address, const struct sb_peer *peer,
		   pid_t process, struct listener **out);
/* Of gates; 0: every port. */
void sb_gate_clear_port(struct gate *gate, enum sb_protocol protocol, uint16_t port);
void sb_gate_syn(struct gate *gate, const struct sb_packet *packet, const uint8_t *bytes,
		 size_t length);
/* Whose connection from here to there it is. */
void sb_gate_begun_by(struct gate *gate, const struct sb_ends *ends, pid_t process);
void sb_gate_dialled(struct gate *gate, struct flow *flow, int error, int outside);
void sb_gate_flows_tick(struct gate *gate, int64_t now_ms);
struct flow *sb_gate_new_flow(struct gate *gate); /* NULL: there are too many */
struct flow *sb_gate_find_flow(struct gate *gate, uint32_t id);
/* Ask about a new one at this listener.  False: nobody can be reached. */
bool sb_gate_ask_about(struct gate *gate, struct flow *flow, struct listener *listener);
struct flow *sb_gate_find_waiting(struct gate *gate, enum sb_protocol protocol,
				  const struct sb_ends *ends);
/* Nobody waits for it any more; what it holds is closed. */
void sb_gate_drop(struct gate *gate, struct flow *flow);
/* A socket of ours there: of a stream it listens, for what carries the mark only. */
int sb_gate_open_at(const struct gate *gate, int type, const struct sb_address *address,
		    uint16_t port);
struct listener *sb_gate_find_listener(const struct gate *gate, enum sb_protocol protocol,
				       const struct sb_address *address, uint16_t port);
/* Takes fd over.  NULL: out of memory. */
struct listener *sb_gate_add_listener(struct gate *gate, const struct listener *listener);
/* A connection from outside to a port inside. */
void sb_gate_arrived(struct gate *gate, uint16_t port, int outside);

/* --- linux_datagrams.c ------------------------------------------------------------------------ */

int sb_gate_hear(struct gate *gate, const struct sb_address *address, const struct sb_peer *peer,
		 pid_t process);
void sb_gate_stray(struct gate *gate, const struct sb_packet *packet);
void sb_gate_dialled_datagrams(struct gate *gate, struct flow *flow, int error, int outside);
/* While there are rights. */
void sb_gate_watch_datagrams(struct gate *gate);

/* --- linux_resolver.c -------------------------------------------------------------------------- */

int sb_gate_resolver_open(struct gate *gate); /* 0, or an errno */
/* answer: a pipe with what the server said, where records were asked for; or -1.  It stays the caller's. */
void sb_gate_looked(struct gate *gate, uint32_t id, int code, int answer);
void sb_gate_resolver_tick(struct gate *gate, int64_t now_ms);

/* --- linux_gate_call.c: what the performer asks the gate: one call, one reply, one at a time ------ */

enum call_kind { PREPARE, BEGUN /* no reply */, WHO, GIVE_WAY, WHY, NO_DATAGRAMS };

struct call {
	enum call_kind kind;
	int type; /* of the socket */
	int error;
	pid_t process;
	union place address, from;
};

struct reply {
	int error;
	uint16_t port;
	bool gated;          /* PREPARE: a gate stands there, which wants to hear of BEGUN, */
	bool stays;          /* ... and until somebody binds a port */
	struct sb_peer peer; /* of WHO; port 0: nobody outside */
};

#define SB_GATE_STANDING 32

struct sb_gate {
	int channel;
	pthread_mutex_t lock; /* one call at a time */
	bool gated;           /* of the connection that was prepared */
	struct
	{ /* where gates stay, to hosts that a rule allows: nobody need be asked to stand there */
		union place address;
		uint16_t port;
	} standing[SB_GATE_STANDING];
	size_t standing_count;
};

#endif
