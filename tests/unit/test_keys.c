/* test_keys.c - only a lone key behind the fence counts. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "terminal/keys.h"

#define NOW 100000
#define LATER (NOW + SB_KEYS_QUIET_MS) /* long enough after the fence */

static char feed(struct sb_keys *keys, const char *text, int64_t now)
{
	return sb_keys_feed(keys, text, strlen(text), now);
}

/* The reply that a terminal of this size gives to CSI row ; column H, CSI 6 n. */
static struct sb_keys begin(char *reply, size_t size)
{
	struct sb_keys keys;
	SB_AUTO_BUF struct sb_buf out = SB_BUF(256);
	size_t length = 0;

	sb_keys_begin(&keys, &out, 24, 80, NOW, 500);
	for (char *at = out.data; *at;) {
		unsigned long row, column;

		assert_int_equal(strncmp(at, "\033[", 2), 0);
		row = strtoul(at + 2, &at, 10);
		assert_int_equal(*at, ';');
		column = strtoul(at + 1, &at, 10);
		assert_int_equal(*at++, 'H');
		if (strncmp(at, "\303\244", 2) == 0) { /* one letter, where there is UTF-8 */
			at += 2;
			column++;
		}
		assert_int_equal(strncmp(at, "\033[6n", 4), 0);
		at += 4;
		assert_in_range(row, 1, 24);
		assert_in_range(column, 1, 80);
		length += (size_t)snprintf(reply + length, size - length, "\033[%lu;%luR", row,
					   column);
	}
	assert_int_equal(length, keys.expected_length);
	return keys;
}

static struct sb_keys fenced(void)
{
	char reply[80];
	struct sb_keys keys = begin(reply, sizeof reply);

	feed(&keys, reply, NOW);
	assert_true(keys.passed && keys.replied);
	return keys;
}

/* Does text, coming at once, count as key? */
static char counts(const char *text)
{
	struct sb_keys keys = fenced();
	char key = feed(&keys, text, LATER);

	assert_int_equal(sb_keys_tick(&keys, LATER + SB_KEYS_LONE_MS - 1), 0);
	return key ? key : sb_keys_tick(&keys, LATER + SB_KEYS_LONE_MS);
}

static void a_lone_key_counts(void **state)
{
	(void)state;
	assert_int_equal(counts("1"), '1');
	assert_int_equal(counts("\033"), SB_KEYS_ESCAPE);
	assert_int_equal(counts("\003"), SB_KEYS_INTERRUPT);
	assert_int_equal(counts("\004"), SB_KEYS_END);
}

