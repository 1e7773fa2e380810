/* test_guard_content.c - which bytes land unasked, and what a question says about the others. */
#include "landing.h"

#include "base/buf.h"

static const char *const config_fine[] = {
	"[remote \"o\"]\nfetch = +refs/heads/*:refs/remotes/o/*\nfetch = ^refs/heads/x\nfetch = main\n",
	"[remote \"o\"]\nfetch = +refs/tags/*:refs/tags/*\nfetch = refs/heads/x:\n",
	"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n",
	"[user]\nname = A B\nemail = a@b\n",
	"[remote \"origin\"]\n\turl = https://x/y.git\n",
	"[remote \"origin\"]\n\turl = git@host:x/y.git\n\tfetch = +refs/*:refs/*\n",
	"[remote \"o\"]\nurl = ../other\n",
	"[remote \"o\"]\nurl = ssh://host/x\npushurl = git+ssh://host/x\n",
	"[remote \"o\"]\nurl = file:///srv/x.git\n",
	"[remote \"o\"]\nurl = HTTPS://x/y?a=b://c\n",
	"[remote \"o\"]\nurl = ./a://b\n",
	"[branch \"m\"]\nremote=o\nmerge=refs/heads/m\n",
	"[core]\nworktree = ..\n",
	"[core]\nfsmonitor = false\n",
	"# nothing\n",
	"",
	"[submodule \"x\"]\nurl = /somewhere\nactive = true\nupdate = checkout\n",
	"\xef\xbb\xbf[core]\nbare\n",
	"[CORE]\nBare = no\n",
	"[extensions]worktreeConfig=true\n",
};

static const char *const config_of_modules[] = {"[core]\nworktree = ../../../sub\n"};

static const char *const config_asked[] = {
	"[remote \"o\"]\nfetch = +refs/none/*:refs/heads/*\n",
	"[remote \"o\"]\nfetch = refs/heads/x:main\n",
	"[remote \"o\"]\nfetch = refs/heads/x:refs/stash\n",
	"[core]\nhooksPath = x\n",
	"[core]\nworktree = ../sub\n",
	"[core]\nfsmonitor = x\n",
	"[core]\nfsmonitor = true\n",
	"[core]\neditor = x\n",
	"[alias]\nst = !x\n",
	"[include]\npath = x\n",
	"[includeIf \"gitdir:/\"]\npath = x\n",
	"[filter \"x\"]\nclean = x\n",
	"[diff \"x\"]\ntextconv = x\n",
	"[diff]\nexternal=x\n",
	"[credential]\nhelper = x\n",
	"[gpg]\nprogram = x\n",
	"[gpg \"ssh\"]\nprogram=x\n",
	"[remote \"o\"]\nuploadpack = x\n",
	"[remote \"o\"]\nvcs = x\n",
	"[remote \"o\"]\nurl = ext::sh -c x\n",
	"[remote \"o\"]\nurl = --upload-pack=x\n",
	"[remote \"o\"]\nurl = fd::3\n",
	"[branch \"m\"]\nmerge = refs/heads/$(x)\n",
	"[remote \"o\"]\nurl = x://host/y\n",
	"[remote \"o\"]\npushurl = persistent-https://host/y\n",
	"[submodule \"o\"]\nurl = hg://host/y\n",
	"[branch \"m\"]\nremote = ext::x\n",
	"[branch \"m\"]\nmergeOptions = x\n",
	"[submodule \"x\"]\nupdate = !x\n",
	"[core]\nworktree = /etc\n",
	"[core]\nworktree = ../../../..\n",
	"[core]\nworktree = a/../../../..\n",
	"[trailer \"x\"]\ncommand = x\n",
	"[merge \"x\"]\ndriver = x\n",
	"[url \"a\"]\ninsteadOf=b\n",
	"[core]\nbare = true\r\n",
	"[core]\n bare = \"a\rb\"\n",
	"[core\n",
	"x",
	"[core]bare = \"",
	"[core \"x\"]\nbare = true\n",
	"[core]\nbare = true\n[a \"core.bare\"]\nb=1\n",
	"[protocol \"ext\"]\nallow = always\n",
	"[safe]\ndirectory = *\n",
	"a = b\n",
	"[core]\nsshCommand\n",
	"[ core]\nbare = 1\n",
	"[unknown]\nkey = x\n",
};

