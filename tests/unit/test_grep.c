/*
 * grep: by example, and compared with pcre2 itself given one line after the other.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <time.h>

#include "base/auto.h"
#include "base/buf.h"
#include "memory_source.h"
#include "unit.h"

/* ---- a search in one text, its result as text ---- */

struct output {
	struct sb_buf text;
	uint64_t matches;
	bool gaps; /* are marked */
	struct sb_grep_file last;
};

/* number:text of a match, number-text of context, "--" where lines are left out. */
static bool write_down(void *to, const struct sb_grep_file *file)
{
	struct output *out = to;
	uint64_t before = 0;

	for (size_t i = 0; i < file->line_count; i++) {
		const struct sb_grep_line *line = &file->lines[i];

		if (out->gaps && before && line->number != before + 1)
			sb_buf_puts(&out->text, "--\n");
		before = line->number;
		sb_buf_printf(&out->text, "%llu%c", (unsigned long long)line->number,
			      line->match ? ':' : '-');
		sb_buf_append(&out->text, line->text, line->length);
		sb_buf_putc(&out->text, '\n');
		assert_true(line->start <= line->end && line->end <= line->length);
	}
	out->matches += file->matches;
	out->last = *file;
	return true;
}

static struct sb_grep *compile(const char *pattern, unsigned flags)
{
	struct sb_grep *grep = NULL;
	struct sb_error err = {0};

	if (sb_grep_new(pattern, strlen(pattern), flags, &grep, &err) != SB_OK)
		fail_msg("'%s': %s", pattern, err.message);
	return grep;
}

static struct sb_search_end search(const struct memory_file *files, size_t count,
				   const char *pattern, unsigned flags, struct sb_grep_query query,
				   struct output *out)
{
	struct memory_tree tree = {.files = files, .count = count};
	struct sb_search_source source = {.backend = &memory_backend, .context = &tree};
	struct sb_grep *grep = compile(pattern, flags);
	struct sb_search_end end;
	struct sb_error err = {0};

	query.size = sizeof(query);
	query.grep = grep;
	*out = (struct output){.text = SB_BUF(1 << 26), .gaps = query.before || query.after};
	if (sb_search_grep(&source, &query, write_down, out, &end, &err) != SB_OK)
		fail_msg("%s", err.message);
	assert_int_equal(atomic_load(&tree.open), 0);
	sb_grep_free(grep);
	return end;
}

static void expect(const char *text, const char *pattern, unsigned flags,
		   struct sb_grep_query query, const char *expected)
{
	struct memory_file file = {.path = "file", .text = text};
	struct output out;

	search(&file, 1, pattern, flags, query, &out);
	if (strcmp(out.text.data, expected) != 0)
		fail_msg("'%s' in '%s':\n%sinstead of\n%s", pattern, text, out.text.data, expected);
	sb_buf_done(&out.text);
}

static const struct sb_grep_query plain;

static void F1_grep_finds_lines(void **state)
{
	(void)state;
	expect("one\ntwo\nthree\n", "t", 0, plain, "2:two\n3:three\n");
	expect("one\ntwo\nthree", "e$", 0, plain, "1:one\n3:three\n");
	expect("one\r\ntwo\r\n", "e$", 0, plain, "1:one\n");
	expect("one\n\ntwo\n", "^$", 0, plain, "2:\n");
	expect("one", "$", 0, plain, "1:one\n");
	expect("", "", 0, plain, "");
	expect("\n", "", 0, plain, "1:\n");
	expect("a\nb\n", "", 0, plain, "1:a\n2:b\n");
	expect("a.b\naxb\n", "a.b", SB_GREP_FIXED, plain, "1:a.b\n");
	expect("a.b\naxb\n", "a.b", 0, plain, "1:a.b\n2:axb\n");
	expect("Foo\nfoo\n", "FOO", SB_GREP_NOCASE, plain, "1:Foo\n2:foo\n");
	expect("Foo\nfoo\n", "foo", SB_GREP_SMART_CASE, plain, "1:Foo\n2:foo\n");
	expect("Foo\nfoo\n", "Foo", SB_GREP_SMART_CASE, plain, "1:Foo\n");
	expect("foo bar\nfoobar\n", "foo", SB_GREP_WORD, plain, "1:foo bar\n");
	expect("a+b c\na+bc\n", "+b", SB_GREP_WORD | SB_GREP_FIXED, plain, "");
	expect("a +b c\na+bc\n", "+b", SB_GREP_WORD | SB_GREP_FIXED, plain, "1:a +b c\n");
	/* What could run over line ends does not. */
	expect("a\nb\n", "a\\sb", 0, plain, "");
	expect("a\nb\n", "a[^x]b", 0, plain, "");
	expect("a x\nb\n", "[^y]+x", 0, plain, "1:a x\n");
	expect("a\nb\n", "a\\nb", 0, plain, "");
	expect("ab\nb\n", "(?<=a)b", 0, plain, "1:ab\n");
	expect("ab\nb\n", "a(?!\\n)", 0, plain, "1:ab\n");
	expect("a\nb\n", "\\Ab", 0, plain, "2:b\n");
	expect("aab\naa\n", "a++$", 0, plain, "2:aa\n");
}

