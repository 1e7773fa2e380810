/*
 * test_guard_structure.c - git directories by structure, and acts that complete something.
 *
 * Each attack prepares harmless names first; the act that makes them dangerous must ask, and
 * the same act without the prepared evil must not.
 */
#include "guarded.h"

#include <sys/mman.h>

static const char harmless[] = "[core]\n\tbare = true\n";
static const char evil[] = "[core]\n\tpager = evil\n";

static void a_bare_layout_is_a_git_directory(void **state)
{
	struct guarded *fx = *state;

	plant(fx, "store/objects/", "");
	plant(fx, "store/hooks/", "");
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "store/hooks/pre-commit"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "store/config"), SB_GUARD_PLAIN);
	plant(fx, "store/refs/", "");
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "store/hooks/pre-commit"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "store/hooks/pre-commit.sample"),
			 SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "store/config"), SB_GUARD_CHECK);
	assert_int_equal(fx->answer.kind, SB_GUARD_GIT_CONFIG);
	plant(fx, "store/remotes/", "");
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "store/remotes/x"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, "store/hooks"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "store/HEAD"), SB_GUARD_CHECK);
	assert_int_equal(fx->answer.kind, SB_GUARD_GIT_REF);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "store/refs/heads/main"), SB_GUARD_CHECK);
	assert_int_equal(fx->answer.kind, SB_GUARD_GIT_REF);
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "store/refs/heads"), SB_GUARD_PLAIN);
}

/* Names that anybody invents, in a git directory of any name: found from below, however deep. */
static void branches_are_found_from_below(void **state)
{
	struct guarded *fx = *state;
	char deep[2048] = "c/refs/";

	for (int i = 0; i < 400; i++)
		strcat(deep, "a/");
	plant(fx, deep, "");
	strcat(deep, "$(x)");
	plant(fx, "c/refs/heads/refs/", "");
	plant(fx, "c/svn/", "");
	plant(fx, "c/worktrees/w/refs/worktree/", "");
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/refs/heads/$(x)"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/svn/x"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/git-p4.x"), SB_GUARD_PLAIN);
	plant(fx, "c/objects/", "");
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/refs/heads/$(x)"), SB_GUARD_ASK);
	assert_string_equal(fx->answer.detail, "a name that shells may take for a command");
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/refs/heads/refs/$(x)"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, deep), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/worktrees/w/refs/worktree/$(x)"),
			 SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/Refs/heads/main"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/\xe2\x80\x8crefs/heads/main"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/svn/x"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/git-p4.x"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/refs/heads/main"), SB_GUARD_CHECK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "c/refs/heads/main.lock"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_UNLINK, "c/refs/heads/$(x)"), SB_GUARD_PLAIN);
}

/* The last of the two names, by every act that can make one. */
static void completing_looks_at_what_is_there(void **state)
{
	static const enum sb_guard_act acts[] = {SB_GUARD_WRITE, SB_GUARD_MKDIR, SB_GUARD_MKNOD,
						 SB_GUARD_SYMLINK, SB_GUARD_LINK_TO};
	static const char *const lasts[] = {"refs", "objects"};
	struct guarded *fx = *state;

	for (size_t last = 0; last < COUNT(lasts); last++) {
		char name[64];

		snprintf(name, sizeof name, "x/%s", lasts[last]);
		tree_clear(in(fx->root, "x"));
		plant(fx, last ? "x/refs/" : "x/objects/", "");
		plant(fx, "x/hooks/pre-commit.sample", "#!/bin/sh\n");
		plant(fx, "x/config", harmless);
		plant(fx, "x/branches/", "");
		for (size_t i = 0; i < COUNT(acts); i++)
			assert_int_equal(judge(fx, acts[i], name), acts[i] == SB_GUARD_SYMLINK
									   ? SB_GUARD_ASK
									   : SB_GUARD_PLAIN);
		plant(fx, "x/config", evil);
		for (size_t i = 0; i < COUNT(acts); i++) {
			assert_int_equal(judge(fx, acts[i], name), SB_GUARD_ASK);
			assert_string_equal(fx->answer.detail, "config: core.pager = evil");
		}
		plant(fx, "x/config", harmless);
		plant(fx, "x/hooks/pre-commit", "#!/bin/sh\n");
		for (size_t i = 0; i < COUNT(acts); i++) {
			assert_int_equal(judge(fx, acts[i], name), SB_GUARD_ASK);
			assert_string_equal(fx->answer.detail, "hooks/pre-commit");
		}
		assert_int_equal(judge(fx, SB_GUARD_UNLINK, name), SB_GUARD_PLAIN);
	}
}

