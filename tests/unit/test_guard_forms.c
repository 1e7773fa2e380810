/* test_guard_forms.c - the files of a git directory: which are known, and what may be in them. */
#include "guarded.h"

#include "guard/git_files.h"

#define ID "0123456789012345678901234567890123456789"

static char why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];

static const struct {
	const char *name;
	enum sb_guard_verdict verdict;
} names[] = {
	{".git/COMMIT_EDITMSG", SB_GUARD_PLAIN},
	{".git/objects/ab/cdef", SB_GUARD_PLAIN},
	{".git/objects/info/commit-graph", SB_GUARD_PLAIN},
	{".git/objects/info/alternates", SB_GUARD_CHECK},
	{".git/objects/pack/pack-" ID ".idx", SB_GUARD_PLAIN},
	{".git/objects/pack/multi-pack-index", SB_GUARD_CHECK},
	{".git/Objects/PACK/Multi-Pack-Index", SB_GUARD_CHECK},
	{".git/objects/pack/multi-pack-index.lock", SB_GUARD_PLAIN},
	{".git/objects/pack/multi-pack-index.d/multi-pack-index-" ID ".midx", SB_GUARD_CHECK},
	{"anywhere/objects/pack/multi-pack-index", SB_GUARD_CHECK},
	{".git/logs/refs/heads/a", SB_GUARD_PLAIN},
	{".git/logs/HEAD", SB_GUARD_PLAIN},
	{".git/HEAD.lock", SB_GUARD_PLAIN},
	{".git/rebase-merge/git-rebase-todo.lock", SB_GUARD_PLAIN},
	{".git/hooks/pre-commit.lock", SB_GUARD_ASK},
	{".git/hooks/pre-commit.swp", SB_GUARD_ASK},
	{".git/.COMMIT_EDITMSG.swp", SB_GUARD_PLAIN},
	{".git/HEAD", SB_GUARD_CHECK},
	{".git/refs/heads/a", SB_GUARD_CHECK},
	{".git/refs/heads/a/b.c-d_e@f#g", SB_GUARD_CHECK},
	{".git/refs/heads/$(x)", SB_GUARD_ASK},
	{".git/refs/heads/a`x`", SB_GUARD_ASK},
	{".git/refs/tags/a;x", SB_GUARD_ASK},
	{".git/refs/remotes/o/a|x", SB_GUARD_ASK},
	{".git/refs/heads/-x", SB_GUARD_ASK},
	{".git/refs/heads/a..b", SB_GUARD_ASK},
	{".git/refs/heads/a\x1b[1m", SB_GUARD_ASK},
	{".git/packed-refs", SB_GUARD_CHECK},
	{".git/rebase-merge/msgnum", SB_GUARD_CHECK},
	{".git/rebase-merge/done", SB_GUARD_PLAIN},
	{".git/rebase-merge/other", SB_GUARD_ASK},
	{".git/rebase-merge/deep/msgnum", SB_GUARD_ASK},
	{".git/Rebase-Merge/msgnum", SB_GUARD_ASK},
	{".git/rebase-apply/0001", SB_GUARD_PLAIN},
	{".git/rebase-apply/0001x", SB_GUARD_ASK},
	{".git/rebase-apply/next", SB_GUARD_CHECK},
	{".git/rebase/next", SB_GUARD_ASK},
	{".git/MERGE_RR", SB_GUARD_CHECK},
	{".git/merge_rr", SB_GUARD_ASK},
	{".git/rr-cache/" ID "/preimage", SB_GUARD_PLAIN},
	{".git/rr-cache/" ID "/preimage.1", SB_GUARD_PLAIN},
	{".git/rr-cache/" ID "/other", SB_GUARD_ASK},
	{".git/rr-cache/preimage", SB_GUARD_ASK},
	{".git/svn/.metadata", SB_GUARD_ASK},
	{".git/fsmonitor--daemon.ipc", SB_GUARD_ASK},
	{".git/fsmonitor--daemon/cookies/1", SB_GUARD_ASK},
	{".git/unknown", SB_GUARD_ASK},
	{".git/unknown/file", SB_GUARD_ASK},
	{".git/a/b/c/d/e", SB_GUARD_ASK},
	{".GIT/unknown", SB_GUARD_ASK},
	{".g\xe2\x80\x8cit/unknown", SB_GUARD_ASK},
	{"x/.git/info/exclude", SB_GUARD_CHECK},
	{"x/.git/info/other", SB_GUARD_ASK},
	/* git directories in git directories */
	{".git/worktrees/a/HEAD", SB_GUARD_CHECK},
	{".git/worktrees/a/COMMIT_EDITMSG", SB_GUARD_PLAIN},
	{".git/worktrees/a/config", SB_GUARD_CHECK},
	{".git/worktrees/a/locked", SB_GUARD_CHECK},
	{".git/worktrees/a/logs/HEAD", SB_GUARD_PLAIN},
	{".git/worktrees/a/rebase-merge/msgnum", SB_GUARD_CHECK},
	{".git/worktrees/a/hooks/pre-commit", SB_GUARD_ASK},
	{".git/worktrees/a/unknown", SB_GUARD_ASK},
	{".git/worktrees/unknown", SB_GUARD_ASK},
	{".git/modules/lib/HEAD", SB_GUARD_CHECK},
	{".git/modules/a/b/c/HEAD", SB_GUARD_CHECK},
	{".git/modules/a/b/c/rebase-apply/next", SB_GUARD_CHECK},
	{".git/modules/a/b/c/objects/aa/bb", SB_GUARD_PLAIN},
	{".git/modules/a/b/c/hooks/update", SB_GUARD_ASK},
	{".git/modules/a/b/config", SB_GUARD_CHECK},
	{".git/modules/a/modules/b/unknown", SB_GUARD_ASK},
	{".git/modules/a/modules/b/MERGE_MSG", SB_GUARD_PLAIN},
	{".git/modules/a/worktrees/b/MERGE_MSG", SB_GUARD_PLAIN},
	{".git/modules/hooks/COMMIT_EDITMSG", SB_GUARD_PLAIN},
	{".git/modules/hooks/pre-commit", SB_GUARD_ASK},
	{".git/modules/unknown", SB_GUARD_ASK},
	/* a bare repository, and a work tree in it */
	{"bare.git/unknown", SB_GUARD_ASK},
	{"bare.git/info/other", SB_GUARD_ASK},
	{"bare.git/refs/heads/$x", SB_GUARD_ASK},
	{"bare.git/refs/heads/x", SB_GUARD_CHECK},
	{"bare.git/main/unknown", SB_GUARD_PLAIN},
	{"bare.git/worktrees/main/unknown", SB_GUARD_ASK},
	{"bare/rebase-merge/msgnum", SB_GUARD_CHECK},
	{"bare/MERGE_RR", SB_GUARD_CHECK},
	/* the same names where there is none */
	{"plain.git/unknown", SB_GUARD_PLAIN},
	{"plain/rebase-apply/next", SB_GUARD_PLAIN},
	{"plain/MERGE_RR", SB_GUARD_PLAIN},
	{"plain/HEAD", SB_GUARD_PLAIN},
	/* a commondir that comes later makes this one */
	{"store/worktrees/a/rebase-merge/msgnum", SB_GUARD_CHECK},
	{"store/worktrees/a/MERGE_RR", SB_GUARD_CHECK},
	{"store/worktrees/a/src/rebase.c", SB_GUARD_PLAIN},
	{"store/worktrees/a/locked", SB_GUARD_PLAIN},
	{".claude/worktrees/a/config", SB_GUARD_PLAIN},
	{"plain/end", SB_GUARD_PLAIN},
};

