/*
 * The table: one row per name.  docs/guarded.md is checked against it.
 *
 * A row earns its place when a program outside obeys the file without being asked to run this
 * project's code: on entering a directory, opening a folder, "git status", starting an agent.
 * What is NOT here, and why:
 *   Makefile, package.json, build scripts, editor plugins' *.config.js   the project's own code;
 *       whoever builds it runs it, and agents write it all day
 *   CLAUDE.md, AGENTS.md, GEMINI.md, rules of agents   text that an agent reads, like the README;
 *       it runs nothing by itself, and /init writes it: told at the end of the run (told.c)
 *   .github/workflows, .gitlab-ci.yml   run on another machine, after a push that a person makes
 *   .gitattributes   only chooses among drivers that some git config defines
 *   node_modules/.bin   written by every install
 *   pnpm-workspace.yaml, uv.toml, .bundle/config   written by daily commands of their tools,
 *       which run the project's code anyway
 *   *.pth, sitecustomize.py, bin/activate of a virtual environment   written by venv, pip and every
 *       editable install, like bin/python beside them; whoever uses the environment runs its code
 *   .devbox/gen   written by devbox run
 *   files in .bsp   written by every start of sbt
 *   .flake8, mypy.ini, .rubocop.yml, plugins in setup.cfg and pyproject.toml   like .eslintrc.js: linters load the
 *       project's code by them
 *   conftest.py, sitecustomize.py, .eslintrc.js, build.rs, BUILD, WORKSPACE, flake.nix   code
 *   .gclient, .ddev, .tmuxinator.yml   obeyed by who starts the project with that tool
 *   .terraform/providers   written by every terraform init, which runs them
 *   .pdm-python   pdm writes it into each project, always with a path; like .venv, whose python it names
 *   global.json, .vfox.toml   which version of a tool a project takes
 *   .jj/repo/store/git_target   "jj git init" writes it
 *   .editorconfig, .gitlab, .husky's samples   run nothing
 */
#include "base/each.h"
#include "guard/guard.h"

/*
 * Kinds of rows.  A pattern fits at any depth; with SB_GUARD_IN_HOME in the home directory only.
 * These ask whatever the bytes are:
 *   AT       this name
 *   BENEATH  all that is in this directory
 *   IN       names in it
 *   ENDING   names that end so
 *   LOOSE    this pattern
 * The first three are also held by a static run, at the top of a project (guard.h: held).  CHECKED lets
 * bytes land that its kind finds harmless.
 */
#define AT(path, who, why)                                                                         \
	{                                                                                          \
		path, who, why, SB_GUARD_SAME, 0, path                                             \
	}
#define BENEATH(path, who, why)                                                                    \
	{                                                                                          \
		path "/**", who, why, SB_GUARD_SAME, 0, path                                       \
	}
#define IN(directory, rest, who, why)                                                              \
	{                                                                                          \
		directory "/" rest, who, why, SB_GUARD_SAME, 0, directory                          \
	}
#define ENDING(suffix, who, why)                                                                   \
	{                                                                                          \
		"*" suffix, who, why, SB_GUARD_SAME, 0, ""                                         \
	}
/* State among what a later row guards: nothing outside runs it.  The first row that fits counts. */
#define STATE(pattern, who, why)                                                                   \
	{                                                                                          \
		pattern, who, why, SB_GUARD_ANYTHING, 0, ""                                        \
	}
/* Programs in a directory that has other things in it, too; and those that a tool alone puts there. */
#define INNER(path, who, why)                                                                      \
	{                                                                                          \
		path "/**", who, why, SB_GUARD_SAME, SB_GUARD_INNER, ""                            \
	}
#define FILLED(path, who, why)                                                                     \
	{                                                                                          \
		path "/**", who, why, SB_GUARD_SAME, SB_GUARD_INNER | SB_GUARD_FILLED, ""          \
	}
/* The same of names alone. */
#define AMONG(pattern, who, why)                                                                   \
	{                                                                                          \
		pattern, who, why, SB_GUARD_SAME, SB_GUARD_INNER, ""                               \
	}
#define OF_HOME(path, who, why)                                                                    \
	{                                                                                          \
		path "/**", who, why, SB_GUARD_SAME, SB_GUARD_IN_HOME, ""                          \
	}
#define CHECKED(pattern, kind, held, who, why)                                                     \
	{                                                                                          \
		pattern, who, why, SB_GUARD_##kind, 0, held                                        \
	}
#define LOOSE(pattern, who, why) CHECKED(pattern, SAME, "", who, why)
/* Some prompts expand what they show. */
#define SHOWN(pattern, who, why) CHECKED(pattern, GIT_NAMES, "", who, why)
#define PUT_BACK(pattern, who, why) CHECKED(pattern, HG_JOURNAL, "", who, why)
#define DOTENV(pattern, who, why) CHECKED(pattern, DOTENV, "", who, why)
#define VERSION(pattern, who, why) CHECKED(pattern, TOOL_VERSIONS, "", who, why)
#define INDEX(pattern, who, why) CHECKED(pattern, INDEX, "", who, why)
#define PACKS(pattern, who, why) CHECKED(pattern, GIT_PACKS, "", who, why)

