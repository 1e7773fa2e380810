"""Tools that are found by what is in the project: caches of its own, and nothing that is run outside."""

import json
import os
import shutil

from tap import check, contains, equal, lacks, run_all, skip, test

BOTH = ("full", "flat")
FLAGS = ([], ["--static"])
VARIABLES = {  # by the file that a project has
    "package.json": ["npm_config_cache", "npm_package_config_node_gyp_devdir"],
    "pnpm-lock.yaml": ["npm_config_store_dir", "pnpm_config_cache_dir"],
    "yarn.lock": ["YARN_GLOBAL_FOLDER", "npm_config_preferred_cache_folder"],
    "requirements.txt": ["PIP_CACHE_DIR", "UV_CACHE_DIR"],
    "Cargo.toml": ["CARGO_HOME"],
    "go.mod": ["GOCACHE", "GOMODCACHE"],
    "settings.gradle.kts": ["GRADLE_USER_HOME"],
    "pom.xml": ["MAVEN_USER_HOME"],
}
USUAL = [".npm", ".cache/pip", ".cargo/registry", ".cache/go-build", "go/pkg/mod", ".gradle", ".m2/repository"]
USE = 'for name; do eval "at=\\$$name"; mkdir -p "$at" && : > "$at/x" && echo "$at"; done'


def run(fx, *words, **where):
    return fx.sandbash("--consent=deny", *words, **where)


def use(fx, names, *flags, **where):
    """A shell that writes to what the variables name: where it could."""
    return run(fx, *flags, "sh", "-c", USE, "sh", *names, **where)


def caches(fx):
    return fx.home / ".cache/sandbash-caches/projects"


def fake(fx, name, script, where="bin"):
    return fx.write(fx.home / where / name, "#!/bin/sh\n" + script, mode=0o755)


@test("npm works at the first try, with an empty home")
def npm(fx):
    if not shutil.which("npm", path=fx.env()["PATH"]):
        skip("no npm")
    fx.write(fx.outside / "dep/package.json", '{"name": "dep", "version": "1.0.0"}')
    fx.write(fx.outside / "dep/index.js", 'module.exports = "used"')
    packed = fx.run("npm", "pack", "--pack-destination", fx.project, cwd=fx.outside / "dep",
                    env={"npm_config_cache": fx.outside / "cache"})
    equal(packed.status, 0, packed.stderr)
    fx.write("package.json", json.dumps({
        "name": "top", "version": "1.0.0", "dependencies": {"dep": "file:dep-1.0.0.tgz"},
        "scripts": {"postinstall": "node -p 'require(\"dep\")' > built"}}))
    fx.write(".npmrc", "offline=true\naudit=false\nupdate-notifier=false\n")
    fx.write("Makefile", "all:\n\tnpm ci\n")

    def clean():
        shutil.rmtree(fx.project / "node_modules", ignore_errors=True)
        (fx.project / "built").unlink(missing_ok=True)
    for flags in FLAGS:
        clean()
        check(run(fx, *flags, "--profile=none", "npm", "install").status != 0, "without")
        for command in (["npm", "install"], ["sh", "-c", "npm ci"], ["make"]):
            if not shutil.which(command[0], path=fx.env()["PATH"]):
                continue
            clean()
            result = run(fx, *flags, *command)
            equal(result.status, 0, f"{command} {result.stderr}")
            lacks(result.stderr, "refused")
            equal(fx.read("built"), "used\n", str(command))
        check(not fx.exists(fx.home / ".npm"))
        equal(sorted(os.listdir(fx.project)), [".npmrc", "Makefile", "built", "dep-1.0.0.tgz", "node_modules",
                                               "package-lock.json", "package.json"])
        shutil.rmtree(fx.home / ".cache")
    clean()
    equal(fx.run("npm", "install").status, 0, "outside")