static void completing_by_rename(void **state)
{
	struct guarded *fx = *state;

	plant(fx, "x/objects/", "");
	plant(fx, "x/hooks/update", "#!/bin/sh\n");
	plant(fx, "r/", "");
	plant(fx, "file", "");
	assert_int_equal(judge_rename(fx, "r", "x/refs", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, "file", "x/refs", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, "r", "x/other", false), SB_GUARD_PLAIN);
	make_link(fx->root, "link", "r");
	assert_int_equal(judge_rename(fx, "link", "x/refs", false), SB_GUARD_ASK);
	/* exchange: what is at the other end lands here */
	plant(fx, "y/objects/", "");
	plant(fx, "y/plain/", "");
	plant(fx, "z/refs/", "");
	plant(fx, "z/objects/", "");
	assert_int_equal(judge_rename(fx, "z/refs", "x/refs", true), SB_GUARD_ASK);
	tree_clear(in(fx->root, "x/hooks"));
	assert_int_equal(judge_rename(fx, "r", "x/refs", false), SB_GUARD_PLAIN);
}

static void links_and_many_entries_are_not_followed_but_asked_about(void **state)
{
	struct guarded *fx = *state;
	char name[64];

	plant(fx, "x/objects/", "");
	plant(fx, "elsewhere/", "");
	make_link(fx->root, "x/hooks", "../elsewhere");
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "x/refs"), SB_GUARD_ASK);
	unlink(in(fx->root, "x/hooks"));
	make_link(fx->root, "x/config", "../elsewhere/config");
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "x/refs"), SB_GUARD_ASK);
	unlink(in(fx->root, "x/config"));
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "x/refs"), SB_GUARD_PLAIN);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "x/hooks/%d.sample", i);
		plant(fx, name, "");
	}
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "x/refs"), SB_GUARD_ASK);
}

/* A config that somebody can still write to is not what we read. */
static void an_open_config_is_not_settled(void **state)
{
	struct guarded *fx = *state;
	void *map;
	int fd;

	plant(fx, "x/objects/", "");
	plant(fx, "x/config", harmless);
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "x/refs"), SB_GUARD_PLAIN);
	fd = open(in(fx->root, "x/config"), O_RDWR | O_CLOEXEC);
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "x/refs"), SB_GUARD_ASK);
	assert_string_equal(fx->answer.detail, "config: it may still be written to");
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	close(fd);
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "x/refs"), SB_GUARD_ASK);
	munmap(map, 4096);
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "x/refs"), SB_GUARD_PLAIN);
	/* and a second name is a second way to write */
	assert_int_equal(link(in(fx->root, "x/config"), in(fx->root, "alias")), 0);
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "x/refs"), SB_GUARD_ASK);
}

