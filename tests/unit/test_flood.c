/* test_flood.c - a person is not asked twice at once, nor without end. */
#include "tree.h"

#include "base/escape.h"
#include "consent/flood.h"

static struct sb_flood_key numbered(unsigned number)
{
	struct sb_flood_key key;

	sb_sha256_hex(&number, sizeof number, key.hex);
	return key;
}

static struct sb_flood_answer ask(struct sb_flood *flood, unsigned number, unsigned long id,
				  const char *program, uint64_t now_ms)
{
	struct sb_flood_key key = numbered(number);

	return sb_flood_ask(flood, &key, id, program, now_ms);
}

static int setup(void **state)
{
	*state = sb_flood_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	sb_flood_free(*state);
	return 0;
}

static void equal_questions_are_one(void **state)
{
	struct sb_flood *flood = *state;

	assert_int_equal(ask(flood, 1, 11, "a", 0).verdict, SB_FLOOD_ASK);
	assert_int_equal(ask(flood, 2, 12, "a", 0).verdict, SB_FLOOD_ASK);
	for (int i = 0; i < 1000; i++) { /* joining costs nobody anything */
		struct sb_flood_answer asked = ask(flood, 1, 13, "b", 0);

		assert_int_equal(asked.verdict, SB_FLOOD_JOIN);
		assert_int_equal(asked.question, 11);
	}
	sb_flood_answered(flood, 11, SB_ANSWER_ONCE);
	assert_int_equal(ask(flood, 1, 14, "b", 0).verdict, SB_FLOOD_ASK);
}

static void a_program_denied_in_a_row_is_not_asked_about(void **state)
{
	struct sb_flood *flood = *state;
	unsigned long id = 1;
	uint64_t now = 0;
	struct sb_flood_answer asked;

	for (int round = 0; round < 2; round++) {
		/* one short of the limit, then a yes, which ends the row */
		for (unsigned i = 1; i < SB_FLOOD_STREAK; i++, id++, now += 10000) {
			assert_int_equal(ask(flood, 1, id, "evil", now).verdict, SB_FLOOD_ASK);
			sb_flood_answered(flood, id, SB_ANSWER_DENY);
		}
		assert_int_equal(ask(flood, 1, id, "evil", now).verdict, SB_FLOOD_ASK);
		sb_flood_answered(flood, id++, round ? SB_ANSWER_DENY : SB_ANSWER_ONCE);
	}
	asked = ask(flood, 1, id, "evil", now);
	assert_int_equal(asked.verdict, SB_FLOOD_DENY);
	assert_non_null(asked.line);
	assert_non_null(strstr(asked.line, "'evil'"));
	for (int i = 0; i < 100; i++) {
		asked = ask(flood, 2, id, "evil", now + 1000000);
		assert_int_equal(asked.verdict, SB_FLOOD_DENY);
		assert_null(asked.line); /* one line */
	}
	assert_int_equal(ask(flood, 1, id, "good", now).verdict, SB_FLOOD_ASK);
}

static void questions_taken_back_count_for_nothing(void **state)
{
	struct sb_flood *flood = *state;

	for (unsigned long id = 1; id < 100; id++) {
		assert_int_equal(ask(flood, 1, id, "a", id * 10000).verdict, SB_FLOOD_ASK);
		sb_flood_answered(flood, id, SB_ANSWER_NONE);
		sb_flood_answered(flood, id, SB_ANSWER_DENY); /* too late, and unknown ones: */
		sb_flood_answered(flood, 0, SB_ANSWER_DENY);
		sb_flood_answered(flood, 9999, SB_ANSWER_DENY);
	}
}

static void many_names_for_one_flood_do_not_help(void **state)
{
	struct sb_flood *flood = *state;
	unsigned asked_count = 0, lines = 0;

	for (unsigned i = 0; i < 2000; i++) {
		char program[32];
		struct sb_flood_answer asked;

		snprintf(program, sizeof program, "p%u", i);
		asked = ask(flood, i, i + 1, program, i * 10000);
		asked_count += asked.verdict == SB_FLOOD_ASK;
		lines += asked.line != NULL;
		sb_flood_answered(flood, i + 1, SB_ANSWER_DENY);
	}
	assert_int_equal(asked_count, SB_FLOOD_STREAK_ALL);
	assert_int_equal(lines, 1);
}

