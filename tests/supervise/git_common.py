"""git_common.py - P3: a run in a linked worktree or a submodule takes nothing away from the repository around it.

Each act works without the sandbox and is refused with it; what git itself does there every day, gc and
further worktrees included, is not asked about.
"""

import shutil

from compare import native
from tap import SUPERVISED, check, equal, lacks, run_all, test

BOTH = ("full", "flat")
# $M is the common git directory.
AWAY = {
    "config removed": "rm -f $M/config",
    "config emptied": ": >$M/config",
    "config emptied by truncate": "truncate -s 0 $M/config",
    "config replaced by less": "echo '[core]' >$M/config.lock; mv $M/config.lock $M/config",
    "config moved away": "mv $M/config $M/config.lock",
    "config moved out": "mv $M/config stolen",
    "HEAD moved": "mv $M/HEAD stolen",
    "refs moved": "mv $M/refs stolen",
    "logs moved": "mv $M/logs stolen",
    "objects moved": "mv $M/objects stolen",
    "info moved": "mv $M/info stolen",
    "refs exchanged": "mkdir -p r/heads; python3 -c 'import ctypes, os; "
                      "ctypes.CDLL(None).renameat2(-100, b\"r\", -100, os.fsencode(os.environ[\"M\"] + \"/refs\"), 2)'",
    "packed-refs removed": "rm -f $M/packed-refs",
    "refs closed": "chmod 0 $M/refs",
    "ignoring more": "echo '*' >>$M/info/exclude",
    "another's exclude": "rm -f $M/info/exclude",
    "attributes": "echo '* -diff' >$M/info/attributes",
}
OTHERS = {
    "another's HEAD": "echo 'ref: refs/heads/main' >$M/worktrees/other/HEAD",
    "another's index": "rm -f $M/worktrees/other/index",
    "another's gitdir": "rm -f $M/worktrees/other/gitdir",
    "another's place": "echo \"$PWD/.git\" >$M/worktrees/other/gitdir",
    "another's commondir": "rm -f $M/worktrees/other/commondir",
    "another's directory": "mv $M/worktrees/other stolen",
    "another locked": ": >$M/worktrees/other/locked",
    "something new there": "mkdir $M/worktrees/other/rebase-merge",
    "all worktrees": "mv $M/worktrees stolen",
    "what the main one has checked out": "echo /nothing >$M/info/sparse-checkout",
    "the same by a rename": "echo /nothing >x; mv x $M/info/sparse-checkout",
    "what another has checked out": "mkdir -p $M/worktrees/other/info; echo /nothing >$M/worktrees/other/info/sparse-checkout",
    "where the main one's bisection stands": "mkdir -p $M/refs/bisect; git rev-parse HEAD >$M/refs/bisect/bad",
}


def git(fx, *words, cwd):
    result = fx.run("git", "-c", "protocol.file.allow=always", *words, cwd=cwd)
    equal(result.status, 0, f"{words}: {result.stderr}")
    return result.stdout


def linked(fx):
    """A worktree, beside another; and the common directory."""
    fx.git_project()
    git(fx, "commit", "-q", "--allow-empty", "-m", "one", cwd=fx.project)
    git(fx, "branch", "release", cwd=fx.project)
    git(fx, "config", "core.hooksPath", "/opt/hooks", cwd=fx.project)
    git(fx, "pack-refs", "--all", cwd=fx.project)
    for name in ("tree", "other"):
        git(fx, "worktree", "add", "-q", fx.home / name, cwd=fx.project)
    return fx.home / "tree", fx.project / ".git"


def submodule(fx):
    fx.git_project()
    git(fx, "commit", "-q", "--allow-empty", "-m", "one", cwd=fx.project)
    outer = fx.home / "outer"
    git(fx, "init", "-q", outer, cwd=fx.home)
    git(fx, "submodule", "--quiet", "add", fx.project, "sub", cwd=outer)
    git(fx, "pack-refs", "--all", cwd=outer / "sub")
    return outer / "sub", outer / ".git/modules/sub"


def state(top):
    """What is there: names, modes and contents; but for locks, which anybody may take."""
    return {str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
            for path in [top, *top.rglob("*")] if path.suffix != ".lock"}


def same(top, before, message):
    after = state(top)
    differ = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    equal(differ, [], message)