static void a_prepared_tree_moves_in(void **state)
{
	static const struct {
		const char *prepared, *from, *to;
	} attacks[] = {
		{"x/hooks/pre-commit", "x", ".git"},
		{"x/hooks/pre-commit", "x", "sub/.GIT"},
		{"x/hooks/pre-commit", "x/hooks", ".git/hooks"},
		{"x/pre-commit", "x", ".git/hooks"},
		{"x/commondir", "x", "y"}, /* no attack: the name was guarded when it was written */
		{"x/settings.json", "x", ".claude"},
		{"x/skills/a/SKILL.md", "x", ".claude"},
		{"x/SKILL.md", "x", ".claude/skills"},
		{"x/SKILL.md", "x", ".claude/skills/mine"},
		{"x/tasks.json", "x", ".vscode"},
		{"x/a.xml", "x", ".idea"},
		{"x/fish/config.fish", "x", ".config"},
		{"x/bin/ls", "x", ".local"},
		{"x/pre-commit", "x", ".husky"},
		{"x/share/systemd/user/a.service", "x", ".local"},
		{"x/systemd/user/a.service", "x", ".local/share"},
	};
	struct guarded *fx = *state;

	plant(fx, "sub/", "");
	plant(fx, ".claude/", "");
	plant(fx, ".claude/skills/", "");
	plant(fx, ".local/", "");
	for (size_t i = 0; i < COUNT(attacks); i++) {
		enum sb_guard_verdict expected = strcmp(attacks[i].to, "y") == 0 ? SB_GUARD_PLAIN
										 : SB_GUARD_ASK;

		tree_clear(in(fx->root, "x"));
		plant(fx, attacks[i].prepared, "evil");
		if (strncmp(attacks[i].to, ".git/", 5) == 0)
			plant(fx, ".git/", "");
		if (judge_rename(fx, attacks[i].from, attacks[i].to, false) != expected)
			fail_msg("%s: %s -> %s", attacks[i].prepared, attacks[i].from,
				 attacks[i].to);
		/* the other direction of an exchange is the same arrival */
		if (expected == SB_GUARD_ASK &&
		    judge_rename(fx, attacks[i].to, attacks[i].from, true) != SB_GUARD_ASK)
			fail_msg("exchange %s -> %s", attacks[i].to, attacks[i].from);
		/* to an ordinary name: nothing */
		assert_int_equal(judge_rename(fx, attacks[i].from, "ordinary", false),
				 SB_GUARD_PLAIN);
	}
}

/* Names that were made to fill the question push none out that weighs more, in any order. */
static void what_weighs_most_is_told_first(void **state)
{
	static const char first[] = "hooks/pre-commit\nconfig: core.pager = evil";
	static const char *const pads[] = {"x/hooks/pad", "x/unknown", "x/refs/heads/$(pad)"};
	struct guarded *fx = *state;
	char name[64];

	for (size_t pad = 0; pad < COUNT(pads); pad++)
		for (int last = 0; last < 2; last++) {
			tree_clear(in(fx->root, "x"));
			if (!last)
				plant(fx, "x/hooks/pre-commit", "evil");
			for (int i = 0; i < 40; i++) {
				snprintf(name, sizeof name, "%s%02d", pads[pad], i);
				plant(fx, name, "x");
			}
			if (last)
				plant(fx, "x/hooks/pre-commit", "evil");
			plant(fx, "x/config", evil);
			assert_int_equal(judge_rename(fx, "x", ".git", false), SB_GUARD_ASK);
			assert_int_equal(strncmp(fx->answer.detail, first, sizeof first - 1), 0);
			assert_string_equal(fx->answer.row->pattern, "<git>/hooks/*");
			if (strstr(pads[pad], "pad")) /* others are not looked for any more */
				assert_int_equal(fx->answer.found, 42);
		}
}

