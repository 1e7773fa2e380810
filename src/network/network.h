/*
 * network.h - the network of a run whose hosts are decided about by name, while connect() waits.
 *
 *   GATE    a process of ours in the run's network namespace, where every address is local and nothing
 *           leads out: it answers lookups, and holds each connection until somebody has decided
 *   ASKER   decides, and lets the dialer look up and connect outside (supervise/linux_peers.c)
 *   DIALER  the asker's child: looks names up and connects, outside
 *   PUMP    the gate's child, without rights: carries bytes between two sockets that it was given
 *
 *     sb_space_show -> sb_gate_start -> sb_gate_await -> { sb_gate_prepare, sb_gate_give_way, sb_gate_why }...
 *
 * A connection of the command's ends at a listener of the gate's at exactly that address and port,
 * which drops the SYN.  The gate sees the SYN, asks, and lets it in again once there is a connection
 * outside; or answers it as a host that cannot be reached.  So a program that does not wait finds what
 * it would natively: a connection that takes its time.
 */
#ifndef SB_NETWORK_NETWORK_H
#define SB_NETWORK_NETWORK_H

#include <pthread.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "network/proxy.h"
#include "policy/network.h"

/* --- between gate, asker, dialer and pump: one SOCK_SEQPACKET message each, with descriptors ------ */

enum sb_gate_kind {
	/* gate to asker */
	SB_GATE_ASK,  /* may this peer be reached?  Answered at once */
	SB_GATE_DIAL, /* connect to it: answered when that is decided and done */
	SB_GATE_LOOK, /* does the name exist?  Or number: its records of a type (dns.h).  Only of names
			* that rules allow */
	SB_GATE_ENDED, /* a connection has ended: bytes, the name that TLS gave */
	/* and back */
	SB_GATE_VERDICT, /* number: 0, an errno, or SB_GATE_WAIT: a person has to say */
	SB_GATE_DIALLED, /* with the connection; or number: an errno */
	SB_GATE_LOOKED,  /* number: a code of dns.h; with a pipe that has the server's answer */
	SB_GATE_ARRIVED, /* a connection from outside, to a port that "listen" names */
	/* dialer to asker */
	SB_GATE_UNLIKELY, /* the name leads to peer.address, which a yes to the name does not cover */
	/* gate to pump */
	SB_GATE_CARRY, /* with two sockets, the inner one first */
};

#define SB_GATE_WAIT (-1)

/* So many flows there are at a time, each with another number modulo this. */
#define SB_GATE_FLOWS 2048

struct sb_gate_message {
	enum sb_gate_kind kind;
	uint32_t id; /* of the flow, or of the question: the sender's own number */
	int number;
	pid_t process; /* who connects, as far as is known */
	struct sb_peer peer;
	uint64_t sent, received; /* ENDED: bytes from inside, to inside */
	uint32_t milliseconds;   /* ENDED */
	bool refused;            /* ENDED: TLS gave another name than the peer's */
	int proxy; /* DIALLED, and failed at a proxy: the status it gave (proxy.h), or a negative errno; */
	char variable[SB_PROXY_VARIABLE_SIZE]; /* ... and what names it */
	char tls[SB_HOST_NAME_SIZE];           /* ENDED: the name that TLS gave, or "" */
};

/* 0, or a negative errno; -EPIPE: the other side is gone; -EAGAIN only where nobody waits. */
int sb_gate_send(int channel, const struct sb_gate_message *message, const int *fds, size_t count);
/* *out_fds: at most two, close-on-exec; -1: none. */
int sb_gate_receive(int channel, struct sb_gate_message *message, int out_fds[2]);

/*
 * What is told to somebody who may not be listening just now, by a process that waits for nobody: kept,
 * in order, until the channel takes it.  Zero is empty.
 */
struct sb_outbox {
	struct sb_outbox_note *first, **last;
	size_t count;
};

