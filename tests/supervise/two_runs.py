"""two_runs.py - two runs in one project, each harmless by itself, race for a guarded name.

tests/lib/racer.py knows the races.  Each is run three times:

    control     two programs without a sandbox: something is planted, so the race is real
    inside      two runs: nothing is, also if one of them is slow at the wrong moment
    neighbour   two runs, names that nobody obeys: both get their way
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from tap import PATIENCE, check, contains, equal, run_all, skip, test

RACER = Path(__file__).resolve().parent.parent / "lib" / "racer.py"
PYTHON = "python3"
SEED = int(os.environ.get("SANDBASH_TEST_SEED", "1"))
SECONDS = float(os.environ.get("SANDBASH_TEST_RACE_SECONDS", "0.75"))
PLANTED = 3
TAKEN_BACK = 60  # seconds for what is taken back: it is gone long before, unless the machine is very busy
BOTH_WAYS = ("race", "rename", "structure", "exchange", "landing")  # with mounts and without


def start(fx, attack, role, boxed, seconds=SECONDS, least=0):
    words = [PYTHON, RACER, str(seconds), str(least), str(TAKEN_BACK if boxed else 0.5), attack, role]
    if boxed:
        words = fx.argv("--consent=deny", "--quiet", *words)
    racer = fx.start(*words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE)
    equal(racer.stdout.readline(), b"ready\n", f"{attack} {role}")
    return racer


def performer_of(run):
    return int(Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()[0])


class Hiccups:
    """Stops a process again and again: what it does takes long, or just not long enough to show."""

    def __init__(self, pid):
        self.pid, self.end, self.random = pid, threading.Event(), random.Random(SEED)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while not self.end.is_set():
                os.kill(self.pid, signal.SIGSTOP)
                time.sleep(self.random.choice((0.0003, 0.004)))
                os.kill(self.pid, signal.SIGCONT)
                time.sleep(self.random.uniform(0, 0.0006))
        except ProcessLookupError:
            pass

    def stop(self):
        self.end.set()
        self.thread.join()


def race(fx, attack, boxed, slow=None, seconds=SECONDS, least=0):
    """How often each got its way; None: something was planted."""
    racers = {role: start(fx, attack, role, boxed, seconds, least) for role in ("maker", "flipper")}
    hiccups = Hiccups(performer_of(racers[slow])) if slow else None
    for racer in racers.values():
        racer.stdin.write(b"\n")
        racer.stdin.flush()
    try:
        ends = {role: racer.communicate(timeout=seconds + 2 * PATIENCE) for role, racer in racers.items()}
    finally:
        if hiccups:
            hiccups.stop()
    if any(racer.returncode == PLANTED for racer in racers.values()):
        return None
    for role, racer in racers.items():
        equal(racer.returncode, 0, f"{attack} {role}: {ends[role]}")
    return {role: int(out) for role, (out, _) in ends.items()}


def on_hold(fx):
    return [str(path) for path in fx.project.rglob("*.sandbash-hold")]


def again(fx, attack):
    """A place of its own for every race."""
    fx.project = fx.home / f"{attack}-{time.monotonic_ns()}"
    fx.project.mkdir()


def attack_test(attack, slow=None):
    @test(f"P3 two runs: {attack}{', the ' + slow + ' is slow' if slow else ''}",
          variants=("full", "flat") if attack in BOTH_WAYS and not slow else ("full",))
    def one(fx):
        again(fx, attack)
        least = 0 if slow else 8
        done = race(fx, attack, boxed=True, slow=slow, least=least)
        check(done is not None, "planted")
        check(min(done.values()) >= least, f"nobody raced: {done}")
        for tries in range(4):  # the control: as long as it takes
            again(fx, attack)
            if race(fx, attack, boxed=False, seconds=5) is None:
                return
        check(False, "the control: nothing was planted")


for attack in ("race", "claude", "fish", "rename", "link", "symlink", "config", "structure",
               "filled", "halves", "exchange", "landing"):
    attack_test(attack)
for attack in ("race", "rename", "link", "config", "structure"):
    attack_test(attack, slow="maker")
attack_test("race", slow="flipper")
attack_test("structure", slow="flipper")


@test("P3 two runs: the neighbour, names that nobody obeys", variants=("full", "flat"))
def neighbour(fx):
    again(fx, "nobody")
    done = race(fx, "nobody", boxed=True, least=100)
    check(done and min(done.values()) >= 100, done)
    equal(on_hold(fx), [])


@test("P3 two runs: a harmless directory gets its name, and stays nowhere else",
      variants=("full", "flat"))
def harmless(fx):
    script = ("mkdir -p q/hooks && echo '[user]' >q/config && mv q .git && test -d .git/hooks && "
              "mkdir -p r && mv r .claude && git init -q --bare b && mkdir -p s/x && "
              "mkdir s/objects s/refs && touch s/HEAD && mv .git away && mv away .git")
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
    equal(result.status, 0, result.stderr)
    names = sorted(os.listdir(fx.project))
    equal(names, [".claude", ".git", "b", "s"])
    refused = fx.sandbash("--consent=deny", "--quiet", "sh", "-c",
                          "mkdir -p v/hooks; echo x >v/hooks/update; mv v b.git/.git 2>/dev/null;"
                          "mkdir c; mv v c/.git; test -d v/hooks && ! test -e c/.git")
    equal(refused.status, 0, refused.stderr)
    equal(on_hold(fx), [])


@test("P3 what is on hold is left alone from inside, and only there", variants=("full", "flat"))
def held(fx):
    fx.write("d/.0.sandbash-hold/hooks/old", "old")
    inside = """
