"""What variables of the caller's name in a project: git's settings, and what programs run or obey."""

from tap import check, contains, equal, run_all, test

EVIL = "[core]\n\tfsmonitor = touch /nowhere; false\n"


@test("P2 a file that GIT_CONFIG_GLOBAL or GIT_CONFIG_SYSTEM names is a git config", variants=("full", "flat"))
def git_settings(fx):
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        for there in (True, False):
            env = {name: f"{fx.project}/gitcfg"}
            if there:
                fx.write(fx.project / "gitcfg", "[user]\n\tname = me\n")
            result = fx.sandbash("--consent=deny", "sh", "-c", f"printf '{EVIL}' >>gitcfg", env=env)
            check("fsmonitor" not in (fx.path("gitcfg").read_text() if fx.exists("gitcfg") else ""), f"{name}: {result.stderr}")
            result = fx.sandbash("--consent=deny", "git", "config", "-f", "gitcfg", "core.pager", "./x", env=env)
            check(result.status != 0, f"{name}: by git")
            equal(fx.sandbash("--consent=deny", "git", "config", "-f", "gitcfg", "color.ui", "auto", env=env).status, 0, "a harmless key")
            contains(fx.path("gitcfg").read_text(), "ui = auto")
            equal(fx.sandbash("--consent=deny", "sh", "-c", f"printf '{EVIL}' >>other; echo >/dev/null", env=env).status, 0, "the neighbour")
            equal(fx.sandbash("--consent=deny", "sh", "-c", f"printf '{EVIL}' >>gitcfg").status, 0, "the control: nobody names it")
            fx.run("rm", "-f", "gitcfg", "other")
    equal(fx.sandbash("--consent=deny", "sh", "-c", "echo x >/dev/null && echo x >a", env={"GIT_CONFIG_GLOBAL": "/dev/null"}).status, 0)


FILES = """BASH_ENV ENV INPUTRC EDITOR VISUAL PAGER MANPAGER BROWSER GIT_EDITOR GIT_PAGER GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS
SSH_ASKPASS SUDO_ASKPASS GIT_EXTERNAL_DIFF LESSOPEN LESSKEYIN RIPGREP_CONFIG_PATH NPM_CONFIG_USERCONFIG PIP_CONFIG_FILE GOENV
KUBECONFIG AWS_CONFIG_FILE PSQLRC HGRCPATH ANSIBLE_CONFIG XINITRC MYVIMRC R_PROFILE_USER STARSHIP_CONFIG WEZTERM_CONFIG_FILE
OPENCODE_CONFIG CLAUDE_ENV_FILE CLAUDE_CODE_SHELL_PREFIX AMP_SETTINGS_FILE PYTHONSTARTUP
RSYNC_RSH SVN_SSH CVS_RSH PS1 RUBYOPT LUA_INIT LUA_INIT_5_4 JAVA_TOOL_OPTIONS GOFLAGS PERL5DB DOTNET_STARTUP_HOOKS OPENSSL_CONF
GTK_MODULES CARGO_BUILD_RUSTC_WRAPPER CABAL_CONFIG MISE_GLOBAL_CONFIG_FILE FZF_DEFAULT_OPTS_FILE
HGMERGE SVN_MERGE P4DIFF BRZ_SSH JJ_CONFIG MERGE DIFFPROG LEFTHOOK_BIN SSH_SK_PROVIDER BORG_PASSCOMMAND ANSIBLE_VAULT_PASSWORD_FILE
NNN_OPENER ALTERNATE_EDITOR TEXEDIT NVIM_RPLUGIN_MANIFEST FZF_DEFAULT_OPTS TAR_OPTIONS ERL_AFLAGS RUSTFLAGS EDITRC IRBRC RUSTC GOCACHEPROG
CCACHE_PREFIX CMAKE_C_COMPILER_LAUNCHER CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER JAVACMD PACMAN APT_CONFIG TASKRC KUBERC
npm_config_script_shell YARN_PLUGINS LUAROCKS_CONFIG AWS_SHARED_CREDENTIALS_FILE VK_ICD_FILENAMES USE_BAZEL_VERSION""".split()
PARTS = {"CARGO_HOME": ("config.toml", "bin/x"), "DOCKER_CONFIG": ("config.json", "cli-plugins/x"), "GOPATH": ("bin/x",),
         "IPYTHONDIR": ("profile_default/startup/x.py",), "PNPM_HOME": ("bin/x",), "BUN_INSTALL": ("bin/x",),
         "VOLTA_HOME": ("bin/x",), "GEM_HOME": ("bin/x",), "GOOSE_PATH_ROOT": ("config/x",), "MYSQL_HOME": ("my.cnf",), "COMPOSER_HOME": ("config.json", "vendor/x"),
         "JULIA_DEPOT_PATH": ("config/startup.jl",), "GOROOT": ("bin/go",), "GRADLE_USER_HOME": ("init.gradle", "init.d/x.gradle"), "PUB_CACHE": ("bin/x",),
         "MAVEN_HOME": ("bin/mvn", "lib/x.jar"), "TASKDATA": ("hooks/x",), "JUPYTER_DATA_DIR": ("kernels/x/kernel.json",), "HELM_DATA_HOME": ("plugins/x",),
         "XDG_CACHE_HOME": ("pre-commit/x", "node/corepack/x", "uv/environments-v2/x", "nvim/luac/x", "guile/x", "p10k-x.zsh"),
         "XDG_DATA_HOME": ("uv/tools/x/bin/x", "nvim/site/x"), "FOUNDRY_DIR": ("bin/x",), "JAVA_HOME": ("bin/java",), "npm_config_prefix": ("etc/npmrc",)}
