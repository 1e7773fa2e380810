/* test_modes.c - the few modes that matter, read from any cut of the command's output. */
#include "unit.h"

#include <string.h>

#include "base/buf.h"
#include "consent/modes.h"

static struct sb_modes after(const char *bytes, size_t length)
{
	struct sb_modes modes;

	sb_modes_init(&modes);
	sb_modes_feed(&modes, bytes, length);
	return modes;
}

static bool same(const struct sb_modes *a, const struct sb_modes *b)
{
	return a->on == b->on && a->saved == b->saved && a->alternate == b->alternate &&
	       a->top == b->top && a->bottom == b->bottom && a->left == b->left &&
	       a->right == b->right && a->other_keys == b->other_keys && a->state == b->state &&
	       a->line_start == b->line_start && a->attributes_lost == b->attributes_lost &&
	       a->attributes_length == b->attributes_length &&
	       memcmp(a->attributes, b->attributes, a->attributes_length) == 0;
}

/* What leaving a question would set again. */
static void restores(const char *output, const char *expected)
{
	struct sb_modes modes = after(output, strlen(output));
	SB_AUTO_BUF struct sb_buf text = SB_BUF(4096);

	sb_modes_leave(&modes, &text);
	if (!strstr(text.data, expected))
		fail_msg("after %s: %s does not restore %s", output, text.data, expected);
}

static void restores_not(const char *output, const char *unexpected)
{
	struct sb_modes modes = after(output, strlen(output));
	SB_AUTO_BUF struct sb_buf text = SB_BUF(4096);

	sb_modes_leave(&modes, &text);
	if (strstr(text.data, unexpected))
		fail_msg("after %s: %s restores %s", output, text.data, unexpected);
}

static void modes_are_set_again(void **state)
{
	(void)state;
	restores("\033[?1002h", "\033[?1002h");
	restores("\033[?1000;1006;2004h", "\033[?1000h");
	restores("\033[?25l", "\033[?25l");
	restores("x", "\033[?2004l"); /* on during a question, off before */
	restores_not("\033[?2004h", "\033[?2004l");
	restores("x", "\033[?7h");
	restores_not("\033[?7l", "\033[?7h");
	restores("\033=", "\033=");
	restores_not("\033=\033>", "\033=");
	restores("\033[4h", "\033[4h");
	restores("\033[3;20r", "\033[3;20r");
	restores("\033[3r", "\033[3r");
	restores_not("\033[3;20r\033[r", "r");
	restores("\033[?69h\033[5;10s", "\033[?69h\033[5;10s");
	restores("\033[>4;2m", "\033[>4;2m");
	restores_not("\033[>4;2m\033[>4m", "\033[>4");
	restores_not("\033[?1002h\033[?1002l", "\033[?1002h");
	restores_not("\033[?1002h\033c", "\033[?1002h");
	restores_not("\033[4h\033[?25l\033[!p", "\033[4h");
	restores("\033[?1004h\033[?1004s\033[?1004l\033[?1004r", "\033[?1004h");
	restores("\033[1;31m", "\033[1;31m");
	restores("\033[1m\033[38;2;1;2;3m", "\033[1m\033[38;2;1;2;3m");
	restores_not("\033[1m\033[m", "\033[1m");
	restores("\033[1m\033[0;4m", "\033[0m\033[0;4m");
	restores_not("\033[1m\033[0;4m", "\033[1m");
	restores("x", "\033[2J\033[?1049l"); /* nothing of a question stays there */
	restores("\033[?1049h", "\0338");
	restores_not("\033[?1049h", "\033[?1049l");
	restores("\033[?47h\033[?47l", "\033[?1049l");
}

/* A question is drawn and answered on what was set: whatever it was, it is set for us. */
static void a_question_sets_what_it_needs(void **state)
{
	static const char *const needed[] = {
		"\030\033\\", "\033[?1003l", "\033[?1000l", "\033[?1004l", "\033[?2004h",
		"\033[?6l",   "\033[?7l",    "\033[?25h",   "\033[r",      "\033[0m",
		"\033(B",     "\033[4l",     "\033>"};
	struct sb_modes modes = after("", 0);
	SB_AUTO_BUF struct sb_buf text = SB_BUF(4096);

	(void)state;
	sb_modes_enter(&modes, &text);
	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
		assert_non_null(strstr(text.data, needed[i]));
}