/* One of each row before a second of any; the rest by who obeys it. */
static void rows_are_told_before_names(void **state)
{
	struct guarded *fx = *state;
	struct guarded_place *from, *to;
	struct sb_guard_answer answer = {0};
	char name[64];

	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof name, "x/d%02d/.envrc", i);
		plant(fx, name, "x");
	}
	plant(fx, "x/e/.vscode/tasks.json", "{}");
	plant(fx, "x/f/.git/hooks/pre-commit", "evil");
	plant(fx, "x/g/.git/hooks/pre-push", "evil");
	plant(fx, "x/h/.idea/a.xml", "evil");
	plant(fx, "y/", "");
	from = guarded_hold(fx, "x");
	to = guarded_hold(fx, "y/x");
	assert_int_equal(sb_guard_brings(fx->guard, &from->place, &to->place, &answer),
			 SB_GUARD_ASK);
	assert_non_null(strstr(answer.detail, "/.envrc"));
	assert_non_null(strstr(answer.detail, "e/.vscode/tasks.json"));
	assert_non_null(strstr(answer.detail, "/.git/hooks/pre-"));
	assert_non_null(strstr(answer.detail, "h/.idea/a.xml"));
	assert_non_null(strstr(answer.detail, "\nand 30 more: "));
	assert_non_null(strstr(answer.detail, "29 for direnv"));
	assert_non_null(strstr(answer.detail, "1 for git"));
	/* which of them the question is about hangs on the order; the others say why */
	assert_true(!!strstr(answer.detail, "pre-commit: git runs hooks") +
			    !!strstr(answer.detail, "pre-push: git runs hooks") ==
		    (strcmp(answer.row->who, "git") != 0));
	guarded_let_go(from);
	guarded_let_go(to);
}

static void harmless_trees_move_in(void **state)
{
	struct guarded *fx = *state;

	plant(fx, "x/hooks/a.sample", "");
	plant(fx, "x/config", harmless);
	plant(fx, "x/HEAD", "ref: refs/heads/main\n");
	assert_int_equal(judge_rename(fx, "x", ".git", false), SB_GUARD_PLAIN);
	plant(fx, "x/objects/info/alternates", "");
	assert_int_equal(judge_rename(fx, "x", ".git", false), SB_GUARD_PLAIN);
	plant(fx, "r/", "");
	plant(fx, "empty/", "");
	assert_int_equal(judge_rename(fx, "empty", ".vscode", false), SB_GUARD_PLAIN);
	assert_int_equal(judge_rename(fx, "empty", ".claude", false), SB_GUARD_PLAIN);
	/* a git directory is guarded under any name, but a hook that came with it was obeyed by nobody */
	plant(fx, "repo/objects/", "");
	plant(fx, "repo/refs/", "");
	assert_int_equal(judge_rename(fx, "repo", ".git", false), SB_GUARD_PLAIN);
	plant(fx, "repo/hooks/pre-commit", "from before\n");
	assert_int_equal(judge_rename(fx, "repo", ".git", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, "repo", "repo2", false), SB_GUARD_PLAIN);
	assert_int_equal(unlink(in(fx->root, "repo/hooks/pre-commit")), 0);
	/* but names that only a .git guards were not */
	plant(fx, "repo/a-tool", "");
	assert_int_equal(judge_rename(fx, "repo", ".git", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, "repo", "other-repo", false), SB_GUARD_PLAIN);
	plant(fx, "whole/.git/hooks/pre-commit", "the user's\n");
	assert_int_equal(judge_rename(fx, "whole", "other", false), SB_GUARD_PLAIN);
}

static void files_are_renamed_onto_guarded_names(void **state)
{
	struct guarded *fx = *state;

	plant(fx, ".git/config", harmless);
	plant(fx, ".git/config.lock", harmless);
	plant(fx, ".git/hooks/pre-commit.sample", "");
	plant(fx, "file", "");
	assert_int_equal(judge_rename(fx, ".git/config.lock", ".git/config", false),
			 SB_GUARD_CHECK);
	assert_int_equal(fx->answer.kind, SB_GUARD_GIT_CONFIG);
	assert_int_equal(
		judge_rename(fx, ".git/hooks/pre-commit.sample", ".git/hooks/pre-commit", false),
		SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, "file", ".envrc", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, ".git/config", "file", true), SB_GUARD_CHECK);
	assert_int_equal(fx->source.verdict, SB_GUARD_CHECK);
	assert_int_equal(judge_rename(fx, ".git/config", "away", false), SB_GUARD_PLAIN);
	make_link(fx->root, "link", "file");
	assert_int_equal(judge_rename(fx, "link", ".git/config", false), SB_GUARD_ASK);
	plant(fx, ".git/hooks/pre-push", "stops secrets\n");
	assert_int_equal(judge_rename(fx, ".git/hooks/pre-push", "away", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, ".git/hooks", "away", false), SB_GUARD_ASK);
}

