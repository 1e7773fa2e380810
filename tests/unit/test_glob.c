/*
 * Globs: the language by example, against fnmatch(3) and against trying everything.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../lib/naive_wildcard.h"
#include "base/buf.h"
#include "tree/braces.h"
#include "search/search.h"
#include "tree/wildcard.h"
#include "unit.h"

static bool matches(const char *pattern, unsigned flags, const char *path, bool directory)
{
	struct sb_glob *glob = NULL;
	struct sb_error err = {0};
	bool yes;

	if (sb_glob_new(pattern, flags, &glob, &err) != SB_OK)
		fail_msg("'%s': %s", pattern, err.message);
	yes = sb_glob_match(glob, path, directory);
	sb_glob_free(glob);
	return yes;
}

static void F1_glob_by_example(void **state)
{
	static const struct {
		const char *pattern, *path;
		bool yes;
	} examples[] = {
		{"*.c", "a.c", true},
		{"*.c", "src/a.c", false},
		{"*", ".hidden", true},
		{"**", "a/b/c", true},
		{"**/*.c", "a.c", true},
		{"**/*.c", "x/y/a.c", true},
		{"src/**", "src/a", true},
		{"src/**", "src", false},
		{"src/**/a.c", "src/a.c", true},
		{"src/**/a.c", "src/x/y/a.c", true},
		{"src/**/a.c", "srcx/a.c", false},
		{"src/**x/a.c", "src/yx/a.c", true},
		{"src/**x/a.c", "src/y/x/a.c", false},
		{"***/a", "x/a", true},
		{"***/a", "x/y/a", false},
		{"a?c", "abc", true},
		{"a?c", "a/c", false},
		{"a?c",
		 "a\xc3\xa9"
		 "c",
		 true},
		{"[a-c]", "b", true},
		{"[!a-c]", "b", false},
		{"[^a-c]", "d", true},
		{"[!a]", "/", false},
		{"[\xc3\xa0-\xc3\xbc]", "\xc3\xa9", true},
		{"[[:digit:]]*", "1a", true},
		{"[]a]", "]", true},
		{"[a-", "[a-", true},
		{"\\*", "*", true},
		{"\\*", "a", false},
		{"\\{a,b}", "{a,b}", true},
		{"*.{c,h}", "a.h", true},
		{"*.{c,h}", "a.o", false},
		{"{src,lib}/**/*.{c,h}", "lib/x/a.c", true},
		{"{a,{b,c}d}e", "cde", true},
		{"{a,{b,c}d}e", "ce", false},
		{"a{,b}", "a", true},
		{"{a/b,c}/d", "a/b/d", true},
		{"{a}", "{a}", true},
		{"{a,b", "{a,b", true},
		{"f{1..3}", "f2", true},
		{"f{1..3}", "f4", false},
		{"f{01..10..3}", "f04", true},
		{"f{01..10..3}", "f4", false},
		{"f{3..1}", "f2", true},
		{"f{a..e..2}", "fc", true},
		{"f{a..e..2}", "fb", false},
		{"./a//b", "a/b", true},
		{"a/./b", "a/b", true},
		{"file..txt", "file..txt", true}, /* F3: no climbing in these */
		{"..foo/*", "..foo/a", true},
		{"a b\nc", "a b\nc", true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++)
		if (matches(examples[i].pattern, 0, examples[i].path, false) != examples[i].yes)
			fail_msg("'%s' and '%s'", examples[i].pattern, examples[i].path);
}

static void flags_change_the_language(void **state)
{
	(void)state;
	assert_true(matches("a/", 0, "a", true));
	assert_false(matches("a/", 0, "a", false));
	assert_true(matches("*.C", SB_GLOB_NOCASE, "x.c", false));
	assert_true(matches("[a-c]X", SB_GLOB_NOCASE, "Bx", false));
	assert_false(matches("[!a-c]", SB_GLOB_NOCASE, "B", false));
	assert_true(matches("*.c", SB_GLOB_NAME, "x/y/a.c", false));
	assert_false(matches("y/*.c", SB_GLOB_NAME, "x/y/a.c", false));
	assert_true(matches("!*.c", SB_GLOB_MINIMATCH, "a.h", false));
	assert_false(matches("!*.c", SB_GLOB_MINIMATCH, "a.c", false));
	assert_true(matches("!!*.c", SB_GLOB_MINIMATCH, "a.c", false));
	assert_false(matches("#a", SB_GLOB_MINIMATCH, "#a", false));
	assert_true(matches("#a", 0, "#a", false));
	assert_false(matches("/a", SB_GLOB_MINIMATCH, "a", false));
}

