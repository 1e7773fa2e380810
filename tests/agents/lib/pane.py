"""pane.py - a command in a window of a tmux of its own, used like terminal.py's Terminal.

    pane = Pane(fx, words, env)
    pane.send("echo hi\\r")         type
    pane.press("1")                 look, then answer a question
    pane.screen()                   what stands there, as tmux shows it
    pane.resize(30, 90)
    pane.ended()                    has the command ended?
    pane.hang_up()                  the window is closed: SIGHUP
"""

import itertools
import shlex
import subprocess
import time

from tap import equal
from terminal import QUIET

NUMBERS = itertools.count()


class Pane:
    def __init__(self, fx, words, env, rows=40, columns=120):
        # never the socket of another: a server that is told to end still takes calls, and loses them
        self.fx, self.socket = fx, fx.outside / f"tmux-{next(NUMBERS)}"
        command = shlex.join(str(word) for word in words)
        self.env = fx.env(env)
        self._call("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "cat")
        self._call("set-option", "-g", "remain-on-exit", "on")
        self._call("set-option", "-g", "status", "off")
        self._call("set-option", "-g", "window-size", "manual")
        self._call("resize-window", "-x", str(columns), "-y", str(rows))
        self._call("respawn-window", "-k", f"exec {command}")

    def _call(self, *words):
        done = subprocess.run(["tmux", "-S", self.socket, *words], cwd=self.fx.project, env=self.env,
                              stdin=subprocess.DEVNULL, check=False, capture_output=True, text=True)
        equal(done.returncode, 0, f"tmux {words[0]}: {done.stderr}")
        return done.stdout

    def screen(self):
        return "\n".join(line.rstrip() for line in self._call("capture-pane", "-p").split("\n")).rstrip("\n")

    def send(self, text):
        self._call("send-keys", "-H", *(f"{byte:02x}" for byte in text.encode()))

    def press(self, key):
        """As a person does: look first."""
        self.settle(QUIET, 1)
        self.send(key)

    def settle(self, quiet=0.2, timeout=5):
        """Until the screen has not changed for a while."""
        shown, since, deadline = self.screen(), time.monotonic(), time.monotonic() + timeout
        while time.monotonic() < min(deadline, since + quiet):
            time.sleep(0.02)
            now = self.screen()
            if now != shown:
                shown, since = now, time.monotonic()

    def resize(self, rows, columns):
        self._call("resize-window", "-x", str(columns), "-y", str(rows))

    def ended(self):
        return self._call("display-message", "-p", "#{pane_dead}").strip() == "1"

    def hang_up(self):
        self._call("kill-server")
