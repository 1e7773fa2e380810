/* test_guard_names.c - the table, and which names it means. */
#include "guarded.h"

#include "guard/guard_impl.h"

static void every_row_is_well_formed(void **state)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	(void)state;
	assert_true(count > 100);
	for (size_t i = 0; i < count; i++) {
		const char *pattern = rows[i].pattern;
		unsigned components = 1;

		for (const char *at = pattern; *at; at++)
			components += *at == '/' && strcmp(at, "/**") != 0;
		if (components > SB_MAX_NAMES)
			fail_msg("%s has too many names", pattern);
		/* a word alone would be everybody's */
		assert_true(components > 1 || rows[i].kind != SB_GUARD_ANYTHING);
		for (const char *at = pattern; at;
		     at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
			assert_true(strcspn(at, "/") < SB_FOLD_MAX);
		/* the search for "/." relies on it */
		if (strstr(pattern, "**") && !(rows[i].flags & SB_GUARD_IN_HOME))
			assert_int_equal(pattern[0], '.');
		assert_true(rows[i].who[0] && rows[i].why[0]);
		for (size_t other = 0; other < i; other++)
			assert_string_not_equal(pattern, rows[other].pattern);
	}
}

/* A text that fills its place in the row has lost its NUL, and goes on into the next. */
static void every_text_has_its_end(void **state)
{
	size_t counts[3];
	const struct sb_guard_row *tables[] = {sb_guard_rows(&counts[0]),
					       sb_guard_git_rows(&counts[1]),
					       sb_guard_system_rows(&counts[2])};

	(void)state;
	for (size_t table = 0; table < COUNT(tables); table++)
		for (size_t i = 0; i < counts[table]; i++) {
			const struct sb_guard_row *row = &tables[table][i];

			assert_true(memchr(row->pattern, '\0', sizeof row->pattern));
			assert_true(memchr(row->who, '\0', sizeof row->who));
			assert_true(memchr(row->why, '\0', sizeof row->why));
			assert_true(memchr(row->held, '\0', sizeof row->held));
		}
}

static bool is_right_in_git(const char *path)
{
	const char *git = strstr(path, ".git/");

	return git && !strchr(git + 5, '/');
}

/* More would be left out silently. */
static void every_ending_has_its_place(void **state)
{
	(void)state;
	sb_table_make(true);
	assert_true(sb_tables[1].ending_count < SB_MAX_ENDINGS);
}

static void every_row_matches(void **state)
{
	static const char *const tops[] = {"", "sub/", "a/b/c/d/"};
	struct guarded *fx = *state;
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	for (size_t i = 0; i < count; i++)
		for (size_t top = 0; top < COUNT(tops); top++) {
			char name[256], path[512];
			enum sb_guard_verdict verdict;

			if (rows[i].flags &
			    (SB_GUARD_IF_PROTECTING | SB_GUARD_IN_HOME | SB_GUARD_IF_ELSEWHERE))
				continue;
			if (rows[i].kind == SB_GUARD_ANYTHING)
				continue;
			example(rows[i].pattern, name, sizeof name);
			snprintf(path, sizeof path, "%s%s", tops[top], name);
			plant_around(fx, path);
			verdict = judge(fx, SB_GUARD_WRITE, path);
			if (verdict !=
			    (rows[i].kind == SB_GUARD_SAME ? SB_GUARD_ASK : SB_GUARD_CHECK))
				fail_msg("write %s: %d", path, verdict);
			if (judge(fx, SB_GUARD_SYMLINK, path) != SB_GUARD_ASK ||
			    judge(fx, SB_GUARD_MKNOD, path) != SB_GUARD_ASK ||
			    judge(fx, SB_GUARD_LINK_TO, path) != verdict ||
			    judge(fx, SB_GUARD_LINK_FROM, path) != SB_GUARD_ASK)
				fail_msg("another way to %s", path);
			/* right in a git directory, git's own directories alone are plain */
			if (judge(fx, SB_GUARD_MKDIR, path) !=
			    (strcmp(rows[i].pattern, "<option>") == 0 || is_right_in_git(path)
				     ? SB_GUARD_ASK
				     : SB_GUARD_PLAIN))
				fail_msg("mkdir %s", path);
		}
}

