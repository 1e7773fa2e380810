/*
 * queue.h - questions that wait for the terminal, and lines that wait for a moment to be shown.
 *
 *     init -> { add, take, remove, notices } ... -> done
 *
 * Owns copies of everything it is given.
 */
#ifndef SB_CONSENT_QUEUE_H
#define SB_CONSENT_QUEUE_H

#include "consent/question.h"
#include "sandbash/error.h"

struct sb_waiting {
	struct sb_question question; /* its texts follow in the same allocation */
	struct sb_waiting *next;
	char texts[];
};

#define SB_QUEUE_QUESTIONS 1000 /* whoever asks limits floods: this bounds memory */
#define SB_QUEUE_NOTICES 16

struct sb_queue {
	struct sb_waiting *first, **end;
	size_t count;
	char *notices[SB_QUEUE_NOTICES]; /* oldest first */
	size_t notice_count;
	unsigned long dropped; /* notices that did not fit */
};

void sb_queue_init(struct sb_queue *queue);
void sb_queue_done(struct sb_queue *queue);

int sb_queue_add(struct sb_queue *queue, const struct sb_question *question, struct sb_error *err);
void sb_queue_remove(struct sb_queue *queue, unsigned long id); /* an unknown id is fine */
struct sb_waiting *sb_queue_take(struct sb_queue *queue);       /* free it; NULL: empty */
const struct sb_question *sb_queue_find(const struct sb_queue *queue, unsigned long id);

/* When there are too many, the oldest goes and is counted. */
void sb_queue_add_notice(struct sb_queue *queue, const char *text);
/* "sandbash: allowed once: write to /etc/hosts" */
void sb_queue_add_answer(struct sb_queue *queue, const struct sb_question *question,
			 enum sb_answer answer);
char *sb_queue_take_notice(struct sb_queue *queue); /* free it; NULL: none */

#endif
