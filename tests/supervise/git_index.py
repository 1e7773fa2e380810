"""git_index.py - P3: the index of git names only what git itself would put into it.

Git looks at names when they go into an index, not when it reads one.  Each attack below is shown with
the real git: in a copy of the project, outside, the index is put in place and a daily command is run.
tests/supervise/guard.py brings an index to its place by all the other ways that there are.
"""

import os
import shutil

import index
from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
HOOK = "#!/bin/sh\necho ran >>\"$(git rev-parse --show-toplevel)/ran\"\n"


def blob(fx, text, cwd=None):
    result = fx.run("git", "hash-object", "-w", "--stdin", input=text, cwd=cwd)
    equal(result.status, 0, result.stderr)
    return result.stdout.strip()


def outside_copy(fx):
    """A copy of the project, two directories deep, in which git runs without a sandbox."""
    top = fx.dir / "control" / "a" / "project"
    shutil.rmtree(fx.dir / "control", ignore_errors=True)
    shutil.copytree(fx.project, top, symlinks=True)
    return top


def evil_entries(fx):
    """title: (entries, the command outside, what it leaves, seen from the project)"""
    hook, text = blob(fx, HOOK), blob(fx, "x\n")
    one = index.entry
    restore = ["git", "restore", "."]
    return {
        "a hook": ([one(".git/hooks/post-checkout", hook, index.PROGRAM)], restore, "ran"),
        "a config": ([one(".git/config.worktree", text)], restore, ".git/config.worktree"),
        "a nested .git": ([one("sub/.git/hooks/pre-commit", hook, index.PROGRAM)], restore,
                          "sub/.git/hooks/pre-commit"),
        "outside": ([one("../planted", text)], restore, "../planted"),
        "outside, on a detour": ([one("sub/../../planted", text)], restore, "../planted"),
        "an absolute path": ([one(f"{fx.dir}/control/absolute", text)], restore, "../../absolute"),
        "another case": ([one(".GIT/hooks/x", text)], restore, ".GIT/hooks/x"),
        "what NTFS takes for .git": ([one("git~1/hooks/x", text)], restore, "git~1/hooks/x"),
        "with a dot behind": ([one(".git./x", text)], restore, ".git./x"),
        "with a stream": ([one(".git::$INDEX_ALLOCATION/x", text)], restore,
                          ".git::$INDEX_ALLOCATION/x"),
        "with what shows as nothing": ([one(".g\u200cit/x", text)], restore, ".g\u200cit/x"),
    }


def put(name):
    return f"cp evil {name}.tmp && mv {name}.tmp {name}"


# How an index comes to its place; the name of the place is the last word.
WAYS = {
    "written": ("cat evil >.git/index", ".git/index"),
    "renamed": (put(".git/index"), ".git/index"),
    "as git does": ("cp evil .git/index.lock && mv .git/index.lock .git/index", ".git/index"),
    "linked": ("rm -f .git/index; ln evil .git/index", ".git/index"),
    "a shared one": ("cat evil >.git/sharedindex." + 40 * "a", ".git/sharedindex." + 40 * "a"),
    "of a worktree": ("mkdir -p .git/worktrees/w; cat evil >.git/worktrees/w/index",
                      ".git/worktrees/w/index"),
    "a shared one of a worktree": ("mkdir -p .git/worktrees/w; cp evil "
                                   ".git/worktrees/w/sharedindex." + 40 * "b",
                                   ".git/worktrees/w/sharedindex." + 40 * "b"),
    "of a submodule": ("git init -q --bare .git/modules/m; cp evil .git/modules/m/index",
                       ".git/modules/m/index"),
    "of a bare repository": ("git init -q --bare b; cp evil b/index", "b/index"),
    "with a tree that becomes .git": ("mkdir n; git init -q o; mv o/.git n/q; rm -rf n/q/refs; "
                                      "cp evil n/q/index; mkdir n/q/refs; mv n/q n/.git",
                                      "n/.git/index"),
    "in a tree that is renamed to .git": ("mkdir -p n/q/objects; cp evil n/q/index; "
                                          "echo 'ref: refs/heads/main' >n/q/HEAD; "
                                          "mv n/q n/.git; mkdir n/.git/refs", "n/.git/index"),
    "with a worktree that is moved in": ("mkdir -p .git/worktrees w; cp evil w/index; "
                                         "mv w .git/worktrees/w", ".git/worktrees/w/index"),
    "with all worktrees": ("mkdir -p d/w; cp evil d/w/index; mv d .git/worktrees",
                           ".git/worktrees/w/index"),
    "with a shared one that is moved in": ("mkdir -p d/w; cp evil d/w/sharedindex.abc; "
                                           "mv d .git/worktrees",
                                           ".git/worktrees/w/sharedindex.abc"),
    "with the modules": ("mkdir -p d; git init -q --bare d/m; rm -rf d/m/refs; "
                         "cp evil d/m/index; mkdir d/m/refs; mv d .git/modules",
                         ".git/modules/m/index"),
    "a copy of another repository": ("git init -q o; cp evil o/.git/index; cp -r o/.git b",
                                     "b/index"),
    "before the repository is one": ("mkdir -p b/objects; cp evil b/index; mkdir b/refs",
                                     "b/index"),
}