/* Rows that take away from later ones: that they do, and that no other is about the same name. */
static void state_lands(void **state)
{
	struct guarded *fx = *state;
	size_t count, seen = 0;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	for (size_t i = 0; i < count; i++) {
		bool tree = strstr(rows[i].pattern, "**") != NULL;
		char name[256];

		if (rows[i].kind != SB_GUARD_ANYTHING)
			continue;
		seen++;
		example(rows[i].pattern, name, sizeof name);
		plant_around(fx, name);
		if (judge(fx, SB_GUARD_WRITE, name) != SB_GUARD_PLAIN ||
		    judge(fx, SB_GUARD_UNLINK, name) != SB_GUARD_PLAIN ||
		    judge(fx, SB_GUARD_LINK_FROM, name) != SB_GUARD_PLAIN)
			fail_msg("%s asks", name);
		if (judge(fx, SB_GUARD_SYMLINK, name) != (tree ? SB_GUARD_PLAIN : SB_GUARD_ASK))
			fail_msg("a link at %s", name);
	}
	assert_true(seen > 20);
}

static void the_rest_beside_state_asks(void **state)
{
	static const char *const asked[] = {
		".codex/config.toml",
		".codex/config.toml.tmp",
		".codex/.tmpAbC123",
		".codex/hooks.json",
		".codex/hooks/x.sh",
		".codex/auth.json",
		".codex/AGENTS.md",
		".codex/rules/default.rules",
		".codex/skills/x/SKILL.md",
		".codex/prompts/x.md",
		".codex/packages/standalone/x",
		".codex/app-server-daemon/settings.json",
		".codex/environments.toml",
		".codex/.tmp/plugins/x/plugin.json",
		".codex/.tmp/marketplaces/x/y",
		".codex/sessions",
		".codex/tmp",
		".codex/x.sqlite/config.toml",
		".codex/history.jsonl/x",
		".gemini/settings.json",
		".gemini/trustedFolders.json",
		".gemini/trusted_hooks.json",
		".gemini/tmp/bin/rg",
		".gemini/tmp/BIN/rg",
		".gemini/commands/x.toml",
		".gemini/extensions/x/gemini-extension.json",
		".gemini/policies/auto-saved.toml",
		".gemini/oauth_creds.json",
		".gemini/GEMINI.md",
		".gemini/bin/litert/x",
		".gemini/acknowledgments/agents.json",
		".qwen/bin/x",
		".qwen/locales/x.js",
		".qwen/settings.json",
		".opencode/plugin/x.ts",
		".claude/.config.json",
		".claude/session-env/1/sessionstart-hook-0.sh",
		".claude/local/node_modules/.bin/claude",
		".local/share/opencode/bin/rg",
		".local/share/opencode/auth.json",
		/* in what is state there may be names of others */
		".codex/tmp/.vscode/tasks.json",
		".codex/worktrees/1/p/.devcontainer/x",
		".codex/worktrees/1/p/.codex/config.toml",
		".gemini/history/p/.codex/config.toml",
		".codex/sessions/.gemini/settings.json",
	};
	static const char *const plain[] = {
		".codex/worktrees/1/p/src/a.c",
		".codex/worktrees/1/p/.codex/sessions/x",
		".gemini/tmp/p/chats/x.json",
		".gemini/tmp/binary/x",
		".local/share/opencode/storage/x.json",
		".claude/projects/-p/x.jsonl",
		".claude/history.jsonl",
	};
	struct guarded *fx = *state;

	for (size_t i = 0; i < COUNT(asked); i++)
		if (judge(fx, SB_GUARD_WRITE, asked[i]) != SB_GUARD_ASK)
			fail_msg("%s lands", asked[i]);
	for (size_t i = 0; i < COUNT(plain); i++)
		if (judge(fx, SB_GUARD_WRITE, plain[i]) != SB_GUARD_PLAIN)
			fail_msg("%s asks", plain[i]);
	/* a link in the place of a directory of state leads the agent elsewhere */
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".codex/sessions"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".gemini/tmp/bin"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".codex/tmp/a"), SB_GUARD_PLAIN);
}

