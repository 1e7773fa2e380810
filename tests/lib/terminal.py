"""terminal.py - a command on a terminal of its own, as a person would see it.

    term = Terminal(["bash"], cwd="/", env={...})
    term.expect(r"\\$ $")           wait until the output matches; returns the match
    term.send("echo hi\\n")         type
    term.send("\\x03")              Ctrl-C
    term.answer("1")               to a question of ours: look, press, see it go
    term.resize(40, 100)           as when the window changes: SIGWINCH
    print(term.screen())           what stands on the screen now
    status = term.wait()           exit status; negative when a signal killed it
    term.close()                   hang up

The screen understands what shells, editors, pagers and our own questions use (cursor moves,
erasing, scrolling, the alternate screen); colours are dropped.  With replies=True it also
answers what programs ask a terminal (cursor position, attributes, colours), as xterm does,
whenever it reads.
"""

import codecs
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

PATIENCE = 120  # seconds for what must come: a net under a test that hangs, never a measure
QUIET = 0.45  # longer than an asker wants silence before a key
TOO_FAST = re.compile(r"(That was too fast to count|Too fast)\. ")  # what a question says of such a key


def subject(screen):
    """What a question is about: all but how many wait, and what it says of a key that was too fast."""
    return TOO_FAST.sub("", screen).split("\n", 1)[1:]


class Screen:
    SEQUENCE = re.compile(
        r"\x1b\[([?>=!<]?)([0-9;:]*)[ -/]*([@-~])"  # CSI
        r"|\x1b\]([^\x07\x1b\x18]*)(?:\x07|\x1b\\|\x18)"  # OSC: titles and the like
        r"|\x1b[PX^_][^\x1b]*\x1b\\"  # DCS, SOS, PM, APC
        r"|\x1b[()*+ %#][0-9A-Za-z@]"  # character sets and the like
        r"|\x1b([78DEMWc=><\\])"
    )

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines = self._blank()
        self.row = self.column = 0
        self.saved = (0, 0)
        self.top, self.bottom = 0, rows - 1  # the scrolling region
        self.modes = set()  # private modes that are on, apart from 7 and 25: those that are off
        self.keypad = False
        self.replies = ""  # what a terminal would send back
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
        if self.main is not None:
            main, self.main = self.main, self._blank()
            for line, kept in zip(self.main, main):
                line[: min(columns, len(kept))] = kept[:columns]
        self.top, self.bottom = 0, rows - 1
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
            elif len(text) - at < (1 << 20 if text[at + 1:at + 2] in tuple("]PX^_") else 64):
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
        if self.row == self.bottom:
            self._scroll(self.top, self.bottom, 1)
        elif self.row < self.rows - 1:
            self.row += 1

    def _scroll(self, first, last, count):
        """Move the lines first..last up by count, down when it is negative."""
        for _ in range(min(abs(count), last - first + 1)):
            del self.lines[first if count > 0 else last]
            self.lines.insert(last if count > 0 else first, [" "] * self.columns)

    def _sequence(self, found):
        private, arguments, final, osc, short = found.groups()
        if osc in ("10;?", "11;?"):
            self.replies += f"\x1b]{osc[:2]};rgb:1111/2222/3333\x1b\\"
        if short == "7":
            self.saved = (self.row, self.column)
        elif short == "8":
            self.row, self.column = self.saved
        elif short == "c":
            self.__init__(self.rows, self.columns)
        elif short == "D":
            self._down()
        elif short == "E":
            self.column = 0
            self._down()
        elif short == "M":
            if self.row == self.top:
                self._scroll(self.top, self.bottom, -1)
            else:
                self.row = max(0, self.row - 1)
        elif short and short in "=>":
            self.keypad = short == "="
        if final is None:
            return
        numbers = [int(n) if n else 0 for n in (arguments or "").replace(":", ";").split(";")]
        first = numbers[0]
        step = max(1, first)
        if private == "?" and final in "hl":
            for number in numbers:
                self._private_mode(number, final == "h")
        elif final == "c" and private in ("", ">"):
            self.replies += "\x1b[?64;1;2;6;9;15;18;21;22c" if not private else "\x1b[>41;366;0c"
        elif final == "n" and not private and first == 6:
            self.replies += f"\x1b[{self.row + 1};{min(self.column, self.columns - 1) + 1}R"
        elif final == "n" and not private and first == 5:
            self.replies += "\x1b[0n"
        elif private:
            return
        elif final == "r":
            self.top, self.bottom = max(1, first) - 1, self.rows - 1
            if len(numbers) > 1 and numbers[1]:
                self.bottom = min(self.rows, numbers[1]) - 1
            self.row = self.column = 0
        elif final in "LM" and self.top <= self.row <= self.bottom:
            self._scroll(self.row, self.bottom, step if final == "M" else -step)
        elif final in "ST":
            self._scroll(self.top, self.bottom, step if final == "S" else -step)
        elif final in "@PX":
            line, at = self.lines[self.row], min(self.column, self.columns - 1)
            step = min(step, self.columns - at)
            if final == "@":
                line[at:] = ([" "] * step + line[at:])[: self.columns - at]
            elif final == "P":
                line[at:] = line[at + step:] + [" "] * step
            else:
                line[at:at + step] = [" "] * step
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

    def _private_mode(self, number, on):
        if number in (47, 1047, 1049):
            if on and self.main is None:
                self.main, self.lines = self.lines, self._blank()
                self.main_saved = (self.row, self.column)
            elif not on and self.main is not None:
                self.lines, self.main = self.main, None
                if number == 1049:
                    self.row, self.column = self.main_saved
        elif on != (number in (7, 25)):
            self.modes.add(number)
        else:
            self.modes.discard(number)

    def _erase_line(self, how):
        line = self.lines[self.row]
        start = self.column if how == 0 else 0
        end = self.columns if how != 1 else min(self.columns, self.column + 1)
        line[start:end] = [" "] * max(0, end - start)


