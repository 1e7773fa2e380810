/*
 * json.h - a JSON writer on a buffer.
 *
 *     sb_json_open(&json, '{');
 *     sb_json_key(&json, "path");
 *     sb_json_string(&json, path);
 *     sb_json_close(&json, '}');
 *
 * Puts commas and line breaks itself; a compact one has no breaks, and no blanks either,
 * so that a document is one line.  A byte that is no UTF-8 is written as the
 * lone surrogate \udcXX (Python's "surrogateescape"), so the output is valid
 * JSON and the exact path can be had back.
 */
#ifndef SB_BASE_JSON_H
#define SB_BASE_JSON_H

#include <stdbool.h>

#include "base/buf.h"

struct sb_json {
	struct sb_buf *out;
	int depth;
	bool need_comma;
	bool after_key;
	bool compact;
};

void sb_json_init(struct sb_json *json, struct sb_buf *out);
void sb_json_init_compact(struct sb_json *json, struct sb_buf *out);
void sb_json_open(struct sb_json *json, char bracket);  /* '{' or '[' */
void sb_json_close(struct sb_json *json, char bracket); /* '}' or ']' */
void sb_json_key(struct sb_json *json, const char *key);
void sb_json_string(struct sb_json *json, const char *text);                /* NULL writes null */
void sb_json_bytes(struct sb_json *json, const char *bytes, size_t length); /* as a string */
void sb_json_bool(struct sb_json *json, bool value);
void sb_json_int(struct sb_json *json, long value);

/* key and value in one line, the common case */
void sb_json_pair(struct sb_json *json, const char *key, const char *text);
void sb_json_pair_bool(struct sb_json *json, const char *key, bool value);
void sb_json_pair_int(struct sb_json *json, const char *key, long value);
void sb_json_open_at(struct sb_json *json, const char *key, char bracket);

/* key and an array of strings: count of them, or fewer if a NULL comes before. */
void sb_json_strings(struct sb_json *json, const char *key, const char *const *strings,
		     size_t count);

#endif
