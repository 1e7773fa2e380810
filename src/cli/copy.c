/*
 * copy.c - memcpy() of a few bytes in a few instructions.
 *
 * A launch copies a thousand times, mostly names and parts of texts: fifteen bytes each.  musl's memcpy() for x86-64 is one
 * string instruction, which takes as long to begin as a copy of that size takes otherwise, several times.  What is
 * longer is left to it.
 *
 * The linker sends all calls here (--wrap in scripts/build-musl), also those of musl itself from before there are
 * thread-local variables: nothing here may have a stack protector.  With another libc this file is not part of the program.
 */
#include <stddef.h>
#include <stdint.h>

/* Anything at any address. */
typedef uint16_t __attribute__((may_alias, aligned(1))) two;
typedef uint32_t __attribute__((may_alias, aligned(1))) four;
typedef uint64_t __attribute__((may_alias, aligned(1))) eight;
typedef uint64_t __attribute__((vector_size(16), may_alias, aligned(1))) sixteen;

/* Names that the linker makes. */
void *__real_memcpy(void *restrict to, const void *restrict from, size_t size);
void *__wrap_memcpy(void *restrict to, const void *restrict from, size_t size);

/* As much from the front and as much up to the end, which may overlap. */
#define BOTH_ENDS(type)                                                                            \
	do {                                                                                       \
		const type first = *(const type *)from;                                            \
		const type last =                                                                  \
			*(const type *)((const unsigned char *)from + size - sizeof(type));        \
		*(type *)to = first;                                                               \
		*(type *)((unsigned char *)to + size - sizeof(type)) = last;                       \
	} while (0)

void *__wrap_memcpy(void *restrict to, const void *restrict from, size_t size)
{
	if (size > 32)
		return __real_memcpy(to, from, size);
	if (size >= 16)
		BOTH_ENDS(sixteen);
	else if (size >= 8)
		BOTH_ENDS(eight);
	else if (size >= 4)
		BOTH_ENDS(four);
	else if (size >= 2)
		BOTH_ENDS(two);
	else if (size)
		*(unsigned char *)to = *(const unsigned char *)from;
	return to;
}
