/*
 * schema.h - reading settings out of a map: each key by its own function, and no others.
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
};

/*
 * Call what each key of the map is for, in the order of the file; keys end with a NULL name.  A key that is not
 * among them, or whose value is of another kind, is an error; one with no value counts as not there.
 */
int sb_schema_read(const struct sb_schema *schema, const struct sb_yaml *map,
		   const struct sb_key *keys);

/* The position of a word among words, which end with NULL; *out keeps its value if that fails. */
int sb_schema_choose(const struct sb_schema *schema, const struct sb_yaml *value,
		     const char *const *words, unsigned *out);

/* A list of words, NULL-terminated. */
int sb_schema_words(const struct sb_schema *schema, const struct sb_yaml *list, char ***out);
void sb_words_free(char **words);

/* SB_E_INVALID, at value. */
int sb_schema_fail(const struct sb_schema *schema, const struct sb_yaml *value, const char *format,
		   ...) __attribute__((format(printf, 3, 4)));
int sb_schema_no_memory(const struct sb_schema *schema);

#endif
