"""git_directories.py - a directory in .git can be a message: that it is there makes a shell trust the project's programs."""

import shutil

from compare import native
from tap import check, contains, equal, run_all, test

BOTH = ("full", "flat")

# What a start file of a shell has: the programs of projects that the person has blessed with "mkdir .git/safe".
OUTSIDE = "PATH=.git/safe/../../bin:$PATH; ls"
PROGRAM = 'mkdir -p bin; printf "#!/bin/sh\\necho taken\\n" >bin/ls; chmod +x bin/ls; '
WAYS = {
    "made": "mkdir .git/safe",
    "all at once": "mkdir -p .git/safe/x",
    "renamed": "mkdir x; mv x .git/safe",
    "renamed inside": "mkdir .git/objects/x; mv .git/objects/x .git/safe",
    "with a prepared tree": "mkdir -p x/safe; cp -r .git/. x; mv .git away; mv x .git || { mv away .git; exit 1; }",
    "a link": "ln -s objects .git/safe",
}


def outside(fx):
    return fx.run("sh", "-c", OUTSIDE, cwd=fx.project).stdout


@test("a directory that git does not make asks in .git, however it comes there", variants=BOTH)
def asks(fx):
    for name, way in WAYS.items():
        for boxed in (False, True):
            shutil.rmtree(fx.project)
            fx.project.mkdir()
            fx.git_project()
            words = ["sh", "-c", PROGRAM + way]
            result = fx.sandbash("--consent=deny", *words) if boxed else fx.run(*native(*words), cwd=fx.project)
            if boxed:
                check(result.status != 0, f"{name} was let")
                check("taken" not in outside(fx), name)
                check(not (fx.project / ".git/safe").exists(), name)
            else:
                equal(result.status, 0, f"the control, {name}: {result.stderr}")
                contains(outside(fx), "taken", f"the control, {name}")


@test("directories of git and of its tools land, and what lies deeper", variants=BOTH)
def lands(fx):
    fx.git_project()
    result = fx.sandbash("--consent=deny", "sh", "-c", """set -e
cd .git; mkdir -p annex lfs/objects svn sl branchless gitbutler filter-repo rebase-merge refs/heads/safe objects/safe lost-found/x
mkdir x || echo asked; cd ..; mkdir safe x; mv x .git/patches; rmdir .git/patches
git init -q deep; git worktree add -q --orphan -b w w 2>/dev/null || git commit -q --allow-empty -m a; git status""",
                         env={"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
                              "GIT_COMMITTER_EMAIL": "a@b"})
    equal(result.status, 0, result.stderr)
    contains(result.stdout, "asked")


@test("a rule that names such a directory opens it, one around it does not", variants=BOTH)
def named(fx):
    fx.git_project()
    for rule, status in ((fx.project / ".git", 1), (fx.project / ".git/safe", 0)):
        equal(fx.sandbash("--consent=deny", f"--allow-write={rule}", "mkdir", ".git/safe").status, status, str(rule))


run_all()
