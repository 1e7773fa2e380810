/* test_draw.c - a question on every size of screen: nothing outside it, nothing foreign in it. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "consent/draw.h"

static const char *const hostile =
	"/home/anna/\033[2J\033[H\n\r\t\001\302\233x\342\200\256/漢字かな交じり文 😀😀😀/ä/"
	"a-very-long-directory-name-that-has-no-end/\377\376/authorized_keys";

/* Walk over one line: only our attributes and visible characters; returns its cells. */
static size_t line_cells(const char *at, const char *end)
{
	size_t cells = 0;

	while (at < end) {
		size_t step;

		if (*at == '\033') {
			assert_true(strncmp(at, "\033[0m", 4) == 0 ||
				    strncmp(at, "\033[1m", 4) == 0 ||
				    strncmp(at, "\033[7m", 4) == 0);
			at += 4;
			continue;
		}
		step = sb_utf8_visible(at, (size_t)(end - at));
		assert_true(step > 0);
		cells += sb_draw_cells(at, step);
		at += step;
	}
	return cells;
}

static void check_page(const struct sb_question *question, const struct sb_view *view)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(256 * 1024);
	const char *start = "\033[?25l\033[0m\033[2J", *end = "\033[?25h";
	const char *at;
	unsigned long last = 0;

	sb_draw_question(&out, question, view);
	assert_false(sb_buf_failed(&out));
	assert_int_equal(strncmp(out.data, start, strlen(start)), 0);
	assert_string_equal(out.data + out.length - strlen(end), end);
	out.data[out.length - strlen(end)] = '\0';
	at = out.data + strlen(start);
	while (*at) { /* CSI row ; 1 H, and the line up to the next of those */
		char *text;
		unsigned long row = strtoul(at + 2, &text, 10);
		const char *stop;

		assert_int_equal(strncmp(text, ";1H", 3), 0);
		text += 3;
		assert_int_equal(row, last + 1);
		assert_true(row <= view->rows);
		last = row;
		stop = strstr(text, ";1H");
		while (stop && *stop != '\033')
			stop--;
		if (!stop)
			stop = text + strlen(text);
		if (line_cells(text, stop) > (view->columns > 24 ? view->columns : 24))
			fail_msg("%ux%u, line %lu: %.*s", view->rows, view->columns, row,
				 (int)(stop - text), text);
		at = stop;
	}
	assert_true(last >= 1);
}

static void every_size(void **state)
{
	struct sb_question question = {.id = 1,
				       .verb = "write to",
				       .path = hostile,
				       .directory = "/home/anna/\033[31m",
				       .program = "\033]0;evil\a program with a long name",
				       .process = 4194304,
				       .rule = hostile,
				       .notes = {hostile},
				       .content = hostile,
				       .content_length = strlen(hostile)};

	(void)state;
	for (unsigned rows = 1; rows <= 50; rows++)
		for (unsigned columns = 1; columns <= 130; columns += columns < 50 ? 1 : 7) {
			struct sb_view view = {.rows = rows,
					       .columns = columns,
					       .word = "maple",
					       .count = 1 + rows % 3 * 100};

			question.target = columns % 2 ? hostile : NULL;
			question.directory = columns % 3 ? "/home/anna/\033[31m" : NULL;
			check_page(&question, &view);
		}
}

static void the_choices_are_always_there(void **state)
{
	struct sb_question question = {.id = 1,
				       .verb = "write to",
				       .path = hostile,
				       .directory = hostile,
				       .program = "vim",
				       .notes = {hostile},
				       .content = "a\nb\nc\nd\ne\nf\n",
				       .content_length = 12};

	(void)state;
	for (unsigned rows = 2; rows <= 40; rows++) {
		struct sb_view view = {.rows = rows, .columns = 80, .count = 1};
		SB_AUTO_BUF struct sb_buf out = SB_BUF(64 * 1024);

		sb_draw_question(&out, &question, &view);
		assert_non_null(strstr(out.data, "once"));
		assert_non_null(strstr(out.data, "deny"));
		assert_non_null(strstr(out.data, "always"));
		assert_non_null(strstr(out.data, "authorized_keys"));
	}
}

static void fitted_text_keeps_both_ends(void **state)
{
	(void)state;
	for (size_t cells = 1; cells < 200; cells++) {
		SB_AUTO_BUF struct sb_buf out = SB_BUF(4096);

		sb_draw_fitted(&out, hostile, cells);
		assert_true(sb_draw_cells(out.data, out.length) <= cells);
		line_cells(out.data, out.data + out.length);
		if (cells >= 40) {
			assert_int_equal(strncmp(out.data, "/home/anna/", 11), 0);
			assert_string_equal(out.data + out.length - 15, "authorized_keys");
		}
	}
}

/* What cannot be shown whole must not be shown in part. */
static void a_path_too_long_to_show_fails(void **state)
{
	SB_AUTO_FREE char *path = malloc(100001);
	struct sb_question question = {.id = 1, .verb = "write to", .path = path};
	struct sb_view view = {.rows = 24, .columns = 80, .count = 1};
	SB_AUTO_BUF struct sb_buf out = SB_BUF(256 * 1024);

	(void)state;
	memset(path, 'x', 100000);
	path[100000] = '\0';
	sb_draw_question(&out, &question, &view);
	assert_true(sb_buf_failed(&out));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_size),
	cmocka_unit_test(the_choices_are_always_there),
	cmocka_unit_test(fitted_text_keeps_both_ends),
	cmocka_unit_test(a_path_too_long_to_show_fails),
};

UNIT_MAIN("draw")
