#include "base/list.h"

#include <stdlib.h>
#include <string.h>

#include "sandbash/error.h"

bool sb_list_grow(void *list, size_t count, size_t size)
{
	void **at = list, *grown;

	if (count & (count - 1))
		return true;
	grown = reallocarray(*at, count ? 2 * count : 1, size);
	if (grown)
		*at = grown;
	return grown;
}

int sb_list_push(char ***list, size_t *count, char *text, struct sb_error *err)
{
	char **grown = text ? reallocarray(*list, *count + 2, sizeof **list) : NULL;

	if (!grown) {
		free(text);
		return sb_no_memory(err);
	}
	grown[(*count)++] = text;
	grown[*count] = NULL;
	*list = grown;
	return SB_OK;
}

void sb_list_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

size_t sb_list_count(const void *list)
{
	const void *const *at = list;
	size_t count = 0;

	while (at && at[count])
		count++;
	return count;
}

bool sb_list_has(const char *const *list, const char *text)
{
	for (; list && *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}