void sb_outbox_post(struct sb_outbox *box, int channel, const struct sb_gate_message *message);
/* True: nothing is left. */
bool sb_outbox_flush(struct sb_outbox *box, int channel);

/* --- in the performer, while it has capabilities in its own network namespace -------------------- */

/* /etc/resolv.conf and /etc/hosts lead no name past the gate's resolver. */
void sb_space_show(void);
/* Every address is local.  proc: a descriptor of /proc.  SB_E_UNSUPPORTED: it cannot be. */
int sb_space_make(int proc, struct sb_error *err);
/* The rest, which nobody need wait for: how programs fail there, and how soon. */
void sb_space_settle(int proc);

struct sb_gate; /* the performer's end */

/*
 * Start the gate, which makes the network and starts the pump while the caller goes on.  asker: the
 * channel for sb_gate_message, which goes to the gate.  proc: as above.
 */
int sb_gate_start(const struct sb_policy *policy, int proc, int asker, struct sb_gate **out,
		  struct sb_error *err);
/* Once: the resolver and the gate stand, before which nothing of the command may run.  Else there is none. */
int sb_gate_await(struct sb_gate **gate, struct sb_error *err);
/* The descriptor that stays open for it. */
int sb_gate_fd(const struct sb_gate *gate);

/*
 * The command is about to connect a socket of this type to this address, whose port is changed where
 * the gate stands at another one.  0: let it, and say sb_gate_begun() then, or an errno.  Any thread.
 * Nobody else prepares anything in between.
 */
int sb_gate_prepare(struct sb_gate *gate, int type, struct sockaddr_storage *address,
		    socklen_t length, pid_t process);
/*
 * It was let: the gate hears whose packet it has, by the port that the socket has now.  An answer is for the process that
 * was shown.  socket: -1: nothing was begun.
 */
void sb_gate_begun(struct sb_gate *gate, int socket, const struct sockaddr_storage *address,
		   pid_t process);

/* Whom this address means, of TCP; port 0: a server of the command's own, or nobody.  False: it is not known. */
bool sb_gate_who(struct sb_gate *gate, const struct sockaddr_storage *address, socklen_t length,
		 struct sb_peer *out);

/* From now on datagrams lead nowhere outside: who sends one is not known.  False: they still may. */
bool sb_gate_end_datagrams(struct sb_gate *gate);

/* The command is about to bind a socket of this type to a port of its own: gates there give way. */
void sb_gate_give_way(struct sb_gate *gate, int type, const struct sockaddr_storage *address,
		      socklen_t length);

/* Why a connection from here to there was not made; error: what the kernel says. */
int sb_gate_why(struct sb_gate *gate, const struct sockaddr_storage *from,
		const struct sockaddr_storage *to, int error);

/* --- outside ---------------------------------------------------------------------------------------- */

/*
 * Start the dialer: *out_channel takes SB_GATE_DIAL and SB_GATE_LOOK and gives DIALLED, LOOKED and
 * UNLIKELY with the same id.  A DIAL whose peer has both a name and an address goes there and nowhere
 * else.  variable: of the environment outside, which may name a proxy (proxy.h); or NULL.  It ends with its channel.
 */
int sb_dialer_start(const struct sb_policy *policy, const char *(*variable)(const char *name),
		    int *out_channel, struct sb_error *err);

/*
 * Sets address->here: is it one of this machine's own?  Asked of the kernel, by who connects outside.  Where no rule is
 * about it nothing is asked, and it is false.
 */
void sb_here_look(const struct sb_policy *policy, struct sb_address *address);

/*
 * In a process of its own, the pump, which ends with the channel; returns its exit status.  It carries bytes between
 * pairs of sockets, and can do nothing else.  It gets each pair by SB_GATE_CARRY and says SB_GATE_ENDED when it is done.
 * It opens nothing, looks nothing up and knows no rules; killed, it takes its connections along and leaves nothing
 * open.  An idle connection costs it a few hundred bytes: pipes for splice(2) are lent to who has bytes on the way.
 */
int sb_pump_main(int channel);

#endif
