"""detours.py - P3: what git obeys is brought about by moving and closing things, one step at a time.

Each step alone is harmless; at the end something would run.  Whichever step is refused, the end must not
come about.  Without a sandbox it does.
"""

import os
import shutil
import stat

from tap import check, equal, lacks, run_all, test

BOTH = ("full", "flat")
EVIL = "#!/bin/sh\necho evil\n"

TODO = "printf 'exec touch evil\\n' >"
DETOURS = {
    "a list of commands, while .git is no git directory":
        ("mv .git q; mv q/refs q/r2; mkdir q/t; " + TODO + "q/t/git-rebase-todo; "
         "mv q/t q/rebase-merge; mv q/r2 q/refs; mv q .git", ".git/rebase-merge/git-rebase-todo"),
    "the same, and it never becomes one before it has its name":
        ("mv .git q; mv q/refs r2; mkdir q/t; " + TODO + "q/t/git-rebase-todo; "
         "mv q/t q/rebase-merge; mv q .git; mv r2 .git/refs",
         ".git/rebase-merge/git-rebase-todo"),
    "a list of commands, in a repository that is made":
        ("mkdir -p n/q/objects n/q/t; echo 'ref: refs/heads/main' >n/q/HEAD; " + TODO +
         "n/q/t/git-rebase-todo; mv n/q/t n/q/rebase-merge; mkdir n/q/refs; mv n/q n/.git",
         "n/.git/rebase-merge/git-rebase-todo"),
    "a link in the place of one":
        ("mkdir evil; " + TODO + "evil/git-rebase-todo; mv .git q; mv q/refs q/r2; "
         "ln -s ../evil q/rebase-merge; mv q/r2 q/refs; mv q .git",
         ".git/rebase-merge/git-rebase-todo"),
    "hooks beside a repository whose .git is away":
        ("cd sub; mv .git gg; printf '#!/bin/sh\\n' >.githooks/pre-commit; "
         "chmod 755 .githooks/pre-commit; mv gg .git", "sub/.githooks/pre-commit"),
    "hooks inside one that is away":
        ("cd inner; mv .git gg; mkdir -p gg/own; printf '#!/bin/sh\\n' >gg/own/pre-commit; "
         "chmod 755 gg/own/pre-commit; mv gg .git", "inner/.git/own/pre-commit"),
    "hooks beside a repository whose config is closed":
        ("cd sub; chmod 000 .git/config; printf '#!/bin/sh\\n' >.githooks/pre-commit; "
         "chmod 755 .githooks/pre-commit; chmod 644 .git/config", "sub/.githooks/pre-commit"),
    "a directory of hooks, moved to a repository whose .git is closed":
        ("mkdir h; printf '#!/bin/sh\\n' >h/pre-commit; chmod 755 h/pre-commit; cd sub; "
         "rmdir .githooks; chmod 000 .git; mv ../h .githooks; chmod 755 .git",
         "sub/.githooks/pre-commit"),
    "a directory that looks like git's, and came with hooks":
        ("mv .git .old; mv embedded .git", ".git/hooks/post-commit"),
    "the same, beside":
        ("mkdir n; mv embedded n/.git", "n/.git/hooks/post-commit"),
    "a way to git's directory that leads elsewhere once it is moved":
        ("mkdir -p a/b a/x; echo 'gitdir: ../x/.git' >a/b/.git; chmod 000 a/b/.git; mv a/b b; "
         "chmod 644 b/.git", "b/.git"),
}


def prepare(fx):
    for name in os.listdir(fx.project):
        os.chmod(fx.path(name), 0o755)
        if fx.path(name).is_dir():
            for git in (".git", "gg"):
                if (fx.path(name) / git).is_dir():
                    os.chmod(fx.path(name) / git, 0o755)
            shutil.rmtree(fx.path(name))
        else:
            fx.path(name).unlink()
    for name, hooks in (("", None), ("sub", ".githooks"), ("inner", ".git/own")):
        place = fx.project / name
        place.mkdir(exist_ok=True)
        fx.run("git", "init", "-q", cwd=place)
        shutil.rmtree(place / ".git/hooks", ignore_errors=True)
        if hooks:
            fx.run("git", "config", "core.hooksPath", hooks, cwd=place)
    fx.path("sub/.githooks").mkdir()
    fx.run("git", "init", "-q", "--bare", "embedded")
    fx.write("embedded/hooks/post-commit", "#!/bin/sh\n", 0o755)


def is_there(fx, name):
    """As git would find it: readable, in a repository that is one."""
    first = name.split("/")[0]
    repository = fx.project if first == ".git" else fx.path(first)
    path = fx.path(name)
    return (path.exists() and (repository / ".git").exists() and
            path.stat().st_mode & stat.S_IRUSR != 0)


def detour(script, name):
    def attack(fx):
        os.chmod(fx.project, 0o755)
        prepare(fx)
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
        check(not is_there(fx, name), f"planted; {result.stderr}")
        prepare(fx)
        fx.run("sh", "-c", script)
        check(is_there(fx, name), "the control")
    return attack


for title, (what, where) in DETOURS.items():
    test(f"P3 {title}", variants=BOTH)(detour(what, where))


@test("P3 the neighbours: moving a repository's data and back, directories, closed files",
      variants=BOTH)
def neighbours(fx):
    prepare(fx)
    fx.run("git", "config", "--unset", "core.hooksPath", cwd=fx.path("sub"))
    result = fx.sandbash("--consent=deny", "sh", "-ec", """
mv .git q; mv q .git; git status >/dev/null
mv sub/.git sub/gg; mv sub/gg sub/.git; git -C sub status >/dev/null
mkdir -p a/b; mv a/b c; mkdir rebase-merge sequencer; mv rebase-merge r2
mkdir d; echo x >d/update; mv d e; echo x >pre-commit
cd sub; echo x >f; chmod 000 f; mv f g; mkdir h; mv h i""")
    equal(result.status, 0, result.stderr)
    lacks(result.stderr, "refused")


@test("P3 a relative hooksPath of the user's own counts in every repository", variants=("full", "flat"))
def hooks_everywhere(fx):
    fx.write(fx.home / ".gitconfig", "[core]\n\thooksPath = ./.githooks/\n")
    for name in ("", "sub"):
        fx.run("git", "init", "-q", fx.project / name)
    attempts = {"mkdir -p sub/.githooks; echo x >sub/.githooks/pre-commit": "sub/.githooks/pre-commit",
                "mkdir -p a/b/.githooks; echo x >a/b/.githooks/commit-msg": "a/b/.githooks/commit-msg",
                "mkdir -p q/h; echo x >q/h/pre-commit; mv q/h q/.githooks": "q/.githooks/pre-commit"}
    for script, planted in attempts.items():
        fx.run("sh", "-c", script)
        check(fx.exists(planted), "the control")
        shutil.rmtree(fx.path(planted).parent)
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
        check(not fx.exists(planted), planted)
    equal(fx.sandbash("sh", "-c", "mkdir -p sub/tools; echo x >sub/tools/pre-commit; "
                      "echo x >sub/.githooks/README").status, 0, "the neighbours")


run_all()
