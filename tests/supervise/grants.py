"""P3: a rule for a directory is about files in it.  What a command makes of the directory, or puts into it under a
name that a program outside obeys, is asked about as in a project: by every door, in this run and the next."""

import shutil

from attack import works
from tap import check, equal, run_all, test

ALIAS = "printf '[alias]\\n\\tst = \"!touch %s\"\\n' \"$MARK\" >c/git/config"
FSMONITOR = ("printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n"
             "\\tfsmonitor = \"touch %s; false\"\\n' \"$MARK\" >config; echo 'ref: refs/heads/m' >HEAD")
HOOK = "mkdir -p hooks; printf '#!/bin/sh\\n' >hooks/pre-commit; chmod +x hooks/pre-commit"

# What a command does in a directory, and how somebody outside comes to obey it there.
SETTINGS = ("env", "HOME=.", "git", "st")
STATUS = ("git", "status")
DOORS = {
    "a link": (f"mkdir -p c/git; ln -s c .config; {ALIAS}", SETTINGS, "."),
    "a rename": (f"mkdir -p c/git; {ALIAS}; mv c .config", SETTINGS, "."),
    "a rename of what cannot be looked into":
        (f"mkdir -p c/git; {ALIAS}; chmod 000 c; mv c .config; chmod 755 .config", SETTINGS, "."),
    "a rename of a part": (f"mkdir -p c/git; {ALIAS}; mkdir .config; mv c/git .config/git", SETTINGS, "."),
    "an exchange": (f"mkdir -p c/git; {ALIAS}; mkdir .config; exch c .config", SETTINGS, "."),
    "a write": (f"mkdir -p c/git; {ALIAS}; mkdir -p .config/git; cp c/git/config .config/git/config", SETTINGS, "."),
    "refs last": (f"mkdir k; cd k; mkdir objects; {HOOK}; {FSMONITOR}; mkdir refs", STATUS, "k"),
    "objects last": (f"mkdir k; cd k; mkdir refs; {HOOK}; {FSMONITOR}; mkdir objects", STATUS, "k"),
    "refs renamed": (f"mkdir k; cd k; mkdir objects x; {FSMONITOR}; mv x refs", STATUS, "k"),
    "config last": (f"mkdir k; cd k; mkdir objects refs; {FSMONITOR}", STATUS, "k"),
    "itself": (f"mkdir objects refs; {FSMONITOR}", STATUS, "."),
    "itself, refs last": (f"mkdir objects; {HOOK}; {FSMONITOR}; mkdir refs", STATUS, "."),
    "a prepared .git": (f"mkdir g; cd g; mkdir objects refs; {FSMONITOR}; cd ..; mv g .git", STATUS, "."),
    "a prepared directory": (f"mkdir g; cd g; mkdir objects; {FSMONITOR}; mkdir refs; cd ..; mv g k", STATUS, "k"),
}
EXCHANGE = """#!/usr/bin/env python3
import ctypes, sys
libc = ctypes.CDLL(None)
sys.exit(libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2) != 0)
"""


def fresh(directory):
    """Emptied, not made anew: a rule is about this one."""
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            entry.chmod(0o755)
            shutil.rmtree(entry)
        else:
            entry.unlink()
    return directory


def is_obeyed(fx, directory, door):
    _, words, where = DOORS[door]
    mark = fx.dir / "ran"
    mark.unlink(missing_ok=True)
    if (directory / where).is_dir():
        fx.run(*words, cwd=directory / where)
    return mark.exists()


def pass_through(fx, directory, door, *flags):
    """The door is tried from inside, in a run that starts in the project; was it obeyed outside?"""
    fresh(directory)
    script = f"cd '{directory}' && {DOORS[door][0]}"
    fx.sandbash("--consent=deny", "--quiet", *flags, "sh", "-c", script, env=environment(fx))
    return is_obeyed(fx, directory, door)


def environment(fx):
    return {"MARK": fx.dir / "ran", "PATH": f"{fx.dir}/tools:/usr/local/bin:/usr/bin:/bin"}


def prepare(fx):
    fx.write(fx.dir / "tools/exch", EXCHANGE, 0o755)
    out = fx.home / "out"
    out.mkdir()
    for door, (script, _, _) in DOORS.items():
        fresh(out)
        fx.run("sh", "-c", script, cwd=out, env=environment(fx))
        check(is_obeyed(fx, out, door), f"control: {door}")
    return out


def refuses(fx, directory, what, *flags):
    for door in DOORS:
        check(not pass_through(fx, directory, door, *flags), f"{what}: {door}")
    # the neighbour: files
    result = fx.sandbash("--consent=deny", *flags, "sh", "-c", "mkdir -p d/e && echo x >d/e/f && mv d/e g",
                         cwd=fx.project) if directory == fx.project else fx.sandbash(
        "--consent=deny", *flags, "sh", "-c", 'cd "$1" && mkdir -p d/e && echo x >d/e/f && mv d/e g', "-", directory)
    works(result, what)
    equal((directory / "g/f").read_text(), "x\n", what)


