"""git_unnamed.py - P3: a git directory is one whatever it is called, and whatever made it one last.

A branch whose name is a command, behind one with a harmless name, in a directory that a .git file names:
prompts show where HEAD leads, and the shell expands what they show.  Each way to bring it there works
without the sandbox, does not with it, and brings a branch with another name there in both.
"""

import shutil

from compare import native
from tap import check, equal, lacks, run_all, test

BOTH = ("full", "flat")
EVIL, HARMLESS = "$(>PWNED)", "topic"

# $B is the branch; at the end lib/.git names the git directory, whose HEAD leads to it.
PREPARE = """
set -e; ID=$(git rev-parse HEAD)
head() { echo 'ref: refs/heads/main' >"$1/HEAD"; }
branch() { mkdir -p "$1/heads"; echo "$ID" >"$1/heads/$B"; echo "ref: refs/heads/$B" >"$1/heads/main"; }
objects() { mkdir -p "$1"; cp -r .git/objects/. "$1"; }
lead() { mkdir -p lib; echo "gitdir: ../$1" >lib/.git; }
"""
WAYS = {
    "written": "mkdir -p c/refs; objects c/objects; head c; branch c/refs; lead c",
    "symbolic alone": "mkdir -p c/refs/heads; objects c/objects; head c; "
                      "echo \"ref: refs/heads/$B\" >c/refs/heads/main; lead c",
    "the .git file first": "lead c; mkdir -p c/refs; objects c/objects; head c; branch c/refs",
    "renamed": "mkdir -p c/refs/heads; objects c/objects; head c; echo $ID >x; mv x \"c/refs/heads/$B\"; "
               "echo \"ref: refs/heads/$B\" >x; mv x c/refs/heads/main; lead c",
    "objects last": "branch c/refs; head c; objects c/objects; lead c",
    "objects last, moved": "branch c/refs; head c; objects o; mv o c/objects; lead c",
    "refs last, moved": "objects c/objects; head c; branch r; mv r c/refs; lead c",
    "heads moved": "mkdir -p c/refs; objects c/objects; head c; branch r; mv r/heads c/refs/heads; lead c",
    "heads called like a rebase": "mkdir -p c/refs/heads rebase-merge; objects c/objects; echo $ID >\"rebase-merge/$B\"; "
                                  "mv rebase-merge c/refs/heads; "
                                  "echo ref: refs/heads/rebase-merge/$B >c/HEAD; lead c",
    "objects last in NAME.git": "branch c.git/refs; head c.git; objects c.git/objects; lead c.git",
    "heads moved in NAME.git": "mkdir -p c.git/refs; objects c.git/objects; head c.git; branch r; "
                               "mv r/heads c.git/refs/heads; lead c.git",
    "a worktree's own": "mkdir -p c/refs/heads c/worktrees/w/refs/worktree; objects c/objects; head c; "
                        "echo $ID >c/refs/heads/main; cd c/worktrees/w; echo ../.. >commondir; "
                        "echo ref: refs/worktree/x >HEAD; echo \"ref: refs/heads/$B\" >refs/worktree/x; "
                        "echo $ID >\"../../refs/heads/$B\"; cd ../../..; lead c/worktrees/w",
    "a worktree moved in": "mkdir -p c/refs/heads w/refs/worktree; objects c/objects; head c; "
                           "echo $ID >c/refs/heads/main; echo ref: refs/worktree/x >w/HEAD; "
                           "echo \"ref: refs/heads/$B\" >w/refs/worktree/x; mkdir c/worktrees; "
                           "mv w c/worktrees/w; echo ../.. >c/worktrees/w/commondir; lead c/worktrees/w",
    "a worktree before the rest": "mkdir -p c/refs/heads c/worktrees/w/refs/worktree; head c; "
                                  "echo $ID >c/refs/heads/main; cd c/worktrees/w; echo ../.. >commondir; "
                                  "echo ref: refs/worktree/x >HEAD; "
                                  "echo \"ref: refs/heads/$B\" >refs/worktree/x; cd ../../..; "
                                  "objects c/objects; lead c/worktrees/w",
}

def shown(fx):
    """Where HEAD of lib leads, as a prompt would show it."""
    if not fx.path("lib/.git").exists():
        return ""
    return fx.run("git", "symbolic-ref", "HEAD", cwd=fx.path("lib")).stdout.strip()