def is_there(top, name, evil):
    path = top / name
    if path.parent.name in ("b", "m") and not (path.parent / "refs").is_dir():
        return False  # no repository
    return path.is_file() and path.read_bytes() == evil


@test("P3 entries that git would not write: refused, and what the real git makes of them",
      variants=BOTH)
def entries(fx):
    fx.git_project()
    before = fx.path(".git/index").read_bytes()
    for title, (names, command, mark) in evil_entries(fx).items():
        evil = index.make(names)
        fx.path("evil").write_bytes(evil)
        result = fx.sandbash("--consent=deny", "sh", "-c", WAYS["as git does"][0])
        equal(fx.path(".git/index").read_bytes(), before, f"{title}: {result.stderr}")
        contains(result.stderr, "index", title)
        fx.run("rm", "-f", ".git/index.lock")
        control = outside_copy(fx)
        (control / ".git/index").write_bytes(evil)
        fx.run(*command, cwd=control)
        check(os.path.lexists(control / mark), f"the control: {title}")


@test("P3 git add -u reads what an entry names: refused", variants=BOTH)
def read_elsewhere(fx):
    fx.git_project()
    fx.path("evil").write_bytes(index.make([index.entry("../secret")]))
    fx.sandbash("--consent=deny", "sh", "-c", WAYS["renamed"][0])
    control = outside_copy(fx)
    (control.parent / "secret").write_text("the secret\n")
    (control / ".git/index").write_bytes(fx.path("evil").read_bytes())
    fx.run("git", "add", "-u", cwd=control)
    listed = fx.run("git", "ls-files", "-s", cwd=control).stdout
    number = fx.run("git", "hash-object", "--stdin", input="the secret\n").stdout.strip()
    contains(listed, number, "the control")
    lacks(fx.run("git", "ls-files", "-s").stdout, "secret")


@test("P3 every place of an index, and every way there", variants=BOTH)
def ways(fx):
    for title, (script, name) in WAYS.items():
        for boxed in (True, False):
            for entry in os.listdir(fx.project):
                path = fx.path(entry)
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            fx.git_project()
            evil = index.make([index.entry(".git/hooks/post-checkout", blob(fx, HOOK))])
            fx.path("evil").write_bytes(evil)
            result = (fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script) if boxed
                      else fx.run("sh", "-c", script))
            equal(is_there(fx.project, name, evil), not boxed, f"{title}: {result.stderr}")


