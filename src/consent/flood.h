/*
 * flood.h - a person is asked as much as a person can answer.
 *
 *     new -> sb_flood_ask -> ask a new question, join an open one, or deny
 *                 -> sb_flood_answered, for every question that was asked
 *
 * Three limits.  Equal questions are one question: whoever comes later waits for the same
 * answer.  A program (its file, as the caller names it) that was denied SB_FLOOD_STREAK
 * times in a row is denied the rest of the session; so is everybody after
 * SB_FLOOD_STREAK_ALL in a row, since a program can call itself anything.  And questions
 * come at most at a rate at which they can be read.  Each limit that is reached gives one
 * line of text, once.
 *
 * Refusing is always safe, so every doubt (memory, tables full) is a refusal.  Owns copies of
 * what it is given.  Time is the caller's, in milliseconds of any clock that only goes forward.
 */
#ifndef SB_CONSENT_FLOOD_H
#define SB_CONSENT_FLOOD_H

#include <stdint.h>

#include "base/hash.h"
#include "consent/grants.h"

#define SB_FLOOD_STREAK 10      /* denials of one program in a row */
#define SB_FLOOD_STREAK_ALL 30  /* of all of them */
#define SB_FLOOD_OPEN 32        /* questions that wait for an answer at one time */
#define SB_FLOOD_BURST 20       /* questions at once; then */
#define SB_FLOOD_REFILL_MS 2000 /* one in this time */

struct sb_flood;

/* What makes two questions equal: the operation, the files, the bytes shown; not who asks. */
struct sb_flood_key {
	char hex[SB_SHA256_HEX];
};

/*
 * target is the second half of a rename or link, or NULL; content the bytes that the
 * question shows, or NULL.  SB_E_SYSTEM: a directory cannot be looked at.
 */
int sb_flood_key(const struct sb_wish *wish, const struct sb_wish *target, const char *content,
		 size_t content_length, struct sb_flood_key *out, struct sb_error *err);

enum sb_flood_verdict {
	SB_FLOOD_ASK,  /* ask; the question counts as open until sb_flood_answered() */
	SB_FLOOD_JOIN, /* an equal one is open: its answer is the answer */
	SB_FLOOD_DENY, /* deny without asking */
};

struct sb_flood *sb_flood_new(void); /* NULL: out of memory */
void sb_flood_free(struct sb_flood *flood);

struct sb_flood_answer {
	enum sb_flood_verdict verdict;
	unsigned long question; /* ASK: id; JOIN: the one that is open */
	/* DENY: the one line for the person, escaped, valid until the next call; or NULL when it was said
	 * before */
	const char *line;
};

/* May this be asked, as question number id? */
struct sb_flood_answer sb_flood_ask(struct sb_flood *flood, const struct sb_flood_key *key,
				    unsigned long id, const char *program, uint64_t now_ms);

/*
 * A question that was asked is answered: for it, and for all that joined it.  With
 * SB_ANSWER_NONE it was taken back (who asked is gone): that counts for nothing.
 */
void sb_flood_answered(struct sb_flood *flood, unsigned long id, enum sb_answer answer);

#endif