/* That a directory is there may be a message: "mkdir .git/safe". */
static void known_directories(void **state)
{
	static const char *const asked[] = {".git/safe",
					    ".git/Safe",
					    ".git/sed123456",
					    ".git/hooks~",
					    ".git/x.lock",
					    ".git/HEAD",
					    ".git/Refs",
					    ".GIT/safe",
					    "deep/.git/safe",
					    ".git/annex/.git/safe",
					    ".git/worktrees/b/safe",
					    ".git/modules/m/safe"};
	static const char *const fine[] = {
		".git/refs",           ".git/annex",     ".git/rebase-merge",
		".git/lost-found",     ".git/sl",        ".git/refs/heads/safe",
		".git/objects/safe",   ".git/modules/a", ".git/modules/vendor/lib",
		".git/worktrees/main", "safe",           "bare.git/main",
		".git/filter-repo",    ".git/branchless"};
	static const char *const harmless[] = {"tree/refs/", "tree/rebase-merge/"};
	struct guarded *fx = *state;

	plant(fx, "bare.git/objects/", "");
	plant(fx, "bare.git/refs/heads/", "");
	plant(fx, ".git/worktrees/b/commondir", "../..");
	plant(fx, ".git/modules/m/objects/", "");
	plant(fx, ".git/modules/m/refs/", "");
	plant(fx, "made/", "");
	for (size_t i = 0; i < COUNT(asked) + COUNT(fine); i++) {
		bool bad = i < COUNT(asked);
		const char *name = bad ? asked[i] : fine[i - COUNT(asked)];
		char around[512];

		snprintf(around, sizeof around, "%s", name);
		if (strchr(around, '/')) {
			strrchr(around, '/')[1] = '\0';
			plant(fx, around, "");
		}
		if (judge(fx, SB_GUARD_MKDIR, name) != (bad ? SB_GUARD_ASK : SB_GUARD_PLAIN))
			fail_msg("mkdir %s", name);
		if (judge_rename(fx, "made", name, false) != (bad ? SB_GUARD_ASK : SB_GUARD_PLAIN))
			fail_msg("rename to %s: %s", name, fx->answer.detail);
	}
	for (size_t i = 0; i < COUNT(harmless); i++)
		plant(fx, harmless[i], "");
	assert_int_equal(judge_rename(fx, "tree", "other/.git", false), SB_GUARD_PLAIN);
	plant(fx, "tree/safe/", "");
	assert_int_equal(judge_rename(fx, "tree", "other/.git", false), SB_GUARD_ASK);
}

