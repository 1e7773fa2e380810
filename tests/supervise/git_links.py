"""git_links.py - P3: git outside is not led to write, or to run, where the run could not.

Git writes through links in its own directories, checks out where core.worktree says, and goes the way
that a path in its config spells.
"""

import os
import shutil

from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")

# Each makes a link in a git directory; natively it is one at the end.
LINKS = {
    "a file that git writes": ("ln -sf ../../file .git/COMMIT_EDITMSG", ".git/COMMIT_EDITMSG"),
    "one deeper down": ("rm -f .git/logs/HEAD; mkdir -p .git/logs; ln -s /x .git/logs/HEAD",
                        ".git/logs/HEAD"),
    "a directory": ("rm -rf .git/logs; ln -s ../.. .git/logs", ".git/logs"),
    "renamed into place": ("ln -s ../../file l; mv l .git/FETCH_HEAD", ".git/FETCH_HEAD"),
    "linked into place": ("ln -s ../../file l; ln -P l .git/FETCH_HEAD", ".git/FETCH_HEAD"),
    "exchanged": ("ln -s ../../file l; : >.git/FETCH_HEAD; python3 -c 'import ctypes; "
                  "ctypes.CDLL(None).renameat2(-100, b\"l\", -100, b\".git/FETCH_HEAD\", 2)'",
                  ".git/FETCH_HEAD"),
    "in a directory that is moved": ("rm -rf .git/logs; mkdir d; ln -s ../../file d/HEAD; "
                                     "mv d .git/logs", ".git/logs/HEAD"),
    "deep in one": ("mkdir -p d/refs/heads; ln -s /x d/refs/heads/main; rm -rf .git/logs; "
                    "mv d .git/logs", ".git/logs/refs/heads/main"),
    "in a directory that becomes .git": ("mkdir -p n/q/logs; ln -s /x n/q/logs/HEAD; "
                                         "mv n/q n/.git", "n/.git/logs/HEAD"),
    "in one that becomes a repository": ("mkdir -p b/logs b/objects; ln -s /x b/logs/HEAD; "
                                         "mkdir b/refs", "b/logs/HEAD"),
    "called as git's own trials are": ("mkdir -p .git/logs/refs/heads/a/refs; "
                                       ": >.git/logs/refs/heads/a/HEAD; "
                                       "ln -s /x .git/logs/refs/heads/a/tXaB12z",
                                       ".git/logs/refs/heads/a/tXaB12z"),
    "deep in a bare repository": ("git init -q --bare b; mkdir -p b/refs/heads/1/2/3/4/5/6; "
                                  "ln -s refs/heads/x b/refs/heads/1/2/3/4/5/6/main",
                                  "b/refs/heads/1/2/3/4/5/6/main"),
    "deep in its history": ("git init -q --bare b; mkdir -p b/logs/refs/heads/1/2/3/4/5/6; "
                            "ln -s /x b/logs/refs/heads/1/2/3/4/5/6/main",
                            "b/logs/refs/heads/1/2/3/4/5/6/main"),
    "in a bare repository": ("git init -q --bare b; mkdir -p b/logs/refs/heads; "
                             "ln -s /x b/logs/refs/heads/main", "b/logs/refs/heads/main"),
}


def made(fx, name):
    path = fx.path(name)
    top = fx.path(name.split("/")[0])
    if top.name == "b" and not (top / "refs").is_dir():
        return False
    return path.is_symlink()


def link_test(script, name):
    def attack(fx):
        fx.git_project()
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
        check(not made(fx, name), f"made; {result.stderr}")
        for entry in os.listdir(fx.project):
            path = fx.path(entry)
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        fx.git_project()
        fx.run("sh", "-c", script)
        check(made(fx, name), "the control")
    return attack


for title, (what, where) in LINKS.items():
    test(f"P3 a link in git's directory: {title}", variants=BOTH)(link_test(what, where))