static void config_keys(void **state)
{
	struct guarded *fx = *state;
	struct sb_guard_bytes none = {0}, nul = {"[core]\nbare = \0x\n", 17};

	expect(fx, SB_GUARD_GIT_CONFIG, "repo/config", config_fine, COUNT(config_fine),
	       SB_GUARD_PLAIN);
	expect(fx, SB_GUARD_GIT_CONFIG, "repo/config", config_asked, COUNT(config_asked),
	       SB_GUARD_ASK);
	expect(fx, SB_GUARD_GIT_CONFIG, ".git/modules/sub/config", config_of_modules,
	       COUNT(config_of_modules), SB_GUARD_PLAIN);
	assert_int_equal(
		sb_guard_content(fx->guard,
				 &(struct sb_guard_landing){SB_GUARD_GIT_CONFIG,
							    in(fx->root, "config"), none, nul},
				 why, sizeof why),
		SB_GUARD_ASK);
}

static void only_changes_count(void **state)
{
	static const char before[] = "[core]\n\tpager = less\n[user]\n\tname = x\n";
	struct guarded *fx = *state;

	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", before,
				 "[user]\nname = y\n[core]\npager = less\n"),
			 SB_GUARD_PLAIN);
	/* it may have been there to overrule another one */
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", before, "[user]\nname = y\n"),
			 SB_GUARD_ASK);
	assert_string_equal(why, "no longer set: core.pager");
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", before, "[core]\npager = less\n"),
			 SB_GUARD_PLAIN);
	assert_int_equal(
		content(fx, SB_GUARD_GIT_CONFIG, "c",
			"[remote \"o\"]\nurl = x\nuploadpack = y\n[branch \"b\"]\nremote = o\n",
			""),
		SB_GUARD_PLAIN);
	/* the last value counts: neither its going away nor another order brings back the first */
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", "[core]\npager = x\npager = less\n",
				 "[core]\npager = x\n"),
			 SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", "[core]\npager = x\npager = less\n",
				 "[core]\npager = less\npager = x\n"),
			 SB_GUARD_ASK);
	assert_string_equal(why, "core.pager = x");
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", "[core]\npager = x\npager = less\n",
				 "[core]\npager = less\n"),
			 SB_GUARD_PLAIN);
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", before,
				 "[core]\npager = \"less|sh\x1b[2J\"\n"),
			 SB_GUARD_ASK);
	assert_string_equal(why, "core.pager = less|sh\\e[2J");
	/* the same value twice is one more than before */
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", before,
				 "[core]\npager = less\npager = less\n"),
			 SB_GUARD_ASK);
	/* a key of another section is another key */
	assert_int_equal(
		content(fx, SB_GUARD_GIT_CONFIG, "c", before, "[core \"x\"]\npager = less\n"),
		SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_SAME, "c", "a", "a"), SB_GUARD_PLAIN);
	assert_int_equal(content(fx, SB_GUARD_SAME, "c", "a", "b"), SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_SAME, "c", NULL, ""), SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_SAME, "c", "a", ""), SB_GUARD_ASK);
}

static void git_files(void **state)
{
	struct guarded *fx = *state;
	char inside[PATH_MAX + 32];
	const char *const fine[] = {"gitdir: ../.git/modules/x\n", "gitdir: .git/x", inside,
				    "gitdir: ./a/./b\n"};
	static const char *const asked[] = {
		"gitdir: /etc\n",
		"gitdir: ../../../../../../../x\n",
		"gitdir: a/../../../../x\n",
		"gitdir:../x\n",
		"gitdir: \n",
		"gitdir: a\nb\n",
		"gitdir: a\r\n",
		"x",
		"gitdir: ",
	};

	snprintf(inside, sizeof inside, "gitdir: %s/x/.git\n", fx->root);
	expect(fx, SB_GUARD_GITFILE, "sub/.git", fine, COUNT(fine), SB_GUARD_PLAIN);
	expect(fx, SB_GUARD_GITFILE, "sub/.git", asked, COUNT(asked), SB_GUARD_ASK);
	snprintf(inside, sizeof inside, "%s/tree/.git\n", fx->root);
	assert_int_equal(content(fx, SB_GUARD_GITDIR, "worktrees/a/gitdir", NULL, inside),
			 SB_GUARD_PLAIN);
	snprintf(inside, sizeof inside, "%s/tree\n", fx->root);
	assert_int_equal(content(fx, SB_GUARD_GITDIR, "worktrees/a/gitdir", NULL, inside),
			 SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_GITDIR, "worktrees/a/gitdir", NULL, "/x/.git\n"),
			 SB_GUARD_ASK);
}