@test("each tool has a directory of the project's own, whatever the command is", variants=BOTH)
def variables(fx):
    fake(fx, "claude", USE)
    path = {"PATH": f"{fx.home / 'bin'}:{fx.env()['PATH']}"}
    everything = [name for names in VARIABLES.values() for name in names]
    equal(use(fx, ["npm_config_cache"]).stdout, "", "nothing is in the project")
    check(not fx.exists(caches(fx)))
    for file, names in VARIABLES.items():
        fx.write(file)
        for flags in FLAGS:
            result = use(fx, names, *flags)
            told = result.stdout.splitlines()
            equal(len(told), len(names), f"{file} {result.stderr}")
            for place in told:
                check(os.path.dirname(place).startswith(f"{caches(fx)}/"), place)
                check(fx.exists(f"{place}/x"), place)
            others = [name for name in everything if name not in names]
            equal(run(fx, *flags, "sh", "-c", 'for n; do eval "echo \\${$n-}"; done | grep -c .', "sh", *others).stdout,
                  "0\n", "only what the project has")
            equal(run(fx, *flags, "claude", *names, env=path).stdout.splitlines(), told, "beside an agent's")
        (fx.project / file).unlink()
    equal(caches(fx).parent.stat().st_mode & 0o7777, 0o700)
    for file in VARIABLES:
        fx.write(file)
    equal(len(use(fx, everything).stdout.splitlines()), len(everything), "all of them")


@test("another project that is given counts as well; the directory is the first one's")
def projects(fx):
    other = fx.home / "other"
    fx.write(other / "go.mod")
    equal(use(fx, ["GOCACHE"]).stdout, "")
    one = use(fx, ["GOCACHE"], f"--project={other}").stdout
    two = use(fx, ["GOCACHE"], cwd=other).stdout
    check(one and two and one != two, one + two)
    # and none writes to another's
    words = ["sh", "-c", 'echo evil > "$0/x"', two.strip()]
    check(run(fx, f"--project={other}", *words).status != 0)
    equal(fx.read(f"{two.strip()}/x"), "")
    equal(fx.run(*words).status, 0, "outside")


@test("a tool is found by its name as well, and one of the project's own is no other", variants=BOTH)
def names(fx):
    path = {"PATH": f"{fx.home / 'bin'}:{fx.env()['PATH']}"}
    fake(fx, "npx", USE)
    fake(fx, "gradlew", USE, "project")
    (fx.home / "bin/other").symlink_to("npx")
    for flags in FLAGS:
        for words in (["npx", "npm_config_cache"], ["other", "npm_config_cache"], ["./gradlew", "GRADLE_USER_HOME"],
                      ["--profile=npm", "sh", "-c", USE, "sh", "npm_config_cache"]):
            result = run(fx, *flags, *words, env=path)
            check(result.stdout.startswith(f"{caches(fx)}/"), f"{words} {result.stderr}")
            lacks(result.stderr, "not used")
        equal(run(fx, *flags, "--profile=none", "npx", "npm_config_cache", env=path).stdout, "")
    # an agent that a command could have written has no profile, and its tools
    fx.write("package.json")
    fake(fx, "claude", USE + "; : > ~/.claude/projects/x && echo state\n", "project")
    result = run(fx, "./claude", "npm_config_cache")
    contains(result.stderr, "the profile 'claude' is not used")
    check(result.stdout.startswith(f"{caches(fx)}/") and "state" not in result.stdout, result.stdout)


@test("what the user has set or opened stays; without changes or a sandbox there is none")
def users_word(fx):
    fx.write("package.json")
    fx.write("pom.xml")
    tell = ["sh", "-c", 'echo "${npm_config_cache-}"']
    mine = fx.home / "mine"
    mine.mkdir()
    for name in ("npm_config_cache", "NPM_CONFIG_CACHE"):
        told = run(fx, "sh", "-c", f'echo "$npm_config_cache$NPM_CONFIG_CACHE"; : > "${name}/x"', env={name: mine})
        equal(told.stdout, f"{mine}\n", name)
        check(not fx.exists(mine / "x"), "it is not opened")
    (fx.home / ".npm").mkdir()
    equal(run(fx, "--allow-write=~/.npm", *tell).stdout, "\n")
    for flags in (["--mode=read-only"], ["--mode=danger-full-access"], ["--profile=none"]):
        equal(run(fx, *flags, *tell).stdout, "\n", str(flags))
    told = run(fx, "--dry-run", "true").stdout
    contains(told, "tools:      maven, npm\n")
    contains(told, "would set:  npm_config_cache=")
    contains(run(fx, "sh", "-c", 'echo "$MAVEN_OPTS"').stdout, f"-Dmaven.repo.local={caches(fx)}/")
    blank = fx.home / "a cache"
    result = run(fx, "sh", "-c", 'echo "${MAVEN_OPTS-none}:$npm_config_cache"', env={"XDG_CACHE_HOME": blank})
    check(result.stdout.startswith(f"none:{blank}/sandbash-caches/projects/"), "a value that would be split")
    # own lines, in the place of ours and beside them
    fx.config("include-profile npm\nenvironment A=mine\n", "profiles/npm.rules")
    fx.config("project-file bun.lock\nenvironment B=bun\n", "profiles/bun.rules")
    tell = ["sh", "-c", 'echo "$A:$B:${npm_config_cache:+set}"']
    equal(run(fx, *tell).stdout, "mine::set\n")
    fx.write("bun.lock")
    equal(run(fx, *tell).stdout, "mine:bun:set\n")
    (fx.project / "package.json").unlink()
    equal(run(fx, *tell).stdout, ":bun:\n")
    evil = fx.write("evil.rules", "project-file bun.lock\nwrite ~/mine\n")
    (fx.home / ".config/sandbash/profiles/evil.rules").symlink_to(evil)
    check(run(fx, "touch", mine / "x").status != 0, "a file of the project's")


