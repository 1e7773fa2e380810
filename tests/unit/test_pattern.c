/* test_pattern.c - what a pattern covers, how specific it is, and its one spelling. */
#include "unit.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "path/pattern.h"

static void parse(const char *text, struct sb_pattern *out)
{
	struct sb_error err = {0};

	if (sb_pattern_parse(text, out, &err) != SB_OK)
		fail_msg("%s: %s", text, err.message);
}

static bool covers(const char *text, const char *path)
{
	struct sb_pattern pattern;
	bool result;

	parse(text, &pattern);
	result = sb_pattern_covers(&pattern, path);
	sb_pattern_done(&pattern);
	return result;
}

static void P9_a_literal_covers_itself_and_what_is_beneath(void **state)
{
	(void)state;
	assert_true(covers("/home/u/proj", "/home/u/proj"));
	assert_true(covers("/home/u/proj", "/home/u/proj/a/b"));
	assert_false(covers("/home/u/proj", "/home/u/proj-evil"));
	assert_false(covers("/home/u/proj", "/home/u/proj-evil/a"));
	assert_false(covers("/home/u/proj", "/home/u/pro"));
	assert_false(covers("/home/u/proj", "/home/u"));
	assert_false(covers("/home/u/proj", "/"));
	assert_false(covers("/home/u/proj", "/HOME/u/proj"));
	assert_true(covers("/", "/"));
	assert_true(covers("/", "/x"));
	assert_true(covers("/a \n\x1b\xff", "/a \n\x1b\xff/b"));
}

static void P9_a_glob_ends_at_a_component_too(void **state)
{
	(void)state;
	assert_true(covers("/home/*/proj", "/home/u/proj/x"));
	assert_false(covers("/home/*/proj", "/home/u/proj-evil/x"));
	assert_false(covers("/home/*/proj", "/home/u/v/proj"));
	assert_true(covers("/home/**/proj", "/home/u/v/proj/x"));
	assert_false(covers("/home/**/proj", "/home/u/v/proj-evil/x"));
	assert_false(covers("/home/u/**/x", "/home/uu/x"));
}

static void wildcards_stay_in_their_name(void **state)
{
	(void)state;
	assert_true(covers("/l/*.txt", "/l/a.txt"));
	assert_true(covers("/l/*.txt", "/l/.txt"));
	assert_true(covers("/l/*.txt", "/l/a.txt/beneath"));
	assert_false(covers("/l/*.txt", "/l/a/b.txt"));
	assert_false(covers("/l/*.txt", "/l"));
	assert_false(covers("/l/*.txt", "/l/a.txt2"));
	assert_true(covers("/l/*", "/l/.hidden"));
	assert_false(covers("/l/*", "/l"));
	assert_true(covers("/l/?", "/l/x"));
	assert_false(covers("/l/?", "/l/xy"));
	assert_true(covers("/*", "/anything"));
	assert_false(covers("/*", "/"));
	assert_true(covers("/l/a*b*c", "/l/a-b-b-c"));
	assert_false(covers("/l/a*b*c", "/l/a-b-b-c-d"));
	assert_true(covers("/l/*\n*", "/l/new\nline"));
	/* three asterisks are no two: one name */
	assert_true(covers("/l/***/x", "/l/a/x"));
	assert_false(covers("/l/***/x", "/l/a/b/x"));
	assert_false(covers("/l/***/x", "/l/x"));
	assert_false(covers("/l/a**/x", "/l/ab/c/x"));
}

static void two_asterisks_are_any_number_of_directories(void **state)
{
	(void)state;
	assert_true(covers("/p/**/.env", "/p/.env"));
	assert_true(covers("/p/**/.env", "/p/a/.env"));
	assert_true(covers("/p/**/.env", "/p/a/b/c/.env/x"));
	assert_false(covers("/p/**/.env", "/p"));
	assert_false(covers("/p/**/.env", "/p/.environment"));
	assert_false(covers("/p/**/.env", "/p/x.env"));
	assert_true(covers("/**/x", "/x"));
	assert_true(covers("/**/x", "/a/b/x"));
	assert_true(covers("/p/**", "/p"));
	assert_true(covers("/p/**", "/p/a/b"));
	assert_false(covers("/p/**", "/p-evil"));
	assert_true(covers("/p/**/a/**/b", "/p/x/a/y/z/b"));
	assert_true(covers("/p/**/a/**/b", "/p/a/b"));
	assert_false(covers("/p/**/a/**/b", "/p/b/a"));
	assert_true(covers("/p/**/a/b", "/p/a/x/a/b")); /* the first "a" is not the one */
	assert_true(covers("/p/**/a/*/c", "/p/a/a/b/c"));
	assert_true(covers("/p/**/**/x", "/p/x"));
}