cd d
for act in 'echo x >.0.sandbash-hold/new' 'echo x >>.0.sandbash-hold/hooks/old' \
           'mv .0.sandbash-hold e' 'mkdir .0.sandbash-hold/e' 'rm .0.sandbash-hold/hooks/old' \
           'ln /bin/true .0.sandbash-hold/e' 'mkdir .1.sandbash-hold' 'mkdir e; mv e .2.sandbash-hold'
do
    sh -c "$act" 2>/dev/null && echo "worked: $act"
done
cat .0.sandbash-hold/hooks/old"""
    before = sorted(str(p) for p in fx.path("d").rglob("*") if p.name != "e")
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", inside)
    equal(result.stdout, "old", result.stderr)
    equal(sorted(str(p) for p in fx.path("d").rglob("*") if p.name != "e"), before)
    equal(fx.run("mv", "d/.0.sandbash-hold", "d/f").status, 0, "the user can")


@test("P3 two runs: one is killed in the middle, the other goes on")
def killed(fx):
    rng = random.Random(SEED)
    again(fx, "killed")
    for _ in range(8):
        roles = rng.sample(["maker", "flipper"], 2)
        victim, other = (start(fx, "race", role, True, seconds) for role, seconds in zip(roles, (PATIENCE, 1)))
        for racer in (victim, other):
            racer.stdin.write(b"\n")
            racer.stdin.flush()
        time.sleep(rng.uniform(0.02, 0.2))
        os.kill(performer_of(victim), signal.SIGKILL)
        victim.kill()
        out, err = other.communicate(timeout=PATIENCE)
        equal(other.returncode, 0, f"{out} {err}")
        victim.communicate()
        # at worst the directory is on hold, under a name that says so
        check(not fx.exists(".git/hooks/post-commit"), "planted")
        for path in [*map(Path, on_hold(fx)), fx.path(".git")]:
            if path.exists() and not fx.exists("q"):
                path.rename(fx.path("q"))
        if fx.exists("q/hooks/post-commit"):
            fx.path("q/hooks/post-commit").unlink()
        check(fx.exists("q"), os.listdir(fx.project))


# the run has begun when the file system dies; an alarm brings it back in any case
FROZEN = """
import fcntl, os, signal, subprocess, sys, time
image, place, argv = sys.argv[1], sys.argv[2], sys.argv[3:]
FREEZE, THAW = 0xC0045877, 0xC0045878
subprocess.run(["mount", "-o", "loop", image, place], check=True)
os.mkdir(os.path.join(place, "top"), 0o777)
os.chmod(os.path.join(place, "top"), 0o777)
fd = os.open(place, os.O_RDONLY)
run = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
begun = time.monotonic()
run.stdout.readline()
usual = time.monotonic() - begun # for all that the run does before, its start among it, on this machine now
signal.alarm(100)
signal.signal(signal.SIGALRM, lambda *_: sys.exit("nothing goes on"))
fcntl.ioctl(fd, FREEZE, 0)
try:
    run.stdin.write(b"\\n")
    run.stdin.flush()
    print(run.stdout.readline().decode(), end="", flush=True)
    begun = time.monotonic()
    print(run.stdout.readline().decode(), end="", flush=True)
    print("in time" if time.monotonic() - begun < 1 + 10 * usual else (time.monotonic() - begun, usual))
finally:
    fcntl.ioctl(fd, THAW, 0)
run.wait(100)
print("thawed", sorted(os.listdir(os.path.join(place, "top"))), run.returncode)
"""

STUCK = """
work() { mkdir d && mv d e && touch e/f && ln e/f e/g && mkdir q && mv q .claude; }
mkdir before && cd before && work && cd .. && echo begun; read line
( mkdir "$1/made" ) &
( mv "$1/none" "$1/other" 2>/dev/null ) &
sleep 0.5; echo stuck
work && echo went on
wait
"""


def frozen(fx):
    image, place = fx.dir / "image", fx.dir / "frozen"
    place.mkdir()
    with open(image, "wb") as file:
        file.truncate(16 << 20)
    if fx.run("mkfs.ext4", "-q", image).status != 0:
        skip("no mkfs.ext4")
    argv = fx.argv("--consent=deny", "--quiet", f"--allow-write={place}", "sh", "-c", STUCK, "-",
                   place / "top")
    result = fx.run("unshare", "-m", "--propagation", "private", sys.executable, "-c", FROZEN,
                    image, place, *argv, timeout=2 * PATIENCE)
    if "mount:" in result.stderr:
        skip(f"no loop mounts: {result.stderr}")
    contains(result.stdout, "stuck\nwent on\nin time\n", result.stderr)
    contains(result.stdout, "thawed ['made'")


if os.geteuid() == 0 and os.path.exists("/dev/loop-control"):  # else nothing can be frozen
    test("P3 a dead file system keeps nobody waiting but those who use it")(frozen)
run_all()
