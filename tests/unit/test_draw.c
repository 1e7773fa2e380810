/* test_draw.c - a question on every size of screen: nothing outside it, nothing foreign in it. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "consent/hosts.h"
#include "terminal/cells.h"
#include "terminal/draw.h"

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
			size_t length = strcspn(at, "m") + 1, known = 0;
			static const char *const ours[] = {"\033[0m",    "\033[1m",
							   "\033[7m",    "\033[1;97;44m",
							   "\033[1;32m", "\033[1;31m"};

			for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
				known += strlen(ours[i]) == length &&
					 strncmp(at, ours[i], length) == 0;
			assert_int_equal(known, 1);
			at += length;
			continue;
		}
		step = sb_utf8_visible(at, (size_t)(end - at));
		assert_true(step > 0);
		cells += sb_cells(at, step);
		at += step;
	}
	return cells;
}

/* Draw; false when the window is too small.  Lines of text, without attributes, go to lines. */
static bool check_page(const struct sb_question *question, const struct sb_view *view,
		       struct sb_buf *lines)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(1024 * 1024);
	const char *start = "\033[?25l\033[0m\033[2J", *end = "\033[?25h";
	SB_AUTO_FREE bool *blank = calloc(view->rows + 1, sizeof *blank);
	const char *at;
	bool fits;

	fits = sb_draw_question(&out, question, view);
	assert_false(sb_buf_failed(&out));
	assert_int_equal(strncmp(out.data, start, strlen(start)), 0);
	assert_string_equal(out.data + out.length - strlen(end), end);
	out.data[out.length - strlen(end)] = '\0';
	at = out.data + strlen(start);
	while (*at) { /* CSI row ; 1 H, and the line up to the next of those */
		char *text;
		unsigned long row = strtoul(at + 2, &text, 10);
		const char *stop;
		size_t cells;

		assert_int_equal(strncmp(text, ";1H", 3), 0);
		text += 3;
		assert_in_range(row, 1, view->rows);
		if (strncmp(text, "\033#5", 3) == 0) {
			at = text + 3;
			continue;
		}
		stop = strstr(text, ";1H");
		while (stop && *stop != '\033')
			stop--;
		if (!stop)
			stop = text + strlen(text);
		cells = line_cells(text, stop);
		if (cells > (fits || view->columns > 8 ? view->columns : 8))
			fail_msg("%ux%u, line %lu: %.*s", view->rows, view->columns, row,
				 (int)(stop - text), text);
		if (strspn(text, " ") >= view->columns)
			blank[row] = true;
		else
			assert_true(blank[row]); /* every cell was written before */
		for (; lines && text < stop; text++)
			if (*text == '\033')
				text += strcspn(text, "m");
			else if (*text != ' ')
				sb_buf_putc(lines, *text);
		at = stop;
	}
	for (unsigned row = 1; row <= view->rows; row++)
		assert_true(blank[row]);
	return fits;
}

/* The text without its blanks and line ends, as check_page gives it. */
static void squeeze(struct sb_buf *out, const char *text)
{
	sb_escape_append(out, text, strlen(text));
	out->length = 0;
	for (const char *at = out->data; *at; at++)
		if (*at != ' ')
			out->data[out->length++] = *at;
	out->data[out->length] = '\0';
}

static void shows(const struct sb_buf *lines, const char *text)
{
	SB_AUTO_BUF struct sb_buf wanted = SB_BUF(4096);

	squeeze(&wanted, text);
	if (!strstr(lines->data, wanted.data))
		fail_msg("%s is not in %s", wanted.data, lines->data);
}