WHOLE = """GIT_EXEC_PATH GIT_TEMPLATE_DIR ZDOTDIR ZSH ZSH_CUSTOM OSH BASH_IT NVM_DIR PYENV_ROOT RBENV_ROOT SDKMAN_DIR RUSTUP_HOME
JUPYTER_CONFIG_DIR DIRENV_CONFIG MISE_CONFIG_DIR KITTY_CONFIG_DIRECTORY PRE_COMMIT_HOME CURSOR_CONFIG_DIR QWEN_HOME
KIMI_SHARE_DIR KIMI_CODE_HOME GROK_HOME OPENCLAW_STATE_DIR CONTINUE_GLOBAL_DIR CLINE_DIR CLINE_DATA_DIR CRUSH_GLOBAL_CONFIG CRUSH_GLOBAL_DATA
HERMES_HOME VIBE_HOME UV_TOOL_DIR PIPX_HOME COREPACK_HOME GOBIN GH_CONFIG_DIR HELM_PLUGINS FPATH ASDF_DIR DOTNET_ROOT VIMRUNTIME GCONV_PATH PHP_INI_SCAN_DIR
DOOMDIR XDG_BIN_HOME TMUX_PLUGIN_MANAGER_PATH PYENV_HOOK_PATH NODENV_ROOT TFENV_ROOT PERLBREW_ROOT VALGRIND_LIB GTK_PATH MAGICK_CODER_MODULE_PATH""".split()


def named(place):
    """Variables, and the files in place that they have somebody obey."""
    env = {name: f"{place}/{name}" for name in (*FILES, *PARTS, *WHOLE)}
    files = [*FILES, *(f"{name}/{part}" for name, parts in PARTS.items() for part in parts), *(f"{name}/hooks/x" for name in WHOLE)]
    env.update({"LESSOPEN": f"|{place}/LESSOPEN %s", "EDITOR": f"vim -u {place}/EDITOR", "KUBECONFIG": f"{place}/a:{place}/KUBECONFIG",
                "RUBYOPT": f"-W0 -I{place}/lib -r{place}/RUBYOPT", "LUA_INIT": f"@{place}/LUA_INIT", "PS1": f"$({place}/PS1) > ",
                "LUA_INIT_5_4": f"@{place}/LUA_INIT_5_4", "GOFLAGS": f"-mod=mod -toolexec={place}/GOFLAGS", "FPATH": f"/opt/x:{place}/FPATH",
                "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={place}/tmp -javaagent:{place}/JAVA_TOOL_OPTIONS=a,b",
                "PERL5DB": f"BEGIN {{ require '{place}/PERL5DB' }}", "FZF_DEFAULT_OPTS": f"--height 40% --preview '{place}/FZF_DEFAULT_OPTS {{}}'",
                "TAR_OPTIONS": f"--exclude-from={place}/plain --to-command={place}/TAR_OPTIONS", "RUSTFLAGS": f"-L {place}/lib -C linker={place}/RUSTFLAGS",
                "ERL_AFLAGS": f"-pa {place}/lib -config {place}/ERL_AFLAGS", "GST_PLUGIN_PATH": f"{place}/lib", "EMACSLOADPATH": f"{place}/src", "PYTHONPATH": f"{place}/src", "PERL5LIB": f"{place}/lib",
                "VISUAL": f"{place}/my editor", "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "core.hooksPath",
                "GIT_CONFIG_VALUE_0": f"{place}/hooks", "GIT_CONFIG_KEY_1": "safe.directory", "GIT_CONFIG_VALUE_1": f"{place}/safe"})
    return env, [*(name for name in files if name != "VISUAL"), "my editor", "a", "hooks/pre-commit"]


