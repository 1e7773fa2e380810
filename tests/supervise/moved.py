"""moved.py - P3: a directory that moves to where other rules hold takes along what is in it.

What lay in it before the run, vendor/x/.vscode/tasks.json, is nobody's where it lies; where a rule or an
answer opens the place that it goes to, it would be planted there.  Each way is tried without a sandbox,
where it plants, inside, and with a directory that has nothing guarded in it.
"""

import os
import shutil

from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
EVIL = "#!/bin/sh\necho evil\n"

# name in the directory that moves: its contents
BROUGHT = {
    ".vscode/tasks.json": "{}\n",
    "deep/er/.vscode/tasks.json": "{}\n",
    "sub/.git/hooks/pre-commit": EVIL,
    "sub/.git/config": "[core]\n\tfsmonitor = evil\n",
    "repo.d/hooks/pre-commit": EVIL,  # a git directory by what is in it
    ".bashrc": EVIL,
    "a/.config/autostart/x.desktop": EVIL,
    "link/.vscode": None,  # a link
    "sub/.git": "gitdir: ../../../elsewhere/.git\n",
}
HARMLESS = {
    "file": "x\n",
    "deep/er/file": "x\n",
    "sub/.git/config": "[core]\n\tbare = false\n",
    "sub/.git/HEAD": "ref: refs/heads/main\n",
    "sub/.git/hooks/pre-commit.sample": EVIL,
    "sub/.vscode/none": "x\n",
}

EXCHANGE = "import ctypes,sys; sys.exit(bool(ctypes.CDLL(None,use_errno=True).renameat2(-100," \
           "sys.argv[1].encode(),-100,sys.argv[2].encode(),2)))"
RENAME = "import os,sys; os.rename(sys.argv[1], sys.argv[2])"


def make(top, names):
    shutil.rmtree(top, ignore_errors=True)
    for name, text in names.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            os.symlink("/nowhere", path)
        else:
            path.write_text(text)
            path.chmod(0o755)
    for name in ("repo.d", "sub/.git"):
        if (top / name).is_dir():
            (top / name / "objects").mkdir()
            (top / name / "refs").mkdir()


def prepare(fx, names, there=True):
    out = fx.home / "out"
    shutil.rmtree(out, ignore_errors=True)
    if there:
        out.mkdir()
    make(fx.path("x"), names)
    return out


def rename(fx, out, *flags, name="x", how=RENAME):
    """Between two mounts the kernel renames nothing; where a rule's place is made in the run, and where there
    are no mounts, it does."""
    return fx.sandbash(f"--allow-write={out}", "--consent=deny", "--quiet", *flags, "sh", "-c",
                       'mkdir -p "${3%/*}"; exec python3 -c "$1" "$2" "$3"', "-", how, "x",
                       str(out / name))


@test("P3 a directory is moved where a rule opens everything: names from before the run", variants=BOTH)
def to_a_rule(fx):
    for name, text in BROUGHT.items():
        for there in (True, False):
            out = prepare(fx, {name: text, "file": "x\n"}, there)
            result = rename(fx, out)
            check(result.status != 0 and not (out / "x").exists(), f"{name}: {result.stderr}")
            check(os.path.lexists(fx.path("x") / name), f"{name} is still there")
            contains(result.stderr, "Permission" if not there else "", name)
            os.rename(fx.path("x"), out / "x")
            check(os.path.lexists(out / "x" / name), f"the control: {name}")
    out = prepare(fx, HARMLESS, False)
    result = rename(fx, out)
    equal((result.status, (out / "x" / "deep/er/file").exists()), (0, True), result.stderr)
    lacks("\n".join(os.listdir(fx.project) + os.listdir(out)), "sandbash-hold")


@test("P3 a directory that gets a guarded name where a rule opens everything", variants=BOTH)
def to_a_guarded_name(fx):
    for inner, name in (("tasks.json", ".vscode"), ("hooks/pre-commit", ".git"), ("x.desktop", ".config/autostart")):
        out = prepare(fx, {inner: EVIL}, False)
        result = rename(fx, out, name=name)
        check(result.status != 0 and not (out / name).exists(), f"{name}: {result.stderr}")
        os.rename(fx.path("x"), out / name)
    out = prepare(fx, {"none": "x\n"}, False)
    equal(rename(fx, out, name=".vscode").status, 0)


