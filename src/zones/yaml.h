/*
 * yaml.h - the part of YAML in which people write settings.
 *
 * Maps and lists, by indentation or in braces and brackets on one line; words, plain or quoted; text behind
 * "|" and ">"; comments.  Everything else is an error that says where: anchors and aliases (a few lines of
 * them can mean gigabytes), tags, directives, a second document, tabs before a key, a key twice, a plain
 * value that goes on in the next line.  What is read means the same to every YAML reader; what is not read
 * is refused, never guessed.
 */
#ifndef SB_ZONES_YAML_H
#define SB_ZONES_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"

enum sb_yaml_kind {
	SB_YAML_NOTHING, /* "key:", "~", "null" */
	SB_YAML_WORD,
	SB_YAML_LIST,
	SB_YAML_MAP,
};

struct sb_yaml {
	enum sb_yaml_kind kind;
	unsigned line, column; /* from 1 */
	char *text;            /* of a word */
	bool quoted;           /* "true" is a word, true is yes */
	char *key;             /* of a value in a map */
	unsigned key_line, key_column;
	struct sb_yaml *items; /* of a list or a map, in the order of the file */
	size_t count;
};

#define SB_YAML_MAX_DEPTH 16
#define SB_YAML_MAX_NODES 10000

/* file is for messages alone: "FILE:LINE:COLUMN: ...", lines counted from first_line. */
int sb_yaml_parse(const char *file, unsigned first_line, const char *text, size_t length,
		  struct sb_yaml *out, struct sb_error *err);
void sb_yaml_done(struct sb_yaml *node);

/* What stands at key in a map; or NULL. */
const struct sb_yaml *sb_yaml_get(const struct sb_yaml *map, const char *key);

/* "a map", "a list", "a word", "nothing" */
const char *sb_yaml_kind_name(enum sb_yaml_kind kind);

/* SB_E_INVALID, with file, line and column before the message. */
int sb_yaml_fail(struct sb_error *err, const char *file, unsigned line, unsigned column,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