static void places_that_config_names(void **state)
{
	struct guarded *fx = *state;

	plant(fx, ".git/config",
	      "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared.conf\n");
	plant(fx, "shared.conf", "[include]\n\tpath = more/deep.conf\n");
	plant(fx, "tools/hooks/", "");
	plant(fx, "more/", "");
	plant(fx, "prepared/pre-commit", "evil\n");
	guarded_make(fx);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "tools/hooks/pre-commit"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "tools/hooks/helper"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "tools/other"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "shared.conf"), SB_GUARD_CHECK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "more/deep.conf"), SB_GUARD_CHECK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "more/other.conf"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, "tools"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, "tools2"), SB_GUARD_PLAIN);
	assert_int_equal(judge_rename(fx, "prepared", "tools/hooks", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, "prepared", "tools/else", false), SB_GUARD_PLAIN);
}

/* Repositories deeper down are found when a name is one that git runs. */
static void nested_hooks_path(void **state)
{
	struct guarded *fx = *state;

	plant(fx, "a/b/.git/config", "[core]\n\thooksPath = githooks\n");
	plant(fx, "a/b/githooks/", "");
	plant(fx, "a/githooks/", "");
	plant(fx, "prepared/pre-push", "evil\n");
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "a/b/githooks/pre-commit"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "a/githooks/pre-commit"), SB_GUARD_PLAIN);
	assert_int_equal(judge_rename(fx, "prepared", "a/b/githooks", false), SB_GUARD_ASK);
}

static void hooks_behind_a_link_of_the_user(void **state)
{
	struct guarded *fx = *state;

	plant(fx, ".git/config", harmless);
	plant(fx, "my-hooks/", "");
	make_link(fx->root, ".git/hooks", "../my-hooks");
	guarded_make(fx);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "my-hooks/pre-commit"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "my-hooks/pre-commit.sample"), SB_GUARD_PLAIN);
}

static void a_hidden_directory_of_hooks_asks(void **state)
{
	struct guarded *fx = *state;

	plant(fx, ".git/hooks/x.sample", "");
	plant(fx, "plain/hooks/pre-commit", "");
	assert_int_equal(judge(fx, SB_GUARD_HIDE, ".git/hooks"), SB_GUARD_PLAIN);
	plant(fx, ".git/hooks/pre-commit", "");
	assert_int_equal(judge(fx, SB_GUARD_HIDE, ".git/hooks"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_METADATA, ".git/hooks"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_HIDE, "plain/hooks"), SB_GUARD_PLAIN);
	/* the x bit makes git run it; that of a sample does not */
	assert_int_equal(judge(fx, SB_GUARD_METADATA, ".git/hooks/pre-commit"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_METADATA, ".git/hooks/x.sample"), SB_GUARD_PLAIN);
}

static void a_relative_git_file_is_judged_where_it_goes(void **state)
{
	struct guarded *fx = *state;
	char text[PATH_MAX + 32];

	plant(fx, "a/b/sub/.git", "gitdir: ../../../.git/modules/sub\n");
	plant(fx, "other/", "");
	assert_int_equal(judge_rename(fx, "a/b/sub", "a/b/moved", false), SB_GUARD_PLAIN);
	assert_int_equal(judge_rename(fx, "a/b/sub", "moved", false), SB_GUARD_ASK);
	snprintf(text, sizeof text, "gitdir: %s/.git/modules/sub\n", fx->root);
	plant(fx, "a/b/sub/.git", text);
	assert_int_equal(judge_rename(fx, "a/b/sub", "moved", false), SB_GUARD_PLAIN);
	plant(fx, "a/b/sub/.git", "gitdir: inner\n");
	assert_int_equal(judge_rename(fx, "a/b/sub", "moved", false), SB_GUARD_PLAIN);
}

