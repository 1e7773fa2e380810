#include "shell/arena.h"

#include <stdlib.h>
#include <string.h>

struct sb_arena_block {
	struct sb_arena_block *next;
	max_align_t bytes[];
};

#define FIRST_BLOCK 8192 /* a usual command with all that is said about it */
#define MOST_BLOCK (1 << 20)
#define ALIGNMENT sizeof(void *)

void sb_arena_init(struct sb_arena *arena, size_t limit_bytes)
{
	*arena = (struct sb_arena){.limit = limit_bytes};
}

void sb_arena_done(struct sb_arena *arena)
{
	struct sb_arena_block *next;

	for (struct sb_arena_block *block = arena->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	*arena = (struct sb_arena){0};
}

static bool grow(struct sb_arena *arena, size_t size)
{
	size_t wanted = arena->used < FIRST_BLOCK ? FIRST_BLOCK : arena->used;
	struct sb_arena_block *block;

	if (wanted > MOST_BLOCK)
		wanted = MOST_BLOCK;
	if (wanted < size)
		wanted = size;
	if (size > arena->limit || arena->used > arena->limit - size)
		return false;
	block = malloc(sizeof *block + wanted);
	if (!block)
		return false;
	block->next = arena->blocks;
	arena->blocks = block;
	arena->at = (char *)block->bytes;
	arena->end = arena->at + wanted;
	arena->used += wanted;
	return true;
}

static void *take(struct sb_arena *arena, size_t size)
{
	void *taken;

	size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	if ((size_t)(arena->end - arena->at) < size && (arena->spent || !grow(arena, size))) {
		arena->spent = true;
		return NULL;
	}
	taken = arena->at;
	arena->at += size;
	return taken;
}

void *sb_arena_alloc(struct sb_arena *arena, size_t size)
{
	void *taken = take(arena, size);

	return taken ? memset(taken, 0, size) : NULL;
}

char *sb_arena_copy(struct sb_arena *arena, const char *bytes, size_t length)
{
	char *copy = take(arena, length + 1);

	if (!copy)
		return NULL;
	if (length)
		memcpy(copy, bytes, length);
	copy[length] = '\0';
	return copy;
}