static const struct sb_guard_row rows[] = {
	/* git: what it runs, and what leads it to other metadata */
	{"<git>/hooks/*", "git", "git runs hooks", SB_GUARD_SAME, SB_GUARD_IF_EXECUTABLE,
	 "<git>/hooks"},
	CHECKED("<git>/config", GIT_CONFIG, "<git>/config", "git",
		"git config can name programs to run"),
	/* anywhere: a directory with a commondir needs no objects of its own */
	CHECKED("config.worktree", GIT_CONFIG, "<git>/config.worktree", "git",
		"git config can name programs to run"),
	CHECKED("commondir", COMMONDIR, "<git>/commondir", "git",
		"leads git to other hooks and config"),
	CHECKED(".git", GITFILE, "", "git", "leads git to its hooks and config"),
	CHECKED("worktrees/*/gitdir", GITDIR, "", "git",
		"names the files that git worktree moves, repairs and removes"),
	CHECKED("objects/info/alternates", ALTERNATES, "", "git",
		"makes git take objects from another place"),
	PACKS("objects/pack/multi-pack-index", "git", "git removes packs that it names"),
	PACKS("objects/pack/multi-pack-index.d/*.midx", "git", "git removes packs that it names"),
	SB_NAMED(INDEX, "git", "git restore, reset and checkout write the paths that it names",
		 "<git>/index", "<git>/sharedindex.*", "worktrees/*/index",
		 "worktrees/*/sharedindex.*"),
	/* not held: every repository has an empty branches, and a mount for it */
	LOOSE("<git>/remotes/*", "git", "remotes in an old form, which can name programs"),
	LOOSE("<git>/branches/*", "git", "remotes in an old form, which can name programs"),
	{"<git>/*", "git",
	 "part of the repository that this checkout belongs to, outside the project", SB_GUARD_SAME,
	 SB_GUARD_IF_ELSEWHERE, ""},
	CHECKED("rebase-merge/git-rebase-todo", REBASE_TODO, "", "git",
		"git rebase --continue runs its exec lines"),
	CHECKED("rebase-merge/strategy", STRATEGY, "", "git",
		"git rebase --continue runs git-merge-NAME"),
	CHECKED("sequencer/opts", SEQUENCER, "", "git",
		"git cherry-pick --continue runs git-merge-NAME"),
	CHECKED(".gitmodules", GITMODULES, "", "git",
		"git submodule update fetches what it names, to where it names"),
	CHECKED(".lfsconfig", LFSCONFIG, "", "git-lfs",
		"where git push sends large files, and git checkout takes them from"),
	/* not "obeyed", but whoever can change them can take --protect-ignored off a file */
	{".gitignore", "sandbash", "says what --protect-ignored protects; with that option only",
	 SB_GUARD_IGNORE, SB_GUARD_IF_PROTECTING, ""},
	{"<git>/info/exclude", "sandbash",
	 "says what --protect-ignored protects; with that option only", SB_GUARD_IGNORE,
	 SB_GUARD_IF_PROTECTING, ""},
	CHECKED(".gitconfig", GIT_CONFIG, ".gitconfig", "git",
		"git config can name programs to run"),
	CHECKED(".config/git/config", GIT_CONFIG, ".config/git/config", "git",
		"git config can name programs to run"),
	/* of the git that makes checkpoints for Gemini CLI and Qwen Code, in ~/.gemini/history/NAME */
	CHECKED(".gitconfig_system_empty", GIT_CONFIG, "", "git",
		"git config can name programs to run"),
	CHECKED("history/*/git/config", GIT_CONFIG, "", "Gemini CLI, Qwen Code",
		"git config can name programs to run"),
	SB_NAMED(SHOWN, "Mercurial, prompts", "some prompts run it", ".hg/branch", ".hg/topic",
		 ".hg/bookmarks", ".hg/bookmarks.current", ".hg/localtags", ".hg/patches.queue*",
		 ".hg/patches*/status", ".hg/patches*/guards"),
	/* what hg rollback and recover put back */
	SB_NAMED(SHOWN, "Mercurial, prompts", "some prompts run it", ".hg/*.branch",
		 ".hg/*.bookmarks", ".hg/*.topic", ".hg/*.branch.bck", ".hg/*.bookmarks.bck",
		 ".hg/*.topic.bck"),
	SB_NAMED(PUT_BACK, "Mercurial",
		 "names files that hg recover and hg rollback write or delete", ".hg/store/journal",
		 ".hg/store/journal.backupfiles", ".hg/store/undo", ".hg/store/undo.backupfiles",
		 ".hg/journal", ".hg/journal.backupfiles", ".hg/undo", ".hg/undo.backupfiles"),
	SB_NAMED(PUT_BACK, "Sapling", "names files that sl recover writes or deletes",
		 ".sl/store/journal", ".sl/store/journal.backupfiles", ".sl/store/undo",
		 ".sl/store/undo.backupfiles"),
	CHECKED(".hgsub", HG_SUBS, "", "Mercurial",
		"hg update clones what it names, and runs the hooks of that"),
	CHECKED(".hg/patches*/series", SERIES, "", "Mercurial, prompts", "some prompts run it"),
	CHECKED("patches/series", SERIES, "", "quilt, prompts", "some prompts run it"),
	SB_NAMED(SHOWN, "quilt, prompts", "some prompts run it", ".pc/applied-patches",
		 ".pc/.quilt_patches", ".pc/.quilt_series"),
	SB_NAMED(SHOWN, "Sapling, prompts", "some prompts run it", ".sl/branch", ".sl/bookmarks",
		 ".sl/bookmarks.current"),
	SHOWN("CVS/Repository", "CVS, prompts", "some prompts run it"),
	AT("CVS/Root", "CVS",
	   "names the program that cvs reaches its server by, and the server's hooks"),
	/* both are databases, which svn and fossil open for writing, and read where they may not */
	AT(".svn/wc.db", "Subversion",
	   "names the repository, whose hooks svn runs if it is on this machine"),
	SB_NAMED(AT, "Fossil",
		 "names the repository, whose settings name programs that fossil runs", ".fslckout",
		 "_FOSSIL_"),
	SHOWN(".bzr/branch/branch.conf", "Breezy, prompts", "some prompts run it"),
	SHOWN(".bzr/branch/last-revision", "Breezy, prompts", "some prompts run it"),
	AT("_MTN/monotonerc", "Monotone", "Lua that mtn runs"),
	AT(".hg/hgrc", "Mercurial", "hooks, extensions and aliases that hg runs"),
	/* not .hg/requires: "hg init" writes it, and without a sharedpath it leads nowhere */
	AT(".hg/sharedpath", "Mercurial", "leads hg to other hooks and config"),
	SB_NAMED(AT, "Mercurial", "hooks, extensions and aliases that hg runs",
		 ".hg/hgrc-not-shared", ".hgrc", ".config/hg/hgrc"),
	AT(".sl/config", "Sapling", "hooks, extensions and aliases that sl runs"),
	BENEATH(".config/sapling", "Sapling", "hooks, extensions and aliases that sl runs"),
	AT(".pijul/config", "Pijul", "hooks that pijul runs"),
	AT(".subversion/config", "Subversion", "editors, diff programs and tunnels that svn runs"),
	AT(".p4config", "Perforce", "programs that p4 runs, also as its server"),
	BENEATH(".config/breezy", "Breezy", "plugins and aliases that brz runs"),
	AT(".jj/repo", "Jujutsu", "as a file: leads jj to another repository and its tools"),
	AT(".sl/sharedpath", "Sapling", "leads sl to other hooks and config"),
	AT("_darcs/prefs/defaults", "darcs", "hooks that darcs runs"),
	AT("_darcs/prefs/prefs", "darcs", "a test that darcs runs"),
	AT(".fossil-settings/tcl-setup", "Fossil", "a script that fossil runs"),
	/* the program itself, which each command in the tree starts */
	BENEATH(".repo/repo", "repo", "the program that repo runs"),
	SB_NAMED(AT, "Jujutsu", "tools that jj runs", ".jj/repo/config.toml",
		 ".jj/workspace-config.toml", ".jjconfig.toml"),
	BENEATH(".config/jj", "Jujutsu", "tools that jj runs"),
	AT(".lazygit.yml", "lazygit", "commands that lazygit runs"),
	/* git directories have one, too: <git>/lazygit.yml */
	AT("lazygit.yml", "lazygit", "commands that lazygit runs"),
	BENEATH(".config/lazygit", "lazygit", "commands that lazygit runs"),
	SB_NAMED(AT, "tig", "commands that tig runs", ".tigrc", ".config/tig/config"),
	BENEATH(".config/gitui", "gitui", "key bindings of gitui"),
	BENEATH(".config/gh", "GitHub CLI", "aliases, editors and pagers that gh runs"),
	BENEATH(".local/share/gh", "GitHub CLI", "extensions that gh runs"),
	BENEATH(".config/glab-cli", "GitLab CLI", "aliases, editors and pagers that glab runs"),

	/* what git hooks that are installed already run on the next commit */
	{".husky/*", "git", "husky's hooks run it", SB_GUARD_SAME, SB_GUARD_IF_EXECUTABLE,
	 ".husky"},
	{".husky/_/*", "git", "husky's hooks run it", SB_GUARD_SAME, SB_GUARD_IF_EXECUTABLE,
	 ".husky"},
	IN(".husky", "hooks/**", "husky-rs", "cargo build copies it to git's hooks"),
	BENEATH(".cargo-husky/hooks", "cargo-husky", "cargo test copies it to git's hooks"),
	AT(".pre-commit-config.yaml", "pre-commit", "commands to run at every commit"),
	AT(".pre-commit-config.yml", "prek", "commands to run at every commit"),
	AT("prek.toml", "prek", "commands to run at every commit"),
	AT(".overcommit.yml", "overcommit", "commands to run at every commit"),
	SB_NAMED(AT, "lefthook", "commands to run at every commit", "lefthook.yml", "lefthook.yaml",
		 "lefthook.toml", "lefthook.json", ".lefthook.yml", "lefthook-local.yml",
		 ".lefthook-local.yml", ".lefthook.yaml", ".lefthook.toml", ".lefthook.json",
		 "lefthook-local.yaml", "lefthook-local.toml", "lefthook-local.json",
		 ".lefthook-local.yaml", ".lefthook-local.toml", ".lefthook-local.json",
		 ".config/lefthook.yml", ".config/lefthook.yaml", ".config/lefthook.toml",
		 ".config/lefthook.json", "lefthook.jsonc", ".lefthook.jsonc",
		 "lefthook-local.jsonc", ".lefthook-local.jsonc", ".config/lefthook.jsonc",
		 ".config/lefthook-local.yml", ".config/lefthook-local.yaml",
		 ".config/lefthook-local.toml", ".config/lefthook-local.json",
		 ".config/lefthook-local.jsonc"),
	BENEATH(".lefthook", "lefthook", "scripts to run at every commit"),
	BENEATH(".lefthook-local", "lefthook", "scripts to run at every commit"),
	SB_NAMED(AT, "hk", "commands to run at every commit", "hk.pkl", "hk.local.pkl",
		 ".config/hk.pkl", ".config/hk.local.pkl", ".hkrc.pkl"),
	AT("captainhook.json", "CaptainHook", "commands to run at every commit"),
	SB_NAMED(AT, "GrumPHP", "commands to run at every commit", "grumphp.yml", "grumphp.yaml",
		 "grumphp.yml.dist", "grumphp.yaml.dist"),
	AT("rusty-hook.toml", "rusty-hook", "commands to run at every commit"),
	AT(".rusty-hook.toml", "rusty-hook", "commands to run at every commit"),
	AT(".trunk/trunk.yaml", "Trunk", "linters and actions to run at every commit"),
	SB_NAMED(AT, "git", "husky's hooks obey it", ".huskyrc", ".huskyrc.json", ".huskyrc.js",
		 ".huskyrc.cjs", ".huskyrc.mjs", ".huskyrc.ts", ".huskyrc.yaml", ".huskyrc.yml",
		 "husky.config.js", "husky.config.cjs", "husky.config.mjs", "husky.config.ts"),
	BENEATH(".config/husky", "git", "husky's hooks run it"),
	SB_NAMED(AT, "lint-staged", "commands to run at every commit", ".lintstagedrc",
		 ".lintstagedrc.json", ".lintstagedrc.yaml", ".lintstagedrc.yml",
		 ".lintstagedrc.js", ".lintstagedrc.mjs", ".lintstagedrc.cjs", ".lintstagedrc.ts",
		 ".lintstagedrc.mts", ".lintstagedrc.cts"),
	SB_NAMED(AT, "nano-staged", "commands to run at every commit", ".nano-staged.json",
		 "nano-staged.json", ".nanostagedrc", ".nano-staged.js", ".nano-staged.cjs",
		 ".nano-staged.mjs", "nano-staged.js", "nano-staged.cjs", "nano-staged.mjs"),
	SB_NAMED(AT, "lint-staged", "commands to run at every commit", "lint-staged.config.js",
		 "lint-staged.config.mjs", "lint-staged.config.cjs", "lint-staged.config.ts",
		 "lint-staged.config.mts", "lint-staged.config.cts"),
	AT(".gitlint", "gitlint", "Python that it loads; it is run as a hook at every commit"),

#include "guard/rows_shells.h"

	/* interpreters and debuggers that read a file of the current directory */
	AT(".Rprofile", "R", "R runs it at start"),
	AT(".RData", "R", "R loads it at start, and runs .First in it"),
	AT(".Renviron", "R", "names further files that R runs at start"),
	SB_NAMED(AT, "gdb", "commands that gdb runs at start", ".gdbinit", ".gdbearlyinit"),
	BENEATH(".config/gdb", "gdb", "commands that gdb runs at start"),
	AT(".psqlrc", "psql", "commands that psql runs at start"),
	AT(".my.cnf", "mysql", "plugins and pagers of the client"),
	AT(".mongoshrc.js", "mongosh", "mongosh runs it at start"),
	AT(".mongorc.js", "mongo", "mongo runs it at start"),
	AT(".sqliterc", "sqlite3", "commands that sqlite3 runs at start"),
	SB_NAMED(AT, "lldb", "commands that lldb runs at start", ".lldbinit", ".lldbinit-lldb",
		 ".lldbinit-lldb-dap", ".lldbinit-lldb-vscode", ".lldbinit-xcode"),
	SB_NAMED(AT, "jdb", "commands that jdb runs at start", ".jdbrc", "jdb.ini"),
	AT(".gef.rc", "gdb", "plugins that GEF loads"),
	SB_NAMED(AT, "radare2, rizin", "commands that they run at start", ".radare2rc", ".rizinrc"),
	SB_NAMED(AT, "dbx", "commands that dbx runs at start", ".dbxrc", ".dbxinit"),
	AT(".mdbrc", "mdb", "commands that mdb runs at start"),
	AT(".tvdrc", "TotalView", "Tcl that it runs at start"),
	/* compilers that look for settings in the current directory first */
	SB_NAMED(AT, "Free Pascal", "programs that fpc runs", "fpc.cfg", ".fpc.cfg"),
	SB_NAMED(AT, "D compilers", "linkers and plugins that they run", "dmd.conf", "ldc2.conf"),
	AT(".pdbrc", "python", "commands that pdb runs at start"),
	AT(".pdbrc.py", "python", "pdb++ runs it at start"),
	BENEATH(".config/ptpython", "ptpython", "ptpython runs it at start"),
	SB_NAMED(AT, "ruby", "irb runs it at start", ".irbrc", "irb.rc", "_irbrc",
		 ".config/irb/irbrc"),
	AT(".byebugrc", "ruby", "commands that byebug runs at start"),
	AT(".gemrc", "gem", "where gem installs programs from"),
	AT(".railsrc", "rails", "templates that rails new runs"),
	AT(".pryrc", "ruby", "pry runs it at start"),
	AT(".iex.exs", "elixir", "iex runs it at start"),
	IN(".jupyter", "*.py", "Jupyter", "Jupyter runs it at start"),
	LOOSE(".local/share/jupyter/kernels/**", "Jupyter", "programs behind kernels"),
	LOOSE(".local/share/jupyter/labextensions/**", "Jupyter", "code that JupyterLab loads"),
	/* of the user: a virtual environment has lib/python3.x */
	LOOSE(".local/lib/**", "python", "modules of the user; every python runs *.pth at start"),
	IN(".jupyter", "*.json", "Jupyter", "names extensions that Jupyter loads"),
	SB_NAMED(BENEATH, "Jupyter", "names extensions that Jupyter loads", ".jupyter/nbconfig",
		 ".jupyter/labconfig"),
	BENEATH(".jupyter/custom", "Jupyter", "JavaScript that every notebook runs"),
	SB_NAMED(AT, "Jupyter", "Jupyter runs it at start", "jupyter_notebook_config.py",
		 "jupyter_server_config.py", "jupyter_lab_config.py", "jupyter_config.py"),
	AT("jupyter_notebook_config.json", "Jupyter", "names extensions that Jupyter loads"),
	AT("jupyter_server_config.json", "Jupyter", "names extensions that Jupyter loads"),
	AT("jupyter_lab_config.json", "Jupyter", "names extensions that Jupyter loads"),
	SB_NAMED(AT, "Jupyter", "Jupyter runs it at start", "jupyter_nbconvert_config.py",
		 "jupyter_console_config.py", "jupyter_qtconsole_config.py"),
	AT("jupyter_nbconvert_config.json", "Jupyter", "names extensions that Jupyter loads"),
	AT("jupyter_config.json", "Jupyter", "names extensions that Jupyter loads"),
	AT("jupyter_console_config.json", "Jupyter", "names code that Jupyter loads"),
	AT("jupyter_qtconsole_config.json", "Jupyter", "names code that Jupyter loads"),
	IN(".ipython/profile_default", "*.py", "IPython", "IPython runs it at start"),
	BENEATH(".ipython/profile_default/startup", "IPython", "IPython runs it at start"),
	LOOSE(".ipython/*/*.py", "IPython", "IPython runs it at start"),
	LOOSE(".ipython/*/*.json", "IPython", "names code that IPython runs at start"),
	LOOSE(".ipython/*/startup/*", "IPython", "IPython runs it at start"),
	BENEATH(".ipython/extensions", "IPython", "extensions that IPython loads"),
	/* editors run it on every file that is opened; pyproject.toml and setup.cfg are written all day */
	SB_NAMED(AT, "pylint, editors", "Python that it runs at start, plugins", ".pylintrc",
		 "pylintrc", ".pylintrc.toml", "pylintrc.toml", ".config/pylintrc"),
	AT(".ropeproject/config.py", "rope, editors", "run when the project is opened"),
	AT(".jedi/project.json", "jedi, editors", "names the python that it runs for a file"),
	AT("ipython_config.py", "IPython", "IPython runs it at start"),
	AT("ipython_config.json", "IPython", "names code that IPython runs at start"),
	SB_NAMED(AT, "latexmk", "latexmk runs it", ".latexmkrc", "latexmkrc"),
	SB_NAMED(AT, "ngspice", "commands that ngspice runs at start", ".spiceinit", "spice.rc",
		 "spinit"),
	SB_NAMED(AT, "python", "python runs it at start", ".pythonrc", ".pythonrc.py"),
	AT(".perldb", "perl", "perl's debugger runs it at start"),
	SB_NAMED(AT, "octave", "octave runs it at start", ".octaverc", "startup.m", "PKG_ADD"),
	AT("finish.m", "MATLAB", "matlab runs it when it ends"),
	AT("profile.do", "Stata", "Stata runs it at start"),
	SB_NAMED(AT, "SAS", "SAS runs it at start", "autoexec.sas", "sasv9.cfg"),
	AT(".mapleinit", "Maple", "maple runs it at start"),
	SB_NAMED(AT, "FriCAS, Axiom", "commands that it runs at start", ".fricas.input",
		 ".axiom.input"),
	AT(".scheme.init", "MIT Scheme", "it runs it at start"),
	AT(".guile", "guile", "guile runs it at start"),
	AT(".gaucherc", "Gauche", "gosh runs it at start"),
	AT(".racketrc", "racket", "racket runs it at start"),
	SB_NAMED(AT, "Prolog", "the toplevel runs it at start", ".swiplrc", ".plrc", ".yaprc"),
	SB_NAMED(AT, "gforth", "gforth runs it at start", ".gforthrc", ".gforthrc0"),
	AT(".replyrc", "perl", "plugins that reply loads"),
	AT(".usqlrc", "usql", "commands that usql runs at start"),
	SB_NAMED(AT, "ClickHouse", "the pager that clickhouse-client runs", "clickhouse-client.xml",
		 "clickhouse-client.yaml", "clickhouse-client.yml"),
	AT(".ugrep", "ugrep", "filters that ug runs"),
	SB_NAMED(AT, "maxima", "maxima runs it at start", "maxima-init.mac", "maxima-init.lisp",
		 ".maximarc", "maximarc"),
	AT(".gambini", "Gambit", "gsi runs it at start"),
	AT(".csirc", "CHICKEN", "csi runs it at start"),
	AT(".singularrc", "Singular", "Singular runs it at start"),
	AT(".magicrc", "magic", "Tcl that it runs at start"),
	AT(".fxrc.js", "fx", "fx runs it at start"),
	SB_NAMED(AT, "ROOT", "root runs it at start", "rootlogon.C", "rootalias.C", ".rootlogon.C"),
	AT("rootlogoff.C", "ROOT", "root runs it when it ends"),
	AT(".rootrc", "ROOT", "names what root runs at start"),
	SB_NAMED(AT, "Scilab", "scilab runs it at start", ".scilab", "scilab.ini"),
	AT(".phpdbginit", "php", "commands that phpdbg runs at start"),
	/* R that editors run for each file that is opened */
	SB_NAMED(AT, "lintr, editors", "R that it evaluates at start", ".lintr", ".lintr.R"),
	AT(".luacheckrc", "luacheck, editors", "Lua that it runs at start"),
	AT(".synopsys_dc.setup", "Design Compiler, PrimeTime", "Tcl that it runs at start"),
	AT(".synopsys_pt.setup", "Design Compiler, PrimeTime", "Tcl that it runs at start"),
	AT(".cdsinit", "Virtuoso", "SKILL that it runs at start"),
	AT(".simrc", "Virtuoso", "SKILL that its netlister runs"),
	SB_NAMED(AT, "gEDA, Lepton EDA", "Scheme that it runs at start", "gafrc", "gschemrc",
		 "gnetlistrc"),
	AT("xschemrc", "xschem", "Tcl that it runs at start"),
	AT(".gnuplot", "gnuplot", "commands that gnuplot runs at start"),
	SB_NAMED(AT, "ruby", "ruby's debugger runs it at start", ".rdbgrc", ".rdbgrc.rb"),
	AT(".duckdbrc", "duckdb", "commands that duckdb runs at start"),
	SB_NAMED(AT, "ghc", "commands that ghci runs at start", ".ghci", ".ghc/ghci.conf"),
	AT(".ocamlinit", "ocaml", "the ocaml toplevel runs it at start"),
	AT(".erlang", "erlang", "erl runs it at start"),
	AT(".psysh.php", "php", "psysh runs it at start"),
	SB_NAMED(AT, "wp-cli", "PHP that every wp loads", "wp-cli.yml", "wp-cli.local.yml"),
	AT(".julia/config/startup.jl", "julia", "julia runs it at start"),
	SB_NAMED(AT, "Lisp", "the toplevel runs it at start", ".sbclrc", ".clisprc",
		 ".clisprc.lisp", ".eclrc", ".ccl-init.lisp", "ccl-init.lisp", ".cmucl-init",
		 ".cmucl-init.lisp", ".abclrc", ".clasprc"),
	AT(".clojure/deps.edn", "clojure", "aliases and tools that clj runs"),

	/* editors */
	IN(".vscode", "*.json", "VS Code",
	   "tasks that run when the folder is opened, programs of extensions, MCP servers"),
	IN(".theia", "*.json", "Theia", "tasks, launch configurations and settings"),
	IN(".vs", "*.json", "Visual Studio", "tasks and launch configurations"),
	ENDING(".code-workspace", "VS Code", "tasks and settings of a workspace"),
	BENEATH(".vscode/extensions", "VS Code", "extensions that VS Code offers to run"),
	SB_NAMED(BENEATH, "VS Code", "settings, tasks and snippets of the editor",
		 ".config/Code/User", ".config/Code - Insiders/User", ".config/Code - OSS/User"),
	BENEATH(".config/VSCodium/User", "VSCodium", "settings, tasks and snippets of the editor"),
	BENEATH(".config/Cursor/User", "Cursor", "settings, tasks and snippets of the editor"),
	BENEATH(".config/Windsurf/User", "Windsurf", "settings, tasks and snippets of the editor"),
	BENEATH(".vscode-server", "VS Code", "extensions and programs of the editor's server"),
	BENEATH(".cursor-server", "Cursor", "extensions and programs of the editor's server"),
	BENEATH(".windsurf-server", "Windsurf", "extensions and programs of the editor's server"),
	BENEATH(".joyride", "VS Code", "Joyride runs it when the folder is opened"),
	AT(".calva/config.edn", "VS Code", "code that Calva evaluates"),
	BENEATH(".externalToolBuilders", "Eclipse", "programs that a build in the IDE runs"),
	AT(".factorypath", "Eclipse, Java language server",
	   "annotation processors that the editor loads"),
	AT(".cproject", "Eclipse", "the build command that the IDE runs"),
	AT("rust-analyzer.toml", "rust-analyzer", "commands that editors run to check the code"),
	AT(".rust-analyzer.toml", "rust-analyzer", "commands that editors run to check the code"),
	AT("hie.yaml", "Haskell language server", "programs that it runs to find flags"),
	AT(".hie-bios", "Haskell language server", "it runs it to find flags"),
	AT(".tern-project", "tern, editors", "plugins that it loads"),
	AT(".solargraph.yml", "solargraph, editors", "plugins that it loads"),
	BENEATH(".tflint.d/plugins", "tflint, editors", "plugins that it starts"),
	SB_NAMED(AT, "Lua language server", "plugins that it loads", ".luarc.json", ".luarc.jsonc"),
	AT("omnisharp.json", "OmniSharp", "analyzers that it loads"),
	AT(".lsp/config.edn", "clojure-lsp", "commands that it runs to find classes"),
	SB_NAMED(AT, "Phpactor", "programs that it runs", ".phpactor.json", ".phpactor.yml"),
	AT(".merlin", "Merlin", "preprocessors that editors run"),
	SB_NAMED(AT, "GNU Global", "parsers that gtags loads", "gtags.conf", ".globalrc"),
	SB_NAMED(AT, "Kate", "commands that Kate runs", ".kateproject", ".kateproject.build"),
	ENDING(".pro.user", "Qt Creator", "commands that it builds and runs with"),
	ENDING(".creator.user", "Qt Creator", "commands that it builds and runs with"),
	AT("CMakeLists.txt.user", "Qt Creator", "commands that it builds and runs with"),
	ENDING(".geany", "Geany", "build commands of a project"),
	ENDING(".kdev4", "KDevelop", "build and launch commands of a project"),
	AT(".buildconfig", "GNOME Builder", "commands before and after its builds"),
	AT(".idx/dev.nix", "Firebase Studio", "commands that run when the workspace is opened"),
	AT(".idx/mcp.json", "Firebase Studio", "servers that it starts"),
	IN(".nova", "*.json", "Nova", "tasks of Nova"),
	BENEATH(".nova/Tasks", "Nova", "tasks of Nova"),
	AT(".lapce/settings.toml", "Lapce", "programs that Lapce starts"),
	AT(".lapce/run.toml", "Lapce", "programs that Lapce starts"),
	BENEATH(".idea", "JetBrains IDEs",
		"run configurations, file watchers and start-up tasks of the IDE"),
	IN(".run", "*.run.xml", "JetBrains IDEs", "run configurations"),
	/* they look for them in every directory of the project */
	ENDING(".run.xml", "JetBrains IDEs", "run configurations"),
	LOOSE(".config/JetBrains/**", "JetBrains IDEs",
	      "options of their virtual machine, tools and templates"),
	IN(".fleet", "*.json", "JetBrains Fleet", "run configurations and settings"),
	IN(".zed", "*.json", "Zed", "tasks, language servers and debuggers that Zed starts"),
	IN(".helix", "*.toml", "Helix", "language servers and formatters that Helix starts"),
	ENDING(".sublime-project", "Sublime Text", "build systems and language servers"),
	SB_NAMED(AT, "vim", "vim start-up file", ".exrc", ".vimrc", ".gvimrc", ".lvimrc"),
	AT(".vimspector.json", "vim", "programs that vimspector starts"),
	AT(".ycm_extra_conf.py", "vim", "YouCompleteMe runs it"),
	SB_NAMED(AT, "neovim", "neovim start-up file", ".nvimrc", ".nvim.lua"),
	AT(".lazy.lua", "neovim", "plugins for the project, by lazy.nvim"),
	SB_NAMED(AT, "vim", "vim start-up file", ".local.vimrc", "_vimrc_local.vim"),
	/* vim reads NAMEx.vim with NAME.vim */
	SB_NAMED(AT, "vim, neovim", "a session that vim -S and plugins run", "Session.vim",
		 "Sessionx.vim", ".session.vim", ".sessionx.vim", ".vimsession", ".cs_workspaces"),
	BENEATH(".nvim", "neovim", "start-up files and sessions that plugins run"),
	AT(".vilerc", "vile", "commands that vile runs at start"),
	AT(".lite_project.lua", "Lite XL", "runs when the folder is opened"),
	AT(".ctags", "ctags", "options: what is written where; editors run ctags"),
	AT(".gutctags", "vim", "options of ctags, at every save: what is written where"),
	BENEATH(".ctags.d", "ctags", "options: what is written where; editors run ctags"),
	IN("ctags.d", "*.ctags", "ctags", "options: what is written where; editors run ctags"),
	BENEATH(".config/ctags", "ctags", "options: what is written where; editors run ctags"),
	AT(".mc.menu", "Midnight Commander", "commands of its menu"),
	SB_NAMED(AT, "neovim", "programs of language servers", ".neoconf.json", "codesettings.json",
		 "lspsettings.json"),
	SB_NAMED(BENEATH, "neovim", "neovim start-up files", ".config/nvim", ".config/lvim"),
	LOOSE(".local/share/nvim/site/**", "neovim", "neovim start-up files"),
	LOOSE(".local/share/nvim/lazy/**", "neovim", "plugins of neovim"),
	LOOSE(".local/share/nvim/rplugin.vim", "neovim", "neovim start-up files"),
	LOOSE(".local/share/lunarvim/**", "neovim", "neovim start-up files"),
	BENEATH(".config/kak", "Kakoune", "commands that kak runs at start"),
	BENEATH(".config/micro", "micro", "settings and plugins of the editor"),
	SB_NAMED(BENEATH, "vim", "vim start-up files and plugins", ".vim", ".config/vim"),
	SB_NAMED(BENEATH, "emacs", "emacs start-up files", ".config/emacs", ".doom.d",
		 ".config/doom"),
	AT(".spacemacs", "emacs", "emacs start-up file"),
	BENEATH(".config/helix", "Helix", "language servers and formatters that Helix starts"),
	AT(".nanorc", "nano", "linters and formatters that nano runs"),
	BENEATH(".config/sublime-text", "Sublime Text", "plugins and settings of the editor"),
	BENEATH(".config/zed", "Zed", "tasks, language servers and debuggers that Zed starts"),
	SB_NAMED(AT, "emacs", "emacs evaluates it", ".dir-locals.el", ".dir-locals-2.el"),
	SB_NAMED(AT, "emacs", "emacs start-up file", ".emacs", ".emacs.el", ".emacs.elc"),
	SB_NAMED(AT, "emacs", "Lisp that its mail program loads", ".gnus", ".gnus.el"),
	BENEATH(".emacs.d", "emacs", "emacs start-up files"),
	AT(".abbrev_defs", "emacs", "Lisp that emacs loads when it starts"),
	AT(".emacs.desktop", "emacs", "Lisp that emacs loads when it starts there"),
	/* not all of a directory that has such a word for a name */
	SB_NAMED(LOOSE, "emacs", "AUCTeX loads it with a TeX file", "auto/*.el", "auto/*.elc",
		 "style/*.el", "style/*.elc"),
	BENEATH(".devcontainer", "dev containers",
		"commands that run on this machine when the container is built"),
	AT(".devcontainer.json", "dev containers",
	   "commands that run on this machine when the container is built"),
	AT(".gitpod.yml", "Gitpod", "commands that run when the workspace is opened"),

#include "guard/rows_agents.h"

#include "guard/rows_home.h"

	/* package managers: settings that run something before the project's code does */
	AT(".npmrc", "npm", "npm settings can name programs to run"),
	SB_NAMED(AT, "yarn", "yarn settings can name programs to run", ".yarnrc", ".yarnrc.yml"),
	BENEATH(".yarn/releases", "yarn", "the yarn that yarn starts"),
	BENEATH(".yarn/plugins", "yarn", "plugins that yarn runs"),
	SB_NAMED(AT, "pnpm", "pnpm runs it", ".pnpmfile.cjs", ".pnpmfile.mjs"),
	AT("bunfig.toml", "bun", "scripts that bun loads before any other"),
	AT(".bunfig.toml", "bun", "scripts that bun loads before any other"),
	AT(".config/pnpm/rc", "pnpm", "pnpm settings can name programs to run"),
	AT("pip.conf", "pip", "where pip installs programs from"),
	AT(".cargo/config", "cargo", "programs that cargo runs instead of rustc"),
	AT(".cargo/config.toml", "cargo", "programs that cargo runs instead of rustc"),
	AT("tools/bazel", "bazel", "the bazel that bazel starts"),
	AT(".bazelrc", "bazel", "programs that bazel runs, and servers it asks"),
	AT(".bazeliskrc", "bazelisk", "where bazelisk takes bazel from"),
	AT(".pants.rc", "pants", "programs that pants runs"),
	BENEATH(".pdm-plugins", "pdm", "plugins that pdm loads"),
	AT(".config/pip/pip.conf", "pip", "where pip installs programs from"),
	AT("nuget.config", "NuGet", "where NuGet installs programs from"),
	SB_NAMED(AT, "sbt", "Java agents that sbt loads", ".sbtopts", ".jvmopts"),
	SB_NAMED(LOOSE, "sbt", "code that every sbt build runs", ".sbt/1.0/*.sbt",
		 ".sbt/1.0/*.scala", ".sbt/1.0/plugins/*.sbt", ".sbt/1.0/plugins/*.scala",
		 "1.0/plugins/project/*.sbt", "1.0/plugins/project/*.scala", ".sbt/2/*.sbt",
		 ".sbt/2/*.scala", ".sbt/2/plugins/*.sbt", ".sbt/2/plugins/*.scala"),
	AT(".groovy/groovysh.rc", "groovysh", "groovysh runs it at start"),
	BENEATH(".groovy/lib", "groovy", "code that every groovy loads"),
	AT(".reviewboardrc", "rbt", "Python that rbt runs"),
	AT(".arcconfig", "arc", "libraries that arc loads"),
	IN(".chef", "*.rb", "knife", "Ruby that knife runs"),
	BENEATH(".chef/config.d", "knife", "Ruby that knife runs"),
	BENEATH(".chef/plugins", "knife", "plugins that knife loads"),
	AT(".vagrant.d/Vagrantfile", "Vagrant", "Ruby that vagrant runs in every project"),
	AT(".ripgreprc", "ripgrep", "preprocessors that rg runs"),
	AT(".config/ripgrep/config", "ripgrep", "preprocessors that rg runs"),
	AT(".config/bat/config", "bat", "pagers that bat runs"),
	AT(".lesskey", "less", "commands behind keys of less"),
	AT(".zk/config.toml", "zk", "commands behind its aliases"),
	AT(".config/lesskey", "less", "commands behind keys of less"),
	AT(".less", "less", "commands behind keys of less, and variables"),
	AT(".manpath", "man", "programs that man runs"),
	AT(".selected_editor", "sensible-editor", "a shell reads it"),
	SB_NAMED(AT, "rsync", "options that popt's programs take others for, and what they run",
		 ".popt", ".config/popt"),
	AT(".tclshrc", "tclsh", "start-up file"),
	AT(".wishrc", "wish", "start-up file"),
	AT(".expect.rc", "expect", "start-up file"),
	AT(".valgrindrc", "valgrind", "options: what is written where"),
	BENEATH(".config/ccache", "ccache", "programs that ccache runs"),
	AT(".ccache/ccache.conf", "ccache", "programs that ccache runs"),
	AT(".npm-init.js", "npm", "npm init runs it"),
	BENEATH(".node_modules", "node", "code that node finds from everywhere"),
	BENEATH(".node_libraries", "node", "code that node finds from everywhere"),
	BENEATH(".cpan/CPAN", "cpan", "settings that perl runs"),
	BENEATH(".config/user-tmpfiles.d", "systemd", "files that are made at each login"),
	AT(".zcompdump-*", "zsh", "the shell reads it at start"),
	AT(".psqlrc-*", "psql", "start-up file"),
	AT(".rustup/settings.toml", "rustup", "which programs cargo and rustc are"),
	BENEATH(".rustup/toolchains", "rustup", "programs that cargo and rustc are"),
	BENEATH(".cmake/packages", "CMake", "code that projects take in"),
	AT(".lessfilter", "lesspipe", "less runs it for every file"),
	IN(".mvn", "*", "Maven", "extensions and Java agents that mvn loads"),
	AT(".mavenrc", "Maven", "mvn runs it"),
	AT(".m2/settings.xml", "Maven", "where Maven takes plugins from"),
	AT(".m2/extensions.xml", "Maven", "extensions that mvn loads"),
	AT(".gradle/init.gradle", "Gradle", "code that every Gradle build runs"),
	AT(".gradle/init.gradle.kts", "Gradle", "code that every Gradle build runs"),
	BENEATH(".gradle/init.d", "Gradle", "code that every Gradle build runs"),
	AT(".gradle/gradle.properties", "Gradle", "Java agents that Gradle loads"),
	SB_NAMED(AT, "cabal", "programs that cabal runs", ".cabal/config", ".config/cabal/config"),

	/* clouds and containers: settings that name programs which give credentials, and plugins */
	AT(".aws/config", "AWS CLI", "programs that give credentials"),
	AT(".aws/credentials", "AWS CLI", "programs that give credentials"),
	AT(".aws/cli/alias", "AWS CLI", "commands that aliases run"),
	AT(".kube/config", "kubectl", "programs that give credentials"),
	BENEATH(".krew", "kubectl", "plugins of kubectl"),
	BENEATH(".local/share/helm", "helm", "plugins of helm"),
	AT(".docker/config.json", "docker", "programs that give credentials, and plugins"),
	BENEATH(".docker/cli-plugins", "docker", "plugins of docker"),
	BENEATH(".config/containers", "podman", "hooks and programs that podman runs"),
	AT(".terraformrc", "Terraform", "programs that give credentials, and providers"),
	AT(".tofurc", "OpenTofu", "programs that give credentials, and providers"),
	AT(".config/opentofu/tofurc", "OpenTofu", "programs that give credentials, and providers"),
	BENEATH(".terraform.d/plugins", "Terraform", "providers that Terraform runs"),
	AT(".terraform/plugin_path", "Terraform", "where Terraform takes providers from"),
	AT("ldaprc", "LDAP", "settings of curl and whoever else asks LDAP servers"),

	/* ours */
	AT("sandbash.yaml", "sandbash", "which directories workers of this project get"),
	AT("golem-forge.config.yaml", "sandbash", "which directories workers of this project get"),
	ENDING(".worker", "sandbash", "what a worker may do"),
	/* in the name of the file tools, whatever file they write: src/files/linux_replace.c */
	ENDING(".sandbash-write", "sandbash", "becomes the file that sandbash is writing"),
	/* and everything beneath: sb_guard_is_held() */
	ENDING(SB_GUARD_HOLD_ENDING, "sandbash", "about to get a name that is guarded"),
};