static void common_directory(void **state)
{
	struct guarded *fx = *state;
	static const char path[] = ".git/worktrees/a/commondir";

	assert_int_equal(content(fx, SB_GUARD_COMMONDIR, path, NULL, "../..\n"), SB_GUARD_PLAIN);
	assert_int_equal(content(fx, SB_GUARD_COMMONDIR, path, NULL, "../.."), SB_GUARD_PLAIN);
	assert_int_equal(content(fx, SB_GUARD_COMMONDIR, path, NULL, "../../x\n"), SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_COMMONDIR, path, NULL, "/x\n"), SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_COMMONDIR, "x/a/commondir", NULL, "../..\n"),
			 SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_COMMONDIR, "xworktrees/a/commondir", NULL, "../..\n"),
			 SB_GUARD_ASK);
	assert_int_equal(
		content(fx, SB_GUARD_COMMONDIR, "worktrees/a/b/commondir", NULL, "../..\n"),
		SB_GUARD_ASK);
}

static const char *const todo_fine[] = {
	"pick abc message\n",
	"p abc\n# Rebase\n\n  squash d\n",
	"fixup -C abc\n",
	"noop\n",
	"label onto\nreset onto\nmerge -C a b # c\nbreak\nupdate-ref refs/heads/x\n",
};

static const char *const todo_asked[] = {
	"pick a\nexec make\n", "x make\n", "\texec\tmake\n", "unknown\n", "pick\va\n", "pick a\r\n",
};

static const char *const versions_fine[] = {
	"nodejs 20.1.0\n", "python 3.12 # path, don't move\n",
	"stable\n",        "ref:main\n",
	"lts/*\n",         "lts/iron\n",
	"3.0@gemset\n",    "# of sdk env\njava=21.0.2-tem\n",
	"latest:^1.5\n",   "3.12.1 system pypy3.10-7.3.12\n",
};

static const char *const versions_asked[] = {
	"nodejs path:/x\n",
	"nodejs path:x\n",
	"nodejs ../../x\n",
	"python ./x\n",
	"..\n",
	"node {{exec(command='x')}}\n",
	"`id`\n",
	"$(id)\n",
	"3;id\n",
	"3|id\n",
	"3&id\n",
	"'3'\n",
	"\"3\"\n",
	"3>x\n",
	"%{x%}\n",
	"-oX\n",
	"--help\n",
	"20 --reinstall-packages-from=x\n",
	"lts/-x\n",
	"x=-y\n",
	"3\033]0;x\007\n",
	"3\033[8m\n",
	"3 # \033[8m\n",
	"3 # $(id)\n",
	"lts/../x\n",
	"~x\n",
	"nodejs[exe=x] 1\n",
};

static const char *const tools_fine[] = {"nodejs 22.1.0\nruby ref:main\n", "golang 1.22\n"};
static const char *const tools_asked[] = {"npm:x latest\n", " cargo:x 1\n",
					  "node[postinstall=x] 1\n"};

static const char *const toolchain_fine[] = {
	"[toolchain]\nchannel = \"1.80\"\ncomponents = [ 'rustfmt',\n\t\"clippy\",\n]\n",
	"nightly-2024-01-01\n"};
static const char *const toolchain_asked[] = {
	"[toolchain]\n\"pa\\u0074h\" = \"x\"\n",
	"[toolchain]\npath = \"/x\"\n",
	"[toolchain]\npath = \"x\"\n",
	"[toolchain]\n\"path\"='x'\n",
	"channel = \"-x\"\n",
	"channel = \"$(id)\"\n",
};

static const char *const modules_fine[] = {
	"[submodule \"a\"]\n\tpath = a\n\turl = https://x/a\n\tbranch = main\n",
	"[submodule \"a\"]\n\tpath = .github/a\n",
	"[submodule \"a\"]\n\tpath = tools\n",
};