@test("P3 git writes where core.worktree says: that asks", variants=BOTH)
def worktree(fx):
    fx.git_project()
    fx.path("wt").mkdir()
    before = fx.read(".git/config")
    for script in ("git config core.worktree ../wt", "git config core.worktree ../../..",
                   "ln -s ../.. l; git config core.worktree ../l",
                   "printf '[core]\\n\\tworktree = ../wt\\n' >>.git/config",
                   "mkdir -p a/b/c && git init -q a/b/c/r && "
                   "git -C a/b/c/r config core.worktree ../../../.."):
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
        equal(fx.read(".git/config"), before, script)
    lacks(fx.run("sh", "-c", "cat a/b/c/r/.git/config").stdout, "worktree")
    equal(fx.run("git", "config", "core.worktree", "../wt").status, 0, "the control")


LIB = "git init -q ../lib && cd ../lib && echo l >l.c && git add . && git -c user.name=a -c user.email=a@b commit -qm l"
FILE = {"GIT_ALLOW_PROTOCOL": "file"}


def with_submodule(fx):
    fx.git_project()
    equal(fx.run("sh", "-c", f"{LIB} && cd ../project && git submodule --quiet add ../lib lib", env=FILE).status, 0)


@test("P3 core.worktree of a submodule leads to where it lies, and to nothing that is obeyed", variants=BOTH)
def of_submodule(fx):
    with_submodule(fx)
    config = ".git/modules/lib/config"
    fx.run("sh", "-c", "mkdir -p .husky .vscode .claude/skills CVS hk src deep/x; git init -q in; ln -s .husky way; ln -s ../.vscode deep/way; "
           "git config core.hooksPath hk")
    before = fx.read(config)
    for place in (".husky", ".husky/_", ".vscode", ".claude/skills", ".claude/skills/x", ".config", "CVS", "cvs", ".git", ".git/hooks", "in/.git",
                  "hk", "hk/x", "way", "deep/way", "way/_", "", "..", "../..", "../lib", str(fx.path(".husky")), str(fx.project), str(fx.home)):
        value = place if place.startswith("/") else f"../../../{place}"
        result = fx.sandbash("--consent=deny", "--quiet", "git", "config", "-f", config, "core.worktree", value)
        check(result.status != 0, place)
        equal(fx.read(config), before, place)
        equal(fx.run("git", "config", "-f", config, "core.worktree", value).status, 0, f"the control: {place}")
        fx.write(config, before)
    for place in ("src", "deep/x", "deep/new", str(fx.path("src"))):
        value = place if place.startswith("/") else f"../../../{place}"
        result = fx.sandbash("--consent=deny", "git", "config", "-f", config, "core.worktree", value)
        equal(result.status, 0, f"the neighbour: {place}: {result.stderr}")


@test("P3 a place of a submodule in .gitmodules is nothing that is obeyed, in whatever letters", variants=BOTH)
def places(fx):
    with_submodule(fx)
    before = fx.read(".gitmodules")
    for place, allowed in ((".vscode", False), ("CVS", False), ("cvs", False), ("_darcs", False), ("sub/.Claude/skills", False),
                           ("tools", True), ("sub/hooks", True), ("patches", True), (".github/x", True), ("LIB", True)):
        words = ("git", "config", "-f", ".gitmodules", "submodule.lib.path", place)
        result = fx.sandbash("--consent=deny", "--quiet", *words)
        equal(result.status == 0, allowed, f"{place}: {result.stderr}")
        equal(fx.read(".gitmodules") == before, not allowed, place)
        equal(fx.run(*words).status, 0, f"the control: {place}")
        fx.write(".gitmodules", before)