/* On every screen: all of it, or nothing. */
static void every_size(void **state)
{
	struct sb_question question = {
		.id = 1,
		.verb = "write to",
		.path = hostile,
		.directory = "/home/anna/\033[31m",
		.project = hostile,
		.program = "\033]0;evil\a program with a long name",
		.process = 4194304,
		.rule = hostile,
		.notes = {"a note of many words that says what this is, why it "
			  "matters and where it leads",
			  "and another one"},
		.content = hostile,
		.content_length = strlen(hostile)};
	size_t shown = 0, refused = 0;

	(void)state;
	for (unsigned rows = 1; rows <= 50; rows++)
		for (unsigned columns = 1; columns <= 130; columns += columns < 50 ? 1 : 7) {
			struct sb_view view = {.rows = rows,
					       .columns = columns,
					       .word = "maple",
					       .colour = rows % 3,
					       .hurried = columns % 5 == 0,
					       .code = rows % 2 ? NULL : "kfmw",
					       .count = 1 + rows % 3 * 100};
			SB_AUTO_BUF struct sb_buf lines = SB_BUF(64 * 1024);

			question.target = columns % 2 ? "/home/anna/elsewhere" : NULL;
			question.directory = columns % 3 ? "/home/anna/\033[31m" : NULL;
			if (!check_page(&question, &view, &lines)) {
				refused++;
				shows(&lines, columns > 20  ? "Esc denies"
					      : columns > 8 ? "enlarge"
							    : "");
				assert_null(strstr(lines.data, "once"));
				continue;
			}
			shown++;
			shows(&lines, hostile);
			shows(&lines, question.notes[0]);
			shows(&lines, "maple");
			shows(&lines, "once");
			shows(&lines, view.code ? view.code : question.directory ? "3" : "2");
			if (question.target)
				shows(&lines, question.target);
		}
	assert_true(shown > 500 && refused > 500);
}

static void the_choices_are_always_there(void **state)
{
	struct sb_question question = {.id = 1,
				       .verb = "write to",
				       .path = "/home/anna/.ssh/authorized_keys",
				       .directory = "/home/anna/.ssh",
				       .program = "vim",
				       .notes = {"who may log in"},
				       .content_length = 100};
	char content[100]; /* of more lines than any of the screens has */

	(void)state;
	for (size_t i = 0; i < sizeof content; i++)
		content[i] = i % 2 ? '\n' : i > 80 ? ' ' : i > 78 ? 'Z' : 'a';
	question.content = content;
	for (unsigned rows = 1; rows <= 40; rows++) {
		struct sb_view view = {.rows = rows, .columns = 80, .count = 1};
		SB_AUTO_BUF struct sb_buf lines = SB_BUF(64 * 1024);

		/* bar, who, path, two facts, two of the content, choices and prompt */
		assert_int_equal(check_page(&question, &view, &lines), rows >= 10);
		if (rows < 10)
			continue;
		shows(&lines, "once");
		shows(&lines, "deny");
		shows(&lines, "always");
		shows(&lines, question.path);
		shows(&lines, question.notes[0]);
		shows(&lines, "there is more");
		if (rows >= 20) /* lines with nothing in them do not push the last one out */
			shows(&lines, "|Z");
	}
}

static void a_worker_is_told_what_is_opened(void **state)
{
	static const char *const words[] = {"everything", "all writing", "all deleting",
					    "all writing and deleting"};
	struct sb_question question = {.id = 1,
				       .verb = "overwrite",
				       .path = "/output/x",
				       .directory = "/output",
				       .program = "sh",
				       .worker = true};

	(void)state;
	for (unsigned columns = 30; columns <= 130; columns += 10)
		for (question.opens = 1; question.opens <= SB_OPENS_ALL; question.opens++) {
			struct sb_view view = {.rows = 24, .columns = columns, .count = 1};
			SB_AUTO_BUF struct sb_buf lines = SB_BUF(64 * 1024);

			assert_true(check_page(&question, &view, &lines));
			shows(&lines, columns < 40 && question.opens == SB_OPENS_ALL
					      ? "write+delete"
					      : words[question.opens]);
			assert_null(strstr(lines.data, "everything"));
		}
}

