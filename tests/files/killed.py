"""killed.py - a writer is killed at every system call it makes (F6).

Whatever the moment: the file is the old one or the new one, whole, and what is left besides
goes away with the next write in that directory.
"""

import os
import re
import subprocess
from pathlib import Path

from tap import TOOLS, check, equal, run_all, skip, test

ACT = TOOLS / "files-act"
OLD = "old " * 3000 + "\n"  # more than a page, so that a torn one would show
NEW = OLD.replace("old", "new")


def trace(words, *options):
    return subprocess.run(["strace", "-f", "-o", os.devnull, *options, *map(str, words)],
                          capture_output=True, timeout=120, check=False)


def calls_of(fx, words):
    """How often each system call is made in a run that nobody disturbs."""
    log = fx.dir / "calls"
    done = subprocess.run(["strace", "-f", "-o", log, *map(str, words)],
                          capture_output=True, timeout=120, check=False)
    check(done.returncode == 0, f"{words[2:4]}: {done.stderr}")
    counts = {}
    for line in log.read_text(errors="replace").splitlines():
        found = re.match(r"\d+\s+(\w+)\(", line)
        if found:
            counts[found[1]] = counts.get(found[1], 0) + 1
    counts.pop("exit_group", None)
    return counts


def can_trace():
    try:
        return trace(["true"]).returncode == 0
    except FileNotFoundError:
        return False


def killed_at(project, command, call, number, allowed):
    """Run command, killed at this system call; returns what the file is then."""
    where = f"{call} number {number}"
    trace(command, "-e", f"inject={call}:signal=KILL:when={number}")
    file = project / "f"
    state = file.read_text() if file.exists() else None
    check(state in allowed, f"{where}: a torn file")
    left = [name for name in os.listdir(project) if name != "f"]
    check(len(left) <= 1 and all(name.endswith(".sandbash-write") for name in left),
          f"{where}: {left}")
    # the next write, of another file, finds and removes it
    equal(subprocess.run([ACT, project, "write", "g", "x"], check=False).returncode, 0, where)
    equal(sorted(name for name in os.listdir(project) if name != "f"), ["g"], where)
    return state


def kill_everywhere(fx, prepare, words, allowed):
    if not can_trace():
        skip("strace cannot trace here")
    project = fx.dir / "killed"
    project.mkdir()
    command = [ACT, project, *words]
    prepare(project)
    counts = calls_of(fx, command)
    check(counts.get("renameat", 0) + counts.get("renameat2", 0) == 1, f"no rename: {counts}")
    seen = []
    for call, count in counts.items():
        for number in range(1, count + 1):
            for left in project.iterdir():
                left.unlink()
            prepare(project)
            seen.append(killed_at(project, command, call, number, allowed))
    print(f"# killed {len(seen)} times, {seen.count(allowed[1])} of them too late")
    for state in allowed:
        check(state in seen, "one of the two was never seen: this proves nothing")


def old_file(project):
    (project / "f").write_text(OLD)


@test("F6 killed while it replaces a file")
def replacing(fx):
    kill_everywhere(fx, old_file, ["write", "f", NEW], [OLD, NEW])


@test("F6 killed while it makes a file")
def making(fx):
    kill_everywhere(fx, lambda project: None, ["write", "f", NEW], [None, NEW])


@test("F6 killed while it edits a file")
def editing(fx):
    text = "old " + OLD[4:].replace("old", "odd")
    kill_everywhere(fx, lambda project: (project / "f").write_text(text), ["edit", "f", "newer"],
                    [text, text.replace("old", "newer")])


run_all()
