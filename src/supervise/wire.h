/*
 * wire.h - what performer and asker tell each other.
 *
 * One SOCK_SEQPACKET message each, with descriptors where one side must look at the very file
 * the other means.  The performer works on hostile requests: the asker takes its word for
 * nothing that a person has not approved, and opens every file again itself.
 */
#ifndef SB_SUPERVISE_WIRE_H
#define SB_SUPERVISE_WIRE_H

#include "consent/notes.h"
#include "enforce/layers.h"
#include "supervise/inner.h"
#include "supervise/resolve.h"

enum sb_wire_kind {
	/* performer to asker */
	SB_WIRE_BORN,     /* it runs: meanwhile the asker may do what takes time */
	SB_WIRE_TERMINAL, /* the command's terminal is there; with its other side */
	SB_WIRE_GATE,     /* hosts are told apart; with the gate's channel: network/network.h */
	SB_WIRE_STARTED,  /* layers in force; with the listener */
	SB_WIRE_REQUEST,  /* a call that is not the performer's to do */
	SB_WIRE_NOTE,     /* a line for the end of the run: in the request's call.text */
	SB_WIRE_UNSEEN,   /* what was wanted in a hidden place: unseen.h; number is the operation */
	SB_WIRE_ALLOWED,  /* what rules allow was done: the same, for the record (log-allowed) */
	SB_WIRE_HOST,     /* a run inside does not allow it: domains.h; for the record */
	SB_WIRE_STOPPED,  /* the command was stopped by a signal (Ctrl-Z) */
	SB_WIRE_ENDED,    /* the command's wait status; counters */
	/* asker to performer */
	SB_WIRE_SIGNAL,   /* pass this signal on to the command */
	SB_WIRE_CONTINUE, /* put it in the foreground and let it go on */
	SB_WIRE_FINISH,   /* end whatever still runs */
	/* open a guarded file as a copy: number is 0: a person will look at the bytes; 1: has said
	 * yes to whatever is written */
	SB_WIRE_STAGE,
};

struct sb_wire_counters {
	unsigned long seen[SB_OP_COUNT], allowed[SB_OP_COUNT];
};

/* A request as it travels: fixed fields, then the strings one after the other. */
struct sb_wire_message {
	enum sb_wire_kind kind;
	int number;  /* signal, or wait status, or the weight of a note */
	pid_t init;  /* SB_WIRE_ENDED: the namespace's first process, to be waited for; or 0.
		      * SB_WIRE_UNSEEN, SB_WIRE_ALLOWED, SB_WIRE_HOST: who wanted it; 0: unknown */
	uint64_t id; /* SB_WIRE_STAGE: of the held call */
	struct sb_layers layers;
	struct sb_wire_counters counters;
};

struct sb_wire_request {
	struct sb_call call;
	pid_t process; /* thread group of the caller */
	mode_t umask;
	struct sb_inner inner;       /* what the runs inside say that it belongs to */
	struct sb_spot file, target; /* descriptors as received; -1: none */
	int socket; /* of connect and bind; of close, the bytes that are to land; -1: none */
};

#define SB_WIRE_REQUEST_EMPTY                                                                      \
	((struct sb_wire_request){.file = SB_SPOT_EMPTY, .target = SB_SPOT_EMPTY, .socket = -1})

#define SB_WIRE_FDS 4

/* Each returns 0 or a negative errno; -EPIPE: the other side is gone. */
int sb_wire_send(int channel, const struct sb_wire_message *message, int fd);
/* With a text, of SB_WIRE_NOTE, SB_WIRE_UNSEEN, SB_WIRE_ALLOWED and SB_WIRE_HOST. */
int sb_wire_send_text(int channel, const struct sb_wire_message *message, const char *text);
int sb_wire_send_note(int channel, enum sb_note_weight weight, const char *line);

/* Of an SB_WIRE_NOTE; whoever says nothing that can be means the gravest. */
enum sb_note_weight sb_wire_weight(const struct sb_wire_message *message);
int sb_wire_send_request(int channel, const struct sb_wire_request *request);

/*
 * The next message.  *request can be released with sb_wire_request_done() whatever the result,
 * and is filled for SB_WIRE_REQUEST, its call.text for those with a text; -EBADMSG: the message is none of ours; -EMFILE:
 * its descriptors found no place, and of the request only what sb_pending_fail() needs is there.  *out_fd is the
 * descriptor that came with it, if one did.
 */
int sb_wire_receive(int channel, struct sb_wire_message *message, struct sb_wire_request *request,
		    int *out_fd);
void sb_wire_request_done(struct sb_wire_request *request);

/*
 * Memory for one, with anything in it; NULL: there is none.  free takes NULL, too, and releases nothing in it.  The last one
 * is kept for the next: fresh memory from the kernel takes longer than all else that is done with it.
 */
struct sb_wire_request *sb_wire_request_new(void);
void sb_wire_request_free(struct sb_wire_request *request);

#endif