static void sets(void **state)
{
	static const struct {
		const char *glob, *yes, *no;
	} cases[] = {
		{"[abc]", "abc", "d[]"},   {"[a-c]", "abc", "d-"},      {"[!a-c]", "d-]!", "abc"},
		{"[^a-c]", "d-]!", "abc"}, {"[]]", "]", "["},           {"[]a]", "]a", "b"},
		{"[!]]", "a[", "]"},       {"[a-]", "a-", "b"},         {"[-a]", "-a", "b"},
		{"[a\\]b]", "a]b", "\\"},  {"[\\a-\\c]", "abc", "\\-"}, {"[a\\-c]", "a-c", "b\\"},
		{"[[]", "[", "]"},         {"[!!]", "a", "!"},          {"[*?\\\\]", "*?\\", "a"},
		{"[z-a]", "", "amz-"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *glob = cases[i].glob;

		for (const char *c = cases[i].yes; *c; c++)
			if (!sb_glob_name(glob, strlen(glob), c, 1))
				fail_msg("%s does not match %c", glob, *c);
		for (const char *c = cases[i].no; *c; c++)
			if (sb_glob_name(glob, strlen(glob), c, 1))
				fail_msg("%s matches %c", glob, *c);
	}
}

static bool name_matches(const char *glob, const char *name)
{
	return sb_glob_name(glob, strlen(glob), name, strlen(name));
}

#define EURO "\xe2\x82\xac"
#define E_ACUTE "\xc3\xa9"

/* A rule that takes away must not miss a name because its letters are not English. */
static void a_character_is_a_character_in_any_language(void **state)
{
	(void)state;
	assert_true(name_matches("?", EURO));
	assert_false(name_matches("??", EURO));
	assert_true(name_matches("??", EURO "x"));
	assert_true(name_matches("[" E_ACUTE "a]", E_ACUTE));
	assert_true(name_matches("[!a]", E_ACUTE));
	assert_false(name_matches("[!" E_ACUTE "]", E_ACUTE));
	assert_true(name_matches("[\xc3\xa0-\xc3\xbf]", E_ACUTE));
	assert_false(name_matches("[\xc3\xa0-\xc3\xbf]", EURO));
	assert_true(name_matches("[a-" EURO "]", E_ACUTE));
	assert_true(name_matches("*[" E_ACUTE "]*", "caf" E_ACUTE "s"));
	assert_true(name_matches("[\\" E_ACUTE "]", E_ACUTE));
	/* an asterisk takes whole characters, so ? cannot match a part of one */
	assert_false(name_matches("*??x?", EURO "xy"));
	assert_true(name_matches("*?x?", EURO "xy"));
}

static void a_byte_that_is_no_text_is_a_character_of_its_own(void **state)
{
	(void)state;
	assert_true(name_matches("?", "\xff"));
	assert_true(name_matches("[\xfe\xff]", "\xff"));
	assert_true(name_matches("[!a]", "\xff"));
	assert_true(name_matches("a\xff*", "a\xff\xff"));
	assert_false(name_matches("\xff", "\xfe"));
	assert_true(name_matches("??", "\xe2\x82")); /* cut short */
	assert_false(name_matches("[a-" E_ACUTE "]", "\xa0"));
}

/* ---- the same by the shortest means, to compare with ---- */

static size_t unit_length(const char *text, size_t length)
{
	size_t step = sb_utf8_length(text, length);

	return step ? step : 1;
}

static bool plain_glob(const char *glob, const char *name)
{
	size_t step = *name ? unit_length(name, strlen(name)) : 0;

	if (!*glob)
		return !*name;
	if (*glob == '*')
		return plain_glob(glob + 1, name) || (*name && plain_glob(glob, name + step));
	if (!*name)
		return false;
	if (*glob == '?')
		return plain_glob(glob + 1, name + step);
	if (*glob == '\\')
		glob++;
	return unit_length(glob, strlen(glob)) == step && memcmp(glob, name, step) == 0 &&
	       plain_glob(glob + step, name + step);
}

static bool plain_covers(const char *glob, const char *path)
{
	size_t glob_length = strcspn(glob, "/"), length = strcspn(path, "/");
	const char *glob_next = glob + glob_length + (glob[glob_length] == '/');
	const char *next = path + length + (path[length] == '/');
	char glob_name[64], name[64];

	if (!*glob)
		return true;
	if (glob_length == 2 && memcmp(glob, "**", 2) == 0)
		return plain_covers(glob_next, path) || (*path && plain_covers(glob, next));
	if (!*path)
		return false;
	snprintf(glob_name, sizeof glob_name, "%.*s", (int)glob_length, glob);
	snprintf(name, sizeof name, "%.*s", (int)length, path);
	return plain_glob(glob_name, name) && plain_covers(glob_next, next);
}

static void random_text(char *out, size_t most, const char *const *pieces, unsigned count)
{
	out[0] = '\0';
	for (size_t n = unit_below((unsigned)most + 1); n; n--)
		strncat(out, pieces[unit_below(count)], 8);
}

static void random_names_match_like_the_plain_matcher(void **state)
{
	static const char *const in_globs[] = {"*",    "*",    "?",    "?",   "a",
					       "b",    "\\a",  "\\*",  EURO,  ("\\" EURO),
					       "\xe2", "\x82", "\xac", "\xff"};
	static const char *const in_names[] = {"a",    "a",    "b",    "*",   EURO,
					       "\xe2", "\x82", "\xac", "\xff"};
	int matches = 0;

	(void)state;
	unit_seed();
	for (int i = 0; i < 200000; i++) {
		char glob[64], name[64];
		bool result;

		random_text(glob, 7, in_globs, COUNT(in_globs));
		random_text(name, 6, in_names, COUNT(in_names));
		result = name_matches(glob, name);
		matches += result;
		if (result != plain_glob(glob, name))
			fail_msg("glob '%s' name '%s'", glob, name);
	}
	assert_true(matches > 1000);
}

static void random_paths_are_covered_like_by_the_plain_matcher(void **state)
{
	static const char *const in_globs[] = {"**/", "**/", "*/", "?/", "a/", "b/", "a*/"};
	static const char *const in_paths[] = {"a/", "a/", "b/", "ab/", "c/"};
	int matches = 0;

	(void)state;
	unit_seed();
	for (int i = 0; i < 200000; i++) {
		char glob[64], path[64];
		bool result;

		random_text(glob, 6, in_globs, COUNT(in_globs));
		random_text(path, 7, in_paths, COUNT(in_paths));
		if (*glob)
			glob[strlen(glob) - 1] = '\0';
		if (*path)
			path[strlen(path) - 1] = '\0';
		result = sb_glob_covers(glob, path);
		matches += result;
		if (result != plain_covers(glob, path))
			fail_msg("glob '%s' path '%s'", glob, path);
	}
	assert_true(matches > 1000);
}

/* fnmatch(3) has classes such as [[:alpha:]]; apart from them the meaning is the same. */
static void ascii_names_match_like_fnmatch(void **state)
{
	static const char *const in_globs[] = {"*",     "?",     "a",   "b",     "[ab]",
					       "[!a]",  "[a-c]", "[]]", "[!]a]", "[a-]",
					       "[\\]]", "\\a",   "\\*", "-"};
	static const char *const in_names[] = {"a", "b", "c", "]", "-", "*", "\\", "["};

	(void)state;
	unit_seed();
	for (int i = 0; i < 200000; i++) {
		char glob[64], name[64];

		random_text(glob, 6, in_globs, COUNT(in_globs));
		random_text(name, 6, in_names, COUNT(in_names));
		if (name_matches(glob, name) != (fnmatch(glob, name, 0) == 0))
			fail_msg("glob '%s' name '%s'", glob, name);
	}
}

static void no_pattern_takes_long(void **state)
{
	char glob[256] = "", name[256], deep_glob[1024] = "/", deep[PATH_MAX] = "";
	struct timespec start, end;

	(void)state;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	for (int i = 0; i < 60; i++)
		strncat(glob, "*a", 3);
	strncat(glob, "b", 2);
	memset(name, 'a', 250);
	name[250] = '\0';
	assert_false(name_matches(glob, name));
	for (int i = 0; i < 100; i++)
		strncat(deep_glob, "**/a/", 6);
	strncat(deep_glob, "b", 2);
	for (int i = 0; i < 2000; i++)
		memcpy(deep + 2 * i, "/a", 3);
	assert_false(covers(deep_glob, deep));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	assert_true(end.tv_sec - start.tv_sec <
		    5); /* it takes a millisecond; backtracking, years */
}

/* ---- text ---- */

static void looks(const char *text, const char *canonical, const char *prefix, const char *glob,
		  unsigned literals, unsigned wildcards)
{
	struct sb_pattern pattern;

	parse(text, &pattern);
	assert_string_equal(pattern.text, canonical);
	assert_string_equal(pattern.prefix, prefix);
	if (glob)
		assert_string_equal(pattern.glob, glob);
	else
		assert_null(pattern.glob);
	assert_int_equal(pattern.literals, literals);
	assert_int_equal(pattern.wildcards, wildcards);
	sb_pattern_done(&pattern);
	assert_null(pattern.text);
}

static void parses_into_prefix_and_glob(void **state)
{
	(void)state;
	looks("/", "/", "/", NULL, 0, 0);
	looks("///", "/", "/", NULL, 0, 0);
	looks("//a///b/", "/a/b", "/a/b", NULL, 2, 0);
	looks("/a/*/c", "/a/*/c", "/a", "*/c", 2, 1);
	looks("/*", "/*", "/", "*", 0, 1);
	looks("/a/**/c/", "/a/**/c", "/a", "**/c", 2, 0);
	looks("/**", "/**", "/", "**", 0, 0);
	looks("/a/[x]/b", "/a/[x]/b", "/a", "[x]/b", 2, 1);
	/* one spelling for a name */
	looks("/\\a/b\\c", "/a/bc", "/a/bc", NULL, 2, 0);
	looks("/a\\*b", "/a\\*b", "/a*b", NULL, 1, 0);
	looks("/\\[x]/*/\\y\\?", "/\\[x]/*/y\\?", "/[x]", "*/y\\?", 2, 1);
	looks("/a\\\\b", "/a\\\\b", "/a\\b", NULL, 1, 0);
	looks("/~/.../..a", "/~/.../..a", "/~/.../..a", NULL, 3, 0);
	looks("/a b\n\xff\x1b", "/a b\n\xff\x1b", "/a b\n\xff\x1b", NULL, 1, 0);
}

static void refuses(const char *text)
{
	struct sb_pattern pattern = {.literals = 42};
	struct sb_error err = {0};

	if (sb_pattern_parse(text, &pattern, &err) != SB_E_INVALID)
		fail_msg("'%s' was taken", text);
	assert_int_equal(err.code, SB_E_INVALID);
	assert_true(err.message[0]);
	assert_int_equal(pattern.literals, 42); /* left alone */
}

static void refuses_what_has_no_meaning(void **state)
{
	static const char *const bad[] = {
		"",     "a",       "a/b",    "*",     "~",      "/a/.",   "/.",
		"/..",  "/a/../b", "/\\./a", "/.\\.", "/a/[",   "/[a",    "/[]",
		"/[!]", "/[a\\]",  "/[a/b]", "/a\\",  "/a\\/b", "/a/*\\", "/[[:alpha:"};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		refuses(bad[i]);
}

static void over_long_patterns_are_refused_never_cut(void **state)
{
	static const char *const fronts[] = {"/", "/*/", "/a/**/", "/*"};
	struct sb_pattern pattern;
	char text[3 * PATH_MAX];

	(void)state;
	memset(text, 'a', sizeof text);
	text[0] = '/';
	text[PATH_MAX - 1] = '\0';
	parse(text, &pattern); /* the longest path there is */
	assert_string_equal(pattern.prefix, text);
	sb_pattern_done(&pattern);
	for (size_t i = 0; i < COUNT(fronts); i++) {
		for (size_t length = PATH_MAX; length < sizeof text; length += 501) {
			memset(text, 'a', sizeof text);
			memcpy(text, fronts[i], strlen(fronts[i]));
			text[length] = '\0';
			if (sb_pattern_parse(text, &pattern, NULL) != SB_OK)
				continue;
			/* with wildcards in it more may fit, but then all of it */
			assert_string_equal(pattern.text, text);
			assert_true(strlen(pattern.prefix) < PATH_MAX);
			sb_pattern_done(&pattern);
		}
	}
	for (size_t i = 0; i + 2 < PATH_MAX; i += 2)
		memcpy(text + i, "/a", 3);
	refuses(text);
}

/* Every byte of the longest path can need a backslash; such a name is still just a name. */
static void the_longest_path_of_special_characters(void **state)
{
	char path[PATH_MAX];
	SB_AUTO_FREE char *escaped = NULL;
	struct sb_pattern pattern;

	(void)state;
	memset(path, '*', sizeof path);
	path[0] = '/';
	path[PATH_MAX - 1] = '\0';
	escaped = sb_pattern_escape(path);
	assert_non_null(escaped);
	parse(escaped, &pattern);
	assert_string_equal(pattern.prefix, path);
	assert_string_equal(pattern.text, escaped);
	assert_null(pattern.glob);
	sb_pattern_done(&pattern);
}

static void escape_means_exactly_the_path(void **state)
{
	static const char *const pieces[] = {"*",  "?",  "[", "]", "\\", "a",    "!",  "-",
					     "/x", "\n", " ", "#", "\"", "\xff", EURO, "~"};

	(void)state;
	unit_seed();
	for (int i = 0; i < 20000; i++) {
		SB_AUTO_FREE char *escaped = NULL;
		struct sb_pattern pattern;
		char path[128] = "/x", other[256];

		random_text(path + 2, 8, pieces, COUNT(pieces));
		escaped = sb_pattern_escape(path);
		assert_false(sb_pattern_is_glob(escaped));
		parse(escaped, &pattern);
		assert_string_equal(pattern.prefix, path);
		assert_null(pattern.glob);
		assert_true(sb_pattern_covers(&pattern, path));
		snprintf(other, sizeof other, "%s/beneath", path);
		assert_true(sb_pattern_covers(&pattern, other));
		snprintf(other, sizeof other, "%s-evil", path);
		assert_false(sb_pattern_covers(&pattern, other));
		sb_pattern_done(&pattern);
	}
}

static void tells_a_glob(void **state)
{
	(void)state;
	assert_false(sb_pattern_is_glob("/a/b"));
	assert_false(sb_pattern_is_glob("/a\\*\\?\\[b]"));
	assert_false(sb_pattern_is_glob("/a\\"));
	assert_true(sb_pattern_is_glob("/a/*"));
	assert_true(sb_pattern_is_glob("a?"));
	assert_true(sb_pattern_is_glob("[x]"));
	assert_true(sb_pattern_is_glob("\\\\*"));
}

static void canonical_text_is_its_own_canonical_text(void **state)
{
	static const char *const pieces[] = {"/",    "/",    "/**",  "/*",   "a",
					     "\\a",  "\\*",  "\\\\", "[ab]", "?",
					     "[!x]", "\xff", "\n",   "]",    "."};

	(void)state;
	unit_seed();
	for (int i = 0; i < 50000; i++) {
		struct sb_pattern once, twice;
		char text[128] = "/";

		random_text(text + 1, 9, pieces, COUNT(pieces));
		if (sb_pattern_parse(text, &once, NULL) != SB_OK)
			continue;
		parse(once.text, &twice);
		assert_string_equal(twice.text, once.text);
		assert_string_equal(twice.prefix, once.prefix);
		assert_int_equal(!twice.glob, !once.glob);
		if (once.glob)
			assert_string_equal(twice.glob, once.glob);
		assert_int_equal(sb_pattern_compare(&once, &twice), 0);
		sb_pattern_done(&once);
		sb_pattern_done(&twice);
	}
}

static void more_literals_then_more_wildcards_are_more_specific(void **state)
{
	static const char *const ascending[] = {
		"/",      "/*",   "/*/*",      "/a",     "/a/*",
		"/a/*/*", "/a/b", "/**/a/b/*", "/a/b/c", "/*/a/b/c",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(ascending); i++) {
		for (size_t j = 0; j < COUNT(ascending); j++) {
			struct sb_pattern a, b;
			int order;

			parse(ascending[i], &a);
			parse(ascending[j], &b);
			order = sb_pattern_compare(&a, &b);
			if ((order > 0) != (i > j) || (order < 0) != (i < j))
				fail_msg("'%s' and '%s'", a.text, b.text);
			sb_pattern_done(&a);
			sb_pattern_done(&b);
		}
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(P9_a_literal_covers_itself_and_what_is_beneath),
	cmocka_unit_test(P9_a_glob_ends_at_a_component_too),
	cmocka_unit_test(wildcards_stay_in_their_name),
	cmocka_unit_test(two_asterisks_are_any_number_of_directories),
	cmocka_unit_test(sets),
	cmocka_unit_test(a_character_is_a_character_in_any_language),
	cmocka_unit_test(a_byte_that_is_no_text_is_a_character_of_its_own),
	cmocka_unit_test(random_names_match_like_the_plain_matcher),
	cmocka_unit_test(random_paths_are_covered_like_by_the_plain_matcher),
	cmocka_unit_test(ascii_names_match_like_fnmatch),
	cmocka_unit_test(no_pattern_takes_long),
	cmocka_unit_test(parses_into_prefix_and_glob),
	cmocka_unit_test(refuses_what_has_no_meaning),
	cmocka_unit_test(over_long_patterns_are_refused_never_cut),
	cmocka_unit_test(the_longest_path_of_special_characters),
	cmocka_unit_test(escape_means_exactly_the_path),
	cmocka_unit_test(tells_a_glob),
	cmocka_unit_test(canonical_text_is_its_own_canonical_text),
	cmocka_unit_test(more_literals_then_more_wildcards_are_more_specific),
};

UNIT_MAIN("pattern")
