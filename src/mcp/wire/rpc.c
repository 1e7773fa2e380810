#include "mcp/wire/rpc.h"

#include <string.h>

#include "base/buf.h"
#include "base/escape.h"

/* How deep brackets go, outside of strings.  Looked at before anything is built from them. */
static size_t depth_of(const char *line, size_t length)
{
	size_t depth = 0, deepest = 0;
	bool inside = false;

	for (size_t i = 0; i < length; i++) {
		char c = line[i];

		if (inside) {
			if (c == '\\')
				i++;
			else if (c == '"')
				inside = false;
		} else if (c == '"') {
			inside = true;
		} else if (c == '{' || c == '[') {
			if (++depth > deepest)
				deepest = depth;
		} else if ((c == '}' || c == ']') && depth) {
			depth--;
		}
	}
	return deepest;
}

static void bad(struct sb_message *out, int code, const char *text)
{
	out->kind = SB_MESSAGE_BAD;
	out->code = code;
	out->text = text;
}

static bool is_id(const json_t *id)
{
	return json_is_string(id) || json_is_integer(id);
}

static void read_call(struct sb_message *out, json_t *method)
{
	json_t *root = out->root;

	if (!json_is_string(method)) {
		bad(out, SB_RPC_INVALID_REQUEST, "'method' is no string");
		return;
	}
	if (strlen(json_string_value(method)) != json_string_length(method)) {
		bad(out, SB_RPC_INVALID_REQUEST, "'method' has a NUL in it");
		return;
	}
	out->method = json_string_value(method);
	out->params = json_object_get(root, "params");
	out->kind = out->id ? SB_MESSAGE_REQUEST : SB_MESSAGE_NOTIFICATION;
	if (out->params && !json_is_object(out->params))
		bad(out, SB_RPC_INVALID_PARAMS, "'params' is no object");
}

void sb_message_of(json_t *root, struct sb_message *out)
{
	json_t *method, *version, *id;

	*out = (struct sb_message){.root = root};
	if (!json_is_object(root)) {
		bad(out, SB_RPC_INVALID_REQUEST, "a message is an object");
		return;
	}
	version = json_object_get(root, "jsonrpc");
	method = json_object_get(root, "method");
	id = json_object_get(root, "id");
	out->result = json_object_get(root, "result");
	out->error = json_object_get(root, "error");
	if (is_id(id))
		out->id = id;
	if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)
		bad(out, SB_RPC_INVALID_REQUEST, "'jsonrpc' is not \"2.0\"");
	else if (id && !is_id(id) && !(json_is_null(id) && out->error))
		bad(out, SB_RPC_INVALID_REQUEST, "'id' is neither a string nor an integer");
	else if (method)
		read_call(out, method);
	else if ((out->result != NULL) == (out->error != NULL))
		bad(out, SB_RPC_INVALID_REQUEST, "neither a request nor an answer");
	else
		out->kind = SB_MESSAGE_ANSWER;
}

void sb_message_parse(const char *line, size_t length, struct sb_message *out)
{
	json_error_t where;
	json_t *root;

	*out = (struct sb_message){0};
	if (depth_of(line, length) > SB_RPC_DEPTH) {
		bad(out, SB_RPC_PARSE, "too many levels of objects and arrays");
		return;
	}
	root = json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY,
			  &where);
	if (!root) {
		enum json_error_code why = json_error_code(&where);

		bad(out, why == json_error_out_of_memory ? SB_RPC_INTERNAL : SB_RPC_PARSE,
		    why == json_error_duplicate_key      ? "a key is there twice"
		    : why == json_error_invalid_utf8     ? "invalid UTF-8"
		    : why == json_error_numeric_overflow ? "a number is too large"
		    : why == json_error_out_of_memory    ? "out of memory"
							 : "no valid JSON");
		return;
	}
	if (json_is_array(root)) {
		*out = (struct sb_message){.kind = SB_MESSAGE_BATCH, .root = root};
		if (json_array_size(root) == 0)
			bad(out, SB_RPC_INVALID_REQUEST, "an empty batch");
		return;
	}
	sb_message_of(root, out);
}

