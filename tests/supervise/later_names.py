"""P2: names of the table beyond git's, with the tool that obeys them: asked about, and the state that
the same tools write all day is not."""

from attack import works
from tap import check, equal, lacks, run_all, test

WRITE = 'for f; do mkdir -p "$(dirname "$f")"; echo x >"$f"; done; true'

GUARDED = (
    ".gutctags", "x.kdev4", ".kdev4/x.kdev4", ".buildconfig", ".idx/dev.nix", ".idx/mcp.json", "wp-cli.yml", "wp-cli.local.yml", ".opencode.json",
    ".mcphub/servers.json", "mise/config.local.toml", "mise/config.dev.toml", "mise/conf.d/x.toml", ".rtx.toml", ".miserc.toml", "ldaprc",
    ".terraform/plugin_path", ".cargo-husky/hooks/pre-push", "sub/.cargo-husky/hooks/pre-commit", ".husky/hooks/pre-commit",
    ".lazygit.yml", ".config/lazygit/config.yml", ".jj/workspace-config.toml", ".jjconfig.toml",
    ".tigrc", "jupyter_server_config.py", "sub/jupyter_notebook_config.json",
    ".jupyter/jupyter_lab_config.py", ".ipython/profile_default/startup/00.py", "latexmkrc",
    "paper/.latexmkrc", "rust-analyzer.toml", ".rust-analyzer.toml", ".bazelrc", ".bazeliskrc",
    "tools/bazel", ".vscode/extensions/x/package.json", ".externalToolBuilders/x.launch",
    ".flox/env/manifest.toml", "devbox.json", ".goose/recipes/x.yaml", ".copilot/mcp-config.json",
    ".iflow/settings.json", ".qoder/hooks/x.sh", ".vibe/config.toml", ".crush/commands/x.md",
    ".pi/extensions/x.ts", ".agents/commands/x.md", ".openhands/setup.sh", ".amp/plugins/x.ts",
    ".config/i3/config", "dot/.config/sway/config", ".config/hypr/hyprland.conf",
    ".config/kitty/kitty.conf", ".wezterm.lua", ".config/tmux/tmux.conf", "starship.toml",
    ".config/nushell/config.nu", ".xonshrc", ".p10k.zsh", ".direnvrc", ".config/emacs/init.el",
    ".doom.d/config.el", ".xsession", ".octaverc", ".lessfilter", ".env.leave", ".env.local",
    ".direnv/flake-profile-1.rc", ".direnv/bin/nix-direnv-reload", "hk.pkl", ".lintstagedrc.mjs",
    "sub/lint-staged.config.js", "lefthook.jsonc", ".huskyrc.json", ".hgrc", ".gradle/init.d/x.gradle",
    ".emacs.elc", ".bash_completion", ".forward", "hie.yaml", ".kiro/hooks/x.json", ".aws/config",
    ".docker/cli-plugins/docker-x", ".github/copilot/settings.json", ".claude/scripts/x",
    "bin/activate-hermit", ".shadowenv.d/500.lisp", ".local/share/dbus-1/services/x.service",
    ".sl/sharedpath", "_darcs/prefs/prefs", ".fossil-settings/tcl-setup", ".repo/repo/main.py", ".zimrc", ".zim/init.zsh",
    ".zinit/bin/zinit.zsh", ".zplug/init.zsh", ".antigen/antigen.zsh", ".local/share/zinit/plugins/x", ".lazy.lua",
    ".local.vimrc", "_vimrc_local.vim", ".lite_project.lua", ".ctags", ".ctags.d/x.ctags", ".mc.menu", ".RData", "sub/nano-staged.json",
    ".nano-staged.json", ".ropeproject/config.py", ".jedi/project.json", "sub/.jedi/project.json", ".hie-bios", ".agents/x.ts", ".agents/a/x.ts", ".agents/a/b/x.ts", ".agents/a/x.mjs",
    "gptme.toml", "gptme.local.toml", ".beads/hooks/on_create", ".versions.conf", ".ruby-env", ".nodenv-vars", ".tern-project",
    "conductor.json", ".superset/config.json", ".workmux.yaml", "jupyter_nbconvert_config.py", "jupyter_config.json",
    ".ipython/profile_x/startup/a.py", ".ipython/profile_default/ipython_config.json", ".rvm/scripts/rvm", ".asdf/asdf.sh",
    ".asdf/shims/node", ".volta/bin/node", ".nvm/versions/node/v22/bin/node", ".mkshrc", ".xinputrc", ".asoundrc",
    ".config/pipewire/pipewire.conf", ".task/hooks/on-add", ".mongorc.js", ".reviewboardrc", ".arcconfig", ".chef/knife.rb",
    ".local/share/thumbnailers/x.thumbnailer", ".config/nixpkgs/config.nix", ".sbt/1.0/plugins/x.sbt", ".vagrant.d/Vagrantfile",
    ".local/share/nvim/lazy/x/plugin/x.lua", ".newsboat/config", ".mailrc", ".gnus.el", "auto/main.el", "paper/auto/main.elc", "style/foo.el", "yt-dlp.conf", ".yt-dlp/config",
    ".config/yt-dlp.conf", ".spiceinit", "spice.rc", "spinit", ".pylintrc", "pylintrc", "pylintrc.toml", ".gitlint", "ansible.cfg", "_MTN/monotonerc", ".groovy/lib/x.jar", ".config/neofetch/config.conf",
    "CVS/Root", ".svn/wc.db", "sub/.fslckout", "_FOSSIL_", ".huskyrc.yaml", ".huskyrc.cjs", "husky.config.cjs", ".nanostagedrc", "nano-staged.mjs",
    ".ugrep", "startup.m", "PKG_ADD", "maxima-init.mac", ".gambini", ".csirc", ".singularrc", ".magicrc", ".fxrc.js", "xschemrc", "_opam/.opam-switch/environment", ".config/visidata/config.py",
    ".config/aria2/aria2.conf", ".config/beets/config.yaml", ".conkyrc", ".calcurse/hooks/pre-load",
    ".npm/_npx/0123456789abcdef/node_modules/x/cli.js", ".vilerc", ".phpdbginit", ".luacheckrc", ".lintr", "rootlogon.C", "sub/scilab.ini", "app.pro.user",
    "x.geany", "ipython_config.json", ".solargraph.yml", ".cache/pre-commit/x/hook", ".cache/node/corepack/v1/npm/x.js", ".local/share/uv/tools/x/bin/x",
    ".pyenv/versions/3.13/bin/python", ".rbenv/plugins/x/bin/x", ".local/share/nvim/mason/bin/x", ".lftprc", ".R/Makevars", ".byobu/statusrc",
    ".vilerc", "sub/.phpdbginit", ".luacheckrc", ".lintr", "rootlogon.C", ".rootrc", "scilab.ini", ".cdsinit", ".synopsys_dc.setup", "gafrc",
    ".tflint.d/plugins/x", ".pdm-plugins/lib/x.py", "codesettings.json", ".nlsp-settings/x.json", ".solargraph.yml", "x.pro.user",
    "CMakeLists.txt.user", "x.geany", "ipython_config.json", "jupyter_console_config.json", ".phpbrewrc", ".tfswitch.toml", ".zk/config.toml",
    ".npm/_npx/1/node_modules/.bin/x", ".cache/pre-commit/x/y", ".local/share/uv/tools/x/bin/x", ".pyenv/versions/3/bin/python", ".condarc",
    ".tmux-sessionizer", "sub/x.run.xml", "tmux-sessionizer.conf", "Session.vim", "sub/Sessionx.vim", ".session.vim", ".vimsession", ".nvim/session/x", ".cs_workspaces",
    ".yarn/plugins/@yarnpkg/plugin-x.cjs", ".yarn/plugins/x.cjs", ".yarn/releases/yarn-4.cjs", ".chef/plugins/knife/x.rb", ".sbt/1.0/plugins/x.scala",
    ".sbt/1.0/plugins/project/x.sbt", ".jupyter/custom/custom.js", ".jupyter/nbconfig/notebook.json", ".ipython/extensions/x.py", "fpc.cfg", ".fpc.cfg",
    "dmd.conf", "ldc2.conf", ".jdbrc", "sub/jdb.ini", ".lldbinit-lldb", ".radare2rc", ".gef.rc", ".dbxrc", "finish.m", "profile.do", "autoexec.sas", ".guile",
    ".scheme.init", ".racketrc", ".swiplrc", ".gforthrc", ".clisprc.lisp", ".editrc", "clickhouse-client.xml", ".sbt/boot/x.jar", ".cache/bazelisk/x/bazel",
    ".cache/guile/ccache/x.scm.go", ".cache/common-lisp/x.fasl", ".cache/ms-playwright/x/chrome", ".nuget/plugins/x", ".local/state/nvim/sessions/x.vim",
    ".tfenv/versions/1/terraform", ".plenv/shims/perl", ".local/share/JetBrains/x/plugins/y.jar", ".cache/zsh/zcompdump", ".cache/zcompdump-x",
    ".R/Makevars", ".byobu/statusrc", ".local/share/konsole/x.profile", ".config/broot/conf.hjson", ".config/blender/4.2/scripts/startup/x.py",
    ".local/share/fnm/aliases/default/bin/node", ".volta/tools/image/node/22/bin/node", ".dotnet/dotnet", ".dotnet/sdk/9/dotnet.dll",
    ".tfenv/versions/1/terraform", ".tofuenv/versions/1/tofu", ".proto/shims/node", ".proto/bin/node", ".rye/shims/python", ".rye/env", ".elan/bin/lean", ".elan/env",
    ".cabal/bin/x", ".yarn/bin/x", ".pixi/bin/x", ".antrc", ".ant/lib/x.jar", ".devscripts", ".quiltrc", ".pbuilderrc", ".sbuildrc", ".dput.cf", "sub/.gbp.conf",
    ".spacemacs.d/init.el", ".config/nano/nanorc", ".local/share/vulkan/implicit_layer.d/x.json", ".config/gtk-3.0/settings.ini", ".gtkrc-2.0",
    ".local/share/direnv/allow/x", ".czrc", "sub/.cz.json",
)
PLAIN = (
    ".gradle/caches/x", ".volta/cache/x", ".dotnet/x", ".proto/cache/x", ".rye/x", ".elan/x", ".cabal/packages/x", ".yarn/cache/x", ".pixi/envs/default/bin/x",
    ".ant/x", ".config/nano/x", ".config/gtk-3.0/bookmarks", ".local/share/direnv/x", "antrc", "quiltrc", "debian/gbp", "cz.md",
    "x.kdev4.md", ".idx/x.md", "wp-cli.md", ".mcphub/x", "mise/tasks.md", "mise/conf.d/x.md", ".terraform/modules/modules.json", ".cargo-husky/README.md", ".husky/docs/x.md",
    ".npm/_cacache/x", ".cache/uv/archive-v0/x", ".local/share/pnpm/store/v10/x", "global.json", "main.C", ".pyenv/cache/x", "x.user",
    ".crush/crush.db", ".crush/logs/crush.log", ".flox/cache/x", ".flox/run/x", ".goose/memory/x.txt",
    ".jupyter/lab/workspaces/x.jupyterlab-workspace", ".ipython/profile_default/history.sqlite",
    ".copilot/session-state/x.json", ".vibe/logs/x", ".openhandsx", ".env.staging", ".env.example",
    ".env.d/x", "lazygit.txt", "bazel.txt", "src/latexmk.c", "conftest.py", "BUILD.bazel",
    "WORKSPACE", "tools/bazelisk", ".editorconfig", ".config/other/x", "node_modules/x/index.js",
    ".venv/bin/activate", ".pytest_cache/x", "target/debug/x", ".gradle/x", ".next/x",
    ".direnv/python-3.12/bin/pip", ".direnv/python-3.12/lib/x.pth", ".direnv/flake-profile",
    ".venv/lib/python3.12/site-packages/distutils-precedence.pth", "tests/sitecustomize.py",
    ".devbox/gen/scripts/x.sh", ".bsp/sbt.json", ".kiro/specs/a/tasks.md", ".kiro/steering/tech.md",
    "bin/hermit", ".gradle/8.5/fileHashes/x", ".github/workflows/x.yml", "lint-staged.md",
    "commitlint.config.js", ".docker/Dockerfile", ".aws/task-definition.json",
    ".gclient_entries", ".ddev/config.yaml", "tags", ".repo/manifests/default.xml",
    ".fossil-settings/ignore-glob", "_darcs/prefs/boring", "data.RData", "nano-staged.md",
    "src/x.ts", ".agents/notes.md", ".agents/x.txt", ".beads/issues.jsonl", ".beads/beads.db", ".ropeproject/globalnames", ".jedi/x", "project.json", "jupyter_utils.py",
    ".ipython/profile_default/db/x", "conductor.yaml", ".superset/state.db", ".groovy/grapes/x.jar", ".vagrant/machines/x",
    ".chef/cache/x.json", ".chef/config.json.md", ".yarn/cache/x.zip", ".yarn/install-state.gz", ".yarn/unplugged/x/y.js", "tmux.md", "x.run.md", "Session.md", "x.vim",
    ".jupyter/lab/workspaces/y", "fpc.md", "x.cfg", "dmd.md", "jdb.md", "finish.py", "profile.md", ".m2/wrapper/x", ".gradle/wrapper/x", ".gradle/jdks/x",
    ".m2/repository/x.jar", ".cache/coursier/v1/x.jar", ".cache/go-build/x", ".nuget/packages/x", ".dotnet/x", ".version", ".subversion.md",
    ".sbt/boot/sbt.boot.lock", "quicklisp/x", "Vagrantfile", "gptme.md", ".nvm/alias/default", "auto/main.tex", "style/foo.sty", "style/main.css", "yt-dlp.md", "x.spice", "setup.cfg", "pyproject.toml",
    "ansible.md", "gitlint.md", "auto/el/x", "series", "patches/a.patch", ".hg/dirstate", "_MTN/log", ".task/pending.data",
    "CVS/Entries", ".svn/entries", ".svn/tmp/x", "startup.py", "ugrep.txt", "_opam/lib/x.cma", "_opam/.opam-switch/packages/x", "maxima.mac",
    ".calcurse/todo",
    "vilerc", "root.C", "x.C", "scilab.sce", "lintr.R", "global.json", "CMakeLists.txt", "x.user", "x.pro", ".tflint.hcl", ".pdm-python", ".pdm-build/x",
    ".npm/_cacache/x", ".npm/_logs/x", ".cache/uv/wheels-v5/x", ".local/share/uv/credentials.md", ".zk/notebook.db",
    ".asdf/downloads/x", ".local/share/pnpm/store/v10/x", ".bun/install/cache/x", ".terraform/providers/x", "console_config.json",
)