static void grep_knows_characters(void **state)
{
	(void)state;
	expect("caf\xc3\xa9\n", "caf.$", 0, plain, "1:caf\xc3\xa9\n");
	expect("caf\xe9\n", "caf.$", 0, plain, "1:caf\xe9\n"); /* Latin-1 */
	expect("CAF\xc3\x89\n", "caf\xc3\xa9", SB_GREP_NOCASE, plain, "1:CAF\xc3\x89\n");
	/* The Kelvin sign is a k in another case. */
	expect("5 \xe2\x84\xaa\n", "k", SB_GREP_NOCASE, plain, "1:5 \xe2\x84\xaa\n");
	expect("\xe2\x84\xaaid\n", "kid", SB_GREP_NOCASE, plain, "1:\xe2\x84\xaaid\n");
	expect("\xf0\x9f\x98\x80\n", "\\x{1F600}", 0, plain, "1:\xf0\x9f\x98\x80\n");
	expect("\xef\xbb\xbfone\n", "^one", 0, plain, "1:one\n"); /* the mark is no text */
}

static void grep_decodes_utf16(void **state)
{
	static const char little[] = "\xff\xfeo\0n\0e\0\n\0\x3d\xd8\x00\xde!\0\n\0";
	static const char big[] = "\xfe\xff\0o\0n\0e\0\n\xd8\x3d\xde\x00\0!\0\n";
	struct memory_file files[] = {{"big", big, sizeof(big) - 1},
				      {"little", little, sizeof(little) - 1}};
	struct output out;

	(void)state;
	search(files, 2, "!", 0, plain, &out);
	assert_string_equal(out.text.data, "2:\xf0\x9f\x98\x80!\n2:\xf0\x9f\x98\x80!\n");
	assert_true(out.last.utf16);
	sb_buf_done(&out.text);
}

static void long_utf16_is_decoded_in_pieces(void **state)
{
	struct sb_buf raw = SB_BUF(1 << 24);
	struct memory_file file = {.path = "f"};
	struct output out;

	(void)state;
	sb_buf_append(&raw, "\xff\xfe", 2);
	for (int i = 0; i < 40000; i++)
		sb_buf_append(&raw, "\xac\x20\x3d\xd8\x00\xde\n\0", 8); /* euro, a face */
	sb_buf_append(&raw, "e\0n\0d\0", 6);
	file.text = raw.data;
	file.length = raw.length;
	search(&file, 1, "^end|^\xe2\x82\xac\xf0\x9f\x98\x80$", 0,
	       (struct sb_grep_query){.max_per_file = 100000}, &out);
	assert_int_equal(out.matches, 40001);
	assert_string_equal(out.text.data + out.text.length - 10, "40001:end\n");
	sb_buf_done(&out.text);
	sb_buf_done(&raw);
}

static void grep_shows_context(void **state)
{
	const char *text = "1\n2\nx\n4\n5\n6\n7\nx\nx\n10\n";

	(void)state;
	expect(text, "x", 0, (struct sb_grep_query){.before = 1, .after = 1},
	       "2-2\n3:x\n4-4\n--\n7-7\n8:x\n9:x\n10-10\n");
	expect(text, "x", 0, (struct sb_grep_query){.before = 9, .after = 9},
	       "1-1\n2-2\n3:x\n4-4\n5-5\n6-6\n7-7\n8:x\n9:x\n10-10\n");
	expect(text, "x", 0, (struct sb_grep_query){.after = 2},
	       "3:x\n4-4\n5-5\n--\n8:x\n9:x\n10-10\n");
	expect(text, "x", 0, (struct sb_grep_query){.before = 1, .after = 1, .max_per_file = 1},
	       "2-2\n3:x\n4-4\n");
	expect(text, "x", 0, (struct sb_grep_query){.before = 1, .after = 1, .max_results = 2},
	       "2-2\n3:x\n4-4\n--\n7-7\n8:x\n");
}

