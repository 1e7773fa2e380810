/* test_modes.c - the few modes that matter: off for a question, and on again. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "terminal/sieve.h"

static struct sb_modes after(const char *output)
{
	SB_AUTO_FREE char *copy = strdup(output);
	struct sb_sieve sieve;
	size_t held;

	sb_sieve_init(&sieve);
	sb_sieve_run(&sieve, copy, strlen(copy), &held);
	return sieve.modes;
}

static bool same(const struct sb_modes *a, const struct sb_modes *b)
{
	return a->on == b->on && a->saved == b->saved && a->alternate == b->alternate &&
	       a->top == b->top && a->bottom == b->bottom && a->left == b->left &&
	       a->right == b->right && a->other_keys == b->other_keys &&
	       a->pictures == b->pictures && memcmp(a->sets, b->sets, 2) == 0 &&
	       a->shifted == b->shifted && a->attributes_lost == b->attributes_lost &&
	       a->attributes_length == b->attributes_length &&
	       memcmp(a->attributes, b->attributes, a->attributes_length) == 0;
}

/* What leaving a question would set again. */
static void restores(const char *output, const char *expected)
{
	struct sb_modes modes = after(output);
	SB_AUTO_BUF struct sb_buf text = SB_BUF(4096);

	sb_modes_leave(&modes, &text);
	if (!strstr(text.data, expected))
		fail_msg("after %s: %s does not restore %s", output, text.data, expected);
}

static void restores_not(const char *output, const char *unexpected)
{
	struct sb_modes modes = after(output);
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
	restores("\033)0\016", "\033[?1049l\033(B\033)0\016");
	restores("\033)0\016\033[!p", "\033[?1049l\033(B\033)B\017");
	restores("x", "\033[2J\033[?1049l"); /* nothing of a question stays there */
	restores("\033[?1049h", "\0338");
	restores_not("\033[?1049h", "\033[?1049l");
	restores("\033[?47h\033[?47l", "\033[?1049l");
}

/* A question is drawn and answered on what was set: whatever it was, it is set for us. */
static void a_question_sets_what_it_needs(void **state)
{
	static const char *const needed[] = {
		"\030\033\\",  "\033[?1003l", "\033[?1000l", "\033[?1004l", "\033[?2004h",
		"\033[?6l",    "\033[?7l",    "\033[?25h",   "\033[r",      "\033[10m\033[0m",
		"\033(B",      "\033[4l",     "\033>",       "\033<",       "\033[4i",
		"\033[?2026l", "\033[?69l",   "\033W",       "\033[0\"q",   "\033%G"};
	struct sb_modes modes = after("");
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
	restores_not("\033[?10\n02h", "\033[?1002h"); /* a control inside: dropped */
	restores("\033[?001002h", "\033[?1002h");
	restores_not("\033]0;title\033[?1002h", "\033[?1002h"); /* gives its place to the end */
}

/* Pictures above the letters go, and a link ends; where there were none, nothing is said. */
static void what_stands_above_goes(void **state)
{
	static const struct {
		const char *output, *sent;
		bool is;
	} cases[] = {
		{"x", "\033_G", false},
		{"\033_Ga=T;AAAA\033\\", "\033_Ga=d,d=a,q=2\033\\", true},
		{"\033_Ga=T;AAAA\033\\\033c", "\033_Ga=d,d=a,q=2\033\\", true},
		{"\033]8;;http://x\a", "\033]8;;\033\\", true},
		{"\033]8;;http://x\ay\033]8;;\a", "\033]8;;\033\\", false},
		{"x", "\033[>4;0m", false},
		{"\033[>4;2m", "\033[>4;0m", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sb_modes modes = after(cases[i].output);
		SB_AUTO_BUF struct sb_buf text = SB_BUF(4096);

		sb_modes_enter(&modes, &text);
		assert_int_equal(strstr(text.data, cases[i].sent) != NULL, cases[i].is);
	}
}

/* What a question sends, as a terminal would read it: what it needs passes the sieve as well. */
static struct sb_modes then(const struct sb_modes *before, const struct sb_buf *sent)
{
	SB_AUTO_FREE char *copy = strdup(sent->data);
	struct sb_sieve sieve = {.modes = *before};
	size_t held;

	sb_sieve_run(&sieve, copy, strlen(copy), &held);
	assert_int_equal(held, 0);
	return sieve.modes;
}

/* The terminal after a question is the terminal before it. */
static void enter_and_leave_undo_each_other(void **state)
{
	static const char *const outputs[] = {
		"plain\r\n",
		"\033[?1049h\033[2;22r\033[1;31mä€😀",
		"\033[?1000;1002;1006h\033=\033[4h",
		"\033[?2004h\302\2331;2H\033[>4;1m\033[?25l\302\240x",
		"\033[?69h\033[3;9s\033[38:2::1:2:3m\033[?6h\033[?7l",
		"\033[20h\033[?5h\033[?9h\033[?1004h\033[?2026h\033[?2031;2048;9001h",
		"\033[?1049h\033[?1003h\033[?25s\033[?25l\033[!p",
	};

	(void)state;
	for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
		struct sb_modes before = after(outputs[i]), now;
		SB_AUTO_BUF struct sb_buf text = SB_BUF(8192);

		sb_modes_enter(&before, &text);
		sb_modes_leave(&before, &text);
		assert_false(sb_buf_failed(&text));
		now = then(&before, &text);
		if (!same(&before, &now))
			fail_msg("after output %zu", i);
		/* nor do lines change anything, but that they are on the main screen */
		text.length = 0;
		sb_modes_seen(&before, 80, &text);
		sb_buf_puts(&text, "a line\r\n");
		sb_modes_unseen(&before, &text);
		now = then(&before, &text);
		if (!same(&before, &now))
			fail_msg("with lines after output %zu", i);
	}
}

static void too_many_attributes_are_known_to_be(void **state)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(4096);
	struct sb_modes modes;

	(void)state;
	for (int i = 0; i < 100; i++)
		sb_buf_puts(&text, "\033[38;5;123m");
	modes = after(text.data);
	assert_true(modes.attributes_lost);
	sb_buf_puts(&text, "\033[m");
	modes = after(text.data);
	assert_false(modes.attributes_lost);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(modes_are_set_again),
	cmocka_unit_test(a_question_sets_what_it_needs),
	cmocka_unit_test(strings_hide_what_they_hold),
	cmocka_unit_test(what_stands_above_goes),
	cmocka_unit_test(enter_and_leave_undo_each_other),
	cmocka_unit_test(too_many_attributes_are_known_to_be),
};

UNIT_MAIN("modes")