@test("P2 what other tools run or obey is asked about, and so refused here", variants=("full", "flat"))
def guarded(fx):
    result = fx.sandbash("--consent=deny", "sh", "-c", WRITE, "-", *GUARDED)
    equal(result.status, 0)
    for name in GUARDED:
        check(not fx.exists(name), f"{name} was planted")
    works(fx.run("sh", "-c", WRITE, "-", *GUARDED), "control")
    for name in GUARDED:
        equal(fx.read(name), "x\n", f"control {name}")


OPTIONS = ("--checkpoint=1", "--checkpoint-action=exec=sh evil.sh tar", "+!sh evil.sh vim", "-oProxyCommand=sh evil.sh scp",
           "-e sh evil.sh rsync", "-Sevil.vim", "-Fconfig", "+make", "+so.x", "-cmake", "sub/--exec=x")
WORDS = ("-", "-n", "-rf", "--help", "a--b", "-components", "-posts.tsx", "+page.svelte", "+types", "+not-found.tsx", "(group)", "c++", "sub/-utils.ts")
WAYS = {"a file": 'echo x >"./$f"', "a directory": 'mkdir "./$f"', "a link": 'ln -s evil.sh "./$f"',
        "another name": 'cp evil.sh tmp; mv ./tmp "./$f" || { rm tmp; false; }',
        "a directory's name": 'mkdir tmp.d; mv ./tmp.d "./$f" || { rmdir tmp.d; false; }'}