static void everything_else_does_not(void **state)
{
	static const char *const texts[] = {"11",
					    "1\r",
					    "1\n1\n1",
					    "x1",
					    "\0331",
					    "\033O1",
					    "\033[1",
					    "\033[A",
					    "\033[1;2R",
					    "\033[?64;1;2c",
					    "\033]11;rgb:1/1/1\a",
					    "\033]l1\033\\",
					    "\033P1\033\\",
					    "\033[200~1\033[201~",
					    "\033[200~\003\033[201~",
					    "\033[<0;1;1M",
					    "\303\244",
					    "\033\033",
					    "\033]1\0331",
					    "\033[I"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (counts(texts[i]))
			fail_msg("text %zu counts", i);
}

static void silence_before_and_after(void **state)
{
	struct sb_keys keys = fenced();

	(void)state;
	feed(&keys, "1", LATER - 1); /* too soon */
	assert_int_equal(sb_keys_tick(&keys, LATER + 1000), 0);
	feed(&keys, "1", LATER + 1000);
	feed(&keys, "x", LATER + 1000 + SB_KEYS_LONE_MS - 1); /* not alone */
	assert_int_equal(sb_keys_tick(&keys, LATER + 2000), 0);
	for (int i = 0; i < 50; i++) { /* typing */
		feed(&keys, "1", LATER + 3000 + (int64_t)i * (SB_KEYS_QUIET_MS - 1));
		assert_int_equal(sb_keys_deadline_ms(&keys) >= 0, i == 0);
		if (i > 0)
			assert_int_equal(
				sb_keys_tick(&keys, LATER + 3000 +
							    (int64_t)i * (SB_KEYS_QUIET_MS - 1) +
							    SB_KEYS_LONE_MS),
				0);
	}
	feed(&keys, "2", LATER + 60000);
	assert_int_equal(sb_keys_deadline_ms(&keys), LATER + 60000 + SB_KEYS_LONE_MS);
	assert_int_equal(sb_keys_tick(&keys, LATER + 60000 + SB_KEYS_LONE_MS), '2');
	assert_int_equal(sb_keys_tick(&keys, LATER + 60000 + SB_KEYS_LONE_MS), 0);
}

/* Text at three keys a second, with digits that are alone; then a person who reads. */
static void who_types_text_answers_nothing(void **state)
{
	static const char text[] = "pip install x==2.1.11; for i in 1 2 3 4";
	struct sb_keys keys = fenced();
	int64_t now = LATER + 2000;

	(void)state;
	for (const char *at = text; *at; at++, now += 470) {
		assert_int_equal(sb_keys_feed(&keys, at, 1, now), 0);
		if (at > text && sb_keys_tick(&keys, now + SB_KEYS_LONE_MS) >= '1')
			assert_false(*at >= '1' && *at <= '4');
	}
	assert_true(keys.typing && keys.hurried);
	now += SB_KEYS_TYPING_MS - 470;
	feed(&keys, "1", now - 1);
	assert_int_equal(sb_keys_tick(&keys, now + 500), 0);
	feed(&keys, "1", now - 1 + SB_KEYS_TYPING_MS);
	assert_int_equal(sb_keys_tick(&keys, now + SB_KEYS_TYPING_MS + SB_KEYS_LONE_MS), '1');
	keys = fenced(); /* typed for the command just before, or before the terminal has drawn it */
	keys.typing = true;
	feed(&keys, "1", LATER);
	assert_int_equal(sb_keys_tick(&keys, LATER + 500), 0);
	feed(&keys, "\033", LATER + 1000); /* a no is no text */
	assert_int_equal(sb_keys_tick(&keys, LATER + 1100), SB_KEYS_ESCAPE);
}

static void what_allows_more_waits(void **state)
{
	(void)state;
	for (const char *at = "24"; *at; at++) {
		struct sb_keys keys = fenced();

		sb_keys_feed(&keys, at, 1, NOW + SB_KEYS_WIDER_MS - 1);
		assert_int_equal(sb_keys_tick(&keys, NOW + 2000), 0);
		assert_true(keys.hurried);
		sb_keys_feed(&keys, at, 1, NOW + 2000);
		assert_int_equal(sb_keys_tick(&keys, NOW + 2000 + SB_KEYS_LONE_MS), *at);
	}
	assert_int_equal(counts("1"), '1'); /* and the neighbour does not */
}

static void before_the_fence_nothing_counts(void **state)
{
	char reply[80];
	struct sb_keys keys = begin(reply, sizeof reply);

	(void)state;
	assert_int_equal(feed(&keys, "1", NOW + 350), 0);
	assert_int_equal(sb_keys_tick(&keys, NOW + 450), 0);
	assert_int_equal(feed(&keys, "\003\004\033", NOW + 460), 0);
	assert_int_equal(sb_keys_tick(&keys, NOW + 499), 0);
	assert_int_equal(sb_keys_deadline_ms(&keys), NOW + 500);
	/* A terminal that does not reply opens nothing; a key is told, and that it is mute. */
	assert_int_equal(sb_keys_tick(&keys, NOW + 500), 0);
	assert_true(!keys.passed && keys.mute);
	feed(&keys, "1", NOW + 600);
	assert_int_equal(sb_keys_tick(&keys, NOW + 700), 0);
	feed(&keys, "3", NOW + 1000);
	assert_int_equal(sb_keys_tick(&keys, NOW + 1100), '3');
	assert_true(keys.mute && !keys.confirmed);
	/* Late is not never. */
	feed(&keys, reply, NOW + 1200);
	assert_true(keys.passed && keys.replied && !keys.mute);
}

static struct sb_keys mute(void)
{
	char reply[80];
	struct sb_keys keys = begin(reply, sizeof reply);

	sb_keys_tick(&keys, NOW + 500);
	assert_true(keys.mute);
	assert_int_equal(strlen(keys.code), SB_KEYS_CODE);
	return keys;
}

/* Type text, one key after the other; what the last one gives. */
static char typed(struct sb_keys *keys, const char *text)
{
	char key = '\0';

	for (size_t i = 0; text[i]; i++)
		key = sb_keys_feed(keys, text + i, 1, NOW + 1000 + 100 * (int64_t)i);
	return keys->confirmed ? key : '\0';
}

static void on_a_mute_terminal_the_code_counts(void **state)
{
	static const char *const wrong[] = {
		"1\r",      "yes\r",         "1%",      "%\r",    "1%1\r",          "11%\r",
		"1%\025\r", "\033[200~1%\r", "1 %\b\r", "1\r%\r", "\033]1%\r\033\\"};
	struct sb_keys keys;
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		const char *code = strchr(wrong[i], '%');

		keys = mute();
		snprintf(text, sizeof text, "%.*s%s%s",
			 (int)(code ? (size_t)(code - wrong[i]) : strlen(wrong[i])), wrong[i],
			 code ? keys.code : "", code ? code + 1 : "");
		if (typed(&keys, text))
			fail_msg("text %zu counts: %s", i, text);
	}
	keys = mute();
	snprintf(text, sizeof text, "1%s\r", keys.code);
	assert_int_equal(typed(&keys, text), '1');
	assert_int_equal(typed(&keys, "\r"), 0); /* once */
	keys = mute();
	snprintf(text, sizeof text, "1x\b\b4%s\n", keys.code);
	assert_int_equal(typed(&keys, text), '4');
	keys = mute();
	snprintf(text, sizeof text, "xx\r2%s\r", keys.code);
	assert_int_equal(typed(&keys, text), '2');
	keys = mute();
	assert_int_equal(feed(&keys, "\003", NOW + 600), SB_KEYS_INTERRUPT);
}

