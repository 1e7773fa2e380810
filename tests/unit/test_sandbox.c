/* test_sandbox.c - the library's front door, where it must stay shut. */
#include "unit.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbash/sandbox.h"

static void *wait_for_end(void *pipe_end)
{
	char byte;

	return read(*(int *)pipe_end, &byte, 1) == 0 ? NULL : pipe_end;
}

static void not_with_other_threads(void **state)
{
	const struct sb_sandbox_options options = {.size = sizeof options, .anywhere = true};
	struct sb_sandbox *sandbox;
	struct sb_error err;
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &ends[0]), 0);
	assert_int_equal(sb_sandbox_open(&options, &sandbox, &err), SB_OK);
	assert_int_equal(sb_sandbox_enter(sandbox, &err), SB_E_REFUSED);
	assert_non_null(strstr(err.message, "other threads"));
	sb_sandbox_close(sandbox);
	close(ends[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(ends[0]);
}

static void a_wrong_rule_is_named(void **state)
{
	const char *const rules[] = {"write .", "wirte x", NULL};
	const struct sb_sandbox_options options = {
		.size = sizeof options, .rules = rules, .anywhere = true};
	struct sb_sandbox *sandbox;
	struct sb_error err;

	(void)state;
	assert_int_equal(sb_sandbox_open(&options, &sandbox, &err), SB_OK);
	assert_null(sb_sandbox_policy(sandbox, &err));
	assert_non_null(strstr(err.message, "wirte"));
	assert_int_not_equal(sb_sandbox_enter(sandbox, &err), SB_OK);
	sb_sandbox_close(sandbox);
}

static void later_options_are_not_looked_for(void **state)
{
	struct sb_sandbox_options options = {.size = offsetof(struct sb_sandbox_options, warn),
					     .anywhere = true,
					     .warn = (void (*)(void *, const char *))1};
	struct sb_sandbox *sandbox;
	struct sb_error err;

	(void)state;
	assert_int_equal(sb_sandbox_open(&options, &sandbox, &err), SB_OK);
	setenv("XDG_CONFIG_HOME", "relative", 1); /* which is warned about, if that is read */
	assert_non_null(sb_sandbox_policy(sandbox, &err));
	unsetenv("XDG_CONFIG_HOME");
	sb_sandbox_close(sandbox);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(not_with_other_threads),
	cmocka_unit_test(a_wrong_rule_is_named),
	cmocka_unit_test(later_options_are_not_looked_for),
};

UNIT_MAIN("sandbox")