static void questions_come_at_a_rate_that_can_be_read(void **state)
{
	struct sb_flood *flood = *state;
	unsigned asked_count = 0, lines = 0;
	uint64_t now = 5000000;

	for (unsigned i = 0; i < 1000; i++) {
		struct sb_flood_answer asked = ask(flood, i, i + 1, "a", now);

		asked_count += asked.verdict == SB_FLOOD_ASK;
		lines += asked.line != NULL;
		sb_flood_answered(flood, i + 1, SB_ANSWER_ONCE);
	}
	assert_int_equal(asked_count, SB_FLOOD_BURST);
	assert_int_equal(lines, 1);
	assert_int_equal(ask(flood, 1, 1, "a", now - 1000).verdict, SB_FLOOD_DENY);
	assert_int_equal(ask(flood, 1, 1, "a", now + SB_FLOOD_REFILL_MS - 1).verdict,
			 SB_FLOOD_DENY);
	assert_int_equal(ask(flood, 1, 1, "a", now + SB_FLOOD_REFILL_MS).verdict, SB_FLOOD_ASK);
	assert_int_equal(ask(flood, 2, 2, "a", now + SB_FLOOD_REFILL_MS).verdict, SB_FLOOD_DENY);
	/* however long it was quiet, no more than a burst */
	now += UINT64_C(1) << 60;
	asked_count = 0;
	for (unsigned i = 0; i < 1000; i++) {
		asked_count += ask(flood, 5000 + i, i + 10, "a", now).verdict == SB_FLOOD_ASK;
		sb_flood_answered(flood, i + 10, SB_ANSWER_ONCE);
	}
	assert_int_equal(asked_count, SB_FLOOD_BURST);
}

static void few_questions_wait_at_one_time(void **state)
{
	struct sb_flood *flood = *state;
	unsigned asked_count = 0;

	for (unsigned i = 0; i < 200; i++)
		asked_count += ask(flood, i, i + 1, "a", i * 10000).verdict == SB_FLOOD_ASK;
	assert_int_equal(asked_count, SB_FLOOD_OPEN);
	sb_flood_answered(flood, 1, SB_ANSWER_ONCE);
	assert_int_equal(ask(flood, 500, 500, "a", 5000000).verdict, SB_FLOOD_ASK);
}

static void lines_cannot_steer_the_terminal(void **state)
{
	struct sb_flood *flood = *state;
	char long_name[4000];
	struct sb_flood_answer asked = {0};

	memset(long_name, '\x1b', sizeof long_name - 1);
	long_name[sizeof long_name - 1] = '\0';
	for (unsigned long id = 1; id <= SB_FLOOD_STREAK + 1; id++) {
		asked = ask(flood, 1, id, long_name, id * 10000);
		sb_flood_answered(flood, id, SB_ANSWER_DENY);
	}
	assert_non_null(asked.line);
	for (const char *at = asked.line; *at; at++)
		assert_true(sb_utf8_visible(at, 1));
}

static void a_key_is_the_files_and_not_who_asks(void **state)
{
	char *root;
	struct sb_flood_key a, b;
	struct sb_wish wish = {.op = SB_CREATE, .name = "x", .path = "/x", .process = 1};
	struct sb_wish other;

	(void)state;
	assert_int_equal(tree_setup((void **)&root), 0);
	make_dir(root, "d");
	make_dir(root, "e");
	make_link(root, "l", "d");
	wish.directory = open(in(root, "d"), O_PATH | O_CLOEXEC);
	other = wish;
	other.directory = open(in(root, "l"), O_PATH | O_CLOEXEC);
	other.process = 2;
	other.op = SB_MODIFY;
	other.path = "/y/x";
#define SAME(target_a, content_a, target_b, content_b)                                             \
	(sb_flood_key(&wish, target_a, content_a, 1, &a, NULL) == SB_OK &&                         \
	 sb_flood_key(&other, target_b, content_b, 1, &b, NULL) == SB_OK &&                        \
	 strcmp(a.hex, b.hex) == 0)
	assert_true(SAME(NULL, NULL, NULL, NULL));
	assert_true(SAME(&wish, "c", &other, "c"));
	assert_false(SAME(&wish, NULL, NULL, NULL));
	assert_false(SAME(NULL, "c", NULL, "d"));
	assert_false(SAME(NULL, "c", NULL, NULL));
	other.op = SB_DELETE;
	assert_false(SAME(NULL, NULL, NULL, NULL));
	other.op = SB_READ;
	assert_false(SAME(NULL, NULL, NULL, NULL));
	other.op = SB_MODIFY;
	other.metadata = true;
	assert_false(SAME(NULL, NULL, NULL, NULL));
	other.metadata = false;
	other.name = "y";
	assert_false(SAME(NULL, NULL, NULL, NULL));
	other.name = "x";
	close(other.directory);
	other.directory = open(in(root, "e"), O_PATH | O_CLOEXEC);
	assert_false(SAME(NULL, NULL, NULL, NULL));
	close(other.directory);
	assert_int_equal(sb_flood_key(&other, NULL, NULL, 0, &a, NULL), SB_E_SYSTEM);
	close(wish.directory);
	tree_teardown((void **)&root);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(equal_questions_are_one),
	TEST(a_program_denied_in_a_row_is_not_asked_about),
	TEST(questions_taken_back_count_for_nothing),
	TEST(many_names_for_one_flood_do_not_help),
	TEST(questions_come_at_a_rate_that_can_be_read),
	TEST(few_questions_wait_at_one_time),
	TEST(lines_cannot_steer_the_terminal),
	cmocka_unit_test(a_key_is_the_files_and_not_who_asks),
};

UNIT_MAIN("flood")