static void known_names(void **state)
{
	struct guarded *fx = *state;

	plant(fx, "bare.git/objects/", "");
	plant(fx, "bare.git/refs/heads/", "");
	plant(fx, "bare/objects/", "");
	plant(fx, "bare/refs/", "");
	for (size_t i = 0; i < COUNT(names); i++) {
		char directory[512];

		snprintf(directory, sizeof directory, "%s", names[i].name);
		strrchr(directory, '/')[1] = '\0';
		plant(fx, directory, "");
		if (judge(fx, SB_GUARD_WRITE, names[i].name) != names[i].verdict)
			fail_msg("%s: %d", names[i].name, fx->answer.verdict);
		if (judge(fx, SB_GUARD_LINK_TO, names[i].name) != names[i].verdict)
			fail_msg("link to %s: %d", names[i].name, fx->answer.verdict);
	}
	/* gone is gone */
	assert_int_equal(judge(fx, SB_GUARD_UNLINK, ".git/unknown"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_UNLINK, ".git/HEAD"), SB_GUARD_PLAIN);
}

static void rows_are_well_formed(void **state)
{
	size_t count, fixed = 0, position = 0;
	const struct sb_guard_row *rows = sb_guard_git_rows(&count);

	(void)state;
	assert_true(count > 100 && count <= SB_GUARD_MAX_GIT_ROWS);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(strncmp(rows[i].pattern, "<git>/", 6), 0);
		assert_true(rows[i].who[0] && rows[i].why[0]);
		for (size_t other = 0; other < i; other++)
			assert_string_not_equal(rows[i].pattern, rows[other].pattern);
		/* no row stands behind one that means more */
		if (!strpbrk(rows[i].pattern, "*#?"))
			assert_ptr_equal(sb_git_row_of(rows[i].pattern + 6), &rows[i]);
	}
	while (sb_git_next_fixed(&position))
		fixed++;
	assert_true(fixed > 50 && fixed <= SB_GIT_MAX_FIXED);
}