static void a_beginning_and_an_ending_both_count(void **state)
{
	static const struct {
		const char *name;
		enum sb_guard_verdict verdict;
	} cases[] = {
		{"mise.prod.toml", SB_GUARD_ASK},
		{"a/.mise.ci.local.toml", SB_GUARD_ASK},
		{"MISE.x.TOML", SB_GUARD_ASK},
		{"mise.toml", SB_GUARD_ASK},
		{"promise.x.toml", SB_GUARD_PLAIN},
		{"mise.x.json", SB_GUARD_PLAIN},
		{"misex.toml", SB_GUARD_PLAIN},
		{"Cargo.toml", SB_GUARD_PLAIN},
		/* a word that is nobody's but bazel's, and its neighbours */
		{"tools/bazel", SB_GUARD_ASK},
		{"tools/bazelisk", SB_GUARD_PLAIN},
		{"mise/config.toml", SB_GUARD_ASK},
		{"app/config.toml", SB_GUARD_PLAIN},
	};
	struct guarded *fx = *state;

	for (size_t i = 0; i < COUNT(cases); i++)
		if (judge(fx, SB_GUARD_WRITE, cases[i].name) != cases[i].verdict)
			fail_msg("%s", cases[i].name);
	/* a directory that is renamed to such a word brings what is in it */
	plant(fx, "prepared/bazel", "#!/bin/sh\n");
	assert_int_equal(judge_rename(fx, "prepared", "tools", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, "prepared", "other", false), SB_GUARD_PLAIN);
	/* jj: a directory of this name is jj's own work, a file leads elsewhere */
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, ".jj/repo"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, ".jj/repo"), SB_GUARD_ASK);
}

static void what_says_what_git_ignores_counts_where_that_is_protected(void **state)
{
	static const char *const names[] = {".gitignore", "a/b/.gitignore", ".git/info/exclude",
					    "bare/info/exclude"};
	struct guarded *fx = *state;
	struct sb_guard_options options = {.size = sizeof options,
					   .in_guarded_root = guarded_in_root,
					   .context = fx->root,
					   .protect_ignored = true};

	plant(fx, "bare/objects/", "");
	plant(fx, "bare/refs/", "");
	for (size_t i = 0; i < COUNT(names); i++) {
		plant(fx, names[i], "*.o\n");
		/* what is new in info/exclude is told, and nothing of it asked about */
		assert_int_equal(judge(fx, SB_GUARD_WRITE, names[i]),
				 strstr(names[i], "/info/") ? SB_GUARD_CHECK : SB_GUARD_PLAIN);
		assert_int_equal(judge(fx, SB_GUARD_UNLINK, names[i]), SB_GUARD_PLAIN);
	}
	assert_int_equal(judge_rename(fx, ".git", "x", false), SB_GUARD_PLAIN);
	sb_guard_free(fx->guard);
	assert_int_equal(sb_guard_new(&options, &fx->guard, NULL), SB_OK);
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_int_equal(judge(fx, SB_GUARD_WRITE, names[i]), SB_GUARD_CHECK);
		assert_int_equal(judge(fx, SB_GUARD_UNLINK, names[i]), SB_GUARD_ASK);
		assert_int_equal(judge(fx, SB_GUARD_METADATA, names[i]), SB_GUARD_PLAIN);
	}
	/* a directory that leaves takes them along */
	assert_int_equal(judge_rename(fx, ".git", "x", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, ".git/info", ".git/x", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, "bare/info", "x", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, ".gitignore", "x", false), SB_GUARD_ASK);
	plant(fx, "plain/info/exclude", "");
	assert_int_equal(judge_rename(fx, "plain/info", "x", false), SB_GUARD_PLAIN);
}

static const char *const ordinary[] = {
	"main.c",
	"main.C",
	"project.user",
	".npm/_cacache/index-v5/x",
	".cache/uv/archive-v0/x",
	".local/share/pnpm/store/v10/x",
	"src/config/setup.c",
	"config",
	"src/config",
	"hooks/pre-commit",
	"src/hooks/useThing.ts",
	"objects",
	"refs",
	"refs/heads/main",
	"docs/README.md",
	"bin/tool",
	".github/workflows/ci.yml",
	"CLAUDE.md",
	"AGENTS.md",
	".claude/CLAUDE.md",
	".claude/worktrees/a/main.c",
	".cursor/rules/style.mdc",
	".cargo-husky/README.md",
	"cargo-husky/hooks/pre-commit",
	"husky/hooks/pre-commit",
	".husky/docs/x.md",
	".gitignore",
	".gitattributes",
	".editorconfig",
	"Makefile",
	"package.json",
	"index",
	"src/index/index",
	".git/sharedindex_aB3dE6",
	".git/index.lock",
	".git/config.lock",
	".git/objects/ab/cdef",
	".git/logs/HEAD",
	".git/hooks/pre-commit.sample",
	".git/hooks/x.sample",
	".git/COMMIT_EDITMSG",
	".git/rebase-merge/done",
	"node_modules/.bin/tsc",
	"remotes/a",
	"gitdir",
	"worktrees/a/b/gitdir",
	"info/alternates",
	"vscode/tasks.json",
	".vscode/spelling.txt",
	".envrc.example",
	"x.envrc",
	"worker",
	"a.worker.c",
	".0.sandbash-write.c",
	"update",
	"a/pre-commit",
	".gitx",
	"..git",
	".git ",
	"idea/workspace.xml",
};

