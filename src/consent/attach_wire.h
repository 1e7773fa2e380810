/*
 * attach_wire.h - what a run and a person's second terminal tell each other.
 *
 *     client: HELLO             run: WELCOME, or REFUSED and the end
 *     client: ANSWER ...        run: QUESTION, WITHDRAWN, NOTICE ...
 *     client: TAKE_BACK, ADD    run: STANDS, FALLS ...        (to who watches)
 *
 * One SOCK_SEQPACKET message each: a fixed head, then the texts, each with its NUL.  Both
 * sides check every number and every length, and end the connection at the first that is
 * wrong.  A head that another version of sandbash cannot read has another magic number.
 *
 * Holds no memory: a decoded message points into the bytes it came from.
 */
#ifndef SB_CONSENT_ATTACH_WIRE_H
#define SB_CONSENT_ATTACH_WIRE_H

#include "base/buf.h"
#include "consent/question.h"

enum sb_attach_kind {
	SB_ATTACH_HELLO,   /* client: I am here; number is an enum sb_attach_role */
	SB_ATTACH_ANSWER,  /* client: id, number is an enum sb_answer; none: it has nobody to ask */
	SB_ATTACH_WELCOME, /* run: text is its session; number: does it ask at all? */
	SB_ATTACH_REFUSED, /* run: text says why */
	SB_ATTACH_QUESTION,  /* run: question */
	SB_ATTACH_WITHDRAWN, /* run: id is no longer open; text says why */
	SB_ATTACH_NOTICE,    /* run: text is one line for the person */
	SB_ATTACH_STANDS, /* run: id is an answer that holds, number an enum sb_answer, text its words */
	SB_ATTACH_FALLS,     /* run: id holds no more */
	SB_ATTACH_TAKE_BACK, /* client: id is to hold no more */
	SB_ATTACH_ADD,       /* client: text is a rule, for the rest of the run */
	SB_ATTACH_KINDS,
};

/* Who is there.  Only the first two are people who can be asked. */
enum sb_attach_role {
	SB_ATTACH_ASKED,   /* --attach: this one run */
	SB_ATTACH_WATCHES, /* --watch on a terminal: all runs, so a server's by their server */
	SB_ATTACH_LOOKS,   /* --watch elsewhere: sees all, and answers nothing */
	SB_ATTACH_ROLES,
};

struct sb_attach_message {
	enum sb_attach_kind kind;
	unsigned long id;
	int number;
	const char *text;
	struct sb_question question; /* of SB_ATTACH_QUESTION */
};

#define SB_ATTACH_TEXT 8192           /* a path, and words around it */
#define SB_ATTACH_CONTENT (16 * 1024) /* what queue.h keeps of it */
#define SB_ATTACH_BYTES (192 * 1024)  /* all texts at their longest, and the head */

/* Append the message to out.  False: a text is too long to be sent whole, or no memory. */
bool sb_attach_encode(const struct sb_attach_message *message, struct sb_buf *out);

/* False: these bytes are no message of this version. */
bool sb_attach_decode(const char *bytes, size_t length, struct sb_attach_message *out);

#endif