/* Each row with a form is found in a git directory of any name: by its one name, as open-ended, or by table.c. */
static void every_form_is_found_without_a_name(void **state)
{
	size_t count, others;
	const struct sb_guard_row *rows = sb_guard_git_rows(&count);
	const struct sb_guard_row *table = sb_guard_rows(&others);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const char *name = rows[i].pattern + 6;
		bool found = rows[i].kind == SB_GUARD_ANYTHING || sb_git_row_is_fixed(&rows[i]) ||
			     sb_git_is_open_ended(name, strcspn(name, "/*")) ||
			     sb_git_row_is_unknown(&rows[i]);

		for (size_t other = 0; !found && other < others; other++)
			found = strcmp(rows[i].pattern, table[other].pattern) == 0;
		if (!found)
			fail_msg("%s", rows[i].pattern);
	}
	assert_false(sb_git_is_open_ended("ref", 3) || sb_git_is_open_ended("refsx", 5) ||
		     sb_git_is_open_ended("git-p3", 6) || sb_git_is_open_ended("", 0));
	assert_true(sb_git_is_open_ended("REFS", 4) && sb_git_is_open_ended("r\xe2\x80\x8c"
									    "efs",
									    7));
}

struct form {
	enum sb_guard_kind kind;
	const char *text;
	size_t length; /* 0: of text */
};

#define WHOLE(kind, text)                                                                          \
	{                                                                                          \
		kind, text, sizeof text - 1                                                        \
	}

static const struct form fine[] = {
	WHOLE(SB_GUARD_GIT_REF, ID "\n"),
	WHOLE(SB_GUARD_GIT_REF, "ref: refs/heads/main\n"),
	WHOLE(SB_GUARD_GIT_REF, "ref: refs/heads/a/b-c.d#1@2\n"),
	WHOLE(SB_GUARD_GIT_REF, "ref: refs/heads/\xc3\xa4\n"),
	WHOLE(SB_GUARD_GIT_REF, "ref: refs/heads/.invalid\n"),
	WHOLE(SB_GUARD_GIT_IDS, ID "\n" ID " " ID "\n"),
	WHOLE(SB_GUARD_GIT_NUMBER, "12\n"),
	WHOLE(SB_GUARD_GIT_NAMES, "detached HEAD\n"),
	WHOLE(SB_GUARD_GIT_NAMES, "refs/heads/main\n" ID "\n" ID "\n"),
	WHOLE(SB_GUARD_GIT_NAMES, "t"),
	WHOLE(SB_GUARD_SERIES, "# it's $(x) (y)\na.patch -p1\nb.patch # `z`\nc #+guard\n\n"),
	WHOLE(SB_GUARD_GIT_PACKED,
	      "# pack-refs with: peeled fully-peeled sorted \n" ID " refs/tags/v1\n^" ID "\n"),
	WHOLE(SB_GUARD_GIT_QUOTED,
	      "# bad: [" ID "] it's $(x) `y`\ngit bisect start 'HEAD' 'a $b'\\''c'\n"),
	WHOLE(SB_GUARD_GIT_QUOTED, " 'a b' 'c'\\!''\n"),
	WHOLE(SB_GUARD_GIT_AUTHOR,
	      "GIT_AUTHOR_NAME='A $(x) O'\\''B'\nGIT_AUTHOR_EMAIL='a@b'\nGIT_AUTHOR_DATE='@1 +0'\n"),
	WHOLE(SB_GUARD_GIT_OPTIONS, " '-C2' '--whitespace=fix' '--exclude=foo/*.c' '-p1'\n"),
	WHOLE(SB_GUARD_GIT_OPTIONS, "-S0123ABCD\n"),
	WHOLE(SB_GUARD_GIT_OPTIONS, "--rerere-autoupdate\n"),
	WHOLE(SB_GUARD_GIT_STRATEGY_OPTIONS, " --ours --find-renames=40%\n"),
	WHOLE(SB_GUARD_GIT_STRATEGY_OPTIONS, " 'theirs' 'subtree=lib/x'\n"),
	WHOLE(SB_GUARD_GIT_RERERE, ID "\ta\0" ID ".1\tdir/b c\0"),
	WHOLE(SB_GUARD_GIT_TEXT, "warning: too many \xe2\x80\xa6\n\tloose objects\n"),
	WHOLE(SB_GUARD_SEQUENCER, "[options]\n\tstrategy-option = ours\n\tgpg-sign = AB\n"),
};

