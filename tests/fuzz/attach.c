/*
 * attach.c - fuzz target: the input is a message between a run and a terminal attached to it.
 *
 * Whatever it holds, it is taken or refused; what was taken lies inside the input, and is the
 * same message when it is sent again.
 */
#include "fuzz.h"

#include <string.h>

#include "consent/attach_wire.h"

static void check_text(const char *text, const char *bytes, size_t size)
{
	CHECK(!text || (text >= bytes && text + strlen(text) < bytes + size));
}

static void check_same(const char *a, const char *b)
{
	CHECK(!a == !b && (!a || strcmp(a, b) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	SB_AUTO_BUF struct sb_buf again = SB_BUF(SB_ATTACH_BYTES);
	struct sb_attach_message message, same;
	const struct sb_question *q = &message.question;

	if (!sb_attach_decode(bytes, size, &message))
		return 0;
	check_text(message.text, bytes, size);
	check_text(q->verb, bytes, size);
	check_text(q->path, bytes, size);
	check_text(q->target, bytes, size);
	check_text(q->directory, bytes, size);
	check_text(q->program, bytes, size);
	check_text(q->rule, bytes, size);
	for (size_t i = 0; i < SB_QUESTION_NOTES; i++)
		check_text(q->notes[i], bytes, size);
	CHECK(!q->content ||
	      (q->content >= bytes && q->content + q->content_length <= bytes + size));
	CHECK(message.kind != SB_ATTACH_QUESTION || (q->id && q->verb && q->path && q->program));

	CHECK(sb_attach_encode(&message, &again));
	CHECK(sb_attach_decode(again.data, again.length, &same));
	CHECK(same.kind == message.kind && same.id == message.id && same.number == message.number);
	check_same(message.text, same.text);
	check_same(q->path, same.question.path);
	check_same(q->directory, same.question.directory);
	CHECK(q->content_length == same.question.content_length);
	return 0;
}
