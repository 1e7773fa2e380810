/*
 * asker_impl.h - the asker's own: its loop (linux_asker.c), and whom it asks (linux_asking.c).
 */
#ifndef SB_SUPERVISE_ASKER_IMPL_H
#define SB_SUPERVISE_ASKER_IMPL_H

#include <poll.h>

#include "consent/socket.h"
#include "supervise/approve.h"
#include "supervise/birth.h"
#include "supervise/peers.h"
#include "supervise/supervise.h"
#include "terminal/terminal.h"

/*
 * Other terminals can attach from this moment on: not at once, since making a socket and a
 * file would cost every short command more than it is worth.  A question that waits for them
 * opens it earlier.
 */
#define OPEN_SOCKET_MS 100

struct asker {
	const struct sb_supervision *supervision;
	struct sb_approver approver;
	struct sb_grounds grounds;
	struct sb_guard *guard;
	struct sb_terminal *terminal; /* NULL: the command has the caller's, or there is none */
	struct sb_socket *socket;     /* for other terminals; NULL: not yet, or it cannot be */
	struct sb_peers *peers;       /* where hosts are told apart; or NULL */
	int64_t socket_ms;            /* when it is opened; 0: never (again) */
	bool pointed;                 /* it was said where questions wait */
	int master;                   /* of the command's pty, or -1 */
	int channel;
	int signals;
	int tty; /* the caller's terminal, or -1 */
	pid_t performer;
	char policy_hash[SB_SHA256_HEX];
	pid_t init;        /* waited for after the performer; or 0 */
	bool own_terminal; /* the command gets one, which the performer makes */
	bool started, ended;
	int status;                    /* the command's, as waitpid() gives it */
	int failure;                   /* SB_OK, or why the run had to end, */
	struct sb_error *err;          /* in words */
	struct sb_wire_request *spare; /* for the next message; large, so kept */
};

/* For the approver: the terminal, and whoever is attached. */
struct sb_asking sb_asker_asking(struct asker *asker);

/* Let others attach, once it is time; and hear them. */
void sb_asker_open_socket(struct asker *asker);
void sb_asker_tend_socket(struct asker *asker, const struct pollfd *fds, size_t count);
int sb_asker_socket_timeout_ms(const struct asker *asker);

/*
 * Whom to ask: the terminal that controls us, if we are in its foreground.  Then the command
 * gets one of its own, so that it can neither read an answer nor draw over a question.
 */
void sb_asker_take_terminal(struct asker *asker, struct sb_birth *birth);
/* Those that the command keeps from its caller. */
void sb_asker_note_terminals(struct asker *asker);
/* The command has its own by now. */
int sb_asker_open_terminal(struct asker *asker, struct sb_error *err);

#endif