static void grep_spans_lines_when_asked(void **state)
{
	(void)state;
	expect("a\nb\nc\n", "a\\nb", SB_GREP_MULTILINE, plain, "1:a\n2:b\n");
	expect("x {\n\ty\n}\nz\n", "\\{[^}]*\\}", SB_GREP_MULTILINE,
	       (struct sb_grep_query){.after = 1}, "1:x {\n2:\ty\n3:}\n4-z\n");
	expect("a\n", "\\z", SB_GREP_MULTILINE, plain, "");
}

static void limits_are_kept_and_told(void **state)
{
	struct memory_file files[] = {{"a", "x\nx\nx\n", 0}, {"b", "x\n", 0}, {"c", "x\nx\n", 0}};
	struct sb_search_end end;
	struct output out;

	(void)state;
	end = search(files, 3, "x", 0, plain, &out);
	assert_true(end.why == SB_SEARCH_DONE && end.results == 6 && end.files == 3);
	sb_buf_done(&out.text);
	end = search(files, 3, "x", 0, (struct sb_grep_query){.max_results = 6}, &out);
	assert_true(end.why == SB_SEARCH_DONE && end.results == 6);
	sb_buf_done(&out.text);
	end = search(files, 3, "x", 0, (struct sb_grep_query){.max_results = 5}, &out);
	assert_true(end.why == SB_SEARCH_LIMIT && end.results == 5 && out.last.more);
	assert_string_equal(out.text.data, "1:x\n2:x\n3:x\n1:x\n1:x\n");
	sb_buf_done(&out.text);
	end = search(files, 3, "x", 0, (struct sb_grep_query){.max_results = 3}, &out);
	assert_true(end.why == SB_SEARCH_LIMIT && end.results == 3 && !out.last.more);
	sb_buf_done(&out.text);
	end = search(files, 3, "x", 0, (struct sb_grep_query){.want = SB_GREP_FILES}, &out);
	assert_true(end.results == 3 && out.last.matches == 1);
	sb_buf_done(&out.text);
	end = search(files, 3, "x", 0, (struct sb_grep_query){.want = SB_GREP_COUNTS}, &out);
	assert_true(end.results == 3 && out.matches == 6 && out.last.line_count == 0);
	sb_buf_done(&out.text);
}

static void long_lines_are_cut_around_the_match(void **state)
{
	enum { LENGTH = 100000 };
	SB_AUTO_FREE char *text = malloc(LENGTH + 1);
	struct memory_file file = {.path = "f", .text = text};
	struct output out;

	(void)state;
	memset(text, 'a', LENGTH);
	text[LENGTH] = '\0';
	memcpy(text + 60000, "needle", 6);
	search(&file, 1, "needle", 0, (struct sb_grep_query){.max_line_bytes = 40}, &out);
	assert_non_null(strstr(out.text.data, "needle"));
	assert_true(out.text.length < 60);
	sb_buf_done(&out.text);
	memset(text + 60000, 'a', 6);
	memcpy(text, "needle", 6);
	search(&file, 1, "needle", 0, (struct sb_grep_query){.max_line_bytes = 40}, &out);
	assert_memory_equal(out.text.data, "1:needleaaa", 11);
	sb_buf_done(&out.text);
	memcpy(text + LENGTH - 6, "ending", 6);
	search(&file, 1, "ending", 0, (struct sb_grep_query){.max_line_bytes = 40}, &out);
	assert_string_equal(out.text.data, "1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaending\n");
	sb_buf_done(&out.text);
}

static void binary_files_are_passed_over(void **state)
{
	struct memory_file files[] = {{"binary", "x\0x\n", 4}, {"text", "x\n", 0}};
	struct output out;
	struct sb_search_end end;

	(void)state;
	end = search(files, 2, "x", 0, plain, &out);
	assert_true(end.binary == 1 && out.matches == 1);
	sb_buf_done(&out.text);
}

