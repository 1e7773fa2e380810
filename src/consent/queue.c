#include "consent/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"

/* As much content as a question could show on a large screen, and then some. */
#define CONTENT_BYTES (16 * 1024)

void sb_queue_init(struct sb_queue *queue)
{
	*queue = (struct sb_queue){.first = NULL};
	queue->end = &queue->first;
}

void sb_queue_done(struct sb_queue *queue)
{
	struct sb_waiting *waiting;

	while ((waiting = sb_queue_take(queue)))
		free(waiting);
	for (size_t i = 0; i < queue->notice_count; i++)
		free(queue->notices[i]);
	queue->notice_count = 0;
}

/* --- questions --------------------------------------------------------------------- */

static struct sb_waiting *copy_question(struct sb_question question)
{
	struct sb_waiting *waiting;

	if (question.content_length > CONTENT_BYTES)
		question.content_length = CONTENT_BYTES;
	waiting = malloc(sizeof *waiting + sb_question_size(&question));
	if (!waiting)
		return NULL;
	waiting->next = NULL;
	sb_question_copy(&question, waiting->texts, &waiting->question);
	return waiting;
}

int sb_queue_add(struct sb_queue *queue, const struct sb_question *question, struct sb_error *err)
{
	struct sb_waiting *waiting;

	if (!question->id || !question->verb || !question->path)
		return sb_fail(err, SB_E_INVALID, 0, "a question needs an id, a verb and a path");
	if (queue->count >= SB_QUEUE_QUESTIONS)
		return sb_fail(err, SB_E_REFUSED, 0, "too many questions are waiting");
	waiting = copy_question(*question);
	if (!waiting)
		return sb_fail(err, SB_E_NOMEM, 0, "no memory for a question");
	*queue->end = waiting;
	queue->end = &waiting->next;
	queue->count++;
	return SB_OK;
}

static struct sb_waiting *unlink_at(struct sb_queue *queue, struct sb_waiting **link)
{
	struct sb_waiting *waiting = *link;

	*link = waiting->next;
	if (!*link)
		queue->end = link;
	queue->count--;
	return waiting;
}

struct sb_waiting *sb_queue_take(struct sb_queue *queue)
{
	return queue->first ? unlink_at(queue, &queue->first) : NULL;
}

void sb_queue_remove(struct sb_queue *queue, unsigned long id)
{
	for (struct sb_waiting **link = &queue->first; *link; link = &(*link)->next) {
		if ((*link)->question.id == id) {
			free(unlink_at(queue, link));
			return;
		}
	}
}

const struct sb_question *sb_queue_find(const struct sb_queue *queue, unsigned long id)
{
	for (const struct sb_waiting *at = queue->first; at; at = at->next)
		if (at->question.id == id)
			return &at->question;
	return NULL;
}

/* --- notices ----------------------------------------------------------------------- */

void sb_queue_add_notice(struct sb_queue *queue, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return;
	if (queue->notice_count == SB_QUEUE_NOTICES) {
		free(queue->notices[0]);
		queue->notice_count--;
		memmove(queue->notices, queue->notices + 1,
			queue->notice_count * sizeof queue->notices[0]);
		queue->dropped++;
	}
	queue->notices[queue->notice_count++] = copy;
}

static void put_name(struct sb_buf *out, const char *before, const char *name)
{
	sb_buf_puts(out, before);
	sb_escape_name(out, name, strlen(name));
}

void sb_queue_add_answer(struct sb_queue *queue, const struct sb_question *question,
			 enum sb_answer answer)
{
	SB_AUTO_BUF struct sb_buf text =
		SB_BUF(64 * 1024); /* three paths, escaped, and a few words */

	if (question->about == SB_ABOUT_HOST && answer != SB_ANSWER_DENY)
		sb_buf_printf(&text, "sandbash: %s",
			      answer == SB_ANSWER_ONCE        ? "allowed once"
			      : answer == SB_ANSWER_DIRECTORY ? "allowed for this session"
							      : "always allowed");
	else if (answer == SB_ANSWER_DIRECTORY)
		put_name(&text, "sandbash: allowed for this session in ", question->directory);
	else if (answer == SB_ANSWER_ALWAYS)
		put_name(&text, "sandbash: always allowed in ", question->directory);
	else
		sb_buf_printf(&text, "sandbash: %s",
			      answer == SB_ANSWER_ONCE ? "allowed once" : "denied");
	sb_buf_printf(&text, ": %s", question->verb);
	put_name(&text, " ", question->path);
	if (question->target)
		put_name(&text, " to ", question->target);
	sb_queue_add_notice(queue, text.data);
}

char *sb_queue_take_notice(struct sb_queue *queue)
{
	char *text;

	if (queue->dropped) {
		char line[64];

		snprintf(line, sizeof line, "sandbash: %lu earlier lines are not shown",
			 queue->dropped);
		queue->dropped = 0;
		return strdup(line);
	}
	if (queue->notice_count == 0)
		return NULL;
	text = queue->notices[0];
	queue->notice_count--;
	memmove(queue->notices, queue->notices + 1, queue->notice_count * sizeof queue->notices[0]);
	return text;
}
