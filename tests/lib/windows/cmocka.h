/*
 * cmocka.h - as much of cmocka as unit tests of portable rooms use, for a system that Debian has no cmocka
 * for: scripts/windows.
 */
#ifndef WINDOWS_CMOCKA_H
#define WINDOWS_CMOCKA_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*test)(void **state);
	int (*setup)(void **state);
	int (*teardown)(void **state);
	void *initial_state;
};

#define CM_OUTPUT_TAP 0
#define cmocka_set_message_output(how) ((void)(how))
#define cmocka_unit_test(f)                                                                        \
	{                                                                                          \
#f, f, NULL, NULL, NULL                                                            \
	}
#define cmocka_unit_test_setup_teardown(f, up, down)                                               \
	{                                                                                          \
#f, f, up, down, NULL                                                              \
	}
#define print_message(...) ((void)printf(__VA_ARGS__))

/* There is no disk to prepare (files/windows_disk.c): a test on one is skipped. */
#define mkdtemp(template) ((void)(template), (char *)NULL)
#define realpath(path, out) ((void)(path), (void)(out), (char *)NULL)
#define symlink(target, path) ((void)(target), (void)(path), -1)

static jmp_buf cm_end;

#define fail_msg(...)                                                                              \
	(printf("# %s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), printf("\n"),               \
	 longjmp(cm_end, 1))
#define fail() fail_msg("failed")
#define skip() longjmp(cm_end, 2)
#define assert_true(x) ((void)((x) ? 0 : (fail_msg("%s", #x), 0)))
#define assert_false(x) assert_true(!(x))
#define assert_null(x) assert_true((x) == NULL)
#define assert_non_null(x) assert_true((x) != NULL)
#define assert_int_equal(a, b) assert_true((long long)(a) == (long long)(b))
#define assert_int_not_equal(a, b) assert_true((long long)(a) != (long long)(b))
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_in_range(x, low, high) assert_true((x) >= (low) && (x) <= (high))
#define assert_memory_equal(a, b, n) assert_true(memcmp(a, b, n) == 0)
#define assert_string_equal(a, b) cm_same(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) cm_same(a, b, 0, __FILE__, __LINE__)

static inline void cm_same(const char *a, const char *b, int want, const char *file, int line)
{
	if ((strcmp(a, b) == 0) == want)
		return;
	printf("# %s:%d: '%s' and '%s'\n", file, line, a, b);
	longjmp(cm_end, 1);
}

static inline int cm_run(const struct CMUnitTest *tests, size_t count)
{
	volatile int failed = 0;

	printf("1..%u\n", (unsigned)count);
	for (volatile size_t i = 0; i < count; i++) {
		void *state = tests[i].initial_state;
		int ended = setjmp(cm_end);

		if (ended == 0) {
			if (tests[i].setup && tests[i].setup(&state) != 0)
				longjmp(cm_end, strstr(tests[i].name, "(disk)") ? 2 : 1);
			tests[i].test(&state);
			if (tests[i].teardown)
				tests[i].teardown(&state);
		}
		failed += ended == 1;
		printf("%sok %u - %s%s\n", ended == 1 ? "not " : "", (unsigned)i + 1, tests[i].name,
		       ended == 2 ? " # SKIP" : "");
	}
	return failed;
}

#define cmocka_run_group_tests_name(name, tests, up, down)                                         \
	cm_run(tests, sizeof(tests) / sizeof(tests)[0])
#define cmocka_run_group_tests(tests, up, down) cmocka_run_group_tests_name("", tests, up, down)

#endif
