/*
 * json_text.h - JSON that others wrote, as places in their text.
 *
 *     sb_json_text_read(bytes, length, SB_JSON_STRICT, &text, &err)
 *     input = sb_json_text_member(&text, SB_JSON_ROOT, "tool_input");
 *     command = sb_json_text_string(&text, sb_json_text_member(&text, input, "command"));
 *     sb_json_text_done(&text);
 *
 * base/json_read.h reads it.  Here a value is a number, and knows where it stands, so that a text can
 * be changed in one place and stay as it was in all others.
 *
 * The bytes stay the caller's and must outlive it.
 */
#ifndef SB_AGENT_JSON_TEXT_H
#define SB_AGENT_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/json_read.h"
#include "sandbash/error.h"

enum sb_json_dialect {
	SB_JSON_STRICT,
	SB_JSON_COMMENTS, /* settings: comments, and a comma behind the last value */
};

struct sb_json_place {
	char kind;                 /* '{', '[', '"', '0' for any number, 't', 'f', 'n' */
	size_t start, end;         /* in the text, with brackets or quotes */
	size_t key_start, key_end; /* a member's name with its quotes; else both 0 */
	size_t first, next;        /* the first value inside, the next beside it; 0: none */
};

struct sb_json_text {
	const char *text;
	size_t length;
	struct sb_json_place *values;
	struct sb_json_tree tree; /* the same values, in the same order */
};

#define SB_JSON_ROOT 0

/* SB_E_INVALID: no JSON.  SB_E_NOMEM. */
int sb_json_text_read(const char *bytes, size_t length, enum sb_json_dialect dialect,
		      struct sb_json_text *out, struct sb_error *err);
void sb_json_text_done(struct sb_json_text *text);

/* The member of an object; 0: it has none of this name, or is no object. */
size_t sb_json_text_member(const struct sb_json_text *text, size_t object, const char *name);

/* Is it a string of exactly these bytes? */
bool sb_json_text_is(const struct sb_json_text *text, size_t value, const char *bytes);

/*
 * A string's bytes, which stay the text's and have no NUL behind them.  NULL: it is none, or holds half of
 * a surrogate pair, which programs write in different ways.
 */
const char *sb_json_text_bytes(const struct sb_json_text *text, size_t value, size_t *out_length);

/* The same as a C string, malloc'ed; NULL also where a NUL would cut it short, or no memory. */
char *sb_json_text_string(const struct sb_json_text *text, size_t value);

/* Past blanks and comments, from at on. */
size_t sb_json_text_skip(const char *bytes, size_t length, size_t at);

/* --- json_edit.c: one value more or less in a text that a person keeps ---------------------------- */

/*
 * Everything else stays as it is, byte by byte: order, comments, indentation.  Adding and then
 * removing gives the text back, unless brackets with nothing but blanks in them were filled.
 */

/*
 * The text with one more value at the end of an object (key: its name) or an array (key: NULL).
 * value is JSON; it is indented as what is around it.
 */
void sb_json_add(const struct sb_json_text *doc, size_t container, const char *key,
		 const char *value, struct sb_buf *out);

/* The text with another value in its place. */
void sb_json_put(const struct sb_json_text *doc, size_t value, const char *text,
		 struct sb_buf *out);

/* The text without a value of this container, its name and one comma. */
void sb_json_drop(const struct sb_json_text *doc, size_t container, size_t value,
		  struct sb_buf *out);

#endif