@test("what a project has opens no cache that is used outside", variants=BOTH)
def hostile(fx):
    for file in VARIABLES:
        fx.write(file)
    for place in USUAL + [".cache", ".cargo/bin"]:
        fx.write(fx.home / place / "there", "good\n")
    script = 'for at; do echo evil > ~/$at/there; echo evil > ~/$at/new; mkdir ~/$at/d; done; echo done'
    for flags in FLAGS:
        equal(run(fx, *flags, "sh", "-c", script, "sh", *USUAL, ".cache", ".cargo/bin").stdout, "done\n")
        for place in USUAL + [".cargo/bin"]:
            equal(os.listdir(fx.home / place), ["there"], place)
            equal(fx.read(fx.home / place / "there"), "good\n", place)
        equal(sorted(os.listdir(fx.home / ".cache")), ["go-build", "pip", "sandbash-caches", "there"])
    equal(fx.run("sh", "-c", script, "sh", *USUAL).status, 0, "outside")
    equal(fx.read(fx.home / ".npm/there"), "evil\n")
    for file in VARIABLES:
        (fx.project / file).unlink()
    # only its name counts, and nothing is opened
    (fx.project / "package.json").mkdir()
    os.mkfifo(fx.project / "go.mod")
    equal(use(fx, ["npm_config_cache", "GOCACHE"]).stdout, "")
    (fx.project / "Cargo.toml").symlink_to("/dev/zero")
    check(use(fx, ["CARGO_HOME"]).stdout.startswith(str(caches(fx))))


OBEYED = """
cd "$npm_config_cache" || exit
mkdir .vscode .cargo && echo x > .vscode/settings.json && echo x > .envrc && echo x > .cargo/config.toml && echo unpacked
git init -q made && echo x > made/.git/hooks/post-commit && echo hook
cd "$OLDPWD"
cp "$npm_config_cache/.envrc" .envrc; ln "$npm_config_cache/.envrc" .envrc; mv "$npm_config_cache/.envrc" .envrc
ln .git/config "$npm_config_cache/config" && echo linked
mv "$npm_config_cache/made" moved
ls moved/.git/hooks/post-commit
"""


@test("names that programs obey can be unpacked there, and do not get out", variants=BOTH)
def obeyed(fx):
    fx.git_project()
    fx.write("package.json")
    script = 'mkdir -p "$npm_config_cache"' + OBEYED
    result = run(fx, "sh", "-c", script)
    equal(result.stdout, "unpacked\nhook\n", result.stderr)
    check(not fx.exists(".envrc") and not fx.exists("moved/.git/hooks/post-commit"))
    own = caches(fx) / os.listdir(caches(fx))[0]
    shutil.rmtree(own)
    # rules about names there hold, and then the guard does, too
    more = 'echo x > "$npm_config_cache/x.pem" && echo key; echo x > "$npm_config_cache/x" && echo other'
    result = run(fx, f"--rule=deny {own}/**/*.pem", "sh", "-c", script + more)
    equal(result.stdout, "other\n", result.stderr)
    equal(run(fx, "sh", "-c", more).stdout, "key\nother\n")


