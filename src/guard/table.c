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
 *   .gitattributes, info/attributes   only choose among drivers that some git config defines
 *   node_modules/.bin   written by every install
 *   pnpm-workspace.yaml, uv.toml, .bundle/config   written by daily commands of their tools,
 *       which run the project's code anyway
 *   conftest.py, sitecustomize.py, .eslintrc.js, build.rs, BUILD, WORKSPACE, flake.nix   code
 *   .editorconfig, .gitlab, .husky's samples   run nothing
 */
#include "guard/guard.h"

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
		"*" suffix, who, why, SB_GUARD_SAME, 0, NULL                                       \
	}
#define CHECKED(pattern, kind, held, who, why)                                                     \
	{                                                                                          \
		pattern, who, why, kind, 0, held                                                   \
	}

static const struct sb_guard_row rows[] = {
	/* git: what it runs, and what leads it to other metadata */
	{"<git>/hooks/*", "git", "git runs hooks", SB_GUARD_SAME, SB_GUARD_IF_EXECUTABLE,
	 "<git>/hooks"},
	CHECKED("<git>/config", SB_GUARD_GIT_CONFIG, "<git>/config", "git",
		"git config can name programs to run"),
	/* anywhere: a directory with a commondir needs no objects of its own */
	CHECKED("config.worktree", SB_GUARD_GIT_CONFIG, "<git>/config.worktree", "git",
		"git config can name programs to run"),
	CHECKED("commondir", SB_GUARD_COMMONDIR, "<git>/commondir", "git",
		"leads git to other hooks and config"),
	CHECKED(".git", SB_GUARD_GITFILE, NULL, "git", "leads git to its hooks and config"),
	CHECKED("worktrees/*/gitdir", SB_GUARD_GITDIR, NULL, "git",
		"names the files that git worktree moves, repairs and removes"),
	CHECKED("objects/info/alternates", SB_GUARD_ALTERNATES, NULL, "git",
		"makes git take objects from another place"),
	CHECKED("<git>/index", SB_GUARD_INDEX, NULL, "git",
		"git restore, reset and checkout write the paths that it names"),
	CHECKED("<git>/sharedindex.*", SB_GUARD_INDEX, NULL, "git",
		"git restore, reset and checkout write the paths that it names"),
	CHECKED("worktrees/*/index", SB_GUARD_INDEX, NULL, "git",
		"git restore, reset and checkout write the paths that it names"),
	CHECKED("worktrees/*/sharedindex.*", SB_GUARD_INDEX, NULL, "git",
		"git restore, reset and checkout write the paths that it names"),
	/* not held: every repository has an empty branches, and a mount for it */
	CHECKED("<git>/remotes/*", SB_GUARD_SAME, NULL, "git",
		"remotes in an old form, which can name programs"),
	CHECKED("<git>/branches/*", SB_GUARD_SAME, NULL, "git",
		"remotes in an old form, which can name programs"),
	CHECKED("rebase-merge/git-rebase-todo", SB_GUARD_REBASE_TODO, NULL, "git",
		"git rebase --continue runs its exec lines"),
	CHECKED("rebase-merge/strategy", SB_GUARD_STRATEGY, NULL, "git",
		"git rebase --continue runs git-merge-NAME"),
	CHECKED("sequencer/opts", SB_GUARD_SEQUENCER, NULL, "git",
		"git cherry-pick --continue runs git-merge-NAME"),
	CHECKED(".gitmodules", SB_GUARD_GITMODULES, NULL, "git",
		"git submodule update fetches what it names, to where it names"),
	/* not "obeyed", but whoever can change them can take --protect-ignored off a file */
	{".gitignore", "sandbash", "says what --protect-ignored protects; with that option only",
	 SB_GUARD_IGNORE, SB_GUARD_IF_PROTECTING, NULL},
	{"<git>/info/exclude", "sandbash",
	 "says what --protect-ignored protects; with that option only", SB_GUARD_IGNORE,
	 SB_GUARD_IF_PROTECTING, NULL},
	CHECKED(".gitconfig", SB_GUARD_GIT_CONFIG, ".gitconfig", "git",
		"git config can name programs to run"),
	CHECKED(".config/git/config", SB_GUARD_GIT_CONFIG, ".config/git/config", "git",
		"git config can name programs to run"),
	AT(".hg/hgrc", "Mercurial", "hooks, extensions and aliases that hg runs"),
	/* not .hg/requires: "hg init" writes it, and without a sharedpath it leads nowhere */
	AT(".hg/sharedpath", "Mercurial", "leads hg to other hooks and config"),
	AT(".hg/hgrc-not-shared", "Mercurial", "hooks, extensions and aliases that hg runs"),
	AT(".sl/config", "Sapling", "hooks, extensions and aliases that sl runs"),
	AT(".jj/repo", "Jujutsu", "as a file: leads jj to another repository and its tools"),
	AT("_darcs/prefs/defaults", "darcs", "hooks that darcs runs"),
	AT(".jj/repo/config.toml", "Jujutsu", "tools that jj runs"),
	AT(".jj/workspace-config.toml", "Jujutsu", "tools that jj runs"),
	AT(".jjconfig.toml", "Jujutsu", "tools that jj runs"),
	BENEATH(".config/jj", "Jujutsu", "tools that jj runs"),
	AT(".lazygit.yml", "lazygit", "commands that lazygit runs"),
	/* git directories have one, too: <git>/lazygit.yml */
	AT("lazygit.yml", "lazygit", "commands that lazygit runs"),
	BENEATH(".config/lazygit", "lazygit", "commands that lazygit runs"),
	AT(".tigrc", "tig", "commands that tig runs"),
	AT(".config/tig/config", "tig", "commands that tig runs"),
	BENEATH(".config/gitui", "gitui", "key bindings of gitui"),

	/* what git hooks that are installed already run on the next commit */
	{".husky/*", "git", "husky's hooks run it", SB_GUARD_SAME, SB_GUARD_IF_EXECUTABLE,
	 ".husky"},
	{".husky/_/*", "git", "husky's hooks run it", SB_GUARD_SAME, SB_GUARD_IF_EXECUTABLE,
	 ".husky"},
	AT(".pre-commit-config.yaml", "pre-commit", "commands to run at every commit"),
	AT(".pre-commit-config.yml", "prek", "commands to run at every commit"),
	AT("prek.toml", "prek", "commands to run at every commit"),
	AT(".overcommit.yml", "overcommit", "commands to run at every commit"),
	AT("lefthook.yml", "lefthook", "commands to run at every commit"),
	AT("lefthook.yaml", "lefthook", "commands to run at every commit"),
	AT("lefthook.toml", "lefthook", "commands to run at every commit"),
	AT("lefthook.json", "lefthook", "commands to run at every commit"),
	AT(".lefthook.yml", "lefthook", "commands to run at every commit"),
	AT("lefthook-local.yml", "lefthook", "commands to run at every commit"),
	AT(".lefthook-local.yml", "lefthook", "commands to run at every commit"),
	AT(".lefthook.yaml", "lefthook", "commands to run at every commit"),
	AT(".lefthook.toml", "lefthook", "commands to run at every commit"),
	AT(".lefthook.json", "lefthook", "commands to run at every commit"),
	AT("lefthook-local.yaml", "lefthook", "commands to run at every commit"),
	AT("lefthook-local.toml", "lefthook", "commands to run at every commit"),
	AT("lefthook-local.json", "lefthook", "commands to run at every commit"),
	AT(".lefthook-local.yaml", "lefthook", "commands to run at every commit"),
	AT(".lefthook-local.toml", "lefthook", "commands to run at every commit"),
	AT(".lefthook-local.json", "lefthook", "commands to run at every commit"),
	AT(".config/lefthook.yml", "lefthook", "commands to run at every commit"),
	AT(".config/lefthook.yaml", "lefthook", "commands to run at every commit"),
	AT(".config/lefthook.toml", "lefthook", "commands to run at every commit"),
	AT(".config/lefthook.json", "lefthook", "commands to run at every commit"),
	BENEATH(".lefthook", "lefthook", "scripts to run at every commit"),
	BENEATH(".lefthook-local", "lefthook", "scripts to run at every commit"),

	/* entering a directory, starting a shell */
	AT(".envrc", "direnv", "direnv runs it on cd"),
	AT("mise.toml", "mise", "hooks and scripts that mise runs on cd, once trusted"),
	AT(".mise.toml", "mise", "hooks and scripts that mise runs on cd, once trusted"),
	AT("mise.local.toml", "mise", "hooks and scripts that mise runs on cd, once trusted"),
	AT(".mise.local.toml", "mise", "hooks and scripts that mise runs on cd, once trusted"),
	{"mise.*.toml", "mise", "hooks and scripts that mise runs on cd, once trusted",
	 SB_GUARD_SAME, 0, NULL},
	{".mise.*.toml", "mise", "hooks and scripts that mise runs on cd, once trusted",
	 SB_GUARD_SAME, 0, NULL},
	AT("mise/config.toml", "mise", "hooks and scripts that mise runs on cd, once trusted"),
	BENEATH(".mise/conf.d", "mise", "hooks and scripts that mise runs on cd, once trusted"),
	BENEATH(".config/mise/conf.d", "mise",
		"hooks and scripts that mise runs on cd, once trusted"),
	IN(".mise", "*.toml", "mise", "hooks and scripts that mise runs on cd, once trusted"),
	AT(".config/mise.toml", "mise", "hooks and scripts that mise runs on cd, once trusted"),
	IN(".config/mise", "*.toml", "mise",
	   "hooks and scripts that mise runs on cd, once trusted"),
	AT(".autoenv", "autoenv", "autoenv runs it on cd"),
	AT(".env.leave", "autoenv", "autoenv runs it on leaving"),
	CHECKED(".env", SB_GUARD_DOTENV, NULL, "autoenv, zsh's dotenv plugin, agents",
		"shells run it on cd; agents take their settings from it"),
	BENEATH(".flox/env", "flox", "hooks that flox runs on cd or on activation"),
	AT("devbox.json", "devbox", "hooks that devbox runs on activation"),
	AT(".autoenv.zsh", "zsh-autoenv", "zsh-autoenv runs it on cd"),
	AT(".autoenv_leave.zsh", "zsh-autoenv", "zsh-autoenv runs it on leaving"),
	AT(".rvmrc", "rvm", "rvm runs it on cd"),
	CHECKED(".tool-versions", SB_GUARD_TOOL_VERSIONS, NULL, "asdf, mise",
		"a path as version is where programs are run from"),
	CHECKED("rust-toolchain", SB_GUARD_TOOL_VERSIONS, NULL, "rustup",
		"a path as toolchain is where cargo and rustc are run from"),
	CHECKED("rust-toolchain.toml", SB_GUARD_TOOL_VERSIONS, NULL, "rustup",
		"a path as toolchain is where cargo and rustc are run from"),
	AT(".bashrc", "bash", "shell start-up file"),
	AT(".bash_profile", "bash", "shell start-up file"),
	AT(".bash_login", "bash", "shell start-up file"),
	AT(".bash_logout", "bash", "shell start-up file"),
	AT(".bash_aliases", "bash", "shell start-up file"),
	BENEATH(".bashrc.d", "bash", "shell start-up files"),
	AT(".profile", "sh", "shell start-up file"),
	AT(".inputrc", "readline", "binds keys to commands in every shell"),
	AT(".zshenv", "zsh", "shell start-up file"),
	AT(".zprofile", "zsh", "shell start-up file"),
	AT(".zshrc", "zsh", "shell start-up file"),
	AT(".zlogin", "zsh", "shell start-up file"),
	AT(".zlogout", "zsh", "shell start-up file"),
	ENDING(".zwc", "zsh", "compiled code, run instead of the older file without .zwc"),
	AT(".zshenv.zwc", "zsh", "run instead of .zshenv, if newer"),
	AT(".zprofile.zwc", "zsh", "run instead of .zprofile, if newer"),
	AT(".zshrc.zwc", "zsh", "run instead of .zshrc, if newer"),
	AT(".zlogin.zwc", "zsh", "run instead of .zlogin, if newer"),
	AT(".zlogout.zwc", "zsh", "run instead of .zlogout, if newer"),
	AT(".kshrc", "ksh", "shell start-up file"),
	AT(".cshrc", "csh", "shell start-up file"),
	AT(".tcshrc", "tcsh", "shell start-up file"),
	AT(".login", "csh", "shell start-up file"),
	AT(".xprofile", "X session", "run at every login"),
	AT(".xsessionrc", "X session", "run at every login"),
	AT(".xinitrc", "X session", "run at every login"),
	AT(".pam_environment", "login", "environment of every login"),
	AT(".tmux.conf", "tmux", "commands that tmux runs at start"),
	AT(".screenrc", "screen", "commands that screen runs at start"),
	BENEATH(".config/fish", "fish", "shell start-up files"),
	BENEATH(".config/nushell", "nushell", "shell start-up files"),
	BENEATH(".config/zsh", "zsh", "shell start-up files"),
	BENEATH(".config/bash", "bash", "shell start-up files"),
	BENEATH(".config/xonsh", "xonsh", "shell start-up files"),
	AT(".xonshrc", "xonsh", "shell start-up file"),
	AT(".elvish/rc.elv", "elvish", "shell start-up file"),
	BENEATH(".config/elvish", "elvish", "shell start-up files"),
	BENEATH(".oh-my-zsh", "zsh", "plugins of every shell"),
	AT(".p10k.zsh", "zsh", "run at the start of every shell"),
	BENEATH(".config/direnv", "direnv", "run for every .envrc"),
	AT(".direnvrc", "direnv", "run for every .envrc"),
	AT("starship.toml", "starship", "commands that the prompt runs"),
	AT(".config/starship.toml", "starship", "commands that the prompt runs"),
	/* window managers and terminals, for those who keep their settings in a project */
	AT(".xsession", "X session", "run at every login"),
	AT(".Xresources", "X session", "settings of terminals, which may name programs"),
	BENEATH(".config/i3", "i3", "commands that i3 runs"),
	BENEATH(".config/i3status-rust", "i3", "commands of the status bar"),
	BENEATH(".config/i3blocks", "i3", "commands of the status bar"),
	BENEATH(".config/sway", "sway", "commands that sway runs"),
	BENEATH(".config/hypr", "Hyprland", "commands that Hyprland runs"),
	BENEATH(".config/niri", "niri", "commands that niri runs"),
	BENEATH(".config/river", "river", "run at the start of river"),
	BENEATH(".config/awesome", "awesome", "code of the window manager"),
	BENEATH(".config/qtile", "qtile", "code of the window manager"),
	BENEATH(".config/bspwm", "bspwm", "run at the start of bspwm"),
	BENEATH(".config/sxhkd", "sxhkd", "commands behind keys"),
	BENEATH(".config/openbox", "openbox", "run at the start of openbox"),
	BENEATH(".config/herbstluftwm", "herbstluftwm", "run at its start"),
	BENEATH(".xmonad", "xmonad", "code of the window manager"),
	BENEATH(".config/polybar", "polybar", "commands of the status bar"),
	BENEATH(".config/waybar", "waybar", "commands of the status bar"),
	BENEATH(".config/eww", "eww", "commands of widgets"),
	BENEATH(".config/dunst", "dunst", "commands that notifications run"),
	BENEATH(".config/swaync", "swaync", "commands that notifications run"),
	BENEATH(".config/rofi", "rofi", "commands behind menus"),
	BENEATH(".config/kitty", "kitty", "programs that the terminal runs"),
	BENEATH(".config/alacritty", "alacritty", "programs that the terminal runs"),
	AT(".alacritty.toml", "alacritty", "programs that the terminal runs"),
	BENEATH(".config/wezterm", "wezterm", "code of the terminal"),
	AT(".wezterm.lua", "wezterm", "code of the terminal"),
	BENEATH(".config/ghostty", "ghostty", "programs that the terminal runs"),
	BENEATH(".config/foot", "foot", "programs that the terminal runs"),
	BENEATH(".config/tmux", "tmux", "commands that tmux runs at start"),
	BENEATH(".tmux", "tmux", "plugins that tmux runs"),
	BENEATH(".config/zellij", "zellij", "commands that zellij runs"),
	BENEATH(".config/mpv", "mpv", "scripts that mpv runs"),
	BENEATH(".config/ranger", "ranger", "commands of the file manager"),
	BENEATH(".config/lf", "lf", "commands of the file manager"),
	BENEATH(".config/yazi", "yazi", "commands of the file manager"),
	AT(".mailcap", "mail programs", "commands that open attachments"),
	AT(".curlrc", "curl", "where curl writes and what it sends"),
	AT(".wgetrc", "wget", "where wget writes and what it runs"),
	BENEATH(".config/autostart", "desktop", "run at every desktop login"),
	BENEATH(".config/systemd", "systemd", "user services"),
	BENEATH(".config/environment.d", "systemd", "environment of every user service"),
	BENEATH(".local/share/systemd", "systemd", "user services"),
	BENEATH(".local/bin", "shell", "on the PATH of the user's shell"),
	BENEATH(".local/share/applications", "desktop", "programs behind menu entries"),
	AT(".ssh/authorized_keys", "sshd", "lets others log in"),
	AT(".ssh/config", "ssh", "ProxyCommand and others are run"),
	AT(".ssh/rc", "sshd", "run at every login"),
	AT(".ssh/environment", "sshd", "environment of every login"),

	/* interpreters and debuggers that read a file of the current directory */
	AT(".Rprofile", "R", "R runs it at start"),
	AT(".Renviron", "R", "names further files that R runs at start"),
	AT(".gdbinit", "gdb", "commands that gdb runs at start"),
	AT(".gdbearlyinit", "gdb", "commands that gdb runs at start"),
	AT(".psqlrc", "psql", "commands that psql runs at start"),
	AT(".sqliterc", "sqlite3", "commands that sqlite3 runs at start"),
	AT(".lldbinit", "lldb", "commands that lldb runs at start"),
	AT(".pdbrc", "python", "commands that pdb runs at start"),
	AT(".irbrc", "ruby", "irb runs it at start"),
	AT(".pryrc", "ruby", "pry runs it at start"),
	AT(".iex.exs", "elixir", "iex runs it at start"),
	IN(".jupyter", "*.py", "Jupyter", "Jupyter runs it at start"),
	IN(".jupyter", "*.json", "Jupyter", "names extensions that Jupyter loads"),
	AT("jupyter_notebook_config.py", "Jupyter", "Jupyter runs it at start"),
	AT("jupyter_server_config.py", "Jupyter", "Jupyter runs it at start"),
	AT("jupyter_lab_config.py", "Jupyter", "Jupyter runs it at start"),
	AT("jupyter_config.py", "Jupyter", "Jupyter runs it at start"),
	AT("jupyter_notebook_config.json", "Jupyter", "names extensions that Jupyter loads"),
	AT("jupyter_server_config.json", "Jupyter", "names extensions that Jupyter loads"),
	AT("jupyter_lab_config.json", "Jupyter", "names extensions that Jupyter loads"),
	IN(".ipython/profile_default", "*.py", "IPython", "IPython runs it at start"),
	BENEATH(".ipython/profile_default/startup", "IPython", "IPython runs it at start"),
	AT("ipython_config.py", "IPython", "IPython runs it at start"),
	AT(".latexmkrc", "latexmk", "latexmk runs it"),
	AT("latexmkrc", "latexmk", "latexmk runs it"),
	AT(".pythonrc", "python", "python runs it at start"),
	AT(".pythonrc.py", "python", "python runs it at start"),
	AT(".perldb", "perl", "perl's debugger runs it at start"),
	AT(".octaverc", "octave", "octave runs it at start"),
	AT(".gnuplot", "gnuplot", "commands that gnuplot runs at start"),
	AT(".rdbgrc", "ruby", "ruby's debugger runs it at start"),
	AT(".duckdbrc", "duckdb", "commands that duckdb runs at start"),
	AT(".ghci", "ghc", "commands that ghci runs at start"),
	AT(".ocamlinit", "ocaml", "the ocaml toplevel runs it at start"),

	/* editors */
	IN(".vscode", "*.json", "VS Code",
	   "tasks that run when the folder is opened, programs of extensions, MCP servers"),
	IN(".theia", "*.json", "Theia", "tasks, launch configurations and settings"),
	IN(".vs", "*.json", "Visual Studio", "tasks and launch configurations"),
	ENDING(".code-workspace", "VS Code", "tasks and settings of a workspace"),
	BENEATH(".vscode/extensions", "VS Code", "extensions that VS Code offers to run"),
	BENEATH(".externalToolBuilders", "Eclipse", "programs that a build in the IDE runs"),
	AT("rust-analyzer.toml", "rust-analyzer", "commands that editors run to check the code"),
	AT(".rust-analyzer.toml", "rust-analyzer", "commands that editors run to check the code"),
	AT(".kateproject", "Kate", "commands that Kate runs"),
	AT(".kateproject.build", "Kate", "commands that Kate runs"),
	IN(".nova", "*.json", "Nova", "tasks of Nova"),
	BENEATH(".nova/Tasks", "Nova", "tasks of Nova"),
	AT(".lapce/settings.toml", "Lapce", "programs that Lapce starts"),
	AT(".lapce/run.toml", "Lapce", "programs that Lapce starts"),
	BENEATH(".idea", "JetBrains IDEs",
		"run configurations, file watchers and start-up tasks of the IDE"),
	IN(".run", "*.run.xml", "JetBrains IDEs", "run configurations"),
	IN(".fleet", "*.json", "JetBrains Fleet", "run configurations and settings"),
	IN(".zed", "*.json", "Zed", "tasks, language servers and debuggers that Zed starts"),
	IN(".helix", "*.toml", "Helix", "language servers and formatters that Helix starts"),
	ENDING(".sublime-project", "Sublime Text", "build systems and language servers"),
	AT(".exrc", "vim", "vim start-up file"),
	AT(".vimrc", "vim", "vim start-up file"),
	AT(".gvimrc", "vim", "vim start-up file"),
	AT(".lvimrc", "vim", "vim start-up file"),
	AT(".vimspector.json", "vim", "programs that vimspector starts"),
	AT(".nvimrc", "neovim", "neovim start-up file"),
	AT(".nvim.lua", "neovim", "neovim start-up file"),
	BENEATH(".config/nvim", "neovim", "neovim start-up files"),
	BENEATH(".vim", "vim", "vim start-up files and plugins"),
	BENEATH(".config/vim", "vim", "vim start-up files and plugins"),
	BENEATH(".config/emacs", "emacs", "emacs start-up files"),
	BENEATH(".doom.d", "emacs", "emacs start-up files"),
	BENEATH(".config/doom", "emacs", "emacs start-up files"),
	AT(".spacemacs", "emacs", "emacs start-up file"),
	BENEATH(".config/helix", "Helix", "language servers and formatters that Helix starts"),
	BENEATH(".config/zed", "Zed", "tasks, language servers and debuggers that Zed starts"),
	AT(".dir-locals.el", "emacs", "emacs evaluates it"),
	AT(".dir-locals-2.el", "emacs", "emacs evaluates it"),
	AT(".emacs", "emacs", "emacs start-up file"),
	BENEATH(".emacs.d", "emacs", "emacs start-up files"),
	BENEATH(".devcontainer", "dev containers",
		"commands that run on this machine when the container is built"),
	AT(".devcontainer.json", "dev containers",
	   "commands that run on this machine when the container is built"),
	AT(".gitpod.yml", "Gitpod", "commands that run when the workspace is opened"),

	/* agents */
	AT(".claude/settings.json", "Claude Code", "hooks, permissions and status line"),
	AT(".claude/settings.local.json", "Claude Code", "hooks, permissions and status line"),
	/* held as a directory it would keep a static run from .claude/worktrees */
	CHECKED(".claude/*.json", SB_GUARD_SAME, NULL, "Claude Code", "settings and launch files"),
	CHECKED(".claude/*.sh", SB_GUARD_SAME, NULL, "Claude Code",
		"scripts of hooks and of the status line"),
	CHECKED(".claude/*.py", SB_GUARD_SAME, NULL, "Claude Code",
		"scripts of hooks and of the status line"),
	CHECKED(".claude/*.js", SB_GUARD_SAME, NULL, "Claude Code",
		"scripts of hooks and of the status line"),
	BENEATH(".claude/commands", "Claude Code", "commands that may run programs when used"),
	BENEATH(".claude/agents", "Claude Code", "agents with tools and hooks of their own"),
	BENEATH(".claude/skills", "Claude Code", "skills with scripts and hooks"),
	BENEATH(".claude/hooks", "Claude Code", "scripts that hooks run"),
	BENEATH(".claude/plugins", "Claude Code", "plugins with hooks and MCP servers"),
	BENEATH(".claude-plugin", "Claude Code", "plugins with hooks and MCP servers"),
	AT(".claude.json", "Claude Code", "MCP servers and trusted projects"),
	AT(".mcp.json", "agents", "programs an agent starts"),
	AT(".lsp.json", "Claude Code", "language servers an agent starts"),
	BENEATH(".agents/skills", "agents", "skills with scripts"),
	BENEATH(".codex", "Codex", "settings, hooks, rules for commands and MCP servers"),
	BENEATH(".gemini", "Gemini CLI", "settings, hooks, extensions, commands and MCP servers"),
	BENEATH(".qwen", "Qwen Code", "settings, hooks, extensions and MCP servers"),
	IN(".cursor", "*.json", "Cursor", "hooks, MCP servers, permissions and set-up commands"),
	BENEATH(".cursor/hooks", "Cursor", "scripts that hooks run"),
	BENEATH(".cursor/commands", "Cursor", "commands of the agent"),
	BENEATH(".cursor/agents", "Cursor", "agents with tools of their own"),
	BENEATH(".cursor/skills", "Cursor", "skills with scripts"),
	IN(".windsurf", "*.json", "Windsurf", "hooks and MCP servers"),
	BENEATH(".windsurf/workflows", "Windsurf", "steps that may run unasked"),
	BENEATH(".windsurf/skills", "Windsurf", "skills with scripts"),
	BENEATH(".clinerules/hooks", "Cline", "Cline runs hooks"),
	BENEATH(".clinerules/workflows", "Cline", "steps that may run unasked"),
	BENEATH(".cline", "Cline", "settings, skills and MCP servers"),
	BENEATH(".roo", "Roo Code", "commands, modes and MCP servers"),
	AT(".roomodes", "Roo Code", "modes with tools of their own"),
	IN(".kilocode", "*.json", "Kilo Code", "MCP servers"),
	BENEATH(".kilocode/workflows", "Kilo Code", "steps that may run unasked"),
	BENEATH(".continue", "Continue", "settings, prompts and MCP servers"),
	AT(".continuerc.json", "Continue", "settings"),
	AT(".aider.conf.yml", "Aider", "commands run after every edit"),
	BENEATH(".github/hooks", "Copilot", "Copilot CLI runs these hooks"),
	BENEATH(".github/skills", "Copilot", "skills with scripts"),
	BENEATH(".github/agents", "Copilot", "agents with tools and MCP servers of their own"),
	AT("opencode.json", "opencode", "MCP and language servers, formatters, permissions"),
	AT("opencode.jsonc", "opencode", "MCP and language servers, formatters, permissions"),
	BENEATH(".opencode", "opencode", "plugins, commands, agents and tools"),
	AT("crush.json", "Crush", "MCP and language servers, permissions"),
	AT(".crush.json", "Crush", "MCP and language servers, permissions"),
	BENEATH(".amazonq", "Amazon Q", "agents and MCP servers"),
	BENEATH(".kiro", "Kiro", "hooks, agents and MCP servers"),
	IN(".amp", "*.json", "Amp", "MCP servers and permissions"),
	BENEATH(".amp/plugins", "Amp", "plugins that Amp runs"),
	BENEATH(".config/amp", "Amp", "MCP servers and permissions"),
	BENEATH(".goose/recipes", "goose", "recipes that start programs"),
	BENEATH(".config/goose", "goose", "extensions that goose starts"),
	IN(".copilot", "*.json", "Copilot", "settings, hooks and MCP servers"),
	BENEATH(".copilot/hooks", "Copilot", "scripts that hooks run"),
	BENEATH(".copilot/agents", "Copilot", "agents with tools of their own"),
	BENEATH(".copilot/skills", "Copilot", "skills with scripts"),
	IN(".iflow", "*.json", "iFlow", "settings, hooks and MCP servers"),
	BENEATH(".iflow/hooks", "iFlow", "scripts that hooks run"),
	BENEATH(".iflow/commands", "iFlow", "commands that may run programs when used"),
	BENEATH(".iflow/agents", "iFlow", "agents with tools of their own"),
	BENEATH(".iflow/skills", "iFlow", "skills with scripts"),
	IN(".codebuddy", "*.json", "CodeBuddy", "settings, hooks and MCP servers"),
	BENEATH(".codebuddy/hooks", "CodeBuddy", "scripts that hooks run"),
	BENEATH(".codebuddy/commands", "CodeBuddy", "commands that may run programs when used"),
	BENEATH(".codebuddy/agents", "CodeBuddy", "agents with tools of their own"),
	BENEATH(".codebuddy/skills", "CodeBuddy", "skills with scripts"),
	IN(".qoder", "*.json", "Qoder", "settings, hooks and MCP servers"),
	BENEATH(".qoder/hooks", "Qoder", "scripts that hooks run"),
	BENEATH(".qoder/commands", "Qoder", "commands that may run programs when used"),
	BENEATH(".qoder/agents", "Qoder", "agents with tools of their own"),
	BENEATH(".qoder/skills", "Qoder", "skills with scripts"),
	IN(".kimi", "*.toml", "Kimi", "settings"),
	IN(".kimi", "*.json", "Kimi", "MCP servers"),
	IN(".grok", "*.json", "Grok CLI", "settings and MCP servers"),
	IN(".vibe", "*.toml", "Mistral Vibe", "settings and MCP servers"),
	BENEATH(".vibe/agents", "Mistral Vibe", "agents with tools of their own"),
	BENEATH(".vibe/skills", "Mistral Vibe", "skills with scripts"),
	BENEATH(".vibe/tools", "Mistral Vibe", "tools that Vibe runs"),
	IN(".antigravity", "*.json", "Antigravity", "settings and MCP servers"),
	BENEATH(".agent/workflows", "Antigravity", "steps that may run unasked"),
	BENEATH(".agent/skills", "Antigravity", "skills with scripts"),
	BENEATH(".agents/workflows", "agents", "steps that may run unasked"),
	BENEATH(".agents/commands", "agents", "commands that may run programs when used"),
	/* beside them crush keeps its state */
	BENEATH(".crush/commands", "Crush", "commands that may run programs when used"),
	BENEATH(".crush/skills", "Crush", "skills with scripts"),
	BENEATH(".config/crush", "Crush", "MCP and language servers, permissions"),
	BENEATH(".config/opencode", "opencode", "plugins, commands, agents and tools"),
	BENEATH(".openhands", "OpenHands", "set-up scripts, hooks and microagents"),
	IN(".pi", "*.json", "pi", "settings and packages that pi loads"),
	BENEATH(".pi/extensions", "pi", "extensions that pi runs"),
	BENEATH(".pi/skills", "pi", "skills with scripts"),
	BENEATH(".pi/agent/extensions", "pi", "extensions that pi runs"),
	IN(".pi/agent", "*.json", "pi", "settings and packages that pi loads"),
	AT("codebuff.json", "Codebuff", "commands that Codebuff runs"),
	BENEATH(".factory", "Factory", "hooks, commands, agents and MCP servers"),
	BENEATH(".augment", "Augment", "hooks, commands and agents"),
	IN(".junie/mcp", "*.json", "Junie", "MCP servers"),
	IN(".trae", "*.json", "Trae", "MCP servers"),

	/* package managers: settings that run something before the project's code does */
	AT(".npmrc", "npm", "npm settings can name programs to run"),
	AT(".yarnrc", "yarn", "yarn settings can name programs to run"),
	AT(".yarnrc.yml", "yarn", "yarn settings can name programs to run"),
	IN(".yarn/releases", "*", "yarn", "the yarn that yarn starts"),
	IN(".yarn/plugins", "*", "yarn", "plugins that yarn runs"),
	AT(".pnpmfile.cjs", "pnpm", "pnpm runs it"),
	AT(".pnpmfile.mjs", "pnpm", "pnpm runs it"),
	AT("bunfig.toml", "bun", "scripts that bun loads before any other"),
	AT("pip.conf", "pip", "where pip installs programs from"),
	AT(".cargo/config", "cargo", "programs that cargo runs instead of rustc"),
	AT(".cargo/config.toml", "cargo", "programs that cargo runs instead of rustc"),
	AT("tools/bazel", "bazel", "the bazel that bazel starts"),
	AT(".bazelrc", "bazel", "programs that bazel runs, and servers it asks"),
	AT(".bazeliskrc", "bazelisk", "where bazelisk takes bazel from"),
	AT(".pants.rc", "pants", "programs that pants runs"),
	AT(".config/pip/pip.conf", "pip", "where pip installs programs from"),
	AT("nuget.config", "NuGet", "where NuGet installs programs from"),
	AT(".sbtopts", "sbt", "Java agents that sbt loads"),
	AT(".jvmopts", "sbt", "Java agents that sbt loads"),
	AT(".ripgreprc", "ripgrep", "preprocessors that rg runs"),
	AT(".config/ripgrep/config", "ripgrep", "preprocessors that rg runs"),
	AT(".config/bat/config", "bat", "pagers that bat runs"),
	AT(".lesskey", "less", "commands behind keys of less"),
	AT(".lessfilter", "lesspipe", "less runs it for every file"),
	IN(".mvn", "*", "Maven", "extensions and Java agents that mvn loads"),

	/* ours */
	AT("sandbash.yaml", "sandbash", "zones of this project"),
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
	switch (kind) {
	case SB_GUARD_SAME:
		return NULL;
	case SB_GUARD_GIT_CONFIG:
		return "changes to keys that run nothing";
	case SB_GUARD_GITMODULES:
		return "no command, no remote helper, no option as path or URL";
	case SB_GUARD_GITFILE:
		return "leads into a guarded directory";
	case SB_GUARD_GITDIR:
		return "names a .git in a guarded directory";
	case SB_GUARD_COMMONDIR:
		return "../.. in worktrees/ID";
	case SB_GUARD_REBASE_TODO:
		return "no exec";
	case SB_GUARD_STRATEGY:
	case SB_GUARD_SEQUENCER:
		return "a strategy of git's own";
	case SB_GUARD_ALTERNATES:
		return "only guarded directories";
	case SB_GUARD_TOOL_VERSIONS:
		return "versions, no paths and no templates";
	case SB_GUARD_DOTENV:
		return "assignments of variables that run nothing";
	case SB_GUARD_IGNORE:
		return "new lines that ignore more";
	case SB_GUARD_ANYTHING:
		return "anything";
	case SB_GUARD_GIT_REF:
		return "an id, or a branch whose name no shell expands";
	case SB_GUARD_GIT_IDS:
		return "ids, hexadecimal";
	case SB_GUARD_GIT_NUMBER:
		return "digits";
	case SB_GUARD_GIT_NAMES:
		return "words that no shell expands, no options";
	case SB_GUARD_GIT_PACKED:
		return "ids, and names that no shell expands";
	case SB_GUARD_GIT_QUOTED:
		return "comments, and commands with the rest in quotes";
	case SB_GUARD_GIT_AUTHOR:
		return "the three assignments, quoted";
	case SB_GUARD_GIT_OPTIONS:
	case SB_GUARD_GIT_STRATEGY_OPTIONS:
		return "options that write and run nothing else";
	case SB_GUARD_GIT_RERERE:
		return "ids, and files of the work tree not reached through links";
	case SB_GUARD_GIT_TEXT:
		return "text without control characters";
	case SB_GUARD_INDEX:
		return "entries that git itself would write";
	}
	return NULL;
}
