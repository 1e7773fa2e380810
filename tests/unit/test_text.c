/* test_text.c - the config format: lines, accesses, quotes, and errors that help. */
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "policy/text.h"

static void parse_bytes(const char *bytes, size_t length, struct sb_line *out)
{
	struct sb_error err = {0};

	if (sb_line_parse(bytes, length, out, &err) != SB_OK)
		fail_msg("'%.*s': %s", (int)length, bytes, err.message);
}

static void is_rule(const char *text, const char *access, const char *pattern)
{
	SB_AUTO_BUF struct sb_buf printed;
	struct sb_line line;

	parse_bytes(text, strlen(text), &line);
	assert_int_equal(line.kind, SB_LINE_RULE);
	assert_string_equal(line.text, pattern);
	sb_buf_init(&printed, 100);
	sb_access_print(&line.access, &printed);
	assert_string_equal(printed.data, access);
	sb_line_done(&line);
	assert_null(line.text);
}

static void is_empty(const char *text)
{
	struct sb_line line;

	parse_bytes(text, strlen(text), &line);
	assert_int_equal(line.kind, SB_LINE_EMPTY);
	assert_null(line.text);
	sb_line_done(&line);
}

static void is_bad_bytes(const char *bytes, size_t length, const char *message)
{
	struct sb_line line = {.kind = SB_LINE_SHELL, .text = NULL};
	struct sb_error err = {0};

	if (sb_line_parse(bytes, length, &line, &err) != SB_E_INVALID)
		fail_msg("'%.*s' was taken", (int)length, bytes);
	assert_int_equal(err.code, SB_E_INVALID);
	assert_int_equal(err.sys_errno, 0);
	assert_string_equal(err.message, message);
	assert_int_equal(line.kind, SB_LINE_SHELL); /* left alone */
	assert_null(line.text);
	assert_int_equal(sb_line_parse(bytes, length, &line, NULL), SB_E_INVALID);
}

static void is_bad(const char *text, const char *message)
{
	is_bad_bytes(text, strlen(text), message);
}

static void S7_blank_lines_and_comments(void **state)
{
	(void)state;
	is_empty("");
	is_empty("   \t ");
	is_empty("# comment");
	is_empty("  # comment \xff");
	is_empty("#");
	is_empty("#/path");
}

static void a_bare_path_is_writable(void **state)
{
	(void)state;
	is_rule("/a", "write", "/a");
	is_rule("  ~/Downloads\t", "write", "~/Downloads");
	is_rule("./x", "write", "./x");
	is_rule("..", "write", "..");
	is_rule("vendor", "write", "vendor");
	is_rule("c++", "write", "c++");
	is_rule("/with space/and  two", "write", "/with space/and  two");
	is_rule("./with space", "write", "./with space");
	is_rule("\"one word\"", "write", "one word");
	is_rule("logs/**/*.txt", "write", "logs/**/*.txt");
	is_rule("/na\xc3\xafve", "write", "/na\xc3\xafve");
	is_rule("/\xff\xfe", "write", "/\xff\xfe");
	is_rule("reader", "write", "reader"); /* begins like an access word, but is none */
	is_rule("networks", "write", "networks");
	is_rule("./read", "write", "./read");
}

static void access_words_come_first(void **state)
{
	(void)state;
	is_rule("write /a", "write", "/a");
	is_rule("read\tvendor", "read", "vendor");
	is_rule("deny ~/.ssh", "deny", "~/.ssh");
	is_rule("ask  ~/notes  ", "ask", "~/notes");
	is_rule("read my dir", "read", "my dir");
	is_rule("deny read", "deny", "read");
	is_rule("read+create+ask:delete logs/**/*.txt", "read+create+ask:delete", "logs/**/*.txt");
	is_rule("delete+read x", "read+delete", "x");
	is_rule("modify /x", "modify", "/x");
	is_rule("ask:read /x", "ask:read", "/x");
	is_rule("read+ask:modify+ask:create+ask:delete /x", "ask", "/x");
	is_rule("read+modify+create+delete /x", "write", "/x");
	is_rule("quiet /x", "quiet", "/x");
	is_rule("read+quiet:modify+quiet:create+quiet:delete /x", "quiet", "/x");
	is_rule("quiet:modify /x", "quiet:modify", "/x");
	is_rule("read+create+quiet:delete /x", "read+create+quiet:delete", "/x");
}