static void what_a_link_among_the_hooks_leads_to_is_a_hook(void **state)
{
	struct guarded *fx = *state;

	plant(fx, ".git/hooks/x.sample", "");
	plant(fx, "scripts/lint.sh", "");
	plant(fx, "scripts/other.sh", "");
	plant(fx, "sub/.git/hooks/x.sample", "");
	plant(fx, "sub/scripts/pre-commit", "");
	plant(fx, "sub/scripts/lint.sh", "");
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "scripts/lint.sh"), SB_GUARD_PLAIN);
	assert_int_equal(symlink("../../scripts/lint.sh", in(fx->root, ".git/hooks/pre-commit")),
			 0);
	assert_int_equal(
		symlink("../../scripts/pre-commit", in(fx->root, "sub/.git/hooks/pre-commit")), 0);
	guarded_make(fx);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "scripts/lint.sh"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_METADATA, "scripts/lint.sh"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "scripts/other.sh"), SB_GUARD_PLAIN);
	assert_int_equal(judge_rename(fx, "scripts", "gone", false), SB_GUARD_PLAIN);
	/* deeper repositories: names that git runs */
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "sub/scripts/pre-commit"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "sub/scripts/lint.sh"), SB_GUARD_PLAIN);
}

/* Whoever acts on such an answer has to see that it still counts (supervise/meaning.h). */
static void an_answer_says_that_it_hangs_on_what_was_seen(void **state)
{
	struct guarded *fx = *state;

	plant(fx, "q/hooks/", "");
	plant(fx, "file", "");
	assert_int_equal(judge_rename(fx, "q", "r", false), SB_GUARD_PLAIN);
	assert_int_equal(fx->answer.looked | fx->source.looked, 0);
	assert_int_equal(judge_rename(fx, "q", ".git", false), SB_GUARD_PLAIN);
	assert_int_equal(fx->answer.looked, SB_LOOKED_INTO);
	assert_int_equal(judge_rename(fx, "q", ".claude", false), SB_GUARD_PLAIN);
	assert_int_equal(fx->answer.looked, SB_LOOKED_INTO);
	/* a git directory is one as long as nobody moves a half of it away */
	plant(fx, "q/objects/", "");
	assert_int_equal(judge(fx, SB_GUARD_WRITE, "q/plain"), SB_GUARD_PLAIN);
	assert_int_equal(fx->answer.looked, 0);
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "q/refs"), SB_GUARD_PLAIN);
	assert_int_equal(fx->answer.looked, SB_LOOKED_BESIDE);
	plant(fx, "q/refs/", "");
	assert_int_equal(judge_rename(fx, "q", ".git", false), SB_GUARD_PLAIN);
	assert_int_equal(fx->answer.looked, SB_LOOKED_INTO);
	/* also if the other half is not there: somebody may be making it */
	plant(fx, "r/", "");
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "r/objects"), SB_GUARD_PLAIN);
	assert_int_equal(fx->answer.looked, SB_LOOKED_BESIDE);
	plant(fx, ".git/", "");
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, ".git/objects"), SB_GUARD_PLAIN);
	assert_int_equal(fx->answer.looked, 0);
	/* two cannot be put on hold at a time */
	plant(fx, ".claude/", "");
	assert_int_equal(judge_rename(fx, "r", ".claude", true), SB_GUARD_ASK);
	plant(fx, "s/", "");
	assert_int_equal(judge_rename(fx, "r", "s", true), SB_GUARD_PLAIN);
}

