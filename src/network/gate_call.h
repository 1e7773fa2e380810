/*
 * gate_call.h - what the performer asks the gate: one call, one reply, one at a time.
 */
#ifndef SB_NETWORK_GATE_CALL_H
#define SB_NETWORK_GATE_CALL_H

#include "network/gate_impl.h"

enum call_kind { PREPARE, WHO, GIVE_WAY, WHY, NO_DATAGRAMS };

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
	struct sb_peer peer; /* of WHO; port 0: nobody outside */
};

struct sb_gate {
	int channel;
	pthread_mutex_t lock; /* one call at a time */
};

#endif