static void comments_may_follow(void **state)
{
	(void)state;
	is_rule("read vendor   # never changed", "read", "vendor");
	is_rule("/a #", "write", "/a");
	is_rule("/a#b", "write", "/a#b"); /* only after a blank */
	is_rule("/a#b #c", "write", "/a#b");
	is_rule("\"/a #b\" # c", "write", "/a #b");
	is_rule("\"/a\"# c", "write", "/a");
	is_rule("deny /x\t#y", "deny", "/x");
}

static void quotes_hold_any_byte_but_nul(void **state)
{
	char text[32], expected[2] = "";

	(void)state;
	is_rule("\"\\n\\t\\r\\\\\\\"\"", "write", "\n\t\r\\\"");
	is_rule("read \" lead and trail \"", "read", " lead and trail ");
	is_rule("deny \"#x\"", "deny", "#x");
	is_rule("\"\\x41\\x7e\"", "write", "A~");
	is_rule("\"\\xfF\"", "write", "\xff");
	for (int byte = 1; byte < 256; byte++) {
		snprintf(text, sizeof text, "read \"\\x%02x\"", byte);
		expected[0] = (char)byte;
		is_rule(text, "read", expected);
	}
	is_rule("/a\"b", "write", "/a\"b");   /* a quote inside is only a character */
	is_rule("/a\\*b", "write", "/a\\*b"); /* backslashes outside quotes are the pattern's */
}

static void bad_quotes(void **state)
{
	(void)state;
	is_bad("\"", "a quote is never closed");
	is_bad("\"abc", "a quote is never closed");
	is_bad("\"abc\\", "a quote is never closed");
	is_bad("\"abc\\\"", "a quote is never closed");
	is_bad("\"a\" b", "unexpected text after the closing quote");
	is_bad("\"a\"b", "unexpected text after the closing quote");
	is_bad("\"a\"\"b\"", "unexpected text after the closing quote");
	is_bad("\"\"", "the path is empty");
	is_bad("read \"\"", "the path is empty");
	is_bad("\"\\q\"", "unknown escape '\\q' in quotes");
	is_bad("\"\\x4\"", "\\x needs two hexadecimal digits, not 00");
	is_bad("\"\\x\"", "\\x needs two hexadecimal digits, not 00");
	is_bad("\"\\x4g\"", "\\x needs two hexadecimal digits, not 00");
	is_bad("\"a\\x00b\"", "\\x needs two hexadecimal digits, not 00");
	is_bad("\"\\x", "\\x needs two hexadecimal digits, not 00");
	is_bad("\"\\x4", "\\x needs two hexadecimal digits, not 00");
}

static void a_line_that_looks_like_no_path_is_no_guess(void **state)
{
	(void)state;
	is_bad("readme first", "'readme first' begins with no known word and is no path");
	is_bad("allow /x", "'allow /x' begins with no known word and is no path");
	is_bad("Read /x", "'Read /x' begins with no known word and is no path");
	is_bad("a\tb", "'a\\tb' begins with no known word and is no path");
	is_bad("\xef\xbb\xbfread /x",
	       "'\\u{feff}read /x' begins with no known word and is no path");
}

static void values_are_not_optional(void **state)
{
	struct sb_error err;
	struct sb_line line;

	(void)state;
	is_bad("read", "'read' needs a value");
	is_bad("deny   ", "'deny' needs a value");
	is_bad("ask # nothing", "'ask' needs a value");
	is_bad("network", "'network' needs a value");
	is_bad("include", "'include' needs a value");
	is_bad("read+create", "'read+create' needs a value");
	sb_line_parse("read", 4, &line, &err);
	assert_string_equal(err.hint, "for a file of that name write './read'");
}

