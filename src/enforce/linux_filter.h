/*
 * linux_filter.h - a compiler from rows ("this call with these arguments: that answer") to
 * a seccomp program.
 *
 * The kernel translates every instruction at every launch, and runs a new filter once
 * per system call number to learn which ones are always allowed.  So the program is
 * small and shallow: numbers are found by a search tree, and what is the same for several
 * numbers or ends the same way is there once.  libseccomp takes 120 us to build such a
 * filter (KERNEL.md); this takes about 5.
 *
 * Pure: nothing is loaded, allocated or kept.
 */
#ifndef SB_ENFORCE_LINUX_FILTER_H
#define SB_ENFORCE_LINUX_FILTER_H

#include <stddef.h>
#include <stdint.h>

struct sock_filter;

enum sb_filter_test {
	SB_FILTER_ALWAYS,
	SB_FILTER_EQUAL,
	SB_FILTER_DIFFERENT,
	SB_FILTER_ANY_BIT,
	SB_FILTER_NOT_ZERO, /* a pointer: all 64 bits are looked at */
	SB_FILTER_AT_LEAST, /* unsigned: -1 is more than any number */
	SB_FILTER_AT_MOST,
	SB_FILTER_MASKED, /* of the low 16 bits, those in value's upper half are as in its lower */
};

#define SB_FILTER_CONDITIONS 4

struct sb_filter_condition {
	enum sb_filter_test test;
	unsigned argument;
	uint32_t value; /* compared with the low 32 bits: the kernel ignores the rest of an int */
};

struct sb_filter_row {
	int number;
	uint32_t answer;
	int when; /* the caller's, to choose rows by */
	struct sb_filter_condition conditions[SB_FILTER_CONDITIONS]; /* all must hold */
};

/*
 * Write the program into out (room for max instructions).  Rows are sorted by number; the
 * first of a number's rows that applies gives the answer (a row without conditions always
 * does), and what no row is for is allowed.  Calls of another architecture kill.  Returns how many instructions, 0 when
 * they do not fit, there are too many rows or a jump would reach too far.
 */
size_t sb_filter_compile(const struct sb_filter_row *const *rows, size_t count,
			 struct sock_filter *out, size_t max);

#endif