def hold(fx, make, acts):
    tree, common = make(fx)
    saved = fx.dir / "common"
    shutil.copytree(common, saved, symlinks=True)
    for title, script in acts.items():
        env = {"M": common}
        before = state(common)
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, cwd=tree, env=env)
        same(common, before, title)
        equal(fx.run(*native("sh", "-c", script), cwd=tree, env=env).status, 0, f"the control: {title}")
        check(state(common) != before, f"the control: {title}")
        fx.run("sh", "-c", "rm -rf stolen r; chmod 700 $M/refs; rm -rf $M; cp -a $S $M", cwd=tree,
               env={"M": common, "S": saved})


@test("P3 a linked worktree: the repository around it keeps what it has", variants=BOTH)
def worktree_keeps(fx):
    hold(fx, linked, AWAY | OTHERS)


@test("P3 a submodule: its repository keeps what it has", variants=BOTH)
def submodule_keeps(fx):
    hold(fx, submodule, AWAY)


DAILY = """set -e
git config branch.x.description y; git config --unset branch.x.description; git branch -q topic; git branch -q -d topic
echo 1 >new; git add new; git commit -q -m new; git stash list; git tag t; git branch -D -q release 2>/dev/null || true
git reflog expire --expire=now --all; git gc -q --prune=now; git pack-refs --all; git update-server-info
git notes add -m n; git remote add r "$PWD"; git remote remove r
git sparse-checkout set --no-cone '/*' >/dev/null; git sparse-checkout disable
git bisect start HEAD HEAD~1 >/dev/null; git bisect reset 2>/dev/null
"""


@test("P3 a linked worktree and a submodule: daily work, and gc, are not asked about", variants=BOTH)
def daily(fx):
    for make in (linked, submodule):
        tree, common = make(fx)
        script = DAILY
        if make is linked:  # another one's that is gone; and one of this run's own
            git(fx, "worktree", "add", "-q", fx.home / "gone", cwd=fx.project)
            shutil.rmtree(fx.home / "gone")
            script += "git worktree prune; git worktree add -q inner; git -C inner status; git worktree remove inner\n"
        result = fx.sandbash("--consent=deny", "sh", "-c", script, cwd=tree)
        equal(result.status, 0, f"{make.__name__}: {result.stderr}")
        lacks(result.stderr, "refused", make.__name__)
        if make is linked:
            check(not (common / "worktrees/gone").exists(), "pruned")
            check((common / "worktrees/other/HEAD").exists(), "the other one")
            git(fx, "status", cwd=fx.home / "other")
        shutil.rmtree(fx.project)
        fx.project.mkdir()


@test("P3 a git config of the project is not emptied, but may go with its repository", variants=BOTH)
def emptied(fx):
    fx.git_project()
    before = fx.read(".git/config")
    for script in (": >.git/config", "truncate -s 0 .git/config", "echo >x; mv x .git/config"):
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
        equal(fx.read(".git/config"), before, script)
        equal(fx.run("sh", "-c", script).status, 0, f"the control: {script}")
        check(not fx.read(".git/config").strip(), f"the control: {script}")
        fx.write(".git/config", before)
    result = fx.sandbash("--consent=deny", "sh", "-c", """set -e
        git config extensions.worktreeConfig true; git config --worktree user.name x; git config --worktree --unset user.name
        git init -q n; rm -rf n; rm .git/config; rm -rf .git; git init -q""")
    equal(result.status, 0, result.stderr)
    lacks(result.stderr, "refused")


@test("P3 more links of the home directory into the project than can be handed on: everything asks", variants=BOTH)
def lost(fx):
    tree, common = linked(fx)
    links = fx.home / ".claude"  # each name of it that is a link is followed
    links.mkdir(parents=True)
    for number in range(2200):
        (links / f"{number}.json").symlink_to(tree / f"{number}")
    before = state(common)
    for script in ("rm -f $M/config", "chmod 0 $M/refs", "rm -f $M/packed-refs",
                   "mkdir $M/worktrees/other/rebase-merge", "echo x >name"):
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, cwd=tree, env={"M": common})
        same(common, before, script)
    check(not (tree / "name").exists(), "the project")
    for link in list(links.iterdir())[10:]:
        link.unlink()
    equal(fx.sandbash("--consent=deny", "--quiet", "sh", "-c", "echo x >name", cwd=tree).status, 0, "with fewer")


@test("P3 who opens the repository with a rule may take it away")
def opened(fx):
    tree, common = linked(fx)
    result = fx.sandbash("--consent=deny", f"--allow-write={fx.project}", "rm", "-rf", common, cwd=tree)
    lacks(result.stderr, "part of the repository", result.stderr)
    check(not (common / "refs").exists(), result.stderr)


if SUPERVISED:
    run_all()