def clean(fx):
    for name in ("c", "c.git", "d", "d.git", "lib", "r", "o", "x", "w", "rebase-merge"):
        path = fx.path(name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def bring(fx, script, name, boxed):
    words = ("bash", "-c", PREPARE + script)
    if boxed:
        return fx.sandbash("--consent=deny", "--quiet", *words, env={"B": name})
    return fx.run(*native(*words), env={"B": name})


def project(fx):
    fx.git_project()
    equal(fx.run("git", "commit", "-q", "--allow-empty", "-m", "one").status, 0)


def way_test(script):
    def attack(fx):
        project(fx)
        equal(bring(fx, script, EVIL, False).status, 0, "the control")
        check(shown(fx).endswith(EVIL), f"the control: {shown(fx)}")
        clean(fx)
        bring(fx, script, EVIL, True)  # what a redirection was refused is not in its status
        lacks(shown(fx), EVIL)
        clean(fx)
        result = bring(fx, script, HARMLESS, True)
        equal(result.status, 0, f"the neighbour: {result.stderr}")
        check(shown(fx).endswith(HARMLESS), f"the neighbour: {shown(fx)}")
    return attack


for title, what in WAYS.items():
    test(f"P3 a branch that is a command: {title}", variants=BOTH)(way_test(what))


# What a clone may have brought: nobody obeys it until something leads there.
BROUGHT = "mkdir -p c/refs; objects c/objects; head c; branch c/refs; git init -q --bare t; cp t/config c; rm -rf t"


def brought(fx, then, effect):
    """c is there before the run, by a name that says nothing."""
    for name in (EVIL, HARMLESS):
        clean(fx)
        equal(bring(fx, BROUGHT, name, False).status, 0)
        equal(bring(fx, then, name, False).status, 0, "the control")
        check(effect(), "the control")
        clean(fx)
        equal(bring(fx, BROUGHT, name, False).status, 0)
        result = bring(fx, then, name, True)
        equal(effect(), name == HARMLESS, f"{name}: {result.stderr}")


@test("P3 a git directory that was there: a .git file that leads to it", variants=BOTH)
def led(fx):
    project(fx)
    brought(fx, "lead c", lambda: fx.path("lib/.git").exists())


@test("P3 a git directory that was there: it gets another name", variants=BOTH)
def renamed(fx):
    project(fx)
    brought(fx, "mv c c.git", fx.path("c.git").exists)
    brought(fx, "mv c d", fx.path("d").exists)


@test("P3 a git directory that was there, with a setting that runs something: a .git file", variants=BOTH)
def led_config(fx):
    project(fx)
    for line, lands in (("fsmonitor = ./x", False), ("logAllRefUpdates = true", True)):
        for then in ("lead c", "mkdir -p c/worktrees/w; cd c/worktrees/w; echo ../.. >commondir; "
                     "echo ref: refs/heads/main >HEAD; cd ../../..; lead c/worktrees/w"):
            clean(fx)
            equal(bring(fx, BROUGHT + f"; printf '[core]\\n\\t{line}\\n' >>c/config", HARMLESS, False).status, 0)
            result = bring(fx, then, HARMLESS, True)
            equal(fx.path("lib/.git").exists(), lands, f"{line}: {then}: {result.stderr}")
            clean(fx)
            equal(bring(fx, BROUGHT + ";" + then, HARMLESS, False).status, 0, "the control")
            check(fx.path("lib/.git").exists(), "the control")


@test("P3 more branches than can be looked through ask", variants=("full",))
def many(fx):
    project(fx)
    for count, lands in ((3000, True), (21000, False)):
        clean(fx)
        heads = fx.path("c/refs/heads")
        heads.mkdir(parents=True)
        for n in range(count):
            (heads / f"b{n}").touch()
        fx.sandbash("--consent=deny", "--quiet", "mkdir", "c/objects")
        equal(fx.path("c/objects").exists(), lands, str(count))
        if not lands:
            equal(fx.run("mkdir", "c/objects").status, 0, "the control")


@test("P3 directories that only look alike are left alone", variants=BOTH)
def alike(fx):
    project(fx)
    result = fx.sandbash("--consent=deny", "sh", "-c", """set -e
        mkdir -p docs/refs docs/svn worktrees/a/refs src/reftable
        for f in 'docs/refs/$(x)' docs/svn/y worktrees/a/refs/img src/reftable/t docs/git-p4.md; do echo text >"$f"; done
        mkdir -p objects; echo o >objects/o; mv docs/refs docs/sources; mv docs/svn worktrees/svn
        git init -q --bare b; git push -q b HEAD:refs/heads/new; git -C b branch other new
        git -C b pack-refs --all; git -C b branch -D other; mv b moved""")
    equal(result.status, 0, result.stderr)
    lacks(result.stderr, "refused")


# What may be called like a directory of git's beside the other one: how, and whether that asks.
THINGS = {
    "an empty file": (": >c/$B", False), "a file": ("echo x >c/$B", False),
    "a file, renamed": ("echo x >x; mv x c/$B", False), "a hard link": ("echo x >x; ln x c/$B", False),
    "a FIFO": ("mkfifo c/$B", False), "a directory": ("mkdir c/$B", False),
    "a closed directory": ("mkdir -m 0 c/$B; chmod 700 c/$B", False),
    "a directory, renamed": ("mkdir w; mv w c/$B", False),
    "two that change places": ("mkdir w; echo x >c/y; mv -T --exchange w c/y 2>/dev/null || "
                               "{ mv c/y x; mv -T w c/y; }; mv c/y c/$B", False),
    "a link": ("ln -s ../d c/$B", True), "a link, renamed": ("ln -s ../d x; mv -T x c/$B", True),
    "a link's second name": ("ln -s ../d x; ln -P x c/$B", True),
    "a directory with a link": ("mkdir w; ln -s ../d w/y; mv w c/$B", True),
}


@test("P3 half of a git directory: whatever gets the other name lands or is refused, by no other answer",
      variants=BOTH)
def halves(fx):
    project(fx)
    for there, name in (("objects", "refs"), ("refs", "objects")):
        for title, (script, asks) in THINGS.items():
            for hook in ("", "mkdir c/hooks; printf '#!/bin/sh\\n' >c/hooks/post-checkout; "
                         "chmod 755 c/hooks/post-checkout; "):
                made = f"mkdir -p c/{there} d; {hook}"
                for boxed in (False, True):
                    clean(fx)
                    equal(bring(fx, made, name, False).status, 0)
                    result = bring(fx, script, name, boxed)
                    lacks(result.stderr, "temporarily")  # EAGAIN, which no such call gives
                    what = f"{title}, {name}, {hook!r}: {result.stderr}"
                    equal(fx.path(f"c/{name}").is_symlink() or fx.path(f"c/{name}").exists(),
                          not boxed or not (asks or hook), what)
    clean(fx)


run_all()