@test("P2 names that programs called with * take for an option ask, by every way to get one", variants=("full", "flat"))
def options(fx):
    fx.write("evil.sh", "touch ran\n")
    fx.write("sub/file", "")
    for label, way in WAYS.items():
        script = f'for f; do if {way} 2>/dev/null; then printf "%s\\n" "$f"; fi; done'
        box = fx.sandbash("--consent=deny", "sh", "-c", script, "-", *OPTIONS, *WORDS)
        equal(box.stdout.splitlines(), list(WORDS), f"{label}: {box.stderr}")
        works(fx.run("sh", "-c", 'for f; do rm -r -- "$f"; done', "-", *WORDS), label)
        equal(fx.run("sh", "-c", script, "-", *OPTIONS).stdout.splitlines(), list(OPTIONS), f"control {label}")
        works(fx.run("sh", "-c", 'for f; do rm -r -- "$f"; done', "-", *OPTIONS), label)
    works(fx.run("sh", "-c", 'for f; do : >"$f"; done; tar cf ../x.tar * && test -e ran', "-", *OPTIONS[:2]),
          "control: tar runs what such a name says")


@test("P2 the names that bun reads: plain values land, what programs would obey asks", variants=("full", "flat"))
def env_files(fx):
    plain, obeyed = "API_URL=http://localhost:3000\n", "NODE_OPTIONS=--require=./x.js\n"
    names = [f".env.{mode}{local}" for mode in ("development", "production", "test") for local in ("", ".local")] + [".env.local"]
    for text, kept in ((plain, plain), (obeyed, plain)):
        fx.sandbash("--consent=deny", "sh", "-c", 'text=$1; shift; for name; do printf "%s" "$text" >"$name"; done', "-", text, *names)
        for name in names:
            equal(fx.read(name), kept, name)
    works(fx.run("sh", "-c", 'printf "%s" "$1" >"$2"', "-", obeyed, names[0]), "control")
    equal(fx.read(names[0]), obeyed)