static void strings_hide_what_they_hold(void **state)
{
	(void)state;
	restores_not("\033]0;[?1002h\a", "\033[?1002h");
	restores_not("\033P1$r[?1002h\a[?1002h\033\\", "\033[?1002h");
	restores("\033]0;title\a\033[?1002h", "\033[?1002h");
	restores("\033]0;title\033\\\033[?1002h", "\033[?1002h");
	restores("\033_x\033\\\033[?1002h", "\033[?1002h");
	restores("\033]0;title\030\033[?1002h", "\033[?1002h");
	restores("\033]0;title\302\234\033[?1002h", "\033[?1002h");
	restores("\302\233?1002h", "\033[?1002h");
	restores("\302\235x\a\033[?1002h", "\033[?1002h");
	restores("\033[?10\03302h\033[?1002h", "\033[?1002h");
	restores_not("\033[?10\03002h", "\033[?1002h");
	restores("\033[?10\n02h", "\033[?1002h"); /* a control inside acts, and it goes on */
}

static void safe_places(void **state)
{
	static const struct {
		const char *bytes;
		size_t safe;
	} cases[] = {
		{"abc", 3},
		{"abc\033", 3},
		{"abc\033[", 3},
		{"abc\033[31", 3},
		{"abc\033[31m", 8},
		{"abc\033[31mx\033]0;", 9},
		{"\033]0;ti", 0},
		{"\033]0;ti\033", 0},
		{"\033]0;ti\033\\", 8},
		{"\033(", 0},
		{"\033(B", 3},
		{"a\303", 1},
		{"a\303\244", 3},
		{"a\342\202", 1},
		{"a\342\202\254", 4},
		{"a\360\237\230", 1},
		{"a\360\237\230\200", 5},
		{"a\302", 1},
		{"a\302\240", 3},
		{"a\302\233", 1},
		{"\200\200\200", 3},
		{"a\342b", 3},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sb_modes modes;

		sb_modes_init(&modes);
		assert_int_equal(sb_modes_feed(&modes, cases[i].bytes, strlen(cases[i].bytes)),
				 cases[i].safe);
	}
}

/* Everything above in one stream. */
static const char stream[] =
	"plain\r\n\033[?1049h\033[2;22r\033[1;31mä€😀\033[0m\033]0;title\033\\\033[?1000;1002;1006h"
	"\033=\033[4h\033P+q544e\033\\\033[?2004h\302\2331;2H\033[>4;1m\033[?25l\302\240x\033#8"
	"\033[?69h\033[3;9s\033 G\033%@\342\202\033[m\033[?1s\033[38:2::1:2:3m\033[!p\n"
	"\033[?1049l\033[20h\033[5i\033[4i\033]52;c;AAAA\a\030\032\033\033[?1004h";

static void any_cut_reads_the_same(void **state)
{
	size_t length = sizeof stream - 1;
	struct sb_modes whole, bytewise;
	size_t safe = 0;

	(void)state;
	sb_modes_init(&whole);
	sb_modes_feed(&whole, stream, length);
	sb_modes_init(&bytewise);
	for (size_t i = 0; i < length; i++) {
		struct sb_modes first = after(stream, i), start;

		sb_modes_feed(&first, stream + i, length - i);
		assert_true(same(&first, &whole));
		/* What a prefix calls safe is the last place that single bytes call safe. */
		if (sb_modes_feed(&bytewise, stream + i, 1))
			safe = i + 1;
		sb_modes_init(&start);
		if (sb_modes_feed(&start, stream, i + 1) > safe)
			fail_msg("safe at byte %zu: beyond %zu", i, safe);
	}
	assert_true(same(&bytewise, &whole));
}

/* The terminal after a question is the terminal before it, for every beginning of the stream. */
static void enter_and_leave_undo_each_other(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof stream; i++) {
		struct sb_modes before = after(stream, i), now = before;
		SB_AUTO_BUF struct sb_buf text = SB_BUF(8192);

		if (before.state != SB_MODES_GROUND)
			continue;
		sb_modes_enter(&before, &text);
		sb_modes_leave(&before, &text);
		assert_false(sb_buf_failed(&text));
		sb_modes_feed(&now, text.data, text.length);
		now.line_start = before.line_start;
		if (!same(&before, &now))
			fail_msg("after %zu bytes", i);
	}
}

static void endless_sequences_are_harmless(void **state)
{
	struct sb_modes modes;

	(void)state;
	sb_modes_init(&modes);
	sb_modes_feed(&modes, "\033[", 2);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(sb_modes_feed(&modes, "1;", 2), 0);
	assert_int_equal(sb_modes_feed(&modes, "h", 1), 1);
	for (int i = 0; i < 1000; i++)
		sb_modes_feed(&modes, "\033[38;5;123m", 11);
	assert_true(modes.attributes_lost);
	sb_modes_feed(&modes, "\033[m", 3);
	assert_false(modes.attributes_lost);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(modes_are_set_again),
	cmocka_unit_test(a_question_sets_what_it_needs),
	cmocka_unit_test(strings_hide_what_they_hold),
	cmocka_unit_test(safe_places),
	cmocka_unit_test(any_cut_reads_the_same),
	cmocka_unit_test(enter_and_leave_undo_each_other),
	cmocka_unit_test(endless_sequences_are_harmless),
};

UNIT_MAIN("modes")