@test("where ~/.cache is the project, its guard holds everywhere")
def at_cache(fx):
    place = fx.home / ".cache"
    fx.write(place / "package.json")
    words = ["sh", "-c", 'mkdir -p "$0" && echo x > "$0/.envrc" && echo made; echo x > "$0/x" && echo plain']
    equal(run(fx, *words, "sandbash-caches/projects/a", cwd=place).stdout, "plain\n")
    for _ in range(2):
        run(fx, "true", cwd=place)
        for name in os.listdir(caches(fx)):
            equal(run(fx, *words, caches(fx) / name, cwd=place).stdout, "plain\n", name)


@test("a run in the run has the same")
def nested(fx):
    fx.write("package.json")
    sandbash = fx.argv()[0]
    told = use(fx, ["npm_config_cache"]).stdout
    equal(run(fx, sandbash, "--consent=deny", "sh", "-c", USE, "sh", "npm_config_cache").stdout, told)
    status = run(fx, sandbash, "--status").stdout
    contains(status, "tools:    npm\n")
    contains(status, os.path.dirname(told))
    equal(json.loads(fx.sandbash("--status", "--json").stdout)["tools"], ["npm"])


@test("no link leads out of the directory, and none to another in its place", variants=BOTH)
def links(fx):
    fx.write("package.json")
    victim = fx.home / "victim"
    victim.mkdir()
    place = use(fx, ["npm_config_cache"]).stdout.strip()
    own = os.path.dirname(place)
    plant = ["sh", "-c", 'rm -r "$1" && ln -s "$2" "$1"', "sh"]
    for flags in FLAGS:
        shutil.rmtree(own, ignore_errors=True)
        equal(use(fx, ["npm_config_cache"], *flags).stdout, f"{place}\n")
        # in it: as commands like it, and nothing of it is followed by us
        equal(run(fx, *flags, *plant, place, victim).status, 0)
        equal(use(fx, ["npm_config_cache"], *flags).stdout, "", "the link leads out")
        equal(os.listdir(victim), [])
        # itself: only where a rule opens what is around it
        for script in ('rm -r "$1"; ln -s "$2" "$1"', 'rm -r "$1"; ln -s "$2" ./l; mv -T ./l "$1"'):
            run(fx, *flags, "sh", "-c", script, "sh", own, victim)
            check(not os.path.islink(own), script)
        equal(use(fx, ["npm_config_cache"], *flags).stdout, f"{place}\n")
        opened = run(fx, *flags, "--allow-write=~/.cache", "sh", "-c", 'mv "$1" "$1.old" && ln -s "$2" "$1"', "sh",
                     caches(fx), victim)
        equal(opened.status, 0, opened.stderr)
        result = run(fx, *flags, "sh", "-c", 'echo "${npm_config_cache-none}"; echo evil > ~/victim/x')
        equal(result.stdout, "none\n")
        contains(result.stderr, "is reached by a link")
        equal(os.listdir(victim), [])
        caches(fx).unlink()
        os.rename(f"{caches(fx)}.old", caches(fx))


PLANT = """C=${npm_config_cache%/npm}
git init -q $C/evil && git -C $C/evil config core.fsmonitor 'touch ~/ran; false' || exit 9
git -C $C/evil config core.worktree "$PWD/sub"
git init -q x && git init -q y && mkdir -p sub other
try() { "$@" 2> /dev/null && echo "done: $*"; }
try ln -s $C/evil vendor
try ln -s ~/.cache/Sandbash-Caches/projects folded
try ln -s ../../../.cache/sandbash-caches moved
ln -s elsewhere plain; try ln -sf $C/evil plain
printf 'gitdir: ../x/.git\\n' > sub/.git && rm -rf x && try ln -s $C/evil x
printf 'gitdir: ../x/sandbash-caches/.git\\n' > other/.git
git config core.worktree ../x/sandbash-caches/w 2> /dev/null
git remote add up "$PWD/x/sandbash-caches/y"
git add -A; git commit -qm all"""