static const char *const modules_asked[] = {
	"[submodule \"x\"]\npath = sandbash-caches/.vscode\n",
	"[submodule \"a\"]\n\tupdate = !x\n",
	"[submodule \"a\"]\nurl = ext::x\n",
	"[submodule \"a\"]\npath = -x\n",
	"[submodule \"a\"]\npath = \"a\r\"\n",
	"[submodule \"a\"]\nurl = --x\n",
	"[submodule \"a\"]\npath = .vscode\n",
	"[submodule \"a\"]\npath = sub/.claude/skills/x\n",
};

static const char *const lfs_fine[] = {
	"[lfs]\n\tlocksverify = true\n\tfetchexclude = *\n",
	"[lfs]\n\turl = https://x/a.git/info/lfs\n\tpushurl = ssh://git@x/a\n",
	"[remote \"origin\"]\n\tlfsurl = https://x/a\n",
	"[lfs \"https://x/a\"]\n\taccess = basic\n",
};

static const char *const lfs_asked[] = {
	"[lfs]\n\turl = file:///tmp/x\n",
	"[lfs]\n\turl = ../x\n",
	"[lfs]\n\turl = ssh://-oProxyCommand=x/a\n",
	"[lfs]\n\tpushurl = ext::x\n",
	"[remote \"origin\"]\n\tlfspushurl = -x\n",
	"[remote \"origin\"]\n\turl = https://x/a\n",
	"[lfs]\n\tstandalonetransferagent = x\n",
	"[lfs \"customtransfer.x\"]\n\tpath = x\n",
	"[lfs \"extension.x\"]\n\tclean = x\n",
	"[core]\n\tsshCommand = x\n",
	"[include]\n\tpath = x\n",
	"[lfs\n",
};

static void line_by_line(void **state)
{
	struct guarded *fx = *state;
	char text[2 * PATH_MAX];

	expect(fx, SB_GUARD_LFSCONFIG, ".lfsconfig", lfs_fine, COUNT(lfs_fine), SB_GUARD_PLAIN);
	expect(fx, SB_GUARD_LFSCONFIG, ".lfsconfig", lfs_asked, COUNT(lfs_asked), SB_GUARD_ASK);
	expect(fx, SB_GUARD_REBASE_TODO, "t", todo_fine, COUNT(todo_fine), SB_GUARD_PLAIN);
	expect(fx, SB_GUARD_REBASE_TODO, "t", todo_asked, COUNT(todo_asked), SB_GUARD_ASK);
	/* approved once, the rest of the list may shrink */
	assert_int_equal(content(fx, SB_GUARD_REBASE_TODO, "t", "pick a\nexec make\npick b\n",
				 "exec make\npick b\n"),
			 SB_GUARD_PLAIN);
	expect(fx, SB_GUARD_TOOL_VERSIONS, "t", versions_fine, COUNT(versions_fine),
	       SB_GUARD_PLAIN);
	expect(fx, SB_GUARD_TOOL_VERSIONS, "t", versions_asked, COUNT(versions_asked),
	       SB_GUARD_ASK);
	expect(fx, SB_GUARD_TOOL_VERSIONS, ".tool-versions", tools_fine, COUNT(tools_fine),
	       SB_GUARD_PLAIN);
	expect(fx, SB_GUARD_TOOL_VERSIONS, ".tool-versions", tools_asked, COUNT(tools_asked),
	       SB_GUARD_ASK);
	expect(fx, SB_GUARD_TOOL_VERSIONS, "rust-toolchain.toml", toolchain_fine,
	       COUNT(toolchain_fine), SB_GUARD_PLAIN);
	expect(fx, SB_GUARD_TOOL_VERSIONS, "rust-toolchain.toml", toolchain_asked,
	       COUNT(toolchain_asked), SB_GUARD_ASK);
	expect(fx, SB_GUARD_GITMODULES, "m", modules_fine, COUNT(modules_fine), SB_GUARD_PLAIN);
	expect(fx, SB_GUARD_GITMODULES, "m", modules_asked, COUNT(modules_asked), SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_STRATEGY, "s", NULL, "ort\n"), SB_GUARD_PLAIN);
	assert_int_equal(content(fx, SB_GUARD_STRATEGY, "s", NULL, "evil\n"), SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_SEQUENCER, "s", NULL, "[options]\nstrategy = ort\n"),
			 SB_GUARD_PLAIN);
	assert_int_equal(content(fx, SB_GUARD_SEQUENCER, "s", NULL, "[options]\nstrategy = x\n"),
			 SB_GUARD_ASK);
	/* for the time of a run */
	assert_int_equal(content(fx, SB_GUARD_REBASE_TODO, ".git/rebase-merge/git-rebase-todo",
				 NULL, "pick a\nexec make\n"),
			 SB_GUARD_CHECK);
	plant(fx, "other/.git/objects/", "");
	plant(fx, "other/.git/refs/", "");
	plant(fx, "a/.git/objects/info/", "");
	snprintf(text, sizeof text, "# x\n%s/other/.git/objects\n../../../other/.git/objects\n",
		 fx->root);
	assert_int_equal(
		content(fx, SB_GUARD_ALTERNATES, "a/.git/objects/info/alternates", NULL, text),
		SB_GUARD_PLAIN);
	assert_int_equal(content(fx, SB_GUARD_ALTERNATES, ".git/objects/info/alternates", NULL,
				 "/srv/objects\n"),
			 SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_ALTERNATES, ".git/objects/info/alternates",
				 "/srv/objects\n", "/srv/objects\n\n"),
			 SB_GUARD_PLAIN);
	assert_int_equal(content(fx, SB_GUARD_ALTERNATES, ".git/objects/info/alternates", NULL,
				 "../../../../../../../../x\n"),
			 SB_GUARD_ASK);
}