static const struct form bad[] = {
	WHOLE(SB_GUARD_GIT_REF, "ref: refs/heads/$(x)\n"),
	WHOLE(SB_GUARD_GIT_REF, "ref: refs/heads/a`x`\n"),
	WHOLE(SB_GUARD_GIT_REF, "ref: config\n"),
	WHOLE(SB_GUARD_GIT_REF, "ref: ../x\n"),
	WHOLE(SB_GUARD_GIT_REF, "ref: refs/../config\n"),
	WHOLE(SB_GUARD_GIT_REF, "ref: refs/heads/a\n$(x)\n"),
	WHOLE(SB_GUARD_GIT_REF, "$(x)\n"),
	WHOLE(SB_GUARD_GIT_IDS, "--output=x\n"),
	WHOLE(SB_GUARD_GIT_IDS, ID "\n-x\n"),
	WHOLE(SB_GUARD_GIT_NUMBER, "$(x)\n"),
	WHOLE(SB_GUARD_GIT_NUMBER, "a[$(x)]\n"),
	WHOLE(SB_GUARD_GIT_NUMBER, "1\n$(x)\n"),
	WHOLE(SB_GUARD_GIT_NUMBER, "-1"),
	WHOLE(SB_GUARD_GIT_NUMBER, "1 \n"),
	WHOLE(SB_GUARD_GIT_NUMBER, "1\r\n"),
	WHOLE(SB_GUARD_GIT_NUMBER, "1\0$(x)"),
	WHOLE(SB_GUARD_GIT_NAMES, "refs/heads/$(x)\n"),
	WHOLE(SB_GUARD_GIT_NAMES, "-x\n"),
	WHOLE(SB_GUARD_GIT_NAMES, "a\x1b[2J\n"),
	WHOLE(SB_GUARD_SERIES, "a.patch\n$(x)\n"),
	WHOLE(SB_GUARD_SERIES, "a$(x) # b\n"),
	WHOLE(SB_GUARD_SERIES, "a#$(x)\n"),
	WHOLE(SB_GUARD_SERIES, "-x\n"),
	WHOLE(SB_GUARD_SERIES, "# a\x1b[2J\n"),
	WHOLE(SB_GUARD_GIT_PACKED, ID " refs/tags/$(x)\n"),
	WHOLE(SB_GUARD_GIT_PACKED, "x refs/tags/a\n"),
	WHOLE(SB_GUARD_GIT_PACKED, ID "\n"),
	WHOLE(SB_GUARD_GIT_QUOTED, "$(x)\n"),
	WHOLE(SB_GUARD_GIT_QUOTED, "git bisect start 'a' ; x\n"),
	WHOLE(SB_GUARD_GIT_QUOTED, "'a' `x`\n"),
	WHOLE(SB_GUARD_GIT_QUOTED, "'a\n"),
	WHOLE(SB_GUARD_GIT_QUOTED, "'a'\\$(x)\n"),
	WHOLE(SB_GUARD_GIT_AUTHOR, "GIT_AUTHOR_NAME=$(x)\n"),
	WHOLE(SB_GUARD_GIT_AUTHOR, "GIT_AUTHOR_NAME='a'$(x)\n"),
	WHOLE(SB_GUARD_GIT_AUTHOR, "GIT_AUTHOR_NAME='a'\nx\n"),
	WHOLE(SB_GUARD_GIT_AUTHOR, "PATH='a'\n"),
	WHOLE(SB_GUARD_GIT_AUTHOR, "GIT_AUTHOR_NAME='a'; x\n"),
	WHOLE(SB_GUARD_GIT_OPTIONS, " '--unsafe-paths'\n"),
	WHOLE(SB_GUARD_GIT_OPTIONS, " '--build-fake-ancestor=x'\n"),
	WHOLE(SB_GUARD_GIT_OPTIONS, " '-C2' 'patch'\n"),
	WHOLE(SB_GUARD_GIT_OPTIONS, " '--directory=../x'\n"),
	WHOLE(SB_GUARD_GIT_OPTIONS, " '-C2'\\''x'\n"),
	WHOLE(SB_GUARD_GIT_OPTIONS, "-S/etc/x\n"),
	WHOLE(SB_GUARD_GIT_STRATEGY_OPTIONS, " --upload-pack=x\n"),
	WHOLE(SB_GUARD_GIT_STRATEGY_OPTIONS, " --ours=$(x)\n"),
	WHOLE(SB_GUARD_GIT_RERERE, ID "\t../a\0"),
	WHOLE(SB_GUARD_GIT_RERERE, ID "\t/a\0"),
	WHOLE(SB_GUARD_GIT_RERERE, ID "\ta/../b\0"),
	WHOLE(SB_GUARD_GIT_RERERE, ID "\t.git/config\0"),
	WHOLE(SB_GUARD_GIT_RERERE, ID "\ta/.GIT/config\0"),
	WHOLE(SB_GUARD_GIT_RERERE, ID "\tlink\0"),
	WHOLE(SB_GUARD_GIT_RERERE, ID "\tdir/to/x\0"),
	WHOLE(SB_GUARD_GIT_RERERE, ID "\tgood\0" ID "\t/bad\0"),
	WHOLE(SB_GUARD_GIT_RERERE, "../x\ta\0"),
	WHOLE(SB_GUARD_GIT_RERERE, ID "\ta"),
	WHOLE(SB_GUARD_GIT_TEXT, "a\x1b]0;x\x07\n"),
	WHOLE(SB_GUARD_GIT_TEXT, "a\xc2\x9b"
				 "2J\n"),
	WHOLE(SB_GUARD_SEQUENCER, "[options]\n\tstrategy-option = x\n"),
	WHOLE(SB_GUARD_SEQUENCER, "[options]\n\tgpg-sign = /x\n"),
};

