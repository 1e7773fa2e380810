/* Where file tools may go: F2 (nothing leads outside) and F3 (nothing inside is refused). */
#include "files_view.h"

static void test_F2_dotdot(void **state)
{
	struct fixture *fx = *state;

	assert_string_equal(fx_text(fx, "src/../a.txt"), "one\ntwo\nthree\n");
	fx_assert_unreachable(fx, "../outside/secret.txt");
	fx_assert_unreachable(fx, "src/../../outside/secret.txt");
	fx_assert_unreachable(fx, "src/../../project/../outside/secret.txt");
	/* out and in again is inside */
	assert_string_equal(fx_text(fx, "../project/a.txt"), "one\ntwo\nthree\n");
}

static void test_F2_absolute(void **state)
{
	struct fixture *fx = *state;

	assert_string_equal(fx_text(fx, at(fx, "project/a.txt")), "one\ntwo\nthree\n");
	fx_assert_unreachable(fx, at(fx, "outside/secret.txt"));
	assert_code(fx_write(fx, at(fx, "outside/new.txt"), "x"), SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_null(fx_get(fx, "outside/new.txt"));
}

static void test_F2_prefix_twin(void **state)
{
	struct fixture *fx = *state;

	fx_assert_unreachable(fx, at(fx, "project-evil/twin.txt"));
	fx_assert_unreachable(fx, "../project-evil/twin.txt");
	assert_code(fx_write(fx, at(fx, "project-evil/new"), "x"), SB_FILES_PATH_OUTSIDE_PROJECT);
}

static void test_F2_what_does_not_exist_outside_is_not_told(void **state)
{
	struct fixture *fx = *state;
	bool exists;

	assert_null(fx_text(fx, "../outside/none"));
	assert_int_equal(fx->err.code, SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(sb_files_exists(fx->view, NULL, "../outside/none/deeper", &exists, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(sb_files_exists(fx->view, NULL, "../outside/secret.txt/x", &exists, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_fine(sb_files_exists(fx->view, NULL, "none", &exists, &fx->err));
	assert_false(exists);
	assert_fine(sb_files_exists(fx->view, NULL, "a.txt", &exists, &fx->err));
	assert_true(exists);
}

static void test_F2_links_out(void **state)
{
	struct fixture *fx = *state;

	fx_link(fx, "../outside/secret.txt", "project/relative");
	fx_link(fx, at(fx, "outside/secret.txt"), "project/absolute");
	fx_link(fx, "../outside", "project/directory");
	fx_link(fx, "relative", "project/chain");
	fx_assert_unreachable(fx, "relative");
	fx_assert_unreachable(fx, "absolute");
	fx_assert_unreachable(fx, "directory/secret.txt");
	fx_assert_unreachable(fx, "chain");
	fx_assert_unreachable(fx, "src/../directory/../outside/secret.txt");
}

static void test_F2_linked_parent_of_a_new_file(void **state)
{
	struct fixture *fx = *state;
	struct sb_files_write_request deep = {.size = sizeof deep,
					      .path = "out/a/b/new",
					      .data = "x",
					      .length = 1,
					      .parents = true};
	struct sb_files_change change;

	fx_link(fx, "../outside", "project/out");
	fx_link(fx, "../outside/dangling", "project/dangling");
	assert_code(fx_write(fx, "out/new.txt", "x"), SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(fx_write(fx, "dangling", "x"), SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(sb_files_write(fx->view, NULL, &deep, &change, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(sb_files_mkdir(fx->view, NULL, "out/d/e", true, NULL, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_code(sb_files_move(fx->view, NULL, "a.txt", "out/a.txt", false, &fx->err),
		    SB_FILES_PATH_OUTSIDE_PROJECT);
	assert_null(fx_get(fx, "outside/new.txt"));
	assert_null(fx_get(fx, "outside/dangling"));
	assert_null(fx_get(fx, "outside/a"));
	assert_string_equal(fx_get(fx, "project/a.txt"), "one\ntwo\nthree\n");
}

static void test_F3_links_inside(void **state)
{
	struct fixture *fx = *state;

	fx_link(fx, "a.txt", "project/relative");
	fx_link(fx, at(fx, "project/a.txt"), "project/absolute");
	fx_link(fx, "../a.txt", "project/src/up");
	fx_link(fx, "src", "project/dir");
	fx_link(fx, "new-target", "project/dangling");
	assert_string_equal(fx_text(fx, "relative"), "one\ntwo\nthree\n");
	assert_string_equal(fx_text(fx, "absolute"), "one\ntwo\nthree\n");
	assert_string_equal(fx_text(fx, "dir/up"), "one\ntwo\nthree\n");
	assert_fine(fx_write(fx, "relative", "through\n"));
	assert_string_equal(fx_get(fx, "project/a.txt"), "through\n");
	assert_string_equal(fx_text(fx, "absolute"), "through\n");
	assert_fine(fx_write(fx, "dangling", "made\n"));
	assert_string_equal(fx_get(fx, "project/new-target"), "made\n");
}

static void test_F2_rules_hold_for_the_target_of_a_link(void **state)
{
	struct fixture *fx = *state;

	fx_link(fx, "secret/password", "project/innocent");
	fx_link(fx, "vendor", "project/mine");
	assert_null(fx_text(fx, "innocent"));
	assert_int_equal(fx->err.code, SB_FILES_BLOCKED);
	assert_code(fx_write(fx, "mine/lib.c", "x"), SB_FILES_READ_ONLY);
	assert_code(fx_write(fx, "mine/new.c", "x"), SB_FILES_READ_ONLY);
	assert_string_equal(fx_text(fx, "mine/lib.c"), "vendor\n");
	/* the link itself is the project's to remove */
	assert_fine(sb_files_delete(fx->view, NULL, "innocent", false, &fx->err));
	assert_string_equal(fx_get(fx, "project/secret/password"), "hidden\n");
}

static void test_F2_circles(void **state)
{
	struct fixture *fx = *state;

	fx_link(fx, "two", "project/one");
	fx_link(fx, "one", "project/two");
	fx_link(fx, ".", "project/here");
	assert_null(fx_text(fx, "one"));
	assert_int_equal(fx->err.code, SB_FILES_TOO_MANY_LINKS);
	assert_code(fx_write(fx, "one/x", "x"), SB_FILES_TOO_MANY_LINKS);
	assert_string_equal(fx_text(fx, "here/here/here/a.txt"), "one\ntwo\nthree\n");
}

static void test_F3_odd_names(void **state)
{
	static const char *const names[] = {
		"file..txt",
		"..foo",
		"foo..",
		"...",
		"a b",
		" ",
		"-n",
		"~",
		"~user",
		"new\nline",
		"tab\there",
		"\xc3\xa4\xf0\x9f\x98\x80",
		"\xff\xfe not utf-8",
		"quote'\"",
		"./back\\slash",
		"dev-disk-by\\x2duuid.swap",
		"my\\ file",
		"*",
		"a?b",
		"[x]",
		"{a,b}",
		"$HOME",
		"con",
		"nul",
		"aux.txt",
		"./C:\\x",
		"src/./a\\b.txt",
		"./a.txt:s",
		"./CON",
		"nul.txt",
		"AUX.c",
		"PROGRA~1",
		"./C:x",
		"x (deleted)",
		".hidden",
		"src/..x/../..y",
		"./a:stream",
		"ab:stream",
		"log-12:30:00.txt",
		"std::vector.html",
		"Foo::Bar.3pm",
		"image:latest",
		"1700000000.M1P2.host:2,S",
		"trailing.",
		"\x01\x1b[31m",
	};
	struct fixture *fx = *state;

	fx_dir(fx, "project/src/..x");
	for (size_t i = 0; i < COUNT(names); i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof path, "%s", names[i]);
		assert_fine(fx_write(fx, path, "odd"));
		assert_string_equal(fx_text(fx, path), "odd");
		snprintf(path, sizeof path, "project/%s", names[i]);
		assert_string_equal(fx_get(fx, path), "odd");
		assert_string_equal(fx_text(fx, at(fx, path)), "odd");
		assert_fine(sb_files_delete(fx->view, NULL, names[i], false, &fx->err));
	}
}

/* What Windows would read otherwise is no name by mistake, and the answer says how to write it. */
static void test_F5_paths_of_windows(void **state)
{
	static const struct {
		const char *path;
		bool outside;
		const char *write; /* what the model is told to write */
	} cases[] = {
		{"src\\new.txt", false, "\"src/new.txt\""},
		{"src\\new.txt", false, "\"./src\\new.txt\""},
		{"src/sub\\new.txt", false, "\"src/./sub\\new.txt\""},
		{".\\new.txt", false, "\"new.txt\""},
		{"..\\project\\new.txt", false, "\"../project/new.txt\""},
		{"a.txt:stream", false, "\"a.txt\""},
		{"a.txt:12", false, "\"a.txt\""},
		{"a.txt::$DATA", false, "\"a.txt\""},
		{"a.txt:s:$DATA", false, "\"./a.txt:s:$DATA\""},
		{"src/a.txt:s", false, "\"src/./a.txt:s\""},
		{"CON", false, "\"./CON\""},
		{"NUL", false, "\"./NUL\""},
		{"src/COM1", false, "\"src/./COM1\""},
		{"COM\xc2\xb9", false, "\"./COM\xc2\xb9\""},
		{"con:", false, "\"./con:\""},
		{"CONIN$", false, "\"./CONIN$\""},
		{"..\\up.txt", true, "\"./..\\up.txt\""},
		{"src\\..\\..\\up.txt", true, "src/file.ts"},
		{"C:\\x", true, "\"./C:\\x\""},
		{"C:/x", true, "\"./C:/x\""},
		{"c:\\Users\\u\\a.txt", true, "src/file.ts"},
		{"C:", true, "\"./C:\""},
		{"\\x", true, "\"./\\x\""},
		{"\\\\server\\share\\a", true, "src/file.ts"},
		{"\\\\server", true, "src/file.ts"},
		{"\\\\?\\C:\\x", true, "src/file.ts"},
		{"\\\\.\\NUL", true, "src/file.ts"},
		{"\\??\\C:\\x", true, "src/file.ts"},
	};
	struct fixture *fx = *state;

	for (size_t i = 0; i < COUNT(cases); i++) {
		enum sb_files_code code = cases[i].outside ? SB_FILES_PATH_OUTSIDE_PROJECT
							   : SB_FILES_INVALID_ARGUMENT;
		char insisted[64];

		assert_code(fx_write(fx, cases[i].path, "x"), code);
		assert_int_equal(fx->err.violation, cases[i].outside);
		if (cases[i].outside && !strstr(cases[i].path, ".."))
			assert_string_equal(fx->err.path, cases[i].path);
		if (!strstr(fx->err.model, cases[i].write))
			fail_msg("'%s': %s", cases[i].path, fx->err.model);
		assert_null(fx_text(fx, cases[i].path));
		assert_int_equal(fx->err.code, code);
		assert_code(sb_files_move(fx->view, NULL, "a.txt", cases[i].path, false, &fx->err),
			    code);
		/* whoever insists gets that name, and once it is there it needs no more words */
		if (strncmp(cases[i].path, "src", 3) == 0 || strchr(cases[i].path, '/'))
			continue;
		snprintf(insisted, sizeof insisted, "./%s", cases[i].path);
		assert_fine(fx_write(fx, insisted, "meant"));
		assert_string_equal(fx_text(fx, cases[i].path), "meant");
		assert_fine(fx_write(fx, cases[i].path, "again"));
		assert_fine(sb_files_delete(fx->view, NULL, cases[i].path, false, &fx->err));
	}
	/* a directory of such a name can be worked in */
	fx_dir(fx, "project/odd\\dir");
	assert_fine(fx_write(fx, "odd\\dir/new.txt", "x"));
	assert_code(fx_write(fx, "odd\\dir/new\\er.txt", "x"), SB_FILES_INVALID_ARGUMENT);
	assert_code(fx_write(fx, "odd\\dirs/new.txt", "x"), SB_FILES_INVALID_ARGUMENT);
	/* and by its absolute path */
	assert_code(fx_write(fx, at(fx, "project/src\\new.txt"), "x"), SB_FILES_INVALID_ARGUMENT);
	assert_fine(fx_write(fx, at(fx, "project/odd\\dir/new.txt"), "y"));
}

/* Under WSL both systems name the same files; the answer has the name of this one. */
static void test_F5_drives_and_shares_of_wsl(void **state)
{
	static const char *const roots[] = {"/mnt/c/Users/u/p", "/home/u/p", NULL};
	static const struct {
		const char *path, *write;
	} cases[] = {
		{"C:\\Users\\u\\p\\a.txt", "\"/mnt/c/Users/u/p/a.txt\""},
		{"c:/Users/u/p/src/../a.txt", "\"/mnt/c/Users/u/p/a.txt\""},
		{"\\\\wsl.localhost\\Debian\\home\\u\\p\\a.txt", "\"/home/u/p/a.txt\""},
		{"\\\\wsl$\\Debian\\home\\u\\p\\a.txt", "\"/home/u/p/a.txt\""},
		{"C:\\Users\\u\\a.txt", NULL},
		{"D:\\Users\\u\\p\\a.txt", NULL},
		{"\\\\server\\Debian\\home\\u\\p\\a.txt", NULL},
	};
	struct sb_files_options options = {.size = sizeof options,
					   .backend = sb_files_memory_new()};
	struct sb_policy *policy = sb_policy_new();
	struct sb_files_error err;
	struct sb_files *view;
	bool exists;

	(void)state;
	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_DANGER_FULL_ACCESS);
	assert_int_equal(sb_policy_seal(policy, NULL), SB_OK);
	for (size_t i = 0; roots[i]; i++)
		assert_int_equal(sb_files_memory_mkdir(options.backend, roots[i]), 0);
	assert_int_equal(sb_files_open(policy, roots, &options, &view, &err), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_true(sb_files_exists(view, NULL, cases[i].path, &exists, &err) < 0);
		assert_int_equal(err.code, cases[i].write ? SB_FILES_INVALID_ARGUMENT
							  : SB_FILES_PATH_OUTSIDE_PROJECT);
		if (cases[i].write && !strstr(err.model, cases[i].write))
			fail_msg("'%s': %s", cases[i].path, err.model);
	}
	sb_files_close(view);
	sb_policy_free(policy);
	sb_files_backend_free(options.backend);
}

static void test_F3_spellings(void **state)
{
	static const char *const same[] = {"./a.txt",
					   "src/../a.txt",
					   "src/./../a.txt",
					   "src//..//a.txt",
					   ".//a.txt",
					   "../project/a.txt",
					   "src/../src/../a.txt",
					   "none/../a.txt",
					   "none/more/./../../a.txt",
					   "src/none/../../a.txt"};
	struct fixture *fx = *state;
	struct sb_files_info info;

	for (size_t i = 0; i < COUNT(same); i++) {
		assert_string_equal(fx_text(fx, same[i]), "one\ntwo\nthree\n");
		assert_fine(sb_files_stat(fx->view, NULL, same[i], true, &info, &fx->err));
		assert_string_equal(info.path, at(fx, "project/a.txt"));
	}
	assert_null(fx_text(fx, "a.txt/"));
	assert_int_equal(fx->err.code, SB_FILES_NOT_A_DIRECTORY);
	assert_null(fx_text(fx, "a.txt/.."));
	assert_int_equal(fx->err.code, SB_FILES_NOT_A_DIRECTORY);
	assert_null(fx_text(fx, "none/a.txt/.."));
	assert_int_equal(fx->err.code, SB_FILES_NOT_FOUND);
	assert_null(fx_text(fx, "a.txt/../a.txt"));
	assert_int_equal(fx->err.code, SB_FILES_NOT_A_DIRECTORY);
	fx_assert_unreachable(fx, "none/../../outside/secret.txt");
	assert_null(fx_text(fx, ""));
	assert_int_equal(fx->err.code, SB_FILES_INVALID_ARGUMENT);
}

/* A tree as deep as a path can be long: 4095 bytes work, 4096 are refused, both without harm. */
static void test_F3_long_paths(void **state)
{
	struct fixture *fx = *state;
	char path[PATH_MAX + 300], name[NAME_MAX + 2];
	size_t length = (size_t)snprintf(path, sizeof path, "%s", at(fx, "project"));
	struct sb_files_write_request request = {
		.size = sizeof request, .path = path, .data = "deep", .length = 4, .parents = true};
	struct sb_files_change change;
	struct sb_files_text text;

	memset(name, 'n', sizeof name);
	name[NAME_MAX] = '\0';
	assert_fine(fx_write(fx, name, "longest"));
	assert_string_equal(fx_text(fx, name), "longest");
	name[NAME_MAX] = 'n';
	name[NAME_MAX + 1] = '\0';
	assert_code(fx_write(fx, name, "too long"), SB_FILES_NAME_TOO_LONG);

	while (length < PATH_MAX - 1) {
		size_t size = PATH_MAX - 1 - length - 1;

		if (size > 201)
			size = size - 201 < 2 ? 100 : 200;
		path[length++] = '/';
		memset(path + length, 'd', size);
		length += size;
	}
	path[length] = '\0';
	assert_int_equal(strlen(path), PATH_MAX - 1);
	assert_fine(sb_files_write(fx->view, NULL, &request, &change, &fx->err));
	assert_fine(fx_read(fx, path, &text));
	assert_string_equal(text.data, "deep");
	sb_files_text_done(&text);
	path[length] = 'x';
	path[length + 1] = '\0';
	assert_code(fx_read(fx, path, &text), SB_FILES_NAME_TOO_LONG);
	assert_code(sb_files_write(fx->view, NULL, &request, &change, &fx->err),
		    SB_FILES_NAME_TOO_LONG);
	assert_fine(sb_files_delete(fx->view, NULL,
				    "dddddddddddddddddddddddddddddddddddddddddddddddddd"
				    "dddddddddddddddddddddddddddddddddddddddddddddddddd"
				    "dddddddddddddddddddddddddddddddddddddddddddddddddd"
				    "dddddddddddddddddddddddddddddddddddddddddddddddddd",
				    true, &fx->err));
}

static void test_P9_other_spellings_of_the_root(void **state)
{
	struct fixture *fx = *state;

	fx_link(fx, "project", "other-name");
	assert_string_equal(fx_text(fx, at(fx, "other-name/a.txt")), "one\ntwo\nthree\n");
	assert_fine(fx_write(fx, at(fx, "other-name/via"), "x"));
	assert_string_equal(fx_get(fx, "project/via"), "x");
	assert_code(fx_write(fx, at(fx, "other-name/vendor/x"), "x"), SB_FILES_READ_ONLY);
}

static void test_P5_more_roots(void **state)
{
	struct fixture *fx = *state;

	fx_assert_unreachable(fx, at(fx, "outside/secret.txt"));
	assert_fine(sb_files_add_root(fx->view, at(fx, "outside"), &fx->err));
	assert_string_equal(fx_text(fx, at(fx, "outside/secret.txt")), SECRET);
	assert_string_equal(fx_text(fx, "../outside/secret.txt"), SECRET);
	/* a root bounds, it does not grant: the policy knows no writable "outside" */
	assert_code(fx_write(fx, at(fx, "outside/secret.txt"), "x"), SB_FILES_NEEDS_CONSENT);
	assert_null(fx_text(fx, at(fx, "project-evil/twin.txt")));
	assert_string_equal(sb_files_root(fx->view, 1), at(fx, "outside"));
	assert_null(sb_files_root(fx->view, 2));
}

static void test_F2_root_itself(void **state)
{
	struct fixture *fx = *state;

	assert_code(sb_files_delete(fx->view, NULL, ".", true, &fx->err),
		    SB_FILES_INVALID_ARGUMENT);
	assert_code(sb_files_delete(fx->view, NULL, at(fx, "project"), true, &fx->err),
		    SB_FILES_INVALID_ARGUMENT);
	assert_code(sb_files_move(fx->view, NULL, at(fx, "project"), "src/p", false, &fx->err),
		    SB_FILES_INVALID_ARGUMENT);
	assert_code(fx_write(fx, ".", "x"), SB_FILES_IS_A_DIRECTORY);
	assert_code(fx_write(fx, "src/", "x"), SB_FILES_IS_A_DIRECTORY);
	assert_code(fx_write(fx, "new/", "x"), SB_FILES_IS_A_DIRECTORY);
	assert_string_equal(fx_get(fx, "project/a.txt"), "one\ntwo\nthree\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_BOTH(test_F2_dotdot),
		ON_BOTH(test_F2_absolute),
		ON_BOTH(test_F2_prefix_twin),
		ON_BOTH(test_F2_what_does_not_exist_outside_is_not_told),
		ON_BOTH(test_F2_links_out),
		ON_BOTH(test_F2_linked_parent_of_a_new_file),
		ON_BOTH(test_F3_links_inside),
		ON_BOTH(test_F2_rules_hold_for_the_target_of_a_link),
		ON_BOTH(test_F2_circles),
		ON_BOTH(test_F3_odd_names),
		ON_BOTH(test_F5_paths_of_windows),
		cmocka_unit_test(test_F5_drives_and_shares_of_wsl),
		ON_BOTH(test_F3_spellings),
		ON_BOTH(test_F3_long_paths),
		ON_BOTH(test_P9_other_spellings_of_the_root),
		ON_BOTH(test_P5_more_roots),
		ON_BOTH(test_F2_root_itself),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("files_paths", tests, NULL, NULL);
}