/* A file of the longest size is judged in a time that holds nobody up. */
static void ignoring_more_is_harmless(void **state)
{
	static const struct {
		const char *before, *after;
		enum sb_guard_verdict verdict;
	} cases[] = {
		{NULL, "*.o\n", SB_GUARD_PLAIN},
		{NULL, "", SB_GUARD_PLAIN},
		{NULL, "!x\n", SB_GUARD_ASK},
		{"a\nb\n", "a\nb\nc\n", SB_GUARD_PLAIN},
		{"a\nb\n", "x\na\ny\nb\n", SB_GUARD_PLAIN},
		{"a\nb", "a\nb\n", SB_GUARD_PLAIN},
		{"a\n!b\n", "a\n!b\nc\n", SB_GUARD_PLAIN},
		{"a\n!b\n", "a\n!b\n!b\n", SB_GUARD_ASK},
		{"a\nb\n", "b\na\n", SB_GUARD_ASK}, /* the later one wins */
		{"a\nb\n", "a\n", SB_GUARD_ASK},
		{"a\nb\n", "", SB_GUARD_ASK},
		{"a\n", "a \n", SB_GUARD_ASK},
		{"a\n", "a\n\\!b\n", SB_GUARD_PLAIN}, /* a name with an exclamation mark */
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (content(*state, SB_GUARD_IGNORE, ".gitignore", cases[i].before,
			    cases[i].after) != cases[i].verdict)
			fail_msg("case %zu (%s)", i, why);
	content(*state, SB_GUARD_IGNORE, ".gitignore", "a\nb\n", "a\n");
	assert_string_equal(why, "without the line b");
}

static void large_files(void **state)
{
	struct guarded *fx = *state;
	char *text = malloc(SB_GUARD_MAX_BYTES + 2);
	struct timespec start, end;
	size_t length = 0;

	assert_non_null(text);
	length += (size_t)sprintf(text, "[user]\n");
	while (length + 3 < SB_GUARD_MAX_BYTES)
		length += (size_t)sprintf(text + length, "%c=\n", 'a' + (int)(length % 26));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", text, text + 7), SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_REBASE_TODO, "c", NULL, text), SB_GUARD_ASK);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	/* one with a check of every access takes 4, and twice that where processors are shared */
	assert_true(end.tv_sec - start.tv_sec < 30);
	memset(text, '#', SB_GUARD_MAX_BYTES + 1);
	text[SB_GUARD_MAX_BYTES + 1] = '\0';
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", NULL, text), SB_GUARD_ASK);
	text[5000] = '\0';
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", NULL, text), SB_GUARD_ASK);
	text[100] = '\0';
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "c", NULL, text), SB_GUARD_PLAIN);
	free(text);
}

