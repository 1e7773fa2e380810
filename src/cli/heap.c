/*
 * heap.c - the first allocations of the program come from memory that it has already.
 *
 * A launch makes some two hundred small allocations and then becomes another program.
 * musl's allocator maps a page for each few sizes, and touches it twice before the first
 * use: a third of the pages of a whole launch, at 3 us each (bench/run, row "launch").  Without this file
 * a static launch takes 1.12 times the processor time, a supervised one 1.22 times.
 * Here they lie one after the other; what does not fit any more comes from musl.
 *
 * The linker sends calls of malloc() and the others here (--wrap in scripts/build-musl),
 * also those of musl's own functions.  With another libc this file is not part of the
 * program.
 *
 * What is freed is not given out again unless it was the last, so this is no allocator for
 * a long life; musl's is, once this is full.  Any thread may call: the only state is the
 * number of bytes given out.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HEAP_BYTES ((size_t)320 * 1024) /* what a supervised launch with few rules needs */

/* Names that the linker makes. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);

struct block {
	size_t size; /* of the bytes that follow */
};

/* The bytes of a block must be aligned for anything, so its head lies just before such a place. */
#define ALIGNMENT _Alignof(max_align_t)
#define FIRST (ALIGNMENT - sizeof(struct block))

static _Alignas(max_align_t) unsigned char heap[HEAP_BYTES];
static _Atomic size_t used = FIRST;
/* What lies behind has never been given out, so it is zero.  Not 0 itself: so it lies beside used. */
static _Atomic size_t touched = FIRST;

static bool is_ours(const void *pointer)
{
	return (uintptr_t)pointer - (uintptr_t)heap < sizeof heap;
}

static struct block *block_of(void *pointer)
{
	return (struct block *)pointer - 1;
}

/* Where the block's bytes end, counted from the start of the heap. */
static size_t end_of(const struct block *block)
{
	return (size_t)((const unsigned char *)(block + 1) - heap) + block->size;
}

/* The next size after which another block may start. */
static size_t round_up(size_t size)
{
	return (size + sizeof(struct block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT -
	       sizeof(struct block);
}

/* Bytes up to end are given out now; returns how many had been before. */
static size_t touch(size_t end)
{
	size_t before = atomic_load(&touched);

	while (before < end && !atomic_compare_exchange_weak(&touched, &before, end))
		;
	return before;
}

/* NULL: it does not fit.  *out_stale: how many of its bytes may not be zero. */
static void *take(size_t size, size_t *out_stale)
{
	size_t start = atomic_load(&used), rounded, before;
	struct block *block;

	if (size > sizeof heap)
		return NULL;
	rounded = round_up(size);
	do {
		if (start + sizeof *block + rounded > sizeof heap)
			return NULL;
	} while (!atomic_compare_exchange_weak(&used, &start, start + sizeof *block + rounded));
	block = (struct block *)(heap + start);
	start += sizeof *block;
	before = touch(start + rounded);
	*out_stale = before > start ? before - start : 0;
	block->size = rounded;
	return block + 1;
}

/* Make the last block larger where it lies.  False: it is not the last, or there is no room. */
static bool resize_last(struct block *block, size_t size)
{
	size_t end = end_of(block), start = end - block->size;

	if (size > sizeof heap || start + round_up(size) > sizeof heap ||
	    !atomic_compare_exchange_strong(&used, &end, start + round_up(size)))
		return false;
	touch(start + round_up(size));
	block->size = round_up(size);
	return true;
}

void *__wrap_malloc(size_t size)
{
	size_t stale;
	void *taken = take(size, &stale);

	return taken ? taken : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	size_t bytes, stale;
	void *taken;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	taken = take(bytes, &stale);
	if (!taken)
		return __real_calloc(count, size);
	return memset(taken, 0, stale < bytes ? stale : bytes);
}

void *__wrap_realloc(void *old, size_t size)
{
	struct block *block;
	void *fresh;

	if (!old)
		return __wrap_malloc(size);
	if (!is_ours(old))
		return __real_realloc(old, size);
	block = block_of(old);
	if (size <= block->size || resize_last(block, size))
		return old;
	fresh = __wrap_malloc(size);
	if (fresh)
		memcpy(fresh, old, block->size);
	return fresh;
}

void __wrap_free(void *old)
{
	struct block *block;
	size_t end;

	if (!is_ours(old)) {
		__real_free(old);
		return;
	}
	block = block_of(old);
	end = end_of(block);
	/* only if it is the last: else it stays */
	(void)atomic_compare_exchange_strong(&used, &end, end - block->size - sizeof *block);
}