@test("P2 neither by rename, nor by a prepared directory, nor by a link", variants=("full", "flat"))
def other_ways(fx):
    script = """echo x >a && mv a .bazelrc; mkdir -p d/i3 && echo x >d/i3/config && mv d .config
                mkdir -p e && echo x >e/x.sh && mkdir -p .qoder && mv e .qoder/hooks
                ln -s plain latexmkrc; ln -s elsewhere .doom.d; mkfifo .xonshrc; true"""
    fx.sandbash("--consent=deny", "sh", "-c", script)
    for name in (".bazelrc", ".config/i3/config", ".qoder/hooks/x.sh", "latexmkrc", ".doom.d",
                 ".xonshrc"):
        check(not fx.path(name).is_symlink() and not fx.exists(name), f"{name} was planted")
    fx.run("sh", "-c", "rm -rf * .qoder")
    works(fx.run("sh", "-c", script), "control")
    check(fx.exists(".config/i3/config") and fx.path("latexmkrc").is_symlink())


# what opens it, what a runner or a manager of programs starts, what builds write beside it
RUNNERS = ((".npm", "_npx/0/node_modules/x/x.js", "_cacache/x"), (".cache", "pre-commit/r/x", "pip/x"), (".cache", "node/corepack/v1/x", "node-gyp/x"),
           (".cache", "pnpm/dlx/x/y", "pnpm/metadata/x"), (".cache/uv", "environments-v2/x/bin/x", "archive-v0/x/y"), (".cache", "deno/npm/x", "go-build/x"),
           (".local/share", "uv/tools/x/bin/x", "x/y"), (".local/share", "pipx/venvs/x/bin/x", "x/y"), (".local/share/pnpm", "x", "store/v10/x"),
           (".local/share/nvim", "mason/bin/x", "shada/x"), (".pyenv", "versions/3/bin/x", "cache/x"), (".rbenv", "plugins/x/y", "cache/x"),
           (".asdf", "installs/x/y", "tmp/x"), (".bun", "install/global/x", "install/cache/x"), (".gem", "ruby/3.3.0/bin/x", "specs/x"),
           (".m2", "wrapper/dists/x/bin/mvn", "repository/x"),
           (".gradle", "wrapper/dists/x/bin/gradle", "caches/x"), (".cache", "guile/ccache/x.go", "pip/y"), (".cache", "bazelisk/x", "bazel/x"),
           (".cache", "ms-playwright/x/chrome", "mypy/x"), (".local/state", "nvim/sessions/x", "nvim/shada/x"), (".dotnet", "sdk/x", "x"),
           (".volta", "tools/x", "log/x"), (".cache", "coursier/jvm/x", "coursier/v1/x"), (".composer", "vendor/bin/x", "cache/x"), (".foundry", "bin/x", "cache/x"), (".mix", "archives/x", "x"))