@test("P3 nothing that git obeys leads to the project's caches, where nothing is guarded", variants=BOTH)
def ways_to_caches(fx):
    equal(fx.run("git", "init", "-q").status, 0)
    fx.write("package.json", "{}")
    fx.write("script", PLANT)
    env = {"npm_config_cache": fx.home / "mine/npm"}
    fx.run("sh", "script", env=env)
    fx.run("git", "status", cwd=fx.project / "vendor", env=env)
    check(fx.exists(fx.home / "ran"), "works without a sandbox")  # the control
    for path in ("vendor", "folded", "moved", "plain", "x", "y", "sub", "other", "script"):
        fx.run("rm", "-rf", path)
    (fx.home / "ran").unlink()
    fx.run("rm", "-rf", ".git")
    equal(fx.run("git", "init", "-q").status, 0)
    fx.write("script", PLANT)
    result = run(fx, "sh", "script")
    check(result.status != 9, result.stderr)
    lacks(result.stdout, "done:")
    check(fx.exists(next(caches(fx).iterdir()) / "evil/.git/config"), "they are there")
    for name in ("vendor", "folded", "moved", "x", "other/.git"):
        check(not os.path.lexists(fx.project / name), name)
    equal(os.readlink(fx.project / "plain"), "elsewhere")
    lacks(fx.read(".git/config"), "sandbash-caches")
    fx.run("git", "status")
    check(not fx.exists(fx.home / "ran"))
    contains(result.stderr, "caches")


@test("$XDG_CACHE_HOME that is for something else is not obeyed; guarded names stay guarded where it is")
def cache_home_elsewhere(fx):
    fx.write("package.json", "{}")
    for place in (".ssh", ".vim/plugin", ".local/bin"):
        (fx.home / place).mkdir(parents=True)
        told = use(fx, ["npm_config_cache"], env={"XDG_CACHE_HOME": fx.home / place})
        contains(told.stdout, str(caches(fx)))
        equal(os.listdir(fx.home / place), [])
    env = {"XDG_CACHE_HOME": fx.home / ".vim/plugin/cache"}
    told = run(fx, "sh", "-c", "mkdir -p $npm_config_cache; echo evil > $npm_config_cache/x.vim", env=env)
    contains(told.stderr, "x.vim")
    equal([path.name for path in (fx.home / ".vim").rglob("*.vim")], [])
    told = use(fx, ["npm_config_cache"], env={"XDG_CACHE_HOME": fx.outside / "my-cache"})
    contains(told.stdout, str(fx.outside / "my-cache"))


@test("$XDG_CACHE_HOME where sandbash's own files lie makes nothing there: later runs begin as ever")
def among_our_own(fx):
    fx.write("package.json", "{}")
    for place in (".config", ".config/sandbash", ".config/sandbash/cache", ".local/state", ".local/state/sandbash/cache"):
        for flags in FLAGS:
            result = run(fx, *flags, "sh", "-c", "echo ${npm_config_cache-none}", env={"XDG_CACHE_HOME": fx.home / place})
            if place.endswith("cache"):
                equal(result.stdout, "none\n", place)
                contains(result.stderr, "holds sandbash's own files")
            else:
                contains(result.stdout, str(caches(fx)), place)
            equal(run(fx, *flags, "true").status, 0, place)
    contains(use(fx, ["npm_config_cache"]).stdout, str(caches(fx)))


@test("$XDG_CACHE_HOME in a project or around it is not obeyed; a home that is closed is no mistake")
def places(fx):
    fx.write("package.json")
    for value in (fx.project, fx.project / "cache", fx.home, fx.dir, "/", "relative"):
        told = use(fx, ["npm_config_cache"], env={"XDG_CACHE_HOME": value})
        check(told.stdout.startswith(f"{caches(fx)}/"), f"{value} {told}")
    elsewhere = fx.home / "caches-elsewhere"
    told = use(fx, ["npm_config_cache"], env={"XDG_CACHE_HOME": elsewhere}).stdout
    check(told.startswith(f"{elsewhere}/sandbash-caches/projects/"), told)
    equal(sorted(os.listdir(fx.project)), ["package.json"])
    if os.getuid() == 0:
        return  # who writes everywhere
    shutil.rmtree(fx.home / ".cache")
    fx.home.chmod(0o500)
    result = run(fx, "sh", "-c", "echo ran; : > made && echo made")
    fx.home.chmod(0o700)
    equal(result.stdout, "ran\nmade\n", result.stderr)


run_all()
