"""runs.py - runs without a terminal, that other terminals reach.

    run = Run(fx, "--consent=ask", "make")     started, and listed
    run.session, run.field("process")          what its file says
    run.end()                                  wait: status, output, errors
    person = Attached(fx)                      somebody on another terminal
"""

import os
import re
import subprocess

from tap import BIN, PATIENCE, Failed, wait


def run_dir(fx):
    return fx.home / ".local" / "state" / "sandbash" / "run"


def write_others(fx):
    """The names of runs that were there before the first of this test."""
    if fx.exists(fx.dir / "others"):
        return
    with open("/proc/net/unix", encoding="ascii", errors="replace") as stream:
        fx.write(fx.dir / "others", "\n".join(line.split("@", 1)[1].strip() for line in stream
                                              if "@sandbash/" in line))


def files(fx):
    """The runs that are announced; a name with a dot is a file in the making."""
    found = os.listdir(run_dir(fx)) if run_dir(fx).exists() else []
    return sorted(name for name in found if not name.startswith("."))


class Run:
    """sandbash ARGS without a terminal, in a session of its own."""

    def __init__(self, fx, *args, listens=True, **how):
        self.fx, before = fx, set(files(fx))
        write_others(fx)
        self.process = fx.start(*fx.argv(*args, **how), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)
        fx._terminals.append(self)  # ended with the test, however it ends
        self.session = None
        if listens:
            found = wait(lambda: set(files(fx)) - before or self.process.poll() is not None,
                         "the run does not listen")
            if found is True:
                raise Failed(f"the run has ended: {self.process.communicate()}")
            (self.session,) = found
            wait(lambda: self.field("process"), "its file stays empty")

    def field(self, name):
        text = (run_dir(self.fx) / self.session).read_text()
        found = re.search(rf"^{name} (.*)$", text, re.M)
        return found and found.group(1)

    def address(self):
        return "\0sandbash/" + self.field("socket")

    def clients(self):
        """How many are connected, as the server sees it: each has a line beside the listener's."""
        name = self.address().replace("\0", "@")
        with open("/proc/net/unix", encoding="ascii", errors="replace") as stream:
            return sum(line.split()[-1] == name for line in stream) - 1

    def end(self, timeout=PATIENCE):
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            raise Failed(f"no end: {self.process.communicate(timeout=PATIENCE)}") from None
        return self.process.returncode, out.decode(), err.decode()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.communicate(timeout=PATIENCE)


class Attached:
    """Somebody at a terminal with sandbash --attach."""

    def __init__(self, fx, *args, **where):
        self.term = fx.terminal(BIN, *(args or ["--attach"]), replies=True, **where)

    def sees(self, text):
        def look():
            self.term.settle(0.02, 0.1)
            return text in self.term.screen()
        wait(look, lambda: f"{text!r} does not show; the screen:\n{self.term.screen()}")
        return self.term.screen()

    def here(self):
        self.sees("Ctrl-C detaches")
        return self

    def answer(self, key):
        self.sees("Press ")
        self.term.answer(key)