static void expect(struct guarded *fx, const struct form *forms, size_t count,
		   enum sb_guard_verdict verdict)
{
	for (size_t i = 0; i < count; i++) {
		struct sb_guard_bytes bytes = {forms[i].text, forms[i].length};

		if (sb_guard_content(fx->guard,
				     &(struct sb_guard_landing){forms[i].kind,
								in(fx->root, ".git/x"),
								(struct sb_guard_bytes){0}, bytes},
				     why, sizeof why) != verdict)
			fail_msg("kind %d: '%s' (%s)", forms[i].kind, forms[i].text, why);
	}
}

static void contents(void **state)
{
	static const char packed[] = ID " refs/heads/a(b)\n" ID " refs/heads/$x\n";
	static const char moved[] = ID " refs/heads/a\nabc0 refs/heads/a(b)\n";
	static const char other[] = ID " refs/heads/a(b)\n" ID " refs/heads/a(b\n";
	struct guarded *fx = *state;

	plant(fx, ".git/", "");
	plant(fx, "dir/b c", "");
	assert_int_equal(symlink("/etc/passwd", in(fx->root, "link")), 0);
	assert_int_equal(symlink("/tmp", in(fx->root, "dir/to")), 0);
	expect(fx, fine, COUNT(fine), SB_GUARD_PLAIN);
	expect(fx, bad, COUNT(bad), SB_GUARD_ASK);
	/* a branch that was there may stay in the list, wherever it is by now */
	assert_int_equal(
		sb_guard_content(fx->guard,
				 &(struct sb_guard_landing){
					 SB_GUARD_GIT_PACKED, in(fx->root, ".git/packed-refs"),
					 (struct sb_guard_bytes){packed, sizeof packed - 1},
					 (struct sb_guard_bytes){moved, sizeof moved - 1}},
				 why, sizeof why),
		SB_GUARD_PLAIN);
	assert_int_equal(
		sb_guard_content(fx->guard,
				 &(struct sb_guard_landing){
					 SB_GUARD_GIT_PACKED, in(fx->root, ".git/packed-refs"),
					 (struct sb_guard_bytes){packed, sizeof packed - 1},
					 (struct sb_guard_bytes){other, sizeof other - 1}},
				 why, sizeof why),
		SB_GUARD_ASK);
	/* told, not asked */
	assert_int_equal(
		sb_guard_content(fx->guard,
				 &(struct sb_guard_landing){
					 SB_GUARD_GIT_REF, in(fx->root, ".git/refs/replace/" ID),
					 (struct sb_guard_bytes){0},
					 (struct sb_guard_bytes){ID "\n", sizeof ID}},
				 why, sizeof why),
		SB_GUARD_PLAIN);
	assert_non_null(strstr(why, "other commits"));
}