static void ordinary_names_are_plain(void **state)
{
	struct guarded *fx = *state;

	for (size_t i = 0; i < COUNT(ordinary); i++) {
		plant_around(fx, ordinary[i]);
		for (int act = SB_GUARD_WRITE; act <= SB_GUARD_METADATA; act++) {
			/* git writes through links to wherever they lead; it has no pipes */
			bool asks = ((act == SB_GUARD_SYMLINK || act == SB_GUARD_MKNOD) &&
				     strncmp(ordinary[i], ".git/", 5) == 0) ||
				    (act == SB_GUARD_MKDIR && is_right_in_git(ordinary[i])) ||
				    (act == SB_GUARD_MKNOD &&
				     (strcmp(ordinary[i], ".gitignore") == 0 ||
				      strcmp(ordinary[i], ".gitattributes") == 0));

			if (judge(fx, (enum sb_guard_act)act, ordinary[i]) !=
			    (asks ? SB_GUARD_ASK : SB_GUARD_PLAIN))
				fail_msg("%s, act %d", ordinary[i], act);
		}
	}
}

static void case_and_ignored_characters_do_not_hide(void **state)
{
	static const char *const names[] = {
		".GIT/hooks/pre-commit",
		".git/HOOKS/pre-commit",
		".Git/Hooks/pre-commit",
		".ENVRC",
		".g\u200cit/hooks/pre-commit",
		".git\u200d/hooks/x",
		".gIt/hoo\u212as/x",
		".git/con\ufb01g",
		".ba\u017fh_pro\ufb01le",
		".git/hook\u017f/x",
		"\ufeff.envrc",
		".V\u017fcode/tasks.JSON",
		"x.Code-Workspace",
		"x.code-work\u200bspace",
		"\u200b.claude/skills/x/y",
		".Claude/Settings.json",
		".CURSOR/hooks/deep/er",
	};
	struct guarded *fx = *state;

	for (size_t i = 0; i < COUNT(names); i++)
		if (judge(fx, SB_GUARD_WRITE, names[i]) == SB_GUARD_PLAIN)
			fail_msg("%s", names[i]);
	plant_around(fx, ".g\u00efit/hooks/x");
	assert_int_equal(judge(fx, SB_GUARD_WRITE, ".g\u00efit/hooks/x"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "\xff.envrc"), SB_GUARD_PLAIN);
}

static void deleting_is_fine_but_for_hooks(void **state)
{
	struct guarded *fx = *state;

	assert_int_equal(judge(fx, SB_GUARD_UNLINK, ".git/config"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_METADATA, ".git/config"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_UNLINK, ".envrc"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_UNLINK, ".git"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_UNLINK, ".git/hooks/pre-commit.sample"),
			 SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_UNLINK, ".git/hooks/pre-commit"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_METADATA, ".git/hooks/pre-commit"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_METADATA, ".git/hooks/pre-commit.sample"),
			 SB_GUARD_PLAIN);
}

static void links_in_the_place_of_directories_ask(void **state)
{
	static const char *const asked[] = {".git",
					    ".git/hooks",
					    ".claude",
					    ".claude/skills",
					    ".vscode",
					    ".idea",
					    ".config",
					    "x/.github",
					    ".husky",
					    ".git/info",
					    ".git/tXaB1",
					    ".git/logs/refs/x",
					    ".git/logs/refs/heads/tXaB12z"};
	static const char *const fine[] = {
		"hooks",       "objects",      "worktrees",          "info",
		"a/sequencer", ".git/tXaB12z", "node_modules/.bin/x"};
	struct guarded *fx = *state;

	for (size_t i = 0; i < COUNT(asked); i++) {
		if (judge(fx, SB_GUARD_SYMLINK, asked[i]) != SB_GUARD_ASK)
			fail_msg("%s", asked[i]);
		if (strcmp(asked[i], ".git/tXaB1") != 0) /* no directory of git's */
			assert_int_equal(judge(fx, SB_GUARD_MKDIR, asked[i]), SB_GUARD_PLAIN);
	}
	plant(fx, "a/", "");
	plant(fx, ".git/", "");
	plant(fx, "node_modules/.bin/", "");
	for (size_t i = 0; i < COUNT(fine); i++)
		if (judge(fx, SB_GUARD_SYMLINK, fine[i]) != SB_GUARD_PLAIN)
			fail_msg("%s: %s", fine[i], fx->answer.row->pattern);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".git/worktrees"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".git/objects"), SB_GUARD_ASK);
}