static void P6_unknown_or_contradictory_access_is_an_error(void **state)
{
	(void)state;
	is_bad("read+wirte /x", "unknown operation 'wirte'");
	is_bad("read+ /x", "unknown operation ''");
	is_bad("+read /x", "unknown operation ''");
	is_bad("read++create /x", "unknown operation ''");
	is_bad("ask:nothing /x", "unknown operation 'nothing'");
	is_bad("read+read /x", "'read' is named twice in one access");
	is_bad("read+ask:read /x", "'read' is named twice in one access");
	is_bad("read+write /x", "'write' stands alone, it cannot be combined");
	is_bad("deny+read /x", "'deny' stands alone, it cannot be combined");
	is_bad("ask+read /x", "'ask' stands alone, it cannot be combined");
	is_bad("ask:deny /x", "'deny' stands alone, it cannot be combined");
	is_bad("ask:ask:read /x", "unknown operation 'ask:read'");
	is_bad("read+quiet /x", "'quiet' stands alone, it cannot be combined");
	is_bad("quiet:quiet /x", "'quiet' stands alone, it cannot be combined");
}

static void bytes_that_no_editor_shows_are_errors(void **state)
{
	struct sb_error err;
	struct sb_line line;

	(void)state;
	is_bad("/a\r", "byte 0x0d is not allowed here");
	is_bad("# comment\r", "byte 0x0d is not allowed here");
	is_bad("/a\x1b[31m", "byte 0x1b is not allowed here");
	is_bad("/a\x7f", "byte 0x7f is not allowed here");
	is_bad("/a\nread /b", "byte 0x0a is not allowed here");
	is_bad_bytes("/a\0b", 4, "byte 0x00 is not allowed here");
	is_bad_bytes("\0", 1, "byte 0x00 is not allowed here");
	is_bad_bytes("deny \"/a\0\"", 10, "byte 0x00 is not allowed here");
	sb_line_parse("/a\r", 3, &line, &err);
	assert_string_equal(err.hint, "save the file with plain newlines");
}

/* The line ends where its length says, not where a NUL is. */
static void no_byte_behind_the_line_counts(void **state)
{
	static const char *const lines[] = {"read /abc", "\"/a\\x41\"", "network off", "read",
					    "\"/a"};

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		for (size_t length = 0; length <= strlen(lines[i]); length++) {
			char *exact = malloc(length + !length); /* ASan watches its end */
			struct sb_line line;

			memcpy(exact, lines[i], length);
			if (sb_line_parse(exact, length, &line, NULL) == SB_OK)
				sb_line_done(&line);
			free(exact);
		}
	}
}

