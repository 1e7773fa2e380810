"""killed.py - any process of a run is killed at any moment: nothing of it lives on.

Whoever started sandbash sees its death or status 125; the outside is unchanged, the terminal is
as it was, and but for the record nothing is left behind.
"""

import os
import random
import signal
import time
from pathlib import Path

from attack import signature, unchanged
from marked import gone, new_mark, running
from tap import BIN, PATIENCE, SUPERVISED, check, equal, run_all, test

SEED = int(os.environ.get("SANDBASH_TEST_SEED", "1"))
ROUNDS = 12
# always busy: in a held call most of the time, with children of its own, some far away
SCRIPT = ('setsid sh -c "while :; do echo x >far; done" "$0" & '
          'while :; do echo x >f; rm f; echo x >"$1/new"; ls >/dev/null; done 2>/dev/null')


def child(pid):
    """The first child of a process that is sandbash itself, or None."""
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            for word in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                if Path(f"/proc/{word}/comm").read_text().strip() == BIN.name:
                    return int(word)
    except (FileNotFoundError, ProcessLookupError):
        pass
    return None


def find(whom, asker):
    if whom == "asker":
        return asker
    performer = child(asker)
    return performer if whom == "performer" or not performer else child(performer)


def serves(pid):
    """Does it have the thread that answers held calls?"""
    try:
        return len(os.listdir(f"/proc/{pid}/task")) > 1
    except FileNotFoundError:
        return False


def kill_one(whom, asker, delay, serving=False):
    """After delay seconds, as soon as that process is there (and, serving, at work)."""
    time.sleep(delay)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        pid = find(whom, asker)
        if pid and (not serving or serves(pid)):
            os.kill(pid, signal.SIGKILL)
            return
        time.sleep(0.001)
    check(False, f"there is no {whom}")


def register(whom, variants):
    @test(f"the {whom} is killed at any moment", variants)
    def killed(fx):
        chance = random.Random(SEED)
        fx.settle()
        before, outside = fx.snapshot(fx.home / ".local"), signature(fx.outside)
        temp = {top: set(os.listdir(top)) for top in ("/dev/shm", "/var/tmp")}
        for number in range(ROUNDS):
            mark = new_mark()
            # the first moments are those of being born
            delay = chance.uniform(0, 0.02) if number < ROUNDS * 2 // 3 else chance.uniform(0, 0.2)
            message = f"{whom} after {delay:.4f} s"
            process = fx.start(*fx.argv("sh", "-c", SCRIPT, mark, fx.outside), stdin=-3, stdout=-3,
                               stderr=-3, start_new_session=True)
            # with --best-effort the death of who tries out the kernel only makes the run static
            kill_one(whom, process.pid, delay, fx.variant == "flat" and whom != "asker")
            try:
                status = process.wait(PATIENCE)
            finally:
                if process.poll() is None:
                    for pid in running(mark):
                        os.kill(pid, signal.SIGKILL)
                    process.wait()
            check(status in ((-9,) if whom == "asker" else (125, -9)), f"{message}: {status}")
            gone(mark, message)
            unchanged(outside, fx.outside, message)
        # what tells where a killed one could be reached goes with the next look
        fx.run(BIN, "--sessions")
        left = fx.snapshot(fx.home / ".local")
        left.pop(str(fx.home / ".local/state/sandbash/run"), None)
        equal(left, before)
        for top, names in temp.items():
            left = [name for name in set(os.listdir(top)) - names if "test" not in name
                    and "-fx-" not in name and "sandbash" in name]
            equal(left, [], top)
        equal(fx.sandbash("touch", "after").status, 0, "the next run")


def register_terminal(whom, variants):
    @test(f"the {whom} is killed: the terminal is as it was", variants)
    def restored(fx):
        mark = new_mark()
        # a shell holds the terminal, so that its settings can be looked at afterwards
        words = " ".join(f"'{word}'" for word in fx.argv("sh", "-c", "echo up; exec sleep 1060", mark))
        term = fx.terminal("bash", "--norc", "-i", env={"PS1": "PROMPT> "})
        term.expect("PROMPT> ")
        term.send("stty -a >before; echo $$ >shell\n")
        term.expect("PROMPT> ")
        term.send(words + "\n")
        term.expect("up\r\n")
        asker = child(int(fx.read("shell")))
        kill_one(whom, asker, 0.05)
        term.expect("PROMPT> ")
        term.send("echo status $?; stty -a >after\n")
        term.expect(r"status (125|137)\r\n")
        term.expect("PROMPT> ")
        equal(fx.read("after"), fx.read("before"), "stty -a")
        gone(mark, whom)


if SUPERVISED:
    for whom, variants in (("asker", ("full", "flat")), ("performer", ("full", "flat")),
                           ("init", ("full",))):
        register(whom, variants)
        if whom != "asker":  # who is killed itself gives nothing back
            register_terminal(whom, variants)


run_all()
