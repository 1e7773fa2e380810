/*
 * test_heap.c - the program's first allocations.  The linker sends malloc() there only in
 * the program, so they are called by the names it makes; what is "real" here is the libc's.
 * The heap is one for all tests, and the last one fills it.
 */
#include <errno.h>
#include <string.h>

#include "unit.h"

#define HEAP_BYTES ((size_t)320 * 1024) /* as in heap.c */

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);

static size_t real_calls;

void *__real_malloc(size_t size)
{
	real_calls++;
	return malloc(size);
}

void *__real_calloc(size_t count, size_t size)
{
	real_calls++;
	return calloc(count, size);
}

void *__real_realloc(void *old, size_t size)
{
	real_calls++;
	return realloc(old, size);
}

void __real_free(void *old)
{
	free(old);
}

static void blocks_are_aligned_and_apart(void **state)
{
	unsigned char *blocks[100];

	(void)state;
	for (size_t i = 0; i < COUNT(blocks); i++) {
		blocks[i] = __wrap_malloc(i % 50);
		assert_non_null(blocks[i]);
		assert_int_equal(0, (uintptr_t)blocks[i] % _Alignof(max_align_t));
		memset(blocks[i], (int)i, i % 50);
	}
	for (size_t i = 0; i < COUNT(blocks); i++)
		for (size_t j = 0; j < i % 50; j++)
			assert_int_equal((unsigned char)i, blocks[i][j]);
	assert_int_equal(0, real_calls);
}

static void the_last_block_is_given_back(void **state)
{
	void *first = __wrap_malloc(10), *second = __wrap_malloc(20), *third;

	(void)state;
	__wrap_free(first); /* not the last: stays */
	third = __wrap_malloc(10);
	assert_true((char *)third > (char *)second);
	__wrap_free(third);
	__wrap_free(second);
	assert_ptr_equal(second, __wrap_malloc(24));
	__wrap_free(NULL);
}

static void the_last_block_grows_where_it_is(void **state)
{
	char *text = __wrap_malloc(4), *other;

	(void)state;
	memcpy(text, "abc", 4);
	assert_ptr_equal(text, __wrap_realloc(text, 1000));
	other = __wrap_malloc(1);
	assert_true(other >= text + 1000);
	text = __wrap_realloc(text, 2000);
	assert_true(text > other);
	assert_string_equal("abc", text);
	assert_ptr_equal(text, __wrap_realloc(text, 10));
}

static void what_does_not_fit_is_the_libcs(void **state)
{
	char *small = __wrap_malloc(8), *large, *grown;
	size_t blocks = 0;

	(void)state;
	memcpy(small, "content", 8);
	large = __wrap_malloc(HEAP_BYTES);
	assert_non_null(large);
	assert_int_equal(1, real_calls);
	grown = __wrap_realloc(small, 2 * HEAP_BYTES);
	assert_int_equal(2, real_calls);
	assert_string_equal("content", grown);
	grown = __wrap_realloc(grown, 3 * HEAP_BYTES);
	assert_int_equal(3, real_calls);
	assert_string_equal("content", grown);
	__wrap_free(grown);
	__wrap_free(large);
	for (large = NULL; real_calls == 3; blocks++)
		large = __wrap_malloc(104);
	assert_in_range(blocks, 100, HEAP_BYTES / 112 + 1);
	memset(large, 0, 104);
	__wrap_free(large); /* the libc's */
}

static void zeroed_memory_is_zero(void **state)
{
	unsigned char *block = __wrap_malloc(64);

	(void)state;
	memset(block, 0xff, 64);
	__wrap_free(block);
	block = __wrap_calloc(8, 8);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(0, block[i]);
	errno = 0;
	assert_null(__wrap_calloc(SIZE_MAX / 2, 4));
	assert_int_equal(ENOMEM, errno);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(blocks_are_aligned_and_apart),
	cmocka_unit_test(the_last_block_is_given_back),
	cmocka_unit_test(the_last_block_grows_where_it_is),
	cmocka_unit_test(zeroed_memory_is_zero),
	cmocka_unit_test(what_does_not_fit_is_the_libcs),
};

UNIT_MAIN("heap")
