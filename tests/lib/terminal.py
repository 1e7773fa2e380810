"""terminal.py - a command on a terminal of its own, as a person would see it.

    term = Terminal(["bash"], cwd="/", env={...})
    term.expect(r"\\$ $")           wait until the output matches; returns the match
    term.send("echo hi\\n")         type
    term.send("\\x03")              Ctrl-C
    term.resize(40, 100)           as when the window changes: SIGWINCH
    print(term.screen())           what stands on the screen now
    status = term.wait()           exit status; negative when a signal killed it
    term.close()                   hang up

The screen understands what shells and our own questions use (cursor moves, erasing,
scrolling, the alternate screen); colours are dropped.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time


class Screen:
    SEQUENCE = re.compile(
        r"\x1b\[([?>=!]?)([0-9;]*)[ -/]*([@-~])"  # CSI
        r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: titles and the like
        r"|\x1b[PX^_][^\x1b]*\x1b\\"  # DCS, SOS, PM, APC
        r"|\x1b[()*+][0-9A-Za-z]"  # character sets
        r"|\x1b([78DEMc=>])"
    )

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines = self._blank()
        self.row = self.column = 0
        self.saved = (0, 0)
        self.main = None  # the main screen's lines while the alternate one shows
        self.pending = ""  # the beginning of a sequence that was cut

    def _blank(self):
        return [[" "] * self.columns for _ in range(self.rows)]

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines).rstrip("\n")

    def resize(self, rows, columns):
        old = self.lines
        self.rows, self.columns = rows, columns
        self.lines = self._blank()
        for line, kept in zip(self.lines, old):
            line[: min(columns, len(kept))] = kept[:columns]
        self.row, self.column = min(self.row, rows - 1), min(self.column, columns - 1)

    def feed(self, text):
        text = self.pending + text
        self.pending = ""
        at = 0
        while at < len(text):
            c = text[at]
            if c != "\x1b":
                self._put(c)
                at += 1
                continue
            found = self.SEQUENCE.match(text, at)
            if found:
                self._sequence(found)
                at = found.end()
            elif len(text) - at < 64:
                self.pending = text[at:]
                return
            else:
                at += 1

    def _put(self, c):
        if c == "\r":
            self.column = 0
        elif c == "\n":
            self._down()
        elif c == "\b":
            self.column = max(0, self.column - 1)
        elif c == "\t":
            self.column = min(self.columns - 1, self.column // 8 * 8 + 8)
        elif c >= " ":
            if self.column >= self.columns:
                self.column = 0
                self._down()
            self.lines[self.row][self.column] = c
            self.column += 1

    def _down(self):
        if self.row < self.rows - 1:
            self.row += 1
        else:
            self.lines = self.lines[1:] + [[" "] * self.columns]

    def _sequence(self, found):
        private, arguments, final, short = found.groups()
        if short == "7":
            self.saved = (self.row, self.column)
        elif short == "8":
            self.row, self.column = self.saved
        elif short == "c":
            self.__init__(self.rows, self.columns)
        if final is None:
            return
        numbers = [int(n) if n else 0 for n in (arguments or "").split(";")]
        first = numbers[0]
        step = max(1, first)
        if private == "?" and final in "hl" and first in (47, 1047, 1049):
            if final == "h" and self.main is None:
                self.main, self.lines = self.lines, self._blank()
            elif final == "l" and self.main is not None:
                self.lines, self.main = self.main, None
        elif private:
            return
        elif final == "A":
            self.row = max(0, self.row - step)
        elif final == "B":
            self.row = min(self.rows - 1, self.row + step)
        elif final == "C":
            self.column = min(self.columns - 1, self.column + step)
        elif final == "D":
            self.column = max(0, self.column - step)
        elif final == "G":
            self.column = min(self.columns, step) - 1
        elif final == "d":
            self.row = min(self.rows, step) - 1
        elif final in "Hf":
            self.row = min(self.rows, step) - 1
            self.column = min(self.columns, max(1, numbers[1] if len(numbers) > 1 else 1)) - 1
        elif final == "J":
            self._erase_line(first)
            for row in range(self.rows):
                if first == 2 or (first == 0 and row > self.row) or (first == 1 and row < self.row):
                    self.lines[row] = [" "] * self.columns
        elif final == "K":
            self._erase_line(first)
        elif final == "s":
            self.saved = (self.row, self.column)
        elif final == "u":
            self.row, self.column = self.saved

    def _erase_line(self, how):
        line = self.lines[self.row]
        start = self.column if how == 0 else 0
        end = self.columns if how != 1 else min(self.columns, self.column + 1)
        line[start:end] = [" "] * max(0, end - start)


class Terminal:
    def __init__(self, argv, cwd, env, rows=24, columns=80):
        self.output = ""  # everything that came, escape sequences included
        self._seen = 0  # how much of it expect() has passed
        self._screen = Screen(rows, columns)
        self.master, slave = pty.openpty()
        self._set_size(rows, columns)

        def take_terminal():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        try:
            self.process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=slave, stdout=slave,
                                            stderr=slave, start_new_session=True,
                                            preexec_fn=take_terminal)
        finally:
            os.close(slave)

    def _set_size(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows, columns):
        self._screen.resize(rows, columns)
        self._set_size(rows, columns)

    def send(self, text):
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        while data:
            data = data[os.write(self.master, data):]

    def _read(self, timeout):
        """Take in what comes within timeout; False when nothing did or the end is reached."""
        ready, _, _ = select.select([self.master], [], [], max(0, timeout))
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # EIO: nobody holds the other side any more
            return False
        text = data.decode("utf-8", "replace")
        self.output += text
        self._screen.feed(text)
        return bool(data)

    def expect(self, pattern, timeout=10):
        """Wait until pattern (a regular expression) is in the output after the last match."""
        deadline = time.monotonic() + timeout
        while True:
            found = re.search(pattern, self.output[self._seen:])
            if found:
                self._seen += found.end()
                return found
            left = deadline - time.monotonic()
            if left <= 0 or (not self._read(left) and self.process.poll() is not None
                             and not self._read(0)):
                found = re.search(pattern, self.output[self._seen:])
                if found:
                    continue
                raise AssertionError(f"{pattern!r} did not come; the screen:\n{self.screen()}\n"
                                     f"output since then: {self.output[self._seen:]!r}")

    def settle(self, quiet=0.2, timeout=5):
        """Read until nothing came for a while; for output whose end has no mark."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and self._read(quiet):
            pass

    def screen(self):
        while self._read(0):
            pass
        return self._screen.text()

    def foreground(self):
        """The process group that Ctrl-C would reach."""
        return os.tcgetpgrp(self.master)

    def wait(self, timeout=10):
        """Exit status of the command."""
        deadline = time.monotonic() + timeout
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"no end after {timeout} s; the screen:\n{self.screen()}")
            self._read(0.05)
        while self._read(0):
            pass
        return self.process.returncode

    def close(self):
        if self.master < 0:
            return
        os.close(self.master)  # hangs up: SIGHUP to the session
        self.master = -1
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
