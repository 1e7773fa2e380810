/*
 * gate_call.h - what the performer asks the gate: one call, one reply, one at a time.
 */
#ifndef SB_NETWORK_GATE_CALL_H
#define SB_NETWORK_GATE_CALL_H

#include "network/gate_impl.h"

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