/* The window moves many times, and every match has its number and its context. */
static void large_files_keep_their_line_numbers(void **state)
{
	enum { LINES = 200000 };
	struct sb_buf text = SB_BUF(1 << 26);
	struct memory_file file = {.path = "f"};
	struct output out;
	uint64_t seen = 0;

	(void)state;
	for (int i = 1; i <= LINES; i++)
		sb_buf_printf(&text, "line %d%s\n", i, i % 5000 == 0 ? " needle" : "");
	file.text = text.data;
	file.length = text.length;
	search(&file, 1, "needle", 0, (struct sb_grep_query){.before = 2, .after = 2}, &out);
	assert_int_equal(out.matches, LINES / 5000);
	assert_memory_equal(out.text.data, "4998-line 4998\n", 15);
	sb_buf_done(&out.text);
	search(&file, 1, "le (\\d+) n", 0, plain, &out);
	assert_int_equal(out.matches, 0);
	sb_buf_done(&out.text);
	search(&file, 1, "^line \\d+ needle$", 0, (struct sb_grep_query){.before = 1, .after = 1},
	       &out);
	for (char *at = out.text.data; *at;) {
		unsigned long number = strtoul(at, &at, 10), again = strtoul(at + 6, &at, 10);

		assert_int_equal(number, again);
		seen++;
		at = strchr(at, '\n') + 1;
		at += strncmp(at, "--\n", 3) == 0 ? 3 : 0;
	}
	assert_int_equal(seen, LINES / 5000 * 3 - 1); /* the last line has no line after it */
	sb_buf_done(&out.text);
	sb_buf_done(&text);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void pathological_patterns_end(void **state)
{
	static const char *const patterns[] = {"(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){20}$",
					       "^(([a-z])+.)+[A-Z]([a-z])+$"};
	struct sb_buf text = SB_BUF(1 << 20);
	struct memory_file files[2] = {{.path = "bad"}, {.path = "good", .text = "aaa\n"}};

	(void)state;
	for (int i = 0; i < 20; i++)
		sb_buf_puts(&text,
			    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n");
	files[0].text = text.data;
	for (size_t i = 0; i < COUNT(patterns); i++) {
		double start = seconds();
		struct output out;
		struct sb_search_end end = search(files, 2, patterns[i], 0, plain, &out);

		if (seconds() - start > 10)
			fail_msg("'%s' took %.1f s", patterns[i], seconds() - start);
		assert_true(end.why == SB_SEARCH_DONE);
		sb_buf_done(&out.text);
	}
	sb_buf_done(&text);
}

static void costly_patterns_end_the_search(void **state)
{
	struct sb_buf text = SB_BUF(1 << 20);
	struct memory_file file = {.path = "bad"};
	struct output out;
	struct sb_search_end end;

	(void)state;
	for (int i = 0; i < 1000; i++)
		sb_buf_puts(&text,
			    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n");
	file.text = text.data;
	end = search(&file, 1, "(a+)+$", 0, plain, &out);
	assert_true(end.why == SB_SEARCH_COSTLY && end.costly > 0);
	sb_buf_done(&out.text);
	sb_buf_done(&text);
}

static void what_is_no_pattern_is_refused(void **state)
{
	static const char *const patterns[] = {"(", "[a", "a)(b", "*", "\\C", "(?<n>a)(?<n>b)"};

	(void)state;
	for (size_t i = 0; i < COUNT(patterns); i++) {
		for (unsigned flags = 0; flags <= SB_GREP_WORD; flags += SB_GREP_WORD) {
			struct sb_grep *grep = NULL;
			struct sb_error err = {0};

			assert_int_equal(
				sb_grep_new(patterns[i], strlen(patterns[i]), flags, &grep, &err),
				SB_E_INVALID);
			assert_true(err.message[0] && !grep);
		}
	}
}

/* ---- against pcre2, line by line ---- */

static void random_text(struct sb_buf *text)
{
	static const char *const bits[] = {
		"a",   "b",        "ab",   "A",  "B", "foo", "Foo",
		"bar", " ",        "_",    "\t", "1", "22",  ".",
		"k",   "\xc3\xa9", "\xe9", "\r", "x", "-",   "\xe2\x84\xaa",
		"S"};

	for (unsigned lines = unit_below(40); lines > 0; lines--) {
		for (unsigned i = unit_below(12); i > 0; i--)
			sb_buf_puts(text, bits[unit_below(COUNT(bits))]);
		sb_buf_puts(text, unit_below(6) ? "\n" : "\r\n");
	}
	if (unit_below(2))
		sb_buf_puts(text, "foo bar");
}

static void random_expression(struct sb_buf *pattern)
{
	static const char *const atoms[] = {
		"a",      "b",       "foo",    "bar",    "Foo",         ".",        "\\w",
		"\\s",    "\\d",     "\\W",    "\\D",    "\\S",         "[ab]",     "[^a]",
		"[^\\s]", "[a-z]",   "[]a]",   "[^]a]",  "\\b",         "^",        "$",
		"(a|b)",  "(?:foo)", "(fo+)",  "\\.",    "\xc3\xa9",    "k",        "s",
		"_",      "(?=a)",   "(?<!b)", "|",      "\\h",         "\\B",      "[\\s-]",
		"x{2}",   "\\x61",   "\\t",    "(?i:b)", "[[:alpha:]]", "\\Qa.\\E", "[\\w.]",
		"\\-"};
	static const char *const repeats[] = {"*",  "+",  "?",   "{1,2}", "{0,1}",
					      "*?", "++", "{2}", "{0}"};

	for (unsigned i = unit_below(5) + 1; i > 0; i--) {
		sb_buf_puts(pattern, atoms[unit_below(COUNT(atoms))]);
		if (unit_below(4) == 0)
			sb_buf_puts(pattern, repeats[unit_below(COUNT(repeats))]);
	}
}

static bool is_utf8(const char *text, size_t length)
{
	pcre2_code *any =
		pcre2_compile((PCRE2_SPTR) "", 0, PCRE2_UTF, &(int){0}, &(size_t){0}, NULL);
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	bool valid = pcre2_match(any, (PCRE2_SPTR)text, length, 0, 0, data, NULL) >= 0;

	pcre2_match_data_free(data);
	pcre2_code_free(any);
	return valid;
}

/* The lines that pcre2 finds when it is given each alone. */
static bool plainly(const struct sb_buf *text, const char *pattern, uint32_t options,
		    struct sb_buf *out)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	pcre2_code *codes[2];
	const char *at = text->data, *end = at + text->length;

	pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
	for (int i = 0; i < 2; i++)
		codes[i] =
			pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
				      options | PCRE2_MULTILINE | (i ? PCRE2_UTF | PCRE2_UCP : 0),
				      &(int){0}, &(size_t){0}, context);
	for (unsigned number = 1; codes[0] && codes[1] && at < end; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);

		if (length && at[length - 1] == '\r')
			length--;
		if (pcre2_match(codes[is_utf8(at, length)], (PCRE2_SPTR)at, length, 0, 0, data,
				NULL) >= 0) {
			sb_buf_printf(out, "%u:", number);
			sb_buf_append(out, at, length);
			sb_buf_putc(out, '\n');
		}
		at = newline ? newline + 1 : end;
	}
	pcre2_code_free(codes[0]);
	pcre2_code_free(codes[1]);
	pcre2_match_data_free(data);
	pcre2_compile_context_free(context);
	return codes[0] && codes[1];
}