static void what_leads_out_or_is_too_much_is_refused(void **state)
{
	static const char *const patterns[] = {"/etc/*",    "../*",
					       "a/../b",    "{a,../b}",
					       "{1..9999}", "{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}"};
	struct sb_buf longest = SB_BUF(10000);
	struct sb_glob *glob = NULL;
	struct sb_error err = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(patterns); i++) {
		assert_int_equal(sb_glob_new(patterns[i], 0, &glob, &err), SB_E_INVALID);
		assert_true(!glob && err.message[0]);
	}
	for (int i = 0; i < 4097; i++)
		sb_buf_putc(&longest, 'a');
	assert_int_equal(sb_glob_new(longest.data, 0, &glob, &err), SB_E_INVALID);
	longest.data[4096] = '\0';
	assert_int_equal(sb_glob_new(longest.data, 0, &glob, &err), SB_OK);
	sb_glob_free(glob);
	sb_buf_done(&longest);
}

static void braces_come_in_the_order_of_a_shell(void **state)
{
	struct sb_braces braces = {0};
	struct sb_buf all = SB_BUF(1000);

	(void)state;
	assert_int_equal(sb_braces_expand("{a,b{1..2},\\,}{x,y}", 100, 100, &braces, NULL), SB_OK);
	for (size_t i = 0; i < braces.count; i++)
		sb_buf_printf(&all, "%s ", braces.all[i]);
	assert_string_equal(all.data, "ax ay b1x b1y b2x b2y \\,x \\,y ");
	sb_braces_done(&braces);
	sb_buf_done(&all);
}

/* bash is the judge of braces, where it is there. */
static void random_braces_as_bash_has_them(void **state)
{
	static const char *const bits[] = {"a",      "b", "{", "}", ",", "{a,b}",
					   "{1..3}", "c", "{", "}", ","};

	(void)state;
	unit_seed();
	for (int i = 0; i < 100; i++) {
		SB_AUTO_BUF struct sb_buf pattern = SB_BUF(200);
		SB_AUTO_BUF struct sb_buf command = SB_BUF(400);
		SB_AUTO_BUF struct sb_buf ours = SB_BUF(100000);
		struct sb_braces braces = {0};
		static char theirs[100000];
		size_t length;
		FILE *bash;

		for (unsigned n = unit_below(9) + 1; n > 0; n--)
			sb_buf_puts(&pattern, bits[unit_below(COUNT(bits))]);
		/* "x" before each keeps empty words */
		sb_buf_printf(&command, "bash -c 'printf \"%%s\\n\" x%s'", pattern.data);
		bash = popen(command.data, "r"); // NOLINT(cert-env33-c): of our own making
		assert_non_null(bash);
		length = fread(theirs, 1, sizeof theirs - 1, bash);
		theirs[length] = '\0';
		if (pclose(bash) != 0)
			continue;
		if (sb_braces_expand(pattern.data, 1000, 100, &braces, NULL) != SB_OK)
			fail_msg("'%s'", pattern.data);
		for (size_t n = 0; n < braces.count; n++)
			sb_buf_printf(&ours, "x%s\n", braces.all[n]);
		sb_braces_done(&braces);
		/* An unclosed brace before closed ones: bash and minimatch differ as well. */
		if (strcmp(ours.data, theirs) != 0 && !strstr(theirs, "{") &&
		    !strstr(ours.data, "{"))
			fail_msg("'%s':\n%sinstead of\n%s", pattern.data, ours.data, theirs);
	}
}

static const char *const bits[] = {"a", "b",    "ab",   "*",     "**",       "?", "/",
				   "/", "[ab]", "[!a]", "\\a",   "[",        "]", "c",
				   ".", "**/",  "/**",  "[a-c]", "\xc3\xa9", "\\"};

