/* test_leaks.c - in the sanitizer tree, what a program loses makes it fail. */
#include "unit.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

static void what_is_lost_is_found(void **state)
{
	void *volatile held;
	pid_t child;
	int status;

	(void)state;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		(void)!freopen("/dev/null", "w", stderr); /* the report */
		held = malloc(100);
		held = NULL;
		exit(held != NULL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status) != 0, IS_SANITIZED);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(what_is_lost_is_found),
};

UNIT_MAIN("leaks")
