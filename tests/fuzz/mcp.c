/*
 * mcp.c - fuzz target: the input is what a client sends to the MCP server, in two pieces.
 *
 * Whatever it holds: lines come out whole and within the limit, however the bytes are cut;
 * every line is a message or an error that can be sent back; arguments of a call are taken or
 * refused with a sentence; and a token that we did not make is none.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "mcp/server/token.h"
#include "mcp/tools/tools.h"
#include "mcp/wire/frame.h"
#include "mcp/wire/rpc.h"

#define LIMIT 4096 /* of a line, so that long ones are within reach */

static void check_answer(json_t *answer)
{
	char *text;

	CHECK(answer);
	text = json_dumps(answer, JSON_COMPACT);
	CHECK(text && !strchr(text, '\n'));
	free(text);
	json_decref(answer);
}

static void check_call(const struct sb_message *message)
{
	const char *name = json_string_value(json_object_get(message->params, "name"));
	json_t *args = json_object_get(message->params, "arguments"),
	       *state = json_object_get(message->params, "requestState");
	const struct sb_tool *tool = name ? sb_tool_find(name) : NULL;
	static const struct sb_token_key key = {{7}};
	char subject[SB_SHA256_HEX];
	unsigned long number;
	struct sb_error err = {0};

	if (!tool || (args && !json_is_object(args)))
		return;
	if (sb_tool_check(tool, NULL, args, &err) != SB_OK)
		CHECK(err.message[0]);
	sb_token_subject(tool->name, args, subject);
	if (json_is_string(state))
		CHECK(sb_token_check(&key, json_string_value(state), 0, subject, &number));
}

static void check_message(struct sb_message *message)
{
	switch (message->kind) {
	case SB_MESSAGE_REQUEST:
		CHECK(message->id && message->method);
		check_call(message);
		check_answer(sb_rpc_result(message->id, json_object()));
		break;
	case SB_MESSAGE_NOTIFICATION:
		CHECK(!message->id && message->method);
		break;
	case SB_MESSAGE_ANSWER:
		CHECK(!message->result != !message->error);
		break;
	case SB_MESSAGE_BATCH:
		for (size_t i = 0; i < json_array_size(message->root); i++) {
			struct sb_message one;

			sb_message_of(json_array_get(message->root, i), &one);
			check_message(&one);
		}
		break;
	case SB_MESSAGE_BAD:
		CHECK(message->code < 0 && message->text);
		check_answer(sb_rpc_error(message->id, message->code, message->text, NULL));
		break;
	}
}

/* All lines of the input, cut at a place; returns a sum over what came out. */
static unsigned long drain(const uint8_t *data, size_t size, size_t cut)
{
	struct sb_frame frame;
	unsigned long sum = 0;
	size_t length, from[] = {0, cut}, to[] = {cut, size};
	enum sb_frame_state state;
	const char *line;

	sb_frame_init(&frame, LIMIT);
	for (int piece = 0; piece < 2; piece++) {
		CHECK(sb_frame_add(&frame, (const char *)data + from[piece],
				   to[piece] - from[piece]));
		while ((state = sb_frame_next(&frame, &line, &length)) != SB_FRAME_NONE) {
			struct sb_message message;

			sum = sum * 31 + state;
			if (state != SB_FRAME_LINE)
				continue;
			CHECK(length && length <= LIMIT && !memchr(line, '\n', length));
			sum = sum * 31 + length;
			sb_message_parse(line, length, &message);
			check_message(&message);
			sb_message_done(&message);
		}
	}
	sb_frame_done(&frame);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* where the bytes are cut makes no difference */
	CHECK(drain(data, size, size / 2) == drain(data, size, size ? data[0] % size : 0));
	return 0;
}
