/*
 * socket.h - questions of this run for whoever attaches from another terminal (C5, C6).
 *
 *     open -> { poll, handle, ask, withdraw, notice }... -> close
 *
 * The asker listens on an abstract socket with a random name, which running.h tells to the
 * user's own processes.  The name keeps nobody out: /proc/net/unix shows it.  What does is
 * Landlock's scope for those inside, and for everybody the look at who connects (peer.h).
 *
 * A question goes to every client and to those that come later, until it is answered or
 * withdrawn; the first answer counts.  No client can make the asker wait: nothing blocks, and
 * one that takes nothing for long is dropped.  Owns copies of what it is asked.
 *
 * Who watches also hears which answers hold, can take each of them back and add rules (C9).  It
 * is not asked here while the connection that the run was started with is open: whoever has the
 * other end, a server, asks it.
 */
#ifndef SB_CONSENT_SOCKET_H
#define SB_CONSENT_SOCKET_H

#include <poll.h>

#include "consent/question.h"
#include "sandbash/error.h"

#define SB_SOCKET_CLIENTS 8
#define SB_SOCKET_FDS (1 + SB_SOCKET_CLIENTS)

struct sb_socket;

struct sb_socket_options {
	size_t size; /* sizeof this struct */
	const char *state_dir;
	const char *session;        /* its ID; NULL: one is made */
	const char *name;           /* of --session; or NULL */
	const char *directory;      /* for the list of runs */
	const char *const *command; /* the same; NULL-terminated */
	const char *mode;           /* the same */
	bool asks;                  /* false: clients are told that nobody is asked */
	/*
	 * A connection that the run was started with: its other end is looked at like any that
	 * connects later.  The caller made it with SO_PASSCRED on both ends.  Taken over.
	 */
	bool has_client;
	int client;
	/* From sb_socket_handle(): a client has answered an open question, which is open no more
	 * here; SB_ANSWER_NONE: the only one has nobody to ask.  It may ask, withdraw and notice,
	 * but not close. */
	void (*answered)(void *context, unsigned long id, enum sb_answer answer);
	/* The same for C9: an answer's number is to hold no more; or a rule is to hold.  Or NULL. */
	void (*take_back)(void *context, unsigned long number);
	void (*add)(void *context, const char *rule);
	void *context;
};

int sb_socket_open(const struct sb_socket_options *options, struct sb_socket **out,
		   struct sb_error *err);
/* Clients see the end; the run is no longer listed.  NULL is fine. */
void sb_socket_close(struct sb_socket *socket);

size_t sb_socket_poll(const struct sb_socket *socket, struct pollfd *out); /* how many */
void sb_socket_handle(struct sb_socket *socket, const struct pollfd *fds, size_t count);

/* How many people are attached who can be asked. */
size_t sb_socket_clients(const struct sb_socket *socket);

/* An open question's number; 0: none is open. */
unsigned long sb_socket_first(const struct sb_socket *socket);

int sb_socket_ask(struct sb_socket *socket, const struct sb_question *question,
		  struct sb_error *err);
/* Take it away, and say why: "answered on the run's terminal". */
void sb_socket_withdraw(struct sb_socket *socket, unsigned long id, const char *why);
void sb_socket_notice(struct sb_socket *socket, const char *text);

/*
 * The answers that hold, all of them: begin, each one, end.  Numbers only grow, and the words of
 * one that is known are not looked at again.
 */
void sb_socket_standing_begin(struct sb_socket *socket);
void sb_socket_stands(struct sb_socket *socket, unsigned long number, enum sb_answer answer,
		      const char *text);
void sb_socket_standing_end(struct sb_socket *socket);

#endif
