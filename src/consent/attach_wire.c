#include "consent/attach_wire.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAGIC 0x35614253u /* "SBa5": the layout below */
#define WORKER 0x8000u    /* bits of about */
#define LASTING 0x4000u
#define OPENS_SHIFT 12
#define OPENS (SB_OPENS_ALL << OPENS_SHIFT)
#define ABSENT UINT32_MAX /* the length of a text that is not there */

#define TEXTS (1 + SB_QUESTION_TEXTS) /* the message's, then the question's */

/* Same machine, same byte order: as it lies in memory. */
struct head {
	uint32_t magic;
	uint32_t kind;
	uint64_t id;
	int32_t number;
	int32_t process;
	uint32_t op;
	uint16_t about;        /* and WORKER, LASTING, OPENS */
	uint16_t thing;        /* and 1; 0: none */
	uint32_t content;      /* its length, or ABSENT */
	uint32_t texts[TEXTS]; /* with the NUL, or ABSENT */
};

_Static_assert(sizeof(struct head) ==
		       offsetof(struct head, texts) + sizeof((struct head *)0)->texts,
	       "no padding: every byte that is sent was written");

bool sb_attach_encode(const struct sb_attach_message *message, struct sb_buf *out)
{
	const struct sb_question *question = &message->question;
	bool asks = message->kind == SB_ATTACH_QUESTION;
	const char *texts[TEXTS] = {message->text};
	struct head head = {.magic = MAGIC,
			    .kind = message->kind,
			    .id = message->id,
			    .number = message->number,
			    .content = ABSENT};

	if (asks) {
		head.id = question->id;
		head.process = question->process;
		head.op = question->op;
		head.about = (uint16_t)(question->about | (question->worker ? WORKER : 0) |
					(question->lasting ? LASTING : 0) |
					(question->opens & SB_OPENS_ALL) << OPENS_SHIFT);
		head.thing = (uint16_t)(question->thing + 1);
		memcpy(texts + 1, question->texts, sizeof question->texts);
	}
	if (asks && question->content)
		head.content = (uint32_t)(question->content_length < SB_ATTACH_CONTENT
						  ? question->content_length
						  : SB_ATTACH_CONTENT);
	for (int i = 0; i < TEXTS; i++) {
		size_t length = texts[i] ? strlen(texts[i]) + 1 : 0;

		if (length > SB_ATTACH_TEXT)
			return false;
		head.texts[i] = texts[i] ? (uint32_t)length : ABSENT;
	}
	sb_buf_append(out, &head, sizeof head);
	for (int i = 0; i < TEXTS; i++)
		if (texts[i])
			sb_buf_append(out, texts[i], head.texts[i]);
	if (head.content != ABSENT)
		sb_buf_append(out, question->content, head.content);
	return !sb_buf_failed(out);
}

/* The next text of length bytes; false: there are not so many, or it does not end there. */
static bool take_text(const char **at, const char *end, uint32_t length, const char **out)
{
	*out = NULL;
	if (length == ABSENT)
		return true;
	if (length == 0 || length > SB_ATTACH_TEXT || length > (size_t)(end - *at) ||
	    memchr(*at, '\0', length) != *at + length - 1)
		return false;
	*out = *at;
	*at += length;
	return true;
}

static bool is_question(const struct sb_question *question)
{
	for (size_t i = 1; i < SB_QUESTION_NOTES; i++)
		if (question->notes[i] && !question->notes[i - 1])
			return false; /* nobody would look behind the end */
	return question->id && question->verb && question->path && question->program;
}

bool sb_attach_decode(const char *bytes, size_t length, struct sb_attach_message *out)
{
	const char *at = bytes + sizeof(struct head), *end = bytes + length, *texts[TEXTS];
	struct head head;
	bool worker, lasting;
	unsigned opens;

	if (length < sizeof head)
		return false;
	memcpy(&head, bytes, sizeof head);
	worker = head.about & WORKER;
	lasting = head.about & LASTING;
	opens = (head.about & OPENS) >> OPENS_SHIFT;
	head.about &= (uint16_t) ~(WORKER | LASTING | OPENS);
	if (head.magic != MAGIC || head.kind >= SB_ATTACH_KINDS || head.id > ULONG_MAX ||
	    head.op >= SB_OP_COUNT || head.about >= SB_ABOUT_COUNT || head.thing > SB_THING_COUNT)
		return false;
	for (int i = 0; i < TEXTS; i++)
		if (!take_text(&at, end, head.texts[i], &texts[i]))
			return false;
	if (head.content != ABSENT &&
	    (head.content > SB_ATTACH_CONTENT || head.content != (size_t)(end - at)))
		return false;
	if (head.content == ABSENT && at != end)
		return false;
	*out = (struct sb_attach_message){.kind = (enum sb_attach_kind)head.kind,
					  .id = (unsigned long)head.id,
					  .number = head.number,
					  .text = texts[0]};
	if (out->kind != SB_ATTACH_QUESTION)
		return true;
	out->question = (struct sb_question){
		.id = out->id,
		.op = (enum sb_op)head.op,
		.process = head.process,
		.worker = worker,
		.lasting = lasting,
		.opens = opens,
		.about = (enum sb_about)head.about,
		.thing = head.thing ? (enum sb_thing)(head.thing - 1) : SB_THING_NAME,
		.content = head.content == ABSENT ? NULL : at,
		.content_length = head.content == ABSENT ? 0 : head.content,
	};
	memcpy(out->question.texts, texts + 1, sizeof out->question.texts);
	return is_question(&out->question);
}
