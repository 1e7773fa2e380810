/*
 * unit.h - what every unit test needs: cmocka in the order it wants, TAP, and
 * random numbers that can be had again.
 */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A main for the test functions in the array tests. */
#define UNIT_MAIN(name)                                                                            \
	int main(void)                                                                             \
	{                                                                                          \
		cmocka_set_message_output(CM_OUTPUT_TAP);                                          \
		return cmocka_run_group_tests_name(name, tests, NULL, NULL);                       \
	}

/* splitmix64: small, and the same numbers everywhere for one seed. */
static uint64_t unit_random_state;

static inline uint64_t unit_random(void)
{
	uint64_t z = (unit_random_state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 to limit - 1 */
static inline unsigned unit_below(unsigned limit)
{
	return (unsigned)(unit_random() % limit);
}

/* A new seed for every run, unless SANDBASH_TEST_SEED names one; printed, so a failure repeats. */
static inline void unit_seed(void)
{
	const char *given = getenv("SANDBASH_TEST_SEED");
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	unit_random_state = given ? strtoull(given, NULL, 0)
				  : ((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec) >> 2;
	print_message("# SANDBASH_TEST_SEED=%llu repeats this run\n",
		      (unsigned long long)unit_random_state);
}

#endif