def script(place, files):
    return "\n".join(f"mkdir -p '{place}/{name}' && rmdir '{place}/{name}'; echo x >'{place}/{name}'" for name in files) + "\ntrue"


NEIGHBOURS = ["plain", "CARGO_HOME/registry/x", "DOCKER_CONFIG/buildx/x", "IPYTHONDIR/profile_default/history.sqlite", "safe/x", "EDITOR2",
              "src/x.py", "lib/x.pm", "tmp/x", "COMPOSER_HOME/cache/x", "GOROOT/src/x.go", "GRADLE_USER_HOME/caches/x", "XDG_CACHE_HOME/pip/x", "XDG_DATA_HOME/x", "XDG_CACHE_HOME/uv/wheels-v5/x", "MAVEN_HOME/x", "TASKDATA/pending.data", "JULIA_DEPOT_PATH/packages/x.jl"]


@test("P2 a file or directory of a project that a variable has programs run or obey asks", variants=("full", "flat"))
def in_a_project(fx):
    env, files = named(fx.project)
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script(fx.project, files + NEIGHBOURS), env=env)
    for name in files:
        check(not fx.path(name).is_file(), f"{name}: {result.stderr}")
    for name in NEIGHBOURS:
        check(fx.path(name).is_file(), f"the neighbour {name}: {result.stderr}")
    fx.run("sh", "-c", "rm -rf ./*")
    fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script(fx.project, files))
    for name in files:
        check(fx.path(name).is_file(), f"the control {name}")


@test("P2 so does one elsewhere, under whatever opens the place around it", variants=("full", "flat"))
def elsewhere(fx):
    place = fx.home / "tools"
    env, files = named(place)
    for flag in (f"--grant={place}", f"--allow-write={place}"):
        fx.run("mkdir", place)
        result = fx.sandbash("--consent=deny", "--quiet", flag, "sh", "-c", script(place, files + NEIGHBOURS), env=env)
        for name in files:
            check(not (place / name).is_file(), f"{flag} {name}: {result.stderr}")
        for name in NEIGHBOURS:
            check((place / name).is_file(), f"{flag}: the neighbour {name}: {result.stderr}")
        fx.run("rm", "-rf", place)
        fx.run("mkdir", place)
        fx.sandbash("--consent=deny", "--quiet", flag, "sh", "-c", script(place, files))
        for name in files:
            check((place / name).is_file(), f"{flag}: the control {name}")
        fx.run("rm", "-rf", place)


HOMES = {"XDG_CONFIG_HOME": ("fish/config.fish", "other/x"), "XDG_DATA_HOME": ("uv/tools/x/y", "uv/x"), "XDG_CACHE_HOME": ("guile/x.go", "pip/x"),
         "XDG_STATE_HOME": ("nvim/sessions/x", "nvim/shada/x")}


@test("P2 names of ~/.config, ~/.local/share, ~/.cache and ~/.local/state are guarded where variables put them", variants=("full", "flat"))
def homes(fx):
    for name, (guarded, plain) in HOMES.items():
        place = fx.home / "moved" / name
        (place / guarded).parent.mkdir(parents=True)
        (place / plain).parent.mkdir(parents=True, exist_ok=True)
        words = ("sh", "-c", f"echo x >{place}/{guarded}; echo x >{place}/{plain}")
        flag = f"--allow-write={place}" if name in ("XDG_DATA_HOME", "XDG_CACHE_HOME") else f"--allow-write={(place / plain).parent}"
        result = fx.sandbash("--consent=deny", "--quiet", flag, *words, env={name: str(place)})
        check(not (place / guarded).exists(), f"{name}: {result.stderr}")
        check((place / plain).exists(), f"{name}, the neighbour: {result.stderr}")
        works = fx.sandbash("--consent=deny", "--quiet", f"--allow-write={(place / guarded).parent}", *words, env={name: str(place)})
        check((place / guarded).exists(), f"{name}: a rule that names it opens it: {works.stderr}")
        (place / guarded).unlink()
        fx.run(*words)
        check((place / guarded).exists(), f"the control {name}")


@test("one that would close the project is passed over, and one that is no whole path")
def around(fx):
    for value in (str(fx.project), str(fx.home), "bin", "", "/", "//", "/dev/null", "~/x", "-"):
        for name in ("ZDOTDIR", "EDITOR", "BASH_ENV", "CARGO_HOME", "QWEN_HOME"):
            equal(fx.sandbash("--consent=deny", "sh", "-c", "echo x >a && echo x >/dev/null", env={name: value}).status, 0, f"{name}={value}")


run_all()