@test("P2 a rule for a cache does not cover the programs in it that a runner starts; one that names them does", variants=("full", "flat"))
def runners(fx):
    for place, program, package in RUNNERS:
        top = fx.home / place
        top.mkdir(parents=True, exist_ok=True)
        fx.sandbash("--consent=deny", "--quiet", f"--allow-write={top}", "sh", "-c", WRITE, "-", top / program, top / package)
        check(not (top / program).exists(), f"{place}/{program} was planted")
        equal((top / package).read_text(), "x\n", f"the neighbour {place}/{package}")
        inside = top / program.split("/")[0] if program.count("/") > 1 else None
        if inside and place in (".npm", ".pyenv", ".local/share/nvim"):
            inside.mkdir(exist_ok=True)
            works(fx.sandbash("--consent=deny", f"--allow-write={inside}", "sh", "-c", WRITE, "-", top / program))
            equal((top / program).read_text(), "x\n", f"opened by its name: {place}/{program}")


@test("P2 state that the same tools write all day is not asked about", variants=("full", "flat"))
def plain(fx):
    result = fx.sandbash("--consent=deny", "sh", "-c", WRITE, "-", *PLAIN)
    equal(result.status, 0)
    lacks(result.stderr, "refused")
    for name in PLAIN:
        equal(fx.read(name), "x\n", name)