static void what_is_on_hold_is_left_alone(void **state)
{
	static const enum sb_guard_act acts[] = {
		SB_GUARD_WRITE,   SB_GUARD_MKDIR,     SB_GUARD_MKNOD,  SB_GUARD_SYMLINK,
		SB_GUARD_LINK_TO, SB_GUARD_LINK_FROM, SB_GUARD_UNLINK, SB_GUARD_METADATA};
	static const char *const names[] = {"a/.0.sandbash-hold", "a/.0.sandbash-hold/x",
					    "a/.0.Sandbash-Hold/x/y/z"};
	struct guarded *fx = *state;

	plant(fx, "a/.0.sandbash-hold/d/", "");
	plant(fx, "a/e/", "");
	for (size_t name = 0; name < COUNT(names); name++)
		for (size_t i = 0; i < COUNT(acts); i++)
			assert_int_equal(judge(fx, acts[i], names[name]), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, "a/.0.sandbash-hold", "a/b", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, "a/.0.sandbash-hold/d", "a/b", false), SB_GUARD_ASK);
	assert_int_equal(judge_rename(fx, "a/e", "a/.1.sandbash-hold", false), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_MKDIR, "a/.0.sandbash-holder/x"), SB_GUARD_PLAIN);
	assert_true(sb_guard_is_held("/p/.0.sandbash-hold/x"));
	assert_true(sb_guard_is_held("/p/.0.sandbash-hold"));
	assert_false(sb_guard_is_held("/p/.0.sandbash-holder/x"));
}

static void what_is_there_by_now_is_judged_where_it_is(void **state)
{
	struct guarded *fx = *state;
	struct guarded_place *refs;
	bool complete;

	plant(fx, "x/refs/", "");
	refs = guarded_hold(fx, "x/refs");
	assert_int_equal(sb_guard_completed(fx->guard, &refs->place, &complete, &fx->answer),
			 SB_GUARD_PLAIN);
	assert_false(complete);
	plant(fx, "x/objects/", "");
	assert_int_equal(sb_guard_completed(fx->guard, &refs->place, &complete, &fx->answer),
			 SB_GUARD_PLAIN);
	assert_true(complete);
	plant(fx, "x/hooks/update", "#!/bin/sh\n");
	assert_int_equal(sb_guard_completed(fx->guard, &refs->place, &complete, &fx->answer),
			 SB_GUARD_ASK);
	guarded_let_go(refs);

	plant(fx, ".claude/", "");
	refs = guarded_hold(fx, ".claude");
	assert_int_equal(sb_guard_landed(fx->guard, &refs->place, &fx->answer), SB_GUARD_PLAIN);
	plant(fx, ".claude/settings.json", "{}");
	assert_int_equal(sb_guard_landed(fx->guard, &refs->place, &fx->answer), SB_GUARD_ASK);
	guarded_let_go(refs);
}

static const struct CMUnitTest tests[] = {
	WITH_TREE(a_bare_layout_is_a_git_directory),
	WITH_TREE(branches_are_found_from_below),
	WITH_TREE(completing_looks_at_what_is_there),
	WITH_TREE(completing_by_rename),
	WITH_TREE(links_and_many_entries_are_not_followed_but_asked_about),
	WITH_TREE(an_open_config_is_not_settled),
	WITH_TREE(a_prepared_tree_moves_in),
	WITH_TREE(what_weighs_most_is_told_first),
	WITH_TREE(rows_are_told_before_names),
	WITH_TREE(harmless_trees_move_in),
	WITH_TREE(files_are_renamed_onto_guarded_names),
	WITH_TREE(places_that_config_names),
	WITH_TREE(nested_hooks_path),
	WITH_TREE(hooks_behind_a_link_of_the_user),
	WITH_TREE(a_hidden_directory_of_hooks_asks),
	WITH_TREE(a_relative_git_file_is_judged_where_it_goes),
	WITH_TREE(what_a_link_among_the_hooks_leads_to_is_a_hook),
	WITH_TREE(an_answer_says_that_it_hangs_on_what_was_seen),
	WITH_TREE(what_is_on_hold_is_left_alone),
	WITH_TREE(what_is_there_by_now_is_judged_where_it_is),
};

UNIT_MAIN("guard structure")