static void random_patterns_match_as_line_by_line(void **state)
{
	(void)state;
	unit_seed();
	for (int i = 0; i < 4000; i++) {
		SB_AUTO_BUF struct sb_buf text = SB_BUF(1 << 20);
		SB_AUTO_BUF struct sb_buf pattern = SB_BUF(1 << 10);
		SB_AUTO_BUF struct sb_buf expected = SB_BUF(1 << 20);
		struct memory_file file = {.path = "f"};
		bool fold = unit_below(3) == 0;
		struct output out;

		random_text(&text);
		random_expression(&pattern);
		if (!text.length ||
		    !plainly(&text, pattern.data, fold ? PCRE2_CASELESS : 0, &expected))
			continue;
		file.text = text.data;
		file.length = text.length;
		search(&file, 1, pattern.data, fold ? SB_GREP_NOCASE : 0, plain, &out);
		if (strcmp(out.text.data, expected.data) != 0)
			fail_msg("'%s'%s in\n%s\n:\n%sinstead of\n%s", pattern.data,
				 fold ? " (either case)" : "", text.data, out.text.data,
				 expected.data);
		sb_buf_done(&out.text);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(F1_grep_finds_lines),
	cmocka_unit_test(grep_knows_characters),
	cmocka_unit_test(grep_decodes_utf16),
	cmocka_unit_test(long_utf16_is_decoded_in_pieces),
	cmocka_unit_test(grep_shows_context),
	cmocka_unit_test(grep_spans_lines_when_asked),
	cmocka_unit_test(limits_are_kept_and_told),
	cmocka_unit_test(long_lines_are_cut_around_the_match),
	cmocka_unit_test(binary_files_are_passed_over),
	cmocka_unit_test(large_files_keep_their_line_numbers),
	cmocka_unit_test(pathological_patterns_end),
	cmocka_unit_test(costly_patterns_end_the_search),
	cmocka_unit_test(what_is_no_pattern_is_refused),
	cmocka_unit_test(random_patterns_match_as_line_by_line),
};

UNIT_MAIN("grep")
