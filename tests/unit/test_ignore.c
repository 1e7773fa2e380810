/*
 * What git ignores: the rules by example, and compared with git itself on random trees.
 */
#include "tree.h"

#include <errno.h>

#include "base/auto.h"
#include "search/search.h"
#include "path/path.h"

static void write_file(const char *root, const char *name, const char *text)
{
	SB_AUTO_FILE FILE *out = fopen(in(root, name), "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
}

static bool is_ignored(const char *root, const char *path, bool directory)
{
	SB_AUTO_FD int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct sb_search_disk disk = {.root = fd};
	struct sb_search_source source = {.backend = &sb_search_disk_backend, .context = &disk};
	struct sb_error err = {0};
	bool ignored = false;
	int status = sb_ignore_check(&source, path, directory, NULL, &ignored, &err);

	if (status != SB_OK)
		fail_msg("'%s': %s", path, err.message);
	return ignored;
}

static enum sb_ignore_said ask(const char *text, const char *path, bool directory)
{
	struct sb_ignore_rules *rules = sb_ignore_rules_new(text, strlen(text));
	enum sb_ignore_said said = sb_ignore_rules_ask(rules, path, strlen(path), directory);

	sb_ignore_rules_free(rules);
	return said;
}

static void one_file_by_example(void **state)
{
	static const struct {
		const char *text, *path;
		bool directory;
		enum sb_ignore_said said;
	} examples[] = {
		{"*.o", "a.o", false, SB_IGNORE_YES},
		{"*.o", "x/y/a.o", false, SB_IGNORE_YES},
		{"*.o", "a.oo", false, SB_IGNORE_NOTHING},
		{"*.o\n!a.o", "a.o", false, SB_IGNORE_NO},
		{"!a.o\n*.o", "a.o", false, SB_IGNORE_YES},
		{"build/", "build", true, SB_IGNORE_YES},
		{"build/", "build", false, SB_IGNORE_NOTHING},
		{"/a", "a", false, SB_IGNORE_YES},
		{"/a", "x/a", false, SB_IGNORE_NOTHING},
		{"x/a", "y/x/a", false, SB_IGNORE_NOTHING},
		{"**/a", "y/x/a", false, SB_IGNORE_YES},
		{"a/**", "a/b/c", false, SB_IGNORE_YES},
		{"a/**", "a", true, SB_IGNORE_NOTHING},
		{"a/**/c", "a/c", false, SB_IGNORE_YES},
		{"a/**/c", "a/x/y/c", false, SB_IGNORE_YES},
		{"a/*/c", "a/x/y/c", false, SB_IGNORE_NOTHING},
		{"a  ", "a", false, SB_IGNORE_YES},
		{"a\\ ", "a ", false, SB_IGNORE_YES},
		{"a\\ ", "a", false, SB_IGNORE_NOTHING},
		{"\\#a", "#a", false, SB_IGNORE_YES},
		{"#a", "#a", false, SB_IGNORE_NOTHING},
		{"\\!a", "!a", false, SB_IGNORE_YES},
		{"a\r\n", "a", false, SB_IGNORE_YES},
		{"\xef\xbb\xbf"
		 "a",
		 "a", false, SB_IGNORE_YES},
		{"[a-c]1", "b1", false, SB_IGNORE_YES},
		{"[!a-c]1", "b1", false, SB_IGNORE_NOTHING},
		{"[a", "[a", false, SB_IGNORE_NOTHING}, /* never closed: matches nothing */
		{"a\\", "a\\", false, SB_IGNORE_NOTHING},
		{"", "a", false, SB_IGNORE_NOTHING},
		{"\n\n/\n", "a", true, SB_IGNORE_NOTHING},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++)
		if (ask(examples[i].text, examples[i].path, examples[i].directory) !=
		    examples[i].said)
			fail_msg("'%s' about '%s'", examples[i].text, examples[i].path);
}

static void P8_ignored_files_are_known_without_git(void **state)
{
	const char *root = *state;

	make_dir(root, "src");
	make_dir(root, "src/deep");
	write_file(root, ".gitignore", "*.log\n/dist/\n");
	write_file(root, "src/.gitignore", "!keep.log\n/deep/*.tmp\n");
	assert_true(is_ignored(root, "a.log", false));
	assert_true(is_ignored(root, "src/a.log", false));
	assert_false(is_ignored(root, "src/keep.log", false));
	assert_false(is_ignored(root, "src/main.c", false));
	assert_true(is_ignored(root, "src/deep/x.tmp", false));
	assert_false(is_ignored(root, "src/x.tmp", false));
	/* Nothing of these is there. */
	assert_true(is_ignored(root, "dist/new/file.js", false));
	assert_false(is_ignored(root, "src/dist/new/file.js", false));
	assert_true(is_ignored(root, "src/none/a.log", false));
	assert_false(is_ignored(root, "", true));
}

static void P8_links_and_fakes_hide_nothing(void **state)
{
	const char *root = *state;

	make_dir(root, "sub");
	make_dir(root, "sub/.git");
	write_file(root, "all", "*\n");
	write_file(root, ".gitignore", "secret.env\n");
	/* An empty .git makes no repository, so the rules above still count. */
	assert_true(is_ignored(root, "sub/secret.env", false));
	/* A link in place of .gitignore is not read; git does not either. */
	make_link(root, "sub/.gitignore", "../all");
	assert_false(is_ignored(root, "sub/other", false));
	/* A FIFO neither blocks nor counts. */
	assert_int_equal(unlink(in(root, "sub/.gitignore")), 0);
	assert_int_equal(mkfifo(in(root, "sub/.gitignore"), 0644), 0);
	assert_true(is_ignored(root, "sub/secret.env", false));
	/* With HEAD and objects it is a repository of its own. */
	write_file(root, "sub/.git/HEAD", "ref: refs/heads/main\n");
	make_dir(root, "sub/.git/objects");
	assert_false(is_ignored(root, "sub/secret.env", false));
}

static void a_huge_file_is_refused(void **state)
{
	const char *root = *state;
	SB_AUTO_FD int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sb_search_disk disk = {.root = fd};
	struct sb_search_source source = {.backend = &sb_search_disk_backend, .context = &disk};
	struct sb_error err = {0};
	bool ignored = true;

	make_file(root, ".gitignore");
	assert_int_equal(truncate(in(root, ".gitignore"), SB_IGNORE_BYTES + 1), 0);
	assert_int_equal(sb_ignore_check(&source, "a", false, NULL, &ignored, &err), SB_E_REFUSED);
	assert_true(ignored); /* left alone */
	assert_int_equal(sb_ignore_check(&source, "a/../b", false, NULL, &ignored, &err),
			 SB_E_INVALID);
	assert_int_equal(sb_ignore_check(&source, "/a", false, NULL, &ignored, &err), SB_E_INVALID);
}

/* ---- against git ---- */

static const char *const names[] = {"a",   "b",      "ab",       "abc", "a b", "a ", "#a",
				    "!a",  "[a]",    "b\\",      "x*",  "-a",  "a1", ".a",
				    "foo", "foobar", "\xc3\xa9", "B",   "bar"};
static const char *const pieces[] = {"a",
				     "b",
				     "ab",
				     "*",
				     "**",
				     "?",
				     "[ab]",
				     "[!a]",
				     "[^b]",
				     "[a-c]",
				     "[",
				     "]",
				     "\\",
				     "\\*",
				     " ",
				     "\\ ",
				     "#",
				     "!",
				     ".",
				     "/",
				     "/",
				     "/",
				     "**/",
				     "/**",
				     "/**/",
				     "foo",
				     "bar",
				     "x",
				     "[[:alpha:]]",
				     "[]",
				     "[]-a]",
				     "[a-]",
				     "[[:x:]]",
				     "-",
				     "\xc3\xa9",
				     "1",
				     "[[:digit:]1]",
				     "c",
				     "\\/"};

static void random_pattern(FILE *out)
{
	unsigned count = unit_below(5) + 1;

	if (unit_below(5) == 0)
		fputc('!', out);
	if (unit_below(4) == 0)
		fputc('/', out);
	if (unit_below(3) == 0) /* a plain name, so that something matches */
		fputs(names[unit_below(COUNT(names))], out);
	else
		for (unsigned i = 0; i < count; i++)
			fputs(pieces[unit_below(COUNT(pieces))], out);
	if (unit_below(4) == 0)
		fputc('/', out);
	if (unit_below(8) == 0)
		fputs(unit_below(2) ? "  " : "\r", out);
	fputc('\n', out);
}

static void random_rules(const char *path)
{
	SB_AUTO_FILE FILE *out = fopen(path, "w");

	assert_non_null(out);
	for (unsigned i = unit_below(6) + 1; i > 0; i--)
		random_pattern(out);
}

struct paths {
	char all[400][256];
	bool directory[400];
	size_t count;
};

static void grow_tree(const char *root, const char *at, unsigned depth, struct paths *paths)
{
	if (unit_below(2))
		random_rules(in(root, *at ? in(at, ".gitignore") : ".gitignore"));
	for (unsigned i = 0; i < 7 && paths->count < COUNT(paths->all); i++) {
		const char *name = names[unit_below(COUNT(names))];
		char path[200];
		bool directory = depth < 3 && unit_below(2);

		if (snprintf(path, sizeof path, "%s%s%s", at, *at ? "/" : "", name) >=
		    (int)sizeof path)
			continue;
		if (access(in(root, path), F_OK) == 0)
			continue;
		snprintf(paths->all[paths->count], sizeof paths->all[0], "%s", path);
		paths->directory[paths->count++] = directory;
		if (directory) {
			make_dir(root, path);
			grow_tree(root, path, depth + 1, paths);
		} else {
			make_file(root, path);
		}
	}
}

/* What git says, one byte per path. */
static void ask_git(const char *root, const struct paths *paths, bool *ignored)
{
	SB_AUTO_FREE char *command = NULL;
	char line[512];
	size_t at = 0;
	SB_AUTO_FILE FILE *out = fopen(in(root, ".git/paths"), "w");
	FILE *git;

	assert_non_null(out);
	for (size_t i = 0; i < paths->count; i++)
		fwrite(paths->all[i], 1, strlen(paths->all[i]) + 1, out);
	fflush(out);
	assert_true(asprintf(&command,
			     "cd '%s' && HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 git "
			     "-c core.excludesFile=\"$PWD/.git/global\" "
			     "check-ignore --no-index --stdin -z <.git/paths 2>.git/errors",
			     root) > 0);
	git = popen(command, "r");
	assert_non_null(git);
	memset(ignored, 0, paths->count);
	for (int c; (c = fgetc(git)) != EOF;) {
		line[at++] = (char)c;
		if (c != '\0' && at < sizeof line)
			continue;
		at = 0;
		for (size_t i = 0; i < paths->count; i++)
			if (strcmp(paths->all[i], line) == 0)
				ignored[i] = true;
	}
	/* 0: some are ignored, 1: none */
	if (WEXITSTATUS(pclose(git)) > 1)
		fail_msg("git failed in %s", root);
}

static void compare_with_git(const char *root)
{
	static struct paths paths;
	static bool expected[COUNT(paths.all)];
	SB_AUTO_FD int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct sb_search_disk disk = {.root = fd};
	struct sb_search_source source = {.backend = &sb_search_disk_backend, .context = &disk};
	SB_AUTO_FREE char *global = NULL;
	size_t capacity = 0;
	SB_AUTO_FILE FILE *stream = NULL;
	ssize_t length;

	paths.count = 0;
	grow_tree(root, "", 0, &paths);
	random_rules(in(root, ".git/info/exclude"));
	random_rules(in(root, ".git/global"));
	ask_git(root, &paths, expected);
	stream = fopen(in(root, ".git/global"), "r");
	length = getdelim(&global, &capacity, EOF, stream);
	for (size_t i = 0; i < paths.count; i++) {
		struct sb_error err = {0};
		bool ignored = false;

		assert_int_equal(sb_ignore_check(&source, paths.all[i], paths.directory[i],
						 length > 0 ? global : NULL, &ignored, &err),
				 SB_OK);
		if (ignored != expected[i])
			fail_msg("'%s' is %signored for git", paths.all[i],
				 expected[i] ? "" : "not ");
	}
}

static void random_trees_as_git_has_them(void **state)
{
	const char *count = getenv("SANDBASH_TEST_TREES");

	unit_seed();
	for (long i = count ? strtol(count, NULL, 10) : 60; i > 0; i--) {
		SB_AUTO_FREE char *root = sb_path_join(*state, "tree");
		SB_AUTO_FREE char *command = NULL;

		assert_true(asprintf(&command, "HOME=/nonexistent git init -q --template= '%s'",
				     root) > 0);
		assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): a fixed command
		make_dir(root, ".git/info");
		compare_with_git(root);
		tree_clear(root);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(one_file_by_example),
	cmocka_unit_test_setup_teardown(P8_ignored_files_are_known_without_git, tree_setup,
					tree_teardown),
	cmocka_unit_test_setup_teardown(P8_links_and_fakes_hide_nothing, tree_setup, tree_teardown),
	cmocka_unit_test_setup_teardown(a_huge_file_is_refused, tree_setup, tree_teardown),
	cmocka_unit_test_setup_teardown(random_trees_as_git_has_them, tree_setup, tree_teardown),
};

UNIT_MAIN("ignore")
