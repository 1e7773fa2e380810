/*
 * rpc.h - one JSON-RPC 2.0 message: strictly read, and the shapes of answers.
 *
 * Everything a client sends comes through here.  A message is a request, a notification, an
 * answer to a request of ours, or wrong; then what is wrong with it is a JSON-RPC error that
 * can be sent back.  Duplicate keys, invalid UTF-8, more than SB_RPC_DEPTH levels and numbers
 * beyond 64 bits are errors, not guesses.
 */
#ifndef SB_MCP_WIRE_RPC_H
#define SB_MCP_WIRE_RPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define SB_RPC_DEPTH 64                    /* levels of objects and arrays */
#define SB_RPC_LINE_MAX (32 * 1024 * 1024) /* a file of 16 MiB, written with escapes */

enum sb_rpc_error {
	SB_RPC_PARSE = -32700,
	SB_RPC_INVALID_REQUEST = -32600,
	SB_RPC_NO_METHOD = -32601,
	SB_RPC_INVALID_PARAMS = -32602,
	SB_RPC_INTERNAL = -32603,
	SB_RPC_NOT_FOUND = -32002, /* a resource, before 2026-07-28 */
	SB_RPC_VERSION = -32022,   /* an unknown revision */
};

enum sb_message_kind {
	SB_MESSAGE_REQUEST,
	SB_MESSAGE_NOTIFICATION,
	SB_MESSAGE_ANSWER, /* result or error of ours */
	SB_MESSAGE_BATCH,
	SB_MESSAGE_BAD, /* code and text say why */
};

/* Borrows from root, which it owns when it was made by sb_message_parse(). */
struct sb_message {
	enum sb_message_kind kind;
	json_t *root;
	json_t *id; /* a string or an integer; NULL: none that can be told */
	const char *method;
	json_t *params; /* an object, or NULL */
	json_t *result, *error;
	int code;
	const char *text;
};

/* Never fails: a line that cannot be read is SB_MESSAGE_BAD. */
void sb_message_parse(const char *line, size_t length, struct sb_message *out);
void sb_message_done(struct sb_message *message);

/* The same for one element of a batch; root stays the caller's. */
void sb_message_of(json_t *root, struct sb_message *out);

/* Answers; each takes over what it is given, and may be NULL without memory.  id NULL: null. */
json_t *sb_rpc_result(json_t *id, json_t *result);
json_t *sb_rpc_error(json_t *id, int code, const char *text, json_t *data);
json_t *sb_rpc_request(json_t *id, const char *method, json_t *params);
json_t *sb_rpc_notification(const char *method, json_t *params);

/* What the server and its keeper tell each other of a call, a run or a question, which has that number. */
json_t *sb_rpc_about(const char *kind, const char *what, unsigned long number);

/* Bytes as a JSON string; what is no UTF-8 becomes U+FFFD. */
json_t *sb_rpc_text(const char *bytes, size_t length);
json_t *sb_rpc_string(const char *text); /* NULL is null */
struct sb_buf;
json_t *sb_rpc_buf(const struct sb_buf *text);

/* What an object has under a key; NULL, 0 or false: nothing, or of another type. */
const char *sb_get_text(const json_t *object, const char *key);
size_t sb_get_length(const json_t *object, const char *key); /* of that text */
unsigned long sb_get_number(const json_t *object, const char *key);
bool sb_get_true(const json_t *object, const char *key);

/* NULL and "" put nothing. */
void sb_put_text(json_t *object, const char *key, const char *text);

/* For a person to read: what is no UTF-8 becomes \xNN, as on a terminal (escape.h). */
json_t *sb_rpc_shown(const char *bytes, size_t length);

#endif