static void settings(void **state)
{
	struct sb_line line;

	(void)state;
	parse_bytes("network on", 10, &line);
	assert_int_equal(line.kind, SB_LINE_SETTING);
	assert_int_equal(line.setting, SB_SETTING_NETWORK);
	assert_int_equal(line.value, SB_NETWORK_ON);
	sb_line_done(&line);
	parse_bytes("network  off # now", 18, &line);
	assert_int_equal(line.value, SB_NETWORK_OFF);
	sb_line_done(&line);
	parse_bytes("mode read-only", 14, &line);
	assert_int_equal(line.setting, SB_SETTING_MODE);
	assert_int_equal(line.value, SB_MODE_READ_ONLY);
	sb_line_done(&line);
	for (int tmp = SB_TMP_PRIVATE; tmp <= SB_TMP_OFF; tmp++) {
		char text[32];

		snprintf(text, sizeof text, "tmp %s", sb_tmp_name((enum sb_tmp)tmp));
		parse_bytes(text, strlen(text), &line);
		assert_int_equal(line.setting, SB_SETTING_TMP);
		assert_int_equal(line.value, tmp);
		sb_line_done(&line);
	}
	parse_bytes("include team rules", 18, &line);
	assert_int_equal(line.kind, SB_LINE_INCLUDE);
	assert_string_equal(line.text, "team rules");
	sb_line_done(&line);
	parse_bytes("shell \"/opt/my shell\"", 21, &line);
	assert_int_equal(line.kind, SB_LINE_SHELL);
	assert_string_equal(line.text, "/opt/my shell");
	sb_line_done(&line);
	parse_bytes("log-keep-days 30", 16, &line);
	assert_int_equal(line.kind, SB_LINE_LOG_KEEP_DAYS);
	assert_int_equal(line.keep, 30);
	sb_line_done(&line);
	parse_bytes("log-keep-megabytes off", 22, &line);
	assert_int_equal(line.kind, SB_LINE_LOG_KEEP_MEGABYTES);
	assert_int_equal(line.keep, 0);
	sb_line_done(&line);
	is_bad("log-keep-days 0", "a limit is a number from 1 to 999999 or 'off', not '0'");
	is_bad("log-keep-days -1", "a limit is a number from 1 to 999999 or 'off', not '-1'");
	is_bad("log-keep-megabytes 1000000",
	       "a limit is a number from 1 to 999999 or 'off', not '1000000'");
	is_bad("log-keep-megabytes 1 2",
	       "a limit is a number from 1 to 999999 or 'off', not '1 2'");
	is_bad("log-keep-days", "'log-keep-days' needs a value");
	is_bad("network maybe", "network is 'on', 'learn', 'ask' or 'off', not 'maybe'");
	is_bad("network off on", "network is 'on', 'learn', 'ask' or 'off', not 'off on'");
	parse_bytes("tighten read+modify /a b", 24, &line);
	assert_true(line.kind == SB_LINE_RULE && line.tightens && !line.fast);
	assert_string_equal(line.text, "/a b");
	sb_line_done(&line);
	parse_bytes("./tighten", 9, &line);
	assert_false(line.tightens);
	sb_line_done(&line);
	is_bad("tighten", "'tighten' needs an access and a path");
	is_bad("tighten /a", "'tighten' needs an access and a path");
	is_bad("tighten fast /a", "'tighten' needs an access and a path");
	is_bad("tighten network off", "'tighten' needs an access and a path");
	is_bad("tighten read", "'read' needs a value");
	is_bad("mode fast",
	       "mode is 'danger-full-access', 'workspace-write' or 'read-only', not 'fast'");
	is_bad("tmp public", "tmp is 'private', 'shared' or 'off', not 'public'");
	is_bad("network \"\"", "the path is empty");
}

static void is_profile_line(const char *text, enum sb_line_kind kind, const char *value)
{
	struct sb_line line;

	assert_int_equal(sb_profile_line_parse(text, strlen(text), &line, NULL), SB_OK);
	assert_int_equal(line.kind, kind);
	assert_string_equal(line.text, value);
	sb_line_done(&line);
}

static void lines_that_only_a_profile_has(void **state)
{
	static const char *const bad[] = {"environment NAME",
					  "environment =x",
					  "environment 1A=x",
					  "environment A-B=x",
					  "environment SANDBASH_MODE=x",
					  "login",
					  "cache ~/.npm A=b",
					  "cache npm A=$CACHE",
					  "cache ~/.npm $CACHE",
					  "cache ~/.npm SANDBASH=$CACHE",
					  "argument # nothing"};
	struct sb_line line;

	(void)state;
	is_profile_line("program a b  # c", SB_LINE_PROGRAM, "a b");
	is_profile_line("environment A=b c", SB_LINE_ENVIRONMENT, "A=b c");
	is_profile_line("environment A=", SB_LINE_ENVIRONMENT, "A=");
	is_profile_line("argument --x=y", SB_LINE_ARGUMENT, "--x=y");
	is_profile_line("argument \" x\"", SB_LINE_ARGUMENT, " x");
	is_profile_line("say a word", SB_LINE_SAY, "a word");
	is_profile_line("login claude", SB_LINE_LOGIN, "claude");
	is_profile_line("include-profile claude", SB_LINE_INCLUDE_PROFILE, "claude");
	is_profile_line("project-file a b", SB_LINE_PROJECT_FILE, "a b");
	is_profile_line("cache ~/.npm A=$CACHE/npm", SB_LINE_CACHE, "~/.npm A=$CACHE/npm");
	is_profile_line("quiet $TMUX", SB_LINE_RULE, "$TMUX");
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(sb_profile_line_parse(bad[i], strlen(bad[i]), &line, NULL),
				 SB_E_INVALID);
	/* elsewhere they are files */
	is_rule("login", "write", "login");
	is_rule("program", "write", "program");
	is_bad("say a word", "'say a word' begins with no known word and is no path");
}