ODD = {
    "no index at all": b"hello\n",
    "cut short": index.make([index.entry("a")])[:-30],
    "not in order": index.make([index.entry("b"), index.entry("a")]),
    "twice": index.make([index.entry("a"), index.entry("a")]),
    "beneath a link": index.make([index.entry("a", mode=index.LINK), index.entry("a.b"),
                                  index.entry("a/b")]),
    "beneath a file": index.make([index.entry("a"), index.entry("a/b")]),
    "beneath a submodule": index.make([index.entry("a", mode=index.MODULE), index.entry("a/b")]),
    "a mode that git has not": index.make([index.entry("a", mode=0o104755)]),
    "a directory without a sparse index": index.make([index.entry("a/", mode=index.DIRECTORY,
                                                                  more=0x4000)], version=3),
    "an extension that must be known": index.make([index.entry("a")],
                                                  extensions=index.extension("what", b"x")),
    "no name": index.make([index.entry("")]),
    "a link called .gitmodules": index.make([index.entry(".gitmodules", mode=index.LINK)]),
    "entries elsewhere": index.make(
        [index.entry("a")], extensions=index.extension("IEOT", bytes([0, 0, 0, 1, 0, 0, 0, 99, 0, 0, 0, 1]))
        + index.extension("EOIE", bytes([0, 0, 0, 84]) + bytes(20))),
    "more entries than there are": index.make([index.entry("a")], count=2),
    "a token that is a command": index.make([index.entry("a")], extensions=index.extension(
        "FSMN", bytes([0, 0, 0, 2]) + b"$(x)\0" + bytes(4))),
}


@test("P3 what is no index of git's asks", variants=BOTH)
def odd(fx):
    fx.git_project()
    before = fx.path(".git/index").read_bytes()
    for title, evil in ODD.items():
        fx.path("evil").write_bytes(evil)
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", WAYS["renamed"][0])
        check(result.status != 0, title)
        equal(fx.path(".git/index").read_bytes(), before, title)
    fx.path("evil").write_bytes(index.make([index.entry("a")]))
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", WAYS["renamed"][0])
    equal(result.status, 0, f"the neighbour: {result.stderr}")


@test("P3 an index with two readings, and the setting that chooses one", variants=BOTH)
def two_readings(fx):
    fx.git_project()
    equal(fx.run("git", "init", "-q", "--object-format=sha256", "long").status, 0)
    evil = index.make([index.entry("0123456789\x01\x04../planted")])
    fx.path("evil").write_bytes(evil)
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c",
                         "cp evil long/x && mv long/x long/.git/index")
    check(result.status != 0 and not fx.exists("long/.git/index"), "where it is a bad one")
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", "cp evil x && mv x .git/index")
    equal(result.status, 0, "where it is a good one")
    contains(fx.run("git", "ls-files").stdout, "0123456789", "one name, and a good one")
    change = ("git config core.repositoryformatversion 1; "
              "git config extensions.objectformat sha256")
    check(fx.sandbash("--consent=deny", "--quiet", "sh", "-c", change).status != 0, change)
    lacks(fx.read(".git/config"), "sha256")
    moved = ("mkdir -p q/objects n; cp evil q/index; printf '[core]\\nrepositoryformatversion=1\\n"
             "[extensions]\\nobjectformat=sha256\\n' >q/config; cp .git/HEAD q; mv q n/.git")
    fx.sandbash("--consent=deny", "--quiet", "sh", "-c", moved)
    check(fx.exists("q/index") and not fx.exists("n/.git/index"), "moved in")
    control = outside_copy(fx)
    equal(fx.run("sh", "-c", change, cwd=control).status, 0, "the control")
    equal(fx.run("git", "ls-files", cwd=control).stdout, "../planted\n", "the control")


def note(fx, before):
    """What the check of the index that is there says, with before in its place until now."""
    old = fx.path("before")
    old.write_bytes(before)
    result = fx.run(fx.tool("guarded"), "content", fx.project, old, fx.path(".git/index"))
    equal(result.status, 0, result.stderr)
    return result.stdout.rstrip("\n")


@test("P3 bits that hide changes are noted, once, and land")
def hidden(fx):
    fx.git_project()
    for name in ("src/a", "src/b", "docs/c"):
        fx.path(name).parent.mkdir(exist_ok=True)
        fx.write(name, name)
    fx.run("git", "add", ".")
    fx.run("git", "commit", "-qm", "more")
    for version in ("2", "4"):
        for option, word in (("skip-worktree", "skip-worktree"),
                             ("assume-unchanged", "assume-unchanged")):
            fx.run("git", "update-index", "--index-version", version)
            before = fx.path(".git/index").read_bytes()
            equal(note(fx, before), "plain ")
            fx.run("git", "update-index", f"--{option}", "src/a")
            equal(note(fx, before), f"plain git will not show changes of 'src/a' ({word})")
            before = fx.path(".git/index").read_bytes()
            equal(note(fx, before), "plain ")
            fx.write("src/b", f"{version} {option}")
            fx.run("git", "add", "src/b")
            equal(note(fx, before), "plain ", "another file")
            fx.run("git", "update-index", f"--no-{option}", "src/a")
            equal(note(fx, before), "plain ", "shown again")
    before = fx.path(".git/index").read_bytes()
    equal(fx.run("git", "sparse-checkout", "set", "--cone", "src").status, 0)
    equal(note(fx, before),
          "plain git will not show changes of 'docs/c' (skip-worktree, in a sparse checkout)")