static bool is_fast(void *context, const char *path)
{
	return sb_path_within(in(context, "fast"), path);
}

static bool is_temp(void *context, const char *path)
{
	return sb_path_within(in(context, "temp"), path);
}

static void urls_of_repositories_that_nobody_guards(void **state)
{
	static const char *const fine[] = {"[remote \"o\"]\nurl = other/x\n",
					   "[remote \"o\"]\nurl = fast:x\n",
					   "[remote \"o\"]\nurl = fastest/x\n",
					   "[remote \"o\"]\nurl = https://fast/x\n",
					   "[branch \"m\"]\nremote = .\n",
					   "[branch \"m\"]\nremote = origin\n",
					   "[remote \"o\"]\nurl = file:///srv/x.git\n"};
	static const char *const asked[] = {
		"[remote \"o\"]\nurl = fast/x\n",
		"[remote \"o\"]\npushurl = ./a/../fast/x.git\n",
		"[remote \"o\"]\nurl = link/x.git\n",
		"[branch \"m\"]\nremote = fast\n",
		"[branch \"m\"]\npushRemote = fast/x\n",
		"[remote]\npushDefault = ./fast/y\n",
		"[submodule \"s\"]\nurl = ./fast/y\n",
		"[remote \"o\"]\nurl = temp/x\n",
	};
	struct guarded *fx = *state;
	struct sb_guard_options options = {.size = sizeof options,
					   .in_guarded_root = guarded_in_root,
					   .is_unguarded = is_fast,
					   .is_private = is_temp,
					   .context = fx->root};
	char text[PATH_MAX + 64];

	sb_guard_free(fx->guard);
	assert_int_equal(sb_guard_new(&options, &fx->guard, NULL), SB_OK);
	plant(fx, "a/", "");
	plant(fx, "fast/", "");
	assert_int_equal(symlink("fast", in(fx->root, "link")), 0);
	expect(fx, SB_GUARD_GIT_CONFIG, ".git/config", fine, COUNT(fine), SB_GUARD_PLAIN);
	expect(fx, SB_GUARD_GIT_CONFIG, ".git/config", asked, COUNT(asked), SB_GUARD_ASK);
	snprintf(text, sizeof text, "[remote \"o\"]\nurl = file://%s/%%66ast/x\n", fx->root);
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", NULL, text), SB_GUARD_ASK);
	snprintf(text, sizeof text, "[remote \"o\"]\nurl = %s/fast/x\n", fx->root);
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", NULL, text), SB_GUARD_ASK);
	/* what is in the temporary directory itself goes away with it */
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, "temp/.git/config", NULL,
				 "[remote \"o\"]\nurl = ../temp/x\n"),
			 SB_GUARD_PLAIN);
}

static size_t count_lines(void)
{
	size_t count = why[0] != '\0';

	for (const char *at = why; *at; at++)
		count += *at == '\n';
	return count;
}

