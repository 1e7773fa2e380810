/*
 * list.h - arrays that grow by one, and lists of strings with NULL behind the last.
 */
#ifndef SB_BASE_LIST_H
#define SB_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct sb_error;

/*
 * Room for one more behind count elements of *list, which has that for the next power of two whenever this alone makes
 * it grow.  False: out of memory, and all is as it was.
 */
#define SB_GROW(list, count) sb_list_grow(&(list), (count), sizeof *(list))
bool sb_list_grow(void *list, size_t count, size_t size);

/* Takes text, also if that fails; NULL is "out of memory". */
int sb_list_push(char ***list, size_t *count, char *text, struct sb_error *err);

void sb_list_free(char **list);                              /* NULL is fine */
size_t sb_list_count(const void *list);                      /* of pointers; NULL has none */
bool sb_list_has(const char *const *list, const char *text); /* NULL has none */

/* Takes item out of a list whose elements have a next; one that is not in it changes nothing. */
#define SB_UNLINK(first, item)                                                                     \
	do {                                                                                       \
		__typeof__(&(first)) at_ = &(first);                                               \
                                                                                                   \
		while (*at_ && *at_ != (item))                                                     \
			at_ = &(*at_)->next;                                                       \
		if (*at_)                                                                          \
			*at_ = (item)->next;                                                       \
	} while (0)

#endif
