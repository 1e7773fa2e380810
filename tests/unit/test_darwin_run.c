/*
 * test_darwin_run.c - C2 where no call can wait for an answer: what the log says was refused is asked about, and the
 * command is run once more.  The sandbox and the log of macOS are stood in for.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforce/darwin_run.h"
#include "policy/text.h"

static const char *log_text;

/* What the real one does is to confine; here the command sees which profile it is. */
int sb_seatbelt_enter(const struct sb_seatbelt *seatbelt, struct sb_error *err)
{
	if (strcmp(seatbelt->text.data, "broken") == 0)
		return sb_fail(err, SB_E_UNSUPPORTED, 0, "broken");
	setenv("PROFILE", seatbelt->text.data, 1);
	return SB_OK;
}

void sb_seatbelt_log(time_t since, void (*take)(void *context, const char *line), void *context)
{
	char line[512];
	FILE *stream = fmemopen((void *)log_text, strlen(log_text), "r");

	assert_true(time(NULL) - since < 60);
	while (stream && fgets(line, sizeof line, stream))
		take(context, line);
	if (stream)
		fclose(stream);
}

struct asked {
	const struct sb_seatbelt *answer;
	unsigned times;
	size_t count;
	struct sb_refused first;
};

static const struct sb_seatbelt *ask(void *context, const struct sb_refused *refused, size_t count)
{
	struct asked *asked = context;

	asked->times++;
	asked->count = count;
	asked->first = refused[0];
	return asked->answer;
}

static struct sb_policy *policy_of(const char *const *lines)
{
	struct sb_policy *policy = sb_policy_new();
	struct sb_error err;

	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_WORKSPACE_WRITE);
	for (; *lines; lines++) {
		struct sb_line line;

		assert_int_equal(SB_OK, sb_line_parse(*lines, strlen(*lines), &line, &err));
		assert_int_equal(SB_OK, sb_policy_add(policy,
						      &(struct sb_rule){.access = line.access,
									.tier = SB_TIER_FLAG,
									.pattern = line.text,
									.origin = "test"},
						      &err));
		sb_line_done(&line);
	}
	assert_int_equal(SB_OK, sb_policy_seal(policy, &err));
	return policy;
}

/* A command that works with the wide profile alone, and counts its runs in a file. */
static int run(const char *script, struct asked *asked, const char *profile, unsigned *out_runs)
{
	static const char *const rules[] = {"write /Users/u/p", "deny /Users/u/secret", NULL};
	struct sb_policy *policy = policy_of(rules);
	struct sb_seatbelt narrow = {.text = {.data = (char *)profile}};
	char *argv[] = {"sh", "-c", (char *)script, NULL};
	struct sb_darwin_run what = {argv, policy, &narrow, ask, asked};
	char file[] = "/tmp/darwin-run-XXXXXX", bytes[16];
	int fd = mkstemp(file), status = -1;
	struct sb_error err;
	FILE *stream;

	assert_true(fd >= 0);
	setenv("RUNS", file, 1);
	assert_int_equal(SB_OK, sb_darwin_run(&what, &status, &err));
	stream = fdopen(fd, "r");
	*out_runs = (unsigned)fread(bytes, 1, sizeof bytes, stream);
	fclose(stream);
	unlink(file);
	sb_policy_free(policy);
	return status;
}

#define TRIES "printf x >>\"$RUNS\"; "
#define LINE "2026-11-18 05:00:00.1 Df kernel[0:1] (Sandbox) Sandbox: "

static void a_refused_write_is_tried_once_more(void **state)
{
	const struct sb_seatbelt wide = {.text = {.data = (char *)"wide"}};
	struct asked yes = {.answer = &wide}, no = {0};
	unsigned runs;

	(void)state;
	log_text = LINE "touch(4242) deny(1) file-write-create /Users/u/x y\n" LINE
			"touch(4243) deny(1) file-write-create /Users/u/x y\n" LINE
			"cat(1) deny(1) file-read-data /Users/u/secret/k\n" LINE
			"rm(2) deny(1) file-write-unlink /Users/u/secret/k\n";
	assert_int_equal(0, run(TRIES "test $PROFILE = wide", &yes, "narrow", &runs));
	assert_int_equal(2, runs);
	assert_int_equal(1, yes.times);
	assert_int_equal(1, yes.count); /* not twice, no reading, nothing that a rule denies */
	assert_string_equal("touch", yes.first.program);
	assert_string_equal("/Users/u/x y", yes.first.path);
	assert_int_equal(SB_CREATE, yes.first.op);

	assert_int_equal(1, run(TRIES "test $PROFILE = wide", &no, "narrow", &runs));
	assert_int_equal(1, runs);
	assert_int_equal(1, no.times);
}