static void a_host_is_asked_about_as_such(void **state)
{
	struct sb_host_wish wish = {.process = 1};
	struct sb_question question = {.id = 1, .program = "curl", .process = 12};
	struct sb_host_words words;

	(void)state;
	assert_int_equal(sb_peer_parse("cdn.example:80", &wish.peer, NULL), SB_OK);
	assert_true(sb_address_parse("169.254.169.254", 15, &wish.found));
	sb_host_question(&wish, &words, &question);
	for (unsigned rows = 8; rows <= 30; rows++)
		for (unsigned columns = 30; columns <= 130; columns += 25) {
			struct sb_view view = {.rows = rows, .columns = columns, .count = 1};
			SB_AUTO_BUF struct sb_buf lines = SB_BUF(64 * 1024);

			if (!check_page(&question, &view, &lines))
				continue;
			shows(&lines, "connect to");
			shows(&lines, "cdn.example:80");
			shows(&lines, "cdn.example is 169.254.169.254: cloud metadata");
			shows(&lines, "always");
			assert_null(strstr(lines.data, "irectory"));
			assert_null(strstr(lines.data, "everything"));
		}
	{
		struct sb_view view = {.rows = 24, .columns = 100, .count = 1};
		SB_AUTO_BUF struct sb_buf lines = SB_BUF(64 * 1024);

		assert_true(check_page(&question, &view, &lines));
		shows(&lines, "allow 'cdn.example:80 at 169.254.169.254' for the rest of this run");
		shows(&lines,
		      "always allow 'cdn.example:80 at 169.254.169.254' (written to the config)");
	}
}

/* Where nobody knows what other letters do, none is sent. */
static void ascii_where_it_must_be(void **state)
{
	struct sb_question question = {.id = 1, .verb = "write to", .path = "/home/ä/漢"};
	struct sb_view view = {.rows = 24, .columns = 80, .count = 1, .ascii = true};
	SB_AUTO_BUF struct sb_buf lines = SB_BUF(64 * 1024);

	(void)state;
	assert_true(check_page(&question, &view, &lines));
	shows(&lines, "/home/\\u{e4}/\\u{6f22}");
	for (size_t i = 0; i < lines.length; i++)
		assert_true((unsigned char)lines.data[i] < 0x80);
}

/* A heap of marks would cover the lines above and below; one is part of a name. */
static void marks_do_not_come_in_heaps(void **state)
{
	struct sb_question question = {
		.id = 1, .verb = "write to", .path = "/a\u0308\u0308\u0308/\u0301x\u20e0"};
	struct sb_view view = {.rows = 24, .columns = 80, .count = 1};
	SB_AUTO_BUF struct sb_buf lines = SB_BUF(64 * 1024);

	(void)state;
	assert_true(check_page(&question, &view, &lines));
	assert_non_null(strstr(lines.data, "/a\u0308\\u{308}\\u{308}/\\u{301}x\\u{20e0}"));
}

static void fitted_text_keeps_both_ends(void **state)
{
	(void)state;
	for (size_t cells = 1; cells < 200; cells++) {
		SB_AUTO_BUF struct sb_buf out = SB_BUF(4096);

		sb_cells_put(&out, hostile, cells, false);
		assert_true(sb_cells(out.data, out.length) <= cells);
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
	SB_AUTO_BUF struct sb_buf out = SB_BUF(1024 * 1024);

	(void)state;
	memset(path, 'x', 100000);
	path[100000] = '\0';
	sb_draw_question(&out, &question, &view);
	assert_true(sb_buf_failed(&out));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_size),
	cmocka_unit_test(the_choices_are_always_there),
	cmocka_unit_test(a_worker_is_told_what_is_opened),
	cmocka_unit_test(a_host_is_asked_about_as_such),
	cmocka_unit_test(ascii_where_it_must_be),
	cmocka_unit_test(marks_do_not_come_in_heaps),
	cmocka_unit_test(fitted_text_keeps_both_ends),
	cmocka_unit_test(a_path_too_long_to_show_fails),
};

UNIT_MAIN("draw")