@test("P3 a rule for the very name opens it, also in a directory that moves", variants=BOTH)
def opened(fx):
    for rule, done in (("x/.vscode", True), ("x/.vscode/tasks.json", True), ("x", False), ("", False)):
        out = prepare(fx, {".vscode/tasks.json": "{}\n"}, False)
        if rule == "x":
            rule = "y"  # a rule for the place itself keeps all that is moved out, which may be a link
        result = rename(fx, out, f"--rule=write {out}/{rule or 'x/**'}")
        equal((result.status == 0, (out / "x").exists()), (done, done), f"{rule}: {result.stderr}")


@test("P3 two directories change places across rules: asks", variants=BOTH)
def exchanged(fx):
    for names in (HARMLESS, {".vscode/tasks.json": "{}\n"}):
        out = prepare(fx, names)
        make(out / "x", {"there": "x\n"})
        result = rename(fx, out, how=EXCHANGE)
        check(result.status != 0 and (out / "x" / "there").exists(), result.stderr)
        equal(fx.run("python3", "-c", EXCHANGE, "x", str(out / "x")).status, 0, "the control")
    out = prepare(fx, HARMLESS)
    make(fx.path("y"), {"there": "x\n"})
    equal(fx.sandbash("--consent=deny", "python3", "-c", EXCHANGE, "x", "y").status, 0, "the neighbour")


@test("P3 from outside, and between two projects", variants=BOTH)
def other_ways(fx):
    out = prepare(fx, {"file": "x\n"})
    make(out / "y", {".vscode/tasks.json": "{}\n"})
    flags = [f"--project={fx.project}", f"--project={out}", "--consent=deny", "--quiet"]
    result = fx.sandbash(*flags, "mv", "-T", str(out / "y"), "y")
    # mv copies where it cannot rename, and is refused each guarded name by itself
    check(not fx.path("y/.vscode/tasks.json").exists() and result.status != 0, result.stderr)
    equal(fx.sandbash(*flags, "mv", "-T", "x", str(out / "x")).status, 0)
    check((out / "x/file").exists(), "the neighbour")


@test("P3 inside a project directories move with all they have", variants=BOTH)
def within(fx):
    prepare(fx, {".vscode/tasks.json": "{}\n"})
    equal(fx.sandbash("--consent=deny", "mv", "x", "y").status, 0)
    check(fx.path("y/.vscode/tasks.json").exists())


RACE = r"""
import os, sys, threading, time
out, end = sys.argv[1], time.monotonic() + float(sys.argv[2])
def bring():
    while time.monotonic() < end:
        for a, b in (("evil", "x/evil"), ("x/evil", "evil")):
            try: os.rename(a, b)
            except OSError: pass
thread = threading.Thread(target=bring)
thread.start()
while time.monotonic() < end:
    for a, b in (("x", out + "/x"), (out + "/x", "x")):
        try: os.rename(a, b)
        except OSError: pass
        if os.path.exists(out + "/x/evil/.vscode/tasks.json"):
            print("planted", file=sys.stderr); end = 0
thread.join()
"""


@test("P3 names are brought into the directory while it moves", variants=BOTH)
def meanwhile(fx):
    """Inside the project that is nobody's business; so what moves is on hold while it is looked at."""
    def prepare_both():
        out = prepare(fx, {"file": "x\n"})
        make(fx.path("evil"), {".vscode/tasks.json": "{}\n"})
        return out
    out = prepare_both()
    result = fx.sandbash(f"--allow-write={out}", "--consent=deny", "--quiet", "python3", "-c", RACE,
                         str(out), "2")
    lacks(result.stderr, "planted")
    for _ in range(20):
        out = prepare_both()
        if "planted" in fx.run("python3", "-c", RACE, str(out), "2").stderr:
            return
    check(False, "the control plants nothing")


run_all()