@test("P3 a directory that a flag opens", variants=("full", "flat"))
def by_flag(fx):
    out = prepare(fx)
    refuses(fx, out, "--allow-write", f"--allow-write={out}")


@test("P3 a directory that a rule in a file opens, run after run")
def by_file(fx):
    out = prepare(fx)
    equal(fx.sandbash("--add-path", out).status, 0)
    refuses(fx, out, "--add-path")
    for door in ("itself", "refs last", "a link"):  # what one run has left is no reason for the next
        script = f"cd '{out}' && {DOORS[door][0]}"
        fresh(out)
        for _ in range(3):
            fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, env=environment(fx))
        check(not is_obeyed(fx, out, door), f"run after run: {door}")


@test("P3 the project, by its own rule, by a flag, and by the printed policy that is read back")
def project(fx):
    prepare(fx)
    refuses(fx, fx.project, "no flags")
    refuses(fx, fx.project, "--allow-write=.", "--allow-write=.")
    printed = fx.write(fx.dir / "printed", fx.sandbash("--print-policy").stdout)
    refuses(fx, fx.project, "read back", f"--policy={printed}")


@test("P3 the repository of a directory that a rule opens is not exchanged for a prepared one",
      variants=("full", "flat"))
def exchanged(fx):
    mark = fx.dir / "ran"
    script = f"""mkdir -p g/hooks && printf '#!/bin/sh\\ntouch {mark}\\n' >g/hooks/pre-commit && chmod +x g/hooks/pre-commit
cp -r .git/objects .git/refs .git/HEAD .git/config g; mv .git old && mv g .git || mv old .git"""
    commit = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    for flags in (["--allow-write=."], [f"--allow-write={fx.home}"], []):
        shutil.rmtree(fx.path(".git"), ignore_errors=True)
        fx.git_project()
        fx.sandbash("--consent=deny", "--quiet", *flags, "sh", "-c", script)
        works(fx.run(*commit), "the repository is there")
        check(not mark.exists(), str(flags))
    fx.run("sh", "-c", f"rm -rf g old; {script}")
    fx.run(*commit)
    check(mark.exists(), "control")


NAMED = (  # rule, name, opened
    ("write .git/hooks", ".git/hooks/x", True),
    ("write .git", ".git/hooks/x", True),
    ("write .git/hooks/x", ".git/hooks/x", True),
    ("write bare.git", "bare.git/hooks/x", True),
    ("write bare.git/hooks", "bare.git/hooks/x", True),
    ("write bare", "bare/hooks/x", False),
    ("write bare/hooks", "bare/hooks/x", False),
    ("write bare/hooks/x", "bare/hooks/x", True),
    ("write .vscode", "sub/.vscode/tasks.json", False),
    ("write sub/.vscode", "sub/.vscode/tasks.json", True),
    ("write sub", "sub/.vscode/tasks.json", False),
    ("write **/.envrc", "sub/.envrc", True),
    ("write **/.vscode", "sub/.vscode/tasks.json", True),
    ("write **/tasks.json", "sub/.vscode/tasks.json", False),
    ("write **/hooks", ".git/hooks/x", False),
    ("write **/.git/hooks", ".git/hooks/x", True),
    ("write tools", "tools/bazel", False),
    ("write tools/bazel", "tools/bazel", True),
    ("write githooks", "githooks/pre-commit", False),
    ("write githooks/pre-commit", "githooks/pre-commit", True),
    ("write .config", ".config/autostart/x.desktop", False),
    ("write .config/autostart", ".config/autostart/x.desktop", True),
)


@test("P3 which rule names a guarded file: the table of sandbash-rules(5)", variants=("full", "flat"))
def named(fx):
    fx.git_project()
    fx.run("git", "config", "core.hooksPath", "githooks")
    for name in ("bare", "bare.git"):
        works(fx.run("git", "init", "-q", "--bare", name))
    for rule, name, opened in NAMED:
        path = fx.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        result = fx.sandbash("--consent=deny", "--quiet", f"--rule={rule}", "sh", "-c", 'echo x >"$1"', "-", name)
        equal((result.status == 0, path.exists()), (opened, opened), f"{rule}: {name}")
        path.write_text("old")
        result = fx.sandbash("--consent=deny", "--quiet", f"--rule={rule}", "chmod", "755", name)
        if "hooks" in name:
            equal(result.status == 0, opened, f"{rule}: chmod {name}")
        path.unlink(missing_ok=True)
        works(fx.run("sh", "-c", 'echo x >"$1"', "-", name), "control")
        path.unlink()


run_all()