void sb_message_done(struct sb_message *message)
{
	json_decref(message->root);
	*message = (struct sb_message){0};
}

/* --- answers ------------------------------------------------------------------------------- */

json_t *sb_rpc_result(json_t *id, json_t *result)
{
	return json_pack("{s:s, s:O?, s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

json_t *sb_rpc_error(json_t *id, int code, const char *text, json_t *data)
{
	json_t *error = json_pack("{s:i, s:s}", "code", code, "message", text);
	json_t *answer;

	if (data)
		json_object_set_new(error, "data", data);
	answer = json_pack("{s:s, s:o}", "jsonrpc", "2.0", "error", error);
	json_object_set(answer, "id", id ? id : json_null());
	return answer;
}

json_t *sb_rpc_request(json_t *id, const char *method, json_t *params)
{
	return json_pack("{s:s, s:o, s:s, s:o}", "jsonrpc", "2.0", "id", id, "method", method,
			 "params", params);
}

json_t *sb_rpc_notification(const char *method, json_t *params)
{
	return json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params", params);
}

json_t *sb_rpc_about(const char *kind, const char *what, unsigned long number)
{
	return json_pack("{s:s, s:I}", "k", kind, what, (json_int_t)number);
}

/* Eight at a time; most text is, and jansson looks at each byte by itself. */
static bool is_ascii(const char *bytes, size_t length)
{
	uint64_t eight, seen = 0;
	size_t i = 0;

	for (; length - i >= sizeof eight; i += sizeof eight) {
		memcpy(&eight, bytes + i, sizeof eight);
		seen |= eight;
	}
	for (; i < length; i++)
		seen |= (unsigned char)bytes[i];
	return !(seen & UINT64_C(0x8080808080808080));
}

/* What is no text is written as instead says, of its byte. */
static json_t *text_of(const char *bytes, size_t length, const char *instead)
{
	json_t *text = is_ascii(bytes, length) ? json_stringn_nocheck(bytes, length)
					       : json_stringn(bytes, length);
	SB_AUTO_BUF struct sb_buf clean = SB_BUF(length * 4 + 1);

	if (text)
		return text;
	for (size_t i = 0; i < length;) {
		size_t step = sb_utf8_length(bytes + i, length - i);

		if (step)
			sb_buf_append(&clean, bytes + i, step);
		else if (instead)
			sb_buf_puts(&clean, instead);
		else
			sb_buf_printf(&clean, "\\x%02x", (unsigned char)bytes[i]);
		i += step ? step : 1;
	}
	return sb_buf_failed(&clean) ? NULL : json_stringn(clean.data, clean.length);
}

json_t *sb_rpc_text(const char *bytes, size_t length)
{
	return text_of(bytes, length, "\xef\xbf\xbd");
}

json_t *sb_rpc_shown(const char *bytes, size_t length)
{
	return text_of(bytes, length, NULL);
}

json_t *sb_rpc_string(const char *text)
{
	return text ? sb_rpc_text(text, strlen(text)) : json_null();
}

json_t *sb_rpc_buf(const struct sb_buf *text)
{
	return sb_rpc_text(text->data, text->length);
}

/* --- members --------------------------------------------------------------------------------- */

const char *sb_get_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

size_t sb_get_length(const json_t *object, const char *key)
{
	return json_string_length(json_object_get(object, key));
}

unsigned long sb_get_number(const json_t *object, const char *key)
{
	return (unsigned long)json_integer_value(json_object_get(object, key));
}

bool sb_get_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

void sb_put_text(json_t *object, const char *key, const char *text)
{
	if (text && *text)
		json_object_set_new(object, key, sb_rpc_string(text));
}
