#include "zones/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

int sb_schema_fail(const struct sb_schema *schema, const struct sb_yaml *value, const char *format,
		   ...)
{
	char message[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	return sb_yaml_fail(schema->err, schema->file, value->line, value->column, "%s", message);
}

int sb_schema_no_memory(const struct sb_schema *schema)
{
	return sb_fail(schema->err, SB_E_NOMEM, 0, "out of memory");
}

static void list_keys(const struct sb_key *keys, struct sb_buf *out)
{
	for (const struct sb_key *key = keys; key->name; key++)
		sb_buf_printf(out, "%s%s", key > keys ? ", " : "", key->name);
}

static int read_key(const struct sb_schema *schema, const struct sb_yaml *value,
		    const struct sb_key *keys)
{
	SB_AUTO_BUF struct sb_buf names = SB_BUF(1024);
	const struct sb_key *key = keys;

	while (key->name && strcmp(key->name, value->key) != 0)
		key++;
	if (!key->name) {
		list_keys(keys, &names);
		return sb_yaml_fail(schema->err, schema->file, value->key_line, value->key_column,
				    "expected one of %s; found '%s'", names.data, value->key);
	}
	if (value->kind == SB_YAML_NOTHING)
		return SB_OK;
	if (value->kind != key->kind)
		return sb_schema_fail(schema, value, "expected %s behind '%s', found %s",
				      sb_yaml_kind_name(key->kind), key->name,
				      sb_yaml_kind_name(value->kind));
	return key->read(schema, value);
}

int sb_schema_read(const struct sb_schema *schema, const struct sb_yaml *map,
		   const struct sb_key *keys)
{
	int status = SB_OK;

	if (map->kind == SB_YAML_NOTHING)
		return SB_OK;
	if (map->kind != SB_YAML_MAP)
		return sb_schema_fail(schema, map, "expected a map, found %s",
				      sb_yaml_kind_name(map->kind));
	for (size_t i = 0; i < map->count && status == SB_OK; i++)
		status = read_key(schema, &map->items[i], keys);
	return status;
}

int sb_schema_choose(const struct sb_schema *schema, const struct sb_yaml *value,
		     const char *const *words, unsigned *out)
{
	SB_AUTO_BUF struct sb_buf list = SB_BUF(1024);

	for (unsigned i = 0; words[i]; i++) {
		sb_buf_printf(&list, "%s'%s'", i ? ", " : "", words[i]);
		if (strcmp(value->text, words[i]) == 0) {
			*out = i;
			return SB_OK;
		}
	}
	return sb_schema_fail(schema, value, "expected one of %s; found '%s'", list.data,
			      value->text);
}

void sb_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

int sb_schema_words(const struct sb_schema *schema, const struct sb_yaml *list, char ***out)
{
	char **words = calloc(list->count + 1, sizeof *words);

	if (!words)
		return sb_schema_no_memory(schema);
	for (size_t i = 0; i < list->count; i++) {
		const struct sb_yaml *item = &list->items[i];

		if (item->kind != SB_YAML_WORD || !*item->text) {
			sb_words_free(words);
			return sb_schema_fail(schema, item, "expected a word, found %s",
					      sb_yaml_kind_name(item->kind));
		}
		words[i] = strdup(item->text);
		if (!words[i]) {
			sb_words_free(words);
			return sb_schema_no_memory(schema);
		}
	}
	*out = words;
	return SB_OK;
}
