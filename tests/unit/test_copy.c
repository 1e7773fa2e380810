/* test_copy.c - the program's memcpy(): every length that it handles itself, and some beyond, at every place. */
#include "unit.h"

#include <string.h>

void *__real_memcpy(void *restrict to, const void *restrict from, size_t size);
void *__wrap_memcpy(void *restrict to, const void *restrict from, size_t size);

static size_t left_to_libc;

void *__real_memcpy(void *restrict to, const void *restrict from, size_t size)
{
	left_to_libc++;
	return memcpy(to, from, size);
}

static void copies_just_that(void **state)
{
	unsigned char from[160], to[160];

	(void)state;
	for (size_t i = 0; i < sizeof from; i++)
		from[i] = (unsigned char)(i + 1);
	for (size_t size = 0; size <= 80; size++)
		for (size_t source = 0; source < 17; source++)
			for (size_t place = 1; place < 18; place++) {
				memset(to, 0xee, sizeof to);
				assert_ptr_equal(__wrap_memcpy(to + place, from + source, size),
						 to + place);
				assert_memory_equal(to + place, from + source, size);
				assert_int_equal(to[place - 1], 0xee); /* the neighbours */
				assert_int_equal(to[place + size], 0xee);
			}
}

static void leaves_long_ones_to_libc(void **state)
{
	unsigned char from[64] = {1}, to[64];

	(void)state;
	left_to_libc = 0;
	__wrap_memcpy(to, from, 32);
	assert_int_equal(left_to_libc, 0);
	__wrap_memcpy(to, from, 33);
	assert_int_equal(left_to_libc, 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(copies_just_that),
	cmocka_unit_test(leaves_long_ones_to_libc),
};

UNIT_MAIN("copy")