LFS = "git config -f .lfsconfig {}"
LFS_ASKED = ("lfs.standalonetransferagent x", "lfs.customtransfer.x.path ./x", "lfs.extension.x.clean ./x",
             "core.sshCommand ./x", "lfs.url file:///srv/x", "lfs.url ext::x", "lfs.url ssh://-oProxyCommand=x/y")
LFS_LANDS = ("lfs.locksverify true", "lfs.fetchexclude '*.bin'", "lfs.https://example.org/x.access basic")


@test("P2 .lfsconfig: what would run something, or keep files on this machine, is refused; a server is told",
      variants=("full", "flat"))
def lfsconfig(fx):
    for setting in (*LFS_ASKED, *LFS_LANDS, "lfs.url https://example.org/y", "remote.origin.lfsurl https://example.org/z"):
        works(fx.run("sh", "-c", LFS.format(setting)), f"control {setting}")
        fx.path(".lfsconfig").unlink()
        result = fx.sandbash("--consent=deny", "sh", "-c", LFS.format(setting))
        equal(fx.exists(".lfsconfig"), setting not in LFS_ASKED, f"{setting}: {result.stderr}")
        equal("now says" in result.stderr, "example.org" in setting and "url" in setting, f"{setting}: {result.stderr}")
        fx.path(".lfsconfig").unlink(missing_ok=True)


