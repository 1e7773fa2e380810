"""storm.py - thousands of requests at once, at bad moments, and for a long time.

storm (storm.c) checks itself what it did; each storm works without a sandbox too.  Here is
what only the outside can see: that nothing outside changed, that who serves the requests is
still there, and that it has not grown.
"""

import os
import subprocess
from pathlib import Path

from attack import signature, unchanged
from compare import IS_NATIVE, IS_STATIC, inside, native
from tap import BIN, PATIENCE, check, equal, run_all, test, wait


def storm(fx, *words, rest=0):
    """The storm without a sandbox, then inside: both end well and leave nothing behind."""
    words = [str(word) for word in words]
    for argv in (native(fx.tool("storm"), *words), inside(fx, fx.tool("storm"), *words)):
        place = fx.project / "storm"
        place.mkdir()
        result = fx.run(*argv, cwd=place, timeout=PATIENCE)
        equal(result.status, rest, f"{words}: {result.stderr}")
        equal(os.listdir(place), [], f"{words} left")
        place.rmdir()


@test("eight processes with eight threads in one directory")
def crowd(fx):
    storm(fx, "crowd", 8, 8, 20)


@test("one process with sixty-four threads")
def threads(fx):
    storm(fx, "crowd", 1, 64, 10)


@test("signals during calls, with SA_RESTART: all come to an end")
def restarted(fx):
    storm(fx, "signals", "restart", 500)


@test("signals during calls, without SA_RESTART: what was interrupted was not done")
def repeated(fx):
    storm(fx, "signals", "repeat", 500)


# A held call that nobody has received yet is interrupted by any handler, whatever flags the
# listener has (tests/facts/notify_interrupted.c): only SA_RESTART hides that from the program.
if IS_STATIC or IS_NATIVE:
    @test("signals during calls, without SA_RESTART: none is interrupted")
    def not_restarted(fx):
        storm(fx, "signals", "plain", 500)


@test("signals interrupt and end who waits at a FIFO")
def waiting(fx):
    storm(fx, "signals", "wait")


@test("callers that are killed leave nothing half-done, and nothing is begun for the dead")
def killed(fx):
    storm(fx, "killed", 150)


@test("vfork and posix_spawn with file actions")
def spawn(fx):
    storm(fx, "spawn", 30)


@test("a descriptor that was closed is closed: no busy text, no lock, no writer remains")
def handed(fx):
    storm(fx, "handed", 100)


@test("the current directory changes between the two paths of a call")
def chdir(fx):
    storm(fx, "chdir", 700)


@test("who waits at a FIFO finds it when others were served elsewhere")
def elsewhere(fx):
    storm(fx, "elsewhere")


@test("what it leaves in the care of its parent ends with the run, and the run ends")
def siblings(fx):
    if IS_STATIC or IS_NATIVE:
        return  # then they are our own children
    for _ in range(10):
        result = fx.run(*inside(fx, fx.tool("storm"), "siblings", "5", fx.project), timeout=PATIENCE)
        equal(result.status, 0, result.stderr)  # it did not wait for them
    left = subprocess.run(["pgrep", "-f", f"storm siblings 5 {fx.project}"], capture_output=True, text=True,
                          check=False).stdout
    equal(left, "", "still there")


@test("a process that may not be read still gets its files")
def quiet(fx):
    storm(fx, "quiet")


@test("processes that make processes")
def bomb(fx):
    storm(fx, "bomb", 400)


# --- a path that changes -------------------------------------------------------------------


def flip(fx, outside, argv_of):
    """The status of a flip between a name in the project and one outside."""
    one = fx.project / "flip"
    # the same length, so that a half-written path is one of the two or none
    width = max(len(str(one)), len(str(outside)))
    names = [str(path.parent) + "/" * (width - len(str(path)) + 1) + path.name
             for path in (one, outside)]
    words = (fx.tool("storm"), "flip", *names, "1500")
    return fx.run(*argv_of(*words), timeout=PATIENCE)


@test("a path that changes while it is read: the file outside never does")
def flipped(fx):
    control = fx.dir / "control" / "victim"
    for victim in (control, fx.outside / "victim"):
        victim.parent.mkdir(exist_ok=True)
        victim.write_text("untouched\n")
    before = signature(control.parent)
    equal(flip(fx, control, native).status, 0, "without a sandbox")
    check(signature(control.parent) != before, "the race is never lost: nothing was tried")
    if IS_NATIVE:
        return
    before = signature(fx.outside)
    result = flip(fx, fx.outside / "victim", lambda *words: inside(fx, *words))
    equal(result.status, 0, result.stderr)
    unchanged(before, fx.outside)


# --- who serves them ------------------------------------------------------------------------


def served_by(pid):
    """The processes of sandbash that serve a run: pid and what it started, by their program."""
    found = []
    waiting = [pid]
    while waiting:
        process = waiting.pop()
        try:
            for task in os.listdir(f"/proc/{process}/task"):
                children = Path(f"/proc/{process}/task/{task}/children").read_text()
                waiting += [int(child) for child in children.split()]
            name = Path(f"/proc/{process}/comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue
        # a process that closed itself to others has no readable exe, but it has a name
        if name.startswith(BIN.name):
            found.append(process)
    return found


def size_of(pid):
    """(descriptors or None, kilobytes) of a process."""
    try:
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        descriptors = None
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return descriptors, int(line.split()[1])
    return descriptors, 0


class Rounds:
    """storm rounds inside, one line at a time."""

    def __init__(self, fx):
        place = fx.project / "storm"
        place.mkdir()
        self.process = fx.start(*inside(fx, fx.tool("storm"), "rounds"), cwd=place,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                start_new_session=True)

    def work(self, times):
        for _ in range(times):
            self.process.stdin.write(b"go\n")
            self.process.stdin.flush()
            equal(self.process.stdout.readline(), b"done\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


@test("rounds of work end well")
def rounds(fx):
    with Rounds(fx) as run:
        run.work(3)
    equal(run.process.returncode, 0)


if not IS_STATIC and not IS_NATIVE:
    @test("descriptors and memory of the supervisor do not grow with the rounds")
    def growth(fx):
        with Rounds(fx) as run:
            run.work(5)
            servers = served_by(run.process.pid)
            check(servers, "no process of sandbash serves this run")
            before = {pid: size_of(pid) for pid in servers}
            run.work(25)
            wait(lambda: served_by(run.process.pid) == servers, lambda: f"who serves: {servers}, then {served_by(run.process.pid)}")
            for pid in servers:
                old_descriptors, old_memory = before[pid]

                def settled():  # what the last round needed is given back, sooner or later
                    descriptors, memory = size_of(pid)
                    return (descriptors or 0) <= (old_descriptors or 0) + 4 and memory <= old_memory + 512

                wait(settled, lambda: f"{before[pid]} descriptors and kB became {size_of(pid)}")
        equal(run.process.returncode, 0)


run_all()
