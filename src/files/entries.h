/*
 * entries.h - a list of names while it grows.
 */
#ifndef SB_FILES_ENTRIES_H
#define SB_FILES_ENTRIES_H

#include "base/buf.h"
#include "files/backend.h"

struct sb_entry_item {
	struct sb_files_entry entry; /* without its strings ... */
	size_t name_at, target_at;   /* ... which are here in text; target_at 0: none */
};

struct sb_entry_list {
	struct sb_entry_item *items;
	size_t count;
	struct sb_buf text;
};

void sb_entry_list_init(struct sb_entry_list *list);
void sb_entry_list_done(struct sb_entry_list *list);

/* -ENOMEM, or 0. */
int sb_entry_list_add(struct sb_entry_list *list, const struct sb_found *found, uint32_t depth);

const char *sb_entry_name(const struct sb_entry_list *list, size_t i);
void sb_entry_list_sort(struct sb_entry_list *list, enum sb_files_sort by);

/* Give everything to out; -ENOMEM leaves it with the list. */
int sb_entry_list_finish(struct sb_entry_list *list, struct sb_files_entries *out);

#endif