static void over_long_paths_are_errors(void **state)
{
	static char text[5 * PATH_MAX];
	struct sb_line line;

	(void)state;
	memset(text, 'a', sizeof text - 1);
	memcpy(text, "read /", 6);
	is_bad(text, "the path is too long");
	memcpy(text, "read \"", 6);
	text[sizeof text - 2] = '"';
	is_bad(text, "the path is too long");
	/* as long as a pattern can get: the longest path, all of it with backslashes */
	memcpy(text, "deny /", 6);
	text[5 + 2 * PATH_MAX] = '\0';
	parse_bytes(text, strlen(text), &line);
	assert_int_equal(strlen(line.text), 2 * PATH_MAX);
	sb_line_done(&line);
}

static void every_access_prints_as_it_parses(void **state)
{
	(void)state;
	for (int n = 0; n < 256; n++) {
		SB_AUTO_BUF struct sb_buf printed;
		struct sb_access access = {0}, parsed;
		int rest = n;

		for (int op = 0; op < SB_OP_COUNT; op++, rest /= 4) {
			bool quiet = rest % 4 > SB_DENY;

			access.verdict[op] = (unsigned char)(quiet ? SB_DENY : rest % 4);
			access.quiet |= (unsigned char)(quiet << op);
		}
		sb_buf_init(&printed, 100);
		sb_access_print(&access, &printed);
		assert_true(printed.length > 0);
		assert_int_equal(sb_access_parse(printed.data, printed.length, &parsed, NULL),
				 SB_OK);
		assert_true(sb_access_equal(&access, &parsed));
	}
}

static void an_access_is_left_alone_on_failure(void **state)
{
	struct sb_access access = sb_access_ask;

	(void)state;
	assert_int_equal(sb_access_parse("read+x", 6, &access, NULL), SB_E_INVALID);
	assert_int_equal(sb_access_parse("", 0, &access, NULL), SB_E_INVALID);
	assert_true(sb_access_equal(&access, &sb_access_ask));
}

static void prints(const char *pattern, const char *expected)
{
	SB_AUTO_BUF struct sb_buf out;

	sb_buf_init(&out, 1000);
	sb_rule_print(&sb_access_read, pattern, &out);
	assert_string_equal(out.data, expected);
}

static void patterns_are_quoted_when_they_must_be(void **state)
{
	(void)state;
	prints("/plain/with space", "read /plain/with space");
	prints("/a\\*b/\"c", "read /a\\*b/\"c");
	prints("/a#b", "read /a#b");
	prints("/na\xc3\xafve", "read /na\xc3\xafve");
	prints("/a #b", "read \"/a #b\"");
	prints("/end ", "read \"/end \"");
	prints("#x", "read \"#x\"");
	prints("\"x", "read \"\\\"x\"");
	prints("/a\\b\n", "read \"/a\\\\b\\x0a\"");
	prints("/\xff", "read \"/\\xff\"");
	prints("", "read \"\"");
}

/* --print-policy goes to terminals. */
static void printed_patterns_cannot_steer_a_terminal(void **state)
{
	(void)state;
	prints("/\x1b[2J", "read \"/\\x1b[2J\"");
	prints("/\xc2\x9b", "read \"/\\xc2\\x9b\"");            /* C1 */
	prints("/a\xe2\x80\xae", "read \"/a\\xe2\\x80\\xae\""); /* turns the line around */
	prints("/a\xe2\x80\x8b\xc3\xaf",
	       "read \"/a\\xe2\\x80\\x8b\xc3\xaf\""); /* shows as nothing */
}

