"""git_temporary.py - ".NAME.XXXXXX" in a git directory, under which rsync writes what becomes NAME: judged like NAME."""

import shutil

from compare import native
from tap import Skip, check, equal, lacks, run_all, test

ID = "0123456789012345678901234567890123456789"
EVIL_REF = "ref: refs/heads/$(touch${IFS}planted)\n"
PROGRAM = "[core]\n\tfsmonitor = touch planted\n"
HOOK = "#!/bin/sh\ntouch planted\n"

# a name in the git directory, what would land there and may not, and what may
NAMES = [
    (".HEAD.aB3dE6", EVIL_REF, "ref: refs/heads/other\n"),
    (".config.aB3dE6", PROGRAM, "[core]\n\tbare = false\n"),
    ("refs/heads/.side.aB3dE6", EVIL_REF, ID + "\n"),
    (".packed-refs.aB3dE6", f"{ID} refs/heads/$(touch${{IFS}}planted)\n", f"{ID} refs/heads/side\n"),
    ("rebase-merge/.git-rebase-todo.aB3dE6", "exec touch planted\nbogus", f"pick {ID} x\n"),
]
# of no name that is known, or not of this form: with whatever is in it
UNKNOWN = [".evil.aB3dE6", "..HEAD.aB3dE6", ".HEAD.aB3dE", ".HEAD.aB3dE67", ".HEAD.aB3d-6", ".HEAD.lock.x",
           "hooks/.pre-commit.aB3dE6", "hooks/.sample.aB3dE6", "branches/.x.aB3dE6", "refs/heads/.$(x).aB3dE6",
           "refs/heads/.x/.y.aB3dE6", "refs/heads/..side.aB3dE6"]


def put(fx, name, text, boxed=True):
    """Is the file there then, with this text?"""
    path = fx.path(".git") / name
    words = ["bash", "-c", 'mkdir -p "$(dirname "$1")" && printf %s "$2" >"$1"', "bash", path, text]
    fx.sandbash("--consent=deny", "--quiet", *words) if boxed else fx.run(*native(*words))
    landed = path.exists() and path.read_text() == text
    path.unlink(missing_ok=True)
    return landed


@test("what may not land at a name may not on its way there; what may, may")
def judged(fx):
    fx.git_project()
    for name, evil, harmless in NAMES:
        check(put(fx, name, evil, boxed=False), f"the control: {name}")
        check(not put(fx, name, evil), f"landed: {name}")
        check(put(fx, name, harmless), f"neighbour: {name}")


@test("names on their way to nothing that is known ask, whatever is in them")
def unknown(fx):
    fx.git_project()
    for name in UNKNOWN:
        check(put(fx, name, "", boxed=False), f"the control: {name}")
        check(not put(fx, name, ""), f"landed: {name}")


@test("a sample of a hook may be on its way, and does not become the hook; links are none of these")
def hooks(fx):
    fx.git_project()
    sample, hook = fx.path(".git/hooks/.pre-commit.sample.aB3dE6"), fx.path(".git/hooks/pre-commit")
    fx.write(fx.path("made"), HOOK)
    script = f"cp made {sample} && chmod +x {sample} && mv {sample} %s"
    equal(fx.run(*native("bash", "-c", script % hook)).status, 0, "the control")
    hook.unlink()
    check(fx.sandbash("--consent=deny", "--quiet", "bash", "-c", script % hook).status != 0)
    check(not hook.exists() and sample.exists())
    equal(fx.sandbash("--consent=deny", "--quiet", "mv", sample, f"{hook}.sample").status, 0)
    for name in (".HEAD.aB3dE6", "hooks/.x.sample.aB3dE6"):
        result = fx.sandbash("--consent=deny", "--quiet", "ln", "-s", "/etc/hostname", fx.path(".git") / name)
        check(result.status != 0, name)


@test("git does not take such a file for a branch, a tag or a hook: what the list relies on")
def not_read(fx):
    fx.git_project()
    head = fx.run("git", "rev-parse", "HEAD").stdout
    fx.write(".git/refs/heads/.side.aB3dE6", head)
    fx.write(".git/hooks/.pre-commit.sample.aB3dE6", HOOK)
    fx.path(".git/hooks/.pre-commit.sample.aB3dE6").chmod(0o755)
    fx.write(".git/.config.aB3dE6", PROGRAM)
    lacks(fx.run("git", "for-each-ref").stdout + fx.run("git", "branch", "-a").stdout, "side")
    check(fx.run("git", "rev-parse", "refs/heads/.side.aB3dE6").status != 0)
    equal(fx.run("git", "commit", "-q", "--allow-empty", "-m", "x").status, 0)
    equal(fx.run("git", "status").status, 0)
    check(not fx.exists("planted"))


@test("rsync -a brings a checkout, without a question, and it is one; a hook in it is left out")
def rsync(fx):
    if not shutil.which("rsync"):
        raise Skip("no rsync")
    fx.git_project()
    seed = fx.dir / "seed"
    equal(fx.run("git", "clone", "-q", fx.project, seed).status, 0)
    result = fx.sandbash("--consent=deny", "--quiet", "rsync", "-a", f"{seed}/", "copy")
    equal(result.status, 0, result.stderr)
    equal(fx.run("diff", "-r", seed, fx.path("copy")).stdout, "")
    equal(fx.run("git", "-C", fx.path("copy"), "status", "--porcelain").stdout, "")
    fx.write(seed / ".git/hooks/pre-commit", HOOK)
    check(fx.sandbash("--consent=deny", "--quiet", "rsync", "-a", f"{seed}/", "copy").status != 0)
    check(not fx.exists("copy/.git/hooks/pre-commit"))


run_all()