/* A yes is to all of a file, so a question names all of it. */
static void a_question_names_every_setting(void **state)
{
	static const char filler[] = "[user]\nname = x\n";
	struct guarded *fx = *state;
	SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);

	assert_int_equal(
		content(fx, SB_GUARD_GIT_CONFIG, ".git/config", filler,
			"[user]\nname = x\n[alias]\nst = status\n[core]\nsshCommand = x\n"),
		SB_GUARD_ASK);
	assert_string_equal(why, "alias.st = status\ncore.sshcommand = x");
	/* each once, whichever way it is found */
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", "[core]\neditor = a\n",
				 "[core]\neditor = b\neditor = b\n"),
			 SB_GUARD_ASK);
	assert_string_equal(why, "core.editor = b");
	/* what was there before is not among them, what goes away is */
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config",
				 "[core]\neditor = a\npager = p\n",
				 "[core]\neditor = a\nfsmonitor = b\n"),
			 SB_GUARD_ASK);
	assert_string_equal(why, "no longer set: core.pager\ncore.fsmonitor = b");
	/* aliases make room for what runs by itself */
	for (int i = 0; i < 8; i++)
		sb_buf_printf(&text, "[alias]\na%d = status\n", i);
	sb_buf_puts(&text, "[core]\nsshCommand = x\n[diff]\nexternal = y\n");
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", NULL, text.data),
			 SB_GUARD_ASK);
	assert_non_null(strstr(why, "core.sshcommand = x"));
	assert_non_null(strstr(why, "diff.external = y"));
	assert_non_null(strstr(why, "\nand 6 more settings that run something or lead elsewhere"));
	assert_int_equal(count_lines(), SB_GUARD_LINES + 1);
	/* and so do those that run something, and variables that differ by a number */
	text.length = 0;
	for (int i = 0; i < 8; i++)
		sb_buf_printf(&text, "[alias]\na%d = !git log\n", i);
	sb_buf_puts(&text, "[core]\nsshCommand = x\n[diff]\nexternal = y\n[gpg]\nprogram = z\n");
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", NULL, text.data),
			 SB_GUARD_ASK);
	assert_non_null(strstr(why, "core.sshcommand = x"));
	assert_non_null(strstr(why, "diff.external = y"));
	assert_non_null(strstr(why, "gpg.program = z"));
	assert_int_equal(content(fx, SB_GUARD_DOTENV, ".env", NULL,
				 "V0=$(a)\nV1=$(a)\nV2=$(a)\nV3=$(a)\nV4=$(a)\nLD_PRELOAD=x\n"),
			 SB_GUARD_ASK);
	assert_non_null(strstr(why, "LD_PRELOAD=x"));
	/* of one section, too, and however many there are */
	text.length = 0;
	sb_buf_puts(&text, "[core]\neditor = vim\n");
	for (int i = 0; i < 400; i++)
		sb_buf_printf(&text, "[alias]\na%d = !git log\n", i);
	sb_buf_puts(&text, "[difftool \"x\"]\ncmd = x\n[core]\nhooksPath = x\nfsmonitor = y\n");
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", NULL, text.data),
			 SB_GUARD_ASK);
	assert_non_null(strstr(why, "core.hookspath = x"));
	assert_non_null(strstr(why, "core.fsmonitor = y"));
	assert_non_null(strstr(why, "core.editor = vim"));
	assert_non_null(strstr(why, "and 252 or more settings"));
	assert_int_equal(count_lines(), SB_GUARD_LINES + 1);
	/* a line that is too long by itself hides no other */
	text.length = 0;
	sb_buf_printf(&text, "[core]\nsshCommand = x\n# %5000s\n", "");
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", NULL, text.data),
			 SB_GUARD_ASK);
	assert_string_equal(why,
			    "holds control characters or very long lines\ncore.sshcommand = x");
	/* and so of lines */
	assert_int_equal(
		content(fx, SB_GUARD_DOTENV, ".env", NULL, "A=1\nEDITOR=vim\nB=2\nX=$(id)\n"),
		SB_GUARD_ASK);
	assert_string_equal(why, "EDITOR=vim\nX=$(id)");
	assert_int_equal(content(fx, SB_GUARD_IGNORE, ".gitignore", "a\nb\n", "!x\na\n!y\n"),
			 SB_GUARD_ASK);
	assert_string_equal(why, "!x\n!y\nwithout the line b");
	text.length = 0;
	for (int i = 0; i < 1000; i++)
		sb_buf_printf(&text, "EDITOR=%d\n", i);
	assert_int_equal(content(fx, SB_GUARD_DOTENV, ".env", NULL, text.data), SB_GUARD_ASK);
	assert_non_null(strstr(why, "and 252 or more settings"));
}

