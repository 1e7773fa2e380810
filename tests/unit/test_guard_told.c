/* test_guard_told.c - what lands, and is told at the end of a run. */
#include "landing.h"

/* A changed URL lands, and is told. */
static void told(struct guarded *fx, enum sb_guard_kind kind, const char *name, const char *old,
		 const char *new, const char *note)
{
	assert_int_equal(content(fx, kind, name, old, new), SB_GUARD_PLAIN);
	assert_non_null(strstr(why, note));
	if (!*note)
		assert_string_equal(why, "");
}

static void what_hides_work_is_told(void **state)
{
	static const char id[] = "1234567890123456789012345678901234567890\n";
	static const char packed[] = "1234567890123456789012345678901234567890 refs/remotes/o/p\n";
	static const char key[] = "core.bigfilethreshold is now 1k";
	struct guarded *fx = *state;

	plant(fx, "in/refs/t/.git/HEAD", id);
	plant(fx, "in/refs/t/.git/refs/heads/main", id);
	plant(fx, "in/refs/t/.git/refs/remotes/o/main", id);
	plant(fx, "in/refs/t/.git/packed-refs", packed);
	told(fx, SB_GUARD_GIT_REF, "in/refs/t/.git/refs/tags/o/main", NULL, id,
	     "refs/tags/o/main has the short name of refs/remotes/o/main");
	told(fx, SB_GUARD_GIT_REF, "in/refs/t/.git/refs/tags/o/p", NULL, id, "refs/remotes/o/p");
	told(fx, SB_GUARD_GIT_REF, "in/refs/t/.git/refs/o/main", NULL, id, "refs/remotes/o/main");
	told(fx, SB_GUARD_GIT_REF, "in/refs/t/.git/refs/heads/o/main", NULL, id, "o/main");
	told(fx, SB_GUARD_GIT_REF, "in/refs/t/.git/refs/tags/o", NULL, id, "");
	told(fx, SB_GUARD_GIT_REF, "in/refs/t/.git/refs/tags/ain", NULL, id, "");
	told(fx, SB_GUARD_GIT_REF, "in/refs/t/.git/refs/heads/main", id, "12\n", "");
	told(fx, SB_GUARD_GIT_IDS, "in/refs/t/.git/shallow", NULL, id, "git log ends early");
	told(fx, SB_GUARD_GIT_IDS, "in/refs/t/.git/shallow", id, "12\n", "");
	told(fx, SB_GUARD_GIT_IDS, "in/new/.git/shallow", NULL, id, "");
	told(fx, SB_GUARD_GIT_EXCLUDE, "in/info/attributes", NULL, "*.c -diff\n", "*.c -diff");
	told(fx, SB_GUARD_GIT_EXCLUDE, "in/info/attributes", NULL, "*\tbinary", "binary");
	told(fx, SB_GUARD_GIT_EXCLUDE, "in/info/attributes", NULL, "binary text\n*.c diff=cpp\n",
	     "");
	told(fx, SB_GUARD_GIT_CONFIG, "in/config", "", "[core]\nbigFileThreshold = 1k\n", key);
	told(fx, SB_GUARD_GIT_CONFIG, "in/config", "", "[core]\nbigFileThreshold = 1g\n", "");
}

static void changed_urls_are_told(void **state)
{
	static const char old[] = "[remote \"o\"]\nurl = https://a/x\n";
	struct guarded *fx = *state;

	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", old,
				 "[remote \"o\"]\nurl = https://b/x\n"),
			 SB_GUARD_PLAIN);
	assert_string_equal(why, "remote.o.url is now https://b/x, was https://a/x");
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", old,
				 "[remote \"o\"]\nurl = https://a/x\npushurl = https://b/x\n"),
			 SB_GUARD_PLAIN);
	assert_string_equal(why, "remote.o.pushurl is now https://b/x");
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", old,
				 "[remote \"o\"]\nurl = https://a/x\n[remote \"p\"]\nurl = b:x\n"),
			 SB_GUARD_PLAIN);
	assert_string_equal(why, "");
	assert_int_equal(
		content(fx, SB_GUARD_GIT_CONFIG, ".git/config", old,
			"[remote \"o\"]\nurl = https://a/x\nfetch = +refs/heads/*:refs/remotes/o/*\n"),
		SB_GUARD_PLAIN);
	assert_string_equal(why, "");
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", NULL, old),
			 SB_GUARD_PLAIN);
	assert_string_equal(why, "");
}

static void instructions_are_told(void **state)
{
	static const char *const told[] = {
		"/p/CLAUDE.md",
		"/p/a/b/AGENTS.md",
		"/p/.cursorrules",
		"/p/.cursor/rules/x",
		"/p/a/.cursor/rules/b/c.mdc",
		"/p/.github/copilot-instructions.md",
		"/p/.clinerules",
		"/p/.clinerules/x.md",
		"/p/.git/.cursor/rules/x",
		"/.rules",
		"/p/src/sitecustomize.py",
		"/p/usercustomize.py",
	};
	static const char *const plain[] = {
		"/p/README.md",
		"/p/xCLAUDE.md",
		"/p/CLAUDE.mdx",
		"/p/.cursor/rules",
		"/p/.cursor/x",
		"/p/copilot-instructions.md",
		"/p/rules/x.md",
		"/p/customize.py",
		"/p/.venv/lib/python3.11/site-packages/sitecustomize.py",
		"/p/node_modules/x/CLAUDE.md",
		"/p/x.cursor/rules/y",
		"/",
		"/p/.cursor/rulesx/y",
		"/h/.claude/projects/-p/s.jsonl",
		"/h/.claude/projects/-p/memory",
		"/h/.claude/projects/-p/q/memory/x",
		"/h/.claude/projects/memory/x",
	};
	const char *rest;
	size_t from = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(told); i++)
		if (!sb_guard_told(told[i]))
			fail_msg("%s", told[i]);
	for (size_t i = 0; i < COUNT(plain); i++)
		if (sb_guard_told(plain[i]))
			fail_msg("%s", plain[i]);
	for (size_t number = 0; sb_guard_told_row(number); number++) {
		const char *pattern = sb_guard_told_row(number)->pattern;
		const char *beneath = strstr(pattern, "**"); /* one star is a name as any other */
		char path[128];

		snprintf(path, sizeof path, "/p/a/%.*s%s",
			 (int)(beneath ? (size_t)(beneath - pattern) : strlen(pattern)), pattern,
			 beneath ? "deep/x" : "");
		if (!sb_guard_told(path))
			fail_msg("%s", path);
	}
	assert_null(sb_guard_told("/p/claude.md"));
	assert_non_null(sb_guard_told_folded("/p/claude.MD"));
	assert_null(sb_guard_told_folded("/p/CLAUDE.md"));
	assert_null(sb_guard_told_folded("/p/x.md"));
	assert_non_null(sb_guard_told_in("/p/.cursor", &from, &rest));
	assert_string_equal(rest, "rules/**");
	assert_null(sb_guard_told_in("/p/.cursor", &from, &rest));
	from = 0;
	assert_null(sb_guard_told_in("/p/x.cursor", &from, &rest));
	from = 0;
	assert_null(sb_guard_told_in("/p/src", &from, &rest));
}

static const struct CMUnitTest tests[] = {
	WITH_TREE(instructions_are_told),
	WITH_TREE(what_hides_work_is_told),
	WITH_TREE(changed_urls_are_told),
};

UNIT_MAIN("guard told")
