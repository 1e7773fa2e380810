"""asker.py - an asker without a sandbox (tests/lib/ask_demo.c): the test raises questions through a FIFO, is the
terminal and the person, and reads the answers."""

import os
import time

from tap import PATIENCE, check, equal
from terminal import QUIET

PATH = "/home/anna/code/other/src/main.c"
DIRECTORY = "/home/anna/code/other/src"


class Demo:
    """ask_demo with COMMAND on a terminal."""

    def __init__(self, fx, *command, replies=True, wrap=(), **where):
        self.fifo, self.answers = fx.dir / "orders", fx.dir / "answers"
        os.mkfifo(self.fifo)
        self.answers.touch()
        self.term = fx.terminal(*wrap, fx.tool("ask_demo"), "--word=maple", self.fifo, self.answers,
                                *command, replies=replies, **where)

    def order(self, *fields):
        coded = "\t".join("".join(c if " " <= c <= "~" else f"\\x{b:02x}"
                                  for b, c in ((b, chr(b)) for b in field.encode()))
                          for field in fields)
        with open(self.fifo, "w", encoding="ascii") as stream:
            stream.write(coded + "\n")

    def ask(self, number, path=PATH, directory=DIRECTORY, verb="write to", program="vim",
            process="4242", rule="", note="", content="", target=""):
        self.order("ask", str(number), verb, path, directory, program, process, rule, note, content,
                   target)

    def shown(self, text="sandbash"):
        """Wait until a question shows: its last line is the prompt."""
        self.wait(lambda: "deny" in self.term.screen() and text in self.term.screen(),
                  "the question does not show")

    def wait(self, condition, message):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            check(time.monotonic() < deadline, f"{message}; the screen:\n{self.term.screen()}\n"
                                               f"the answers: {self.given()}")
            self.term.settle(0.02, 0.1)

    def answer(self, key):
        """As a person does: look first, and see the question go."""
        self.term.answer(key)

    def press(self, text):
        """Look first; but it is no answer, or to a question that does not say what is too fast."""
        self.term.settle(QUIET, 1)
        self.term.send(text)

    def gone(self):
        self.wait(lambda: "wants to" not in self.term.screen(), "the question did not go")

    def given(self):
        return self.answers.read_text().splitlines()

    def expect(self, *answers):
        self.wait(lambda: len(self.given()) >= len(answers), f"no answer ({answers})")
        equal(self.given(), list(answers))

    def silent(self, seconds=0.8):
        """Nothing is answered meanwhile."""
        before = self.given()
        self.pass_time(seconds)
        equal(self.given(), before)

    def pass_time(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.term.settle(0.05, 0.1)


def bash(fx, **where):
    fx.write(fx.dir / "rc", "PS1='% '\nbind 'set enable-bracketed-paste off'\n")
    demo = Demo(fx, "bash", "--noprofile", "--rcfile", str(fx.dir / "rc"), "-i", **where)
    demo.term.expect(r"% $")
    return demo


def plain(fx):
    """A command that leaves the terminal as it is, until it gets a line."""
    demo = Demo(fx, "sh", "-c", "echo ready; read line")
    demo.term.expect("ready")
    return demo


def recorder(fx, **where):
    """A command that writes down every byte it gets: raw terminal, no echo."""
    demo = Demo(fx, "sh", "-c", f"exec 3>{fx.dir}/got; stty raw -echo; echo ready; exec cat >&3", **where)
    demo.term.expect("ready")
    return demo


def got(fx):
    return (fx.dir / "got").read_bytes()


def type_afterwards(fx, demo, key):
    """When a question has gone: until it arrives, for what an asker meets on its way out is dropped."""
    before = len(got(fx))
    for _ in range(20):
        demo.pass_time(0.6)
        demo.term.send(key)
        demo.pass_time(0.3)
        if len(got(fx)) > before:
            return
    check(False, f"{key!r} did not arrive")