class Terminal:
    def __init__(self, argv, cwd, env, rows=24, columns=80, replies=False):
        self.replies = replies
        self.output = ""  # everything that came, escape sequences included
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._seen = 0  # how much of it expect() has passed
        self._screen = Screen(rows, columns)
        self._again = None  # (key, when it is due again, pause)
        self._unsent = b""  # what the other side has no room for yet
        self.master, slave = pty.openpty()
        os.set_blocking(self.master, False)
        self._set_size(rows, columns)
        self.name = os.ttyname(slave)

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

    def press(self, key):
        """As a person does: look first; returns what was seen.  Where the machine is busy the asker may see
        the key sooner after the question than it was pressed.  The question says so then, and whoever reads on
        looks longer and presses again.  (An asker that has its answer drops what is typed before the question
        has left this screen.)"""
        self.settle(QUIET, 1)
        seen = self._screen.text()
        self.send(key)
        if key in tuple("1234"):
            self._again = (key, time.monotonic() + 2 * QUIET, 2 * QUIET)
        return seen

    def answer(self, key):
        """Press, and see the question go; returns what it looked like."""
        seen = self.press(key)
        deadline = time.monotonic() + PATIENCE
        while "Press " in self._screen.text() and subject(self._screen.text()) == subject(seen):
            if time.monotonic() > deadline:
                raise AssertionError(f"the question stays; the screen:\n{self._screen.text()}")
            self._read(0.1)  # no more than a look: what comes next may have no end
        return seen

    def _press_again(self):
        key, due, pause = self._again
        if time.monotonic() < due or not TOO_FAST.search(self._screen.text()):
            return
        self.send(key)
        self._again = (key, time.monotonic() + 2 * pause, 2 * pause)

    def send(self, text):
        self._again = None
        self._write(text)

    def _write(self, text):
        """Now or while we read: who writes to a program that waits for us to read, waits for ever."""
        self._unsent += text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        while self._unsent:
            try:
                self._unsent = self._unsent[os.write(self.master, self._unsent):]
            except BlockingIOError:
                return
            except OSError:  # EIO: it has ended, and nobody reads this any more
                self._unsent = b""

    def _read(self, timeout):
        """Take in what comes within timeout; False when nothing did or the end is reached."""
        deadline = time.monotonic() + max(0, timeout)
        while True:
            left = max(0, deadline - time.monotonic())
            readable, writable, _ = select.select([self.master], [self.master] if self._unsent else [], [],
                                                  min(left, QUIET) if self._again else left)
            if writable:
                self._write(b"")
            if readable:
                break
            if self._again:
                self._press_again()
            if time.monotonic() >= deadline:
                return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # EIO: nobody holds the other side any more, and nothing will come
            time.sleep(min(max(0, deadline - time.monotonic()), 0.02))  # whoever waits for something else does not spin
            return False
        text = self._decoder.decode(data)
        self.output += text
        self._screen.feed(text)
        answer, self._screen.replies = self._screen.replies, ""
        if answer and self.replies:
            self._write(answer)
        return bool(data)

    def state(self):
        """Everything but the letters that a program can have changed."""
        screen = self._screen
        return {"alternate": screen.main is not None, "modes": sorted(screen.modes),
                "keypad": screen.keypad, "region": (screen.top, screen.bottom)}

    def cursor(self):
        return self._screen.row, self._screen.column

    def expect(self, pattern, timeout=PATIENCE):
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
        deadline = time.monotonic() + PATIENCE
        while self._read(0):
            if time.monotonic() > deadline:
                raise AssertionError(f"output without an end: {self.output[-1000:]!r}")
        return self._screen.text()

    def foreground(self):
        """The process group that Ctrl-C would reach."""
        return os.tcgetpgrp(self.master)

    def wait(self, timeout=PATIENCE):
        """Exit status of the command."""
        deadline = time.monotonic() + timeout
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"no end after {timeout} s; the screen:\n{self.screen()}")
            self._read(0.05)
        while self._read(0):
            pass
        return self.process.returncode

    def hang_up(self):
        """As when the window is closed: SIGHUP to the session."""
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    def close(self):
        if self.master < 0 and self.process.poll() is not None:
            return
        self.hang_up()
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