_Static_assert(sizeof rows / sizeof rows[0] <= SB_GUARD_MAX_ROWS, "every row has its place");

const struct sb_guard_row *sb_guard_rows(size_t *out_count)
{
	*out_count = sizeof rows / sizeof rows[0];
	return rows;
}

const char *sb_guard_harmless(enum sb_guard_kind kind)
{
	static const char texts[][80] = {
		[SB_GUARD_GIT_CONFIG] = "changes to keys that run nothing",
		[SB_GUARD_GITMODULES] =
			"URLs as in git config, no command, no option or guarded name as path",
		[SB_GUARD_LFSCONFIG] =
			"keys that run nothing; a server on another machine, which is told",
		[SB_GUARD_GITFILE] = "leads into a guarded directory",
		[SB_GUARD_GITDIR] = "names a .git in a guarded directory",
		[SB_GUARD_COMMONDIR] = "../.. in worktrees/ID",
		[SB_GUARD_REBASE_TODO] =
			"git's own steps; exec of a rebase is told if it is left behind",
		[SB_GUARD_STRATEGY] = "a strategy of git's own",
		[SB_GUARD_SEQUENCER] = "a strategy of git's own",
		[SB_GUARD_ALTERNATES] = "objects of guarded repositories",
		[SB_GUARD_TOOL_VERSIONS] =
			"versions that no shell expands, no paths, options and templates",
		[SB_GUARD_DOTENV] = "plain assignments of variables that run nothing",
		[SB_GUARD_IGNORE] = "new lines that ignore more",
		[SB_GUARD_ANYTHING] = "anything",
		[SB_GUARD_GIT_REF] = "an id, or a branch whose name no shell expands",
		[SB_GUARD_GIT_IDS] = "ids, hexadecimal",
		[SB_GUARD_GIT_NUMBER] = "digits",
		[SB_GUARD_GIT_NAMES] = "words that no shell expands, no options",
		[SB_GUARD_SERIES] = "words that no shell expands, no options; comments",
		[SB_GUARD_GIT_PACKED] = "ids, and names that no shell expands",
		[SB_GUARD_GIT_QUOTED] = "comments, and commands with the rest in quotes",
		[SB_GUARD_GIT_AUTHOR] = "the three assignments, quoted",
		[SB_GUARD_GIT_OPTIONS] = "options that write and run nothing else",
		[SB_GUARD_GIT_STRATEGY_OPTIONS] = "options that write and run nothing else",
		[SB_GUARD_GIT_RERERE] = "ids, and files of the work tree not reached through links",
		[SB_GUARD_GIT_TEXT] = "text without control characters",
		[SB_GUARD_HG_JOURNAL] =
			"files of the store, and backups beside them under hg's name for them",
		[SB_GUARD_HG_SUBS] = "repositories in guarded places or on other machines",
		[SB_GUARD_GIT_STASH] = "a stash with no guarded name; told if it is left behind",
		[SB_GUARD_GIT_PACKS] = "names of packs beside it",
		[SB_GUARD_GIT_EXCLUDE] = "anything; new patterns that hide something are told",
		[SB_GUARD_AGENT_JSON] =
			"what is remembered; no servers, hooks, tools, trust or variables",
		[SB_GUARD_AGENT_LOOKS] = "changes to its theme and the like",
		[SB_GUARD_INDEX] = "entries that git itself would write",
	};

	return kind != SB_GUARD_SAME ? texts[kind] : NULL;
}
