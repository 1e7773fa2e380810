#include "zones/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/words.h"

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
	void *place;

	while (key->name && strcmp(key->name, value->key) != 0)
		key++;
	if (!key->name) {
		list_keys(keys, &names);
		return sb_yaml_fail(schema->err, schema->file, value->key_line, value->key_column,
				    "expected one of %s; found '%s'", names.data, value->key);
	}
	place = (char *)schema->context + key->at;
	if (value->kind == SB_YAML_NOTHING)
		return SB_OK;
	if (value->kind != key->kind)
		return sb_schema_fail(schema, value, "expected %s behind '%s', found %s",
				      sb_yaml_kind_name(key->kind), key->name,
				      sb_yaml_kind_name(value->kind));
	if (key->read)
		return key->read(schema, value);
	if (key->keys)
		return sb_schema_read(schema, value, key->keys);
	if (key->words)
		return sb_schema_choose(schema, value, key->words, place);
	*(const struct sb_yaml **)place = value;
	return SB_OK;
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

int sb_schema_choose(const struct sb_schema *schema, const struct sb_yaml *value, const char *words,
		     unsigned *out)
{
	SB_AUTO_BUF struct sb_buf list = SB_BUF(1024);
	const char *word;
	size_t length;

	for (unsigned i = 0; (word = sb_words_next(&words, &length)); i++) {
		sb_buf_printf(&list, "%s'%.*s'", i ? ", " : "", (int)length, word);
		if (strlen(value->text) == length && memcmp(value->text, word, length) == 0) {
			*out = i;
			return SB_OK;
		}
	}
	return sb_schema_fail(schema, value, "expected one of %s; found '%s'", list.data,
			      value->text);
}

int sb_schema_words(const struct sb_schema *schema, const struct sb_yaml *list, char ***out)
{
	char **words = calloc(1, sizeof *words); /* an empty list is not none */
	size_t count = 0;
	int status = words ? SB_OK : sb_no_memory(schema->err);

	for (size_t i = 0; status == SB_OK && i < list->count; i++) {
		const struct sb_yaml *item = &list->items[i];

		status = item->kind == SB_YAML_WORD && *item->text
				 ? sb_list_push(&words, &count, strdup(item->text), schema->err)
				 : sb_schema_fail(schema, item, "expected a word, found %s",
						  sb_yaml_kind_name(item->kind));
	}
	if (status == SB_OK)
		*out = words;
	else
		sb_list_free(words);
	return status;
}
