/*
 * toml.h - which settings a TOML text has, and where; nothing is ever printed back from it.
 *
 *     sb_toml_read(text, length, found, context, &err)
 *
 * Calls found for each table header, each key and each value in an array, in the order in which
 * they end.  Dates and numbers are not looked at more closely than to see where they end.
 */
#ifndef SB_AGENT_TOML_H
#define SB_AGENT_TOML_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"

#define SB_TOML_DOT "\x1f" /* between the names of a path: dots may be in a name */

struct sb_toml_item {
	const char *path;   /* "hooks\x1fstate", from the top */
	bool header;        /* a table's; else a key */
	bool listed;        /* of a header: [[...]] */
	bool top;           /* a key above the first header */
	bool element;       /* a value in the array that is at path */
	const char *string; /* the value, if it is a string of one line; else NULL */
	const char *word;   /* or, if it is another plain value, that; else NULL */
	size_t start, end;  /* in the text: the header, the key with its value, the value */
};

typedef int (*sb_toml_found)(void *context, const struct sb_toml_item *item, struct sb_error *err);

/* SB_E_INVALID: no TOML, or more than we understand; the message has the line. */
int sb_toml_read(const char *text, size_t length, sb_toml_found found, void *context,
		 struct sb_error *err);

#endif