DANGEROUS = ("A=$(id)", "A=b id", "id", "PATH=bin", "export LD_PRELOAD=./x.so", "A=`id`", "A='x", "A=b;id",
             "CODEX_HOME=.x", "C=${A}/x", "A= ", "# `id`", "A='b PATH=bin'")
HARMLESS = ("A=1", "export B='a b'", "URL=https://h/x?y=z", "# note", "")


@test("P2 .env: plain assignments land, more asks", variants=("full", "flat"))
def dotenv(fx):
    for line in DANGEROUS:
        fx.write(".env", "OLD=1\n")
        fx.sandbash("--consent=deny", "sh", "-c", 'printf "%s\\n" "$1" >>.env', "-", line)
        equal(fx.read(".env"), "OLD=1\n", line)
        fx.sandbash("--consent=deny", "sh", "-c", 'printf "%s\\n" "$1" >new; mv new .env', "-", line)
        equal(fx.read(".env"), "OLD=1\n", f"{line} by rename")
        works(fx.run("sh", "-c", 'printf "%s\\n" "$1" >>.env', "-", line), "control")
        equal(fx.read(".env"), f"OLD=1\n{line}\n", "control")
    fx.write(".env", "OLD=$(from before)\nX=${OLD}\n")
    for line in HARMLESS:
        works(fx.sandbash("--consent=deny", "sh", "-c", 'printf "%s\\n" "$1" >>.env', "-", line))
    equal(fx.read(".env"), "OLD=$(from before)\nX=${OLD}\n" + "".join(f"{line}\n" for line in HARMLESS))
    works(fx.sandbash("--consent=deny", "sh", "-c", "rm .env && mkdir .env && echo x >.env/pyvenv.cfg"),
          "a directory of that name")


VERSIONS = {".python-version": "3.12.1\n3.11", ".ruby-version": "ruby-3.3.0", ".nvmrc": "lts/iron", ".node-version": "v22.1.0",
            ".sdkmanrc": "# of sdk env\njava=21.0.2-tem", ".tool-versions": "nodejs 22.1.0\nruby ref:main", ".java-version": "21",
            ".bazelversion": "7.4.1", ".tfswitchrc": "1.9.0", ".tgswitchrc": "0.55.1", ".dvmrc": "1.46.3", ".zigversion": "0.13.0",
            **dict.fromkeys((f".{tool}-version" for tool in ("opentofu", "swift", "crystal", "exenv", "scala", "julia", "terragrunt", "packer", "other")),
                            "1.2.3\nsystem\nlatest\nlatest:^1.6")}


@test("P2 which version of a tool is run: a version lands, a path, an option and what a prompt obeys ask", variants=("full", "flat"))
def versions(fx):
    write = 'printf "%s\\n" "$2" >"$1"'
    for name, version in VERSIONS.items():
        for path in ("../../project/evil", "java=../x", "..", f"{version}\n/opt/x", f"{version}$(id)", "-oX", f"{version}\033[8m"):
            fx.sandbash("--consent=deny", "--quiet", "sh", "-c", write, "-", name, path)
            check(not fx.exists(name), f"{name}: {path}")
        works(fx.sandbash("--consent=deny", "sh", "-c", write, "-", name, version))
        equal(fx.read(name), f"{version}\n")
        works(fx.run("sh", "-c", write, "-", name, "../x"), "control")
        equal(fx.read(name), "../x\n", "control")


MANY = """import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
refused = 0
for number in range(100):
    try:
        with open(".env", "w") as file:
            file.write(f"A={number}; id\\n")
    except PermissionError:
        refused += 1
with open(".env", "w") as file:
    file.write("B=1\\n")
print(refused, open(".env").read(), len(os.listdir("/proc/self/fd")) < 20)
"""


@test("P2 .env: refused a hundred times in one process, what is harmless still lands", variants=("full", "flat"))
def refused_often(fx):
    equal(fx.sandbash("--consent=deny", "python3", "-c", MANY).stdout, "100 B=1\n True\n")
    equal(fx.run("python3", "-c", MANY).stdout, "0 B=1\n True\n", "control")


run_all()