@test("P3 daily work with submodules is unasked", variants=BOTH)
def submodules(fx):
    fx.git_project()
    fx.run("sh", "-c", LIB.replace("../lib", "up"))
    result = fx.sandbash("--consent=deny", "sh", "-exc", """
export GIT_ALLOW_PROTOCOL=file GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q mid; git -C mid submodule --quiet add "$PWD/up" inner/deep; git -C mid commit -qm mid
git submodule --quiet add ./mid sub/mid; git submodule --quiet add --name other/name ./mid renamed
git submodule --quiet update --init --recursive; test -f sub/mid/inner/deep/l.c; test -f renamed/inner/deep/l.c
git commit -qm all
git submodule --quiet deinit -f renamed; git submodule --quiet init; git submodule --quiet update --recursive; test -f renamed/inner/deep/l.c
git mv renamed moved; git -C moved status -s; git commit -qm moved
git checkout -q -b without; git rm -q --cached moved; git rm -q -r sub/mid; git commit -qam without
git init -q own; git -C own commit -q --allow-empty -m own; git submodule --quiet add ./own own; git submodule absorbgitdirs own; git -C own status
test -f .git/modules/own/config; git commit -qm own; git submodule foreach --recursive git status -s
git submodule sync --recursive --quiet; git stash list; git worktree list
""")
    equal(result.status, 0, result.stderr)
    lacks(result.stderr, "refused")


@test("P3 an agent's repository of earlier versions: its work tree may be a project, nothing else",
      variants=BOTH)
def versions(fx):
    fx.git_project()
    fx.path("sub").mkdir()
    state = fx.outside / "state"
    state.mkdir()
    fx.path("link").symlink_to(fx.project)
    script = ('GIT_DIR=$1 GIT_WORK_TREE=$2 git init -q && git --git-dir=$1 config core.fsmonitor false '
              '&& GIT_DIR=$1 git add README && GIT_DIR=$1 git write-tree')
    for at, (tree, allowed) in enumerate((
            (fx.project, True), (fx.path("sub"), False), (fx.home, False), (state, False))):
        git = state / str(at)
        words = ("sh", "-c", script, "sh", git, tree)
        result = fx.sandbash(f"--allow-write={state}", "--consent=deny", "--quiet", *words)
        equal(result.status == 0, allowed, f"{tree}: {result.stderr}")
        equal(os.path.exists(git / "objects"), allowed, f"{tree}: made")
    for text in (f"{fx.project}/", f"{fx.path('link')}", f"{fx.project}/sub/.."):
        result = fx.sandbash(f"--allow-write={state}", "--consent=deny", "--quiet", "git",
                             f"--git-dir={state / '0'}", "config", "core.worktree", text)
        check(result.status != 0, f"{text}: {result.stdout}")
    equal(fx.run("git", f"--git-dir={state / '0'}", "config", "core.worktree").stdout.strip(),
          str(fx.project))
    control = fx.run("sh", "-c", script.split(" && GIT_DIR")[0], "sh", state / "c", fx.path("sub"))
    equal(control.status, 0, f"the control: {control.stderr}")


@test("P3 a directory and back in a path of git's config: it stays a directory", variants=BOTH)
def turns(fx):
    fx.git_project()
    for name in ("src", "t/hk", "ev/sub", "ev/t/hk"):
        fx.path(name).mkdir(parents=True)
    fx.write("ev/t/hk/pre-commit", "#!/bin/sh\necho evil >&2\n").chmod(0o755)
    fx.run("git", "config", "core.hooksPath", "src/../t/hk")
    script = "mv src old; ln -s ev/sub src; ls -l"
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
    check(not fx.path("src").is_symlink(), result.stdout)
    if not fx.path("src").exists():
        fx.path("old").rename(fx.path("src"))
    fx.run("sh", "-c", script)
    contains(fx.run("git", "commit", "-q", "--allow-empty", "-m", "x").stderr, "evil",
             "the control")


@test("P3 the neighbours: git itself, and links elsewhere", variants=BOTH)
def neighbours(fx):
    fx.git_project()
    result = fx.sandbash("--consent=deny", "sh", "-ec", """
git init -q n; git init -q --bare b; ln -s n m; mkdir d; ln -s ../x d/l; mv d e; mkdir objects
ln -s /x objects/l; test -L m; test -L e/l
git -C n -c user.name=a -c user.email=a@b commit -q --allow-empty -m x
git -c protocol.file.allow=always submodule --quiet add ./n sub 2>/dev/null
git worktree add -q ../project/w; git gc -q; git status >/dev/null
mkdir -p .git/logs/own/x; mkdir y; : >y/z; mv y .git/logs/own/y""")
    equal(result.status, 0, result.stderr)
    lacks(result.stderr, "refused")


run_all()
