/*
 * arena.h - memory for what is made together and ends together.
 *
 *     init -> alloc ... -> done
 *
 * Up to a limit its creator picked.  What is asked for beyond it comes from nowhere: alloc answers NULL, and
 * spent says that it did.
 */
#ifndef SB_SHELL_ARENA_H
#define SB_SHELL_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct sb_arena_block;

struct sb_arena {
	struct sb_arena_block *blocks; /* the newest first */
	char *at, *end;                /* what is free in it */
	size_t used, limit;
	bool spent;
};

void sb_arena_init(struct sb_arena *arena, size_t limit_bytes);
void sb_arena_done(struct sb_arena *arena);

/* Zeroed, aligned for any object; NULL: the limit or memory. */
void *sb_arena_alloc(struct sb_arena *arena, size_t size);

/* A copy with a NUL behind it; NULL as above. */
char *sb_arena_copy(struct sb_arena *arena, const char *bytes, size_t length);

#endif