static void it_is_tried_no_more_than_once(void **state)
{
	const struct sb_seatbelt wide = {.text = {.data = (char *)"wide"}};
	struct asked yes = {.answer = &wide};
	unsigned runs;

	(void)state;
	log_text = LINE "a(1) deny(1) file-write-data /Users/u/x\n";
	assert_int_equal(7, run(TRIES "exit 7", &yes, "narrow", &runs));
	assert_int_equal(2, runs);
	assert_int_equal(1, yes.times);
	yes.times = 0;
	assert_int_equal(0, run(TRIES "exit 0", &yes, "narrow", &runs));
	assert_int_equal(1, runs);
	assert_int_equal(0, yes.times);
	log_text = "nothing of ours\n";
	assert_int_equal(128 + 15, run(TRIES "kill -TERM $$", &yes, "narrow", &runs));
	assert_int_equal(1, runs);
	assert_int_equal(0, yes.times);
}

static void it_has_no_terminal(void **state)
{
	struct asked no = {0};
	unsigned runs;

	(void)state;
	log_text = "";
	assert_int_equal(0,
			 run(TRIES "test $$ = $(ps -o sid= -p $$) && ! (: </dev/tty) 2>/dev/null",
			     &no, "narrow", &runs));
	assert_int_equal(1, runs);
}

static void without_a_sandbox_nothing_runs(void **state)
{
	struct asked no = {0};
	unsigned runs;

	(void)state;
	log_text = "";
	assert_int_equal(125, run(TRIES "true", &no, "broken", &runs));
	assert_int_equal(0, runs);
}

static void lines_of_the_log(void **state)
{
	static const char *const others[] = {
		"",
		"Sandbox: ",
		"Sandbox: a",
		"Sandbox: a(1)",
		"Sandbox: a(1) deny(1) ",
		"Sandbox: a(x) deny(1) file-write-data /x",
		"Sandbox: a(1) allow(1) file-write-data /x",
		"Sandbox: a(1) deny(1) file-write-data",
		"Sandbox: a(1) deny(1) file-write-data x",
		"Sandbox: a(1) deny(1) file-write-datax /x",
		"Sandbox: a(1) deny(1) mach-lookup com.apple.x",
		"Sandbox: (1) deny(1) file-write-data /x",
	};
	static const char *const rules[] = {"write /p", NULL};
	struct sb_policy *policy = policy_of(rules);
	struct sb_refused refused;

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_false(sb_refused_parse(others[i], &refused));
	assert_true(
		sb_refused_parse("Sandbox: a(1) deny(1) file-write-data /x (1) /y\n", &refused));
	assert_string_equal("/x (1) /y", refused.path);
	assert_true(sb_refused_may_be_asked(policy, &refused));
	assert_true(sb_refused_parse("Sandbox: a(1) deny(1) file-write-data /x/../y", &refused));
	assert_false(sb_refused_may_be_asked(policy, &refused));
	assert_true(sb_refused_parse("Sandbox: a(1) deny(1) file-write-data //x", &refused));
	assert_false(sb_refused_may_be_asked(policy, &refused));
	assert_true(sb_refused_parse("Sandbox: a(1) deny(1) file-write-data /x/", &refused));
	assert_false(sb_refused_may_be_asked(policy, &refused));
	sb_policy_free(policy);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_refused_write_is_tried_once_more),
	cmocka_unit_test(it_is_tried_no_more_than_once),
	cmocka_unit_test(it_has_no_terminal),
	cmocka_unit_test(without_a_sandbox_nothing_runs),
	cmocka_unit_test(lines_of_the_log),
};

UNIT_MAIN("darwin_run")