/* Time opens a fence only where nothing was asked. */
static void without_a_request_time_is_enough(void **state)
{
	struct sb_keys keys;

	(void)state;
	sb_keys_begin_blind(&keys, NOW, 60);
	assert_int_equal(sb_keys_tick(&keys, NOW + 59), 0);
	assert_false(keys.passed);
	sb_keys_tick(&keys, NOW + 60);
	assert_true(keys.passed && !keys.replied && !keys.mute);
}

/* Replies to the command's own requests, from every cell, open no fence. */
static void foreign_replies_do_not_open_it(void **state)
{
	char reply[80], other[32];
	struct sb_keys keys = begin(reply, sizeof reply);

	(void)state;
	for (unsigned row = 1; row <= 24; row++)
		for (unsigned column = 1; column <= 80; column++) {
			snprintf(other, sizeof other, "\033[%u;%uR", row, column);
			feed(&keys, other, NOW);
		}
	assert_false(keys.passed);
	feed(&keys, reply, NOW + 1);
	assert_true(keys.passed);
}

/* The beginning of the right reply, twice, does not hide it; something in between breaks it. */
static void the_reply_is_found_anywhere(void **state)
{
	char reply[80];
	struct sb_keys keys = begin(reply, sizeof reply), copy;
	size_t one = (size_t)(strchr(reply, 'R') - reply) + 1;

	(void)state;
	for (size_t cut = 0; cut <= strlen(reply); cut++) {
		copy = keys;
		feed(&copy, "1\033[1;1R", NOW);
		sb_keys_feed(&copy, reply, cut, NOW);
		assert_int_equal(copy.passed, cut == strlen(reply));
		feed(&copy, reply, NOW);
		assert_true(copy.passed);
	}
	copy = keys;
	sb_keys_feed(&copy, reply, one, NOW);
	feed(&copy, "x", NOW);
	feed(&copy, reply + one, NOW);
	assert_false(copy.passed);
	copy = keys;
	assert_int_equal(sb_keys_pass(&copy, reply, strlen(reply), NOW), strlen(reply));
	assert_int_equal(sb_keys_pass(&copy, "abc", 3, NOW), 0);
}

/* Two questions never ask for the same cells, except once in thousands of millions. */
static void cells_are_random(void **state)
{
	char first[80], second[80];

	(void)state;
	begin(first, sizeof first);
	begin(second, sizeof second);
	assert_string_not_equal(first, second);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_lone_key_counts),
	cmocka_unit_test(everything_else_does_not),
	cmocka_unit_test(silence_before_and_after),
	cmocka_unit_test(who_types_text_answers_nothing),
	cmocka_unit_test(what_allows_more_waits),
	cmocka_unit_test(before_the_fence_nothing_counts),
	cmocka_unit_test(on_a_mute_terminal_the_code_counts),
	cmocka_unit_test(without_a_request_time_is_enough),
	cmocka_unit_test(foreign_replies_do_not_open_it),
	cmocka_unit_test(the_reply_is_found_anywhere),
	cmocka_unit_test(cells_are_random),
};

UNIT_MAIN("keys")