DAILY = """
git config user.name a; git config user.email a@b
mkdir -p src/deep docs; for n in 1 2 3 4 5 6 7 8; do echo $n >src/deep/f$n; echo $n >docs/d$n; done
ln -s README link; git add .; git commit -qm many; git mv src/deep/f1 src/deep/g1
git rm -q --cached docs/d1; git reset -q; git checkout -q .; git stash -q 2>/dev/null || true
git reset -q --hard; echo x >>README; git stash -q; git stash pop -q; git checkout -q README
git switch -qc side; echo side >README; git commit -qam side; git switch -q main
echo main >README; git commit -qam main; git merge side >/dev/null 2>&1 && exit 9
git ls-files -u | grep -q README; echo both >README; git add README; git commit -qm merged
git update-index --index-version 4; git add -A; git status >/dev/null
git update-index --index-version 2; echo new >new; git add -N new; git reset -q; rm new
git update-index --assume-unchanged README; git update-index --no-assume-unchanged README
git update-index --skip-worktree README; git update-index --no-skip-worktree README
git update-index --untracked-cache; git status >/dev/null; git update-index --no-untracked-cache
git update-index --split-index; echo y >>README; git commit -qam split; git rm -q docs/d2
git commit -qm removed; git -c splitIndex.maxPercentChange=0 update-index --split-index
git update-index --no-split-index
git sparse-checkout set --cone --sparse-index src; git status >/dev/null
git sparse-checkout disable; git -c index.threads=2 add -A
git worktree add -q ../project/tree 2>/dev/null; (cd tree; echo t >t; git add t; git commit -qm t)
git init -q sub; git -C sub -c user.name=a -c user.email=a@b commit -q --allow-empty -m s
git -c protocol.file.allow=always submodule --quiet add ./sub m; git commit -qm sub
git rm -rq --cached .; git reset -q --hard; git read-tree --empty; git read-tree HEAD
git init -q --object-format=sha256 long; (cd long; echo l >l; git add l; echo k >k; git add .
git -c user.name=a -c user.email=a@b commit -qm l; git update-index --split-index)
GIT_INDEX_FILE=.git/index.other git read-tree HEAD; touch .git/index; git status >/dev/null
"""


@test("P3 the neighbour: daily work with git is unasked", variants=BOTH)
def daily(fx):
    fx.git_project()
    result = fx.sandbash("--consent=deny", "bash", "-ec", f"trap 'echo failed: $BASH_COMMAND >&2' ERR\n{DAILY}",
                         timeout=120)
    equal(result.status, 0, result.stderr)
    lacks(result.stderr, "refused")


@test("P3 an index of twenty megabytes is looked at, not asked about", variants=BOTH)
def long_one(fx):
    fx.git_project()
    number = blob(fx, "x\n")
    names = [f"src/module{i // 100:05}/file-number-{i:06}.c" for i in range(200000)]
    fx.path("evil").write_bytes(index.make([index.entry(name, number) for name in names]))
    result = fx.sandbash("--consent=deny", "sh", "-ec", f"{put('.git/index')}; touch .git/index",
                         timeout=120)
    equal(result.status, 0, result.stderr)
    equal(fx.path(".git/index").stat().st_size, fx.path("evil").stat().st_size)
    names[150000] += "/../../../x"
    fx.path("evil").write_bytes(index.make([index.entry(name, number) for name in names]))
    result = fx.sandbash("--consent=deny", "sh", "-ec", put(".git/index"))
    check(result.status != 0, "a bad name among many")


run_all()
