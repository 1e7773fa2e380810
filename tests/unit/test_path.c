/* test_path.c - canonical paths: by text, and against realpath(3) on random trees. */
#include "tree.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/auto.h"
#include "path/path.h"

static void P9_a_directory_holds_its_own_and_no_lookalike(void **state)
{
	(void)state;
	assert_true(sb_path_within("/home/u/proj", "/home/u/proj"));
	assert_true(sb_path_within("/home/u/proj", "/home/u/proj/a/b"));
	assert_true(sb_path_within("/home/u/proj", "/home/u/proj/\n\xff"));
	assert_false(sb_path_within("/home/u/proj", "/home/u/proj-evil"));
	assert_false(sb_path_within("/home/u/proj", "/home/u/proj-evil/a"));
	assert_false(sb_path_within("/home/u/proj", "/home/u/pro"));
	assert_false(sb_path_within("/home/u/proj", "/home/u"));
	assert_false(sb_path_within("/home/u/proj", "/"));
	assert_false(sb_path_within("/home/u/proj", "/home/u/PROJ"));
	assert_true(sb_path_within("/", "/"));
	assert_true(sb_path_within("/", "/a"));
}

static void joins_with_one_slash(void **state)
{
	static const struct {
		const char *dir, *name, *expected;
	} cases[] = {
		{"/", "a", "/a"}, {"/a", "b", "/a/b"}, {"/a/", "b", "/a/b"},
		{"", "a", "/a"},  {"/a", "", "/a/"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		SB_AUTO_FREE char *joined = sb_path_join(cases[i].dir, cases[i].name);

		assert_string_equal(joined, cases[i].expected);
	}
}

static void parents_end_at_the_root(void **state)
{
	SB_AUTO_FREE char *deep = sb_path_parent("/a/b");
	SB_AUTO_FREE char *top = sb_path_parent("/a");

	(void)state;
	assert_string_equal(deep, "/a");
	assert_string_equal(top, "/");
	assert_null(sb_path_parent("/"));
	assert_null(sb_path_parent(""));
}

static void absolute_joins_and_tidies_by_text(void **state)
{
	static const struct {
		const char *path, *base, *expected;
	} cases[] = {
		{"/", "/b", "/"},
		{"//a///b/", "/b", "/a/b"},
		{"/a/./b/.", "/b", "/a/b"},
		{"/a/b/../c", "/b", "/a/c"},
		{"/../../a", "/b", "/a"},
		{"/a/..", "/b", "/"},
		{"x", "/b", "/b/x"},
		{"x", "/", "/x"},
		{".", "/b", "/b"},
		{"..", "/b", "/"},
		{"./x/", "/b/", "/b/x"},
		{"~", "/b", "/home/u"},
		{"~/", "/b", "/home/u"},
		{"~/x", "/b", "/home/u/x"},
		{"~/../v", "/b", "/home/v"},
		{"./~", "/b", "/b/~"},
		{"./~user", "/b", "/b/~user"},
		{"a~", "/b", "/b/a~"},
		/* no false positives (F3) */
		{"/file..txt", "/b", "/file..txt"},
		{"/..foo/...", "/b", "/..foo/..."},
		{"/a \n\x1b\xff", "/b", "/a \n\x1b\xff"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		SB_AUTO_FREE char *out = NULL;
		struct sb_error err;

		assert_int_equal(
			sb_path_absolute(cases[i].path, cases[i].base, "/home/u", &out, &err),
			SB_OK);
		assert_string_equal(out, cases[i].expected);
	}
}

static void absolute_refuses_what_it_cannot_know(void **state)
{
	struct sb_error err;
	char *out = NULL;

	(void)state;
	assert_int_equal(sb_path_absolute("", "/b", "/h", &out, &err), SB_E_INVALID);
	assert_int_equal(sb_path_absolute("~root", "/b", "/h", &out, &err), SB_E_INVALID);
	assert_string_equal(err.message, "cannot use '~root': '~' with a user name");
	assert_string_equal(err.hint,
			    "write the path in full, or './~root' for a name with a tilde");
	assert_int_equal(sb_path_absolute("~root/x", "/b", "/h", &out, &err), SB_E_INVALID);
	assert_int_equal(sb_path_absolute("~", "/b", NULL, &out, &err), SB_E_INVALID);
	assert_int_equal(sb_path_absolute("~/x", "/b", "", &out, &err), SB_E_INVALID);
	assert_int_equal(sb_path_absolute("~/x", "/b", "relative", &out, &err), SB_E_INVALID);
	assert_string_equal(err.message, "cannot use '~/x': HOME is not set");
	assert_null(out);
}

static char *long_path(size_t length, const char *step)
{
	char *path = malloc(length + 1);

	for (size_t i = 0; i < length; i++)
		path[i] = step[i % strlen(step)];
	path[length] = '\0';
	return path;
}

static void over_long_paths_are_errors(void **state)
{
	static const size_t lengths[] = {PATH_MAX,      PATH_MAX + 1,      2 * PATH_MAX,
					 16 * PATH_MAX, 16 * PATH_MAX + 1, 1000000};
	SB_AUTO_FREE char *fits = long_path(PATH_MAX - 1, "/missing");
	SB_AUTO_FREE char *same = NULL;
	struct sb_error err;
	char *out = NULL;

	(void)state;
	assert_int_equal(sb_path_canonical(fits, &same, NULL, &err), SB_OK);
	assert_string_equal(same, fits);
	for (size_t i = 0; i < COUNT(lengths); i++) {
		SB_AUTO_FREE char *path = long_path(lengths[i], "/missing");

		assert_int_equal(sb_path_absolute(path, "/", "/h", &out, &err), SB_E_INVALID);
		assert_int_equal(err.sys_errno, ENAMETOOLONG);
		assert_int_equal(sb_path_canonical(path, &out, NULL, &err), SB_E_INVALID);
		assert_int_equal(err.sys_errno, ENAMETOOLONG);
		assert_int_equal(sb_path_canonical_beneath("/usr", path, &out, NULL, &err),
				 SB_E_INVALID);
		assert_int_equal(sb_path_canonical_parent(path, &out, &err), SB_E_INVALID);
		assert_null(out);
	}
}

/* Becoming "/" because nothing of it was kept would be the worst of all answers. */
static void a_path_longer_than_any_buffer_is_no_short_path(void **state)
{
	SB_AUTO_FREE char *path = long_path(16 * PATH_MAX + 2, "/.");
	SB_AUTO_FREE char *climbing = long_path(16 * PATH_MAX + 2, "../");
	struct sb_error err;
	char *out = NULL;

	(void)state;
	assert_int_equal(sb_path_canonical(path, &out, NULL, &err), SB_E_INVALID);
	assert_int_equal(err.sys_errno, ENAMETOOLONG);
	assert_int_equal(sb_path_canonical_beneath("/usr", climbing, &out, NULL, &err),
			 SB_E_INVALID);
	assert_null(out);
}

static void an_over_long_name_is_an_error(void **state)
{
	SB_AUTO_FREE char *name = long_path(NAME_MAX + 1, "n");
	struct sb_error err;
	char *out = NULL;

	assert_int_equal(sb_path_canonical(in(*state, name), &out, NULL, &err), SB_E_INVALID);
	assert_int_equal(err.sys_errno, ENAMETOOLONG);
	assert_null(out);
}

/* Beneath root, path resolves to expected, and this errno says why not all of it is there. */
static void resolves(const char *root, const char *path, const char *expected, int expected_missing)
{
	SB_AUTO_FREE char *out = NULL;
	struct sb_error err = {0};
	int missing = -1;

	if (sb_path_canonical(in(root, path), &out, &missing, &err) != SB_OK)
		fail_msg("%s: %s", path, err.message);
	assert_string_equal(out, *expected ? in(root, expected) : root);
	assert_int_equal(missing, expected_missing);
}

static void links_are_resolved_before_dotdot(void **state)
{
	const char *root = *state;

	make_dir(root, "a");
	make_dir(root, "a/b");
	make_dir(root, "a/b/c");
	make_link(root, "down", "a/b/c");
	make_link(root, "abs", in(root, "a/b"));
	make_link(root, "a/up", "..");
	make_link(root, "slash", "a//b///");
	resolves(root, "down", "a/b/c", 0);
	resolves(root, "down/..", "a/b", 0); /* by text it would be the root */
	resolves(root, "down/../..", "a", 0);
	resolves(root, "abs/c/../../up/down/.", "a/b/c", 0);
	resolves(root, "slash//c/", "a/b/c", 0);
}

static void the_root_stays_the_root(void **state)
{
	static const char *const roots[] = {"/", "//", "/.", "/..", "/../..", "/./../"};

	(void)state;
	for (size_t i = 0; i < COUNT(roots); i++) {
		SB_AUTO_FREE char *out = NULL;
		SB_AUTO_FREE char *beneath = NULL;
		int missing = -1;

		assert_int_equal(sb_path_canonical(roots[i], &out, &missing, NULL), SB_OK);
		assert_string_equal(out, "/");
		assert_int_equal(missing, 0);
		assert_int_equal(sb_path_canonical_beneath("/", roots[i], &beneath, NULL, NULL),
				 SB_OK);
		assert_string_equal(beneath, "/");
	}
}

static void what_is_missing_is_kept_by_text(void **state)
{
	const char *root = *state;

	make_dir(root, "a");
	make_file(root, "file");
	make_link(root, "link", "a");
	make_link(root, "dangling", "nowhere/x");
	make_link(root, "to-file", "file");
	resolves(root, "none", "none", ENOENT);
	resolves(root, "link/none/deep", "a/none/deep", ENOENT);
	resolves(root, "none/x/../y", "none/y", ENOENT);
	resolves(root, "dangling", "nowhere/x", ENOENT);
	resolves(root, "dangling/y", "nowhere/x/y", ENOENT);
	resolves(root, "file/x", "file/x", ENOTDIR);
	resolves(root, "to-file/x/y", "file/x/y", ENOTDIR);
	resolves(root, "file/..", "", ENOTDIR);
	resolves(root, "file/./.", "file", ENOTDIR);
	resolves(root, "file/", "file", 0); /* S8: trailing slashes are removed */
}

/*
 * Climbing back out of what is missing leads to what exists, and a link there is
 * a link: were it kept, a rule for this spelling would not hold for the target.
 */
static void links_after_something_missing_are_resolved(void **state)
{
	const char *root = *state;

	make_dir(root, "a");
	make_file(root, "file");
	make_link(root, "link", "a");
	resolves(root, "none/../link", "a", ENOENT);
	resolves(root, "none/x/../../link/y", "a/y", ENOENT);
	resolves(root, "none/../a/../link", "a", ENOENT);
	resolves(root, "none/../none2/../link", "a", ENOENT);
	resolves(root, "file/../link", "a", ENOTDIR);
	resolves(root, "file/x/../../link", "a", ENOTDIR);
	resolves(root, "none/../link/../file", "file", ENOENT);
}

static void loops_are_errors(void **state)
{
	static const char *const loops[] = {"self", "one", "two", "one/x", "self/..", "deeper"};
	const char *root = *state;

	make_link(root, "self", "self");
	make_link(root, "one", "two");
	make_link(root, "two", "./one");
	make_link(root, "deeper", "deeper/x");
	for (size_t i = 0; i < COUNT(loops); i++) {
		struct sb_error err = {0};
		char *out = NULL;

		assert_int_equal(sb_path_canonical(in(root, loops[i]), &out, NULL, &err),
				 SB_E_INVALID);
		assert_int_equal(err.sys_errno, ELOOP);
		assert_null(out);
	}
}

static void forty_links_are_followed_as_by_the_kernel(void **state)
{
	const char *root = *state;
	struct stat info;
	char *out = NULL;

	make_dir(root, "link0");
	for (int i = 1; i <= 41; i++) {
		char name[16], target[16];

		snprintf(name, sizeof name, "link%d", i);
		snprintf(target, sizeof target, "link%d", i - 1);
		make_link(root, name, target);
	}
	assert_int_equal(stat(in(root, "link40"), &info), 0);
	resolves(root, "link40", "link0", 0);
	assert_int_equal(stat(in(root, "link41"), &info), -1);
	assert_int_equal(sb_path_canonical(in(root, "link41"), &out, NULL, NULL), SB_E_INVALID);
}

/* Links whose targets are long, one after another: the text still to do must not be lost. */
static void long_targets_add_up(void **state)
{
	const char *root = *state;
	SB_AUTO_FREE char *dots = long_path(4000, "./");
	SB_AUTO_FREE char *path = long_path(30 * 2, "l/");

	make_link(root, "l", dots);
	resolves(root, path, "", 0);
}

static void names_are_bytes(void **state)
{
	static const char *const names[] = {"new\nline", "\x1b[31m", "\xff\xfe", " ", "~",
					    "..foo",     "a..b",     "...",      "*", "\\"};
	const char *root = *state;

	for (size_t i = 0; i < COUNT(names); i++) {
		make_dir(root, names[i]);
		resolves(root, names[i], names[i], 0);
	}
}

static void a_base_saves_no_meaning(void **state)
{
	static const char *const rests[] = {"link", "link/..", "..",    "a/../link/x",
					    "",     "/a/",     "none/x"};
	const char *root = *state;

	make_dir(root, "a");
	make_dir(root, "a/b");
	make_link(root, "link", "a/b");
	for (size_t i = 0; i < COUNT(rests); i++) {
		SB_AUTO_FREE char *whole = NULL;
		SB_AUTO_FREE char *beneath = NULL;
		int missing_whole, missing_beneath;

		assert_int_equal(
			sb_path_canonical(in(root, rests[i]), &whole, &missing_whole, NULL), SB_OK);
		assert_int_equal(
			sb_path_canonical_beneath(root, rests[i], &beneath, &missing_beneath, NULL),
			SB_OK);
		assert_string_equal(beneath, whole);
		assert_int_equal(missing_beneath, missing_whole);
	}
}

static void parent_of(const char *root, const char *path, const char *expected)
{
	SB_AUTO_FREE char *out = NULL;

	assert_int_equal(sb_path_canonical_parent(in(root, path), &out, NULL), SB_OK);
	assert_string_equal(out, in(root, expected));
}

static void the_last_link_is_kept_when_it_is_meant(void **state)
{
	const char *root = *state;

	make_dir(root, "a");
	make_link(root, "link", "a");
	make_link(root, "a/inner", "../link");
	make_link(root, "self", "self");
	parent_of(root, "link", "link");
	parent_of(root, "link/inner", "a/inner");
	parent_of(root, "self", "self");
	parent_of(root, "link/none", "a/none");
	parent_of(root, "link/.", "a"); /* inside the directory, so not the link */
	parent_of(root, "a/inner/../link", "link");
	parent_of(root, "link/", "link"); /* S8: trailing slashes are removed */
	parent_of(root, "link///", "link");
}

/*
 * In a child that is no root: look up the /proc/PID/root of a process that hides its
 * memory.  The kernel shows that link to anyone, and its target to nobody: proc(5).
 */
static int look_at_hidden_link(void)
{
	SB_AUTO_FREE char *out = NULL;
	char path[64], target[16], byte;
	int ready[2], missing = 0, status = 1;
	pid_t hidden;

	if ((geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) || pipe(ready) != 0)
		return 2;
	hidden = fork();
	if (hidden == 0) {
		prctl(PR_SET_DUMPABLE, 0);
		(void)!write(ready[1], "", 1);
		pause();
		_exit(0);
	}
	if (hidden < 0 || read(ready[0], &byte, 1) != 1)
		return 3;
	snprintf(path, sizeof path, "/proc/%d/root/etc", (int)hidden);
	path[strlen(path) - 4] = '\0';
	if (readlink(path, target, sizeof target) >= 0 || errno != EACCES)
		status = 4;
	path[strlen(path)] = '/';
	if (status == 1 && sb_path_canonical(path, &out, &missing, NULL) == SB_OK)
		status = missing == EACCES && strcmp(out, path) == 0 ? 0 : 5;
	kill(hidden, SIGKILL);
	waitpid(hidden, NULL, 0);
	return status;
}

static void a_link_that_cannot_be_read_is_out_of_reach(void **state)
{
	int status;
	pid_t child;

	(void)state;
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(look_at_hidden_link());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void what_may_not_be_searched_is_kept_by_text(void **state)
{
	const char *root = *state;
	int status;
	pid_t child;

	make_dir(root, "closed");
	make_link(root, "closed/link", "..");
	assert_int_equal(chmod(in(root, "closed"), 0600), 0);
	assert_int_equal(chmod(root, 0755), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		SB_AUTO_FREE char *out = NULL;
		int missing = 0;

		if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
			_exit(2);
		if (sb_path_canonical(in(root, "closed/link/x"), &out, &missing, NULL) != SB_OK)
			_exit(4);
		_exit(missing == EACCES && strcmp(out, in(root, "closed/link/x")) == 0 ? 0 : 5);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(chmod(in(root, "closed"), 0700), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- random trees ---- */

static const char *const random_names[] = {"a", "b", "c", "d"};

static void random_components(char *out, size_t size, int most)
{
	int count = (int)unit_below((unsigned)most + 1);
	size_t length = strlen(out);

	for (int i = 0; i < count; i++) {
		const char *name = random_names[unit_below(COUNT(random_names))];

		switch (unit_below(12)) {
		case 0:
		case 1:
		case 2:
			name = "..";
			break;
		case 3:
			name = ".";
			break;
		case 4:
			name = "";
			break;
		case 5:
			name = "none";
			break;
		}
		length += (size_t)snprintf(out + length, size - length, "%s%s", i ? "/" : "", name);
	}
}

/* Would something at path lie in the tree?  Links in it lead anywhere, to "/" as well. */
static bool is_in_tree(const char *root, const char *path)
{
	char *parent = sb_path_parent(path), *real = parent ? realpath(parent, NULL) : NULL;
	char *top = realpath(root, NULL);
	bool in_tree = real && top && sb_path_within(top, real);

	free(parent);
	free(real);
	free(top);
	return in_tree;
}

static void random_tree(const char *root)
{
	for (int i = 0; i < 14; i++) {
		char path[PATH_MAX], target[PATH_MAX] = "";
		int fd;

		snprintf(path, sizeof path, "%s/%s", root, random_names[unit_below(4)]);
		for (unsigned depth = unit_below(3); depth; depth--) {
			size_t length = strlen(path);

			snprintf(path + length, sizeof path - length, "/%s",
				 random_names[unit_below(4)]);
		}
		if (!is_in_tree(root, path))
			continue;
		switch (unit_below(8)) { /* most of these fail: the tree is what comes of it */
		case 0:
			fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_EXCL, 0644);
			if (fd >= 0)
				close(fd);
			break;
		case 1:
			snprintf(target, sizeof target, "%s/", root);
			random_components(target, sizeof target, 3);
			(void)!symlink(target, path);
			break;
		case 2:
		case 3:
		case 4:
			random_components(target, sizeof target, 3);
			(void)!symlink(target, path);
			break;
		default:
			mkdir(path, 0755);
			break;
		}
	}
}

/* No prefix of path that is there may be a link; no component may be odd. */
static void is_canonical(const char *path)
{
	char prefix[PATH_MAX];

	assert_int_equal(path[0], '/');
	for (const char *at = path + 1; path[1]; at++) {
		struct stat info;
		size_t length = strcspn(at, "/");

		assert_true(length > 0);
		assert_false(length == 1 && at[0] == '.');
		assert_false(length == 2 && at[0] == '.' && at[1] == '.');
		at += length;
		snprintf(prefix, sizeof prefix, "%.*s", (int)(at - path), path);
		if (lstat(prefix, &info) == 0 && S_ISLNK(info.st_mode))
			fail_msg("%s holds the link %s", path, prefix);
		if (*at == '\0')
			break;
	}
}

/* The last component is a real name, so "the link itself" has a meaning. */
static void check_parent(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash + 1;
	SB_AUTO_FREE char *directory = strndup(path, (size_t)(slash - path));
	SB_AUTO_FREE char *real = realpath(directory, NULL);
	SB_AUTO_FREE char *out = NULL;
	SB_AUTO_FREE char *expected = NULL;
	struct stat info;

	if (!real || stat(real, &info) != 0 || !S_ISDIR(info.st_mode) || !*name ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	expected = sb_path_join(real, name);
	assert_int_equal(sb_path_canonical_parent(path, &out, NULL), SB_OK);
	assert_string_equal(out, expected);
}

/* A file made through this spelling must be the one that the canonical path names. */
static void check_creation(const char *path, const char *canonical)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NONBLOCK, 0644);
	struct stat by_path, by_canonical;

	if (fd < 0)
		return;
	assert_int_equal(fstat(fd, &by_path), 0);
	assert_int_equal(stat(canonical, &by_canonical), 0);
	assert_int_equal(by_path.st_ino, by_canonical.st_ino);
	close(fd);
	unlink(canonical);
}

/* A slash after a file, written or in a link, is the one thing we are lenient about (S8). */
static bool is_file(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static void check_against_realpath(const char *root, const char *path)
{
	SB_AUTO_FREE char *out = NULL;
	SB_AUTO_FREE char *again = NULL;
	SB_AUTO_FREE char *beneath = NULL;
	SB_AUTO_FREE char *real = realpath(path, NULL);
	int why = real ? 0 : errno, missing = -1, missing_beneath = -1, status;
	struct sb_error err = {0};

	status = sb_path_canonical(path, &out, &missing, &err);
	if (status != SB_OK) {
		/* A loop behind something missing is still a loop to us. */
		assert_int_equal(err.sys_errno, ELOOP);
		assert_true(why == ELOOP || why == ENOENT || why == ENOTDIR);
		return;
	}
	is_canonical(out);
	if (real) {
		assert_string_equal(out, real);
		assert_int_equal(missing, 0);
	} else if (missing != why && !(missing == 0 && why == ENOTDIR && is_file(out))) {
		fail_msg("%s: %s, not %s", path, strerror(missing), strerror(why));
	}
	assert_int_equal(sb_path_canonical(out, &again, NULL, NULL), SB_OK);
	assert_string_equal(again, out);
	assert_int_equal(sb_path_canonical_beneath(root, path + strlen(root), &beneath,
						   &missing_beneath, NULL),
			 SB_OK);
	assert_string_equal(beneath, out);
	assert_int_equal(missing_beneath, missing);
	check_parent(path);
	if (missing == ENOENT && sb_path_within(root, out))
		check_creation(path, out);
}

static void random_trees_agree_with_realpath(void **state)
{
	const char *root = *state;

	unit_seed();
	for (int round = 0; round < 250; round++) {
		random_tree(root);
		for (int i = 0; i < 60; i++) {
			char path[PATH_MAX];

			snprintf(path, sizeof path, "%s/", root);
			random_components(path, sizeof path, 6);
			check_against_realpath(root, path);
		}
		tree_clear(root);
		assert_int_equal(mkdir(root, 0755), 0);
	}
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(P9_a_directory_holds_its_own_and_no_lookalike),
	cmocka_unit_test(joins_with_one_slash),
	cmocka_unit_test(parents_end_at_the_root),
	cmocka_unit_test(absolute_joins_and_tidies_by_text),
	cmocka_unit_test(absolute_refuses_what_it_cannot_know),
	cmocka_unit_test(over_long_paths_are_errors),
	cmocka_unit_test(a_path_longer_than_any_buffer_is_no_short_path),
	IN_TREE(an_over_long_name_is_an_error),
	IN_TREE(links_are_resolved_before_dotdot),
	cmocka_unit_test(the_root_stays_the_root),
	IN_TREE(what_is_missing_is_kept_by_text),
	IN_TREE(links_after_something_missing_are_resolved),
	IN_TREE(loops_are_errors),
	IN_TREE(forty_links_are_followed_as_by_the_kernel),
	IN_TREE(long_targets_add_up),
	IN_TREE(names_are_bytes),
	IN_TREE(a_base_saves_no_meaning),
	IN_TREE(the_last_link_is_kept_when_it_is_meant),
	cmocka_unit_test(a_link_that_cannot_be_read_is_out_of_reach),
	IN_TREE(what_may_not_be_searched_is_kept_by_text),
	IN_TREE(random_trees_agree_with_realpath),
};

UNIT_MAIN("path")
