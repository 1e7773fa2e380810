#include "files/entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

#define MAX_TEXT ((size_t)512 << 20) /* the count is bounded by the caller; this is a backstop */

void sb_entry_list_init(struct sb_entry_list *list)
{
	*list = (struct sb_entry_list){.text = SB_BUF(MAX_TEXT)};
}

void sb_entry_list_done(struct sb_entry_list *list)
{
	free(list->items);
	sb_buf_done(&list->text);
	list->items = NULL;
	list->count = 0;
}

int sb_entry_list_add(struct sb_entry_list *list, const struct sb_found *found, uint32_t depth)
{
	struct sb_entry_item *item;

	if (!SB_GROW(list->items, list->count))
		return -ENOMEM;
	item = &list->items[list->count];
	*item = (struct sb_entry_item){.entry = {.type = found->type,
						 .depth = depth,
						 .bytes = found->facts.bytes,
						 .modified = found->facts.modified},
				       .name_at = list->text.length};
	sb_buf_append(&list->text, found->name, strlen(found->name) + 1);
	if (found->target) {
		item->target_at = list->text.length;
		sb_buf_append(&list->text, found->target, strlen(found->target) + 1);
	}
	if (sb_buf_failed(&list->text))
		return -ENOMEM;
	list->count++;
	return 0;
}

const char *sb_entry_name(const struct sb_entry_list *list, size_t i)
{
	return list->text.data + list->items[i].name_at;
}

struct order {
	const char *text;
	enum sb_files_sort by;
};

static int compare(const void *a, const void *b, void *context)
{
	const struct sb_entry_item *one = a, *two = b;
	const struct order *order = context;
	const struct timespec *first = &one->entry.modified, *second = &two->entry.modified;

	if (order->by == SB_FILES_BY_SIZE && one->entry.bytes != two->entry.bytes)
		return one->entry.bytes < two->entry.bytes ? 1 : -1;
	if (order->by == SB_FILES_BY_TIME && first->tv_sec != second->tv_sec)
		return first->tv_sec < second->tv_sec ? 1 : -1;
	if (order->by == SB_FILES_BY_TIME && first->tv_nsec != second->tv_nsec)
		return first->tv_nsec < second->tv_nsec ? 1 : -1;
	return strcmp(order->text + one->name_at, order->text + two->name_at);
}

void sb_entry_list_sort(struct sb_entry_list *list, enum sb_files_sort by)
{
	struct order order = {list->text.data, by};

	if (list->count)
		qsort_r(list->items, list->count, sizeof *list->items, compare, &order);
}

int sb_entry_list_finish(struct sb_entry_list *list, struct sb_files_entries *out)
{
	struct sb_files_entry *all = calloc(list->count + 1, sizeof *all);
	char *text;

	if (!all)
		return -ENOMEM;
	text = list->text.length ? sb_buf_take(&list->text) : NULL;
	for (size_t i = 0; i < list->count; i++) {
		all[i] = list->items[i].entry;
		all[i].name = text + list->items[i].name_at;
		if (list->items[i].target_at)
			all[i].target = text + list->items[i].target_at;
	}
	out->all = all;
	out->count = list->count;
	out->memory = text;
	return 0;
}

void sb_files_entries_done(struct sb_files_entries *entries)
{
	free(entries->all);
	free(entries->memory);
	entries->all = NULL;
	entries->memory = NULL;
	entries->count = 0;
}