static void prepared_trees(void **state)
{
	static const struct {
		const char *name, *text, *as;
		enum sb_guard_verdict verdict;
	} cases[] = {
		{"HEAD", "ref: refs/heads/main\n", ".git", SB_GUARD_PLAIN},
		{"HEAD", "ref: refs/heads/$(x)\n", ".git", SB_GUARD_ASK},
		{"unknown", "", ".git", SB_GUARD_ASK},
		{"deep/unknown", "", ".git", SB_GUARD_ASK},
		{"refs/heads/$(x)", ID "\n", ".git", SB_GUARD_ASK},
		{"refs/heads/x", "ref: refs/heads/$(x)\n", ".git", SB_GUARD_ASK},
		{"refs/heads/x", ID "\n", ".git", SB_GUARD_PLAIN},
		{"rebase-merge/msgnum", "$(x)", ".git", SB_GUARD_ASK},
		{"rebase-merge/msgnum", "1\n", ".git", SB_GUARD_PLAIN},
		{"msgnum", "$(x)", ".git/rebase-merge", SB_GUARD_ASK},
		{"msgnum", "2\n", ".git/rebase-merge", SB_GUARD_PLAIN},
		{"msgnum", "$(x)", ".git/worktrees/a/rebase-merge", SB_GUARD_ASK},
		{"worktrees/a/rebase-merge/end", "$(x)", ".git", SB_GUARD_ASK},
		{"a/rebase-merge/end", "$(x)", ".git/modules", SB_GUARD_ASK},
		{"next", "$(x)", "bare/rebase-apply", SB_GUARD_ASK},
		{"next", "1", "bare/rebase-apply", SB_GUARD_PLAIN},
		{"next", "$(x)", "bare/other", SB_GUARD_PLAIN},
		{"objects/aa/bb", "$(x)", ".git", SB_GUARD_PLAIN},
	};
	struct guarded *fx = *state;

	plant(fx, "bare/objects/", "");
	plant(fx, "bare/refs/", "");
	for (size_t i = 0; i < COUNT(cases); i++) {
		char prepared[64], name[128];

		snprintf(prepared, sizeof prepared, "prepared%zu", i);
		snprintf(name, sizeof name, "%s/%s", prepared, cases[i].name);
		plant(fx, name, cases[i].text);
		if (judge_rename(fx, prepared, cases[i].as, false) != cases[i].verdict)
			fail_msg("%s in %s: %d", cases[i].name, cases[i].as, fx->answer.verdict);
	}
	/* what becomes a git directory by its structure */
	plant(fx, "half/objects/", "");
	plant(fx, "half/rebase-apply/last", "$(x)");
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "half/refs"), SB_GUARD_ASK);
	plant(fx, "half/rebase-apply/last", "1");
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "half/refs"), SB_GUARD_PLAIN);
	/* known there, as a file of the submodule a/b */
	plant(fx, ".git/modules/a/b/description", "");
	assert_int_equal(judge_rename(fx, ".git/modules/a", "x/.git", false), SB_GUARD_ASK);
	/* as "git submodule absorbgitdirs" does */
	plant(fx, "sub/.git/hooks/pre-commit", "the user's");
	plant(fx, ".git/modules/", "");
	assert_int_equal(judge_rename(fx, "sub/.git", ".git/modules/sub", false), SB_GUARD_PLAIN);
}