static void random_wildcards_as_by_trying_everything(void **state)
{
	static const char *const text_bits[] = {"a", "b", "c", "ab", "/", ".", "\xc3\xa9", "]"};

	(void)state;
	unit_seed();
	for (int i = 0; i < 200000; i++) {
		SB_AUTO_BUF struct sb_buf pattern = SB_BUF(200);
		SB_AUTO_BUF struct sb_buf text = SB_BUF(200);
		bool git = unit_below(2), sure, naive;
		struct sb_wildcard *wild;

		for (unsigned n = unit_below(8); n > 0; n--)
			sb_buf_puts(&pattern, bits[unit_below(COUNT(bits))]);
		for (unsigned n = unit_below(10); n > 0; n--)
			sb_buf_puts(&text, text_bits[unit_below(COUNT(text_bits))]);
		wild = sb_wildcard_new(pattern.data, pattern.length, git ? SB_WILDCARD_GIT : 0);
		naive = naive_wildcard(pattern.data, pattern.length, text.data, text.length, git,
				       &sure);
		if (sure && naive != sb_wildcard_match(wild, text.data, text.length))
			fail_msg("'%s' and '%s', git %d: not %d", pattern.data, text.data, git,
				 !naive);
		for (size_t at = 0; naive && at + 1 < text.length; at++)
			if (text.data[at] == '/' && !sb_wildcard_begins(wild, text.data, at + 1))
				fail_msg("'%s' does not begin '%s'", pattern.data, text.data);
		sb_wildcard_free(wild);
	}
}

static void random_names_as_fnmatch_has_them(void **state)
{
	static const char *const name_bits[] = {"a", "b", "c", "ab", ".", "]", "-"};
	static const char *const glob_bits[] = {"a",           "b",   "*", "?",     "[ab]",
						"[!a]",        "\\a", "c", "[a-c]", "[]a]",
						"[[:alpha:]]", ".",   "-"};

	(void)state;
	unit_seed();
	for (int i = 0; i < 50000; i++) {
		SB_AUTO_BUF struct sb_buf pattern = SB_BUF(200);
		SB_AUTO_BUF struct sb_buf text = SB_BUF(200);
		struct sb_wildcard *wild;

		for (unsigned n = unit_below(7) + 1; n > 0; n--)
			sb_buf_puts(&pattern, glob_bits[unit_below(COUNT(glob_bits))]);
		for (unsigned n = unit_below(8); n > 0; n--)
			sb_buf_puts(&text, name_bits[unit_below(COUNT(name_bits))]);
		if (strcmp(pattern.data, "**") == 0)
			continue;
		wild = sb_wildcard_new(pattern.data, pattern.length, 0);
		if (sb_wildcard_match(wild, text.data, text.length) !=
		    (fnmatch(pattern.data, text.data, FNM_PATHNAME) == 0))
			fail_msg("'%s' and '%s'", pattern.data, text.data);
		sb_wildcard_free(wild);
	}
}

static void no_pattern_takes_long(void **state)
{
	struct sb_buf pattern = SB_BUF(10000), path = SB_BUF(10000);
	struct timespec before, after;

	(void)state;
	for (int i = 0; i < 600; i++)
		sb_buf_puts(&pattern, "**/a*");
	sb_buf_puts(&pattern, "b");
	for (int i = 0; i < 2000; i++)
		sb_buf_puts(&path, "a/");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	assert_false(matches(pattern.data, 0, path.data, false));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	assert_true(after.tv_sec - before.tv_sec < 2);
	sb_buf_done(&pattern);
	sb_buf_done(&path);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(F1_glob_by_example),
	cmocka_unit_test(flags_change_the_language),
	cmocka_unit_test(what_leads_out_or_is_too_much_is_refused),
	cmocka_unit_test(braces_come_in_the_order_of_a_shell),
	cmocka_unit_test(random_braces_as_bash_has_them),
	cmocka_unit_test(random_wildcards_as_by_trying_everything),
	cmocka_unit_test(random_names_as_fnmatch_has_them),
	cmocka_unit_test(no_pattern_takes_long),
};

UNIT_MAIN("glob")
