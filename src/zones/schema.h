/*
 * schema.h - reading settings out of a map: each key by its row, and no others.
 */
#ifndef SB_ZONES_SCHEMA_H
#define SB_ZONES_SCHEMA_H

#include "zones/yaml.h"

struct sb_schema {
	const char *file; /* for messages */
	void *context;
	struct sb_error *err;
};

struct sb_key {
	const char *name;
	enum sb_yaml_kind kind;
	int (*read)(const struct sb_schema *schema, const struct sb_yaml *value);
	/* Without that, what is said goes into the context, so many bytes behind its start: */
	size_t at;
	const char *words;         /* an unsigned: which of these (base/words.h) it is */
	const struct sb_key *keys; /* of a map: each to where it says itself */
				   /* or, with neither, the value: a const struct sb_yaml * */
};

/*
 * Call what each key of the map is for, in the order of the file; keys end with a NULL name.  A key that is not
 * among them, or whose value is of another kind, is an error; one with no value counts as not there.
 */
int sb_schema_read(const struct sb_schema *schema, const struct sb_yaml *map,
		   const struct sb_key *keys);

/* The position of a word among words; *out keeps its value if that fails. */
int sb_schema_choose(const struct sb_schema *schema, const struct sb_yaml *value, const char *words,
		     unsigned *out);

/* A list of words, NULL-terminated, for sb_list_free(). */
int sb_schema_words(const struct sb_schema *schema, const struct sb_yaml *list, char ***out);

/* SB_E_INVALID, at value. */
int sb_schema_fail(const struct sb_schema *schema, const struct sb_yaml *value, const char *format,
		   ...) __attribute__((format(printf, 3, 4)));

#endif
