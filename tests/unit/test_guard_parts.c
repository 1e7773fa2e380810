/* test_guard_parts.c - what a linked worktree or a submodule opens outside itself. */
#include "guarded.h"

static bool has(const struct sb_guard_parts *parts, const char *path)
{
	for (size_t i = 0; i < parts->count; i++)
		if (strcmp(parts->all[i].path, path) == 0)
			return true;
	return false;
}

/* main/.git and tree, as git worktree add leaves them */
static void make_worktree(struct guarded *fx)
{
	char text[2 * PATH_MAX];

	plant(fx, "main/.git/objects/", "");
	plant(fx, "main/.git/refs/", "");
	plant(fx, "main/.git/worktrees/tree/commondir", "../..\n");
	snprintf(text, sizeof text, "%s/tree/.git\n", fx->root);
	plant(fx, "main/.git/worktrees/tree/gitdir", text);
	snprintf(text, sizeof text, "gitdir: %s/main/.git/worktrees/tree\n", fx->root);
	plant(fx, "tree/.git", text);
}

static size_t count_parts(struct guarded *fx, const char *project)
{
	struct sb_guard_parts parts;
	size_t count;

	assert_int_equal(sb_guard_parts_find(in(fx->root, project), &parts, NULL), SB_OK);
	count = parts.count;
	assert_int_equal(count > 0, parts.repository != NULL);
	sb_guard_parts_done(&parts);
	return count;
}

static void a_linked_worktree(void **state)
{
	struct guarded *fx = *state;
	struct sb_guard_parts parts;

	make_worktree(fx);
	assert_int_equal(sb_guard_parts_find(in(fx->root, "tree"), &parts, NULL), SB_OK);
	assert_string_equal(parts.repository, in(fx->root, "main/.git"));
	assert_true(has(&parts, in(fx->root, "main/.git/objects")));
	assert_true(has(&parts, in(fx->root, "main/.git/refs")));
	assert_true(has(&parts, in(fx->root, "main/.git/worktrees/tree")));
	assert_false(has(&parts, in(fx->root, "main/.git")));
	assert_false(has(&parts, in(fx->root, "main/.git/hooks")));
	assert_false(has(&parts, in(fx->root, "main/.git/HEAD")));
	assert_false(has(&parts, in(fx->root, "main/.git/index")));
	for (size_t i = 0; i < parts.count; i++)
		if (strstr(parts.all[i].path, "/config"))
			assert_true(parts.all[i].checked);
	sb_guard_parts_done(&parts);
	assert_int_equal(count_parts(fx, "main"), 0);
}

static void only_if_it_points_back(void **state)
{
	struct guarded *fx = *state;
	char text[2 * PATH_MAX];

	make_worktree(fx);
	assert_true(count_parts(fx, "tree") > 5);
	/* another directory with the same .git file */
	snprintf(text, sizeof text, "gitdir: %s/main/.git/worktrees/tree\n", fx->root);
	plant(fx, "evil/.git", text);
	assert_int_equal(count_parts(fx, "evil"), 0);
	/* straight to the main repository */
	snprintf(text, sizeof text, "gitdir: %s/main/.git\n", fx->root);
	plant(fx, "evil/.git", text);
	assert_int_equal(count_parts(fx, "evil"), 0);
	/* a worktree directory of its own that claims another's repository */
	snprintf(text, sizeof text, "gitdir: %s/fake/worktrees/x\n", fx->root);
	plant(fx, "evil/.git", text);
	snprintf(text, sizeof text, "%s/evil/.git\n", fx->root);
	plant(fx, "fake/worktrees/x/gitdir", text);
	snprintf(text, sizeof text, "%s/main/.git\n", fx->root);
	plant(fx, "fake/worktrees/x/commondir", text);
	assert_int_equal(count_parts(fx, "evil"), 0);
	plant(fx, "evil/.git", "gitdir: nowhere\n");
	assert_int_equal(count_parts(fx, "evil"), 0);
	plant(fx, "evil/.git", "");
	assert_int_equal(count_parts(fx, "evil"), 0);
}

static void a_submodule(void **state)
{
	struct guarded *fx = *state;
	struct sb_guard_parts parts;

	plant(fx, "super/.git/modules/sub/objects/", "");
	plant(fx, "super/.git/modules/sub/config", "[core]\n\tworktree = ../../../sub\n");
	plant(fx, "super/sub/.git", "gitdir: ../.git/modules/sub\n");
	assert_int_equal(sb_guard_parts_find(in(fx->root, "super/sub"), &parts, NULL), SB_OK);
	assert_int_equal(parts.count, 1);
	assert_string_equal(parts.all[0].path, in(fx->root, "super/.git/modules/sub"));
	sb_guard_parts_done(&parts);
	assert_int_equal(count_parts(fx, "super"), 0);
	plant(fx, "other/.git", "gitdir: ../super/.git/modules/sub\n");
	assert_int_equal(count_parts(fx, "other"), 0);
}

static const struct CMUnitTest tests[] = {
	WITH_TREE(a_linked_worktree),
	WITH_TREE(only_if_it_points_back),
	WITH_TREE(a_submodule),
};

UNIT_MAIN("guard parts")
