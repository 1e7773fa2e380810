/*
 * json_edit.h - one value more or less in a JSON text that a person keeps.
 *
 * Everything else stays as it is, byte by byte: order, comments, indentation.  Adding and then
 * removing gives the text back, unless brackets with nothing but blanks in them were filled.
 */
#ifndef SB_AGENT_JSON_EDIT_H
#define SB_AGENT_JSON_EDIT_H

#include "base/buf.h"
#include "agent/json_text.h"

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