static void a_slash_behind_or_no_directory_changes_nothing(void **state)
{
	struct guarded *fx = *state;
	struct sb_guard_place place = {.directory = -1, .path = "/x/.git/hooks/a", .name = "a/"};

	assert_int_equal(sb_guard_judge(fx->guard, SB_GUARD_WRITE, &place, &fx->answer),
			 SB_GUARD_ASK);
	/* what cannot be looked at counts as a git directory */
	place.path = "/x/hooks/a";
	assert_int_equal(sb_guard_judge(fx->guard, SB_GUARD_WRITE, &place, &fx->answer),
			 SB_GUARD_ASK);
	place.path = "/x/plain/a";
	assert_int_equal(sb_guard_judge(fx->guard, SB_GUARD_WRITE, &place, &fx->answer),
			 SB_GUARD_PLAIN);
	place = (struct sb_guard_place){.directory = -1, .path = "/.envrc", .name = NULL};
	assert_int_equal(sb_guard_judge(fx->guard, SB_GUARD_WRITE, &place, &fx->answer),
			 SB_GUARD_ASK);
	place.path = "/";
	assert_int_equal(sb_guard_judge(fx->guard, SB_GUARD_WRITE, &place, &fx->answer),
			 SB_GUARD_PLAIN);
}

#ifdef __SANITIZE_ADDRESS__
#define BOUND_NS 200000
#else
#define BOUND_NS 20000
#endif

/* An ordinary name costs next to nothing; the bound is far above, for slow machines. */
static void an_ordinary_name_is_cheap(void **state)
{
	enum { ROUNDS = 100000 };
	static const char *const names[] = {
		"src/module/file_with_a_name.c",
		".git/objects/ab/0123456789abcdef0123456789abcdef012345",
		"node_modules/left-pad/index.js"};
	struct guarded *fx = *state;
	struct timespec start, end;
	double ns;

	for (size_t n = 0; n < COUNT(names); n++) {
		struct guarded_place *held;

		plant(fx, names[n], "");
		held = guarded_hold(fx, names[n]);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
		for (int i = 0; i < ROUNDS; i++)
			sb_guard_judge(fx->guard, SB_GUARD_WRITE, &held->place, &fx->answer);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
		ns = ((double)(end.tv_sec - start.tv_sec) * 1e9 +
		      (double)(end.tv_nsec - start.tv_nsec)) /
		     ROUNDS;
		print_message("# %s: %.0f ns\n", names[n], ns);
		assert_true(ns < BOUND_NS);
		guarded_let_go(held);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(every_row_is_well_formed),
	cmocka_unit_test(every_text_has_its_end),
	cmocka_unit_test(every_ending_has_its_place),
	cmocka_unit_test_setup_teardown(every_row_matches, guarded_setup, guarded_teardown),
	cmocka_unit_test_setup_teardown(state_lands, guarded_setup, guarded_teardown),
	cmocka_unit_test_setup_teardown(the_rest_beside_state_asks, guarded_setup,
					guarded_teardown),
	cmocka_unit_test_setup_teardown(what_says_what_git_ignores_counts_where_that_is_protected,
					guarded_setup, guarded_teardown),
	cmocka_unit_test_setup_teardown(a_beginning_and_an_ending_both_count, guarded_setup,
					guarded_teardown),
	cmocka_unit_test_setup_teardown(ordinary_names_are_plain, guarded_setup, guarded_teardown),
	cmocka_unit_test_setup_teardown(case_and_ignored_characters_do_not_hide, guarded_setup,
					guarded_teardown),
	cmocka_unit_test_setup_teardown(deleting_is_fine_but_for_hooks, guarded_setup,
					guarded_teardown),
	cmocka_unit_test_setup_teardown(links_in_the_place_of_directories_ask, guarded_setup,
					guarded_teardown),
	cmocka_unit_test_setup_teardown(a_slash_behind_or_no_directory_changes_nothing,
					guarded_setup, guarded_teardown),
	cmocka_unit_test_setup_teardown(an_ordinary_name_is_cheap, guarded_setup, guarded_teardown),
};

UNIT_MAIN("guard names")
