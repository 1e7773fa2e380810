"""P3: git keeps working where its data lies outside the current directory, and nothing more opens.

A linked worktree and a submodule as the project: the parts of the main repository that git
needs are writable, its hooks, config and other files are not.
"""

from pathlib import Path

from attack import CROSSING, act, boxed, refused, signature, unchanged, works
from tap import SUPERVISED, check, equal, lacks, run_all, test

COMMIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b")


def git(fx, *words, cwd):
    return fx.run("git", "-c", "protocol.file.allow=always", *words, cwd=cwd)


def commit_inside(fx, tree, message):
    (tree / "new").write_text(message)
    equal(fx.sandbash("git", "add", "new", cwd=tree).status, 0)
    done = fx.sandbash(*COMMIT, "commit", "-qm", message, cwd=tree)
    equal(done.status, 0)
    lacks(done.stderr, "refused")
    equal(git(fx, "log", "-1", "--format=%s", cwd=tree).stdout.strip(), message)
    equal(git(fx, "fsck", "--strict", cwd=tree).status, 0)


def linked(fx):
    """The project as main repository, and a linked worktree beside it."""
    fx.git_project()
    equal(fx.run(*COMMIT, "commit", "-qm", "first", "--allow-empty").status, 0)
    tree = fx.home / "tree"
    equal(fx.run("git", "worktree", "add", "-q", tree).status, 0)
    return tree


def held(fx, *names):
    """Names inside a writable part: without mounts only the supervisor holds them, and it is said."""
    return names if SUPERVISED or fx.variant == "full" else ()


def outside_stays(fx, tree, top, names):
    """What git does not need there: refused inside, possible outside."""
    for name in names:
        # a guard looks at what git worktree writes there, so that directory is open
        if SUPERVISED and name == ".git/worktrees/other":
            continue
        before = signature(top)
        result = boxed(fx, "open", "wronly+creat", str(top / name), cwd=tree)
        # these may be opened: what is written is looked at when it is closed, and dropped
        if not (SUPERVISED and Path(name).name in ("config", "config.worktree", "commondir")):
            refused(result, CROSSING, name)
        unchanged(before, top, name)
        works(act(fx, "open", "wronly+creat", str(top / name), cwd=tree), f"control {name}")


@test("P3 worktree: commit, branch, stash and reset in a linked worktree", variants=("full", "flat"))
def linked_worktree(fx):
    tree = linked(fx)
    commit_inside(fx, tree, "inside")
    for words in (("branch", "other"), ("switch", "-q", "other"), ("tag", "v1"),
                  ("reset", "-q", "--hard", "HEAD^")):
        done = fx.sandbash("git", *words, cwd=tree)
        equal(done.status, 0, str(words))
        lacks(done.stderr, "refused", str(words))
    (tree / "new").write_text("changed")
    equal(git(fx, "add", "new", cwd=tree).status, 0)
    equal(fx.sandbash(*COMMIT, "stash", cwd=tree).status, 0)
    equal(fx.sandbash(*COMMIT, "stash", "pop", cwd=tree).status, 0)


@test("P3 worktree: the rest of the main repository stays closed", variants=("full", "flat"))
def linked_closed(fx):
    tree = linked(fx)
    works(boxed(fx, "open", "wronly+creat", str(fx.project / ".git/objects/new"), cwd=tree))
    # the last one's control cuts the worktree off
    outside_stays(fx, tree, fx.project,
                  ("file", ".git/HEAD", ".git/index", ".git/config", ".git/hooks/pre-commit",
                   ".git/new", ".git/worktrees/other",
                   *((".git/worktrees/tree/config.worktree",) if SUPERVISED else ()),
                   *held(fx, ".git/info/exclude", ".git/worktrees/tree/commondir")))


@test("P3 worktree: a .git file that nobody points back to opens nothing", variants=("full", "flat"))
def forged(fx):
    tree = linked(fx)
    evil = fx.home / "evil"
    evil.mkdir()
    for target in (fx.project / ".git/worktrees/tree", fx.project / ".git"):
        (evil / ".git").write_text(f"gitdir: {target}\n")
        refused(boxed(fx, "open", "wronly+creat", str(fx.project / ".git/objects/new"), cwd=evil),
                CROSSING)
        check(not (fx.project / ".git/objects/new").exists())
    works(boxed(fx, "open", "wronly+creat", str(fx.project / ".git/objects/new"), cwd=tree))


@test("P3 worktree: a rule of the user keeps the main repository closed")
def closed_by_rule(fx):
    tree = linked(fx)
    refused(boxed(fx, "open", "wronly+creat", str(fx.project / ".git/objects/new"), cwd=tree,
                  flags=(f"--rule=read {fx.project}",)), CROSSING)


@test("P3 worktree: commit in a submodule", variants=("full", "flat"))
def submodule(fx):
    fx.git_project()
    source = fx.home / "source"
    equal(fx.run("git", "init", "-q", source).status, 0)
    equal(fx.run(*COMMIT, "commit", "-qm", "first", "--allow-empty", cwd=source).status, 0)
    equal(git(fx, "submodule", "--quiet", "add", source, "sub", cwd=fx.project).status, 0)
    tree = fx.project / "sub"
    commit_inside(fx, tree, "inside")
    outside_stays(fx, tree, fx.project,
                  ("file", ".git/HEAD", ".git/config", ".git/hooks/pre-commit", ".git/objects/new",
                   *held(fx, ".git/modules/sub/config", ".git/modules/sub/hooks/pre-commit")))


run_all()