/* A list of packs with names, which have their NUL, at a place that the chunks tell. */
static enum sb_guard_verdict list_of(struct guarded *fx, unsigned packs, const char *text,
				     size_t size, const char *chunk)
{
	char bytes[256] = "MIDX\1\1\2\0\0\0\0", *at = bytes + 12;
	size_t length = 12 + 3 * 12;
	const char *path = in(fx->root, ".git/objects/pack/multi-pack-index");

	bytes[11] = (char)packs;
	memcpy(at, chunk, 4);
	at[11] = (char)length;
	memcpy(at + 12, "OIDF", 4);
	at[23] = (char)(length + size);
	memcpy(bytes + length, text, size);
	return sb_guard_content(
		fx->guard,
		&(struct sb_guard_landing){SB_GUARD_GIT_PACKS, path, (struct sb_guard_bytes){0},
					   (struct sb_guard_bytes){bytes, length + size}},
		why, sizeof why);
}

static void packs_beside_their_list(void **state)
{
#define LIST(packs, names, chunk) list_of(*state, packs, names, sizeof names, chunk)
	assert_int_equal(LIST(2, "pack-a.idx\0pack-b.idx", "PNAM"), SB_GUARD_PLAIN);
	assert_int_equal(LIST(0, "", "PNAM"), SB_GUARD_PLAIN);
	assert_int_equal(LIST(2, "pack-a.idx\0../pack-b.idx", "PNAM"), SB_GUARD_ASK);
	assert_string_equal(why, "../pack-b.idx");
	assert_int_equal(LIST(1, "/x/pack-b.idx", "PNAM"), SB_GUARD_ASK);
	assert_int_equal(LIST(1, ".idx", "PNAM"), SB_GUARD_ASK);
	assert_int_equal(LIST(1, "", "PNAM"), SB_GUARD_ASK);
	assert_int_equal(LIST(3, "pack-a.idx\0pack-b.idx", "PNAM"),
			 SB_GUARD_ASK); /* beyond its end */
	assert_int_equal(LIST(1, "pack-a.idx", "PNAN"), SB_GUARD_ASK);
	assert_int_equal(LIST(1, "pack-a.idx", "OIDF"), SB_GUARD_ASK);
#undef LIST
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(rows_are_well_formed),
	cmocka_unit_test(every_form_is_found_without_a_name),
	WITH_TREE(known_names),
	WITH_TREE(known_directories),
	WITH_TREE(contents),
	WITH_TREE(prepared_trees),
	WITH_TREE(packs_beside_their_list),
};

UNIT_MAIN("guard forms")
