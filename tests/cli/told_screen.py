"""told_screen.py - what is told at the end of a run is seen, whatever the command has made of the terminal.

In a real tmux, with the sieve (--consent=ask, auto) and without (deny): the lines stand there from the first column on, in
plain letters.  And where there is nothing to tell, or no terminal, not a byte is added.
"""

import re
import subprocess
import time

from tap import FLAGS, PATIENCE, check, equal, lacks, run_all, test

FLAGS.clear()  # a static run tells nothing
HEAD = "sandbash: done without a question, but look at it:"
CONSENTS = ("ask", "auto", "deny")

BLIND = {
    "nothing": b"",
    "concealed, black on black": b"\x1b[8m\x1b[30;40m",
    "drawn lines": b"\x1b(0",
    "drawn lines, shifted": b"\x1b)0\x0e",
    "a region of two lines": b"\x1b[3;4r\x1b[4;1H",
    "a region and an origin": b"\x1b[3;4r\x1b[?6h\x1b[2;1H",
    "the last column": b"\x1b[?7l\x1b[999G",
    "insertion": b"stays\r\x1b[4h",
    "held drawing": b"\x1b[?2026h",
    "the alternate screen": b"\x1b[?1049h\x1b[5;5H",
    "letters to the right": b"\r\n" + b" " * 170 + b"nothing to worry about\r\x1b[A",
    "a title that does not end": b"\x1b]0;",
    "a string that does not end": b"\x1bPq",
    "half a sequence": b"\x1b[",
    "all of them": b"\x1b[8m\x1b[30;40m\x1b[?1049h\x1b[3;4r\x1b[?6h\x1b(0\x0e\x1b[?7l\x1b[4h\x1b[?2026h\x1b]0;x",
}


class Pane:
    """A tmux server of its own, in which one command after another runs."""

    def __init__(self, fx):
        self.fx, self.socket = fx, fx.outside / "tmux"
        self.call("-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "20", "cat")

    def call(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], cwd=self.fx.project, env=self.fx.env(),
                              stdin=subprocess.DEVNULL, check=False, capture_output=True, text=True).stdout

    def run(self, *words):
        self.call("respawn-window", "-k", " ".join(f"'{word}'" for word in words) + "; exec sleep 1060")

    def rows(self):
        """Of each row the text, and of each letter how it looks: the SGR numbers in force; "drawn" is tmux' SO."""
        rows, style = [], []
        for line in self.call("capture-pane", "-e", "-p").split("\n"):
            text, looks = "", []
            line = line.replace("\x0e", "\x1b[drawnm").replace("\x0f", "\x1b[pm")
            for sgr, letter in re.findall(r"\x1b\[([^m]*)m|([^\x1b])", line):
                if letter:
                    text, looks = text + letter, looks + [tuple(style)]
                for number in sgr.split(";") if not letter else ():
                    ended = {"": "", "0": "", "39": "3", "49": "4", "p": "drawn"}.get(number)
                    if ended is None:
                        style = [*style, number]
                    else:
                        style = [n for n in style if not n.startswith(ended) or (n == "drawn" and ended != "drawn")]
            rows.append((text.rstrip(), looks))
        return rows

    def row(self, text):
        """Wait for a row with exactly this text; how its letters look, and the row above."""
        deadline = time.monotonic() + PATIENCE
        while True:
            above = ("", [])
            for row in self.rows():
                if row[0] == text:
                    return row[1][:len(text)], above
                above = row
            check(time.monotonic() < deadline, f"{text!r} does not stand there:\n{self.call('capture-pane', '-e', '-p')!r}")
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.call("kill-server")


def blind(fx, data):
    fx.write("blind.py", f"import sys\nopen('CLAUDE.md', 'a').write('x')\nsys.stdout.buffer.write({data!r})\n")
    return "python3", "blind.py"


def register(consent):
    @test(f"what is told is seen, --consent={consent}")
    def seen(fx):
        with Pane(fx) as pane:
            for name, data in BLIND.items():
                pane.run(*fx.argv(f"--consent={consent}", *blind(fx, data)))
                looks, _ = pane.row(HEAD)
                equal(set(looks), {()}, f"{name}: plain letters")
                looks, above = pane.row(f"  '{fx.project}/CLAUDE.md' was changed; Claude Code follows its instructions")
                equal((set(looks), above[0]), ({()}, HEAD), name)

    @test(f"the last output of a program stays as it is, --consent={consent}")
    def stays(fx):
        with Pane(fx) as pane:
            for end in (b"", b"\n", b"\x1b[m\n"):
                pane.run(*fx.argv(f"--consent={consent}", *blind(fx, b"first\r\n\x1b[31mred" + end)))
                looks, above = pane.row(HEAD)
                equal((set(looks), above[0], set(above[1][:3])), ({()}, "red", {("31",)}), repr(end))

    @test(f"what stood there before the run stays, after a program that had the whole screen, --consent={consent}")
    def before(fx):
        with Pane(fx) as pane:
            fx.write("b.sh", "printf '\\033[?1049h\\033[2J\\033[Hlast year\\033[?1049l'; seq 101 104; exec \"$@\"\n")
            pane.run("sh", "b.sh", *fx.argv(f"--consent={consent}", *blind(fx, b"")))
            pane.row(HEAD)
            rows = [text for text, _ in pane.rows()]
            equal(rows[:rows.index(HEAD)], ["101", "102", "103", "104"])

    @test(f"where there is nothing to tell no byte is added, --consent={consent}")
    def quiet(fx):
        fx.settle()
        for script, output in (("echo plain", "plain\r\n"), (r"printf 'no end'", "no end"),
                               (r"printf '\033[31mred'", "\x1b[31mred"), ("true", "")):
            term = fx.sandbash_terminal(f"--consent={consent}", "sh", "-c", script)
            equal((term.wait(), term.output), (0, output), script)

    @test(f"what is told to a file or a pipe has no sequences, --consent={consent}")
    def elsewhere(fx):
        command = " ".join(f"'{word}'" for word in fx.argv(f"--consent={consent}", *blind(fx, b"")))
        term = fx.terminal("sh", "-c", f"{command} 2>told; {command} 2>&1 >/dev/null | cat >piped")
        equal((term.wait(), term.output), (0, ""))
        for name in ("told", "piped"):
            equal(fx.read(name).split("\n")[0], HEAD)
            lacks(fx.read(name), "\x1b")


for each in CONSENTS:
    register(each)

run_all()