/* Where a value is cut a sign says so, and its end shows. */
static void a_value_is_shown_with_its_end(void **state)
{
	struct guarded *fx = *state;
	SB_AUTO_BUF struct sb_buf text = SB_BUF(64 * 1024);

	sb_buf_printf(&text, "[core]\neditor = \"true%600s; evil\"\n", "");
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", NULL, text.data),
			 SB_GUARD_ASK);
	assert_string_equal(why, "core.editor = true[600 blanks]; evil");
	text.length = 0;
	sb_buf_puts(&text, "[core]\neditor = \"vim");
	for (int i = 0; i < 100; i++)
		sb_buf_puts(&text, " -u NONE");
	sb_buf_puts(&text, "; evil\"\n[alias]\nx = y\n");
	for (int several = 1; several >= 0; several--) {
		if (!several) /* alone it has more room */
			text.length -= strlen("[alias]\nx = y\n");
		text.data[text.length] = '\0';
		assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/config", NULL, text.data),
				 SB_GUARD_ASK);
		assert_non_null(strstr(why, "core.editor = vim -u NONE"));
		assert_non_null(strstr(why, " ... (823 characters) ... "));
		assert_non_null(strstr(why, "NONE; evil"));
		assert_true(strlen(why) > (several ? 150 : 300));
		assert_int_equal(count_lines(), 1 + several);
	}
	text.length = 0;
	sb_buf_printf(&text, "EDITOR=\"vim%600s$(evil)\"\n", "");
	assert_int_equal(content(fx, SB_GUARD_DOTENV, ".env", NULL, text.data), SB_GUARD_ASK);
	assert_string_equal(why, "EDITOR=\"vim[600 blanks]$(evil)\"");
	/* what is only told, too */
	text.length = 0;
	sb_buf_printf(&text, "HTTP_PROXY=\"a%600sb\"\nALL_PROXY=c\n", "");
	assert_int_equal(content(fx, SB_GUARD_DOTENV, ".env", NULL, text.data), SB_GUARD_PLAIN);
	assert_non_null(strstr(why, "now says HTTP_PROXY=\"a[600 blanks]b\"; ALL_PROXY=c"));
}

/* A checkout of the submodule would write hooks. */
static void a_work_tree_is_no_git_directory(void **state)
{
	static const char *const asked[] = {
		"../../hooks",        ".", "hooks", "../../../.git", "../../../new/.git", "..",
		"../../../bare/hooks"};
	struct guarded *fx = *state;
	char text[128];

	make_dir(fx->root, "bare");
	make_dir(fx->root, "bare/objects");
	make_dir(fx->root, "bare/refs");
	for (size_t i = 0; i < COUNT(asked); i++) {
		snprintf(text, sizeof text, "[core]\nworktree = %s\n", asked[i]);
		if (content(fx, SB_GUARD_GIT_CONFIG, ".git/modules/s/config", NULL, text) !=
		    SB_GUARD_ASK)
			fail_msg("%s", asked[i]);
	}
	assert_int_equal(content(fx, SB_GUARD_GIT_CONFIG, ".git/modules/s/config", NULL,
				 "[core]\nworktree = ../../../s\n"),
			 SB_GUARD_PLAIN);
}

static void what_is_no_index_is_nobodys_in_worktrees(void **state)
{
	struct guarded *fx = *state;

	assert_int_equal(content(fx, SB_GUARD_INDEX, ".git/index", NULL, "hello\n"), SB_GUARD_ASK);
	assert_string_equal(why, "not a git index");
	assert_int_equal(content(fx, SB_GUARD_INDEX, "worktrees/a/index", NULL, "hello\n"),
			 SB_GUARD_PLAIN);
	assert_int_equal(content(fx, SB_GUARD_INDEX, "worktrees/a/index", NULL, "DIRChello\n"),
			 SB_GUARD_ASK);
	assert_int_equal(content(fx, SB_GUARD_INDEX, ".git/index", NULL, ""), SB_GUARD_PLAIN);
	assert_int_equal(content(fx, SB_GUARD_INDEX, ".git/index", "hello\n", "hello\n"),
			 SB_GUARD_PLAIN);
}

static const struct CMUnitTest tests[] = {
	WITH_TREE(config_keys),
	WITH_TREE(only_changes_count),
	WITH_TREE(git_files),
	WITH_TREE(common_directory),
	WITH_TREE(line_by_line),
	WITH_TREE(large_files),
	WITH_TREE(a_question_names_every_setting),
	WITH_TREE(a_value_is_shown_with_its_end),
	WITH_TREE(ignoring_more_is_harmless),
	WITH_TREE(what_is_no_index_is_nobodys_in_worktrees),
	WITH_TREE(a_work_tree_is_no_git_directory),
	WITH_TREE(urls_of_repositories_that_nobody_guards),
};

UNIT_MAIN("guard content")