static void any_pattern_comes_back(void **state)
{
	(void)state;
	unit_seed();
	for (int round = 0; round < 100000; round++) {
		static const char likely[] = " \t#\"\\/*~.+:na\xff\xc2\x80\xe2\xae";
		SB_AUTO_BUF struct sb_buf out;
		struct sb_line line;
		char pattern[16] = "";

		for (size_t i = 0, length = 1 + unit_below(sizeof pattern - 2); i < length; i++)
			pattern[i] = unit_below(3) ? likely[unit_below(sizeof likely - 1)]
						   : (char)(1 + unit_below(255));
		sb_buf_init(&out, 1000);
		sb_rule_print(&sb_access_deny, pattern, &out);
		sb_buf_puts(&out, "   # origin");
		parse_bytes(out.data, out.length, &line);
		assert_int_equal(line.kind, SB_LINE_RULE);
		assert_true(sb_access_equal(&line.access, &sb_access_deny));
		assert_string_equal(line.text, pattern);
		sb_line_done(&line);
	}
}

static void the_whole_policy_with_origins(void **state)
{
	struct sb_policy *policy = sb_policy_new();
	struct sb_rule rule = {.access = sb_access_write,
			       .tier = SB_TIER_GLOBAL,
			       .pattern = "/b",
			       .origin = "evil\n\x1b[2J\xff origin"};
	SB_AUTO_BUF struct sb_buf out;

	(void)state;
	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_READ_ONLY);
	sb_policy_set(policy, SB_SETTING_NETWORK, SB_NETWORK_OFF);
	sb_policy_set(policy, SB_SETTING_TMP, SB_TMP_SHARED);
	assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_OK);
	rule = (struct sb_rule){.access = sb_access_deny,
				.tier = SB_TIER_FLAG,
				.pattern = "/a/very/long/pattern/that/does/not/fit/in/the/column",
				.origin = "--deny"};
	assert_int_equal(sb_policy_add(policy, &rule, NULL), SB_OK);
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	sb_buf_init(&out, 10000);
	sb_policy_print(policy, &out);
	assert_string_equal(out.data,
			    "mode read-only\n"
			    "network off\n"
			    "tmp shared\n"
			    "protect-ignored off\n"
			    "clean-env off\n"
			    "workers declared\n"
			    "unsandboxed off\n"
			    "log-allowed off\n"
			    "deny /a/very/long/pattern/that/does/not/fit/in/the/column # --deny\n"
			    "read /b                                         "
			    "# evil\\n\\e[2J\\xff origin (read-only mode)\n");
	sb_policy_free(policy);
}

static void names_of_things(void **state)
{
	(void)state;
	assert_string_equal(sb_op_name(SB_READ), "read");
	assert_string_equal(sb_op_name(SB_DELETE), "delete");
	assert_string_equal(sb_verdict_name(SB_ASK), "ask");
	assert_string_equal(sb_mode_name(SB_MODE_DANGER_FULL_ACCESS), "danger-full-access");
	assert_string_equal(sb_tmp_name(SB_TMP_PRIVATE), "private");
	for (int tier = 0; tier < SB_TIER_COUNT; tier++)
		assert_true(sb_tier_name((enum sb_tier)tier)[0]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(S7_blank_lines_and_comments),
	cmocka_unit_test(a_bare_path_is_writable),
	cmocka_unit_test(access_words_come_first),
	cmocka_unit_test(comments_may_follow),
	cmocka_unit_test(quotes_hold_any_byte_but_nul),
	cmocka_unit_test(bad_quotes),
	cmocka_unit_test(a_line_that_looks_like_no_path_is_no_guess),
	cmocka_unit_test(values_are_not_optional),
	cmocka_unit_test(P6_unknown_or_contradictory_access_is_an_error),
	cmocka_unit_test(bytes_that_no_editor_shows_are_errors),
	cmocka_unit_test(no_byte_behind_the_line_counts),
	cmocka_unit_test(settings),
	cmocka_unit_test(lines_that_only_a_profile_has),
	cmocka_unit_test(over_long_paths_are_errors),
	cmocka_unit_test(every_access_prints_as_it_parses),
	cmocka_unit_test(an_access_is_left_alone_on_failure),
	cmocka_unit_test(patterns_are_quoted_when_they_must_be),
	cmocka_unit_test(printed_patterns_cannot_steer_a_terminal),
	cmocka_unit_test(any_pattern_comes_back),
	cmocka_unit_test(the_whole_policy_with_origins),
	cmocka_unit_test(names_of_things),
};

UNIT_MAIN("text")
